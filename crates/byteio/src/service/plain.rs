//! Plain HTTP on the same data: GET and HEAD with a range, PUT of the whole or of a part, digests of parts, facts.

use super::answer::Answer;
use super::conditions::{self, Outcome};
use super::exchange::{After, Asked, Reader, Shared, drained, say};
use super::failed;
use super::files::{self, Denied, Facts, Trouble};
use super::layout::Placement;
use super::spool::Spool;
use super::stage::{self, Stage};
use crate::digest::{self, DigestKind};
use crate::http::body::{Body, Framing};
use crate::http::range::{self, Span};
use crate::soap::wsdl;
use serde_json::json;
use std::fs::File;
use std::io::{self, BufRead as _, Write as _};
use wirespeed::host::FingerprintOptions;

const OCTETS: &str = "application/octet-stream";

/// GET or HEAD.
pub(super) fn get(shared: &Shared, reader: &mut Reader, asked: &Asked) -> io::Result<After> {
    let mut body = Body::new(reader, asked.head.framing);
    if drained(&mut body) == After::Close {
        return Ok(After::Close);
    }
    let keep = asked.head.keeps();
    if asked.query.eq_ignore_ascii_case("wsdl") {
        let text = wsdl::describe(&asked.location(shared.secure.is_some()));
        return small(reader, keep, "text/xml; charset=utf-8", text.as_bytes());
    }
    match asked.parameter("wirespeed").as_deref() {
        Some("facts") => return facts(reader, keep),
        Some("connection") => {
            let info = crate::sys::tcp_info(reader.get_ref().socket());
            return small(
                reader,
                keep,
                "application/json",
                json!(info).to_string().as_bytes(),
            );
        }
        _ => {}
    }
    let opened = shared.readable(asked);
    let (file, facts) = match opened.and_then(with_facts) {
        Ok(found) => found,
        Err(denied) => return deny(reader, denied, keep),
    };
    match conditions::judge(&asked.head.headers, Some(&facts.tag), true) {
        Outcome::Holds => {}
        Outcome::Known => return known(reader, &facts, keep),
        Outcome::Fails => return deny(reader, Denied::Condition, keep),
    }
    match asked.parameter("digest") {
        Some(kind) => digest_of(reader, asked, &kind, &file, keep),
        None => send(reader, asked, &file, &facts, keep),
    }
}

fn with_facts(file: File) -> Result<(File, Facts), Denied> {
    let facts = files::facts(&file);
    let failed =
        |e: io::Error| Denied::Failed(rustix::io::Errno::from_io_error(&e).unwrap_or(rustix::io::Errno::IO));
    facts.map(|facts| (file, facts)).map_err(failed)
}

fn send(reader: &mut Reader, asked: &Asked, file: &File, facts: &Facts, keep: bool) -> io::Result<After> {
    let tag = format!("\"{}\"", facts.tag);
    // A range of another version would be joined to what it does not fit (RFC 9110, 13.1.5).
    let same = asked
        .head
        .headers
        .get("if-range")
        .is_none_or(|wanted| wanted == tag);
    let header = asked.head.headers.get("range").filter(|_| same);
    let common = format!("Accept-Ranges: bytes\r\nETag: {tag}\r\nWirespeed: byteio\r\n");
    let total = facts.size_bytes;
    let (status, more, span) = match range::asked(header, total) {
        range::Asked::All => (
            "200 OK",
            common,
            Span {
                start_bytes: 0,
                size_bytes: total,
            },
        ),
        range::Asked::Part(span) => {
            let last = span.start_bytes + span.size_bytes - 1;
            let more = format!(
                "{common}Content-Range: bytes {}-{last}/{total}\r\n",
                span.start_bytes
            );
            ("206 Partial Content", more, span)
        }
        range::Asked::Unsatisfiable => {
            let more = format!("{common}Content-Range: bytes */{total}\r\n");
            let answer = Answer::new("416 Range Not Satisfiable", "text/plain", keep);
            answer.with(&more).send(reader.get_mut(), b"")?;
            return Ok(After::Keep);
        }
    };
    let answer = Answer::new(status, OCTETS, keep).with(&more);
    answer.send_file(reader.get_mut(), b"", (file, &[span]), b"")?;
    Ok(After::Keep)
}

