//! A SOAP request's message, whatever its framing: first the envelope, then, once, its data.

use super::exchange::Reader;
use super::files::Root;
use super::spool::Spool;
use crate::http::body::Body;
use crate::mime::MimeError;
use crate::mime::dime::{self, RecordHead};
use crate::mime::multipart::{Multipart, Part, PartHead};
use crate::mime::params::{MediaType, bare_id};
use crate::soap::envelope::Payload;
use crate::soap::reader::{OTHER_ENCODING, is_utf8};
use crate::soap::{Envelope, Opening, SoapError};
use std::io::Cursor;

/// An envelope that is a part or record of its own; small ones may carry their data inline.
const ROOT_BYTES_MAX: usize = 1 << 20;

/// An envelope that was read whole.
type Held = Envelope<Cursor<Vec<u8>>>;

/// A body without a length that is looked at before it is taken for the end.
const EPILOGUE_BYTES_MAX: u64 = 64 << 10;

/// Where the data follow.
enum Rest<'a, 'b> {
    /// In the envelope, which is the whole body.
    Inline(Envelope<&'a mut Body<'b, Reader>>),
    /// In the envelope, which was a part or record; and what follows it.
    Held(Held, &'a mut Body<'b, Reader>),
    /// In the next part.
    Part(Multipart<&'a mut Body<'b, Reader>>),
    /// In the next record.
    Record(&'a mut Body<'b, Reader>),
    /// They stood before the envelope, and wait on disk; and what follows them.
    Spooled(Spool, &'a mut Body<'b, Reader>),
    /// There are none.
    Nothing(&'a mut Body<'b, Reader>),
}

/// A request up to its data.
pub(super) struct Intake<'a, 'b> {
    pub opening: Opening,
    rest: Rest<'a, 'b>,
}

impl From<MimeError> for SoapError {
    fn from(error: MimeError) -> Self {
        match error {
            MimeError::Io(error) => SoapError::Io(error),
            MimeError::Malformed(what) => SoapError::malformed(what),
        }
    }
}

impl<'a, 'b> Intake<'a, 'b> {
    /// Read up to the data. Those that stand before their envelope wait on the disk of `root`, at most `write_bytes_max`;
    /// none where nothing may be written.
    pub fn open(
        content_type: &str,
        body: &'a mut Body<'b, Reader>,
        (root, write_bytes_max): (&Root, u64),
    ) -> Result<Self, SoapError> {
        let media = MediaType::parse(content_type).ok_or(SoapError::Refused("no content type"))?;
        if media.parameter("charset").is_some_and(|name| !is_utf8(name)) {
            return Err(SoapError::Refused(OTHER_ENCODING));
        }
        match media.essence.as_str() {
            "text/xml" => {
                let envelope = Envelope::open(body)?;
                let opening = envelope.opening().clone();
                let rest = match opening.payload {
                    Payload::Inline => Rest::Inline(envelope),
                    _ => Rest::Nothing(envelope.into_inner()),
                };
                Ok(Intake { opening, rest })
            }
            "multipart/related" => Self::multipart(&media, body, (root, write_bytes_max)),
            "application/dime" => Self::dime(body),
            "application/soap+xml" => Err(SoapError::Version),
            _ => Err(SoapError::Refused(
                "a content type other than text/xml, multipart/related and application/dime",
            )),
        }
    }

    fn multipart(
        media: &MediaType,
        body: &'a mut Body<'b, Reader>,
        disk: (&Root, u64),
    ) -> Result<Self, SoapError> {
        let boundary = media.parameter("boundary").unwrap_or_default();
        let mut multipart = Multipart::new(body, boundary)?;
        let Part::Head(head) = multipart.next_part()? else {
            return Err(SoapError::malformed("a multipart message without parts"));
        };
        let start = media.parameter("start").map(bare_id);
        if start.is_some() && start != head.id.as_deref() {
            return Self::root_behind(multipart, &head, start, disk);
        }
        let (opening, held) = root_of(&mut multipart, &head)?;
        let rest = match held {
            Some(envelope) => {
                if let Part::Head(_) = multipart.next_part()? {
                    return Err(twice());
                }
                Rest::Held(envelope, multipart.into_inner())
            }
            None => Rest::Part(multipart),
        };
        Ok(Intake { opening, rest })
    }

