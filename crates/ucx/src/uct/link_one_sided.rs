//! Put, get and atomics over one device, on memory that UCX allocated and registered.
//!
//! It must never let a control word go a way that the user chose for data: where a device has no short puts, small ones
//! go by the next best way, and only data in the layout that was asked for are measured.

use super::link_completions::{Completions, unpack};
use super::link_connect::{self, Endpoint, Exposed};
use super::link_interface::Interface;
use super::link_memory::allocate;
use super::link_pieces::List;
use super::{Chosen, UctOptions};
use crate::link_status::{cold_error, posted};
use crate::pieces::{Iov, Spans};
use crate::progress::Progress;
use std::cell::UnsafeCell;
use std::ffi::{c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use wirespeed::sync::{SharedBytes, copy};
use wirespeed::transport::port::{AtomicOp, Facts, LinkError, OneSidedPort, Post, Posted, Width, WordOp};
use wirespeed::transport::waiter::Waiter;
use wirespeed::transport::{Connect, OneSidedRunner, Ran, check_available};
use wirespeed_schema::test::Layout;
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::ops;

/// Words for control puts under way on devices that only put from registered memory.
const CONTROL_WORDS: usize = 64;
/// Bytes of each; a line of its own.
const CONTROL_BYTES: usize = 64;
/// Largest put that `put_short` must take on every device.
const CONTROL_PUT_MAX: usize = 8;

/// Connect over `chosen` and run.
pub fn open<R: OneSidedRunner>(
    ctx: &Connect,
    options: &UctOptions,
    chosen: &Chosen,
    runner: R,
) -> Ran<R::Output> {
    let needs = &ctx.needs;
    let wanted = needs.region_bytes.saturating_add(needs.buffer_bytes);
    check_available("the region and the local buffer", wanted)?;
    let interface = chosen.open(options)?;
    let (region, handle) = allocate(&interface, needs.region_bytes)?;
    let control_at = needs.buffer_bytes.next_multiple_of(CONTROL_BYTES);
    let (memory, local_handle) = allocate(&interface, control_at + CONTROL_WORDS * CONTROL_BYTES)?;
    let exposed = Exposed {
        bytes: region,
        handle,
    };
    let endpoints = link_connect::connect(ctx, &interface, &chosen.name.tl, Some(&exposed))?;
    let (iov, total) = match ctx.case.test.layout() {
        Some(Layout::Zcopy) => (options.iov.clone(), ctx.case.test.size_bytes() as usize),
        _ => (Iov::default(), 0),
    };
    let caps = &chosen.caps;
    let most = |cap: Option<u64>| cap.map_or(0, |max| usize::try_from(max).unwrap_or(usize::MAX));
    let port = UctOneSided {
        endpoints,
        completions: Completions::new(needs.window_msgs.saturating_add(1)),
        control: Completions::new(CONTROL_WORDS as u64),
        control_next: 0,
        fetched: (0..needs.fetch_slots.max(1))
            .map(|_| UnsafeCell::new(0))
            .collect(),
        put_short_max: most(caps.put_short),
        put_bcopy_max: most(caps.put_bcopy),
        get_bcopy_max: most(caps.get_bcopy),
        spans: Spans::of(&iov, total)?,
        progress: Progress::of(ctx, options.passive),
        whole: ctx.case.check,
        staging: vec![0; if ctx.case.check { needs.message_bytes } else { 0 }],
        region: exposed.bytes,
        local: memory.slice(0, needs.buffer_bytes),
        words: memory.slice(control_at, CONTROL_WORDS * CONTROL_BYTES),
        local_handle,
        waiter: ctx.waiter(),
        facts: chosen.facts(options),
        interface,
    };
    Ok(runner.run(port))
}

/// Endpoints to every peer over one interface, and the keys of their regions. Dropped in this order.
pub struct UctOneSided {
    endpoints: Vec<Endpoint>,
    interface: Arc<Interface>,
    completions: Box<Completions>,
    /// Control words under way; nobody counts them.
    control: Box<Completions>,
    control_next: usize,
    fetched: Box<[UnsafeCell<u64>]>,
    /// Largest operation of each kind; 0 for none.
    put_short_max: usize,
    put_bcopy_max: usize,
    get_bcopy_max: usize,
    spans: Spans,
    progress: Progress,
    /// Data will be checked as soon as the last byte is seen: it must come after all others.
    whole: bool,
    /// Where such data are packed first; empty where it does not matter.
    staging: Vec<u8>,
    region: SharedBytes,
    local: SharedBytes,
    words: SharedBytes,
    local_handle: sys::uct_mem_h,
    waiter: Waiter,
    facts: Facts,
}

/// Packs what `pack` writes, the last byte last where it must be.
struct Packing<P> {
    len: usize,
    pack: Option<P>,
    staging: *mut u8,
}

/// # Safety
/// UCX calls it within the put, with the `Packing` of the put and room for its length.
unsafe extern "C" fn pack_put<P: FnOnce(&mut [u8])>(room: *mut c_void, packing: *mut c_void) -> usize {
    // SAFETY: as above; nobody of this rank refers to either meanwhile.
    unsafe {
        let packing = &mut *packing.cast::<Packing<P>>();
        let len = packing.len;
        let Some(pack) = packing.pack.take() else {
            return 0;
        };
        if packing.staging.is_null() || len == 0 {
            pack(std::slice::from_raw_parts_mut(room.cast::<u8>(), len));
        } else {
            // The room may be the target itself, whose owner looks at the last byte.
            pack(std::slice::from_raw_parts_mut(packing.staging, len));
            std::ptr::copy_nonoverlapping(packing.staging, room.cast::<u8>(), len - 1);
            let last = room.cast::<u8>().add(len - 1).cast::<AtomicU8>();
            (*last).store(*packing.staging.add(len - 1), Ordering::Release);
        }
        len
    }
}

impl UctOneSided {
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

    /// One short put, as it is.
    #[inline(always)]
    fn put_inline(&self, peer: usize, to: usize, data: &[u8]) -> Posted {
        let (end, address) = self.target(peer, to, data.len())?;
        // SAFETY: a live endpoint of this thread; the data are read within the call; the target is in bounds.
        let status = unsafe {
            ops::ep_put_short(
                end.ep,
                data.as_ptr().cast(),
                data.len() as c_uint,
                address,
                end.rkey,
            )
        };
        posted("uct_ep_put_short", status)
    }

    /// All but the last byte, then the last.
    #[inline(never)]
    fn put_inline_whole(&mut self, peer: usize, to: usize, data: &[u8]) -> Posted {
        let before = data.len() - 1;
        if self.put_inline(peer, to, &data[..before])? == Post::Busy || self.fence()? == Post::Busy {
            return Ok(Post::Busy);
        }
        self.put_inline(peer, to + before, &data[before..])
    }

    /// A control word on a device without short puts.
    #[cold]
    #[inline(never)]
    fn put_control(&mut self, peer: usize, to: usize, data: &[u8]) -> Posted {
        if data.len() > CONTROL_PUT_MAX {
            return Err(LinkError::Unsupported("a short put of this size"));
        }
        if data.len() <= self.put_bcopy_max {
            return self.put_bcopy(peer, to, data.len(), |room| copy(data, room));
        }
        let (end, address) = self.target(peer, to, data.len())?;
        let at = self.control_next * CONTROL_BYTES;
        let mut list = List::new();
        list.push(
            self.words.as_ptr().wrapping_add(at),
            data.len(),
            self.local_handle,
        );
        let words = &self.words;
        let post = self.control.post("uct_ep_put_zcopy", |_, done| {
            words.write(at, data);
            // SAFETY: a live endpoint of this thread; the word stays as it is until its completion, for there are as
            // many words as completions.
            unsafe { ops::ep_put_zcopy(end.ep, list.as_ptr(), list.len(), address, end.rkey, done) }
        })?;
        if post == Post::Done {
            self.control_next = (self.control_next + 1) % CONTROL_WORDS;
        }
        Ok(post)
    }

    #[inline(always)]
    fn put_memory(&self, list: &Completions, peer: usize, to: usize, from: usize, len: usize) -> Posted {
        let (end, address) = self.target(peer, to, len)?;
        let mut pieces = List::new();
        pieces.cut(self.own(from, len)?, len, self.local_handle, &self.spans);
        list.post("uct_ep_put_zcopy", |_, done| {
            // SAFETY: a live endpoint of this thread; registered memory in bounds, which stays until the completion.
            unsafe { ops::ep_put_zcopy(end.ep, pieces.as_ptr(), pieces.len(), address, end.rkey, done) }
        })
    }
}

impl OneSidedPort for UctOneSided {
    const ZCOPY: bool = true;

    #[inline(always)]
    fn put_short(&mut self, peer: usize, to: usize, data: &[u8]) -> Posted {
        if data.len() > self.put_short_max {
            return self.put_control(peer, to, data);
        }
        if self.whole && data.len() > CONTROL_PUT_MAX {
            return self.put_inline_whole(peer, to, data);
        }
        self.put_inline(peer, to, data)
    }

    #[inline(always)]
    fn put_bcopy(&mut self, peer: usize, to: usize, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        #[inline(always)]
        fn packer<P: FnOnce(&mut [u8])>(_: &Packing<P>) -> sys::uct_pack_callback_t {
            Some(pack_put::<P>)
        }
        if len > self.put_bcopy_max {
            return Err(LinkError::Unsupported("a packed put of this size"));
        }
        let staging = match self.staging.get_mut(..len) {
            Some(staging) if len > CONTROL_PUT_MAX => staging.as_mut_ptr(),
            _ => std::ptr::null_mut(),
        };
        let mut packing = Packing {
            len,
            pack: Some(pack),
            staging,
        };
        let (end, address) = self.target(peer, to, len)?;
        let callback = packer(&packing);
        // SAFETY: a live endpoint of this thread; the callback is called within the call, if at all; the target is in
        // bounds.
        let result =
            unsafe { ops::ep_put_bcopy(end.ep, callback, (&raw mut packing).cast(), address, end.rkey) };
        if result >= 0 {
            return Ok(Post::Done);
        }
        posted("uct_ep_put_bcopy", result as sys::ucs_status_t)
    }

    #[inline(always)]
    fn put_zcopy(&mut self, peer: usize, to: usize, from: usize, len: usize) -> Posted {
        if self.whole && len > 1 {
            let before = len - 1;
            let rest = self.put_memory(&self.control, peer, to, from, before)?;
            if rest == Post::Busy || self.fence()? == Post::Busy {
                return Ok(Post::Busy);
            }
            return self.put_memory(&self.completions, peer, to + before, from + before, 1);
        }
        self.put_memory(&self.completions, peer, to, from, len)
    }

    #[inline(always)]
    fn get_bcopy(&mut self, peer: usize, from: usize, to: usize, len: usize) -> Posted {
        if len > self.get_bcopy_max {
            return Err(LinkError::Unsupported("a packed get of this size"));
        }
        let target = self.own(to, len)?;
        let (end, address) = self.target(peer, from, len)?;
        self.completions.post("uct_ep_get_bcopy", |pending, done| {
            // SAFETY: a live endpoint of this thread; the completion is not under way, so its target may be set; the
            // target has room, the source is in bounds.
            unsafe {
                (*pending).target = target;
                ops::ep_get_bcopy(end.ep, Some(unpack), pending.cast(), len, address, end.rkey, done)
            }
        })
    }

    #[inline(always)]
    fn get_zcopy(&mut self, peer: usize, from: usize, to: usize, len: usize) -> Posted {
        let (end, address) = self.target(peer, from, len)?;
        let mut list = List::new();
        list.cut(self.own(to, len)?, len, self.local_handle, &self.spans);
        self.completions.post("uct_ep_get_zcopy", |_, done| {
            // SAFETY: a live endpoint of this thread; registered memory in bounds, which stays until the completion.
            unsafe { ops::ep_get_zcopy(end.ep, list.as_ptr(), list.len(), address, end.rkey, done) }
        })
    }

    #[inline(always)]
    fn atomic(&mut self, peer: usize, asked: WordOp) -> Posted {
        let (end, to) = self.target(peer, asked.offset, asked.width.bytes())?;
        let (ep, rkey) = (end.ep, end.rkey);
        let (operand, compare) = (asked.operand, asked.compare);
        if asked.op == AtomicOp::Add {
            // SAFETY: a live endpoint of this thread, a word in bounds.
            let status = unsafe {
                match asked.width {
                    Width::W4 => ops::ep_atomic32_post(ep, sys::UCT_ATOMIC_OP_ADD, operand as u32, to, rkey),
                    Width::W8 => ops::ep_atomic64_post(ep, sys::UCT_ATOMIC_OP_ADD, operand, to, rkey),
                }
            };
            return posted("uct_ep_atomic_post", status);
        }
        let result = self.fetched[asked.slot].get();
        // The upper half of a fetched half-word stays zero (all machines that UCX runs on are little-endian).
        // SAFETY: the slot is not under way: the engine uses it again only after its completion.
        unsafe { *result = 0 };
        let half = result.cast::<u32>();
        let fetch = if asked.op == AtomicOp::Swap {
            sys::UCT_ATOMIC_OP_SWAP
        } else {
            sys::UCT_ATOMIC_OP_ADD
        };
        self.completions.post("uct_ep_atomic_fetch", |_, done| {
            // SAFETY: a live endpoint of this thread, a word in bounds, a slot that stays until the completion.
            unsafe {
                match (asked.op, asked.width) {
                    (AtomicOp::CompareSwap, Width::W4) => {
                        ops::ep_atomic_cswap32(ep, compare as u32, operand as u32, to, rkey, half, done)
                    }
                    (AtomicOp::CompareSwap, Width::W8) => {
                        ops::ep_atomic_cswap64(ep, compare, operand, to, rkey, result, done)
                    }
                    (_, Width::W4) => ops::ep_atomic32_fetch(ep, fetch, operand as u32, half, to, rkey, done),
                    (_, Width::W8) => ops::ep_atomic64_fetch(ep, fetch, operand, result, to, rkey, done),
                }
            }
        })
    }

    #[inline(always)]
    fn fetched(&self, slot: usize) -> u64 {
        // SAFETY: the operation of this slot has completed, so UCX writes there no more.
        unsafe { self.fetched[slot].get().read_volatile() }
    }

    #[inline(always)]
    fn completed(&self) -> u64 {
        self.completions.completed()
    }

    #[inline(always)]
    fn fence(&mut self) -> Posted {
        for endpoint in &self.endpoints {
            // SAFETY: a live endpoint of this thread.
            let status = unsafe { ops::ep_fence(endpoint.ep, 0) };
            if posted("uct_ep_fence", status)? == Post::Busy {
                return Ok(Post::Busy);
            }
        }
        Ok(Post::Done)
    }

    #[inline(always)]
    fn flush(&mut self) -> Result<bool, LinkError> {
        // SAFETY: an open interface of this thread.
        let status = unsafe { ops::iface_flush(self.interface.iface) };
        match status {
            sys::UCS_OK => Ok(self.completions.is_empty() && self.control.is_empty()),
            sys::UCS_INPROGRESS | sys::UCS_ERR_NO_RESOURCE => Ok(false),
            status => Err(cold_error("uct_iface_flush", status)),
        }
    }

    #[inline(always)]
    fn poll(&mut self) -> Result<(), LinkError> {
        if self.progress.is_left_out() {
            return Ok(());
        }
        // SAFETY: an open interface of this thread.
        unsafe { ops::iface_progress(self.interface.iface) };
        let failed = self.completions.failed().or(self.control.failed());
        match self.interface.trouble().or(failed) {
            None => Ok(()),
            Some(status) => Err(cold_error("an endpoint", status)),
        }
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
