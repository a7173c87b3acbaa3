//! The port of put, get and atomics: MPI-3 windows under `MPI_Win_lock_all` for their whole life.
//!
//! Short and packed puts leave from a ring of memory of the port; the ring is used again after a local flush. Completion
//! is known from `MPI_Win_flush_all`, which `poll` and `wait` call while something is outstanding: the only point at
//! which the standard promises progress of the origin's operations.

use crate::link::{Comm, abandon};
use crate::link_error::cold_error;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use std::sync::Arc;
use wirespeed::sync::SharedBytes;
use wirespeed::transport::port::{AtomicOp, Facts, LinkError, OneSidedPort, Post, Posted, Width, WordOp};
use wirespeed::transport::waiter::Waiter;
use wirespeed::transport::{Connect, ConnectError, buffer};
use wirespeed_mpi_sys::functions::Aint;
use wirespeed_mpi_sys::{Handle, Mpi, SUCCESS};

/// Memory from which short and packed puts leave, unless one put is longer.
const STAGE_BYTES: usize = 1 << 20;
/// Longest piece of one call: a longer put or get is several.
const PIECE: usize = 1 << 30;
const LINE: usize = 64;
/// Puts up to this length arrive as one.
const WORD: usize = 8;
/// Operands of atomics under way.
const OPERANDS: usize = 1024;

/// The exposed memory belongs to the window.
struct Exposed;

/// A window that every rank has made, or the reason why this rank has not.
pub struct Window<H: Handle> {
    comm: Comm<H>,
    win: H,
    base: *mut u8,
    len: usize,
    /// What becomes of the window at its end.
    end: End,
}

/// How a window ends.
#[derive(PartialEq)]
enum End {
    /// Freed, by all of its ranks together.
    Together,
    /// Left to the library: freeing it would wait for ranks that do not come.
    Abandoned,
    /// Left to the library, because some rank has none.
    Refused,
}

impl<H: Handle> Window<H> {
    /// Leave it to the library: the ranks have agreed on another way, since some of them has no window to free.
    pub fn refuse(mut self) {
        self.end = End::Refused;
    }

    /// Make the window. Collective. An error of the library is told apart: the ranks may then agree on another way.
    pub fn allocate(mpi: &'static Mpi<H>, ctx: &Connect) -> Result<Result<Self, String>, ConnectError> {
        let comm = Comm::duplicate(mpi, &ctx.cancel)?;
        let (f, c) = (&mpi.functions, &mpi.constants);
        let len = ctx.needs.region_bytes.max(LINE);
        let mut base: *mut u8 = null_mut();
        let mut win = H::BLANK;
        let refused = |op, code| Ok(Err(cold_error(mpi, op, code).to_string()));
        // SAFETY: all ranks make this call; base and window are written by it.
        let code = unsafe {
            (f.win_allocate)(
                len as Aint,
                1,
                c.info_null,
                comm.handle,
                (&raw mut base).cast(),
                &mut win,
            )
        };
        if code != SUCCESS {
            return refused("MPI_Win_allocate", code);
        }
        // SAFETY: the window was made above.
        let code = unsafe { (f.win_set_errhandler)(win, c.errors_return) };
        if code != SUCCESS {
            return refused("MPI_Win_set_errhandler", code);
        }
        // SAFETY: `len` bytes of this window, which no other rank can reach before the ranks have met again.
        unsafe { base.write_bytes(0, len) };
        // SAFETY: no rank takes an exclusive lock, as the assertion says.
        let code = unsafe { (f.win_lock_all)(c.mode_nocheck, win) };
        if code != SUCCESS {
            return refused("MPI_Win_lock_all", code);
        }
        // SAFETY: the window is locked.
        unsafe { (f.win_sync)(win) };
        Ok(Ok(Window {
            comm,
            win,
            base,
            len,
            end: End::Abandoned,
        }))
    }
}

/// A port on one window.
pub struct OneSidedLink<H: Handle> {
    window: Window<H>,
    peers: Vec<c_int>,
    region: SharedBytes,
    local: SharedBytes,
    stage: SharedBytes,
    staged: usize,
    /// Operand, comparand: a pair for each atomic under way.
    operands: Vec<[u64; 2]>,
    operand: usize,
    fetched: Vec<u64>,
    /// Counted operations that await a flush.
    pending: u64,
    completed: u64,
    /// Something was posted since the last flush.
    dirty: bool,
    /// The library may write the bytes of a put in any order, and a target that checks them looks at the last one: while
    /// payloads are checked, that one is a put of its own.
    last_byte_last: bool,
    waiter: Waiter,
    failed: bool,
}

