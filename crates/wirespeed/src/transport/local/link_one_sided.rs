//! Put, get and atomics on a region that both ranks have mapped: stores, loads and locked instructions.
//!
//! It must never let the last byte of a put be seen before the others: the target polls it.

use super::meet::{self, Medium};
use crate::sync::SharedBytes;
use crate::transport::port::{AtomicOp, Facts, LinkError, OneSidedPort, Post, Posted, WordOp};
use crate::transport::waiter::Waiter;
use crate::transport::{Connect, ConnectError, OneSidedRunner, Ran, buffer};
use core::sync::atomic::Ordering::{Release, SeqCst};
use core::sync::atomic::fence;

/// Map all peers' regions and run on them.
pub fn open_one_sided<M: Medium, R: OneSidedRunner>(ctx: &Connect, medium: &M, runner: R) -> Ran<R::Output> {
    let met = meet::meet(ctx, medium, 0, ctx.needs.region_bytes)?;
    let mut facts = met.facts;
    let local = buffer("the local buffer", ctx.needs.buffer_bytes)?;
    let regions: Vec<_> = met.peers.iter().map(|peer| peer.segment.region()).collect();
    let region_bytes = ctx.needs.region_bytes;
    // Operations go wherever this rank's layout says.
    if let Some(slot) = regions.iter().position(|region| region.len() != region_bytes) {
        return Err(ConnectError::BadPeer {
            rank: ctx.peers[slot],
            what: format!("its region has {} bytes, not {region_bytes}", regions[slot].len()),
        });
    }
    facts.insert("one_sided".into(), "loads, stores and atomics of the CPU".into());
    facts.insert("wait".into(), "poll".into());
    Ok(runner.run(RegionPort {
        own: met.own.region(),
        regions,
        local,
        staging: vec![0; region_bytes],
        fetched: vec![0; ctx.needs.fetch_slots],
        completed: 0,
        waiter: ctx.waiter(),
        facts,
    }))
}

/// The mapped regions of all peers.
pub struct RegionPort {
    own: SharedBytes,
    regions: Vec<SharedBytes>,
    local: SharedBytes,
    /// Where `put_bcopy` packs: a packer may write its bytes in any order, the region must see the last one last.
    staging: Vec<u8>,
    fetched: Vec<u64>,
    completed: u64,
    waiter: Waiter,
    facts: Facts,
}

/// Copy `data` to `to` with its last byte seen last. An aligned word is one store.
#[inline(always)]
fn put(region: &SharedBytes, to: usize, data: &[u8]) {
    if let Ok(word) = <[u8; 8]>::try_from(data)
        && to.is_multiple_of(8)
    {
        return region.u64_at(to).store(u64::from_ne_bytes(word), Release);
    }
    if let Some((&last, rest)) = data.split_last() {
        region.write(to, rest);
        region.store_u8(to + rest.len(), last);
    }
}

impl OneSidedPort for RegionPort {
    #[inline(always)]
    fn put_short(&mut self, peer: usize, to: usize, data: &[u8]) -> Posted {
        put(&self.regions[peer], to, data);
        Ok(Post::Done)
    }

    #[inline(always)]
    fn put_bcopy(&mut self, peer: usize, to: usize, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        let staged = &mut self.staging[..len];
        pack(staged);
        put(&self.regions[peer], to, staged);
        Ok(Post::Done)
    }

    #[inline(always)]
    fn get_bcopy(&mut self, peer: usize, from: usize, to: usize, len: usize) -> Posted {
        self.local.copy_from(to, &self.regions[peer], from, len);
        self.completed += 1;
        Ok(Post::Done)
    }

    #[inline(always)]
    fn atomic(&mut self, peer: usize, asked: WordOp) -> Posted {
        let before = asked.apply(&self.regions[peer]);
        if asked.op == AtomicOp::Add {
            return Ok(Post::Done);
        }
        self.fetched[asked.slot] = before;
        self.completed += 1;
        Ok(Post::Done)
    }

    #[inline(always)]
    fn fetched(&self, slot: usize) -> u64 {
        self.fetched[slot]
    }

    #[inline(always)]
    fn completed(&self) -> u64 {
        self.completed
    }

    #[inline(always)]
    fn fence(&mut self) -> Posted {
        fence(SeqCst);
        Ok(Post::Done)
    }

    #[inline(always)]
    fn flush(&mut self) -> Result<bool, LinkError> {
        // Every store has left the store buffer when a full fence is through.
        fence(SeqCst);
        Ok(true)
    }

    #[inline(always)]
    fn poll(&mut self) -> Result<(), LinkError> {
        Ok(())
    }

    #[inline(always)]
    fn wait(&mut self) -> Result<(), LinkError> {
        self.waiter.idle()
    }

    #[inline(always)]
    fn region(&self) -> &SharedBytes {
        &self.own
    }

    #[inline(always)]
    fn local(&self) -> &SharedBytes {
        &self.local
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }
}
