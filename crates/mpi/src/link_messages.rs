//! The port of active messages: an envelope of an 8-byte header and the payload in one MPI message, received into
//! receives that are posted ahead. The library's own flow control holds back what finds none.
//!
//! A zero-copy message is two: an envelope that announces it, and the payload straight from the registered memory on a
//! communicator of its own, for which the receive is posted when the announcement comes. Messages are handled in the
//! order of their envelopes.

use crate::link::{Comm, abandon};
use crate::link_error::cold_error;
use crate::link_ring::Ring;
use core::ffi::c_int;
use std::time::Duration;
use wirespeed::sync::{SharedBytes, copy};
use wirespeed::transport::port::{Facts, LinkError, MessagePort, OnMessage, Post, Posted};
use wirespeed::transport::waiter::Waiter;
use wirespeed::transport::{Connect, ConnectError, buffer};
use wirespeed_mpi_sys::{Handle, Mpi, SUCCESS, Status};

/// Largest message: counts of `int` with room for the header.
pub const MESSAGE_BYTES_MAX: u64 = 1 << 30;

/// Tag of an envelope with its payload inside.
const WHOLE: c_int = 1;
/// Tag of an envelope whose payload comes apart; the length follows the header.
const ANNOUNCED: c_int = 2;
const HEADER_BYTES: usize = 8;
const ANNOUNCEMENT_BYTES: usize = 16;

/// Memory for each ring of envelopes, unless that holds fewer than [`RING_MIN`].
const RING_BYTES: usize = 32 << 20;
const RING_MIN: usize = 4;
const RING_MAX: usize = 256;
/// Zero-copy messages under way in each direction.
const LANDINGS: usize = 4;
const COPIES_MAX: usize = 64;
/// Messages that one call handles at most.
const BATCH: usize = 64;
/// Looks, a millisecond apart, at sends that a port which is closed has still under way.
const LAST_LOOKS: u32 = 1000;

/// A payload that was announced.
#[derive(Clone, Copy, Default)]
struct Announced {
    peer: usize,
    header: u64,
    len: usize,
}

/// A port on two communicators.
pub struct MessageLink<H: Handle> {
    envelopes: Comm<H>,
    payloads: Comm<H>,
    peers: Vec<c_int>,
    /// Slot of a peer by its rank.
    slots: Vec<usize>,
    /// The only peer, else any.
    source: c_int,
    envelope_bytes: usize,
    receives: Ring<H>,
    sends: Ring<H>,
    landings: Ring<H>,
    announced: [Announced; LANDINGS],
    copies: Ring<H>,
    buffer: Option<SharedBytes>,
    completed: u64,
    waiter: Waiter,
    failed: bool,
}

impl<H: Handle> MessageLink<H> {
    /// Open it for the sizes that `ctx` needs.
    pub fn open(mpi: &'static Mpi<H>, ctx: &Connect) -> Result<Self, ConnectError> {
        let needs = &ctx.needs;
        let null = mpi.constants.request_null;
        let envelope_bytes = (HEADER_BYTES + needs.message_bytes).max(ANNOUNCEMENT_BYTES);
        let count = (RING_BYTES / envelope_bytes).clamp(RING_MIN, RING_MAX);
        let zcopy = needs.buffer_bytes > 0;
        let landing_bytes = if zcopy { needs.message_bytes } else { 0 };
        let registered = zcopy.then(|| buffer("the registered buffer", needs.buffer_bytes));
        let size = ctx.bootstrap.size() as usize;
        let mut slots = vec![usize::MAX; size];
        for (slot, rank) in ctx.peers.iter().enumerate() {
            slots[*rank as usize] = slot;
        }
        let peers: Vec<c_int> = ctx.peers.iter().map(|rank| *rank as c_int).collect();
        let mut link = MessageLink {
            source: if let [only] = peers[..] {
                only
            } else {
                mpi.constants.any_source
            },
            envelopes: Comm::duplicate(mpi, &ctx.cancel)?,
            payloads: Comm::duplicate(mpi, &ctx.cancel)?,
            peers,
            slots,
            envelope_bytes,
            receives: Ring::new(count, envelope_bytes, null, "receives posted ahead")?,
            sends: Ring::new(count, envelope_bytes, null, "messages to send")?,
            landings: Ring::new(LANDINGS, landing_bytes, null, "zero-copy receives")?,
            announced: [Announced::default(); LANDINGS],
            copies: Ring::new(COPIES_MAX, 0, null, "zero-copy sends")?,
            buffer: registered.transpose()?,
            completed: 0,
            waiter: ctx.waiter(),
            failed: false,
        };
        if !link.peers.is_empty() {
            while !link.receives.is_full() {
                link.post_receive()
                    .map_err(|e| ConnectError::Other(e.to_string()))?;
            }
        }
        Ok(link)
    }

