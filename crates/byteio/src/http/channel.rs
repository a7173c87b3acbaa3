//! A connection, plain or inside TLS, with a time limit on every read and write; and sending a file's bytes over it.

use super::progress::{Progress, Wait};
use rustix::fs::sendfile;
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wirespeed_control::auth::http::SecureStream;
use wirespeed_control::uninterrupted;

/// Bytes of a reader's buffer: small heads and envelopes; large reads pass it by.
pub const BUFFER_BYTES: usize = 64 << 10;
/// Bytes copied at once where the kernel cannot send a file by itself.
const COPY_BYTES: usize = 256 << 10;
/// The most that one call may take, so that a slow reader is noticed between calls.
const SENDFILE_BYTES: u64 = 4 << 20;

/// The slowest that counts as progress: whoever drips single bytes keeps nobody.
const PACE_MIN_BYTES_PER_S: f64 = 1024.0;

enum Wire {
    Plain(TcpStream),
    Secure(Box<SecureStream>),
}

/// What was waited for, and what came of it.
#[derive(Default)]
struct Meter {
    waited: Duration,
    bytes: u64,
}

impl Meter {
    /// `bytes` went by after a wait. An error: too few in all the patience that there is.
    fn took(&mut self, bytes: usize, waited: Duration, patience: Duration) -> io::Result<()> {
        self.waited += waited;
        self.bytes += bytes as u64;
        if self.waited < patience {
            return Ok(());
        }
        let pace = self.bytes as f64 / self.waited.as_secs_f64();
        *self = Meter::default();
        match pace < PACE_MIN_BYTES_PER_S {
            true => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "less than 1 KiB a second came",
            )),
            false => Ok(()),
        }
    }
}

/// A connection.
pub struct Channel {
    wire: Wire,
    patience: Duration,
    received: Meter,
    sent: Meter,
    /// For whoever judges the other end.
    progress: Option<Arc<Progress>>,
    /// Something of the message that is awaited came.
    begun: bool,
    /// Something was sent since that message was awaited.
    wrote: bool,
    /// What is answered to HEAD has no body (RFC 9110, 9.3.2).
    heads_only: bool,
}

impl Channel {
    /// Over TCP.
    pub fn plain(stream: TcpStream) -> Channel {
        Channel::over(Wire::Plain(stream))
    }

    /// Inside TLS.
    pub fn secure(stream: SecureStream) -> Channel {
        Channel::over(Wire::Secure(Box::new(stream)))
    }

    fn over(wire: Wire) -> Channel {
        Channel {
            wire,
            patience: Duration::MAX,
            received: Meter::default(),
            sent: Meter::default(),
            progress: None,
            begun: false,
            wrote: false,
            heads_only: false,
        }
    }

    /// The socket, for its options and counters.
    pub fn socket(&self) -> &TcpStream {
        match &self.wire {
            Wire::Plain(stream) => stream,
            Wire::Secure(stream) => stream.socket(),
        }
    }

    /// What is inside TLS.
    pub fn inside_tls(&self) -> Option<&SecureStream> {
        match &self.wire {
            Wire::Plain(_) => None,
            Wire::Secure(stream) => Some(stream),
        }
    }

    /// No read and no write may wait longer, nor bring next to nothing for so long.
    pub fn set_patience(&mut self, patience: Duration) -> io::Result<()> {
        self.patience = patience;
        self.socket().set_read_timeout(Some(patience))?;
        self.socket().set_write_timeout(Some(patience))
    }

    /// Tell there from here on what is waited for.
    pub fn tell(&mut self, progress: Arc<Progress>) {
        self.progress = Some(progress);
    }

    fn begins(&self, wait: Wait) -> Instant {
        let now = Instant::now();
        if let Some(progress) = &self.progress {
            progress.begins(wait, now);
        }
        now
    }

    /// How long the call took that began then.
    fn ended(&self, began: Instant, received_bytes: usize) -> Duration {
        let took = began.elapsed();
        if let Some(progress) = &self.progress {
            progress.ends(received_bytes, took);
        }
        took
    }

