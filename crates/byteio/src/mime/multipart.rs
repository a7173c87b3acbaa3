//! multipart/related, as a stream: the heads of parts are small and held, their bodies pass through a window.
//!
//! It must never look for more than one boundary at a time, and never take bytes that look like one for the end of a
//! part unless a line end, two hyphens and the whole boundary stand there.

use super::MimeError;
use memchr::memmem::Finder;
use std::io::{BufRead, Read};

/// Bytes of the head of one part.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// Bytes before the first boundary.
const PREAMBLE_BYTES_MAX: usize = 4 << 10;
/// Longest boundary (RFC 2046, 5.1.1).
const BOUNDARY_BYTES_MAX: usize = 70;

/// Head of a part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartHead {
    /// Content ID without brackets.
    pub id: Option<String>,
    /// `Content-Type`.
    pub media_type: Option<String>,
    /// `Content-Transfer-Encoding`, in lower case.
    pub transfer_encoding: Option<String>,
    /// `Content-Length` as it is written.
    pub length: Option<String>,
}

/// What follows a boundary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A part.
    Head(PartHead),
    /// The closing boundary: no more parts.
    Closed,
}

/// Reads parts one after the other from a reader whose buffer is larger than any boundary.
pub struct Multipart<R: BufRead> {
    inner: R,
    /// CRLF, two hyphens and the boundary.
    delimiter: Vec<u8>,
    begun: bool,
    closed: bool,
    /// Bytes that may be the start of a delimiter, kept between two fillings of the buffer below.
    held: Vec<u8>,
}

impl<R: BufRead> Multipart<R> {
    /// Parts divided by `boundary`.
    pub fn new(inner: R, boundary: &str) -> Result<Self, MimeError> {
        if boundary.is_empty() || boundary.len() > BOUNDARY_BYTES_MAX {
            return Err(MimeError::Malformed("boundary: it must have 1 to 70 characters"));
        }
        Ok(Multipart {
            inner,
            delimiter: format!("\r\n--{boundary}").into_bytes(),
            begun: false,
            closed: false,
            held: Vec::new(),
        })
    }

    /// The head of the next part. The body of the one before must have been read.
    pub fn next_part(&mut self) -> Result<Part, MimeError> {
        if self.closed {
            return Ok(Part::Closed);
        }
        if !self.begun {
            self.preamble()?;
            self.begun = true;
        }
        // Behind the boundary: two hyphens close, blanks and a line end open.
        let line = self.line(HEAD_BYTES_MAX)?;
        if line.starts_with(b"--") {
            self.closed = true;
            return Ok(Part::Closed);
        }
        if !line.iter().all(u8::is_ascii_whitespace) {
            return Err(MimeError::Malformed("multipart message: text behind a boundary"));
        }
        self.head().map(Part::Head)
    }

    /// Length of the end of the message, its last line end left out.
    pub fn closing_bytes(&self) -> u64 {
        self.delimiter.len() as u64 + 2
    }

    /// The reader below, where it stands at the start of a part's body: for bodies whose length is known beforehand.
    /// [`Multipart::expect_delimiter`] must follow.
    pub fn body_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// The reader below, behind the closing boundary.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// The boundary that must stand here.
    pub fn expect_delimiter(&mut self) -> Result<(), MimeError> {
        let mut found = vec![0; self.delimiter.len()];
        self.inner.read_exact(&mut found)?;
        match found == self.delimiter {
            true => Ok(()),
            false => Err(MimeError::Malformed(
                "multipart message: no boundary where its length puts one",
            )),
        }
    }

    /// The body of the part, in pieces, up to the next boundary.
    pub fn copy_body<E: From<MimeError>>(
        &mut self,
        mut sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let delimiter = std::mem::take(&mut self.delimiter);
        let copied = self.copy_to(&Finder::new(&delimiter), &mut sink);
        self.delimiter = delimiter;
        copied
    }

