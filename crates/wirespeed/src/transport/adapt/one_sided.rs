//! Put, get and atomics over active messages: the target's CPU serves them when it polls or waits.
//!
//! Messages of one pair arrive in order, so operations take effect in order; only a get reads its data when the reply
//! is sent, therefore a fence waits for outstanding gets. A flush asks each peer how many puts and additions it has
//! applied. The number of requests that may await replies is the case's window, within bounds; the result states it.
//!
//! It must never send from within a handler, nor trust an offset, a length or a count from a peer.

use super::below;
use super::served::{Awaited, Kind, Peer, Reply, Served};
use crate::sync::{SharedBytes, put};
use crate::transport::port::{
    AtomicOp, Facts, LinkError, MessagePort, OneSidedPort, Post, Posted, Width, WordOp,
};
use crate::transport::waiter::Waiter;
use crate::transport::{
    ByLayout, Connect, ConnectError, MessageRunner, Messages, NO_SHORTIOV, OneSidedRunner, Ran, SizeLimit,
    buffer,
};

/// How the capability comes about, for [`Support::Emulated`](crate::transport::Support).
pub const MEANS: &str = "through active messages, served by the target's CPU";

/// Why there is no zero-copy.
pub const NO_ZCOPY: &str = "emulated through messages: the data are copied";

/// Largest message of an atomic operation: operand and comparand.
const OPERAND_BYTES: usize = 16;
const OUTSTANDING_MIN: u64 = 16;
const OUTSTANDING_MAX: u64 = 1024;

/// The limits of puts and gets, from those of messages.
pub fn limits(messages: &ByLayout) -> (ByLayout, ByLayout) {
    let [short, bcopy, ..] = messages.clone();
    let no_zcopy = SizeLimit::never(NO_ZCOPY);
    let put = [short, bcopy.clone(), no_zcopy.clone(), NO_SHORTIOV];
    let get = [
        SizeLimit::never("a get has nothing to inline"),
        bcopy,
        no_zcopy,
        NO_SHORTIOV,
    ];
    (put, get)
}

/// Open the message port of `T` and run on put, get and atomics over it: the whole of `OneSided::open` of such a
/// transport. `Needs::message_bytes` bounds a put or get; needs must be the same on every rank.
pub fn open<T: Messages, R: OneSidedRunner>(
    ctx: &Connect,
    options: &T::Options,
    runner: R,
) -> Ran<R::Output> {
    let messages = below(ctx, ctx.needs.message_bytes.max(OPERAND_BYTES));
    T::open(&messages, options, Over { ctx, runner })?
}

struct Over<'a, 'c, R> {
    ctx: &'a Connect<'c>,
    runner: R,
}

impl<R: OneSidedRunner> MessageRunner for Over<'_, '_, R> {
    type Output = Ran<R::Output>;

    fn run<P: MessagePort>(self, port: P) -> Self::Output {
        Ok(self.runner.run(OneSidedOver::new(port, self.ctx)?))
    }
}

/// A one-sided port over a message port.
pub struct OneSidedOver<P> {
    port: P,
    served: Served,
    waiter: Waiter,
}

impl<P: MessagePort> OneSidedOver<P> {
    /// Over `port`, which was opened with the peers of `ctx`.
    pub fn new(port: P, ctx: &Connect) -> Result<Self, ConnectError> {
        if P::LOSSY {
            return Err(ConnectError::Other(
                "put and get need a transport that loses nothing".into(),
            ));
        }
        let needs = &ctx.needs;
        let outstanding_max = needs.window_msgs.clamp(OUTSTANDING_MIN, OUTSTANDING_MAX) as usize;
        Ok(OneSidedOver {
            port,
            served: Served {
                region: buffer("the exposed region", needs.region_bytes)?,
                local: buffer("the local buffer", needs.buffer_bytes)?,
                fetched: vec![0; needs.fetch_slots],
                peers: ctx.peers.iter().map(|_| Peer::new(outstanding_max)).collect(),
                outstanding_max,
                transfer_bytes_max: needs.message_bytes.max(OPERAND_BYTES),
                completed: 0,
                gets_awaited: 0,
                due: 0,
                fault: None,
            },
            waiter: ctx.waiter(),
        })
    }

    #[inline(always)]
    fn advance(&mut self) -> Result<usize, LinkError> {
        let handled = self.port.poll(&mut self.served)?;
        self.after_arrivals()?;
        Ok(handled)
    }

    #[inline(always)]
    fn after_arrivals(&mut self) -> Result<(), LinkError> {
        if let Some(fault) = self.served.fault {
            return Err(fault);
        }
        if self.served.due > 0 {
            self.send_replies()?;
        }
        Ok(())
    }