    /// RFC 2387 lets the root stand anywhere. What to do with the data is not known before it comes, and a block is never
    /// held: they wait in a file without a name.
    fn root_behind(
        mut multipart: Multipart<&'a mut Body<'b, Reader>>,
        data: &PartHead,
        start: Option<&str>,
        (root, write_bytes_max): (&Root, u64),
    ) -> Result<Self, SoapError> {
        if !data.is_plain() {
            return Err(SoapError::Refused("a part with a transfer encoding"));
        }
        if !root.is_writable() {
            return Err(SoapError::Refused(
                "data before its envelope, and nothing may be written here",
            ));
        }
        let mut spool = Spool::default();
        multipart.copy_body(|piece| Ok::<(), SoapError>(spool.put(root, piece, write_bytes_max)?))?;
        as_told(data, spool.bytes)?;
        let Part::Head(head) = multipart.next_part()? else {
            return Err(SoapError::malformed("a multipart message without its root part"));
        };
        if start != head.id.as_deref() {
            return Err(SoapError::malformed("more parts than an envelope and its data"));
        }
        let (opening, held) = root_of(&mut multipart, &head)?;
        if let Part::Head(_) = multipart.next_part()? {
            return Err(SoapError::malformed("more parts than an envelope and its data"));
        }
        if let Payload::Include(id) = &opening.payload
            && data.id.as_deref() != Some(id.as_str())
        {
            return Err(SoapError::malformed("a part that is not the one included"));
        }
        if held.is_some() {
            return Err(twice());
        }
        let rest = Rest::Spooled(spool, multipart.into_inner());
        Ok(Intake { opening, rest })
    }

    fn dime(mut body: &'a mut Body<'b, Reader>) -> Result<Self, SoapError> {
        let head = RecordHead::read(&mut body)?;
        if !head.begins {
            return Err(SoapError::malformed(
                "a DIME message that does not begin with its first record",
            ));
        }
        let mut root = Vec::new();
        let ended = dime::copy_record(&mut body, &head, |piece| collect(&mut root, piece))?;
        let (opening, held) = held(root)?;
        let rest = match (held, ended) {
            (Some(_), false) => return Err(twice()),
            (Some(envelope), true) => Rest::Held(envelope, body),
            (None, true) => Rest::Nothing(body),
            (None, false) => Rest::Record(body),
        };
        Ok(Intake { opening, rest })
    }

    /// Hand the data on, in pieces. The whole message was read then, up to the end of the request: what is left of it that
    /// nobody understands is an error.
    pub fn feed(&mut self, sink: &mut dyn FnMut(&[u8]) -> Result<(), SoapError>) -> Result<(), SoapError> {
        let payload = &self.opening.payload;
        match &mut self.rest {
            Rest::Nothing(body) => match payload {
                Payload::Include(_) => Err(SoapError::malformed(NOT_THERE)),
                Payload::Absent => Err(SoapError::malformed("a request without data")),
                _ => at_end(body, 0),
            },
            // An envelope ends with its document, and that with the body.
            Rest::Inline(envelope) => envelope.copy_inline(|piece| sink(piece)),
            Rest::Held(envelope, body) => {
                envelope.copy_inline(|piece| sink(piece))?;
                at_end(body, EPILOGUE_BYTES_MAX)
            }
            Rest::Spooled(spool, body) => {
                spool.copy(sink)?;
                at_end(body, EPILOGUE_BYTES_MAX)
            }
            Rest::Record(body) => {
                let head = RecordHead::read(body)?;
                if let Payload::Include(id) = payload
                    && head.id != *id
                {
                    return Err(SoapError::malformed("a record that is not the one included"));
                }
                match dime::copy_record(body, &head, sink)? {
                    true => at_end(body, 0),
                    false => Err(SoapError::malformed("a DIME message of more than two records")),
                }
            }
            Rest::Part(multipart) => {
                feed_part(multipart, payload, sink)?;
                at_end(multipart.body_mut(), EPILOGUE_BYTES_MAX)
            }
        }
    }

