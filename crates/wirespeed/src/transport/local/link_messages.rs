//! Active messages over rings: one ring for each ordered pair of ranks, and a bell for receivers that sleep.
//!
//! It must never sleep in `poll` or in a send.

use super::meet::{self, Medium};
use super::options::LocalOptions;
use crate::sync::Doorbell;
use crate::sync::ring::{Consumer, Producer, RingError, RingMemory};
use crate::transport::port::{Facts, LinkError, MessagePort, OnMessage, Post, Posted, batch_max};
use crate::transport::waiter::Waiter;
use crate::transport::{Connect, ConnectError, MessageRunner, Ran};
use std::sync::Arc;
use std::time::Duration;
use wirespeed_schema::case::IdlePolicy;

/// A sleeper looks at the cancel flag so often even if nobody wakes it.
const SLEEP_MAX: Duration = Duration::from_millis(50);
/// Messages since the last empty poll from which on a stream is taken for granted.
const STREAM_BURST: usize = 64;
/// Messages of a burst to one pause after it, most pauses, and messages of the window to each of them: a sender must not
/// run out of credits meanwhile. (Measured between distant cores, a pause being 25 ns and a message 6: no pauses 9.2 ns a
/// message, 32 at most 7.6, 128 at most 6.7.)
const BURST_PER_PAUSE: usize = 2;
const PAUSES_MAX: u64 = 128;
const WINDOW_PER_PAUSE: u64 = 16;

/// Connect rings to all peers and run on them.
pub fn open_messages<M: Medium, R: MessageRunner>(
    ctx: &Connect,
    medium: &M,
    options: &LocalOptions,
    runner: R,
) -> Ran<R::Output> {
    if options.block.unwrap_or(ctx.room.had_better_sleep()) {
        Ok(runner.run(connect::<M, true>(ctx, medium, options)?))
    } else {
        Ok(runner.run(connect::<M, false>(ctx, medium, options)?))
    }
}

fn connect<M: Medium, const BLOCK: bool>(
    ctx: &Connect,
    medium: &M,
    options: &LocalOptions,
) -> Result<RingPort<BLOCK>, ConnectError> {
    let capacity = options
        .capacity(ctx.needs.message_bytes)
        .ok_or_else(|| ConnectError::Other("a message is larger than the ring takes".into()))?;
    let met = meet::meet(ctx, medium, capacity, 0)?;
    let mut facts = met.facts;
    let mut peers = Vec::with_capacity(met.peers.len());
    for (slot, peer) in met.peers.iter().enumerate() {
        peers.push(Peer {
            to: Producer::new(peer.segment.ring(peer.slot)?),
            from: Consumer::new(met.own.ring(slot)?),
            bell: peer.segment.bell(M::PRIVATE),
        });
    }
    let bell = Arc::new(met.own.bell(M::PRIVATE));
    if BLOCK {
        ctx.cancel.wake_on_cancel(&bell, Doorbell::wake);
    }
    facts.insert("ring_bytes".into(), capacity.to_string());
    facts.insert("wait".into(), if BLOCK { "block" } else { "poll" }.into());
    if BLOCK {
        facts.insert("spin".into(), options.spin.to_string());
    }
    Ok(RingPort {
        peers,
        bell,
        waiter: ctx.waiter(),
        batch: batch_max(ctx.needs.message_bytes),
        burst: 0,
        pauses_max: (ctx.needs.window_msgs / WINDOW_PER_PAUSE).min(PAUSES_MAX) as usize,
        spin: options.spin,
        facts,
    })
}

struct Peer {
    to: Producer<RingMemory>,
    from: Consumer<RingMemory>,
    /// The peer's bell.
    bell: Doorbell,
}

/// Rings to and from every peer. `BLOCK`: receivers sleep, so senders look at their bells.
pub struct RingPort<const BLOCK: bool> {
    peers: Vec<Peer>,
    /// This rank's bell.
    bell: Arc<Doorbell>,
    waiter: Waiter,
    /// Messages of one peer handled by one poll.
    batch: usize,
    /// Messages handled since the last empty poll.
    burst: usize,
    pauses_max: usize,
    spin: u32,
    facts: Facts,
}

impl From<RingError> for LinkError {
    #[inline(always)]
    fn from(error: RingError) -> Self {
        LinkError::Corrupt(error.0)
    }
}

#[inline(always)]
fn sent<const BLOCK: bool>(peer: &Peer, accepted: bool) -> Post {
    if !accepted {
        return Post::Busy;
    }
    if BLOCK {
        peer.bell.ring();
    }
    Post::Done
}

impl<const BLOCK: bool> RingPort<BLOCK> {
    #[inline(always)]
    fn poll_all<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        let mut handled = 0;
        for (slot, peer) in self.peers.iter_mut().enumerate() {
            let mut left = self.batch;
            while left > 0
                && peer
                    .from
                    .next(|header, payload| on.message(slot, header, payload))?
            {
                left -= 1;
            }
            handled += self.batch - left;
        }
        Ok(handled)
    }

    /// The receiver has caught up with a stream. Looking at once would take the line away from under the sender's
    /// stores, again and again; a moment later there is a batch to take. A ping-pong never comes here.
    #[cold]
    #[inline(always)]
    fn fall_back(&mut self) {
        for _ in 0..(self.burst / BURST_PER_PAUSE).min(self.pauses_max) {
            core::hint::spin_loop();
        }
    }

    #[cold]
    fn sleep<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        for _ in 0..self.spin {
            core::hint::spin_loop();
            let handled = self.poll_all(on)?;
            if handled > 0 {
                return Ok(handled);
            }
        }
        self.bell
            .sleep_if(SLEEP_MAX, || self.peers.iter().all(|peer| peer.from.is_empty()));
        self.waiter.look()?;
        self.poll_all(on)
    }
}

impl<const BLOCK: bool> MessagePort for RingPort<BLOCK> {
    #[inline(always)]
    fn send_short(&mut self, peer: usize, header: u64, payload: &[u8]) -> Posted {
        let peer = &mut self.peers[peer];
        let accepted = peer.to.send(header, payload)?;
        Ok(sent::<BLOCK>(peer, accepted))
    }

    #[inline(always)]
    fn send_bcopy(&mut self, peer: usize, header: u64, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        let peer = &mut self.peers[peer];
        let accepted = peer.to.send_packed(header, len, pack)?;
        Ok(sent::<BLOCK>(peer, accepted))
    }

    #[inline(always)]
    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        let handled = self.poll_all(on)?;
        self.burst += handled;
        Ok(handled)
    }

    #[inline(always)]
    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        let handled = self.poll(on)?;
        if handled > 0 {
            return Ok(handled);
        }
        if self.burst >= STREAM_BURST && matches!(self.waiter.policy(), IdlePolicy::Spin) {
            self.fall_back();
        }
        self.burst = 0;
        if BLOCK {
            return self.sleep(on);
        }
        self.waiter.idle()?;
        Ok(0)
    }

    #[inline(always)]
    fn flush(&mut self) -> Result<bool, LinkError> {
        // A message accepted is in the receiver's memory.
        Ok(true)
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }
}
