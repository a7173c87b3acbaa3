//! Every operation that stores, by every mechanism, in every spelling that XML, MIME, DIME and HTTP permit and in many that
//! they do not: the bytes are stored exactly, or the request is refused and nothing is changed. Nothing else may happen.

mod common;
mod messages;

use common::{Running, names};
use messages::Fate::{Either, Nothing, Refused, Stored};
use messages::{Fate, Message, NEW, OLD, XML, all, operations};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use wirespeed_byteio::soap::Envelope;
use wirespeed_byteio::soap::names::{SOAP, STREAM_FACTORY};

/// Send bytes, half-close, and read the status of what comes.
fn exchange(port: u16, bytes: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // A refusal may close the connection while the rest is still being sent.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.split(' ').nth(1).and_then(|code| code.parse().ok());
    (status.unwrap_or(0), text)
}

fn head(method: &str, path: &str, kind: &str, more: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: {kind}\r\n{more}\r\n")
}

struct Rig {
    folder: tempfile::TempDir,
    service: Running,
}

impl Rig {
    fn new() -> Rig {
        let folder = tempfile::tempdir().unwrap();
        let service = Running::start(folder.path(), true, None);
        Rig { folder, service }
    }

    /// A stream of the file.
    fn stream(&self) -> String {
        let body = format!(
            "<s:Envelope xmlns:s=\"{SOAP}\"><s:Body><f:openStream xmlns:f=\"{STREAM_FACTORY}\"/></s:Body></s:Envelope>"
        );
        let length = format!("Content-Length: {}\r\n", body.len());
        let (_, answer) = exchange(
            self.service.port,
            (head("POST", "/f", XML, &length) + &body).as_bytes(),
        );
        let envelope = Envelope::open(answer.split_once("\r\n\r\n").unwrap().1.as_bytes()).unwrap();
        let address = envelope.opening().field("Address").unwrap().to_owned();
        address.strip_prefix("http://h").unwrap().to_owned()
    }

    /// Send, and hold what came of it to what should.
    fn check(&self, what: &str, request: &[u8], fate: Fate, there: bool, result: &dyn Fn(&[u8]) -> Vec<u8>) {
        let file = self.folder.path().join("f");
        let _ = std::fs::remove_file(&file);
        if there {
            std::fs::write(&file, OLD).unwrap();
        }
        let (status, answer) = exchange(self.service.port, request);
        let found = std::fs::read(&file).ok();
        let before = there.then(|| OLD.to_vec());
        let stored = match fate {
            Nothing => Some(result(b"")),
            _ => Some(result(NEW)),
        };
        let is_stored = status == 200 && found == stored;
        let is_refused = (400..=599).contains(&status) && found == before;
        let right = match fate {
            Stored | Nothing => is_stored,
            Refused => is_refused,
            Either => is_stored || is_refused,
        };
        assert!(
            right,
            "{what}: {fate:?} and not {status} with {found:?}: {answer}"
        );
        let names = names(self.folder.path());
        assert!(names.iter().all(|name| name == "f"), "{what}: {names:?}");
    }
}

/// By length, in chunks of a few bytes, and with a length that is too long.
fn framings(method: &str, path: &str, message: &Message) -> Vec<(&'static str, Vec<u8>, Fate)> {
    let (body, kind) = (&message.body, &message.kind);
    let by_length = |length: usize| {
        let head = head(method, path, kind, &format!("Content-Length: {length}\r\n"));
        [head.as_bytes(), body].concat()
    };
    let mut chunked = head(method, path, kind, "Transfer-Encoding: chunked\r\n").into_bytes();
    for piece in body.chunks(97) {
        chunked.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        chunked.extend_from_slice(piece);
        chunked.extend_from_slice(b"\r\n");
    }
    let broken = chunked.clone();
    chunked.extend_from_slice(b"0\r\n\r\n");
    let cut = if body.is_empty() { message.fate } else { Either };
    let shorter = body.len().saturating_sub(30);
    vec![
        ("by length", by_length(body.len()), message.fate),
        ("in chunks", chunked, message.fate),
        ("with a length too long", by_length(body.len() + 5), Refused),
        (
            "with a length too short",
            by_length(shorter),
            if shorter == 0 { cut } else { Refused },
        ),
        ("without the last chunk", broken, Refused),
    ]
}

