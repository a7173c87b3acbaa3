//! One connection: requests one after the other, each answered before the next is read, so that a client may send several
//! ahead. It must never be told anything of the machine beyond the resource.

use super::answer::Answer;
use super::exchange::{After, Asked, Reader, Shared, say};
use super::places::Place;
use super::{plain, soap, upgraded};
use crate::http::HttpError;
use crate::http::channel::{BUFFER_BYTES, Channel};
use crate::http::head::RequestHead;
use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// Time to shake hands and to prove who one is.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a refused client may go on sending.
const LINGER: Duration = Duration::from_secs(2);

/// Serve until the client or the service has enough.
pub(super) fn serve(shared: &Shared, stream: TcpStream, place: &Place) {
    let deadline = Instant::now() + HANDSHAKE;
    let mut channel = match &shared.secure {
        None => Channel::plain(stream),
        Some(server) => match server.accept(stream, deadline) {
            Ok(stream) => Channel::secure(stream),
            // A stranger, or somebody who speaks plain HTTP.
            Err(_) => return,
        },
    };
    if channel.set_patience(shared.limits.patience).is_err() {
        return;
    }
    channel.tell(place.progress());
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, channel);
    let mut admitted = shared.secure.is_none();
    while !shared.stop.is_requested() {
        let begun = !reader.buffer().is_empty();
        reader.get_mut().awaits(begun);
        let done = one(shared, &mut reader, &mut admitted, place);
        match done.or_else(|error| too_late(&mut reader, &error)) {
            Ok(after) => {
                place.idle();
                if after == After::Close {
                    break;
                }
            }
            // The client went away or does not take its answer: there is nobody to tell.
            Err(_) => return,
        }
    }
    linger(reader.get_mut());
}

/// What is said to a client whose request did not come to its end, if nothing was said yet.
fn too_late(reader: &mut Reader, error: &io::Error) -> io::Result<After> {
    let channel = reader.get_ref();
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
            if channel.has_begun() && !channel.has_written() =>
        {
            say(reader, "408 Request Timeout", "the request came too slowly")
        }
        io::ErrorKind::UnexpectedEof if channel.has_begun() && !channel.has_written() => {
            say(reader, "400 Bad Request", "the request ended before its length")
        }
        kind => Err(kind.into()),
    }
}

/// Half-close, and let the client read what was said before the connection is reset.
fn linger(channel: &mut Channel) {
    // It may be gone already.
    let _ = channel.flush();
    let _ = channel.socket().shutdown(Shutdown::Write);
    let _ = channel.socket().set_read_timeout(Some(LINGER));
    let deadline = Instant::now() + LINGER;
    let mut buffer = [0; 4096];
    while Instant::now() < deadline && matches!(channel.socket().read(&mut buffer), Ok(1..)) {}
}

fn one(shared: &Shared, reader: &mut Reader, admitted: &mut bool, place: &Place) -> io::Result<After> {
    reader.get_mut().set_heads_only(false);
    let head = match RequestHead::read(reader) {
        Ok(head) => head,
        Err(HttpError::Io(error)) => return Err(error),
        Err(HttpError::Closed) => return Ok(After::Close),
        Err(HttpError::Malformed(why)) => return say(reader, "400 Bad Request", why),
    };
    reader.get_mut().set_heads_only(head.method == "HEAD");
    if !*admitted && !admits(shared, reader, &head) {
        let asks = Answer::new("401 Unauthorized", "text/plain", false).with("WWW-Authenticate: Bearer\r\n");
        let why = b"this service needs the token of its key file\n";
        asks.send(reader.get_mut(), why)?;
        return Ok(After::Close);
    }
    *admitted = true;
    place.busy();
    if let Some(name) = head.headers.get("wirespeed-congestion") {
        crate::congestion::set_as_asked(reader.get_ref().socket(), name);
    }
    let Some(asked) = Asked::of(head) else {
        return say(reader, "400 Bad Request", "a target that is not a path");
    };
    if asked.head.headers.has("upgrade", upgraded::PROTOCOL) {
        return upgraded::serve(shared, reader, &asked);
    }
    if let Some((status, why)) = misframed(&asked.head) {
        return say(reader, status, why);
    }
    if asked.head.headers.has("expect", "100-continue") && asked.head.is_11 {
        reader.get_mut().write_interim(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let keep = asked.head.keeps();
    let after = match asked.head.method.as_str() {
        "GET" | "HEAD" => plain::get(shared, reader, &asked)?,
        "PUT" => plain::put(shared, reader, &asked)?,
        "POST" => soap::post(shared, reader, &asked)?,
        _ => {
            return say(
                reader,
                "405 Method Not Allowed",
                "this service knows GET, HEAD, PUT and POST",
            );
        }
    };
    Ok(if keep { after } else { After::Close })
}

/// Why a body cannot be taken for what it is.
fn misframed(head: &RequestHead) -> Option<(&'static str, &'static str)> {
    let coding = head.headers.get("content-encoding").unwrap_or("identity");
    if !coding.eq_ignore_ascii_case("identity") {
        let why = "this service takes no Content-Encoding; send the bytes as they are";
        return Some(("415 Unsupported Media Type", why));
    }
    let stores = matches!(head.method.as_str(), "PUT" | "POST");
    let told = ["content-length", "transfer-encoding"]
        .iter()
        .any(|name| head.headers.get(name).is_some());
    // Without a length there is no body, and the bytes that were meant to be one would be lost.
    (stores && !told).then_some(("411 Length Required", "give a Content-Length, or send in chunks"))
}

fn admits(shared: &Shared, reader: &Reader, head: &RequestHead) -> bool {
    let (Some(server), Some(stream)) = (&shared.secure, reader.get_ref().inside_tls()) else {
        return shared.secure.is_none();
    };
    let authorization = head.headers.get("authorization").unwrap_or_default();
    server.admits(stream, authorization)
}