impl<H: Handle> OneSidedLink<H> {
    /// On a window that every rank has made.
    pub fn new(window: Window<H>, ctx: &Connect) -> Result<Self, ConnectError> {
        let needs = &ctx.needs;
        let stage_bytes = STAGE_BYTES.max(needs.message_bytes.saturating_add(LINE));
        // SAFETY: the window's memory lives until the window is freed, which happens after the last use of the region in
        // the port's drop; a page-aligned allocation of the library. Whoever keeps a clone longer has an engine's bug.
        let region = unsafe { SharedBytes::from_raw(window.base, window.len, Arc::new(Exposed)) };
        Ok(OneSidedLink {
            peers: ctx.peers.iter().map(|rank| *rank as c_int).collect(),
            region,
            local: buffer("the local buffer", needs.buffer_bytes)?,
            stage: buffer("puts on their way", stage_bytes)?,
            staged: 0,
            operands: vec![[0; 2]; OPERANDS],
            operand: 0,
            fetched: vec![0; needs.fetch_slots],
            pending: 0,
            completed: 0,
            dirty: false,
            last_byte_last: ctx.case.check,
            waiter: ctx.waiter(),
            failed: false,
            window,
        })
    }

    #[inline(always)]
    fn checked(&mut self, op: &'static str, code: c_int) -> Result<(), LinkError> {
        if code == SUCCESS {
            return Ok(());
        }
        self.failed = true;
        Err(cold_error(self.window.comm.mpi, op, code))
    }

    #[inline(always)]
    fn check_target(&self, offset: usize, len: usize) -> Result<(), LinkError> {
        // All regions have the same length.
        if offset > self.window.len || len > self.window.len - offset {
            return Err(LinkError::Unsupported("a range outside of the region"));
        }
        Ok(())
    }

    /// Put `len` bytes at `data`, which stay as they are until the next flush.
    #[inline(always)]
    fn put(&mut self, peer: usize, to: usize, data: *const u8, len: usize) -> Result<(), LinkError> {
        self.check_target(to, len)?;
        if self.last_byte_last && len > WORD {
            self.put_pieces(peer, to, data, len - 1)?;
            self.flush_all_puts()?;
            return self.put_pieces(peer, to + len - 1, data.wrapping_add(len - 1), 1);
        }
        self.put_pieces(peer, to, data, len)
    }

    /// As `flush_all`, without counting: a put is under way by half.
    #[inline(never)]
    fn flush_all_puts(&mut self) -> Result<(), LinkError> {
        // SAFETY: the window is locked.
        let code = unsafe { (self.window.comm.mpi.functions.win_flush_all)(self.window.win) };
        self.checked("MPI_Win_flush_all", code)
    }

    #[inline(always)]
    fn put_pieces(&mut self, peer: usize, to: usize, data: *const u8, len: usize) -> Result<(), LinkError> {
        let mpi = self.window.comm.mpi;
        let (f, c) = (&mpi.functions, &mpi.constants);
        let (rank, win) = (self.peers[peer], self.window.win);
        self.in_pieces("MPI_Put", len, |done, piece| {
            let (from, at) = (data.wrapping_add(done).cast(), (to + done) as Aint);
            // SAFETY: `piece` bytes are readable until the next flush; the target's range was checked.
            unsafe { (f.put)(from, piece, c.byte, rank, at, piece, c.byte, win) }
        })
    }

    /// Have `call` move `len` bytes: it gets how many went before, and how many are to go now.
    #[inline(always)]
    fn in_pieces(
        &mut self,
        op: &'static str,
        len: usize,
        call: impl Fn(usize, c_int) -> c_int,
    ) -> Result<(), LinkError> {
        let mut done = 0;
        loop {
            let piece = (len - done).min(PIECE);
            self.checked(op, call(done, piece as c_int))?;
            done += piece;
            if done == len {
                break;
            }
        }
        self.dirty = true;
        Ok(())
    }

