//! Requests and answers of HTTP/1.1 over TLS, one to a connection: a head, a body of a stated length, the end. Lengths
//! are bounded before anything is allocated, every read has a deadline, and nothing is read of a stranger but the head.

use serde::Deserialize;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};
use wirespeed_control::address::Address;
use wirespeed_control::deadlined::Deadlined;
use wirespeed_control::secure::{self, Connected, SecureReader, SecureWriter, Stranger};
use wirespeed_control::{ControlError, Failure, Identity, StopFlag, Subscription, reach};
use wirespeed_schema::message::FailureClass;
use wirespeed_schema::units::parse_digits;

/// Longest head, of requests and answers.
const HEAD_BYTES_MAX: usize = 8 << 10;
const HEADERS_MAX: usize = 32;
/// Longest body: a session's report with an environment in it.
const BODY_BYTES_MAX: u64 = 8 << 20;
/// A head and a body must come within this time.
const READ_TIME: Duration = Duration::from_secs(10);

/// A request whose bearer is known.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The parts of the path: `["coordinator", "1", "sessions"]`.
    pub(crate) fn parts(&self) -> Vec<&str> {
        self.path.split('/').filter(|part| !part.is_empty()).collect()
    }
}

/// Why a request is not served: a status, and a line for whoever sent it.
#[derive(Debug, PartialEq, Eq)]
struct Bad(u16, &'static str);

struct Head {
    first: (String, String),
    bearer: Option<String>,
    length: Option<u64>,
    chunked: bool,
    rest: Vec<u8>,
}

/// Read a request; the body only of who has `identity`'s word, and so is no `stranger` any more. A bad one is answered here.
pub(crate) fn request(
    reader: &mut SecureReader,
    writer: &mut SecureWriter,
    identity: &Identity,
    stranger: Stranger,
) -> Option<Request> {
    reader.set_deadline(Some(Instant::now() + READ_TIME));
    let request = read(reader, identity, || drop(stranger));
    reader.set_deadline(None);
    let told = |Bad(status, why)| respond(writer, status, &json!({ "class": "refused", "error": why }));
    request.map_err(told).ok()
}

fn read(reader: &mut impl Read, identity: &Identity, known: impl FnOnce()) -> Result<Request, Bad> {
    let head = read_head(reader, parse_request)?;
    if !head
        .bearer
        .as_deref()
        .is_some_and(|word| identity.is_bearer(word))
    {
        return Err(Bad(401, "the bearer token is missing or wrong"));
    }
    known();
    if head.chunked {
        return Err(Bad(411, "state the length of the body"));
    }
    let body = read_body(reader, &head, BODY_BYTES_MAX)?;
    let (method, path) = head.first;
    Ok(Request { method, path, body })
}

fn read_head(reader: &mut impl Read, parse: fn(&[u8]) -> Result<Option<Head>, Bad>) -> Result<Head, Bad> {
    let mut bytes = Vec::with_capacity(1024);
    let mut buffer = [0; 1024];
    loop {
        let count = reader
            .read(&mut buffer)
            .map_err(|_| Bad(408, "the head did not come in time"))?;
        bytes.extend_from_slice(&buffer[..count]);
        if let Some(head) = parse(&bytes)? {
            return Ok(head);
        }
        if count == 0 {
            return Err(Bad(400, "the head has no end"));
        }
        if bytes.len() > HEAD_BYTES_MAX {
            return Err(Bad(431, "the head is too long"));
        }
    }
}

/// The body, of which some came with the head. One that is cut short is none.
fn read_body(reader: &mut impl Read, head: &Head, bytes_max: u64) -> Result<Vec<u8>, Bad> {
    let length = head.length.unwrap_or(0);
    if length > bytes_max {
        return Err(Bad(413, "the body is too long"));
    }
    let mut body = head.rest.clone();
    body.truncate(length as usize);
    let left = length - body.len() as u64;
    let read = reader.take(left).read_to_end(&mut body);
    match read {
        Ok(count) if count as u64 == left => Ok(body),
        _ => Err(Bad(400, "the body is shorter than stated")),
    }
}

fn parse_request(bytes: &[u8]) -> Result<Option<Head>, Bad> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(end)) => {
            let first = (
                request.method.unwrap_or("").to_owned(),
                request.path.unwrap_or("").to_owned(),
            );
            head(first, request.headers, &bytes[end..]).map(Some)
        }
        Ok(httparse::Status::Partial) => Ok(None),
        Err(_) => Err(Bad(400, "this is no HTTP")),
    }
}

