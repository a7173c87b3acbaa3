//! How a link asks for a block: a head and what belongs behind it, in each of the five ways.
//!
//! It must never ask for other bytes than those of the block.

use super::super::faults::of_source;
use super::super::{Direction, Way};
use super::Link;
use crate::digest;
use crate::mime::dime;
use crate::mime::multipart::{DATA_ID, Related};
use crate::service::wire::{ASK_BYTES, READ, WRITE};
use crate::soap::write::{Data, request};
use crate::soap::{Mechanism, Operation, Origin, base64};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use wirespeed::bulk::{Block, BulkError};
use wirespeed::sync;

fn random_hex() -> Result<String, BulkError> {
    digest::random_hex().map_err(|_| BulkError::lasting("the system has no random numbers"))
}

fn from_beginning(block: Block) -> Result<i64, BulkError> {
    i64::try_from(block.offset_bytes).map_err(|_| BulkError::lasting("a stream has no such offset"))
}

impl Link {
    pub(super) fn send(&mut self, block: Block) -> Result<(), BulkError> {
        match (self.options.way, self.options.direction) {
            (Way::Bulk, Direction::Get) => self.send_ask(READ, block),
            (Way::Bulk, Direction::Put) => {
                self.send_ask(WRITE, block)?;
                self.send_data(b"", block, b"")
            }
            (Way::Http, Direction::Get) => {
                let last = block.offset_bytes + block.size_bytes - 1;
                let more = format!("Range: bytes={}-{last}\r\n", block.offset_bytes);
                self.send_head("GET", &more, &[])
            }
            (Way::Http, Direction::Put) => {
                let last = block.offset_bytes + block.size_bytes - 1;
                // Elsewhere the block is the whole: a server that does not know the header would replace the file by it.
                let range = match self.found.own {
                    true => format!("Content-Range: bytes {}-{last}/*\r\n", block.offset_bytes),
                    false => String::new(),
                };
                let more = format!("Content-Length: {}\r\n{range}", block.size_bytes);
                let head = self.head("PUT", &more);
                self.send_data(head.as_bytes(), block, b"")
            }
            (Way::Soap(mechanism), Direction::Get) => self.send_soap_read(mechanism, block),
            (Way::Soap(mechanism), Direction::Put) => self.send_soap_write(mechanism, block),
        }
    }

    pub(super) fn head(&self, method: &str, more: &str) -> String {
        let target = &self.options.url.target;
        format!("{method} {target} HTTP/1.1\r\n{}{more}\r\n", self.session.common)
    }

    fn send_head(&mut self, method: &str, more: &str, body: &[u8]) -> Result<(), BulkError> {
        let bytes = [self.head(method, more).as_bytes(), body].concat();
        Ok(self.session.reader.get_mut().write_all(&bytes)?)
    }

    pub(super) fn send_ask(&mut self, operation: u8, block: Block) -> Result<(), BulkError> {
        let mut ask = [0; ASK_BYTES];
        ask[0] = operation;
        sync::put(&mut ask, 8, block.offset_bytes.to_le_bytes());
        sync::put(&mut ask, 16, block.size_bytes.to_le_bytes());
        let channel = self.session.reader.get_mut();
        let written = match operation {
            WRITE => channel.write_more(&ask),
            _ => channel.write_all(&ask),
        };
        Ok(written?)
    }

    /// The block's bytes of the source, between two small pieces.
    fn send_data(&mut self, before: &[u8], block: Block, behind: &[u8]) -> Result<(), BulkError> {
        let source = self.source.clone();
        let source = source.ok_or_else(|| BulkError::lasting("there is nothing to send"))?;
        let channel = self.session.reader.get_mut();
        channel.write_more(before)?;
        channel
            .send_file(&source, block.offset_bytes, block.size_bytes)
            .map_err(of_source)?;
        Ok(channel.write_all(behind)?)
    }

