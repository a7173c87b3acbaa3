//! Heads of requests and responses: read whole, bounded, by httparse; the headers that matter taken out of them.

use super::HttpError;
use super::body::Framing;
use std::io::BufRead;
use wirespeed_schema::units::parse_digits;

/// Bytes of a head.
pub const HEAD_BYTES_MAX: usize = 32 << 10;
const HEADERS_MAX: usize = 100;

/// Headers by name: each once but Content-Length, as a list of what its lines say (RFC 9110, 5.3). Whoever expects one value
/// must not find the first of several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// The header of this name, in lower case.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether a list-valued header has this word.
    pub fn has(&self, name: &str, word: &str) -> bool {
        let values = self.0.iter().filter(|(key, _)| key == name);
        values
            .flat_map(|(_, value)| value.split(','))
            .any(|part| part.trim().eq_ignore_ascii_case(word))
    }

    fn of(parsed: &[httparse::Header<'_>]) -> Headers {
        let mut all: Vec<(String, String)> = Vec::new();
        for line in parsed {
            let name = line.name.to_ascii_lowercase();
            let value = String::from_utf8_lossy(line.value).trim().to_owned();
            let earlier = all.iter_mut().find(|(key, _)| *key == name);
            match earlier.filter(|_| name != "content-length") {
                None => all.push((name, value)),
                // Said twice is said; but a coding that changes something may be applied twice.
                Some((_, said))
                    if *said == value && (!name.ends_with("-encoding") || value == "identity") => {}
                Some((_, said)) => *said = format!("{said}, {value}"),
            }
        }
        Headers(all)
    }

    /// How the body behind these headers ends. Both framings at once, or lengths that differ, are refused (RFC 9112, 6.3).
    fn framing(&self, otherwise: Framing) -> Result<Framing, HttpError> {
        let lengths: Vec<_> = self.0.iter().filter(|(key, _)| key == "content-length").collect();
        let chunked = self.get("transfer-encoding");
        match (chunked, &lengths[..]) {
            (Some(coding), []) if coding.eq_ignore_ascii_case("chunked") => Ok(Framing::chunked()),
            (Some(_), _) => Err(HttpError::Malformed(
                "a transfer coding other than chunked, or a length beside it",
            )),
            (None, []) => Ok(otherwise),
            (None, [(_, text), rest @ ..]) => {
                let length = parse_digits(text).filter(|_| rest.iter().all(|(_, t)| t == text));
                length
                    .map(Framing::Length)
                    .ok_or(HttpError::Malformed("a length that is not one"))
            }
        }
    }
}

/// A request without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHead {
    /// GET, POST, ...
    pub method: String,
    /// Path and query as sent.
    pub target: String,
    /// Whether it is HTTP/1.1.
    pub is_11: bool,
    /// Its headers.
    pub headers: Headers,
    /// How its body ends.
    pub framing: Framing,
}

/// A response without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseHead {
    /// Status code.
    pub status: u16,
    /// Its headers.
    pub headers: Headers,
    /// How its body ends.
    pub framing: Framing,
    /// Whether the connection may be used again behind it.
    pub keeps: bool,
}

impl RequestHead {
    /// Read the head of the next request.
    pub fn read(inner: &mut impl BufRead) -> Result<RequestHead, HttpError> {
        let bytes = read_head(inner)?;
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(&bytes) {
            Ok(httparse::Status::Complete(_)) => {}
            _ => return Err(HttpError::Malformed("not a request")),
        }
        let is_11 = parsed.version == Some(1);
        // Lines, not values: who reads the first of two may be somebody else (RFC 9112, 3.2).
        let hosts = parsed
            .headers
            .iter()
            .filter(|line| line.name.eq_ignore_ascii_case("host"));
        match hosts.count() {
            1 => {}
            0 if !is_11 => {}
            _ => return Err(HttpError::Malformed("a request needs one Host")),
        }
        let headers = Headers::of(parsed.headers);
        Ok(RequestHead {
            method: parsed.method.unwrap_or_default().to_owned(),
            target: parsed.path.unwrap_or_default().to_owned(),
            is_11,
            framing: headers.framing(Framing::Length(0))?,
            headers,
        })
    }

    /// Whether the client wants the connection to stay open.
    pub fn keeps(&self) -> bool {
        match self.is_11 {
            true => !self.headers.has("connection", "close"),
            false => self.headers.has("connection", "keep-alive"),
        }
    }
}

