//! Reads a SOAP answer, in any framing and style that services in use send, and hands its data to the receiver.
//!
//! Data may be a part that the envelope includes, a lone part that nothing refers to (Axis 1.4, Genesis II), base64 in the
//! envelope whatever was asked for (Metro), or a DIME record.

use super::Direction;
use super::faults::{copy_exactly, refused};
use super::found::coding;
use super::metered::Metered;
use super::session::page;
use crate::http::body::Body;
use crate::http::head::ResponseHead;
use crate::mime::dime::{self, RecordHead};
use crate::mime::multipart::{Multipart, Part, PartHead};
use crate::mime::params::{MediaType, bare_id};
use crate::soap::envelope::Payload;
use crate::soap::{Envelope, Opening, SoapError};
use std::io::{BufRead, BufReader, Cursor, Read as _};
use wirespeed::bulk::{BulkError, BulkErrorKind, Receiver};
use wirespeed_schema::shown::quoted;

type Answer<'a> = Body<'a, BufReader<Metered>>;

/// What reads a service that speaks no SOAP, and what writes one.
fn plain_http(direction: Direction) -> &'static str {
    match direction {
        Direction::Get => "any web server can be read by ranges, with mechanism http",
        Direction::Put => "web servers that take files are sent one in one block, with mechanism http",
    }
}
/// An envelope that is a part of its own.
const ROOT_BYTES_MAX: usize = 1 << 20;

impl From<SoapError> for BulkError {
    fn from(error: SoapError) -> Self {
        match error {
            SoapError::Io(error) => error.into(),
            other => BulkError::passing(other.to_string()),
        }
    }
}

impl From<crate::mime::MimeError> for BulkError {
    fn from(error: crate::mime::MimeError) -> Self {
        SoapError::from(error).into()
    }
}

/// Drops what comes: for answers that carry no data.
pub(super) struct Nowhere([u8; 4096]);

impl Default for Nowhere {
    fn default() -> Self {
        Nowhere([0; 4096])
    }
}

impl Receiver for Nowhere {
    fn space(&mut self, want: usize) -> &mut [u8] {
        let len = want.min(self.0.len());
        &mut self.0[..len]
    }

    fn filled(&mut self, _: usize) -> Result<(), BulkError> {
        Ok(())
    }
}

/// Read the answer in a transfer of this direction; `wanted`: bytes that it must carry, `None` where it carries none.
pub(super) fn message<R: Receiver>(
    head: &ResponseHead,
    body: &mut Answer<'_>,
    (direction, wanted): (Direction, Option<u64>),
    receiver: &mut R,
) -> Result<Opening, BulkError> {
    let content_type = head.headers.get("content-type").unwrap_or_default();
    let media = MediaType::parse(content_type);
    let essence = media.as_ref().map_or("", |media| media.essence.as_str());
    // A fault comes with status 500; anything else that is no success has no envelope to speak of.
    if matches!(head.status, 404 | 405 | 501) {
        let why = format!(
            "no ByteIO service is there: HTTP {} to a SOAP request",
            head.status
        );
        return Err(unspoken(BulkError::lasting(why), direction));
    }
    let coding = coding(&head.headers);
    // A coded page cannot be read, nor can a coded fault.
    if !matches!(head.status, 200 | 202 | 500) || (head.status == 500 && coding.is_some()) {
        return Err(refused(head, &page(head, body)));
    }
    if let Some(coding) = coding {
        let why = format!("the answer is coded as {coding}, though nobody asked for it");
        let error = BulkError::lasting(why).with_remedy("have the service send it as it is");
        return Err(error.of_kind(BulkErrorKind::Unspoken));
    }
    match (essence, &media) {
        ("text/xml", _) => envelope(body, receiver),
        ("multipart/related", Some(media)) => multipart(media, body, wanted, receiver),
        ("application/dime", _) => records(body, receiver),
        _ => {
            let error = refused(head, &format!("no SOAP message but {essence:?}"));
            Err(unspoken(error, direction))
        }
    }
}

/// `error` as that of a service that speaks no SOAP.
fn unspoken(error: BulkError, direction: Direction) -> BulkError {
    let error = error.with_remedy(plain_http(direction));
    error.of_kind(BulkErrorKind::Unspoken)
}

/// Add a piece to an envelope that is held whole.
fn hold(root: &mut Vec<u8>, piece: &[u8], too_long: &'static str) -> Result<(), BulkError> {
    if root.len() + piece.len() > ROOT_BYTES_MAX {
        return Err(BulkError::passing(too_long));
    }
    root.extend_from_slice(piece);
    Ok(())
}

