//! What a refusal of the service means, and what a short answer or a file that cannot be read does.
//!
//! It must never obey an answer.

use super::metered::Metered;
use crate::http::body::Body;
use crate::http::channel::shrunk;
use crate::http::head::ResponseHead;
use std::io::{self, BufReader, Read as _};
use wirespeed::bulk::{BulkError, BulkErrorKind, Receiver};
use wirespeed_schema::shown::quoted;

/// Of another place that the service names: signed addresses are long.
const PLACE_CHARACTERS_MAX: usize = 2000;

/// What a status other than success means.
pub(super) fn refused(head: &ResponseHead, why: &str) -> BulkError {
    let status = head.status;
    if let (300..=399, Some(place)) = (status, head.headers.get("location")) {
        let shown = quoted(place, PLACE_CHARACTERS_MAX);
        let is_whole = shown == place;
        let (cut, remedy) = match place.split_once(':') {
            _ if !is_whole => (
                "..",
                "ask its owner for another address: this one is too long or odd",
            ),
            Some(("http", _)) => ("", "give that address, if you trust it"),
            Some(("https", _)) => (
                "",
                "read it by other means: https is spoken with services of wirespeed alone",
            ),
            _ => ("", "give it behind http://HOST:PORT of the service"),
        };
        let why = format!("the service answered HTTP {status}: the resource is at {shown}{cut}");
        let error = BulkError::lasting(why).with_remedy(remedy);
        return error.of_kind(BulkErrorKind::Unspoken);
    }
    let why = quoted(why, 200);
    let text = match why.is_empty() || why.starts_with('<') {
        // A page for browsers says less than the status.
        true => format!("the service answered HTTP {status}"),
        false => format!("the service answered HTTP {status}: {why}"),
    };
    let error = match status {
        // What it does not implement, it will not by and by.
        501 | 505 => BulkError::lasting(text),
        408 | 429 | 500..=599 => BulkError::passing(text),
        _ => BulkError::lasting(text),
    };
    let kind = match status {
        401 => BulkErrorKind::Refused,
        _ => BulkErrorKind::Other,
    };
    let error = error.of_kind(kind);
    match status {
        401 | 403 => error.with_remedy("see who may use it so: whom it serves, and whether it takes files"),
        405 | 501 => error.with_remedy("name a service that does this, such as `wirespeed byteio serve`"),
        404 | 410 => error.with_remedy("check the path in the address"),
        409 if why.contains("folder") => {
            error.with_remedy("make its folder at the service first, or check the path in the address")
        }
        409 => error.with_remedy("see what the service says is in the way, and give the same command again"),
        408 | 429 | 503 => error.with_remedy("try again later, or with fewer connections"),
        413 => error.with_remedy("choose smaller blocks"),
        507 => error.with_remedy("make room at the service, and give the same command again"),
        _ => error,
    }
}

/// Exactly so many bytes, from the socket into the receiver's window.
pub(super) fn copy_exactly<R: Receiver>(
    body: &mut Body<'_, BufReader<Metered>>,
    size_bytes: u64,
    receiver: &mut R,
) -> Result<(), BulkError> {
    let mut left = size_bytes;
    while left > 0 {
        let space = receiver.space(usize::try_from(left).unwrap_or(usize::MAX));
        let count = body.read(space)?;
        if count == 0 {
            return Err(BulkError::passing(format!("the answer was {left} bytes short")));
        }
        receiver.filled(count)?;
        left -= count as u64;
    }
    Ok(())
}

/// What went wrong while the source was sent or read again. A socket does not end while one writes to it: it is the file that did.
pub(super) fn of_source(error: io::Error) -> BulkError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => BulkError::lasting(shrunk().to_string())
            .with_remedy("send it again when nothing writes it any more"),
        _ => error.into(),
    }
}