fn parse_answer(bytes: &[u8]) -> Result<Option<Head>, Bad> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut answer = httparse::Response::new(&mut headers);
    match answer.parse(bytes) {
        Ok(httparse::Status::Complete(end)) => {
            let first = (answer.code.unwrap_or(0).to_string(), String::new());
            head(first, answer.headers, &bytes[end..]).map(Some)
        }
        Ok(httparse::Status::Partial) => Ok(None),
        Err(_) => Err(Bad(502, "this is no HTTP")),
    }
}

fn head(first: (String, String), headers: &[httparse::Header], rest: &[u8]) -> Result<Head, Bad> {
    let all = |name: &'static str| headers.iter().filter(move |h| h.name.eq_ignore_ascii_case(name));
    let value = |header: &httparse::Header| {
        std::str::from_utf8(header.value)
            .ok()
            .map(|v| v.trim().to_owned())
    };
    let bearer = all("authorization").next().and_then(value);
    let lengths: Vec<Option<u64>> = all("content-length")
        .map(|h| value(h).and_then(|v| parse_digits(&v)))
        .collect();
    let length = match lengths.as_slice() {
        [] => None,
        [Some(length)] => Some(*length),
        _ => return Err(Bad(400, "the length of the body is not one number")),
    };
    Ok(Head {
        first,
        bearer: bearer.and_then(|v| v.strip_prefix("Bearer ").map(str::to_owned)),
        length,
        chunked: all("transfer-encoding").next().is_some(),
        rest: rest.to_vec(),
    })
}

/// Answer with what was found, or why there is nothing.
pub(crate) fn answer(writer: &mut SecureWriter, found: Result<(u16, Value), Failure>) {
    let failed = |failure: Failure| {
        let status = match failure.class {
            FailureClass::Usage | FailureClass::Unsupported => 400,
            FailureClass::Refused => 503,
            _ => 409,
        };
        (status, to_value(&failure))
    };
    let (status, body) = found.unwrap_or_else(failed);
    respond(writer, status, &body);
}

/// Answer with JSON, which is the end of the connection.
fn respond(writer: &mut SecureWriter, status: u16, body: &Value) {
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        reason(status),
        body.len()
    );
    // Whoever asked may be gone.
    let _ = writer.write_all((head + &body).as_bytes());
    writer.close();
}

pub(crate) fn to_value(what: &impl Serialize) -> Value {
    serde_json::to_value(what).unwrap_or_default()
}

/// From here on the connection carries a rank's control channel.
pub(crate) fn switch_protocols(writer: &mut SecureWriter) -> io::Result<()> {
    writer.write_all(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: wirespeed\r\n\r\n")
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Error",
    }
}

/// One end to call, and the word that opens it.
#[derive(Clone)]
pub(crate) struct Far {
    /// What it is, for messages: `coordinator`, `node`.
    pub(crate) what: &'static str,
    pub(crate) address: Address,
    pub(crate) identity: Identity,
    pub(crate) stop: StopFlag,
}

impl Far {
    /// `host:port`, for messages.
    pub(crate) fn name(&self) -> String {
        format!("the {} at {}", self.what, self.address)
    }

    /// As [`Far::call`], without a body.
    pub(crate) fn ask(&self, method: &str, path: &str, patience: Duration) -> Result<Value, Failure> {
        self.call(method, path, &Value::Null, patience)
    }

    /// Ask, and wait for the answer for at most `patience`. An answer that is an error comes back as the failure that
    /// the far end stated.
    pub(crate) fn call(
        &self,
        method: &str,
        path: &str,
        body: &impl Serialize,
        patience: Duration,
    ) -> Result<Value, Failure> {
        let mut far = self.open(method, path, body)?;
        let _subscription = self.hears(&far.writer);
        far.reader.set_deadline(Some(Instant::now() + patience));
        let answer = read_head(&mut far.reader, parse_answer).and_then(|head| {
            Ok((
                head.first.0.clone(),
                read_body(&mut far.reader, &head, BODY_BYTES_MAX)?,
            ))
        });
        far.writer.close();
        let (status, body) = answer.map_err(|Bad(_, why)| self.strange(why))?;
        let value: Value = serde_json::from_slice(&body).unwrap_or_default();
        match status.as_str() {
            "200" | "201" => Ok(value),
            "401" => Err(crate::refused(
                format!("{} does not know this key", self.name()),
                "copy the key file or identity of that host's daemons",
            )),
            _ => match Failure::deserialize(&value) {
                Ok(failure) => Err(failure.cleaned()),
                Err(_) => Err(self.strange(&format!("it answered {status}"))),
            },
        }
    }