#[test]
fn data_are_stored_exactly_or_refused_and_nothing_is_changed() {
    let rig = Rig::new();
    let mut checked = 0;
    for operation in operations() {
        let messages = all(&operation);
        for message in &messages {
            std::fs::write(rig.folder.path().join("f"), OLD).unwrap();
            let plain = message.what == "as it is" || message.what == "an include";
            for (framing, _, _) in framings("POST", "/f", message) {
                // Every framing of the plain ones, the first of every spelling.
                if framing != "by length" && !(plain || framing == "in chunks") {
                    continue;
                }
                std::fs::write(rig.folder.path().join("f"), OLD).unwrap();
                let path = if operation.streams {
                    rig.stream()
                } else {
                    "/f".to_owned()
                };
                let all = framings("POST", &path, message);
                let (_, request, fate) = all.into_iter().find(|(name, ..)| *name == framing).unwrap();
                let what = format!("{} {} {framing}", operation.name, message.what);
                rig.check(&what, &request, fate, true, &operation.result);
                checked += 1;
            }
        }
    }
    assert!(checked > 1500, "{checked}");
}

/// What is not there before is there whole or not at all.
#[test]
fn a_resource_that_is_new_is_whole_or_not_there() {
    let rig = Rig::new();
    for operation in operations().iter().filter(|operation| !operation.streams) {
        for message in all(operation) {
            let made = |new: &[u8]| match operation.name {
                "append" => new.to_vec(),
                "truncAppend" => [&[0; 3][..], new].concat(),
                _ if new.is_empty() => Vec::new(),
                // Old bytes that nothing is written to are zeros.
                _ => {
                    let (with, mut all) = ((operation.result)(new), Vec::new());
                    let end = (1..=with.len())
                        .rev()
                        .find(|n| OLD.get(n - 1) != Some(&with[n - 1]))
                        .unwrap();
                    for (at, byte) in with[..end].iter().enumerate() {
                        all.push(if OLD.get(at) == Some(byte) { 0 } else { *byte });
                    }
                    all
                }
            };
            let length = format!("Content-Length: {}\r\n", message.body.len());
            let request = [
                head("POST", "/f", &message.kind, &length).as_bytes(),
                &message.body,
            ]
            .concat();
            let what = format!("new {} {}", operation.name, message.what);
            rig.check(&what, &request, message.fate, false, &made);
        }
    }
}

/// Puts: headers, body, and whether it is a part.
const PUTS: [(&str, &str, &[u8], Fate, bool); 14] = [
    ("the whole", "Content-Length: 8\r\n", NEW, Stored, false),
    (
        "in chunks",
        "Transfer-Encoding: chunked\r\n",
        b"5\r\nABCDE\r\n3\r\nFGH\r\n0\r\n\r\n",
        Stored,
        false,
    ),
    ("nothing", "Content-Length: 0\r\n", b"", Nothing, false),
    ("no length", "", NEW, Refused, false),
    ("too long", "Content-Length: 9\r\n", NEW, Refused, false),
    (
        "a chunk too few",
        "Transfer-Encoding: chunked\r\n",
        b"8\r\nABCDEFGH\r\n",
        Refused,
        false,
    ),
    (
        "a chunk cut",
        "Transfer-Encoding: chunked\r\n",
        b"9\r\nABCDEFGH\r\n0\r\n\r\n",
        Refused,
        false,
    ),
    (
        "gzip",
        "Content-Length: 8\r\nContent-Encoding: gzip\r\n",
        NEW,
        Refused,
        false,
    ),
    (
        "identity",
        "Content-Length: 8\r\nContent-Encoding: identity\r\n",
        NEW,
        Stored,
        false,
    ),
    (
        "a part",
        "Content-Length: 8\r\nContent-Range: bytes 1-8/*\r\n",
        NEW,
        Stored,
        true,
    ),
    (
        "a part too short",
        "Content-Length: 8\r\nContent-Range: bytes 1-9/*\r\n",
        NEW,
        Refused,
        true,
    ),
    (
        "a part too long",
        "Content-Length: 8\r\nContent-Range: bytes 1-7/*\r\n",
        NEW,
        Refused,
        true,
    ),
    (
        "no part",
        "Content-Length: 8\r\nContent-Range: bytes 8-1/*\r\n",
        NEW,
        Refused,
        true,
    ),
    (
        "a part cut",
        "Transfer-Encoding: chunked\r\nContent-Range: bytes 1-8/*\r\n",
        b"5\r\nABCDE\r\n0\r\n\r\n",
        Refused,
        true,
    ),
];

