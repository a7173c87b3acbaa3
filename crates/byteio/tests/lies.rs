//! Services that lie, stop, or frame their answers in every way: the client ends with a clear error or every right byte,
//! never with wrong ones, and never hangs.

mod common;

use common::{data, get};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wirespeed_byteio::client::{Claim, Target, Url, Way, transfer};
use wirespeed_byteio::mime::multipart::{DATA_ID, Related};
use wirespeed_byteio::soap::write::{Data, response};
use wirespeed_byteio::soap::{Mechanism, Operation};
use wirespeed_control::StopFlag;

const SIZE: usize = 250_000;
/// Longest that any of these may take.
const SOON: Duration = Duration::from_secs(30);

/// What a service does with a read of (offset, size): the whole HTTP answer, and whether it then closes.
type Liar = fn(content: &[u8], offset: usize, size: usize, count: u32) -> (Vec<u8>, bool);

/// A service that answers reads as `liar` says, one thread a connection.
fn lying(liar: Liar) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let content: Arc<Vec<u8>> = Arc::new(data(SIZE));
    let count = Arc::new(AtomicU32::new(0));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (content, count) = (content.clone(), count.clone());
            std::thread::spawn(move || answer_all(stream, &content, &count, liar));
        }
    });
    Url::parse(&format!("http://127.0.0.1:{port}/x")).unwrap()
}

fn answer_all(stream: TcpStream, content: &[u8], count: &AtomicU32, liar: Liar) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().ok()?;
            }
            if line == "\r\n" {
                break;
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body = String::from_utf8(body).ok()?;
        let field = |name: &str| {
            let after = body.split(&format!("<p:{name}>")).nth(1)?;
            after.split('<').next()?.parse::<usize>().ok()
        };
        let (Some(offset), Some(size)) = (field("start-offset"), field("bytes-per-block")) else {
            writer
                .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                .ok()?;
            continue;
        };
        let (answer, closes) = liar(content, offset, size, count.fetch_add(1, Ordering::Relaxed));
        writer.write_all(&answer).ok()?;
        if closes {
            return None;
        }
    }
}

fn operation() -> Operation {
    Operation::Read {
        start_offset: 0,
        block_bytes: 0,
        blocks: 1,
        stride_bytes: 0,
    }
}

fn envelope(data: Data<'_>) -> wirespeed_byteio::soap::write::Around {
    response(&operation(), Mechanism::Mtom, data, None)
}

/// An HTTP answer with a length.
fn http(content_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// The multipart body with an include and these data.
fn related(data: &[u8]) -> (String, Vec<u8>) {
    let related = Related::around(&envelope(Data::Include(DATA_ID)).whole(), "BOUND");
    let body = [related.before.as_bytes(), data, related.behind.as_bytes()].concat();
    (related.content_type, body)
}

fn block(content: &[u8], offset: usize, size: usize) -> &[u8] {
    &content[offset.min(content.len())..(offset + size).min(content.len())]
}

/// What comes of reading everything: the error, if any, and whether the bytes on disk are right.
fn outcome(url: Url) -> (Option<String>, bool, u64) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut options = get(url, Way::Soap(Mechanism::Mtom));
    options.size_bytes = Some(SIZE as u64);
    options.client.patience = Duration::from_millis(500);
    options.target = Target::File {
        path: out.clone(),
        claim: Claim::New,
    };
    let began = Instant::now();
    let moved = transfer(&options, &StopFlag::new(), &|_| ()).unwrap();
    assert!(began.elapsed() < SOON, "took {:?}", began.elapsed());
    // What failed has no file under the name that was asked for.
    let right = match std::fs::read(&out) {
        Ok(found) => found == data(SIZE),
        Err(_) => false,
    };
    assert_eq!(right, moved.transfer.error.is_none());
    (moved.transfer.error, right, moved.transfer.payload_bytes)
}

/// Bytes of the first version, and of a second one after so many blocks were read.
fn replaced(content: &[u8], offset: usize, size: usize, count: u32) -> (Vec<u8>, bool) {
    let mut part = block(content, offset, size).to_vec();
    if count >= 4 {
        part.iter_mut().for_each(|byte| *byte ^= 1);
    }
    let (content_type, body) = related(&part);
    (http(&content_type, &body), false)
}

