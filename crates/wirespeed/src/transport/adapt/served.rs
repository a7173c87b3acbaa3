//! What an emulated one-sided port does with arrivals: as a target it applies operations to its region and notes the
//! replies that are due, as an origin it takes replies to its own.
//!
//! Everything from a peer is checked against the region and against what was asked for. A handler cannot send: replies
//! wait in queues of fixed size until the port has them sent.

use super::fixed_queue::FixedQueue;
use crate::sync::SharedBytes;
use crate::transport::port::{AtomicOp, LinkError, OnMessage, Width, WordOp};

const OP_SHIFT: u32 = 60;
const WIDE: u64 = 1 << 59;
const OFFSET: u64 = WIDE - 1;

/// Bytes that the header of a request or reply may count up to.
const COUNT: u64 = (1 << OP_SHIFT) - 1;

/// What a message is for: the upper four bits of its header. The others are the offset in the region (with the width
/// of a word) or a count.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Kind {
    /// Write the payload.
    Put = 1,
    /// Add the operand.
    Add = 2,
    /// Add and fetch.
    FetchAdd = 3,
    /// Swap and fetch.
    Swap = 4,
    /// Compare, swap and fetch.
    CompareSwap = 5,
    /// Read; the payload is the length.
    Get = 6,
    /// What was read.
    Data = 7,
    /// What was fetched.
    Value = 8,
    /// Say how many puts and additions have been applied.
    Ask = 9,
    /// So many.
    Applied = 10,
}

impl Kind {
    fn of(header: u64) -> Option<Kind> {
        use Kind::*;
        [
            Put,
            Add,
            FetchAdd,
            Swap,
            CompareSwap,
            Get,
            Data,
            Value,
            Ask,
            Applied,
        ]
        .into_iter()
        .find(|kind| *kind as u64 == header >> OP_SHIFT)
    }

    /// The kind of an atomic operation.
    #[inline(always)]
    pub fn of_atomic(op: AtomicOp) -> Kind {
        match op {
            AtomicOp::Add => Kind::Add,
            AtomicOp::FetchAdd => Kind::FetchAdd,
            AtomicOp::Swap => Kind::Swap,
            AtomicOp::CompareSwap => Kind::CompareSwap,
        }
    }

    /// A header with a count.
    #[inline(always)]
    pub fn with_count(self, count: u64) -> u64 {
        ((self as u64) << OP_SHIFT) | (count & COUNT)
    }

    /// A header with an offset in the region and the width of a word there.
    #[inline(always)]
    pub fn with_offset(self, offset: usize, width: Width) -> Result<u64, LinkError> {
        if offset as u64 > OFFSET {
            return Err(LinkError::Unsupported("an offset beyond any region"));
        }
        let wide = if width == Width::W8 { WIDE } else { 0 };
        Ok(((self as u64) << OP_SHIFT) | wide | offset as u64)
    }
}

/// What a reply is for, in the order of the requests.
#[derive(Clone, Copy)]
pub enum Awaited {
    /// Data for the local memory.
    Get {
        /// Where to.
        to: usize,
        /// How many bytes.
        len: usize,
    },
    /// A value.
    Fetch {
        /// Where to.
        slot: usize,
    },
}

/// A reply that is due.
#[derive(Clone, Copy)]
pub enum Reply {
    /// Bytes of the region.
    Data {
        /// Where from.
        from: usize,
        /// How many.
        len: usize,
    },
    /// The value from before.
    Value(u64),
}

/// One peer, as origin and as target.
pub struct Peer {
    /// Puts and additions sent to it.
    pub sent: u64,
    /// How many of them it was last asked about.
    pub asked: u64,
    /// How many of them it has applied, as far as is known.
    pub applied: u64,
    /// Replies that it owes.
    pub awaited: FixedQueue<Awaited>,
    /// Its puts and additions that were applied here.
    pub served: u64,
    /// Replies owed to it.
    pub replies: FixedQueue<Reply>,
    /// Whether it waits to hear how many were applied.
    pub asks: bool,
}

impl Peer {
    /// With room for `outstanding` requests each way.
    pub fn new(outstanding: usize) -> Self {
        Peer {
            sent: 0,
            asked: 0,
            applied: 0,
            awaited: FixedQueue::new(outstanding),
            served: 0,
            replies: FixedQueue::new(outstanding),
            asks: false,
        }
    }
}

/// The memory and queues of a port.
pub struct Served {
    /// What peers may write and read.
    pub region: SharedBytes,
    /// Where gets land.
    pub local: SharedBytes,
    /// Values fetched, by slot.
    pub fetched: Vec<u64>,
    /// By slot.
    pub peers: Vec<Peer>,
    /// Requests that one rank may have outstanding with another.
    pub outstanding_max: usize,
    /// Largest put or get.
    pub transfer_bytes_max: usize,
    /// Operations that were completed by a reply.
    pub completed: u64,
    /// Gets that await their data, over all peers.
    pub gets_awaited: usize,
    /// Replies that are due, over all peers.
    pub due: usize,
    /// What a peer did wrong.
    pub fault: Option<LinkError>,
}