    /// Send what is due, as far as there is room.
    #[inline(never)]
    fn send_replies(&mut self) -> Result<(), LinkError> {
        let OneSidedOver { port, served, .. } = self;
        let region = &served.region;
        for (slot, peer) in served.peers.iter_mut().enumerate() {
            while let Some(reply) = peer.replies.front() {
                let sent = match reply {
                    Reply::Data { from, len } => {
                        port.send_bcopy(slot, Kind::Data.with_count(0), len, |room| {
                            region.read(from, room)
                        })?
                    }
                    Reply::Value(value) => {
                        port.send_short(slot, Kind::Value.with_count(0), &value.to_le_bytes())?
                    }
                };
                if sent == Post::Busy {
                    break;
                }
                peer.replies.pop();
                served.due -= 1;
            }
            if peer.asks && port.send_short(slot, Kind::Applied.with_count(peer.served), &[])? == Post::Done {
                peer.asks = false;
                served.due -= 1;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn check_transfer(&self, len: usize) -> Result<(), LinkError> {
        if len > self.served.transfer_bytes_max {
            return Err(LinkError::Unsupported(
                "a transfer longer than the port was opened for",
            ));
        }
        Ok(())
    }

    #[inline(always)]
    fn note_sent(&mut self, peer: usize, post: Post) -> Post {
        if post == Post::Done {
            self.served.peers[peer].sent += 1;
        }
        post
    }

    /// Send a request whose reply is `awaited`, if one more may be outstanding.
    #[inline(always)]
    fn request(&mut self, peer: usize, header: u64, payload: &[u8], awaited: Awaited) -> Posted {
        let queue = &mut self.served.peers[peer].awaited;
        if queue.is_full() {
            return Ok(Post::Busy);
        }
        let post = self.port.send_short(peer, header, payload)?;
        if post == Post::Done && !queue.push(awaited) {
            return Err(LinkError::Exhausted("requests outstanding"));
        }
        Ok(post)
    }
}

impl<P: MessagePort> OneSidedPort for OneSidedOver<P> {
    const SLOW: bool = P::SLOW;
    #[inline(always)]
    fn put_short(&mut self, peer: usize, to: usize, data: &[u8]) -> Posted {
        self.check_transfer(data.len())?;
        let header = Kind::Put.with_offset(to, Width::W4)?;
        let post = self.port.send_short(peer, header, data)?;
        Ok(self.note_sent(peer, post))
    }

    #[inline(always)]
    fn put_bcopy(&mut self, peer: usize, to: usize, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        self.check_transfer(len)?;
        let header = Kind::Put.with_offset(to, Width::W4)?;
        let post = self.port.send_bcopy(peer, header, len, pack)?;
        Ok(self.note_sent(peer, post))
    }

    #[inline(always)]
    fn put_zcopy(&mut self, _: usize, _: usize, _: usize, _: usize) -> Posted {
        Err(LinkError::Unsupported(NO_ZCOPY))
    }

    #[inline(always)]
    fn get_bcopy(&mut self, peer: usize, from: usize, to: usize, len: usize) -> Posted {
        self.check_transfer(len)?;
        if to > self.served.local.len() || len > self.served.local.len() - to {
            return Err(LinkError::Unsupported("a range outside of the local memory"));
        }
        let header = Kind::Get.with_offset(from, Width::W4)?;
        let post = self.request(
            peer,
            header,
            &(len as u64).to_le_bytes(),
            Awaited::Get { to, len },
        )?;
        if post == Post::Done {
            self.served.gets_awaited += 1;
        }
        Ok(post)
    }

    #[inline(always)]
    fn get_zcopy(&mut self, _: usize, _: usize, _: usize, _: usize) -> Posted {
        Err(LinkError::Unsupported(NO_ZCOPY))
    }

    #[inline(always)]
    fn atomic(&mut self, peer: usize, asked: WordOp) -> Posted {
        let header = Kind::of_atomic(asked.op).with_offset(asked.offset, asked.width)?;
        let operand = asked.operand.to_le_bytes();
        if asked.op == AtomicOp::Add {
            let post = self.port.send_short(peer, header, &operand)?;
            return Ok(self.note_sent(peer, post));
        }
        if asked.slot >= self.served.fetched.len() {
            return Err(LinkError::Unsupported("fetch slot out of range"));
        }
        let awaited = Awaited::Fetch { slot: asked.slot };
        if asked.op == AtomicOp::CompareSwap {
            let mut operands = [0; OPERAND_BYTES];
            put(&mut operands, 0, operand);
            put(&mut operands, 8, asked.compare.to_le_bytes());
            self.request(peer, header, &operands, awaited)
        } else {
            self.request(peer, header, &operand, awaited)
        }
    }

    #[inline(always)]
    fn fetched(&self, slot: usize) -> u64 {
        self.served.fetched[slot]
    }

    #[inline(always)]
    fn completed(&self) -> u64 {
        self.served.completed
    }

    #[inline(always)]
    fn fence(&mut self) -> Posted {
        if self.served.gets_awaited > 0 {
            Ok(Post::Busy)
        } else {
            Ok(Post::Done)
        }
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        self.advance()?;
        let OneSidedOver { port, served, .. } = self;
        let mut effective = true;
        for (slot, peer) in served.peers.iter_mut().enumerate() {
            if peer.asked < peer.sent && port.send_short(slot, Kind::Ask.with_count(0), &[])? == Post::Done {
                peer.asked = peer.sent;
            }
            effective &= peer.applied == peer.sent && peer.awaited.is_empty();
        }
        Ok(port.flush()? && effective && served.due == 0)
    }

    #[inline(always)]
    fn poll(&mut self) -> Result<(), LinkError> {
        self.advance().map(drop)
    }

    #[inline(always)]
    fn wait(&mut self) -> Result<(), LinkError> {
        if self.served.due > 0 {
            // The port may sleep until something arrives; room for a reply would not wake it.
            if self.advance()? == 0 {
                self.waiter.idle()?;
            }
            return Ok(());
        }
        self.port.wait(&mut self.served)?;
        self.after_arrivals()
    }

    #[inline(always)]
    fn region(&self) -> &SharedBytes {
        &self.served.region
    }

    #[inline(always)]
    fn local(&self) -> &SharedBytes {
        &self.served.local
    }

    fn facts(&self) -> Facts {
        let mut facts = self.port.facts();
        facts.insert("one_sided".into(), MEANS.into());
        facts.insert(
            "outstanding_requests_max".into(),
            self.served.outstanding_max.to_string(),
        );
        facts
    }
}