    /// A place of `len` bytes in the stage that no put under way uses.
    #[inline(always)]
    fn place(&mut self, len: usize) -> Result<usize, LinkError> {
        if len > self.stage.len() {
            return Err(LinkError::Unsupported(
                "a put longer than the port was opened for",
            ));
        }
        if self.staged + len > self.stage.len() {
            self.flush_local()?;
            self.staged = 0;
        }
        let at = self.staged;
        self.staged += len.next_multiple_of(LINE);
        Ok(at)
    }

    /// What was posted no longer needs its memory.
    #[inline(never)]
    fn flush_local(&mut self) -> Result<(), LinkError> {
        // SAFETY: the window is locked.
        let code = unsafe { (self.window.comm.mpi.functions.win_flush_local_all)(self.window.win) };
        self.checked("MPI_Win_flush_local_all", code)
    }

    /// What was posted has taken effect, and fetched values are here.
    #[inline(always)]
    fn flush_all(&mut self) -> Result<(), LinkError> {
        // SAFETY: the window is locked.
        let code = unsafe { (self.window.comm.mpi.functions.win_flush_all)(self.window.win) };
        self.checked("MPI_Win_flush_all", code)?;
        self.completed += self.pending;
        self.pending = 0;
        self.dirty = false;
        Ok(())
    }

    /// Let the library move, also for operations of others on this rank, and see what they wrote.
    #[inline(always)]
    fn progress(&mut self) -> Result<(), LinkError> {
        let code = self.window.comm.turn();
        // SAFETY: the window is locked.
        let synchronised = unsafe { (self.window.comm.mpi.functions.win_sync)(self.window.win) };
        self.checked("MPI_Iprobe", code)?;
        self.checked("MPI_Win_sync", synchronised)
    }
}

impl<H: Handle> OneSidedPort for OneSidedLink<H> {
    const SLOW: bool = true;
    const ZCOPY: bool = true;

    #[inline(always)]
    fn put_short(&mut self, peer: usize, to: usize, data: &[u8]) -> Posted {
        let at = self.place(data.len())?;
        self.stage.write(at, data);
        self.put(peer, to, self.stage.as_ptr().wrapping_add(at), data.len())?;
        Ok(Post::Done)
    }

    #[inline(always)]
    fn put_bcopy(&mut self, peer: usize, to: usize, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        let at = self.place(len)?;
        // SAFETY: no put under way uses this place, so nobody else touches it.
        unsafe { self.stage.pack(at, len, pack) };
        self.put(peer, to, self.stage.as_ptr().wrapping_add(at), len)?;
        Ok(Post::Done)
    }

    #[inline(always)]
    fn put_zcopy(&mut self, peer: usize, to: usize, from: usize, len: usize) -> Posted {
        if from > self.local.len() || len > self.local.len() - from {
            return Err(LinkError::Unsupported("a range outside of the local memory"));
        }
        self.put(peer, to, self.local.as_ptr().wrapping_add(from), len)?;
        self.pending += 1;
        Ok(Post::Done)
    }

    #[inline(always)]
    fn get_bcopy(&mut self, peer: usize, from: usize, to: usize, len: usize) -> Posted {
        self.get_zcopy(peer, from, to, len)
    }

    #[inline(always)]
    fn get_zcopy(&mut self, peer: usize, from: usize, to: usize, len: usize) -> Posted {
        if to > self.local.len() || len > self.local.len() - to {
            return Err(LinkError::Unsupported("a range outside of the local memory"));
        }
        self.check_target(from, len)?;
        let mpi = self.window.comm.mpi;
        let (f, c) = (&mpi.functions, &mpi.constants);
        let (rank, win) = (self.peers[peer], self.window.win);
        let local = self.local.as_ptr().wrapping_add(to);
        self.in_pieces("MPI_Get", len, |done, piece| {
            let (into, at) = (local.wrapping_add(done).cast(), (from + done) as Aint);
            // SAFETY: `piece` bytes of the local memory, left alone until the flush that counts the get.
            unsafe { (f.get)(into, piece, c.byte, rank, at, piece, c.byte, win) }
        })?;
        self.pending += 1;
        Ok(Post::Done)
    }

