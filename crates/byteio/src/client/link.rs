//! The links of the bulk engine: one connection, five ways to ask for a block. They allocate small strings for every
//! request, as HTTP and SOAP need; data pass through the engine's window alone.
//!
//! A link must never accept fewer or more bytes than were asked for, nor an answer that contradicts itself.

use super::found::{fits, shorter};
use super::metered::Metered;
use super::session::{Session, page};
use super::{ClientOptions, Direction, Found, Way};
use crate::digest;
use crate::http::body::{Body, Framing};
use crate::http::channel::shrunk;
use crate::http::head::ResponseHead;
use crate::http::range;
use crate::mime::dime;
use crate::mime::multipart::{DATA_ID, Related};
use crate::service::wire::{ANSWER_BYTES, ASK_BYTES, INFO, PROTOCOL, READ, SHORT, WHOLE, WRITE};
use crate::soap::write::{Data, request};
use crate::soap::{Mechanism, Operation, Origin, base64};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use wirespeed::bulk::{Block, BulkError, BulkErrorKind, BulkPort, Receiver, Wire};
use wirespeed::sync;
use wirespeed_schema::byteio::TcpInfo;
use wirespeed_schema::shown::quoted;

/// Of another place that the service names: signed addresses are long.
const PLACE_CHARACTERS_MAX: usize = 2000;
/// What helps where a web server that takes a file in one block finds it too large.
const LARGER: &str = "have the server take larger bodies, or send it to `wirespeed byteio serve`, in blocks";
/// Largest description of a connection that is read.
const INFO_BYTES_MAX: u64 = 64 << 10;

/// One connection.
pub(super) struct Link {
    options: Arc<ClientOptions>,
    source: Option<Arc<File>>,
    found: Arc<Found>,
    wire: Arc<Wire>,
    session: Session,
    /// Asked for and not answered, oldest first.
    posted: VecDeque<Block>,
    /// How many of those were sent.
    sent: usize,
    /// The far end keeps connections open and answers in order, so that it may be asked ahead. One that closes behind each
    /// answer may take a second request for the end of the first (Axis 1.4 does).
    ahead: bool,
    /// The far end has closed, or will behind the last answer.
    closed: bool,
}

fn random_hex() -> Result<String, BulkError> {
    digest::random_hex().map_err(|_| BulkError::lasting("the system has no random numbers"))
}

fn from_beginning(block: Block) -> Result<i64, BulkError> {
    i64::try_from(block.offset_bytes).map_err(|_| BulkError::lasting("a stream has no such offset"))
}

impl Link {
    /// Connect to the service of what was found. One of ours is known to take requests ahead.
    pub fn connect(
        options: &Arc<ClientOptions>,
        source: Option<&Arc<File>>,
        found: &Arc<Found>,
        wire: &Arc<Wire>,
    ) -> Result<Link, BulkError> {
        let mut link = Link {
            options: options.clone(),
            source: source.cloned(),
            found: found.clone(),
            wire: wire.clone(),
            session: Session::over(options, wire)?,
            posted: VecDeque::new(),
            sent: 0,
            ahead: found.own,
            closed: false,
        };
        if options.way == Way::Bulk {
            link.upgrade()?;
        }
        Ok(link)
    }

    fn upgrade(&mut self) -> Result<(), BulkError> {
        let access = match self.options.direction {
            Direction::Get => "",
            Direction::Put => "Wirespeed-Access: write\r\n",
        };
        let more = format!("Upgrade: {PROTOCOL}\r\nConnection: Upgrade\r\n{access}");
        let target = self.options.url.target.clone();
        let answer = self.session.small("GET", &target, &more, "")?;
        match answer.head.status {
            101 => Ok(()),
            300..=399 => Err(refused(&answer.head, "")),
            status => Err(BulkError::lasting(format!(
                "the service does not offer the bulk stream here (HTTP {status})"
            ))
            .with_remedy("choose another mechanism")),
        }
    }

    /// A service that closes behind every answer (HTTP/1.0, `Connection: close`) is asked again over a new connection.
    fn reopen(&mut self) -> Result<(), BulkError> {
        let posted = std::mem::take(&mut self.posted);
        let (options, source, wire) = (self.options.clone(), self.source.clone(), self.wire.clone());
        *self = Link::connect(&options, source.as_ref(), &self.found.clone(), &wire)?;
        (self.posted, self.ahead) = (posted, false);
        self.send_due()
    }

    /// Send what may be sent now.
    fn send_due(&mut self) -> Result<(), BulkError> {
        while self.sent < self.posted.len() && (self.ahead || self.sent == 0) {
            let block = self.posted[self.sent];
            self.send(block)?;
            self.sent += 1;
        }
        Ok(())
    }

    fn send(&mut self, block: Block) -> Result<(), BulkError> {
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

    fn head(&self, method: &str, more: &str) -> String {
        let target = &self.options.url.target;
        format!("{method} {target} HTTP/1.1\r\n{}{more}\r\n", self.session.common)
    }

    fn send_head(&mut self, method: &str, more: &str, body: &[u8]) -> Result<(), BulkError> {
        let bytes = [self.head(method, more).as_bytes(), body].concat();
        Ok(self.session.reader.get_mut().write_all(&bytes)?)
    }

    fn send_ask(&mut self, operation: u8, block: Block) -> Result<(), BulkError> {
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

    fn receive<R: Receiver>(&mut self, block: Block, receiver: &mut R) -> Result<(), BulkError> {
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
                super::receive::message(&head, &mut body, (direction, wanted), receiver).map(drop)
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

    fn raw_answer(&mut self) -> Result<(u8, u64), BulkError> {
        let mut answer = [0; ANSWER_BYTES];
        self.session.awaits();
        self.session.reader.read_exact(&mut answer)?;
        Ok((answer[0], u64::from_le_bytes(sync::take(&answer, 8))))
    }

    /// What the kernel says at both ends; the far one where it is wirespeed and nothing is outstanding.
    pub fn counters(&mut self) -> (Option<TcpInfo>, Option<TcpInfo>) {
        let near = crate::sys::tcp_info(self.session.reader.get_ref().socket());
        if !self.found.own || self.closed || !self.posted.is_empty() {
            return (near, None);
        }
        let text = match self.options.way {
            Way::Bulk => self.raw_counters(),
            _ => {
                let target = self.options.url.with_query("wirespeed=connection");
                self.session
                    .small("GET", &target, "", "")
                    .map(|answer| answer.body)
            }
        };
        let far = text
            .ok()
            .and_then(|text| serde_json::from_slice(text.as_bytes()).ok());
        (near, far)
    }

    fn raw_counters(&mut self) -> Result<String, BulkError> {
        let ask = Block {
            index: 0,
            offset_bytes: 0,
            size_bytes: 0,
        };
        self.send_ask(INFO, ask)?;
        let (_, size) = self.raw_answer()?;
        let mut body = Body::new(&mut self.session.reader, Framing::Length(size));
        Ok(body.small_text(INFO_BYTES_MAX)?)
    }
}

impl BulkPort for Link {
    fn post(&mut self, block: Block) -> Result<(), BulkError> {
        if self.closed {
            self.reopen()?;
        }
        self.posted.push_back(block);
        self.send_due()
    }

    fn complete<R: Receiver>(&mut self, block: Block, receiver: &mut R) -> Result<(), BulkError> {
        if self.closed {
            self.reopen()?;
        }
        self.receive(block, receiver)?;
        self.posted.pop_front();
        self.sent -= 1;
        self.ahead |= !self.closed;
        match self.closed {
            true => Ok(()),
            false => self.send_due(),
        }
    }
}

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