    fn copy_to<E: From<MimeError>>(
        &mut self,
        delimiter: &Finder<'_>,
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let needle = delimiter.needle();
        loop {
            let available = self.inner.fill_buf().map_err(MimeError::Io)?;
            if available.is_empty() {
                return Err(
                    MimeError::Malformed("multipart message: it ends in the middle of a part").into(),
                );
            }
            if !self.held.is_empty() {
                // A delimiter may straddle: look at what is held with as much as could complete it.
                let held = self.held.len();
                let more = available.len().min(needle.len());
                self.held.extend_from_slice(&available[..more]);
                if let Some(at) = delimiter.find(&self.held) {
                    sink(&self.held[..at])?;
                    let taken = at + needle.len() - held;
                    self.held.clear();
                    self.inner.consume(taken);
                    return Ok(());
                }
                let keep = overlap(&self.held, needle);
                let pass = self.held.len() - keep;
                sink(&self.held[..pass])?;
                self.held.drain(..pass);
                self.inner.consume(more);
                continue;
            }
            if let Some(at) = delimiter.find(available) {
                sink(&available[..at])?;
                self.inner.consume(at + needle.len());
                return Ok(());
            }
            let keep = overlap(available, needle);
            let (pass, count) = (available.len() - keep, available.len());
            sink(&available[..pass])?;
            self.held.extend_from_slice(&available[pass..]);
            self.inner.consume(count);
        }
    }

    /// Everything before the first boundary, which may open the message without a line end before it.
    fn preamble(&mut self) -> Result<(), MimeError> {
        let mut seen = 0;
        loop {
            let line = self.line(PREAMBLE_BYTES_MAX)?;
            seen += line.len() + 2;
            // Two hyphens and the boundary; what may follow them is judged by whoever reads the line again.
            if let Some(rest) = line.strip_prefix(&self.delimiter[2..]) {
                self.held = rest.to_vec();
                self.held.extend_from_slice(b"\r\n");
                return Ok(());
            }
            if seen > PREAMBLE_BYTES_MAX {
                return Err(MimeError::Malformed(
                    "multipart message: no boundary in its first 4 KiB",
                ));
            }
        }
    }

    /// A line without its end; first what is held.
    fn line(&mut self, bytes_max: usize) -> Result<Vec<u8>, MimeError> {
        let mut line = std::mem::take(&mut self.held);
        if !line.ends_with(b"\n") {
            let limit = bytes_max.saturating_sub(line.len()) as u64;
            self.inner.by_ref().take(limit).read_until(b'\n', &mut line)?;
        }
        if !line.ends_with(b"\n") {
            return match line.starts_with(b"--") {
                // The closing boundary need not have a line end.
                true => Ok(line),
                false => Err(MimeError::Malformed(
                    "multipart message: it ends where a line belongs",
                )),
            };
        }
        line.pop();
        if line.ends_with(b"\r") {
            line.pop();
        }
        Ok(line)
    }