/// `?digest=KIND&offset=O&size=N`: what a client compares its block with.
fn digest_of(reader: &mut Reader, asked: &Asked, kind: &str, file: &File, keep: bool) -> io::Result<After> {
    let number = |name: &str| asked.parameter(name).and_then(|text| text.parse::<u64>().ok());
    let (Some(kind), Some(offset), Some(size)) =
        (DigestKind::of_name(kind), number("offset"), number("size"))
    else {
        return say(
            reader,
            "400 Bad Request",
            "a digest needs digest=crc32c|blake3, offset and size",
        );
    };
    match digest::of_file(kind, file, offset, size) {
        Ok(found) => small(reader, keep, "text/plain", digest::hex(&found).as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            say(reader, "416 Range Not Satisfiable", "the file ends before that")
        }
        Err(_) => say(reader, "500 Internal Server Error", "the file cannot be read now"),
    }
}

/// What a client needs to explain its figures: the machine, and the CPU time of this process so far.
fn facts(reader: &mut Reader, keep: bool) -> io::Result<After> {
    let cpu_ns = crate::sys::cpu_ns();
    let host = wirespeed::host::fingerprint(FingerprintOptions { host_name: false });
    let body = json!({ "cpu_ns": cpu_ns, "host": host, "congestion": crate::congestion::here() });
    small(reader, keep, "application/json", body.to_string().as_bytes())
}

/// The client has this version already: a head and nothing behind it.
fn known(reader: &mut Reader, facts: &Facts, keep: bool) -> io::Result<After> {
    let connection = if keep { "" } else { "Connection: close\r\n" };
    let head = format!(
        "HTTP/1.1 304 Not Modified\r\nETag: \"{}\"\r\nWirespeed: byteio\r\n{connection}\r\n",
        facts.tag
    );
    reader.get_mut().write_all(head.as_bytes())?;
    Ok(After::Keep)
}

fn small(reader: &mut Reader, keep: bool, content_type: &str, body: &[u8]) -> io::Result<After> {
    Answer::new("200 OK", content_type, keep).send(reader.get_mut(), body)?;
    Ok(After::Keep)
}

fn deny(reader: &mut Reader, denied: Denied, keep: bool) -> io::Result<After> {
    let (status, why) = match denied {
        Denied::Unknown => ("404 Not Found", "no such resource\n"),
        // As WebDAV says it (RFC 4918, 9.7.1).
        Denied::NoFolder => ("409 Conflict", "the folder that it goes into is not there\n"),
        Denied::Read => ("403 Forbidden", "the service may not read this resource\n"),
        Denied::Write => ("403 Forbidden", "this service is not writable\n"),
        Denied::Condition => ("412 Precondition Failed", "the resource is of another version\n"),
        Denied::Failed(_) => ("500 Internal Server Error", "cannot open the resource\n"),
    };
    let answer = Answer::new(status, "text/plain", keep).with("Wirespeed: byteio\r\n");
    answer.send(reader.get_mut(), why.as_bytes())?;
    Ok(After::Keep)
}

/// PUT: the whole, or with `Content-Range` a part in its place (RFC 9110, 14.5). Nothing is changed before all has come.
/// `?wirespeed=stage` begins a version that nobody sees, whose name is answered; requests with `?stage=NAME` are about it,
/// until `&wirespeed=commit` puts it in place or `&wirespeed=drop` forgets it.
pub(super) fn put(shared: &Shared, reader: &mut Reader, asked: &Asked) -> io::Result<After> {
    let part = match asked.head.headers.get("content-range").map(range::carried) {
        Some(None) => return say(reader, "400 Bad Request", "a Content-Range that is not one"),
        Some(Some((span, _))) => Some(span),
        None => None,
    };
    if let (Some(span), Framing::Length(length)) = (part, asked.head.framing)
        && span.size_bytes != length
    {
        return say(
            reader,
            "400 Bad Request",
            "a body of another length than its Content-Range",
        );
    }
    // Before anything comes that would be refused; and once more when all has come.
    if let Err(denied) = conditions::permits(shared, asked) {
        deny(reader, denied, false)?;
        return Ok(After::Close);
    }
    let mut body = Body::new(reader, asked.head.framing);
    let wish = asked.parameter("wirespeed");
    let done = match (wish.as_deref(), asked.parameter("stage")) {
        (Some(wish @ ("stage" | "commit" | "drop")), id) => versions(shared, &mut body, asked, (wish, id)),
        (Some(_), _) => Err(Trouble::Failed(invalid("an unknown value of wirespeed"))),
        (None, _) => whole_or_part(shared, &mut body, asked, part).map(|()| String::new()),
    };
    answer_put(reader, asked, done)
}