/// Where a service gives neither tag nor digest, nothing tells that a part is of the version that is there now.
#[test]
fn a_part_of_an_unknown_version_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut options = get(lying(replaced), Way::Soap(Mechanism::Mtom));
    (options.threads, options.depth, options.block_bytes) = (1, 1, 10_000);
    options.size_bytes = Some(SIZE as u64);
    options.target = Target::File {
        path: out.clone(),
        claim: Claim::New,
    };
    // Four blocks take four answers, in however many pieces they come.
    let (stop, moved) = (StopFlag::new(), AtomicU64::new(0));
    let broken = transfer(&options, &stop, &|step| {
        if moved.fetch_add(step.bytes, Ordering::Relaxed) + step.bytes >= 40_000 {
            stop.request();
        }
    });
    assert_eq!(broken.unwrap().transfer.error.as_deref(), Some("stopped"));
    let again = transfer(&options, &StopFlag::new(), &|_| ()).unwrap().transfer;
    assert_eq!((again.error, again.resumed_bytes), (None, 0));
    let second: Vec<u8> = data(SIZE).iter().map(|byte| byte ^ 1).collect();
    assert!(std::fs::read(&out).unwrap() == second);
}

/// Each must end with every right byte.
fn are_read(framings: &[(&str, Liar)]) {
    for &(name, liar) in framings {
        let (error, right, bytes) = outcome(lying(liar));
        assert_eq!((error, right, bytes), (None, true, SIZE as u64), "{name}");
    }
}

#[test]
fn honest_answers_in_any_framing_are_read() {
    let framings: [(&str, Liar); 4] = [
        ("include", |c, o, s, _| {
            let (kind, body) = related(block(c, o, s));
            (http(&kind, &body), false)
        }),
        (
            "bare part, as Axis sends it, up to the end of the connection",
            |c, o, s, _| {
                let head = "HTTP/1.0 200 OK\r\nContent-Type: multipart/related;type=\"application/xop+xml\"; start=\"<A>\"; \tboundary=\"X\"\r\n\r\n\r\n--X\r\nContent-Type: application/xop+xml\r\nContent-Id: <A>\r\n\r\n";
                let middle = "\r\n--X\r\nContent-Type: application/octet-stream\r\nContent-Id: <B>\r\n\r\n";
                let envelope = envelope(Data::Elsewhere).whole();
                (
                    [
                        head.as_bytes(),
                        envelope.as_bytes(),
                        middle.as_bytes(),
                        block(c, o, s),
                        b"\r\n--X--\r\n",
                    ]
                    .concat(),
                    true,
                )
            },
        ),
        ("chunked", |c, o, s, _| {
            let (kind, body) = related(block(c, o, s));
            let mut bytes =
                format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n")
                    .into_bytes();
            for piece in body.chunks(777) {
                bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
                bytes.extend_from_slice(piece);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(b"0\r\n\r\n");
            (bytes, false)
        }),
        ("inline base64 although a part was asked for", |c, o, s, _| {
            use base64::Engine as _;
            let text = base64::engine::general_purpose::STANDARD.encode(block(c, o, s));
            let around = envelope(Data::Inline);
            (
                http("text/xml", (around.before + &text + &around.behind).as_bytes()),
                false,
            )
        }),
    ];
    are_read(&framings);
}

#[test]
fn honest_answers_in_odd_order_or_cut_are_read() {
    let framings: [(&str, Liar); 5] = [
        ("data before the envelope", |c, o, s, _| {
            let kind = "multipart/related; start=\"<r>\"; boundary=Z";
            let before = "--Z\r\nContent-ID: <d>\r\n\r\n";
            let middle = "\r\n--Z\r\nContent-ID: <r>\r\n\r\n";
            let envelope = envelope(Data::Include("d")).whole();
            let body = [
                before.as_bytes(),
                block(c, o, s),
                middle.as_bytes(),
                envelope.as_bytes(),
                b"\r\n--Z--",
            ]
            .concat();
            (http(kind, &body), false)
        }),
        ("an epilogue", |c, o, s, _| {
            let (kind, mut body) = related(block(c, o, s));
            body.extend_from_slice(b"epilogue");
            (http(&kind, &body), false)
        }),
        ("a third of the answers cut in the middle", |c, o, s, n| {
            let (kind, body) = related(block(c, o, s));
            let answer = http(&kind, &body);
            match n % 3 {
                1 => (answer[..answer.len() / 2].to_vec(), true),
                _ => (answer, false),
            }
        }),
        ("nothing at all, once", |c, o, s, n| {
            let (kind, body) = related(block(c, o, s));
            (if n == 1 { Vec::new() } else { http(&kind, &body) }, n == 1)
        }),
        ("a failure without a name, once", |c, o, s, n| {
            let (kind, body) = related(block(c, o, s));
            let answer = if n == 1 { failure() } else { http(&kind, &body) };
            (answer, false)
        }),
    ];
    are_read(&framings);
}

/// A service that tripped over itself, and does not know over what.
fn failure() -> Vec<u8> {
    let namespace = "http://schemas.xmlsoap.org/soap/envelope/";
    let fault = format!(
        "<s:Envelope xmlns:s=\"{namespace}\"><s:Body><s:Fault><faultcode>s:Server.userException</faultcode>\
         <faultstring>it tripped</faultstring><detail><stackTrace>at line 7</stackTrace></detail></s:Fault></s:Body></s:Envelope>"
    );
    let head = format!(
        "HTTP/1.1 500 No\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n",
        fault.len()
    );
    (head + &fault).into_bytes()
}

/// Each must end with an error, and nothing may count.
fn are_errors(lies: &[(&str, Liar)]) {
    for &(name, liar) in lies {
        let (error, _, bytes) = outcome(lying(liar));
        assert!(error.is_some(), "{name}");
        // With a length too long the first block is whole, and right; only what follows it is not.
        if name != "a length that is too long" {
            assert_eq!(bytes, 0, "{name}: nothing counts: {error:?}");
        }
        if name == "a fault" {
            let said = "the service answered ReadNotPermittedFault: not for you";
            assert_eq!(error.as_deref(), Some(said));
        }
    }
}

#[test]
fn lies_about_lengths_and_boundaries_are_errors() {
    let lies: [(&str, Liar); 6] = [
        ("a length that is too long", |c, o, s, _| {
            let (kind, body) = related(block(c, o, s));
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
                body.len() + 9
            );
            ([head.as_bytes(), &body].concat(), false)
        }),
        ("a length that is too short", |c, o, s, _| {
            let (kind, body) = related(block(c, o, s));
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
                body.len() - 50
            );
            ([head.as_bytes(), &body].concat(), false)
        }),
        ("another boundary", |c, o, s, _| {
            let (kind, body) = related(block(c, o, s));
            (http(&kind.replace("BOUND", "OTHER"), &body), false)
        }),
        ("a boundary in the middle of the data", |c, o, s, _| {
            let (kind, mut body) = related(block(c, o, s));
            let middle = body.len() / 2;
            body[middle..middle + 11].copy_from_slice(b"\r\n--BOUND--");
            body.truncate(body.len() - 1);
            (http(&kind, &body), false)
        }),
        ("fewer bytes", |c, o, s, _| {
            let (kind, body) = related(block(c, o, s - 1));
            (http(&kind, &body), false)
        }),
        ("more bytes", |c, o, s, _| {
            let (kind, body) = related(&[block(c, o, s), b"x"].concat());
            (http(&kind, &body), false)
        }),
    ];
    are_errors(&lies);
}

