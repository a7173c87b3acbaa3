//! The daemon's part: a rank that passes messages on between others, data and acknowledgements alike.
//!
//! What one look at the port delivers is copied into one buffer, reserved beforehand, and sent on before the next look:
//! so a receiver that is behind holds its sender up, and nothing piles up here. It knows the end of a phase by the
//! marked last message of every flow and the acknowledgement that covers it. It must never look into a payload.

use super::header;
use super::meter::Tally;
use super::phases::{Body, Left, Phase};
use super::rank::Rank;
use super::wired::Wired;
use crate::error::MeasureError;
use crate::host::zeroed_bytes;
use crate::sync::copy;
use crate::transport::port::{LinkError, MessagePort, OnMessage, Post, batch_max};
use wirespeed_schema::kinds::Roles;
use wirespeed_schema::outcome::Count;
use wirespeed_schema::units::format_size;

/// Least room for one peer: what a port may have gathered of short messages.
const ROOM_BYTES_MIN: usize = 1 << 20;

/// A message that waits to be sent on.
#[derive(Clone, Copy, Default)]
struct Held {
    to: usize,
    header: u64,
    start: usize,
    len: usize,
}

/// A flow from one member to another.
#[derive(Clone, Copy, Default)]
struct Way {
    /// How many messages there are, once that has passed.
    total: Option<u64>,
    acknowledged: u64,
    done: bool,
}

/// What was taken in by one look, and how far every flow is.
struct Store {
    /// Everybody exchanges with everybody, and headers carry addresses; else two peers exchange with each other.
    addressed: bool,
    members: usize,
    /// Payloads, the first `filled` bytes of them.
    bytes: Vec<u8>,
    filled: usize,
    /// Messages, the first `count` of them.
    held: Vec<Held>,
    count: usize,
    ways: Vec<Way>,
    /// Flows that have ended, and that there are.
    done: usize,
    flows: usize,
    passed: Count,
    overflow: bool,
    stranger: bool,
    held_max_bytes: usize,
}

impl Store {
    /// Errors with the bytes that the system refused.
    fn new(members: usize, size: usize, addressed: bool) -> Result<Self, usize> {
        let room = size.saturating_mul(batch_max(size));
        let room = room.max(ROOM_BYTES_MIN).saturating_mul(members);
        let headers = ROOM_BYTES_MIN / 16;
        Ok(Store {
            addressed,
            members,
            // What no look fills costs no memory.
            bytes: zeroed_bytes(room).ok_or(room)?,
            filled: 0,
            held: vec![Held::default(); headers * members],
            count: 0,
            ways: vec![Way::default(); members * members],
            done: 0,
            flows: if addressed { members * (members - 1) } else { 1 },
            passed: Count::default(),
            overflow: false,
            stranger: false,
            held_max_bytes: 0,
        })
    }

    fn restart(&mut self) {
        self.ways.iter_mut().for_each(|way| *way = Way::default());
        (self.done, self.passed) = (0, Count::default());
    }

    #[inline(always)]
    fn follow(&mut self, from: usize, to: usize, header: u64) {
        let number = if self.addressed {
            header::sequence(header)
        } else {
            header::number(header)
        };
        let is_last = header::is_last(header);
        let way = if header::is_ack(header) {
            let way = &mut self.ways[to * self.members + from];
            way.acknowledged = way.acknowledged.max(number);
            way
        } else {
            // Who all exchange mark what says how many there were; others mark the last one.
            self.passed.messages += u64::from(!(self.addressed && is_last));
            if !is_last {
                return;
            }
            let way = &mut self.ways[from * self.members + to];
            way.total = Some(number + u64::from(!self.addressed));
            way
        };
        if !way.done && way.total.is_some_and(|total| way.acknowledged >= total) {
            way.done = true;
            self.done += 1;
        }
    }
}

