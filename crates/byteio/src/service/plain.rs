//! Plain HTTP on the same data: GET and HEAD with a range, PUT of the whole or of a part, digests of parts, facts.

use super::answer::Answer;
use super::connection::{After, Asked, Reader, drained, say};
use super::files::{self, Access, Denied, Facts};
use super::layout::{Place, Placement};
use super::{Shared, operations};
use crate::digest::{self, DigestKind};
use crate::http::body::Body;
use crate::http::range::{self, Span};
use crate::soap::wsdl;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::fs::File;
use std::io::{self, BufRead as _};
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
    let opened = shared.root.resource(&asked.path, Access::Read);
    let (file, facts) = match opened.and_then(with_facts) {
        Ok(found) => found,
        Err(denied) => return deny(reader, denied, keep),
    };
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
            let answer = Answer {
                status: "416 Range Not Satisfiable",
                content_type: "text/plain",
                more: &format!("{common}Content-Range: bytes */{total}\r\n"),
                keep,
            };
            answer.send(reader.get_mut(), b"")?;
            return Ok(After::Keep);
        }
    };
    let answer = Answer {
        status,
        content_type: OCTETS,
        more: &more,
        keep,
    };
    if asked.head.method == "HEAD" {
        answer.send_head(reader.get_mut(), span.size_bytes)?;
        return Ok(After::Keep);
    }
    let place = Place {
        offset_bytes: span.start_bytes,
        size_bytes: span.size_bytes,
    };
    answer.send_file(reader.get_mut(), b"", (file, &[place]), b"")?;
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
        Err(_) => say(reader, "416 Range Not Satisfiable", "the file ends before that"),
    }
}

/// What a client needs to explain its figures: the machine, and the CPU time of this process so far.
fn facts(reader: &mut Reader, keep: bool) -> io::Result<After> {
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    let cpu_ns = cpu.tv_sec.unsigned_abs() * 1_000_000_000 + cpu.tv_nsec.unsigned_abs();
    let host = wirespeed::host::fingerprint(FingerprintOptions { host_name: false });
    let body = json!({ "cpu_ns": cpu_ns, "host": host, "congestion": crate::congestion::here() });
    small(reader, keep, "application/json", body.to_string().as_bytes())
}

fn small(reader: &mut Reader, keep: bool, content_type: &str, body: &[u8]) -> io::Result<After> {
    let answer = Answer {
        status: "200 OK",
        content_type,
        more: "",
        keep,
    };
    answer.send(reader.get_mut(), body)?;
    Ok(After::Keep)
}

fn deny(reader: &mut Reader, denied: Denied, keep: bool) -> io::Result<After> {
    let (status, why) = match denied {
        Denied::Unknown => ("404 Not Found", "no such resource\n"),
        Denied::Read => ("403 Forbidden", "the service may not read this resource\n"),
        Denied::Write => ("403 Forbidden", "this service is not writable\n"),
        Denied::Failed(_) => ("500 Internal Server Error", "cannot open the resource\n"),
    };
    let answer = Answer {
        status,
        content_type: "text/plain",
        more: "Wirespeed: byteio\r\n",
        keep,
    };
    answer.send(reader.get_mut(), why.as_bytes())?;
    Ok(After::Keep)
}

/// PUT: the whole, or with `Content-Range` a part in its place (RFC 9110, 14.5).
pub(super) fn put(shared: &Shared, reader: &mut Reader, asked: &Asked) -> io::Result<After> {
    let keep = asked.head.keeps();
    let part = match asked.head.headers.get("content-range").map(range::carried) {
        Some(None) => return say(reader, "400 Bad Request", "a Content-Range that is not one"),
        Some(Some((span, _))) => Some(span),
        None => None,
    };
    let file = match shared.root.resource(&asked.path, Access::Write) {
        Ok(file) => file,
        Err(denied) => {
            let after = drained(&mut Body::new(reader, asked.head.framing));
            deny(reader, denied, keep && after == After::Keep)?;
            return Ok(after);
        }
    };
    let mut body = Body::new(reader, asked.head.framing);
    let stored = store(&mut body, &file, part);
    match stored {
        Ok(()) => small(reader, keep, "text/plain", b""),
        Err(error) if operations::is_connection_error(&error) => Err(error),
        Err(error) => {
            drained(&mut body);
            let full = error.kind() == io::ErrorKind::StorageFull;
            let status = if full {
                "507 Insufficient Storage"
            } else {
                "400 Bad Request"
            };
            say(reader, status, &error.to_string())
        }
    }
}

fn store(body: &mut Body<'_, Reader>, file: &File, part: Option<Span>) -> io::Result<()> {
    let (offset, size) = match part {
        Some(span) => (span.start_bytes, span.size_bytes),
        None => {
            file.set_len(0)?;
            (0, u64::MAX)
        }
    };
    let mut placement = Placement::in_a_row(file, offset, size);
    loop {
        let piece = body.fill_buf()?;
        if piece.is_empty() {
            break;
        }
        let count = piece.len();
        placement.put(piece)?;
        body.consume(count);
    }
    match part.is_some() && placement.written_bytes != size {
        true => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the body is shorter than its Content-Range",
        )),
        false => Ok(()),
    }
}
