//! How ranks hand each other their memory: each makes one segment, tells where it is, and opens those of its peers.
//!
//! A segment is a page with a random magic and a doorbell, then a body: one ring for each peer, or the exposed region.
//! It must never be used before its magic has been compared with what its owner said.

use super::place::Place;
use crate::sync::ring::{self, RingMemory};
use crate::sync::{Doorbell, SharedBytes};
use crate::transport::port::Facts;
use crate::transport::{Connect, ConnectError};
use serde::{Deserialize, Serialize};

/// Bytes before the body: one page.
const HEAD_BYTES: usize = 4096;
const BELL_AT: usize = 64;

/// Where a rank's segment is and what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The process.
    pub place: Place,
    /// Where in the process: the medium's own number.
    pub handle: u64,
    /// Size of the segment.
    pub segment_bytes: usize,
    /// What its first bytes hold.
    magic: [u8; 16],
    /// The rank's peers: the ring of each is at its index.
    peers: Vec<u32>,
    /// Capacity of each ring; 0 for none.
    ring_bytes: usize,
    /// Size of the exposed region; 0 for none.
    region_bytes: usize,
}

/// Where the memory of a transport comes from.
pub trait Medium {
    /// True when all its ranks are threads of one process.
    const PRIVATE: bool;
    /// Keeps the segment open to peers until all have it.
    type Offer;

    /// New zeroed memory of at least `len` bytes for `peers` peers to open: the memory, its offer, and its handle.
    fn offer(&self, len: usize, peers: usize) -> Result<(SharedBytes, Self::Offer, u64), ConnectError>;

    /// What the result should say about it.
    fn facts(offer: &Self::Offer) -> Facts {
        let _ = offer;
        Facts::new()
    }

    /// Open the memory of `rank` at `address`.
    fn take(&self, rank: u32, here: &Place, address: &Address) -> Result<SharedBytes, ConnectError>;
}

/// A rank's segment.
#[derive(Clone)]
pub struct Segment {
    bytes: SharedBytes,
    ring_bytes: usize,
    region_bytes: usize,
}

impl Segment {
    /// The bell of its owner.
    pub fn bell(&self, private: bool) -> Doorbell {
        Doorbell::new(self.bytes.slice(BELL_AT, Doorbell::SIZE_BYTES), private)
    }

    /// The ring into its owner from the peer with this slot there. Bounds were checked when the segment was opened.
    pub fn ring(&self, slot: usize) -> Result<RingMemory, ConnectError> {
        let size = RingMemory::size_bytes(self.ring_bytes);
        // Without this a peer that said 0 bytes would send us behind the end of its segment.
        (self.ring_bytes > 0)
            .then(|| RingMemory::new(self.bytes.slice(HEAD_BYTES + slot * size, size)))
            .flatten()
            .ok_or_else(|| ConnectError::Other(format!("a ring cannot have {} bytes", self.ring_bytes)))
    }

    /// The region that its owner exposes.
    pub fn region(&self) -> SharedBytes {
        self.bytes.slice(HEAD_BYTES, self.region_bytes)
    }
}

/// A peer's segment.
pub struct Peer {
    /// It.
    pub segment: Segment,
    /// This rank's slot there.
    pub slot: usize,
}

/// What [`meet`] gives.
pub struct Met {
    /// This rank's segment.
    pub own: Segment,
    /// Those of its peers, by slot.
    pub peers: Vec<Peer>,
    /// What the medium says about the own segment.
    pub facts: Facts,
}

/// Make a segment with `ring_bytes` for every peer, or `region_bytes`, and open the peers'. Collective.
pub fn meet<M: Medium>(
    ctx: &Connect,
    medium: &M,
    ring_bytes: usize,
    region_bytes: usize,
) -> Result<Met, ConnectError> {
    let rings = if ring_bytes == 0 { 0 } else { ctx.peers.len() };
    let segment_bytes = segment_bytes(rings, ring_bytes, region_bytes).ok_or(ConnectError::Memory {
        what: "the shared segment",
        bytes: u64::MAX,
    })?;
    let mut sorted = ctx.peers.to_vec();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(ConnectError::Other("a rank is its own rank's peer twice".into()));
    }
    let here = Place::here()?;
    let (bytes, offer, handle) = medium.offer(segment_bytes, ctx.peers.len())?;
    let mut magic = [0; 16];
    rustix::rand::getrandom(&mut magic[..], rustix::rand::GetRandomFlags::empty())
        .map_err(|e| ConnectError::os("getrandom", e.into()))?;
    bytes.write(0, &magic);
    let own = Segment {
        ring_bytes,
        region_bytes,
        bytes,
    };
    let address = Address {
        place: here.clone(),
        handle,
        segment_bytes: own.bytes.len(),
        magic,
        peers: ctx.peers.to_vec(),
        ring_bytes,
        region_bytes,
    };
    let addresses = ctx.exchange_addresses(&address)?;
    let me = ctx.bootstrap.rank();
    let peers = ctx
        .peers
        .iter()
        .zip(&addresses)
        .map(|(&rank, address)| open_peer(medium, me, rank, &here, address))
        .collect::<Result<Vec<_>, _>>()?;
    // After this everybody has everybody's memory, and the offer ends.
    ctx.exchange(&[])?;
    let facts = M::facts(&offer);
    Ok(Met { own, peers, facts })
}

fn segment_bytes(rings: usize, ring_bytes: usize, region_bytes: usize) -> Option<usize> {
    if ring_bytes > ring::CAPACITY_MAX {
        return None;
    }
    rings
        .checked_mul(RingMemory::size_bytes(ring_bytes))?
        .checked_add(region_bytes)?
        .checked_add(HEAD_BYTES)?
        .checked_next_multiple_of(HEAD_BYTES)
}

fn open_peer<M: Medium>(
    medium: &M,
    me: u32,
    rank: u32,
    here: &Place,
    address: &Address,
) -> Result<Peer, ConnectError> {
    let bad = |what: String| ConnectError::BadPeer { rank, what };
    let slot = address.peers.iter().position(|&peer| peer == me);
    let slot = slot.ok_or_else(|| bad(format!("rank {me} is none of its peers")))?;
    let rings = if address.ring_bytes == 0 {
        0
    } else {
        address.peers.len()
    };
    let needed = segment_bytes(rings, address.ring_bytes, address.region_bytes);
    if needed.is_none_or(|bytes| bytes > address.segment_bytes) {
        return Err(bad("a segment smaller than what is in it".into()));
    }
    let bytes = medium.take(rank, here, address)?;
    let mut magic = [0; 16];
    bytes.read(0, &mut magic);
    if magic != address.magic || bytes.len() != address.segment_bytes {
        return Err(bad("another segment than it said".into()));
    }
    let segment = Segment {
        bytes,
        ring_bytes: address.ring_bytes,
        region_bytes: address.region_bytes,
    };
    Ok(Peer { segment, slot })
}
