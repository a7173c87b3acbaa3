//! Bring your own Bootstrap: here two processes that meet over a Unix socket of the caller's. Any way of moving small
//! blobs between ranks will do: a job's key-value store, MPI, a message bus.
//!
//! `cargo run --release --example own_bootstrap [TRANSPORT]`

use std::cell::RefCell;
use std::error::Error;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Command;
use wirespeed::schema::case::{Case, GroupKind, IdlePolicy, Stop};
use wirespeed::schema::test::{Layout, Stream, Test};
use wirespeed::schema::units;
use wirespeed::{Bootstrap, BootstrapError, Cancel, Registry, measure};

/// Two ranks joined by one stream socket.
struct Pair {
    rank: u32,
    stream: RefCell<UnixStream>,
    cancel: Cancel,
}

impl Pair {
    fn new(rank: u32, stream: UnixStream) -> Self {
        Pair {
            rank,
            stream: RefCell::new(stream),
            cancel: Cancel::new(),
        }
    }

    /// Send `blob`, receive the other's: a length and the bytes.
    fn swap(&self, blob: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut stream = self.stream.borrow_mut();
        stream.write_all(&(blob.len() as u32).to_le_bytes())?;
        stream.write_all(blob)?;
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        // The peer is our own child here; still, a length is checked before it is believed.
        let length = u32::from_le_bytes(length) as usize;
        if length > wirespeed::transport::bootstrap::BLOB_BYTES_MAX {
            return Err(std::io::Error::other("blob too long"));
        }
        let mut theirs = vec![0; length];
        stream.read_exact(&mut theirs)?;
        Ok(theirs)
    }
}

impl Bootstrap for Pair {
    fn size(&self) -> u32 {
        2
    }

    fn rank(&self) -> u32 {
        self.rank
    }

    fn barrier(&self, progress: &mut dyn FnMut()) -> Result<(), BootstrapError> {
        progress();
        self.exchange(&[]).map(drop)
    }

    fn exchange(&self, blob: &[u8]) -> Result<Vec<Vec<u8>>, BootstrapError> {
        let theirs = self
            .swap(blob)
            .map_err(|e| BootstrapError::Channel(e.to_string()))?;
        let mut blobs = vec![blob.to_vec(), theirs];
        if self.rank == 1 {
            blobs.swap(0, 1);
        }
        Ok(blobs)
    }

    fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }
}

fn case(transport: &str) -> Case {
    Case::new(Test::AmBw(Stream::new(8, Layout::Short, 1024)), transport)
        .with_group(GroupKind::Processes)
        .with_stop(Stop::Duration {
            duration_ns: 300_000_000,
        })
        .with_warmup(10_000, 100_000_000)
        .with_idle(IdlePolicy::Yield)
}

fn main() -> Result<(), Box<dyn Error>> {
    let transport = std::env::args().nth(1).unwrap_or_else(|| "shm".to_owned());
    let registry = wirespeed_ucx::join(Registry::builtin());
    if std::env::var_os("OWN_BOOTSTRAP_CHILD").is_some() {
        // The parent gave its end of the pair as our standard input.
        let stream = UnixStream::from(std::os::fd::AsFd::as_fd(&std::io::stdin()).try_clone_to_owned()?);
        measure(&case(&transport), &registry, &Pair::new(1, stream), &mut |_| ())?;
        return Ok(());
    }
    let (ours, theirs) = UnixStream::pair()?;
    let mut child = Command::new(std::env::current_exe()?)
        .arg(&transport)
        .env("OWN_BOOTSTRAP_CHILD", "1")
        .stdin(std::os::fd::OwnedFd::from(theirs))
        .spawn()?;
    let outcome = measure(&case(&transport), &registry, &Pair::new(0, ours), &mut |_| ())?;
    child.wait()?;
    let rate = outcome.sent.messages as f64 / outcome.elapsed_ns as f64 * 1e9;
    println!(
        "{transport}: {} between two processes",
        units::format_rate(rate, "msg/s")
    );
    Ok(())
}