    /// Read to the end of a request that may have no data.
    pub fn without_data(&mut self) -> Result<(), SoapError> {
        let unwanted = || SoapError::malformed("data in a request that takes none");
        match &mut self.rest {
            Rest::Nothing(body) if !matches!(self.opening.payload, Payload::Include(_)) => at_end(body, 0),
            Rest::Part(multipart) => match multipart.next_part()? {
                Part::Closed => at_end(multipart.body_mut(), EPILOGUE_BYTES_MAX),
                Part::Head(_) => Err(unwanted()),
            },
            _ => Err(unwanted()),
        }
    }
}

/// Why an include fails.
const NOT_THERE: &str = "an include of a part that is not there";

fn twice() -> SoapError {
    SoapError::malformed("data both in the envelope and behind it")
}

/// The request must end here. An epilogue of a package means nothing, and may be so long.
fn at_end(body: &mut Body<'_, Reader>, epilogue_bytes_max: u64) -> Result<(), SoapError> {
    match body.drain(epilogue_bytes_max)? {
        true => Ok(()),
        false => Err(SoapError::malformed("a request that goes on behind its end")),
    }
}

/// A part that says how long it is must be.
fn as_told(head: &PartHead, read_bytes: u64) -> Result<(), SoapError> {
    match head.length.as_deref().map(str::parse::<u64>) {
        None => Ok(()),
        Some(Ok(told)) if read_bytes == told => Ok(()),
        Some(_) => Err(SoapError::malformed("a part of another length than it says")),
    }
}

/// The envelope's part: its opening, and the envelope itself where its data are inline.
fn root_of(
    multipart: &mut Multipart<&mut Body<'_, Reader>>,
    head: &PartHead,
) -> Result<(Opening, Option<Held>), SoapError> {
    if !head.is_plain() {
        return Err(SoapError::Refused("a part with a transfer encoding"));
    }
    let media = head.media_type.as_deref().and_then(MediaType::parse);
    let charset = media.as_ref().and_then(|media| media.parameter("charset"));
    if charset.is_some_and(|name| !is_utf8(name)) {
        return Err(SoapError::Refused(OTHER_ENCODING));
    }
    let mut root = Vec::new();
    multipart.copy_body(|piece| collect(&mut root, piece))?;
    as_told(head, root.len() as u64)?;
    held(root)
}

/// Exactly one further part; with an include, the one that it names. Without an include a lone part is the data, as the
/// bare-part style has it.
fn feed_part(
    multipart: &mut Multipart<&mut Body<'_, Reader>>,
    payload: &Payload,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), SoapError>,
) -> Result<(), SoapError> {
    let head = match (multipart.next_part()?, payload) {
        (Part::Head(head), _) => head,
        (Part::Closed, Payload::Include(_)) => return Err(SoapError::malformed(NOT_THERE)),
        (Part::Closed, Payload::Absent) => return Err(SoapError::malformed("a request without data")),
        (Part::Closed, _) => return Ok(()),
    };
    if let Payload::Include(id) = payload
        && head.id.as_deref() != Some(id.as_str())
    {
        return Err(SoapError::malformed("a part that is not the one included"));
    }
    if !head.is_plain() {
        return Err(SoapError::Refused("a part with a transfer encoding"));
    }
    let mut read_bytes = 0;
    multipart.copy_body(|piece| {
        read_bytes += piece.len() as u64;
        sink(piece)
    })?;
    as_told(&head, read_bytes)?;
    match multipart.next_part()? {
        Part::Closed => Ok(()),
        Part::Head(_) => Err(SoapError::malformed("more parts than an envelope and its data")),
    }
}

fn collect(root: &mut Vec<u8>, piece: &[u8]) -> Result<(), SoapError> {
    if root.len() + piece.len() > ROOT_BYTES_MAX {
        return Err(SoapError::Refused("an envelope part longer than 1 MiB"));
    }
    root.extend_from_slice(piece);
    Ok(())
}

/// The opening of a held envelope, and the envelope itself where its data are inline.
fn held(root: Vec<u8>) -> Result<(Opening, Option<Held>), SoapError> {
    let envelope = Envelope::open(Cursor::new(root))?;
    let opening = envelope.opening().clone();
    let inline = opening.payload == Payload::Inline;
    Ok((opening, inline.then_some(envelope)))
}
