//! The links of the bulk engine: one connection, five ways to ask for a block. They allocate small strings for every
//! request, as HTTP and SOAP need; data pass through the engine's window alone.
//!
//! A link must never accept fewer or more bytes than were asked for, nor an answer that contradicts itself.

mod answer;
mod ask;

use super::faults::refused;
use super::session::Session;
use super::{ClientOptions, Direction, Found, Way};
use crate::http::body::{Body, Framing};
use crate::service::wire::{INFO, PROTOCOL};
use std::collections::VecDeque;
use std::fs::File;
use std::sync::Arc;
use wirespeed::bulk::{Block, BulkError, BulkPort, Receiver, Wire};
use wirespeed_schema::byteio::TcpInfo;

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