    #[inline(always)]
    fn checked(&mut self, op: &'static str, code: c_int) -> Result<(), LinkError> {
        if code == SUCCESS {
            return Ok(());
        }
        self.failed = true;
        Err(cold_error(self.envelopes.mpi, op, code))
    }

    /// Post the next receive of the ring.
    #[inline(always)]
    fn post_receive(&mut self) -> Result<(), LinkError> {
        let any_tag = self.envelopes.mpi.constants.any_tag;
        let (receives, len) = (&mut self.receives, self.envelope_bytes);
        // SAFETY: the ring has places of so many bytes, and one that is free: the first time, or the one just handled.
        let code = unsafe { receives.receive(&self.envelopes, len, self.source, any_tag) };
        self.checked("MPI_Irecv", code)
    }

    /// Forget sends that are done, in order.
    #[inline(always)]
    fn reclaim(&mut self) -> Result<(), LinkError> {
        let mut status = Status::EMPTY;
        while self.sends.under_way > 0 {
            match self.sends.oldest_done(self.envelopes.mpi, &mut status) {
                Ok(true) => self.sends.forget_first(),
                Ok(false) => break,
                Err(code) => return self.checked("MPI_Isend", code),
            }
        }
        while self.copies.under_way > 0 {
            match self.copies.oldest_done(self.payloads.mpi, &mut status) {
                Ok(true) => {
                    self.copies.forget_first();
                    self.completed += 1;
                }
                Ok(false) => break,
                Err(code) => return self.checked("MPI_Isend", code),
            }
        }
        Ok(())
    }