    /// The next message is awaited: it may be long in coming, but not in going on. `begun`: some of it is here already.
    pub fn awaits(&mut self, begun: bool) {
        (self.received, self.sent) = (Meter::default(), Meter::default());
        (self.begun, self.wrote) = (begun, false);
    }

    /// Something of the awaited message came.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// Something was sent since it was awaited.
    pub fn has_written(&self) -> bool {
        self.wrote
    }

    /// Whether what is answered from here on is a head alone.
    pub fn set_heads_only(&mut self, heads_only: bool) {
        self.heads_only = heads_only;
    }

    /// Whether answers have no body.
    pub fn has_heads_only(&self) -> bool {
        self.heads_only
    }

    /// Send what is no answer yet.
    pub fn write_interim(&mut self, bytes: &[u8]) -> io::Result<()> {
        let wrote = self.wrote;
        let written = self.write_all(bytes);
        self.wrote = wrote;
        written
    }

    /// Count what one call sent.
    fn timed(&mut self, send: impl FnOnce(&mut Wire) -> io::Result<usize>) -> io::Result<usize> {
        let began = self.begins(Wait::Room);
        self.wrote = true;
        let sent = send(&mut self.wire);
        let took = self.ended(began, 0);
        let count = sent?;
        self.sent.took(count, took, self.patience)?;
        Ok(count)
    }

    /// Send bytes of which more will follow at once: they may wait for those.
    pub fn write_more(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let sent = self.timed(|wire| match wire {
                Wire::Plain(stream) => Ok(rustix::net::send(
                    &*stream,
                    bytes,
                    SendFlags::MORE | SendFlags::NOSIGNAL,
                )?),
                Wire::Secure(stream) => stream.write(bytes),
            });
            match sent {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Send `size_bytes` of `file` from `offset_bytes`, out of the page cache where the kernel can. An error, when the
    /// file ends before: then the connection must be closed, because the promised length cannot be kept.
    pub fn send_file(&mut self, file: &File, mut offset_bytes: u64, size_bytes: u64) -> io::Result<()> {
        let mut left = size_bytes;
        while left > 0 {
            let want = left.min(SENDFILE_BYTES) as usize;
            let sent = self.timed(|wire| match wire {
                Wire::Plain(stream) => Ok(sendfile(stream, file, Some(&mut offset_bytes), want)?),
                Wire::Secure(_) => Err(Errno::NOSYS.into()),
            });
            match sent {
                Ok(0) => return Err(shrunk()),
                Ok(count) => left -= count as u64,
                Err(error) => match Errno::from_io_error(&error) {
                    Some(Errno::INTR) => {}
                    // The file's system cannot do it.
                    Some(Errno::INVAL | Errno::NOSYS) => return self.copy_file(file, offset_bytes, left),
                    _ => return Err(error),
                },
            }
        }
        Ok(())
    }

    fn copy_file(&mut self, file: &File, mut offset_bytes: u64, mut left: u64) -> io::Result<()> {
        let mut buffer = vec![0; COPY_BYTES.min(left as usize)];
        while left > 0 {
            let want = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let count = file.read_at(&mut buffer[..want], offset_bytes)?;
            if count == 0 {
                return Err(shrunk());
            }
            self.write_all(&buffer[..count])?;
            offset_bytes += count as u64;
            left -= count as u64;
        }
        Ok(())
    }
}

/// The file that is sent ended before the length that was promised.
pub fn shrunk() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the file became shorter while it was sent",
    )
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let began = self.begins(match self.begun {
            true => Wait::Rest,
            false => Wait::Message,
        });
        let read = match &mut self.wire {
            Wire::Plain(stream) => uninterrupted(|| stream.read(buffer)),
            Wire::Secure(stream) => stream.read(buffer),
        };
        let took = self.ended(began, *read.as_ref().unwrap_or(&0));
        let count = read?;
        // How long the other end thinks is its own affair, up to the patience of a single read.
        let waited = match std::mem::replace(&mut self.begun, true) {
            true => took,
            false => Duration::ZERO,
        };
        self.received.took(count, waited, self.patience)?;
        Ok(count)
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.timed(|wire| match wire {
            Wire::Plain(stream) => stream.write(bytes),
            Wire::Secure(stream) => stream.write(bytes),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.wire {
            Wire::Plain(stream) => stream.flush(),
            Wire::Secure(stream) => stream.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_no_progress_and_slow_links_are() {
        let (second, patience) = (Duration::from_secs(1), Duration::from_secs(10));
        let mut meter = Meter::default();
        for _ in 0..9 {
            meter.took(1, second, patience).unwrap();
        }
        assert!(meter.took(1, second, patience).is_err());
        let mut meter = Meter::default();
        for _ in 0..100 {
            meter.took(1500, second, patience).unwrap();
        }
        // Just fast enough, over just the patience that there is; then it counts anew.
        let mut meter = Meter::default();
        meter.took(10_240, patience, patience).unwrap();
        assert_eq!((meter.bytes, meter.waited), (0, Duration::ZERO));
        assert!(meter.took(10_239, patience, patience).is_err());
    }

    /// Both ends of a connection.
    fn pair() -> (Channel, TcpStream) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (Channel::plain(listener.accept().unwrap().0), far)
    }

    /// What `send` sends, as the other end has it, and how it ended.
    fn sent(send: impl FnOnce(&mut Channel) -> io::Result<()>) -> (Vec<u8>, io::Result<()>) {
        let (mut channel, mut far) = pair();
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            far.read_to_end(&mut bytes).map(|_| bytes)
        });
        let ended = send(&mut channel);
        drop(channel);
        (reader.join().unwrap().unwrap(), ended)
    }