fn answer_put(reader: &mut Reader, asked: &Asked, done: Result<String, Trouble>) -> io::Result<After> {
    let error = match done {
        Ok(text) => return small(reader, asked.head.keeps(), "text/plain", text.as_bytes()),
        Err(Trouble::Denied(denied)) => {
            deny(reader, denied, false)?;
            return Ok(After::Close);
        }
        Err(Trouble::Failed(error)) if failed::is_connection_error(&error) => return Err(error),
        Err(Trouble::Failed(error)) => error,
    };
    match error.kind() {
        io::ErrorKind::StorageFull => say(reader, "507 Insufficient Storage", &error.to_string()),
        _ => say(reader, "400 Bad Request", &error.to_string()),
    }
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Begin a version, put one in place, or forget it.
fn versions(
    shared: &Shared,
    body: &mut Body<'_, Reader>,
    asked: &Asked,
    (wish, id): (&str, Option<String>),
) -> Result<String, Trouble> {
    if !body.drain(0)? {
        return Err(invalid("a body where none belongs").into());
    }
    match (wish, id) {
        ("stage", None) => {
            let id = shared.versions.begin(&shared.root, &asked.path)?;
            id.ok_or_else(|| invalid("more versions are being written than this service bears").into())
        }
        ("drop", Some(id)) => {
            shared.versions.end(&id, &asked.path, false)?;
            Ok(String::new())
        }
        ("commit", Some(id)) => {
            conditions::write(shared, asked, || shared.versions.end(&id, &asked.path, true))?;
            Ok(String::new())
        }
        _ => Err(invalid("wirespeed=stage is without a stage, commit and drop have one").into()),
    }
}

fn whole_or_part(
    shared: &Shared,
    body: &mut Body<'_, Reader>,
    asked: &Asked,
    part: Option<Span>,
) -> Result<(), Trouble> {
    let stage = shared.stage_of(asked)?;
    match (stage, part) {
        (Some(stage), Some(span)) => {
            let mut placement = Placement::in_a_row(&stage.file, span.start_bytes, span.size_bytes);
            store(body, &mut placement)?;
            as_long(placement.written_bytes, span.size_bytes)
        }
        (None, Some(span)) => {
            let place = (span.start_bytes, span.size_bytes);
            spool_and_store(shared, body, asked, place)
        }
        (Some(stage), None) => {
            stage.file.set_len(0)?;
            store(body, &mut Placement::in_a_row(&stage.file, 0, u64::MAX))
        }
        (None, None) => {
            let stage = Stage::begin(&shared.root, &asked.path)?;
            store(body, &mut Placement::in_a_row(&stage.file, 0, u64::MAX))?;
            conditions::write(shared, asked, || Ok(stage.commit()?))
        }
    }
}

fn as_long(found_bytes: u64, told_bytes: u64) -> Result<(), Trouble> {
    match found_bytes == told_bytes {
        true => Ok(()),
        false => Err(invalid("the body is shorter than its Content-Range").into()),
    }
}

/// A body into places that nobody sees yet.
pub(super) fn store(body: &mut Body<'_, Reader>, placement: &mut Placement<'_>) -> Result<(), Trouble> {
    each_piece(body, |piece| placement.put(piece))
}

fn each_piece(
    body: &mut Body<'_, Reader>,
    mut put: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), Trouble> {
    loop {
        let piece = body.fill_buf()?;
        if piece.is_empty() {
            return Ok(());
        }
        let count = piece.len();
        put(piece)?;
        body.consume(count);
    }
}

/// A body of this size into its place in a resource, once all of it has come, if it may then be stored.
pub(super) fn spool_and_store(
    shared: &Shared,
    body: &mut Body<'_, Reader>,
    asked: &Asked,
    (offset_bytes, size_bytes): (u64, u64),
) -> Result<(), Trouble> {
    shared.root.existing(&asked.path)?;
    let mut data = Spool::default();
    each_piece(body, |piece| data.put(&shared.root, piece, size_bytes))?;
    as_long(data.bytes, size_bytes)?;
    let store = |file: &File| {
        let mut placement = Placement::in_a_row(file, offset_bytes, size_bytes);
        placement.reserve(size_bytes)?;
        Ok(data.copy(|piece| placement.put(piece))?)
    };
    conditions::write(shared, asked, || {
        stage::write_to(&shared.root, &asked.path, store)
    })
}