    fn soap_head(&self, operation: &Operation, content_type: &str, length: u64) -> String {
        let action = crate::soap::write::action_of(operation);
        // Metro answers inline unless it is told that a package would be understood.
        let more = format!(
            "Content-Type: {content_type}\r\nContent-Length: {length}\r\nSOAPAction: \"{action}\"\r\n\
             Accept: multipart/related; type=\"application/xop+xml\", application/dime, text/xml\r\n"
        );
        self.head("POST", &more)
    }

    fn send_soap_read(&mut self, mechanism: Mechanism, block: Block) -> Result<(), BulkError> {
        let operation = match self.options.stream {
            false => Operation::Read {
                start_offset: block.offset_bytes,
                block_bytes: block.size_bytes,
                blocks: 1,
                stride_bytes: 0,
            },
            true => Operation::SeekRead {
                offset: from_beginning(block)?,
                origin: Origin::Beginning,
                bytes: block.size_bytes,
            },
        };
        let id = format!("urn:uuid:{}", random_hex()?);
        let to = self.options.url.to_string();
        let envelope = request(&operation, mechanism, Data::Elsewhere, &to, &id).whole();
        let head = self.soap_head(&operation, "text/xml; charset=utf-8", envelope.len() as u64);
        Ok(self
            .session
            .reader
            .get_mut()
            .write_all((head + &envelope).as_bytes())?)
    }

    fn send_soap_write(&mut self, mechanism: Mechanism, block: Block) -> Result<(), BulkError> {
        let operation = match self.options.stream {
            false => Operation::Write {
                start_offset: block.offset_bytes,
                block_bytes: block.size_bytes,
                stride_bytes: 0,
            },
            true => Operation::SeekWrite {
                offset: from_beginning(block)?,
                origin: Origin::Beginning,
            },
        };
        let random = random_hex()?;
        let id = format!("urn:uuid:{random}");
        let to = self.options.url.to_string();
        let envelope = |data| request(&operation, mechanism, data, &to, &id);
        match mechanism {
            Mechanism::Mtom => {
                let related = Related::around(&envelope(Data::Include(DATA_ID)).whole(), &random);
                let length = (related.before.len() + related.behind.len()) as u64 + block.size_bytes;
                let head = self.soap_head(&operation, &related.content_type, length);
                self.send_data(
                    (head + &related.before).as_bytes(),
                    block,
                    related.behind.as_bytes(),
                )
            }
            Mechanism::Dime => {
                let size = u32::try_from(block.size_bytes).map_err(|_| {
                    BulkError::lasting("a DIME record has at most 4 GiB; choose a smaller block")
                })?;
                let before = dime::around(&envelope(Data::Elsewhere).whole(), &id, size);
                let padding = dime::padding(block.size_bytes);
                let length = before.len() as u64 + block.size_bytes + padding as u64;
                let head = self.soap_head(&operation, "application/dime", length);
                self.send_data(&[head.as_bytes(), &before].concat(), block, &[0; 3][..padding])
            }
            Mechanism::Simple => {
                let around = envelope(Data::Inline);
                let length = base64::encoded_bytes(block.size_bytes)
                    + (around.before.len() + around.behind.len()) as u64;
                let head = self.soap_head(&operation, "text/xml; charset=utf-8", length);
                self.send_base64(&(head + &around.before), block, &around.behind)
            }
        }
    }

    fn send_base64(&mut self, before: &str, block: Block, behind: &str) -> Result<(), BulkError> {
        let source = self.source.clone();
        let source = source.ok_or_else(|| BulkError::lasting("there is nothing to send"))?;
        let channel = self.session.reader.get_mut();
        channel.write_more(before.as_bytes())?;
        let (mut window, mut text) = (vec![0; base64::ENCODE_BYTES], Vec::new());
        let (mut offset, mut left) = (block.offset_bytes, block.size_bytes);
        while left > 0 {
            let want = window.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            source
                .read_exact_at(&mut window[..want], offset)
                .map_err(of_source)?;
            base64::encode(&window[..want], &mut text);
            channel.write_more(&text)?;
            (offset, left) = (offset + want as u64, left - want as u64);
        }
        Ok(channel.write_all(behind.as_bytes())?)
    }
}
