//! POST: a SOAP request, its answer or its fault.

use super::answer::Answer;
use super::exchange::{After, Asked, Reader, Shared, drained};
use super::failed::{Failed, now};
use super::intake::Intake;
use super::layout::total_bytes;
use super::operations::{self, Reply};
use crate::digest::random_hex;
use crate::http::body::Body;
use crate::mime::dime;
use crate::mime::multipart::{DATA_ID, Related};
use crate::soap::write::{Data, response};
use crate::soap::{Mechanism, Operation, Request};
use std::io;

const XML: &str = "text/xml; charset=utf-8";

/// Read a request, do what it says, answer.
pub(super) fn post(shared: &Shared, reader: &mut Reader, asked: &Asked) -> io::Result<After> {
    let keep = asked.head.keeps();
    let mut body = Body::new(reader, asked.head.framing);
    let done = perform(shared, asked, &mut body);
    if let Err(Failed::Connection(error)) = done {
        return Err(error);
    }
    let after = drained(&mut body);
    let keep = keep && after == After::Keep;
    match done {
        Ok((operation, mechanism, message_id, reply)) => {
            reply_with(reader, keep, &operation, mechanism, message_id.as_deref(), reply)?;
            Ok(after)
        }
        Err(Failed::Connection(error)) => Err(error),
        Err(Failed::Fault(fault)) => {
            let answer = Answer::new("500 Internal Server Error", XML, keep);
            answer.send(reader.get_mut(), fault.envelope(&now()).as_bytes())?;
            Ok(after)
        }
    }
}

type Done = (Operation, Mechanism, Option<String>, Reply);

fn perform(shared: &Shared, asked: &Asked, body: &mut Body<'_, Reader>) -> Result<Done, Failed> {
    let content_type = asked.head.headers.get("content-type").unwrap_or_default();
    let disk = (&shared.root, shared.limits.write_bytes_max);
    let mut intake = Intake::open(content_type, body, disk)?;
    let request = Request::of(&intake.opening)?;
    let message_id = intake.opening.message_id.clone();
    let reply = operations::perform(shared, asked, &request, &mut intake)?;
    Ok((request.operation, request.mechanism, message_id, reply))
}

fn reply_with(
    reader: &mut Reader,
    keep: bool,
    operation: &Operation,
    mechanism: Mechanism,
    message_id: Option<&str>,
    reply: Reply,
) -> io::Result<()> {
    let channel = reader.get_mut();
    let ok = |content_type| Answer::new("200 OK", content_type, keep);
    let envelope = |data| response(operation, mechanism, data, message_id);
    match (reply, mechanism) {
        (Reply::Envelope(text), _) => ok(XML).send(channel, text.as_bytes()),
        (Reply::Written, _) => ok(XML).send(channel, envelope(Data::Elsewhere).whole().as_bytes()),
        (Reply::Data(file, places), Mechanism::Simple) => {
            let around = envelope(Data::Inline);
            ok(XML).send_base64(channel, &around.before, (&file, &places), &around.behind)
        }
        (Reply::Data(file, places), Mechanism::Mtom) => {
            // 128 random bits do not occur in the data by accident, so nobody has to look.
            let around = envelope(Data::Include(DATA_ID)).whole();
            let related = Related::around(&around, &random_hex()?);
            Answer::new("200 OK", &related.content_type, keep).send_file(
                channel,
                related.before.as_bytes(),
                (&file, &places),
                related.behind.as_bytes(),
            )
        }
        (Reply::Data(file, places), Mechanism::Dime) => {
            let size = total_bytes(&places);
            let id = format!("uuid:{}", random_hex()?);
            let around = envelope(Data::Elsewhere).whole();
            // A DIME record has at most 4 GiB; the limit of one read is below that.
            let length = u32::try_from(size).map_err(io::Error::other)?;
            let before = dime::around(&around, &id, length);
            let padding = &[0; 3][..dime::padding(size)];
            ok("application/dime").send_file(channel, &before, (&file, &places), padding)
        }
    }
}
