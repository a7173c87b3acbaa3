//! Matched sends and receives over active messages: the 8-byte header carries the tag, the payload the data.
//!
//! A message that finds a posted receive of its peer and tag is copied into the buffer; any other is kept until its
//! receive is posted, up to a limit for each peer that the result states (`unexpected_bytes_max`). A send that finds no
//! room waits in its peer's queue; it is done when the port has taken it.
//!
//! It must never reorder messages of one peer and tag, nor run over a port that loses messages.

use super::below;
use super::requests::{Queue, Range, Requests};
use super::unexpected::{RECORD_BYTES, Unexpected};
use crate::sync::SharedBytes;
use crate::transport::port::{Facts, LinkError, MessagePort, OnMessage, Post, Posted, Request, TaggedPort};
use crate::transport::waiter::Waiter;
use crate::transport::{Connect, ConnectError, MessageRunner, Messages, Needs, Ran, TaggedRunner, buffer};

/// How the capability comes about, for [`Support::Emulated`](crate::transport::Support).
pub const MEANS: &str = "matched over active messages";

const UNEXPECTED_BYTES_MIN: usize = 64 << 10;
const UNEXPECTED_BYTES_MAX: usize = 16 << 20;

/// Open the message port of `T` and run on tagged messages over it: the whole of `Tagged::open` of such a transport.
pub fn open<T: Messages, R: TaggedRunner>(ctx: &Connect, options: &T::Options, runner: R) -> Ran<R::Output> {
    // A control message of the engine has 8 bytes.
    let messages = below(ctx, ctx.needs.message_bytes.max(8));
    T::open(&messages, options, Over { ctx, runner })?
}

struct Over<'a, 'c, R> {
    ctx: &'a Connect<'c>,
    runner: R,
}

impl<R: TaggedRunner> MessageRunner for Over<'_, '_, R> {
    type Output = Ran<R::Output>;

    fn run<P: MessagePort>(self, port: P) -> Self::Output {
        Ok(self.runner.run(TaggedOver::new(port, self.ctx)?))
    }
}

/// Bytes of unexpected messages that are kept for each peer: as many messages as the test says, else a message for each
/// request, within bounds, and always two of the largest.
fn unexpected_bytes(needs: &Needs) -> usize {
    let record = needs.message_bytes.saturating_add(RECORD_BYTES + 8);
    if needs.unexpected_msgs > 0 {
        // Control messages and acknowledgements come beside them.
        let messages = needs.unexpected_msgs.saturating_mul(record);
        return messages.saturating_add(UNEXPECTED_BYTES_MIN);
    }
    needs
        .requests_max
        .saturating_mul(record)
        .clamp(UNEXPECTED_BYTES_MIN, UNEXPECTED_BYTES_MAX)
        .max(record.saturating_mul(2))
}

struct Peer {
    receives: Queue,
    sends: Queue,
    unexpected: Unexpected,
}

/// Takes arrivals and matches them.
struct Matching {
    buffer: SharedBytes,
    requests: Requests,
    peers: Vec<Peer>,
    fault: Option<LinkError>,
}

/// A tagged port over a message port.
pub struct TaggedOver<P> {
    port: P,
    matching: Matching,
    /// Sends that wait for room, over all peers.
    waiting_sends: usize,
    waiter: Waiter,
    unexpected_bytes: usize,
}

const TOO_LONG: LinkError = LinkError::Corrupt("a message longer than its receive");

impl OnMessage for Matching {
    #[inline(always)]
    fn message(&mut self, peer: usize, tag: u64, payload: &[u8]) {
        let from = &mut self.peers[peer];
        match self.requests.finish_matching(&mut from.receives, tag) {
            Some(range) if payload.len() <= range.len => self.buffer.write(range.offset, payload),
            Some(_) => self.fault = Some(TOO_LONG),
            None => self.keep(peer, tag, payload),
        }
    }
}

impl Matching {
    #[cold]
    #[inline(never)]
    fn keep(&mut self, peer: usize, tag: u64, payload: &[u8]) {
        if !self.peers[peer].unexpected.push(tag, payload) {
            self.fault = Some(LinkError::Exhausted(
                "too many unexpected messages; post receives before the peer sends",
            ));
        }
    }

    #[inline(always)]
    fn range(&self, tag: u64, offset: usize, len: usize) -> Result<Range, LinkError> {
        if self.buffer.place(offset, len).is_none() {
            return Err(LinkError::Unsupported("a range outside of the buffer"));
        }
        Ok(Range { tag, offset, len })
    }
}