    /// Ask for a connection that carries a control channel.
    pub(crate) fn upgrade(&self, path: &str) -> Result<Connected, Failure> {
        let mut far = self.open("POST", path, &Value::Null)?;
        let _subscription = self.hears(&far.writer);
        far.reader.set_deadline(Some(Instant::now() + READ_TIME));
        // Byte by byte, so that nothing of the channel is taken for the answer: it has a few dozen.
        let mut head = Vec::new();
        let mut byte = [0; 1];
        while !head.ends_with(b"\r\n\r\n") && head.len() < HEAD_BYTES_MAX {
            match far.reader.read(&mut byte) {
                Ok(1) => head.push(byte[0]),
                _ => return Err(self.strange("it closed the channel")),
            }
        }
        if !head.starts_with(b"HTTP/1.1 101 ") {
            return Err(self.strange("it does not hand out the channel"));
        }
        far.reader.set_deadline(None);
        Ok(far)
    }

    fn open(&self, method: &str, path: &str, body: &impl Serialize) -> Result<Connected, Failure> {
        let body = serde_json::to_vec(body).unwrap_or_default();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            self.address,
            self.identity.bearer(),
            body.len()
        );
        let connected = secure::connect(&self.address, &self.identity, &self.stop);
        let mut far = connected.map_err(|error| self.unreachable(&error))?;
        let sent = far.writer.write_all(&[head.as_bytes(), &body].concat());
        sent.map_err(|e| self.strange(&e.to_string()))?;
        Ok(far)
    }

    /// As long as it is kept, the wish to stop ends the connection.
    fn hears(&self, writer: &SecureWriter) -> Subscription {
        let writer = writer.clone();
        self.stop.subscribe(move || writer.close())
    }

    fn strange(&self, why: &str) -> Failure {
        if self.stop.is_requested() {
            return self.unreachable(&ControlError::Interrupted);
        }
        crate::failed(
            format!("{} does not answer as it should: {why}", self.name()),
            "check the port, and that both ends run the same wirespeed",
        )
    }

    fn unreachable(&self, error: &ControlError) -> Failure {
        let mut failure = Failure::from(error);
        if let ControlError::Connect { .. } = error {
            failure.remedy = Some(format!(
                "start `wirespeed {}` there, or leave --host, --dc, --env and --site out to run embedded",
                self.what
            ));
        }
        failure
    }
}