    /// Whether all sends completed. Nobody waited for the answers that this rank gave while it met the others for the last
    /// time; on a busy machine the library may not be done with them.
    fn settle(&mut self) -> bool {
        for _ in 0..LAST_LOOKS {
            if self.failed || self.waiter.look().is_err() || self.reclaim().is_err() {
                return false;
            }
            if self.sends.under_way + self.copies.under_way == 0 {
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    }

    /// Send an envelope of `HEADER_BYTES + len` bytes whose rest `pack` fills.
    #[inline(always)]
    fn send(
        &mut self,
        peer: usize,
        tag: c_int,
        header: u64,
        len: usize,
        pack: impl FnOnce(&mut [u8]),
    ) -> Posted {
        if self.sends.is_full() {
            self.reclaim()?;
            if self.sends.is_full() {
                return Ok(Post::Busy);
            }
        }
        if len > self.envelope_bytes - HEADER_BYTES {
            return Err(LinkError::Unsupported(
                "a message longer than the port was opened for",
            ));
        }
        let index = self.sends.next();
        let at = index * self.sends.stride;
        self.sends.memory.write(at, &header.to_le_bytes());
        if len > 0 {
            // SAFETY: no request that is under way uses this place, so nobody else touches it.
            unsafe { self.sends.memory.pack(at + HEADER_BYTES, len, pack) };
        }
        let envelope = (self.sends.at(index).cast_const(), HEADER_BYTES + len);
        // SAFETY: the place is free, holds the envelope and is left alone until the request is done; the ring outlives it.
        let code = unsafe { self.sends.send(&self.envelopes, envelope, self.peers[peer], tag) };
        self.checked("MPI_Isend", code)?;
        Ok(Post::Done)
    }

    /// Take the oldest envelope, if it has come. Returns whether one was handled or a landing was posted.
    #[inline(always)]
    fn take<O: OnMessage>(&mut self, on: &mut O) -> Result<bool, LinkError> {
        let mut status = Status::EMPTY;
        match self.receives.oldest_done(self.envelopes.mpi, &mut status) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(code) => return self.checked("MPI_Irecv", code).map(|()| false),
        }
        let (f, c) = (&self.envelopes.mpi.functions, &self.envelopes.mpi.constants);
        let mut count: c_int = 0;
        // SAFETY: the status of a receive of bytes that is done.
        let code = unsafe { (f.get_count)(&status, c.byte, &mut count) };
        let (rank, tag) = (c.source(&status), c.tag(&status));
        self.checked("MPI_Get_count", code)?;
        let peer = self.slots.get(rank as usize).copied().unwrap_or(usize::MAX);
        let index = self.receives.first;
        let len = (count as usize).wrapping_sub(HEADER_BYTES);
        if peer == usize::MAX || len > self.envelope_bytes - HEADER_BYTES {
            self.failed = true;
            return Err(LinkError::Corrupt("an envelope that is none"));
        }
        let at = index * self.receives.stride;
        let mut header = [0; HEADER_BYTES];
        self.receives.memory.read(at, &mut header);
        let header = u64::from_le_bytes(header);
        if tag == WHOLE {
            let place = self.receives.at(index).wrapping_add(HEADER_BYTES);
            // SAFETY: the receive is done, so the library no longer writes here, and the place is only posted again after
            // the handler; `len` bytes of it were received.
            on.message(peer, header, unsafe { core::slice::from_raw_parts(place, len) });
        } else {
            self.cold_announced(peer, header, at + HEADER_BYTES)?;
        }
        self.receives.forget_first();
        self.post_receive()?;
        Ok(true)
    }

    /// An announcement: post the receive of its payload. There is a free landing: the caller has looked.
    #[cold]
    #[inline(never)]
    fn cold_announced(&mut self, peer: usize, header: u64, at: usize) -> Result<(), LinkError> {
        let mut len = [0; 8];
        self.receives.memory.read(at, &mut len);
        let len = u64::from_le_bytes(len) as usize;
        if len > self.landings.stride {
            self.failed = true;
            return Err(LinkError::Corrupt("an announcement of more than was agreed"));
        }
        self.announced[self.landings.next()] = Announced { peer, header, len };
        let from = self.peers[peer];
        // SAFETY: a place is free, and has room for `len` bytes.
        let code = unsafe { self.landings.receive(&self.payloads, len, from, WHOLE) };
        self.checked("MPI_Irecv", code)
    }

    /// Hand over the oldest announced payload, if it has come.
    fn land<O: OnMessage>(&mut self, on: &mut O) -> Result<bool, LinkError> {
        let mut status = Status::EMPTY;
        match self.landings.oldest_done(self.payloads.mpi, &mut status) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(code) => return self.checked("MPI_Irecv", code).map(|()| false),
        }
        let index = self.landings.first;
        let Announced { peer, header, len } = self.announced[index];
        // SAFETY: the receive is done, and the place is used again only after the handler.
        on.message(peer, header, unsafe {
            core::slice::from_raw_parts(self.landings.at(index), len)
        });
        self.landings.forget_first();
        Ok(true)
    }

    /// Whether the oldest envelope may be looked at: one with its payload must not overtake announced ones.
    #[inline(always)]
    fn may_take(&self) -> bool {
        self.landings.under_way == 0
    }
}

