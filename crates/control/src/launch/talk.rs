//! What two programs say to each other over a socket that only the two have: one JSON object a line. A line is never
//! kept beyond its limit, and one that waits for its end may be waited for again.

use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, BufRead, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Longest line: an environment is the longest thing said.
const LINE_BYTES_MAX: usize = 1 << 20;

/// Say something.
pub fn say<T: Serialize>(mut to: &UnixStream, what: &T) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// A socket that several threads say things on, each of them whole.
#[derive(Clone)]
pub struct Talk(Arc<Mutex<UnixStream>>);

impl Talk {
    /// Over this socket.
    pub fn over(socket: UnixStream) -> Self {
        Talk(Arc::new(Mutex::new(socket)))
    }

    /// Say something.
    pub fn say<T: Serialize>(&self, what: &T) -> io::Result<()> {
        say(&self.0.lock(), what)
    }

    /// Nothing more is said, nor heard.
    pub fn close(&self) {
        // One that is closed already needs no closing.
        let _ = self.0.lock().shutdown(Shutdown::Both);
    }
}

/// The next thing said; `None` at the end. A line that is no such thing, or too long, is an error.
pub fn hear<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    hear_after(from, &mut Vec::new())
}

/// As [`hear`], for a reader with a time limit: what has come of a line stays in `begun`, for the next call.
pub fn hear_after<T: DeserializeOwned>(
    from: &mut impl BufRead,
    begun: &mut Vec<u8>,
) -> io::Result<Option<T>> {
    let left = LINE_BYTES_MAX.saturating_sub(begun.len()) as u64;
    from.by_ref().take(left).read_until(b'\n', begun)?;
    let line = std::mem::take(begun);
    if line.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(&line).map(Some).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;
    use std::time::Duration;

    #[test]
    fn what_is_said_is_heard_and_garbage_is_an_error() {
        let (a, b) = UnixStream::pair().unwrap();
        say(&a, &7).unwrap();
        (&a).write_all(b"garbage\n").unwrap();
        drop(a);
        let mut b = BufReader::new(b);
        assert_eq!(hear::<u32>(&mut b).unwrap(), Some(7));
        assert!(hear::<u32>(&mut b).is_err());
        assert_eq!(hear::<u32>(&mut b).unwrap(), None);
    }

    #[test]
    fn a_line_that_comes_in_parts_is_heard_whole_and_one_without_end_is_an_error() {
        let (mut a, b) = UnixStream::pair().unwrap();
        b.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        let (mut b, mut begun) = (BufReader::new(b), Vec::new());
        a.write_all(b"12").unwrap();
        let late = hear_after::<u32>(&mut b, &mut begun).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::WouldBlock);
        a.write_all(b"34\n").unwrap();
        assert_eq!(hear_after::<u32>(&mut b, &mut begun).unwrap(), Some(1234));
        let endless = vec![b'1'; LINE_BYTES_MAX + 1];
        assert!(hear::<u32>(&mut BufReader::new(&endless[..])).is_err());
    }
}