/// GET `path` of `host` (`HOST[:PORT]`) without TLS; status and body. For what is public and only names an address. Asked before
/// anybody watches for signals, which end the program then.
pub(crate) fn ask_plain(host: &str, path: &str, body_bytes_max: u64) -> Result<(u16, Vec<u8>), String> {
    let (unwatched, deadline) = (StopFlag::new(), Instant::now() + READ_TIME);
    let addresses = Address::parse_or(host, 80).and_then(|at| at.resolve(&unwatched));
    let connected = addresses.and_then(|at| reach::connect(&at, READ_TIME, &unwatched));
    let (stream, _) = &connected.map_err(|e| e.to_string())?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {host}\r\nAccept: */*\r\nConnection: close\r\n\r\n");
    let mut far = Deadlined { stream, deadline };
    far.write_all(request.as_bytes()).map_err(|e| e.to_string())?;
    read_plain(&mut far, body_bytes_max).map_err(|Bad(_, why)| why.to_owned())
}

/// Status and body of an answer whose body ends where it says, or with the connection.
fn read_plain(reader: &mut impl Read, body_bytes_max: u64) -> Result<(u16, Vec<u8>), Bad> {
    let head = read_head(reader, parse_answer)?;
    if head.chunked {
        return Err(Bad(502, "its answer comes in chunks"));
    }
    let status = head.first.0.parse().unwrap_or(0);
    if head.length.is_some() {
        return Ok((status, read_body(reader, &head, body_bytes_max)?));
    }
    let mut body = head.rest;
    let read = reader.take(body_bytes_max + 1).read_to_end(&mut body);
    match read {
        Ok(_) if body.len() as u64 <= body_bytes_max => Ok((status, body)),
        Ok(_) => Err(Bad(413, "its answer is too long")),
        Err(_) => Err(Bad(408, "its answer did not come in time")),
    }
}

/// Entry point for fuzzing: the bytes as a request of a bearer and as an answer, with their bodies.
pub fn fuzz_http(data: &[u8]) {
    let mut rest = data;
    if let Ok(head) = read_head(&mut rest, parse_request)
        && let Ok(body) = read_body(&mut rest, &head, BODY_BYTES_MAX)
    {
        let stated = head.length.unwrap_or(0);
        assert_eq!(body.len() as u64, stated, "a whole body or none");
    }
    if let Ok((_, body)) = read_plain(&mut &*data, 100) {
        assert!(body.len() <= 100, "answers are bounded");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_control::auth::keyfile::KeyFile;

    fn served(identity: &Identity, text: &str) -> Result<Request, Bad> {
        read(&mut text.as_bytes(), identity, || ())
    }

    #[test]
    fn only_whole_requests_of_the_key_are_served() {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyFile::load_or_make(&folder.path().join("key")).unwrap();
        let identity = key.identity();
        let line = format!("Authorization: Bearer {}\r\n", identity.bearer());
        let good = format!("POST /a//b HTTP/1.1\r\n{line}Content-Length: 2\r\n\r\n{{}}trailing");
        let request = served(identity, &good).unwrap();
        assert_eq!(
            (request.method.as_str(), request.parts()),
            ("POST", vec!["a", "b"])
        );
        assert_eq!(request.body, b"{}");
        for (text, status) in [
            ("GET / HTTP/1.1\r\n\r\n".to_owned(), 401),
            ("GET / HTTP/1.1\r\nAuthorization: Bearer AAAA\r\n\r\n".into(), 401),
            ("\u{1}\u{2}garbage\r\n\r\n".into(), 400),
            ("GET / HTTP/1.1\r\n".into(), 400),
            (
                format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(20_000)),
                431,
            ),
            (
                format!("GET / HTTP/1.1\r\n{line}Content-Length: 99999999999\r\n\r\n"),
                413,
            ),
            (
                format!("GET / HTTP/1.1\r\n{line}Content-Length: 9\r\n\r\nshort"),
                400,
            ),
            (
                format!("GET / HTTP/1.1\r\n{line}Transfer-Encoding: chunked\r\n\r\n"),
                411,
            ),
            (
                format!("GET / HTTP/1.1\r\n{line}Content-Length: +2\r\n\r\n{{}}"),
                400,
            ),
            (
                format!("GET / HTTP/1.1\r\n{line}Content-Length: two\r\n\r\n{{}}"),
                400,
            ),
            (
                format!("GET / HTTP/1.1\r\n{line}Content-Length: 2\r\nContent-Length: 1\r\n\r\n{{}}"),
                400,
            ),
        ] {
            assert_eq!(served(identity, &text).unwrap_err().0, status, "{text:.80}");
        }
    }

    #[test]
    fn the_far_end_is_named_as_it_is_typed() {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyFile::load_or_make(&folder.path().join("key")).unwrap();
        for text in ["node7:8087", "[::1]:8087"] {
            let far = Far {
                what: "node",
                address: Address::parse_or(text, 1).unwrap(),
                identity: key.identity().clone(),
                stop: StopFlag::new(),
            };
            assert_eq!(far.name(), format!("the node at {text}"));
        }
    }

    #[test]
    fn an_answer_is_whole_or_none() {
        let read = |text: &str| read_plain(&mut text.as_bytes(), 5).map_err(|Bad(status, _)| status);
        let whole = Ok((200, b"abc".to_vec()));
        assert_eq!(read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd"), whole);
        assert_eq!(read("HTTP/1.1 200 OK\r\n\r\nabc"), whole);
        for (text, status) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", 400),
            ("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabcdef", 413),
            ("HTTP/1.1 200 OK\r\n\r\nabcdef", 413),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                502,
            ),
            ("garbage\r\n\r\n", 502),
        ] {
            assert_eq!(read(text), Err(status), "{text}");
        }
    }

    #[test]
    fn who_drips_an_answer_is_given_no_more_time() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        // What is read within `time` of a text that comes a byte at a time.
        let read = |text: Vec<u8>, time: Duration| {
            let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut far, _) = listener.accept().unwrap();
            let dripping = std::thread::spawn(move || {
                for byte in text {
                    if far.write_all(&[byte]).is_err() {
                        return;
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            let (stream, deadline) = (&stream, Instant::now() + time);
            let read = read_plain(&mut Deadlined { stream, deadline }, 5000);
            stream.shutdown(std::net::Shutdown::Both).unwrap();
            dripping.join().unwrap();
            read.map_err(|Bad(status, _)| status)
        };
        let began = Instant::now();
        assert_eq!(
            read(vec![b'H'; 5000], Duration::from_millis(300)),
            Err(502),
            "no HTTP"
        );
        let mut answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n".to_vec();
        answer.resize(answer.len() + 5000, b'x');
        assert!(read(answer, Duration::from_millis(400)).is_err());
        // Either text would take 25 s.
        assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    }
}