    fn head(&mut self) -> Result<PartHead, MimeError> {
        let mut head = PartHead::default();
        let mut left = HEAD_BYTES_MAX;
        let mut last: Option<(String, String)> = None;
        loop {
            let line = self.line(left)?;
            left = left.saturating_sub(line.len() + 2);
            if left == 0 {
                return Err(MimeError::Malformed(
                    "multipart message: the head of a part is longer than 16 KiB",
                ));
            }
            let text = String::from_utf8_lossy(&line).into_owned();
            // A line that begins with white space goes on with the one before.
            if let Some((_, value)) = last
                .as_mut()
                .filter(|_| text.starts_with([' ', '\t']) && !text.trim().is_empty())
            {
                value.push_str(&text);
                continue;
            }
            if let Some((name, value)) = last.take() {
                head.take(&name, &value);
            }
            if text.is_empty() {
                return Ok(head);
            }
            let Some((name, value)) = text.split_once(':') else {
                return Err(MimeError::Malformed(
                    "multipart message: a header of a part without a colon",
                ));
            };
            last = Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
}

impl PartHead {
    fn take(&mut self, name: &str, value: &str) {
        match name {
            "content-id" => self.id = Some(super::params::bare_id(value).to_owned()),
            "content-type" => self.media_type = Some(value.trim().to_owned()),
            "content-length" => self.length = Some(value.trim().to_owned()),
            "content-transfer-encoding" => self.transfer_encoding = Some(value.trim().to_ascii_lowercase()),
            _ => {}
        }
    }

    /// Whether the body stands as it is. Base64 and quoted-printable parts are what no stack in use sends.
    pub fn is_plain(&self) -> bool {
        matches!(
            self.transfer_encoding.as_deref(),
            None | Some("binary" | "8bit" | "7bit")
        )
    }
}

/// Length of the longest end of `bytes` that begins `needle`, the whole needle left out.
fn overlap(bytes: &[u8], needle: &[u8]) -> usize {
    let longest = bytes.len().min(needle.len() - 1);
    (1..=longest)
        .rev()
        .find(|&length| needle.starts_with(&bytes[bytes.len() - length..]))
        .unwrap_or(0)
}

/// A message of an envelope and one part with data, written around both: everything but the data themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// The header `Content-Type`.
    pub content_type: String,
    /// Up to the data.
    pub before: String,
    /// Behind the data.
    pub behind: String,
}

/// The content ID of the data in messages of this crate.
pub const DATA_ID: &str = "data@byteio";
const ROOT_ID: &str = "root@byteio";

impl Related {
    /// Around `envelope` and data. `boundary` must not occur in the data: make it from 128 random bits.
    pub fn around(envelope: &str, boundary: &str) -> Related {
        Related {
            content_type: format!(
                "multipart/related; type=\"application/xop+xml\"; start=\"<{ROOT_ID}>\"; start-info=\"text/xml\"; boundary=\"{boundary}\""
            ),
            before: format!(
                "--{boundary}\r\nContent-Type: application/xop+xml; charset=utf-8; type=\"text/xml\"\r\n\
                 Content-Transfer-Encoding: binary\r\nContent-ID: <{ROOT_ID}>\r\n\r\n{envelope}\r\n--{boundary}\r\n\
                 Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: binary\r\n\
                 Content-ID: <{DATA_ID}>\r\n\r\n"
            ),
            behind: format!("\r\n--{boundary}--\r\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::BufReader;

    type Read = Vec<(PartHead, Vec<u8>)>;

    fn read(message: &[u8], boundary: &str, buffer: usize) -> Result<Read, MimeError> {
        let mut multipart = Multipart::new(BufReader::with_capacity(buffer, message), boundary)?;
        let mut parts = Vec::new();
        while let Part::Head(head) = multipart.next_part()? {
            let mut body = Vec::new();
            multipart.copy_body(|piece| {
                body.extend_from_slice(piece);
                Ok::<_, MimeError>(())
            })?;
            parts.push((head, body));
        }
        Ok(parts)
    }

    #[test]
    fn axis_spelling_is_read() {
        let message = b"\r\n--X\r\nContent-Type: application/xop+xml;\r\n\tcharset=utf-8\r\nContent-Id: <A1>\r\n\r\n<e/>\r\n--X \r\ncontent-id: B2\r\n\r\n\r\n--Y\r\n-\r\n--X--";
        let parts = read(message, "X", 8).unwrap();
        assert_eq!(parts[0].0.id.as_deref(), Some("A1"));
        assert_eq!(
            parts[0].0.media_type.as_deref(),
            Some("application/xop+xml;\tcharset=utf-8")
        );
        assert_eq!(parts[1].0.id.as_deref(), Some("B2"));
        assert_eq!(
            (&parts[0].1[..], &parts[1].1[..]),
            (&b"<e/>"[..], &b"\r\n--Y\r\n-"[..])
        );
    }

    #[test]
    fn the_head_of_a_part_is_taken_whole() {
        let message = b"--X\r\nContent-ID: <a@b>\r\nContent-Transfer-Encoding: BINARY\r\nContent-Type: a/b;\r\n c=d\r\n\
                        content-length: 7\r\nOther: x\r\n\r\n\r\n--X--";
        let parts = read(message, "X", 64).unwrap();
        let head = PartHead {
            id: Some("a@b".into()),
            media_type: Some("a/b; c=d".into()),
            transfer_encoding: Some("binary".into()),
            length: Some("7".into()),
        };
        assert_eq!(parts, [(head.clone(), Vec::new())]);
        assert!(head.is_plain() && PartHead::default().is_plain());
        let encoded = PartHead {
            transfer_encoding: Some("base64".into()),
            ..head
        };
        assert!(!encoded.is_plain());
    }

    #[test]
    fn what_stands_before_the_first_boundary_has_a_bound() {
        // Lines of 60 bytes with their ends, none of which ends at the bound, and a last one that is shorter.
        let opens = |bytes: usize| {
            let lines = format!("{}\r\n", "p".repeat(58)).repeat(bytes / 60);
            let rest = format!("{}\r\n", "p".repeat(bytes % 60 - 2));
            read(format!("{lines}{rest}--X--\r\n").as_bytes(), "X", 64)
        };
        let room = PREAMBLE_BYTES_MAX - 4;
        assert!(opens(room).is_ok() && opens(room + 8).is_err());
    }

    #[test]
    fn the_end_of_a_message_is_as_long_as_it_says() {
        let related = Related::around("<e/>", "boundary");
        let multipart = Multipart::new(&b""[..], "boundary").unwrap();
        assert_eq!(multipart.closing_bytes() + 2, related.behind.len() as u64);
    }

    #[test]
    fn ends_that_may_begin_a_delimiter_are_found() {
        let needle = b"\r\n--X";
        for (bytes, length) in [
            (&b"abc"[..], 0),
            (b"abc\r", 1),
            (b"\r\n--", 4),
            (b"\r\r\n-", 3),
            (b"\n--X", 0),
            (b"", 0),
            // The whole of it is found otherwise.
            (needle, 0),
        ] {
            assert_eq!(overlap(bytes, needle), length, "{bytes:?}");
        }
    }

    #[test]
    fn what_is_cut_or_crooked_is_an_error() {
        for bad in [
            &b""[..],
            b"--X",
            b"--X\r\n",
            b"--X\r\n\r\nabc",
            b"--Xa\r\n\r\nabc\r\n--X--",
            b"--X\r\nno colon\r\n\r\nabc\r\n--X--",
            b"nothing\r\nhere\r\n",
        ] {
            assert!(read(bad, "X", 64).is_err(), "{bad:?}");
        }
        assert!(Multipart::new(&b""[..], "").is_err());
        assert!(Multipart::new(&b""[..], &"x".repeat(71)).is_err());
    }

    proptest! {
        #[test]
        fn parts_read_back(data in prop::collection::vec(prop::sample::select(b"\r\n-Bx".to_vec()), 0..300), buffer in 1usize..80) {
            let related = Related::around("<e/>", "B0");
            let message = [related.before.as_bytes(), &data, related.behind.as_bytes()].concat();
            let parts = read(&message, "B0", buffer).unwrap();
            prop_assert_eq!(parts.len(), 2);
            prop_assert_eq!(&parts[0].1[..], b"<e/>");
            prop_assert_eq!(&parts[1].1, &data);
        }

        #[test]
        fn no_bytes_panic(message in prop::collection::vec(prop::sample::select(b"\r\n-B:c 0".to_vec()), 0..200), buffer in 1usize..40) {
            let _ = read(&message, "B0", buffer);
        }
    }
}
