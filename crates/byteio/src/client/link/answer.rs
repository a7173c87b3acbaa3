//! What a link takes for the answer to what it asked for.
//!
//! It must never accept fewer or more bytes than were asked for, nor an answer that contradicts itself.

use super::super::faults::{copy_exactly, refused};
use super::super::found::{fits, shorter};
use super::super::metered::Metered;
use super::super::receive;
use super::super::session::page;
use super::super::{Direction, Found, Way};
use super::Link;
use crate::http::body::{Body, Framing};
use crate::http::head::ResponseHead;
use crate::http::range;
use crate::service::wire::{ANSWER_BYTES, SHORT, WHOLE};
use std::io::{BufReader, Read as _};
use wirespeed::bulk::{Block, BulkError, Receiver};
use wirespeed::sync;

/// What helps where a web server that takes a file in one block finds it too large.
const LARGER: &str = "have the server take larger bodies, or send it to `wirespeed byteio serve`, in blocks";

impl Link {
    pub(super) fn receive<R: Receiver>(&mut self, block: Block, receiver: &mut R) -> Result<(), BulkError> {
        let direction = self.options.direction;
        if self.options.way == Way::Bulk {
            return self.receive_raw(block, receiver);
        }
        let head = self.session.answer()?;
        self.closed = !head.keeps;
        let mut body = Body::new(&mut self.session.reader, head.framing);
        let received = match (self.options.way, direction) {
            (Way::Http, Direction::Get) => receive_range(&head, &mut body, (block, &self.found), receiver),
            (Way::Http, Direction::Put) => match head.status {
                200 | 201 | 204 => Ok(()),
                // It would take each smaller block for the whole.
                413 if !self.found.own => Err(refused(&head, &page(&head, &mut body)).with_remedy(LARGER)),
                _ => Err(refused(&head, &page(&head, &mut body))),
            },
            _ => {
                let wanted = (direction == Direction::Get).then_some(block.size_bytes);
                receive::message(&head, &mut body, (direction, wanted), receiver).map(drop)
            }
        };
        received?;
        // What stands behind the answer must be its end.
        match body.drain(1024)? {
            true => Ok(()),
            false => Err(BulkError::passing("the answer goes on behind its data")),
        }
    }

    fn receive_raw<R: Receiver>(&mut self, block: Block, receiver: &mut R) -> Result<(), BulkError> {
        let (status, size) = self.raw_answer()?;
        match (status, self.options.direction) {
            (WHOLE, Direction::Put) if size == block.size_bytes => Ok(()),
            (WHOLE, Direction::Get) if size == block.size_bytes => {
                let mut body = Body::new(&mut self.session.reader, Framing::Length(size));
                copy_exactly(&mut body, size, receiver)
            }
            (SHORT, Direction::Get) => Err(shorter()),
            (_, Direction::Get) => Err(BulkError::lasting("the service could not read it")
                .with_remedy("see whether it is still there, and may be read")),
            (_, Direction::Put) => Err(BulkError::lasting("the service could not write it")
                .with_remedy("see the room on its disk; another mechanism says why")),
        }
    }

    pub(super) fn raw_answer(&mut self) -> Result<(u8, u64), BulkError> {
        let mut answer = [0; ANSWER_BYTES];
        self.session.awaits();
        self.session.reader.read_exact(&mut answer)?;
        Ok((answer[0], u64::from_le_bytes(sync::take(&answer, 8))))
    }
}

fn receive_range<R: Receiver>(
    head: &ResponseHead,
    body: &mut Body<'_, BufReader<Metered>>,
    (block, found): (Block, &Found),
    receiver: &mut R,
) -> Result<(), BulkError> {
    let carried = head.headers.get("content-range").and_then(range::carried);
    if matches!(head.status, 200 | 206) {
        fits(found, &head.headers, carried.and_then(|(_, total)| total))?;
    }
    match (head.status, carried) {
        (206, Some((span, _)))
            if (span.start_bytes, span.size_bytes) == (block.offset_bytes, block.size_bytes) => {}
        (206, _) => {
            return Err(BulkError::passing(
                "the answer carries another range than was asked for",
            ));
        }
        // The whole, of a service that knows no ranges or was asked for all there is.
        (200, _)
            if block.offset_bytes == 0 && body.left_bytes().is_none_or(|left| left == block.size_bytes) => {}
        (200, _) => {
            return Err(BulkError::lasting("the service does not serve ranges")
                .with_remedy("ask for the whole in one block, over one connection"));
        }
        (416, _) => return Err(shorter()),
        _ => return Err(refused(head, &page(head, body))),
    }
    if body.left_bytes().is_some_and(|left| left != block.size_bytes) {
        return Err(BulkError::passing(
            "the length of the answer is not that of its range",
        ));
    }
    copy_exactly(body, block.size_bytes, receiver)?;
    match body.drain(0)? {
        true => Ok(()),
        // Of a length that nobody told.
        false => Err(BulkError::lasting("the resource is longer than was asked for")),
    }
}