const OUT_OF_REGION: &str = "an operation outside of the region";
const BAD_OPERAND: &str = "an operand of the wrong length";
const UNASKED: &str = "a reply that nobody asked for";

impl OnMessage for Served {
    #[inline(always)]
    fn message(&mut self, peer: usize, header: u64, payload: &[u8]) {
        let applied = if header >> OP_SHIFT == Kind::Put as u64 {
            self.put(peer, header, payload)
        } else {
            self.other(peer, header, payload)
        };
        if let Err(what) = applied {
            self.fault = Some(LinkError::Corrupt(what));
        }
    }
}

fn word_of(payload: &[u8], index: usize) -> Result<u64, &'static str> {
    payload
        .get(index * 8..index * 8 + 8)
        .and_then(|bytes| bytes.try_into().ok())
        .map(u64::from_le_bytes)
        .ok_or(BAD_OPERAND)
}

impl Served {
    /// The offset of `header`, where `len` bytes fit.
    #[inline(always)]
    fn offset(&self, header: u64, len: usize) -> Result<usize, &'static str> {
        let offset = (header & OFFSET) as usize;
        match self.region.place(offset, len) {
            Some(_) => Ok(offset),
            None => Err(OUT_OF_REGION),
        }
    }

    #[inline(always)]
    fn put(&mut self, peer: usize, header: u64, payload: &[u8]) -> Result<(), &'static str> {
        let offset = self.offset(header, payload.len())?;
        self.region.write(offset, payload);
        self.peers[peer].served += 1;
        Ok(())
    }

    fn other(&mut self, peer: usize, header: u64, payload: &[u8]) -> Result<(), &'static str> {
        match Kind::of(header).ok_or("an unknown operation")? {
            Kind::Put => self.put(peer, header, payload),
            Kind::Add => self.atomic(AtomicOp::Add, peer, header, payload),
            Kind::FetchAdd => self.atomic(AtomicOp::FetchAdd, peer, header, payload),
            Kind::Swap => self.atomic(AtomicOp::Swap, peer, header, payload),
            Kind::CompareSwap => self.atomic(AtomicOp::CompareSwap, peer, header, payload),
            Kind::Get => {
                let len = usize::try_from(word_of(payload, 0)?).map_err(|_| OUT_OF_REGION)?;
                let from = self.offset(header, len)?;
                if len > self.transfer_bytes_max {
                    return Err("a get longer than agreed");
                }
                self.reply(peer, Reply::Data { from, len })
            }
            Kind::Data => self.take_data(peer, payload),
            Kind::Value => self.take_value(peer, payload),
            Kind::Ask => {
                if !std::mem::replace(&mut self.peers[peer].asks, true) {
                    self.due += 1;
                }
                Ok(())
            }
            Kind::Applied => {
                let count = header & COUNT;
                let peer = &mut self.peers[peer];
                if count > peer.sent || count < peer.applied {
                    return Err("an impossible count of operations");
                }
                peer.applied = count;
                Ok(())
            }
        }
    }

    fn reply(&mut self, peer: usize, reply: Reply) -> Result<(), &'static str> {
        if !self.peers[peer].replies.push(reply) {
            return Err("more requests outstanding than agreed");
        }
        self.due += 1;
        Ok(())
    }

    fn atomic(&mut self, op: AtomicOp, peer: usize, header: u64, payload: &[u8]) -> Result<(), &'static str> {
        let width = if header & WIDE != 0 { Width::W8 } else { Width::W4 };
        let offset = self.offset(header, width.bytes())?;
        if !offset.is_multiple_of(width.bytes()) {
            return Err("a word that is not aligned");
        }
        let operand = word_of(payload, 0)?;
        let compare = match op {
            AtomicOp::CompareSwap => word_of(payload, 1)?,
            _ => 0,
        };
        let before = WordOp::new(op, width, offset, operand, compare, 0).apply(&self.region);
        if op == AtomicOp::Add {
            self.peers[peer].served += 1;
            return Ok(());
        }
        self.reply(peer, Reply::Value(before))
    }

    fn take_data(&mut self, peer: usize, payload: &[u8]) -> Result<(), &'static str> {
        match self.peers[peer].awaited.pop() {
            Some(Awaited::Get { to, len }) if len == payload.len() => {
                self.local.write(to, payload);
                self.gets_awaited -= 1;
                self.completed += 1;
                Ok(())
            }
            _ => Err(UNASKED),
        }
    }

    fn take_value(&mut self, peer: usize, payload: &[u8]) -> Result<(), &'static str> {
        let value = word_of(payload, 0)?;
        match self.peers[peer].awaited.pop() {
            Some(Awaited::Fetch { slot }) => {
                self.fetched[slot] = value;
                self.completed += 1;
                Ok(())
            }
            _ => Err(UNASKED),
        }
    }
}
