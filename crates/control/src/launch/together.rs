//! Ranks of this machine as threads of one process: the program is started once, and gets the control channels of its
//! ranks over its standard input. A rank that ends by force takes the others with it, as threads do.

use super::program::RankProgram;
use super::seam::{Launch, Launched, RankProcess};
use parking_lot::Mutex;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::Arc;

/// Says to the program that it is to be so many ranks.
const RANKS: &str = "WIRESPEED_RANKS_OF_PROCESS";
/// Most ranks of one process.
const RANKS_MAX: u32 = 1024;

/// Starts one process for all its ranks.
#[derive(Debug)]
pub struct Together {
    program: RankProgram,
    ranks: u32,
    begun: Mutex<Option<Begun>>,
}

/// The process, as far as its ranks have been handed over.
#[derive(Debug)]
struct Begun {
    process: Shared,
    gate: UnixStream,
    handed: u32,
}

/// The one process, held by each of its ranks.
#[derive(Debug, Clone)]
struct Shared {
    id: u32,
    child: Arc<Mutex<Child>>,
}

impl RankProcess for Shared {
    fn id(&self) -> u32 {
        self.id
    }

    fn ended(&mut self) -> Option<String> {
        RankProcess::ended(&mut *self.child.lock())
    }

    fn kill(&mut self) {
        RankProcess::kill(&mut *self.child.lock());
    }
}

impl Together {
    /// `program` as `ranks` ranks.
    pub fn new(program: &RankProgram, ranks: u32) -> Self {
        let mut program = program.clone();
        let count = OsString::from(ranks.to_string());
        program.environment.push((OsString::from(RANKS), count));
        Together {
            program,
            ranks,
            begun: Mutex::new(None),
        }
    }
}

impl Launch for Together {
    fn name(&self) -> String {
        self.program.name()
    }

    fn launch(&self, _: u32) -> io::Result<Launched> {
        let mut begun = self.begun.lock();
        if begun.is_none() {
            let (gate, child) = self.program.spawn()?;
            let process = Shared {
                id: child.id(),
                child: Arc::new(Mutex::new(child)),
            };
            *begun = Some(Begun {
                process,
                gate,
                handed: 0,
            });
        }
        let Some(process) = begun.as_mut() else {
            return Err(io::Error::other("no process was started"));
        };
        let (ours, theirs) = UnixStream::pair()?;
        hand_over(&process.gate, theirs.as_fd())?;
        process.handed += 1;
        let launched = Launched {
            channel: ours,
            process: Box::new(process.process.clone()),
        };
        if process.handed == self.ranks {
            // The process counts its ranks itself; the next one asked for is of another.
            *begun = None;
        }
        Ok(launched)
    }
}

fn hand_over(gate: &UnixStream, channel: BorrowedFd) -> io::Result<()> {
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut room);
    let channels = [channel];
    if !control.push(SendAncillaryMessage::ScmRights(&channels)) {
        return Err(io::Error::other("a channel does not fit into a message"));
    }
    rustix::net::sendmsg(gate, &[IoSlice::new(&[1])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The channels of this process's ranks, where it was started as several: they come over `gate`.
pub(crate) fn channels(gate: &UnixStream) -> Option<io::Result<Vec<UnixStream>>> {
    let count = std::env::var(RANKS).ok()?;
    let Some(count) = count.parse().ok().filter(|count| (1..=RANKS_MAX).contains(count)) else {
        return Some(Err(io::Error::other("invalid number of ranks")));
    };
    Some(
        (0..count)
            .map(|_| take_over(gate).map(UnixStream::from))
            .collect(),
    )
}

fn take_over(gate: &UnixStream) -> io::Result<OwnedFd> {
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let mut byte = [0];
    let parts = &mut [IoSliceMut::new(&mut byte)];
    rustix::net::recvmsg(gate, parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let channels = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut channels) => channels.next(),
        _ => None,
    });
    channels.ok_or_else(|| io::Error::other("no channel of a rank came"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};

    #[test]
    fn a_channel_passes_through_the_gate() {
        let (ours, gate) = UnixStream::pair().unwrap();
        let (mut here, there) = UnixStream::pair().unwrap();
        hand_over(&ours, there.as_fd()).unwrap();
        drop(there);
        let mut arrived = UnixStream::from(take_over(&gate).unwrap());
        arrived.write_all(b"hello").unwrap();
        let mut heard = [0; 5];
        here.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"hello");
        drop(ours);
        assert!(take_over(&gate).is_err(), "the coordinator is gone");
    }
}