impl OnMessage for Store {
    #[inline(always)]
    fn message(&mut self, from: usize, word: u64, payload: &[u8]) {
        let (to, header) = if self.addressed {
            (header::address(word), header::addressed(word, from))
        } else {
            (1 - from.min(1), word)
        };
        if to >= self.members || to == from {
            self.stranger = true;
            return;
        }
        let (start, end) = (self.filled, self.filled + payload.len());
        let (Some(room), Some(held)) = (self.bytes.get_mut(start..end), self.held.get_mut(self.count)) else {
            self.overflow = true;
            return;
        };
        copy(payload, room);
        *held = Held {
            to,
            header,
            start,
            len: payload.len(),
        };
        (self.filled, self.count) = (end, self.count + 1);
        self.passed.bytes += payload.len() as u64;
        self.follow(from, to, word);
    }
}

/// Pass messages on until every flow of the phase has ended.
#[inline(never)]
fn hot_relay<P: MessagePort>(link: &mut Wired<P>, store: &mut Store) -> Result<(), LinkError> {
    while store.done < store.flows {
        link.port.wait(store)?;
        if store.overflow {
            return Err(LinkError::Exhausted("more arrived at once than the relay holds"));
        }
        if store.stranger {
            return Err(LinkError::Corrupt("a message for nobody"));
        }
        for at in 0..store.count {
            let Held {
                to,
                header,
                start,
                len,
            } = store.held[at];
            let payload = &store.bytes[start..start + len];
            while link.port.send_short(to, header, payload)? == Post::Busy {
                // Taking more in would let it pile up here: only what is to leave may move.
                link.port.flush()?;
                link.give_way()?;
            }
        }
        store.held_max_bytes = store.held_max_bytes.max(store.filled);
        (store.filled, store.count) = (0, 0);
    }
    Ok(())
}

/// The rank between the others.
pub struct Relay<P> {
    link: Wired<P>,
    store: Store,
    phase: Phase,
}

impl<P: MessagePort> Relay<P> {
    /// A relay between all peers.
    pub fn new(rank: &Rank, link: Wired<P>) -> Result<Self, MeasureError> {
        let members = rank.peers.len();
        let addressed = rank.case.test.roles() == Some(Roles::Everybody);
        if members < 2 || members > 2 && !addressed {
            return Err(MeasureError::Usage(format!(
                "a relay passes {} on between two ranks, there are {members}",
                rank.case.test.name()
            )));
        }
        let store = Store::new(members, rank.case.test.size_bytes() as usize, addressed);
        let store = store.map_err(|bytes| {
            let bytes = format_size(bytes as u64);
            MeasureError::Memory(format!("cannot allocate {bytes} for messages to pass on"))
        })?;
        Ok(Relay {
            link,
            store,
            phase: Phase::First,
        })
    }
}

impl<P: MessagePort> Body for Relay<P> {
    fn progress(&mut self) -> Result<(), LinkError> {
        self.link.port.flush().map(drop)
    }

    fn begin(&mut self, phase: Phase) -> Result<(), LinkError> {
        self.phase = phase;
        self.store.restart();
        Ok(())
    }

    /// Of an exchange, what comes first ends with the warm-up.
    fn step(&mut self, _: u64, _: bool) -> Result<bool, LinkError> {
        if !(self.store.addressed && self.phase == Phase::First) {
            hot_relay(&mut self.link, &mut self.store)?;
        }
        Ok(true)
    }

    fn settling(&self) -> u64 {
        if self.store.addressed { 0 } else { 1 }
    }

    fn close(&mut self, _: Phase) -> Result<(), LinkError> {
        self.link.drain()
    }

    fn done(&self) -> u64 {
        self.store.passed.messages
    }

    /// What passes is neither its own to send nor to receive.
    fn tally(&self) -> Tally {
        Tally::default()
    }

    fn finish(self: Box<Self>) -> Left {
        let mut left = Left::new(Vec::new(), self.link.port.facts());
        left.note("passed_messages", self.store.passed.messages);
        left.note("held_max_bytes", self.store.held_max_bytes as u64);
        left
    }
}
