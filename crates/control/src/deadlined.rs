//! A connection of which everything must have come, and gone, by a moment. It must never give the next byte time of its own.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Do `io` again for as long as a signal ends it: one that asks to stop is heard by its own thread, and a wait with a time limit
/// is not taken up again by the system.
pub fn uninterrupted<T>(mut io: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match io() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Every read and write ends by the deadline, however the other end trickles.
pub struct Deadlined<'a> {
    /// The connection.
    pub stream: &'a TcpStream,
    /// Nothing is waited for after it.
    pub deadline: Instant,
}

impl Deadlined<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(Some(left))
    }
}

impl Read for Deadlined<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        uninterrupted(|| {
            self.stream.set_read_timeout(self.left()?)?;
            self.stream.read(buffer)
        })
    }
}

impl Write for Deadlined<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        uninterrupted(|| {
            self.stream.set_write_timeout(self.left()?)?;
            self.stream.write(bytes)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_ends_no_wait_and_other_errors_do() {
        let mut kinds = [
            io::ErrorKind::Interrupted,
            io::ErrorKind::Interrupted,
            io::ErrorKind::TimedOut,
        ]
        .into_iter();
        let ended = uninterrupted(|| match kinds.next() {
            Some(kind) => Err(io::Error::from(kind)),
            None => Ok(()),
        });
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(uninterrupted(|| Ok(7)).unwrap(), 7);
    }
}