    #[inline(always)]
    fn atomic(&mut self, peer: usize, asked: WordOp) -> Posted {
        if asked.op != AtomicOp::Add && asked.slot >= self.fetched.len() {
            return Err(LinkError::Unsupported("fetch slot out of range"));
        }
        if self.operand == self.operands.len() {
            self.flush_all()?;
            self.operand = 0;
        }
        self.check_target(asked.offset, asked.width.bytes())?;
        let (f, c) = (&self.window.comm.mpi.functions, &self.window.comm.mpi.constants);
        let kind = if asked.width == Width::W8 {
            c.unsigned_long
        } else {
            c.unsigned
        };
        let (rank, at, win) = (self.peers[peer], asked.offset as Aint, self.window.win);
        // Little-endian: the first bytes of a word are those of the narrower one.
        let pair = &mut self.operands[self.operand];
        *pair = [asked.operand.to_le(), asked.compare.to_le()];
        let (operand, compare): (*const c_void, *const c_void) =
            ((&raw const pair[0]).cast(), (&raw const pair[1]).cast());
        self.operand += 1;
        if asked.op == AtomicOp::Add {
            // SAFETY: the operand stays until the next flush; one word of the target, checked above.
            let code = unsafe { (f.accumulate)(operand, 1, kind, rank, at, 1, kind, c.sum, win) };
            self.checked("MPI_Accumulate", code)?;
            self.dirty = true;
            return Ok(Post::Done);
        }
        self.fetched[asked.slot] = 0;
        let result: *mut c_void = (&raw mut self.fetched[asked.slot]).cast();
        let code = match asked.op {
            // SAFETY: operands stay until the next flush, and so does the slot for the result.
            AtomicOp::CompareSwap => unsafe {
                (f.compare_and_swap)(operand, compare, result, kind, rank, at, win)
            },
            // SAFETY: as above.
            AtomicOp::Swap => unsafe { (f.fetch_and_op)(operand, result, kind, rank, at, c.replace, win) },
            // SAFETY: as above.
            _ => unsafe { (f.fetch_and_op)(operand, result, kind, rank, at, c.sum, win) },
        };
        self.checked("an MPI atomic", code)?;
        self.pending += 1;
        self.dirty = true;
        Ok(Post::Done)
    }

    #[inline(always)]
    fn fetched(&self, slot: usize) -> u64 {
        u64::from_le(self.fetched[slot])
    }

    #[inline(always)]
    fn completed(&self) -> u64 {
        self.completed
    }

    #[inline(always)]
    fn fence(&mut self) -> Posted {
        if self.dirty {
            self.flush_all()?;
        }
        Ok(Post::Done)
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        if self.dirty {
            self.flush_all()?;
        }
        Ok(true)
    }

    #[inline(always)]
    fn poll(&mut self) -> Result<(), LinkError> {
        if self.dirty {
            return self.flush_all();
        }
        self.progress()
    }

    #[inline(always)]
    fn wait(&mut self) -> Result<(), LinkError> {
        if self.dirty {
            return self.flush_all();
        }
        self.progress()?;
        self.waiter.idle()
    }

    #[inline(always)]
    fn region(&self) -> &SharedBytes {
        &self.region
    }

    #[inline(always)]
    fn local(&self) -> &SharedBytes {
        &self.local
    }

    fn facts(&self) -> Facts {
        let mut facts = crate::options::facts();
        facts.insert("window".into(), "MPI_Win_allocate, MPI_Win_lock_all".into());
        facts.insert("completion".into(), "MPI_Win_flush_all".into());
        if self.last_byte_last {
            facts.insert(
                "last_byte".into(),
                "a put of its own, because payloads are checked".into(),
            );
        }
        facts
    }
}

impl<H: Handle> Drop for OneSidedLink<H> {
    fn drop(&mut self) {
        if self.failed || self.dirty || self.waiter.look().is_err() {
            // Freeing it waits for all ranks, and some will not come.
            abandon(self.stage.clone());
            abandon(self.local.clone());
            abandon(std::mem::take(&mut self.operands));
            abandon(std::mem::take(&mut self.fetched));
            return;
        }
        self.window.end = End::Together;
    }
}

impl<H: Handle> Drop for Window<H> {
    fn drop(&mut self) {
        match self.end {
            End::Refused => {}
            End::Abandoned => self.comm.quiet = false,
            End::Together => {
                let f = &self.comm.mpi.functions;
                // SAFETY: nothing is outstanding; every rank comes here after the last barrier, and uses the region no
                // more.
                unsafe {
                    (f.win_unlock_all)(self.win);
                    (f.win_free)(&mut self.win);
                }
            }
        }
    }
}