#[test]
fn plain_puts_are_whole_or_not_there() {
    let rig = Rig::new();
    let whole = |new: &[u8]| new.to_vec();
    let part = |new: &[u8]| [&OLD[..1], new, &OLD[9..]].concat();
    let put = |more: &str, body: &[u8]| [head("PUT", "/f", "x/y", more).as_bytes(), body].concat();
    for (what, more, body, fate, is_part) in PUTS {
        let result: &dyn Fn(&[u8]) -> Vec<u8> = if is_part { &part } else { &whole };
        rig.check(what, &put(more, body), fate, true, result);
        if !is_part {
            rig.check(what, &put(more, body), fate, false, result);
        }
    }
}

/// Two lines of one header that tell different things, in either order, and what to send with them.
const TOLD_TWICE: [(&str, [&str; 2], &[u8]); 7] = [
    (
        "Content-Length: 8\r\nContent-Range",
        ["bytes 1-8/*", "bytes 2-9/*"],
        NEW,
    ),
    ("Content-Length: 8\r\nContent-Encoding", ["identity", "gzip"], NEW),
    (
        "Transfer-Encoding",
        ["chunked", "gzip"],
        b"8\r\nABCDEFGH\r\n0\r\n\r\n",
    ),
    (
        "Transfer-Encoding",
        ["chunked", "chunked"],
        b"8\r\nABCDEFGH\r\n0\r\n\r\n",
    ),
    ("Content-Length", ["8", "7"], NEW),
    ("Content-Length: 8\r\nIf-None-Match", ["\"x\"", "*"], NEW),
    ("Content-Length: 8\r\nIf-Match", ["\"x\"", "\"y\""], NEW),
];

#[test]
fn of_a_header_that_is_told_twice_no_line_goes_unheard() {
    let rig = Rig::new();
    let put = |more: &str, body: &[u8]| [head("PUT", "/f", "x/y", more).as_bytes(), body].concat();
    let part = |new: &[u8]| [&OLD[..1], new, &OLD[9..]].concat();
    for (name, [one, other], body) in TOLD_TWICE {
        let last = name.rsplit("\r\n").next().unwrap();
        for (one, other) in [(one, other), (other, one)] {
            let more = format!("{name}: {one}\r\n{last}: {other}\r\n");
            rig.check(&more, &put(&more, body), Refused, true, &part);
        }
    }
    let same = "Content-Length: 8\r\nContent-Range: bytes 1-8/*\r\ncontent-range: bytes 1-8/*\r\n";
    rig.check(same, &put(same, NEW), Stored, true, &part);
    for operation in operations().iter().filter(|operation| !operation.streams) {
        let message = all(operation).into_iter().find(|m| m.what == "as it is").unwrap();
        let more = format!(
            "Content-Length: {}\r\nContent-Type: application/dime\r\n",
            message.body.len()
        );
        let request = [head("POST", "/f", &message.kind, &more).as_bytes(), &message.body].concat();
        rig.check("two types", &request, Refused, true, &operation.result);
    }
}

/// No date of a version is told, so that a condition on one cannot be checked.
#[test]
fn a_put_on_a_date_changes_nothing() {
    let rig = Rig::new();
    for date in [
        "Sat, 01 Jan 2000 00:00:00 GMT",
        "Fri, 01 Jan 2100 00:00:00 GMT",
        "x",
    ] {
        let more = format!("Content-Length: 8\r\nIf-Unmodified-Since: {date}\r\n");
        let request = [head("PUT", "/f", "x/y", &more).as_bytes(), NEW].concat();
        rig.check(&more, &request, Refused, true, &<[u8]>::to_vec);
    }
}