    #[test]
    fn a_channel_knows_what_came_and_what_went_since_it_awaits() {
        let (mut channel, mut far) = pair();
        channel.set_patience(Duration::from_secs(10)).unwrap();
        assert!(channel.inside_tls().is_none());
        channel.awaits(false);
        assert!(!channel.has_begun() && !channel.has_written());
        far.write_all(b"hello").unwrap();
        let mut bytes = [0; 5];
        channel.read_exact(&mut bytes).unwrap();
        assert!(&bytes == b"hello" && channel.has_begun() && !channel.has_written());
        channel.write_interim(b"wait").unwrap();
        assert!(!channel.has_written());
        channel.write_all(b"answer").unwrap();
        assert!(channel.has_written());
        channel.write_interim(b"!").unwrap();
        assert!(channel.has_written());
        channel.awaits(true);
        assert!(channel.has_begun() && !channel.has_written());
        let mut bytes = [0; 11];
        far.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"waitanswer!");
    }

    #[test]
    fn files_arrive_whole_from_any_place_and_those_that_shrank_are_told() {
        let bytes: Vec<u8> = (0..SENDFILE_BYTES + 70_003).map(|i| (i * 7 / 5) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let (size, from) = (bytes.len() as u64, 3);
        let left = size - from;
        type Send = fn(&mut Channel, &File, u64, u64) -> io::Result<()>;
        for send in [Channel::send_file as Send, Channel::copy_file] {
            let (arrived, ended) = sent(|channel| send(channel, &file, from, left));
            assert!(
                ended.is_ok() && arrived == bytes[3..],
                "{ended:?}, {} bytes",
                arrived.len()
            );
            let (arrived, ended) = sent(|channel| send(channel, &file, from, 10));
            assert!(ended.is_ok() && arrived == bytes[3..13], "{ended:?}");
            let (arrived, ended) = sent(|channel| send(channel, &file, from, left + 1));
            assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
            assert!(arrived == bytes[3..]);
        }
        let (arrived, ended) = sent(|channel| channel.write_more(&bytes));
        assert!(ended.is_ok() && arrived == bytes, "{ended:?}");
    }

    /// Files of the kernel's own file systems may not be ones that it sends by itself.
    #[test]
    fn what_the_kernel_cannot_send_is_copied() {
        let text = std::fs::read("/proc/version").unwrap();
        let file = File::open("/proc/version").unwrap();
        let (arrived, ended) = sent(|channel| channel.send_file(&file, 0, text.len() as u64));
        assert!(ended.is_ok() && arrived == text, "{ended:?}");
    }
}