impl<P: MessagePort> TaggedOver<P> {
    /// Over `port`, which was opened with the peers of `ctx`.
    pub fn new(port: P, ctx: &Connect) -> Result<Self, ConnectError> {
        if P::LOSSY {
            return Err(ConnectError::Other(
                "tagged messages need a transport that loses nothing".into(),
            ));
        }
        let needs = &ctx.needs;
        let buffer = buffer("the buffer of tagged messages", needs.buffer_bytes)?;
        let unexpected_bytes = unexpected_bytes(needs);
        let peer = |_: &u32| {
            Ok(Peer {
                receives: Queue::new(),
                sends: Queue::new(),
                unexpected: Unexpected::new(unexpected_bytes)
                    .ok_or_else(|| ConnectError::memory("keeping unexpected messages", unexpected_bytes))?,
            })
        };
        Ok(TaggedOver {
            port,
            matching: Matching {
                buffer,
                requests: Requests::new(needs.requests_max),
                peers: ctx.peers.iter().map(peer).collect::<Result<_, ConnectError>>()?,
                fault: None,
            },
            waiting_sends: 0,
            waiter: ctx.waiter(),
            unexpected_bytes,
        })
    }

    #[inline(always)]
    fn try_send(&mut self, peer: usize, range: Range) -> Posted {
        let buffer = &self.matching.buffer;
        self.port.send_bcopy(peer, range.tag, range.len, |room| {
            buffer.read(range.offset, room);
        })
    }

    /// Hand waiting sends to the port, each peer's in order.
    #[cold]
    #[inline(never)]
    fn send_waiting(&mut self) -> Result<(), LinkError> {
        for peer in 0..self.matching.peers.len() {
            while let Some(range) = self.matching.requests.first(&self.matching.peers[peer].sends) {
                if self.try_send(peer, range)? == Post::Busy {
                    break;
                }
                let sends = &mut self.matching.peers[peer].sends;
                self.matching.requests.finish_first(sends);
                self.waiting_sends -= 1;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn after_arrivals(&mut self) -> Result<(), LinkError> {
        if let Some(fault) = self.matching.fault {
            return Err(fault);
        }
        if self.waiting_sends > 0 {
            self.send_waiting()?;
        }
        Ok(())
    }

    #[inline(always)]
    fn poll(&mut self) -> Result<usize, LinkError> {
        let handled = self.port.poll(&mut self.matching)?;
        self.after_arrivals()?;
        Ok(handled)
    }

    #[inline(always)]
    fn wait(&mut self) -> Result<(), LinkError> {
        if self.waiting_sends > 0 {
            // The port may sleep until something arrives; room for a send would not wake it.
            if self.poll()? == 0 {
                self.waiter.idle()?;
            }
            return Ok(());
        }
        self.port.wait(&mut self.matching)?;
        self.after_arrivals()
    }
}

impl<P: MessagePort> TaggedPort for TaggedOver<P> {
    const SLOW: bool = P::SLOW;
    const RECEIVES_AHEAD: bool = P::SLOW;

    #[inline(always)]
    fn buffer(&self) -> &SharedBytes {
        &self.matching.buffer
    }

    #[inline(always)]
    fn post_recv(&mut self, peer: usize, tag: u64, offset: usize, len: usize) -> Result<Request, LinkError> {
        let range = self.matching.range(tag, offset, len)?;
        let Matching {
            buffer,
            requests,
            peers,
            ..
        } = &mut self.matching;
        let from = &mut peers[peer];
        match from.unexpected.take(tag) {
            None => requests.enqueue(&mut from.receives, range),
            Some(found) if found.len <= len => {
                buffer.copy_from(offset, from.unexpected.memory(), found.start, found.len);
                requests.finished(range)
            }
            Some(_) => Err(TOO_LONG),
        }
    }

    #[inline(always)]
    fn post_send(&mut self, peer: usize, tag: u64, offset: usize, len: usize) -> Result<Request, LinkError> {
        let range = self.matching.range(tag, offset, len)?;
        if self.matching.peers[peer].sends.is_empty() && self.try_send(peer, range)? == Post::Done {
            return self.matching.requests.finished(range);
        }
        let sends = &mut self.matching.peers[peer].sends;
        let request = self.matching.requests.enqueue(sends, range)?;
        self.waiting_sends += 1;
        Ok(request)
    }

    #[inline(always)]
    fn done(&mut self, request: Request) -> Result<bool, LinkError> {
        if self.matching.requests.forget_if_done(request)? {
            return Ok(true);
        }
        self.poll()?;
        self.matching.requests.forget_if_done(request)
    }

    #[inline(always)]
    fn wait_all(&mut self, requests: &mut Vec<Request>) -> Result<(), LinkError> {
        while let Some(&request) = requests.last() {
            if self.matching.requests.forget_if_done(request)? {
                requests.pop();
            } else {
                self.wait()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        self.poll()?;
        Ok(self.port.flush()? && self.waiting_sends == 0)
    }

    fn facts(&self) -> Facts {
        let mut facts = self.port.facts();
        facts.insert("tagged".into(), MEANS.into());
        facts.insert("unexpected_bytes_max".into(), self.unexpected_bytes.to_string());
        facts
    }
}
