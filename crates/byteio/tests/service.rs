//! The service from outside, over a bare socket: operations of both port types, properties, faults, plain HTTP, and what
//! hostile requests get.

mod common;

use common::Running;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};
use wirespeed_byteio::mime::multipart::Related;
use wirespeed_byteio::service::Limits;
use wirespeed_byteio::soap::names::{LIFETIME, RANDOM, STREAM};
use wirespeed_byteio::soap::write::{Data, request};
use wirespeed_byteio::soap::{Envelope, Mechanism, Name, Opening, Operation, Origin};

struct Rig {
    folder: tempfile::TempDir,
    service: Running,
}

impl Rig {
    fn new(writable: bool) -> Rig {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f"), "0123456789").unwrap();
        let service = Running::start(folder.path(), writable, None);
        Rig { folder, service }
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// Send bytes, half-close, and read all that comes.
    fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.service.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        // A refusal may close the connection while the rest of a long request is still being sent.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn post(&self, path: &str, content_type: &str, body: &[u8]) -> String {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.raw(&[head.as_bytes(), body].concat())
    }

    /// A SOAP exchange with `simple`; the opening of the answer and its data.
    fn soap(&self, path: &str, operation: &Operation, data: Option<&str>) -> (Opening, String) {
        use base64::Engine as _;
        let around = request(
            operation,
            Mechanism::Simple,
            data.map_or(Data::Elsewhere, |_| Data::Inline),
            "http://h",
            "urn:1",
        );
        let text = data.map_or(String::new(), |d| {
            base64::engine::general_purpose::STANDARD.encode(d)
        });
        let answer = self.post(
            path,
            "text/xml",
            (around.before + &text + &around.behind).as_bytes(),
        );
        let body = answer
            .split_once("\r\n\r\n")
            .unwrap_or_else(|| panic!("{answer:?}"))
            .1
            .to_owned();
        let mut envelope = Envelope::open(body.as_bytes()).unwrap_or_else(|e| panic!("{e}: {answer}"));
        let mut found = Vec::new();
        envelope
            .copy_inline(|piece| {
                found.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
        (envelope.opening().clone(), String::from_utf8(found).unwrap())
    }

    fn fault(&self, path: &str, operation: &Operation, data: Option<&str>) -> String {
        self.soap(path, operation, data)
            .0
            .fault
            .map_or("no fault".to_owned(), |f| f.name)
    }
}

fn read(start_offset: u64, block_bytes: u64, blocks: u64, stride_bytes: i64) -> Operation {
    Operation::Read {
        start_offset,
        block_bytes,
        blocks,
        stride_bytes,
    }
}

#[test]
fn random_access_operations() {
    let rig = Rig::new(true);
    assert_eq!(rig.soap("/f", &read(2, 3, 1, 0), None).1, "234");
    assert_eq!(rig.soap("/f", &read(0, 2, 3, 4), None).1, "014589");
    assert_eq!(
        rig.soap("/f", &read(8, 5, 2, 5), None).1,
        "89",
        "short at the end"
    );
    assert_eq!(
        rig.soap("/f", &read(50, 5, 1, 5), None).1,
        "",
        "beyond the end: no fault"
    );
    let write = Operation::Write {
        start_offset: 1,
        block_bytes: 2,
        stride_bytes: 4,
    };
    rig.soap("/f", &write, Some("abcde"));
    assert_eq!(rig.file("f"), "0ab34cd78e");
    rig.soap("/f", &Operation::Append, Some("++"));
    assert_eq!(rig.file("f"), "0ab34cd78e++");
    rig.soap("/f", &Operation::TruncAppend { offset: 3 }, Some("end"));
    assert_eq!(rig.file("f"), "0abend");
    rig.soap("/f", &Operation::TruncAppend { offset: 1 }, Some(""));
    assert_eq!(rig.file("f"), "0");
    let (opening, _) = rig.soap("/f", &Operation::Append, Some("x"));
    assert_eq!(opening.body, Name::new(RANDOM, "appendResponse"));
}

#[test]
fn streams_have_a_position() {
    let rig = Rig::new(true);
    let (opening, _) = rig.soap("/f", &Operation::OpenStream, None);
    let address = opening.field("Address").unwrap().to_owned();
    let path = address.strip_prefix("http://h").unwrap().to_owned();
    let seek = |offset, origin, bytes| Operation::SeekRead {
        offset,
        origin,
        bytes,
    };
    assert_eq!(rig.soap(&path, &seek(2, Origin::Beginning, 3), None).1, "234");
    assert_eq!(rig.soap(&path, &seek(1, Origin::Current, 2), None).1, "67");
    assert_eq!(rig.soap(&path, &seek(-3, Origin::End, 9), None).1, "789");
    assert_eq!(
        rig.fault(&path, &seek(-11, Origin::End, 1), None),
        "SeekNotPermittedFault"
    );
    let properties = Operation::Properties {
        names: ["Position", "EndOfStream", "Seekable"]
            .map(|n| Name::new(STREAM, n))
            .to_vec(),
        multiple: true,
    };
    let (opening, _) = rig.soap(&path, &properties, None);
    assert_eq!(
        (opening.field("Position"), opening.field("EndOfStream")),
        (Some("10"), Some("true"))
    );
    rig.soap(
        &path,
        &Operation::SeekWrite {
            offset: -4,
            origin: Origin::Current,
        },
        Some("ab"),
    );
    assert_eq!(rig.file("f"), "012345ab89");
    assert_eq!(rig.soap(&path, &seek(0, Origin::Current, 9), None).1, "89");
    assert_eq!(rig.fault(&path, &read(0, 1, 1, 0), None), "Client");
    let (opening, _) = rig.soap(&path, &Operation::Destroy, None);
    assert_eq!(opening.body, Name::new(LIFETIME, "DestroyResponse"));
    assert_eq!(
        rig.fault(&path, &seek(0, Origin::Beginning, 1), None),
        "ResourceUnknownFault"
    );
}

/// What is written is longer than what is there: only one of them is what the stream stands in.
#[test]
fn a_stream_of_a_version_tells_of_that_version() {
    let rig = Rig::new(true);
    let begun = rig
        .raw(b"PUT /f?wirespeed=stage HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let id = begun.rsplit("\r\n\r\n").next().unwrap();
    let (opening, _) = rig.soap(&format!("/f?stage={id}"), &Operation::OpenStream, None);
    let address = opening.field("Address").unwrap().to_owned();
    let path = address.strip_prefix("http://h").unwrap();
    let write = Operation::SeekWrite {
        offset: 0,
        origin: Origin::Beginning,
    };
    rig.soap(path, &write, Some("0123456789abc"));
    let properties = Operation::Properties {
        names: ["Size", "Position", "EndOfStream"]
            .map(|n| Name::new(STREAM, n))
            .to_vec(),
        multiple: true,
    };
    let (opening, _) = rig.soap(path, &properties, None);
    let told = ["Size", "Position", "EndOfStream"].map(|name| opening.field(name));
    assert_eq!(told, [Some("13"), Some("13"), Some("true")]);
    assert_eq!(rig.file("f"), "0123456789");
}

/// A stream is one position, and not its slowest writer's.
#[test]
fn a_writer_that_takes_its_time_holds_up_no_reader_of_the_stream() {
    let rig = Rig::new(true);
    let (opening, _) = rig.soap("/f", &Operation::OpenStream, None);
    let path = opening.field("Address").unwrap().replace("http://h", "");
    let write = Operation::SeekWrite {
        offset: 4,
        origin: Origin::Beginning,
    };
    let around = request(&write, Mechanism::Simple, Data::Inline, "http://h", "urn:1");
    let body = around.before + "YWJjZA==" + &around.behind;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut slow = TcpStream::connect(("127.0.0.1", rig.service.port)).unwrap();
    let (first, rest) = body.split_at(body.len() - 4);
    slow.write_all((head + first).as_bytes()).unwrap();
    let seek = Operation::SeekRead {
        offset: 1,
        origin: Origin::Beginning,
        bytes: 3,
    };
    // More than once, so that the writer has surely begun.
    for _ in 0..20 {
        assert_eq!(rig.soap(&path, &seek, None).1, "123");
        std::thread::sleep(Duration::from_millis(10));
    }
    slow.write_all(rest.as_bytes()).unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(rig.file("f"), "0123abcd89");
}

#[test]
fn properties_are_as_specified() {
    let rig = Rig::new(false);
    let one = |name: &str| Operation::Properties {
        names: vec![Name::new(RANDOM, name)],
        multiple: false,
    };
    let (opening, _) = rig.soap("/f", &one("Size"), None);
    assert_eq!(opening.field("Size"), Some("10"));
    assert_eq!(
        rig.soap("/f", &one("Writeable"), None).0.field("Writeable"),
        Some("false")
    );
    let (opening, _) = rig.soap("/f", &one("TransferMechanism"), None);
    assert_eq!(
        opening
            .fields
            .iter()
            .filter(|(n, _)| n.local == "TransferMechanism")
            .count(),
        3
    );
    assert!(
        rig.soap("/f", &one("ModificationTime"), None)
            .0
            .field("ModificationTime")
            .unwrap()
            .ends_with('Z')
    );
    assert_eq!(rig.fault("/f", &one("Nonsense"), None), "Client");
    let wsdl = rig.raw(b"GET /f?wsdl HTTP/1.1\r\nHost: h:5\r\nConnection: close\r\n\r\n");
    assert!(
        wsdl.contains("<soap:address location=\"http://h:5/f\"/>"),
        "{wsdl}"
    );
}

#[test]
fn what_is_not_permitted_is_refused_by_fault() {
    let rig = Rig::new(false);
    symlink("/etc/passwd", rig.folder.path().join("link")).unwrap();
    let write = Operation::Write {
        start_offset: 0,
        block_bytes: 0,
        stride_bytes: 0,
    };
    assert_eq!(rig.fault("/f", &write, Some("x")), "WriteNotPermittedFault");
    assert_eq!(
        rig.fault("/f", &Operation::Append, Some("x")),
        "WriteNotPermittedFault"
    );
    assert_eq!(
        rig.fault("/f", &Operation::TruncAppend { offset: 0 }, Some("")),
        "WriteNotPermittedFault"
    );
    for path in ["/none", "/link", "/../f", "/%2e%2e/etc/passwd", "/f/x", "/%00"] {
        assert_eq!(
            rig.fault(path, &read(0, 1, 1, 0), None),
            "ResourceUnknownFault",
            "{path}"
        );
    }
    for absurd in [
        read(0, 1 << 31, 1, 0),
        read(0, 1 << 30, 1 << 30, 0),
        read(0, 1, 3, -5),
        read(1 << 63, 1, 1, 0),
    ] {
        assert_eq!(rig.fault("/f", &absurd, None), "CustomFault", "{absurd:?}");
    }
    let strange = request(&read(0, 1, 1, 0), Mechanism::Simple, Data::Elsewhere, "x", "y")
        .whole()
        .replace("mechanisms/simple", "mechanisms/gridftp");
    assert!(
        rig.post("/f", "text/xml", strange.as_bytes())
            .contains("UnsupportedTransferFault")
    );
    assert_eq!(rig.file("f"), "0123456789");
    let writable = Rig::new(true);
    let far = Operation::Write {
        start_offset: i64::MAX as u64,
        block_bytes: 0,
        stride_bytes: 0,
    };
    assert_eq!(writable.fault("/f", &far, Some("xx")), "CustomFault");
    assert_eq!(
        writable.fault("/link", &write, Some("x")),
        "no fault",
        "a new file of that name, inside"
    );
}

#[test]
fn hostile_messages_are_faults_and_the_service_goes_on() {
    let rig = Rig::new(true);
    let envelope = request(&read(0, 1, 1, 0), Mechanism::Mtom, Data::Elsewhere, "x", "y").whole();
    let bomb = envelope.replace(
        "<soapenv:Envelope",
        "<!DOCTYPE a [<!ENTITY b \"bb\">]><soapenv:Envelope",
    );
    let deep = envelope.replace("<p:start-offset>", &("<p:x>".repeat(100) + "<p:start-offset>"));
    let long = envelope.replace(
        "<p:start-offset>",
        &format!("<p:start-offset>{}", "1".repeat(100_000)),
    );
    let wide = envelope.replace("<p:start-offset>", &("<p:x/>".repeat(5000) + "<p:start-offset>"));
    for bad in [&bomb[..], &deep, &long, &wide, "", "<a/>", "{}", &envelope[..300]] {
        let answer = rig.post("/f", "text/xml", bad.as_bytes());
        assert!(
            answer.contains("<faultcode>soapenv:Client</faultcode>"),
            "{}: {answer}",
            &bad[..bad.len().min(80)]
        );
    }
    let twelve = envelope.replace(
        "schemas.xmlsoap.org/soap/envelope/",
        "www.w3.org/2003/05/soap-envelope",
    );
    assert!(
        rig.post("/f", "text/xml", twelve.as_bytes())
            .contains("VersionMismatch")
    );
    let must = envelope.replace(
        "<soapenv:Header>",
        "<soapenv:Header><x:y xmlns:x=\"urn:x\" soapenv:mustUnderstand=\"1\"/>",
    );
    assert!(
        rig.post("/f", "text/xml", must.as_bytes())
            .contains("MustUnderstand")
    );
    let write = Operation::Write {
        start_offset: 0,
        block_bytes: 0,
        stride_bytes: 0,
    };
    let included = request(&write, Mechanism::Mtom, Data::Include("gone"), "x", "y").whole();
    let related = Related::around(&included, "B");
    let crooked = related.before.clone() + "data" + &related.behind;
    assert!(
        rig.post("/f", &related.content_type, crooked.as_bytes())
            .contains("not the one included")
    );
    assert!(rig.post("/f", "multipart/related", b"x").contains("Client"));
    assert!(
        rig.post("/f", "application/dime", b"xxxxxxxxxxxxxxxx")
            .contains("Client")
    );
    for bad in [
        &b"nonsense\r\n\r\n"[..],
        b"GET noslash HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET /%ff HTTP/1.1\r\nHost: h\r\n\r\n",
    ] {
        assert!(rig.raw(bad).starts_with("HTTP/1.1 400"), "{bad:?}");
    }
    assert!(
        rig.raw(b"DELETE /f HTTP/1.1\r\nHost: h\r\n\r\n")
            .starts_with("HTTP/1.1 405")
    );
    assert_eq!(rig.soap("/f", &read(2, 3, 1, 0), None).1, "234");
    assert_eq!(rig.file("f"), "0123456789");
}

/// RFC 2387: `start` names the root, wherever it stands.
#[test]
fn a_root_part_behind_its_data_is_found() {
    let rig = Rig::new(true);
    let write = Operation::Write {
        start_offset: 2,
        block_bytes: 3,
        stride_bytes: 0,
    };
    let package = |envelope: &str, parts: &[(&str, &str)]| {
        let part = |(id, body): &(&str, &str)| format!("--Z\r\nContent-ID: <{id}>\r\n\r\n{body}\r\n");
        let parts: String = parts.iter().map(part).collect();
        parts + &part(&("root", envelope)) + "--Z--\r\n"
    };
    let kind = "multipart/related; type=\"application/xop+xml\"; start=\"<root>\"; boundary=Z";
    let post =
        |envelope: &str, parts: &[(&str, &str)]| rig.post("/f", kind, package(envelope, parts).as_bytes());
    let included = request(&write, Mechanism::Mtom, Data::Include("d"), "x", "y").whole();
    let bare = request(&write, Mechanism::Mtom, Data::Elsewhere, "x", "y").whole();
    assert!(post(&included, &[("d", "abc")]).contains("writeResponse"));
    assert_eq!(rig.file("f"), "01abc56789");
    assert!(post(&bare, &[("any", "xyz")]).contains("writeResponse"));
    assert_eq!(rig.file("f"), "01xyz56789");
    assert!(post(&included, &[("other", "---")]).contains("not the one included"));
    assert!(post(&bare, &[("a", "-"), ("b", "-")]).contains("more parts"));
    let headless = "--Z\r\nContent-ID: <d>\r\n\r\nabc\r\n--Z--\r\n";
    assert!(
        rig.post("/f", kind, headless.as_bytes())
            .contains("without its root part")
    );
    assert_eq!(rig.file("f"), "01xyz56789");
    // Where nothing may be written, nothing waits on a disk to be.
    let refused = Rig::new(false).post("/f", kind, package(&bare, &[("d", "abc")]).as_bytes());
    assert!(refused.contains("data before its envelope"), "{refused}");
    // More than the service takes of one write waits nowhere.
    let small = Limits {
        write_bytes_max: 1000,
        ..Limits::default()
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f"), "").unwrap();
    let service = Running::with(folder.path(), true, None, small);
    let mut stream = TcpStream::connect(("127.0.0.1", service.port)).unwrap();
    let body = package(&bare, &[("d", &"x".repeat(2000))]);
    let head = format!(
        "POST /f HTTP/1.1\r\nHost: h\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("more data than this service takes"), "{answer}");
}

#[test]
fn plain_http_ranges_and_parts() {
    let rig = Rig::new(true);
    let get = |more: &str| {
        rig.raw(format!("GET /f HTTP/1.1\r\nHost: h\r\nConnection: close\r\n{more}\r\n").as_bytes())
    };
    assert!(get("").starts_with("HTTP/1.1 200 ") && get("").ends_with("\r\n\r\n0123456789"));
    let part = get("Range: bytes=2-4\r\n");
    assert!(
        part.starts_with("HTTP/1.1 206 ")
            && part.contains("Content-Range: bytes 2-4/10\r\n")
            && part.ends_with("\r\n\r\n234")
    );
    assert!(get("Range: bytes=10-\r\n").starts_with("HTTP/1.1 416 "));
    assert!(get("Range: bytes=2-4\r\nIf-Range: \"old\"\r\n").starts_with("HTTP/1.1 200 "));
    let put = |more: &str, body: &str| {
        let head = format!(
            "PUT /f HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {}\r\n{more}\r\n{body}",
            body.len()
        );
        rig.raw(head.as_bytes())
    };
    assert!(put("Content-Range: bytes 2-4/*\r\n", "abc").starts_with("HTTP/1.1 200 "));
    assert_eq!(rig.file("f"), "01abc56789");
    assert!(put("Content-Range: bytes 2-4/*\r\n", "ab").starts_with("HTTP/1.1 400 "));
    assert!(put("", "new").starts_with("HTTP/1.1 200 "));
    assert_eq!(rig.file("f"), "new");
    // Three requests sent ahead are answered in order.
    let ahead = rig.raw(
        b"GET /f HTTP/1.1\r\nHost: h\r\nRange: bytes=0-0\r\n\r\nGET /none HTTP/1.1\r\nHost: h\r\n\r\nGET /f HTTP/1.1\r\nHost: h\r\nConnection: close\r\nRange: bytes=2-2\r\n\r\n",
    );
    let codes: Vec<_> = ahead
        .match_indices("HTTP/1.1 ")
        .map(|(at, _)| &ahead[at + 9..at + 12])
        .collect();
    assert_eq!(codes, ["206", "404", "206"]);
    assert!(ahead.ends_with("w"));
    let digest =
        rig.raw(b"GET /f?digest=crc32c&offset=0&size=9 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    assert!(
        digest.starts_with("HTTP/1.1 416 "),
        "the file ends before: {digest}"
    );
}

#[test]
fn an_answer_to_head_is_a_head() {
    let rig = Rig::new(true);
    for target in [
        "/f",
        "/none",
        "/f?wsdl",
        "/f?wirespeed=facts",
        "/f?wirespeed=connection",
        "/f?digest=crc32c&offset=0&size=4",
        "/f?digest=crc32c&offset=0&size=99",
        "/f?digest=x",
        "/../f",
    ] {
        for more in [
            "",
            "Range: bytes=2-4\r\n",
            "Range: bytes=99-\r\n",
            "If-None-Match: *\r\n",
            "If-Match: \"x\"\r\n",
        ] {
            let ask = |method: &str| {
                format!("{method} {target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n{more}\r\n")
            };
            let (head, get) = (rig.raw(ask("HEAD").as_bytes()), rig.raw(ask("GET").as_bytes()));
            assert!(head.ends_with("\r\n\r\n"), "{target} {more}: {head}");
            let line = |answer: &str| answer.lines().next().map(str::to_owned);
            assert_eq!(line(&head), line(&get), "{target} {more}");
        }
    }
    // What follows on the same connection is the next answer.
    let both = rig.raw(
        b"HEAD /none HTTP/1.1\r\nHost: h\r\n\r\nGET /f HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    );
    assert!(
        both.split("\r\n\r\n")
            .nth(1)
            .unwrap()
            .starts_with("HTTP/1.1 200 OK"),
        "{both}"
    );
}

#[test]
fn conditions_hold_or_nothing_is_done() {
    let rig = Rig::new(true);
    let tag = |name: &str| {
        let head =
            rig.raw(format!("HEAD /{name} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").as_bytes());
        let line = head.lines().find_map(|line| line.strip_prefix("ETag: "));
        line.unwrap_or_default().to_owned()
    };
    let now = tag("f");
    let get = |more: &str| {
        rig.raw(format!("GET /f HTTP/1.1\r\nHost: h\r\nConnection: close\r\n{more}\r\n\r\n").as_bytes())
    };
    for (more, status) in [
        (format!("If-Match: {now}"), "200"),
        (format!("If-Match: \"old\", {now}"), "200"),
        ("If-Match: *".into(), "200"),
        ("If-Match: \"old\"".into(), "412"),
        // Weak tags never match strongly, and are as good as strong ones for who reads.
        (format!("If-Match: W/{now}"), "412"),
        (format!("If-None-Match: {now}"), "304"),
        (format!("If-None-Match: W/{now}"), "304"),
        ("If-None-Match: *".into(), "304"),
        ("If-None-Match: \"old\"".into(), "200"),
        (format!("If-Match: \"old\"\r\nIf-None-Match: {now}"), "412"),
    ] {
        assert_eq!(&get(&more)[9..12], status, "{more}");
    }
    let put = |name: &str, more: &str, body: &str| {
        let length = body.len();
        let head = format!(
            "PUT /{name} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {length}\r\n{more}\r\n\r\n{body}"
        );
        rig.raw(head.as_bytes())[9..12].to_owned()
    };
    for range in ["", "\r\nContent-Range: bytes 0-2/*"] {
        let now = tag("f");
        let before = rig.file("f");
        for bad in [
            "If-Match: \"old\"".to_owned(),
            "If-None-Match: *".into(),
            format!("If-None-Match: {now}"),
            format!("If-Match: W/{now}"),
        ] {
            assert_eq!(put("f", &format!("{bad}{range}"), "bad"), "412", "{bad}");
            assert_eq!(rig.file("f"), before, "{bad}");
        }
        assert_eq!(put("f", &format!("If-Match: {now}{range}"), "new"), "200");
        assert!(rig.file("f").starts_with("new"));
    }
    assert_eq!(put("fresh", "If-Match: *", "bad"), "412");
    assert_eq!(put("fresh", "If-None-Match: *", "one"), "200");
    assert_eq!(put("fresh", "If-None-Match: *", "two"), "412");
    assert_eq!(rig.file("fresh"), "one");
}

/// Of many that write where there was nothing, or the same version, one does.
#[test]
fn one_of_many_conditional_writers_succeeds() {
    let rig = Rig::new(true);
    for round in 0..20 {
        let name = format!("n{round}");
        let codes: Vec<String> = std::thread::scope(|scope| {
            let write = |number: usize| {
                let (rig, name) = (&rig, &name);
                scope.spawn(move || {
                    let head = format!("PUT /{name} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1\r\nIf-None-Match: *\r\n\r\n{number}");
                    rig.raw(head.as_bytes())[9..12].to_owned()
                })
            };
            let writers: Vec<_> = (0..4).map(write).collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        assert_eq!(codes.iter().filter(|code| *code == "200").count(), 1, "{codes:?}");
    }
}

#[test]
fn a_congestion_control_that_is_none_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        congestion: Some("nope".into()),
        ..Limits::default()
    };
    let refused = Running::try_with(folder.path(), false, None, limits)
        .err()
        .unwrap();
    assert!(refused.contains("congestion control \"nope\""), "{refused}");
}

#[test]
fn clients_that_stall_lose_their_connection_and_nobody_elses() {
    let folder = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(folder.path().join("large")).unwrap();
    file.set_len(1 << 30).unwrap();
    let limits = Limits {
        connections_max: 2,
        // Long enough for the third to come before the others lose their places.
        patience: Duration::from_secs(3),
        ..Default::default()
    };
    let service = Running::with(folder.path(), false, None, limits);
    let connect = || TcpStream::connect(("127.0.0.1", service.port)).unwrap();
    // One never sends a request, and makes room; two never read their answers, and have them coming.
    let (mut silent, mut deaf, mut dumb) = (connect(), connect(), connect());
    for busy in [&mut deaf, &mut dumb] {
        busy.write_all(b"GET /large HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
        busy.read_exact(&mut [0; 12]).unwrap();
    }
    let mut third = connect();
    let mut answer = String::new();
    third.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer:?}");
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mut next = connect();
        next.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        next.write_all(b"HEAD /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        let _ = next.read_to_string(&mut answer);
        if answer.starts_with("HTTP/1.1 200 ") {
            break;
        }
        assert!(Instant::now() < deadline, "places never became free");
        std::thread::sleep(Duration::from_millis(50));
    }
    silent.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    assert!(matches!(silent.read(&mut [0; 10]), Ok(0) | Err(_)));
}

/// Requests of a bulk stream are 24 bytes, and a client may take its time between them.
#[test]
fn requests_of_a_bulk_stream_may_be_far_apart() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f"), "0123456789").unwrap();
    let limits = Limits {
        patience: Duration::from_secs(6),
        ..Limits::default()
    };
    let service = Running::with(folder.path(), false, None, limits);
    let mut stream = TcpStream::connect(("127.0.0.1", service.port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let upgrade = "GET /f HTTP/1.1\r\nHost: h\r\nUpgrade: wirespeed-bulk/1\r\nConnection: Upgrade\r\n\r\n";
    stream.write_all(upgrade.as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    assert!(head.starts_with(b"HTTP/1.1 101 "));
    let mut ask = [0; 24];
    (ask[0], ask[16]) = (1, 10);
    // Together they wait for longer than the patience.
    for _ in 0..21 {
        std::thread::sleep(Duration::from_millis(300));
        stream.write_all(&ask).unwrap();
        let mut answer = [0; 26];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer[16..], b"0123456789");
    }
    // What ends it is no answer of HTTP.
    stream.write_all(&ask[..5]).unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert_eq!(rest, b"");
}