impl<H: Handle> MessagePort for MessageLink<H> {
    const SLOW: bool = true;
    const ZCOPY: bool = true;

    #[inline(always)]
    fn send_bcopy(&mut self, peer: usize, header: u64, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        self.send(peer, WHOLE, header, len, pack)
    }

    #[inline(always)]
    fn send_zcopy(&mut self, peer: usize, header: u64, offset: usize, len: usize) -> Posted {
        if self.copies.is_full() {
            self.reclaim()?;
            if self.copies.is_full() {
                return Ok(Post::Busy);
            }
        }
        let Some(place) = self.buffer.as_ref().and_then(|buffer| buffer.place(offset, len)) else {
            return Err(LinkError::Unsupported("a range outside of the buffer"));
        };
        let announcement = (len as u64).to_le_bytes();
        let announced = self.send(peer, ANNOUNCED, header, 8, |room| copy(&announcement, room))?;
        if announced == Post::Busy {
            return Ok(Post::Busy);
        }
        let (data, to) = ((place.cast_const(), len), self.peers[peer]);
        // SAFETY: the range lies in the buffer, which the engine leaves alone until the send is counted as completed.
        let code = unsafe { self.copies.send(&self.payloads, data, to, WHOLE) };
        self.checked("MPI_Isend", code)?;
        Ok(Post::Done)
    }

    #[inline(always)]
    fn zcopy_completed(&self) -> u64 {
        self.completed
    }

    #[inline(always)]
    fn buffer(&mut self) -> Option<&SharedBytes> {
        self.buffer.as_ref()
    }

    #[inline(always)]
    fn poll<O: OnMessage>(&mut self, on: &mut O) -> Result<usize, LinkError> {
        let mut handled = 0;
        if self.copies.under_way > 0 {
            self.reclaim()?;
        }
        while self.landings.under_way > 0 && self.land(on)? {
            handled += 1;
        }
        if self.peers.is_empty() {
            return Ok(0);
        }
        while handled < BATCH && self.may_take() && self.take(on)? {
            handled += 1;
        }
        Ok(handled)
    }

    #[inline(always)]
    fn wait<O: OnMessage>(&mut self, on: &mut O) -> Result<usize, LinkError> {
        let handled = self.poll(on)?;
        if handled > 0 {
            return Ok(handled);
        }
        self.waiter.idle()?;
        Ok(0)
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        self.reclaim()?;
        let flushed = self.sends.under_way == 0 && self.copies.under_way == 0;
        if flushed {
            // No test of a request gave the library a turn, and what this rank received may not be done for its sender.
            let code = self.envelopes.turn();
            self.checked("MPI_Iprobe", code)?;
        }
        Ok(flushed)
    }

    fn facts(&self) -> Facts {
        let mut facts = crate::options::facts();
        facts.insert(
            "receives_posted_ahead".into(),
            self.receives.requests.len().to_string(),
        );
        facts.insert(
            "matching".into(),
            if self.peers.len() == 1 {
                "by source"
            } else {
                "MPI_ANY_SOURCE"
            }
            .into(),
        );
        if self.buffer.is_some() {
            facts.insert(
                "zcopy".into(),
                "an envelope, then the payload from user memory".into(),
            );
        }
        facts
    }
}

impl<H: Handle> Drop for MessageLink<H> {
    fn drop(&mut self) {
        let mpi = self.envelopes.mpi;
        if self.settle() && self.landings.under_way == 0 && self.receives.cancel_all(mpi) {
            return;
        }
        // The library may still use all of it.
        self.envelopes.quiet = false;
        self.payloads.quiet = false;
        for ring in [
            &mut self.receives,
            &mut self.sends,
            &mut self.landings,
            &mut self.copies,
        ] {
            abandon(ring.memory.clone());
            abandon(std::mem::take(&mut ring.requests));
        }
        abandon(self.buffer.take());
    }
}
