//! The body of a message as a reader: by length, chunked, or up to the end of the connection. Large reads by length go
//! straight from the socket into the caller's memory.

use super::HttpError;
use std::io::{self, BufRead, Read};

/// Longest line of a chunk's head, extensions included.
const CHUNK_LINE_MAX: usize = 256;
/// Lines of a trailer.
const TRAILER_LINES_MAX: usize = 32;

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// After so many bytes.
    Length(u64),
    /// In chunks; bytes left of the current one, and whether the last has come.
    Chunked {
        /// Bytes left of the current chunk.
        left_bytes: u64,
        /// Whether the first chunk's head was read.
        begun: bool,
        /// Whether the empty chunk was read.
        ended: bool,
    },
    /// With the connection.
    Close,
}

impl Framing {
    /// Chunked, at its start.
    pub fn chunked() -> Framing {
        Framing::Chunked {
            left_bytes: 0,
            begun: false,
            ended: false,
        }
    }
}

/// A body being read. Dropped before its end, the connection behind it is of no more use.
pub struct Body<'a, R: BufRead> {
    inner: &'a mut R,
    framing: Framing,
}

impl<'a, R: BufRead> Body<'a, R> {
    /// The body that follows in `inner`.
    pub fn new(inner: &'a mut R, framing: Framing) -> Self {
        Body { inner, framing }
    }

    /// Bytes left, where that is known.
    pub fn left_bytes(&self) -> Option<u64> {
        match self.framing {
            Framing::Length(left) => Some(left),
            _ => None,
        }
    }

    /// Read and drop the rest, at most `bytes_max`; false when there was more.
    pub fn drain(&mut self, bytes_max: u64) -> io::Result<bool> {
        let mut dropped = 0;
        loop {
            let count = self.fill_buf()?.len();
            if count == 0 {
                return Ok(true);
            }
            self.consume(count);
            dropped += count as u64;
            if dropped > bytes_max {
                return Ok(false);
            }
        }
    }

    /// All of a small body as text.
    pub fn small_text(&mut self, bytes_max: u64) -> Result<String, HttpError> {
        let mut bytes = Vec::new();
        self.by_ref().take(bytes_max).read_to_end(&mut bytes)?;
        if !self.drain(0)? {
            return Err(HttpError::Malformed("a body longer than allowed here"));
        }
        String::from_utf8(bytes).map_err(|_| HttpError::Malformed("a body that is not text"))
    }

    /// Bytes that may be taken now; reads the head of the next chunk where one is due.
    fn open_bytes(&mut self) -> io::Result<u64> {
        match &mut self.framing {
            Framing::Length(left) => Ok(*left),
            Framing::Close => Ok(u64::MAX),
            Framing::Chunked {
                left_bytes,
                begun,
                ended,
            } => {
                if *left_bytes == 0 && !*ended {
                    if std::mem::replace(begun, true) && !line(self.inner)?.is_empty() {
                        return Err(malformed("a chunk longer than it says"));
                    }
                    *left_bytes = chunk_size(&line(self.inner)?)?;
                    if *left_bytes == 0 {
                        *ended = true;
                        let mut lines = 0;
                        while !line(self.inner)?.is_empty() {
                            lines += 1;
                            if lines > TRAILER_LINES_MAX {
                                return Err(malformed("a trailer of more than 32 lines"));
                            }
                        }
                    }
                }
                Ok(*left_bytes)
            }
        }
    }

    fn took(&mut self, count: usize) {
        match &mut self.framing {
            Framing::Length(left) | Framing::Chunked { left_bytes: left, .. } => *left -= count as u64,
            Framing::Close => {}
        }
    }

    fn ended_early(&self) -> io::Result<()> {
        match self.framing {
            Framing::Close => Ok(()),
            _ => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the connection ended in the middle of a body",
            )),
        }
    }
}

impl<R: BufRead> Read for Body<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let open = self.open_bytes()?;
        let want = usize::try_from(open).unwrap_or(usize::MAX).min(buffer.len());
        if want == 0 {
            return Ok(0);
        }
        let count = self.inner.read(&mut buffer[..want])?;
        if count == 0 {
            self.ended_early()?;
        }
        self.took(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Body<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let open = self.open_bytes()?;
        if open == 0 {
            return Ok(&[]);
        }
        if self.inner.fill_buf()?.is_empty() {
            self.ended_early()?;
        }
        let available = self.inner.fill_buf()?;
        let count = available.len().min(usize::try_from(open).unwrap_or(usize::MAX));
        Ok(&available[..count])
    }

    fn consume(&mut self, count: usize) {
        self.inner.consume(count);
        self.took(count);
    }
}