#[test]
fn lies_about_parts_are_errors() {
    let lies: [(&str, Liar); 8] = [
        ("two data parts", |c, o, s, _| {
            let (kind, body) = related(&[block(c, o, s), b"\r\n--BOUND\r\n\r\nagain"].concat());
            (http(&kind, &body), false)
        }),
        ("no data part", |_, _, _, _| {
            let body = format!("--B\r\n\r\n{}\r\n--B--\r\n", envelope(Data::Elsewhere).whole());
            (http("multipart/related; boundary=B", body.as_bytes()), false)
        }),
        ("an include of nothing", |_, _, _, _| {
            (
                http("text/xml", envelope(Data::Include("gone")).whole().as_bytes()),
                false,
            )
        }),
        ("an include of another part", |c, o, s, _| {
            let (kind, body) = related(block(c, o, s));
            let crooked = String::from_utf8_lossy(&body[..1200]).replacen("cid:data", "cid:dada", 1);
            (http(&kind, &[crooked.as_bytes(), &body[1200..]].concat()), false)
        }),
        ("not SOAP", |_, _, _, _| {
            (http("text/html", b"<html>hello</html>"), false)
        }),
        ("a bomb", |_, _, _, _| {
            (
                http("text/xml", b"<!DOCTYPE a [<!ENTITY b \"bbbbbbbb\">]><a>&b;</a>"),
                false,
            )
        }),
        ("silence", |_, _, _, _| (Vec::new(), false)),
        ("a fault", |_, _, _, _| {
            let fault = wirespeed_byteio::soap::Fault::read_not_permitted("not for you")
                .envelope("2026-01-01T00:00:00Z");
            let head = format!(
                "HTTP/1.1 500 No\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n",
                fault.len()
            );
            ((head + &fault).into_bytes(), false)
        }),
    ];
    are_errors(&lies);
}

