//! Put, get and atomics of UCP, on memory that UCP allocated and registered.
//!
//! It must never let the last byte of a checked put be seen before the others.

use super::link_endpoint::{Endpoint, connect};
use super::link_memory::{allocate, expose, tell};
use super::link_sends::{Room, Sends};
use super::link_worker::{Context, Flush, Worker};
use super::{COPIED_BYTES_MAX, UcpOptions};
use crate::link_status::posted;
use crate::progress::Progress;
use std::cell::UnsafeCell;
use std::sync::Arc;
use wirespeed::sync::{SharedBytes, copy, put};
use wirespeed::transport::port::{AtomicOp, Facts, LinkError, OneSidedPort, Post, Posted, Width, WordOp};
use wirespeed::transport::waiter::Waiter;
use wirespeed::transport::{Connect, OneSidedRunner, Ran, check_available};
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::Loaded;

/// Uncounted operations under way at once.
const UNDER_WAY: u64 = 256;
/// Largest operation that arrives as one.
const WORD_BYTES: usize = 8;

/// Connect and run.
pub fn open<R: OneSidedRunner>(ctx: &Connect, options: &UcpOptions, runner: R) -> Ran<R::Output> {
    let needs = &ctx.needs;
    let wanted = needs.region_bytes.saturating_add(needs.buffer_bytes);
    check_available("the region and the local buffer", wanted)?;
    let loaded = options.library()?;
    let features = sys::UCP_FEATURE_RMA | sys::UCP_FEATURE_AMO32 | sys::UCP_FEATURE_AMO64;
    let context = Context::open(loaded, options, features)?;
    let worker = Worker::new(context.clone(), options, &ctx.cancel)?;
    let (region, region_handle) = allocate(&context, options, needs.region_bytes)?;
    let (local, local_handle) = allocate(&context, options, needs.buffer_bytes)?;
    let exposed = expose(&context, &region, region_handle)?;
    let workers = [worker];
    let endpoints = connect(ctx, options, &workers, exposed)?;
    let [worker] = workers;
    let copied = needs.message_bytes.clamp(WORD_BYTES, COPIED_BYTES_MAX as usize);
    let port = UcpOneSided {
        loaded,
        flush: Flush::new(&worker),
        endpoints,
        uncounted: Sends::new(&worker, UNDER_WAY, copied),
        counted: Sends::new(&worker, needs.window_msgs.saturating_add(1), WORD_BYTES),
        worker,
        fetched: (0..needs.fetch_slots.max(1))
            .map(|_| UnsafeCell::new(0))
            .collect(),
        whole: ctx.case.check,
        progress: Progress::of(ctx, options.passive),
        region,
        local,
        handle: options.register.then_some(local_handle),
        waiter: ctx.waiter(),
        facts: options.facts(loaded),
    };
    Ok(runner.run(port))
}

/// Endpoints to every peer of one worker, and the keys of their regions. Dropped in this order.
pub struct UcpOneSided {
    flush: Flush,
    endpoints: Vec<Endpoint>,
    worker: Arc<Worker>,
    loaded: &'static Loaded,
    /// Copied puts and posted additions.
    uncounted: Box<Sends>,
    /// Gets, zero-copy puts, fetching atomics.
    counted: Box<Sends>,
    fetched: Box<[UnsafeCell<u64>]>,
    /// Data will be checked as soon as the last byte is seen.
    whole: bool,
    progress: Progress,
    region: SharedBytes,
    local: SharedBytes,
    /// UCX's handle of local memory, where it is to be told.
    handle: Option<sys::ucp_mem_h>,
    waiter: Waiter,
    facts: Facts,
}

impl UcpOneSided {
    /// The peer's endpoint and the address of `offset` in its region.
    #[inline(always)]
    fn target(&self, peer: usize, offset: usize, len: usize) -> Result<(&Endpoint, u64), LinkError> {
        let to = &self.endpoints[peer];
        Ok((to, to.region.address(offset, len)?))
    }

    #[inline(always)]
    fn own(&self, offset: usize, len: usize) -> Result<*mut u8, LinkError> {
        let place = self.local.place(offset, len);
        place.ok_or(LinkError::Unsupported("an operation outside local memory"))
    }

    /// Let UCX put `len` bytes of `data` where `target` is; in two parts where the last byte must come last.
    ///
    /// # Safety
    /// The endpoint is a live one of this thread, and the data stay until all of the operation is complete.
    #[inline(always)]
    unsafe fn put(
        &self,
        (end, address): (&Endpoint, u64),
        (data, len): (*const u8, usize),
        room: &Room,
        parameters: &sys::ucp_request_param_t,
    ) -> sys::ucs_status_ptr_t {
        let ucx = &self.loaded.ucx;
        // SAFETY: the caller's promise; the target is in bounds.
        let put = |data: *const u8, len, at| unsafe {
            ucx.ucp_put_nbx(end.ep, data.cast(), len, at, end.rkey, parameters)
        };
        if !self.whole || len <= WORD_BYTES {
            return put(data, len, address);
        }
        let before = len - 1;
        if let Some(status) = room.first_part(put(data, before, address)) {
            return status as isize as sys::ucs_status_ptr_t;
        }
        // SAFETY: a live worker of this thread.
        let fenced = unsafe { ucx.ucp_worker_fence(self.worker.worker) };
        match fenced {
            sys::UCS_OK => put(data.wrapping_add(before), 1, address + before as u64),
            refused => refused as isize as sys::ucs_status_ptr_t,
        }
    }
}

impl OneSidedPort for UcpOneSided {
    const SLOW: bool = true;
    const ZCOPY: bool = true;