/// An envelope with its inline data; its opening is given back.
fn envelope<R: Receiver>(inner: impl BufRead, receiver: &mut R) -> Result<Opening, BulkError> {
    let mut envelope = Envelope::open(inner)?;
    if let Some(fault) = &envelope.opening().fault {
        let why = format!(
            "the service answered {}: {}",
            fault.name,
            quoted(&fault.text, 200)
        );
        return Err(match fault.passing {
            true => BulkError::passing(why),
            false => BulkError::lasting(why),
        });
    }
    let mut stored = Ok(());
    let copied = envelope.copy_inline(|piece| {
        receiver.copy(piece).map_err(|error| {
            stored = Err(error);
            SoapError::malformed("not stored")
        })
    });
    stored?;
    copied?;
    Ok(envelope.opening().clone())
}

fn multipart<R: Receiver>(
    media: &MediaType,
    body: &mut Answer<'_>,
    wanted: Option<u64>,
    receiver: &mut R,
) -> Result<Opening, BulkError> {
    let boundary = media.parameter("boundary").unwrap_or_default();
    let start = media.parameter("start").map(|id| bare_id(id).to_owned());
    let mut parts = Multipart::new(body, boundary)?;
    let mut opening: Option<Opening> = None;
    let mut data: Option<PartHead> = None;
    while let Part::Head(head) = parts.next_part()? {
        let named = start.is_some() && start == head.id;
        let is_root = opening.is_none() && (named || (start.is_none() && data.is_none()));
        if is_root {
            let mut root = Vec::new();
            parts.copy_body(|piece| hold(&mut root, piece, "an envelope part longer than 1 MiB"))?;
            opening = Some(envelope(Cursor::new(root), receiver)?);
        } else if data.is_some() {
            return Err(BulkError::passing(
                "the answer has more parts than an envelope and its data",
            ));
        } else {
            if !head.is_plain() {
                return Err(BulkError::passing("the data part has a transfer encoding"));
            }
            part(&mut parts, wanted, receiver)?;
            data = Some(head);
        }
    }
    let opening = opening.ok_or_else(|| BulkError::passing("the answer has no envelope"))?;
    match (&opening.payload, &data, wanted) {
        (Payload::Include(id), Some(head), _) if head.id.as_ref() == Some(id) => Ok(opening),
        (Payload::Include(_), _, _) => {
            Err(BulkError::passing("the answer includes a part that is not there"))
        }
        (Payload::Inline, Some(_), _) => Err(BulkError::passing("the answer has its data twice")),
        (Payload::Absent, None, Some(1..)) => Err(BulkError::passing("the answer has no data")),
        _ => Ok(opening),
    }
}

/// The data part. Where the lengths leave no doubt its bytes are not searched for a boundary, which then must stand
/// exactly behind them.
fn part<R: Receiver>(
    parts: &mut Multipart<&mut Answer<'_>>,
    wanted: Option<u64>,
    receiver: &mut R,
) -> Result<(), BulkError> {
    let left = parts.body_mut().left_bytes();
    let closing = parts.closing_bytes();
    if let (Some(left), Some(wanted)) = (left, wanted)
        && (left == wanted + closing || left == wanted + closing + 2)
    {
        copy_exactly(parts.body_mut(), wanted, receiver)?;
        return Ok(parts.expect_delimiter()?);
    }
    parts.copy_body(|piece| receiver.copy(piece))
}

fn records<R: Receiver>(body: &mut Answer<'_>, receiver: &mut R) -> Result<Opening, BulkError> {
    let head = RecordHead::read(body)?;
    let mut root = Vec::new();
    let ended = dime::copy_record(body, &head, |piece| {
        hold(&mut root, piece, "an envelope record longer than 1 MiB")
    })?;
    let opening = envelope(Cursor::new(root), receiver)?;
    if ended {
        return Ok(opening);
    }
    let head = RecordHead::read(body)?;
    let ended = match head.chunked {
        true => dime::copy_record(body, &head, |piece| receiver.copy(piece))?,
        false => {
            copy_record_directly(body, &head, receiver)?;
            head.ends
        }
    };
    match ended {
        true => Ok(opening),
        false => Err(BulkError::passing(
            "the answer has more records than an envelope and its data",
        )),
    }
}

fn copy_record_directly<R: Receiver>(
    body: &mut Answer<'_>,
    head: &RecordHead,
    receiver: &mut R,
) -> Result<(), BulkError> {
    copy_exactly(body, u64::from(head.data_bytes), receiver)?;
    let mut pad = [0; 3];
    body.read_exact(&mut pad[..dime::padding(u64::from(head.data_bytes))])?;
    Ok(())
}