/// What a web server tells of a version: its tag and its date, where it has any, and its bytes.
type Version = (&'static [&'static str], Vec<u8>);

/// A foreign web server with ranges that serves one version up to so many requests for data, then another.
fn changing(versions: [Version; 2], after: u32, ranges: bool) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (versions, count) = (Arc::new(versions), Arc::new(AtomicU32::new(0)));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (versions, count) = (versions.clone(), count.clone());
            std::thread::spawn(move || serve_versions(stream, &versions, (&count, after), ranges));
        }
    });
    Url::parse(&format!("http://127.0.0.1:{port}/x")).unwrap()
}

fn serve_versions(
    stream: TcpStream,
    versions: &[Version; 2],
    (count, after): (&AtomicU32, u32),
    ranges: bool,
) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let head = common::head(&mut reader)?;
        let gets = head.starts_with("GET");
        let seen = if gets {
            count.fetch_add(1, Ordering::SeqCst)
        } else {
            count.load(Ordering::SeqCst)
        };
        let (tells, bytes) = &versions[usize::from(seen >= after)];
        let asked = head
            .split("Range: bytes=")
            .nth(1)
            .and_then(|rest| rest.split("\r\n").next());
        let asked = asked.filter(|_| ranges).and_then(|range| range.split_once('-'));
        let (status, more, body) = match asked {
            None => ("200 OK", String::new(), &bytes[..]),
            Some((first, last)) => {
                let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
                let more = format!("Content-Range: bytes {first}-{last}/{}\r\n", bytes.len());
                ("206 Partial Content", more, &bytes[first..=last])
            }
        };
        let tells: String = tells.iter().map(|line| format!("{line}\r\n")).collect();
        let accepts = if ranges { "Accept-Ranges: bytes\r\n" } else { "" };
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{accepts}{tells}{more}\r\n");
        writer.write_all(head.as_bytes()).ok()?;
        if gets {
            writer.write_all(body).ok()?;
        }
    }
}

/// Blocks of two versions never become one file, wherever the server tells one from the other.
#[test]
fn a_resource_that_is_replaced_at_a_foreign_server_is_never_one_file_with_what_was_there() {
    const NONE: &[&str] = &[];
    let long = |byte: u8, size: usize| vec![byte; size];
    let tags: (&[&str], &[&str]) = (&["ETag: \"1\""], &["ETag: \"2\""]);
    let weak: (&[&str], &[&str]) = (&["ETag: W/\"1\""], &["ETag: W/\"2\""]);
    let dates: (&[&str], &[&str]) = (
        &["Last-Modified: Sat, 28 Nov 2026 10:00:00 GMT"],
        &["Last-Modified: Sat, 28 Nov 2026 10:00:01 GMT"],
    );
    for (number, ((before, behind), size)) in [
        (tags, SIZE),
        (weak, SIZE),
        (dates, SIZE),
        ((NONE, NONE), 2 * SIZE),
        (tags, 2 * SIZE),
    ]
    .into_iter()
    .enumerate()
    {
        for (after, ranges) in [(1, true), (2, true), (3, true), (2, false)] {
            let url = changing(
                [(before, long(b'A', SIZE)), (behind, long(b'B', size))],
                after,
                ranges,
            );
            let folder = tempfile::tempdir().unwrap();
            let out = folder.path().join("out");
            let mut options = get(url, Way::Http);
            (options.threads, options.depth) = (1, 1);
            options.target = Target::File {
                path: out.clone(),
                claim: Claim::New,
            };
            let moved = transfer(&options, &StopFlag::new(), &|_| ()).unwrap();
            let said = moved.transfer.error.unwrap_or_default();
            assert!(
                said.contains("the resource changed"),
                "{number} after {after}, {ranges}: {said:?}"
            );
            assert!(!out.exists());
        }
    }
    // One that stays is read, whatever is told of it.
    for tells in [tags.0, weak.0, dates.0, NONE] {
        let same = || (tells, long(b'A', SIZE));
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let mut options = get(changing([same(), same()], 2, true), Way::Http);
        options.target = Target::File {
            path: out.clone(),
            claim: Claim::New,
        };
        let moved = transfer(&options, &StopFlag::new(), &|_| ()).unwrap();
        assert_eq!(moved.transfer.error, None, "{tells:?}");
        assert!(std::fs::read(&out).unwrap() == long(b'A', SIZE));
    }
}