impl ResponseHead {
    /// Read the head of the next response to a request that may have a body in its answer; interim ones are passed over.
    pub fn read(inner: &mut impl BufRead) -> Result<ResponseHead, HttpError> {
        loop {
            let bytes = read_head(inner)?;
            let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
            let mut parsed = httparse::Response::new(&mut headers);
            match parsed.parse(&bytes) {
                Ok(httparse::Status::Complete(_)) => {}
                _ => return Err(HttpError::Malformed("not a response")),
            }
            let status = parsed.code.unwrap_or_default();
            if (100..200).contains(&status) && status != 101 {
                continue;
            }
            let headers = Headers::of(parsed.headers);
            let framing = match status {
                101 | 204 | 304 => Framing::Length(0),
                _ => headers.framing(Framing::Close)?,
            };
            let keeps = match parsed.version {
                Some(1) => !headers.has("connection", "close"),
                _ => headers.has("connection", "keep-alive"),
            } && framing != Framing::Close;
            return Ok(ResponseHead {
                status,
                headers,
                framing,
                keeps,
            });
        }
    }
}

/// Bytes up to the empty line that ends a head.
fn read_head(inner: &mut impl BufRead) -> Result<Vec<u8>, HttpError> {
    let mut bytes = Vec::new();
    loop {
        let available = inner.fill_buf()?;
        if available.is_empty() {
            return match bytes.is_empty() {
                true => Err(HttpError::Closed),
                false => Err(HttpError::Malformed("it ends in the middle of a head")),
            };
        }
        let line = memchr::memchr(b'\n', available).map_or(available.len(), |at| at + 1);
        bytes.extend_from_slice(&available[..line]);
        inner.consume(line);
        // Empty lines before a message are tolerated (RFC 9112, 2.2).
        if bytes == b"\r\n" || bytes == b"\n" {
            bytes.clear();
        }
        if bytes.ends_with(b"\n\r\n") || bytes.ends_with(b"\n\n") {
            return Ok(bytes);
        }
        if bytes.len() > HEAD_BYTES_MAX {
            return Err(HttpError::Malformed("a head longer than 32 KiB"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_readings_of_one_message_are_refused() {
        let read = |text: &str| RequestHead::read(&mut text.as_bytes());
        let good = read("\r\nPOST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\n")
            .unwrap();
        assert_eq!((good.framing, good.keeps()), (Framing::Length(5), true));
        let old = read("GET / HTTP/1.0\r\n\r\n").unwrap();
        assert_eq!((old.framing, old.keeps()), (Framing::Length(0), false));
        for bad in [
            "",
            "GET / HTTP/1.1\r\nHost: x\r\n",
            "nonsense\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n",
            "GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
        ] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
        // A head of the largest size is read, and a longer one is not; the empty line at its end does not count.
        let long = |bytes: usize| {
            format!(
                "GET / HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n",
                "x".repeat(bytes - 32)
            )
        };
        assert_eq!(long(HEAD_BYTES_MAX).len(), HEAD_BYTES_MAX);
        assert!(read(&long(HEAD_BYTES_MAX)).is_ok() && read(&long(HEAD_BYTES_MAX + 2)).is_ok());
        assert!(read(&long(HEAD_BYTES_MAX + 3)).is_err() && read(&long(40_000)).is_err());
        let headers = |count: usize| {
            format!(
                "GET / HTTP/1.1\r\nHost: x\r\n{}\r\n",
                "A: x\r\n".repeat(count - 1)
            )
        };
        assert!(read(&headers(HEADERS_MAX)).is_ok() && read(&headers(HEADERS_MAX + 1)).is_err());
        assert!(matches!(read(""), Err(HttpError::Closed)));
        let close = read("GET /p?q HTTP/1.1\r\nHost: x\r\nConnection: te, Close\r\n\r\n").unwrap();
        assert_eq!(
            (close.method.as_str(), close.target.as_str(), close.keeps()),
            ("GET", "/p?q", false)
        );
        assert!(
            read("GET / HTTP/1.0\nConnection: keep-alive\n\n")
                .unwrap()
                .keeps()
        );
        let chunked = read("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n").unwrap();
        assert_eq!(chunked.framing, Framing::chunked());
    }

    #[test]
    fn responses_without_a_length_end_with_the_connection() {
        let read = |text: &str| ResponseHead::read(&mut text.as_bytes()).unwrap();
        let axis = read("HTTP/1.0 200 OK\r\nContent-Type: text/xml\r\n\r\n");
        assert_eq!((axis.framing, axis.keeps), (Framing::Close, false));
        let keeps = |text: &str| read(text).keeps;
        assert!(!keeps("HTTP/1.1 200 OK\r\n\r\n"));
        assert!(!keeps(
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        ));
        assert!(!keeps("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"));
        assert!(!keeps("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n"));
        assert!(keeps(
            "HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: te, Keep-Alive\r\n\r\n"
        ));
        for (status, framing) in [
            (101, Framing::Length(0)),
            (204, Framing::Length(0)),
            (304, Framing::Length(0)),
            (404, Framing::Close),
        ] {
            let head = read(&format!("HTTP/1.1 {status} x\r\n\r\n"));
            assert_eq!((head.status, head.framing), (status, framing));
        }
        let interim = read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 206 Partial\r\nContent-Length: 3\r\n\r\n");
        assert_eq!(
            (interim.status, interim.framing, interim.keeps),
            (206, Framing::Length(3), true)
        );
    }
}