fn malformed(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn line(inner: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    inner
        .by_ref()
        .take(CHUNK_LINE_MAX as u64)
        .read_until(b'\n', &mut line)?;
    // A line end of one byte would be taken for the last of a chunk that is a byte too long.
    match line.strip_suffix(b"\r\n") {
        Some(text) => Ok(text.to_vec()),
        None => Err(malformed("a chunk's head that does not end")),
    }
}

/// Hexadecimal digits, then extensions that nobody needs.
fn chunk_size(line: &[u8]) -> io::Result<u64> {
    let digits: Vec<u8> = line.iter().copied().take_while(u8::is_ascii_hexdigit).collect();
    let rest = &line[digits.len()..];
    let text = std::str::from_utf8(&digits)
        .ok()
        .filter(|t| (1..=15).contains(&t.len()));
    let extended = rest.is_empty() || matches!(rest[0], b';' | b' ' | b'\t');
    let size = text
        .and_then(|t| u64::from_str_radix(t, 16).ok())
        .filter(|_| extended);
    size.ok_or_else(|| malformed("a chunk's size that is not one"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut bytes: &[u8], framing: Framing) -> io::Result<(Vec<u8>, usize)> {
        let mut found = Vec::new();
        Body::new(&mut bytes, framing).read_to_end(&mut found)?;
        Ok((found, bytes.len()))
    }

    #[test]
    fn behind_its_end_a_body_takes_nothing() {
        let mut bytes = &b"2\r\nab\r\n0\r\n\r\n7\r\nanother\r\n"[..];
        let mut body = Body::new(&mut bytes, Framing::chunked());
        assert_eq!(body.left_bytes(), None);
        assert!(body.drain(2).unwrap());
        for _ in 0..3 {
            assert_eq!(body.read(&mut [0; 8]).unwrap(), 0);
            assert!(body.fill_buf().unwrap().is_empty());
        }
        assert_eq!(bytes, b"7\r\nanother\r\n");
    }

    #[test]
    fn small_bodies_are_read_whole_and_larger_ones_are_refused() {
        for framing in [Framing::Length(4), Framing::Close] {
            let drained = |most| Body::new(&mut &b"text"[..], framing).drain(most);
            assert!(drained(4).unwrap() && !drained(3).unwrap(), "{framing:?}");
            let text = |most| Body::new(&mut &b"text"[..], framing).small_text(most);
            assert_eq!(text(4).unwrap(), "text");
            assert!(matches!(text(3), Err(HttpError::Malformed(_))), "{framing:?}");
        }
        assert_eq!(
            Body::new(&mut &b"text"[..], Framing::Length(4)).left_bytes(),
            Some(4)
        );
        assert!(
            Body::new(&mut &b"\xff"[..], Framing::Close)
                .small_text(9)
                .is_err()
        );
        // Whoever looks before it takes hears of an early end, too.
        let error = Body::new(&mut &b"tex"[..], Framing::Length(4))
            .drain(9)
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn sizes_of_chunks_and_trailers_have_bounds() {
        assert_eq!(chunk_size(b"fffffffffffffff").unwrap(), (1 << 60) - 1);
        for (line, size) in [(&b"a"[..], 10), (b"0A;x", 10), (b"1 ", 1), (b"1\t;y", 1)] {
            assert_eq!(chunk_size(line).unwrap(), size, "{line:?}");
        }
        for bad in [&b""[..], b";x", b"1x", b"0000000000000001", b" 1"] {
            assert!(chunk_size(bad).is_err(), "{bad:?}");
        }
        let trailer = |lines| format!("0\r\n{}\r\n", "A: x\r\n".repeat(lines));
        let ends = |lines| read(trailer(lines).as_bytes(), Framing::chunked());
        assert!(ends(TRAILER_LINES_MAX).is_ok() && ends(TRAILER_LINES_MAX + 1).is_err());
        let head = |bytes: usize| format!("1;{}\r\na\r\n0\r\n\r\n", "x".repeat(bytes - 4));
        let opens = |bytes| read(head(bytes).as_bytes(), Framing::chunked());
        assert!(opens(CHUNK_LINE_MAX).is_ok() && opens(CHUNK_LINE_MAX + 1).is_err());
    }

    #[test]
    fn framings() {
        assert_eq!(read(b"abcde", Framing::Length(3)).unwrap(), (b"abc".to_vec(), 2));
        assert_eq!(read(b"abcde", Framing::Close).unwrap(), (b"abcde".to_vec(), 0));
        let chunked = b"3;x=1\r\nabc\r\n02\r\nde\r\n0\r\nTrailer: x\r\n\r\nnext";
        assert_eq!(read(chunked, Framing::chunked()).unwrap(), (b"abcde".to_vec(), 4));
        assert!(read(b"ab", Framing::Length(3)).is_err());
        for bad in [
            &b"3\r\nab"[..],
            b"3\r\nabcd\r\n0\r\n\r\n",
            b"4\r\nabc\r\n0\r\n\r\n",
            b"x\r\n",
            b"-1\r\n",
            b"fffffffffffffffff\r\n",
            b"",
        ] {
            assert!(read(bad, Framing::chunked()).is_err(), "{bad:?}");
        }
    }
}