    #[inline(always)]
    fn put_short(&mut self, peer: usize, to: usize, data: &[u8]) -> Posted {
        self.put_bcopy(peer, to, data.len(), |room| copy(data, room))
    }

    #[inline(always)]
    fn put_bcopy(&mut self, peer: usize, to: usize, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        let target = self.target(peer, to, len)?;
        self.uncounted.post("ucp_put_nbx", |room, parameters| {
            let copy = room.copy(len)?;
            pack(copy);
            let data = copy.as_ptr();
            // SAFETY: the copy stays until all is complete.
            Ok(unsafe { self.put(target, (data, len), room, parameters) })
        })
    }

    #[inline(always)]
    fn put_zcopy(&mut self, peer: usize, to: usize, from: usize, len: usize) -> Posted {
        let target = self.target(peer, to, len)?;
        let data = self.own(from, len)?;
        self.counted.post("ucp_put_nbx", |room, parameters| {
            tell(parameters, self.handle);
            // SAFETY: memory in bounds, which stays until all is complete.
            Ok(unsafe { self.put(target, (data, len), room, parameters) })
        })
    }

    #[inline(always)]
    fn get_bcopy(&mut self, peer: usize, from: usize, to: usize, len: usize) -> Posted {
        let _ = (peer, from, to, len);
        Err(LinkError::Unsupported("get_bcopy"))
    }

    #[inline(always)]
    fn get_zcopy(&mut self, peer: usize, from: usize, to: usize, len: usize) -> Posted {
        let (end, address) = self.target(peer, from, len)?;
        let data = self.own(to, len)?;
        let ucx = &self.loaded.ucx;
        self.counted.post("ucp_get_nbx", |_, parameters| {
            tell(parameters, self.handle);
            // SAFETY: a live endpoint of this thread; memory in bounds, which stays until the completion.
            Ok(unsafe { ucx.ucp_get_nbx(end.ep, data.cast(), len, address, end.rkey, parameters) })
        })
    }

    #[inline(always)]
    fn atomic(&mut self, peer: usize, asked: WordOp) -> Posted {
        let (end, to) = self.target(peer, asked.offset, asked.width.bytes())?;
        let ucx = &self.loaded.ucx;
        let datatype =
            (asked.width.bytes() as u64) << sys::UCP_DATATYPE_SHIFT | u64::from(sys::UCP_DATATYPE_CONTIG);
        let (code, list) = match asked.op {
            AtomicOp::Add => (sys::UCP_ATOMIC_OP_ADD, &self.uncounted),
            AtomicOp::FetchAdd => (sys::UCP_ATOMIC_OP_ADD, &self.counted),
            AtomicOp::Swap => (sys::UCP_ATOMIC_OP_SWAP, &self.counted),
            AtomicOp::CompareSwap => (sys::UCP_ATOMIC_OP_CSWAP, &self.counted),
        };
        let result = self.fetched[asked.slot].get();
        list.post("ucp_atomic_op_nbx", |room, parameters| {
            parameters.op_attr_mask |= sys::UCP_OP_ATTR_FIELD_DATATYPE;
            parameters.datatype = datatype;
            let first = if asked.op == AtomicOp::CompareSwap {
                asked.compare
            } else {
                asked.operand
            };
            let word = room.copy(WORD_BYTES)?;
            put(word, 0, first.to_ne_bytes());
            if asked.op != AtomicOp::Add {
                // UCP swaps what it finds in the reply's place in, and fetches to there. The upper half of a fetched
                // half-word stays zero (all machines that UCX runs on are little-endian).
                let before = if asked.op == AtomicOp::CompareSwap {
                    asked.operand
                } else {
                    0
                };
                let before = if asked.width == Width::W4 {
                    before & u64::from(u32::MAX)
                } else {
                    before
                };
                // SAFETY: the slot is not under way: the engine uses it again only after its completion.
                unsafe { *result = before };
                parameters.op_attr_mask |= sys::UCP_OP_ATTR_FIELD_REPLY_BUFFER;
                parameters.reply_buffer = result.cast();
            }
            // SAFETY: a live endpoint of this thread, a word in bounds; operand and slot stay until the completion.
            Ok(unsafe {
                ucx.ucp_atomic_op_nbx(end.ep, code, word.as_ptr().cast(), 1, to, end.rkey, parameters)
            })
        })
    }

    #[inline(always)]
    fn fetched(&self, slot: usize) -> u64 {
        // SAFETY: the operation of this slot has completed, so UCX writes there no more.
        unsafe { self.fetched[slot].get().read_volatile() }
    }

    #[inline(always)]
    fn completed(&self) -> u64 {
        self.counted.completed()
    }

    #[inline(always)]
    fn fence(&mut self) -> Posted {
        // UCX's own emulations let a put overtake a get: what reads must have read.
        if !self.counted.is_empty() {
            self.worker.progress();
            return Ok(Post::Busy);
        }
        // SAFETY: a live worker of this thread.
        let status = unsafe { self.loaded.ucx.ucp_worker_fence(self.worker.worker) };
        posted("ucp_worker_fence", status)
    }

    #[inline(always)]
    fn flush(&mut self) -> Result<bool, LinkError> {
        let so_far = self.uncounted.posted() + self.counted.posted();
        let flushed = self.flush.step(&self.worker, so_far)?;
        // What failed counts as complete too.
        self.worker.trouble()?;
        Ok(flushed && self.uncounted.is_empty() && self.counted.is_empty())
    }

    #[inline(always)]
    fn poll(&mut self) -> Result<(), LinkError> {
        if self.progress.is_left_out() {
            return Ok(());
        }
        self.worker.progress();
        self.worker.trouble()
    }

    #[inline(always)]
    fn wait(&mut self) -> Result<(), LinkError> {
        self.poll()?;
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
        self.facts.clone()
    }
}
