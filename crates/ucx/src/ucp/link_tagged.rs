//! Tagged messages of UCP, matched by UCX. Each peer has a worker of its own, for UCX's tags do not say who sent.
//!
//! It must never touch a range of the buffer that a request uses.

use super::UcpOptions;
use super::link_memory::allocate;
use super::link_worker::{Context, Endpoint, Exposed, Flush, Worker, connect, failed, refused};
use crate::link_status::cold_error;
use crate::options::IOV_MAX;
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::sync::Arc;
use wirespeed::sync::SharedBytes;
use wirespeed::transport::port::{Facts, LinkError, Post, Request, TaggedPort};
use wirespeed::transport::waiter::Waiter;
use wirespeed::transport::{Connect, ConnectError, TaggedRunner};
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::Loaded;

/// Any tag.
const WILDCARD: u64 = 0;
/// This tag only.
const EXACT: u64 = u64::MAX;

/// A request as the engine knows it.
struct Entry {
    loaded: &'static Loaded,
    state: Cell<State>,
    is_send: Cell<bool>,
    pieces: UnsafeCell<[sys::ucp_dt_iov_t; IOV_MAX]>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    UnderWay,
    Done,
    Failed(sys::ucs_status_t),
}

/// A receive that waits until its message has come: option `unexpected`.
struct Awaited {
    peer: usize,
    tag: u64,
    offset: usize,
    len: usize,
    request: Request,
}

/// # Safety
/// UCX calls it in the port's thread with the entry of the send.
unsafe extern "C" fn sent(request: *mut c_void, status: sys::ucs_status_t, entry: *mut c_void) {
    // SAFETY: entries are never moved and live as long as the workers.
    let entry = unsafe { &*entry.cast::<Entry>() };
    finish(entry, status);
    // SAFETY: UCX's request, given back once.
    unsafe { entry.loaded.ucx.ucp_request_free(request) };
}

/// # Safety
/// As `sent`, for a receive.
unsafe extern "C" fn received(
    request: *mut c_void,
    status: sys::ucs_status_t,
    _info: *const sys::ucp_tag_recv_info_t,
    entry: *mut c_void,
) {
    // SAFETY: as in `sent`.
    unsafe { sent(request, status, entry) };
}

fn finish(entry: &Entry, status: sys::ucs_status_t) {
    entry.state.set(match status {
        sys::UCS_OK => State::Done,
        status => State::Failed(status),
    });
}

/// Connect and run.
pub fn open<R: TaggedRunner>(
    ctx: &Connect,
    options: &UcpOptions,
    runner: R,
) -> Result<R::Output, ConnectError> {
    let loaded = options.library()?;
    let context = Context::open(loaded, options, sys::UCP_FEATURE_TAG)?;
    let worker = || Worker::new(context.clone(), options, &ctx.cancel);
    let workers = ctx
        .peers
        .iter()
        .map(|_| worker())
        .collect::<Result<Vec<_>, _>>()?;
    let (buffer, handle) = allocate(&context, ctx.needs.buffer_bytes)?;
    let endpoints = connect(ctx, options, &workers, Exposed::default())?;
    let none = sys::ucp_dt_iov_t {
        buffer: std::ptr::null_mut(),
        length: 0,
    };
    let count = ctx.needs.requests_max.max(1);
    let entry = || Entry {
        loaded,
        state: Cell::new(State::Free),
        is_send: Cell::new(false),
        pieces: UnsafeCell::new([none; IOV_MAX]),
    };
    let port = UcpTagged {
        loaded,
        flushes: workers.iter().map(|w| Flush::new(w)).collect(),
        endpoints,
        workers,
        entries: (0..count).map(|_| entry()).collect(),
        free: (0..count as u32).rev().collect(),
        free_count: count,
        awaited: Vec::with_capacity(count),
        buffer,
        handle: options.register.then_some(handle),
        mask: if options.wildcard { WILDCARD } else { EXACT },
        pieces: options.iov,
        sync: options.sync,
        unexpected: options.unexpected,
        waiter: Waiter::new(ctx.case.idle, ctx.cancel.clone()),
        facts: options.facts(loaded),
    };
    Ok(runner.run(port))
}

/// Workers and endpoints to every peer. Dropped in this order.
pub struct UcpTagged {
    flushes: Vec<Flush>,
    endpoints: Vec<Endpoint>,
    workers: Vec<Arc<Worker>>,
    loaded: &'static Loaded,
    entries: Box<[Entry]>,
    /// Numbers of free requests: the first `free_count`.
    free: Box<[u32]>,
    free_count: usize,
    awaited: Vec<Awaited>,
    buffer: SharedBytes,
    handle: Option<sys::ucp_mem_h>,
    mask: u64,
    pieces: usize,
    sync: bool,
    unexpected: bool,
    waiter: Waiter,
    facts: Facts,
}

impl UcpTagged {
    #[inline(always)]
    fn take(&mut self, is_send: bool, offset: usize, len: usize) -> Result<Request, LinkError> {
        if offset > self.buffer.len() || len > self.buffer.len() - offset {
            return Err(LinkError::Unsupported("memory outside the buffer"));
        }
        let Some(last) = self.free_count.checked_sub(1) else {
            return Err(LinkError::Exhausted("tagged requests"));
        };
        self.free_count = last;
        let number = self.free[last];
        let entry = &self.entries[number as usize];
        entry.state.set(State::UnderWay);
        entry.is_send.set(is_send);
        Ok(Request(number))
    }

    /// The data, as one range or a list that stays, and parameters that say so.
    #[inline(always)]
    fn data(
        &self,
        request: Request,
        offset: usize,
        len: usize,
    ) -> (*mut c_void, usize, sys::ucp_request_param_t) {
        let entry = &self.entries[request.0 as usize];
        let at = self.buffer.as_ptr().wrapping_add(offset);
        // SAFETY: plain data, all-zero is valid; the mask says what is in it.
        let mut parameters: sys::ucp_request_param_t = unsafe { std::mem::zeroed() };
        parameters.op_attr_mask = sys::UCP_OP_ATTR_FIELD_CALLBACK | sys::UCP_OP_ATTR_FIELD_USER_DATA;
        parameters.user_data = (&raw const *entry).cast_mut().cast();
        if let Some(handle) = self.handle {
            parameters.op_attr_mask |= sys::UCP_OP_ATTR_FIELD_MEMH;
            parameters.memh = handle;
        }
        if self.pieces == 1 {
            return (at.cast(), len, parameters);
        }
        parameters.op_attr_mask |= sys::UCP_OP_ATTR_FIELD_DATATYPE;
        parameters.datatype = u64::from(sys::UCP_DATATYPE_IOV);
        // SAFETY: the request is not under way yet, so nobody reads its list.
        let list = unsafe { &mut *entry.pieces.get() };
        let length = len.div_ceil(self.pieces).max(1);
        let mut used = 0;
        for from in (0..len).step_by(length) {
            list[used] = sys::ucp_dt_iov_t {
                buffer: at.wrapping_add(from).cast(),
                length: length.min(len - from),
            };
            used += 1;
        }
        (list.as_mut_ptr().cast(), used, parameters)
    }

    /// What UCX did with a request.
    #[inline(always)]
    fn began(
        &self,
        operation: &'static str,
        request: Request,
        pointer: sys::ucs_status_ptr_t,
    ) -> Result<Request, LinkError> {
        if pointer.is_null() {
            self.entries[request.0 as usize].state.set(State::Done);
        } else if let Some(status) = failed(pointer) {
            return match refused(operation, status)? {
                Post::Busy => Err(LinkError::Exhausted(operation)),
                Post::Done => Ok(request),
            };
        }
        Ok(request)
    }

    #[inline(always)]
    fn advance(&mut self) -> Result<(), LinkError> {
        for worker in &self.workers {
            worker.progress();
            worker.trouble()?;
        }
        if !self.awaited.is_empty() {
            self.cold_fetch_unexpected()?;
        }
        Ok(())
    }

    /// Put a receive aside. There is room for every request, so the list never grows.
    #[inline(never)]
    fn cold_await(&mut self, awaited: Awaited) {
        self.awaited.push(awaited);
    }

    /// Receive those messages that have come; in the order of their receives.
    #[inline(never)]
    fn cold_fetch_unexpected(&mut self) -> Result<(), LinkError> {
        let mut index = 0;
        while index < self.awaited.len() {
            let awaited = &self.awaited[index];
            let worker = self.workers[awaited.peer].worker;
            // SAFETY: plain data, all-zero is valid.
            let mut info: sys::ucp_tag_recv_info_t = unsafe { std::mem::zeroed() };
            // SAFETY: a live worker of this thread, a place to write to.
            let message = unsafe {
                self.loaded
                    .ucx
                    .ucp_tag_probe_nb(worker, awaited.tag, self.mask, 1, &mut info)
            };
            if message.is_null() {
                index += 1;
                continue;
            }
            let awaited = self.awaited.remove(index);
            let (data, count, mut parameters) = self.data(awaited.request, awaited.offset, awaited.len);
            parameters.cb.recv = Some(received);
            // SAFETY: a message taken from this worker, a range of the buffer that this request owns.
            let pointer = unsafe {
                self.loaded
                    .ucx
                    .ucp_tag_msg_recv_nbx(worker, data, count, message, &parameters)
            };
            self.began("ucp_tag_msg_recv_nbx", awaited.request, pointer)?;
        }
        Ok(())
    }

    /// Give way after nothing was done.
    #[inline(always)]
    fn pause(&mut self) -> Result<(), LinkError> {
        match &self.workers[..] {
            [worker] if worker.sleeps() => {
                self.waiter.look()?;
                worker.cold_sleep()
            }
            _ => self.waiter.idle(),
        }
    }
}

impl TaggedPort for UcpTagged {
    fn buffer(&self) -> &SharedBytes {
        &self.buffer
    }

    #[inline(always)]
    fn post_recv(&mut self, peer: usize, tag: u64, offset: usize, len: usize) -> Result<Request, LinkError> {
        let request = self.take(false, offset, len)?;
        if self.unexpected {
            self.cold_await(Awaited {
                peer,
                tag,
                offset,
                len,
                request,
            });
            return Ok(request);
        }
        let (data, count, mut parameters) = self.data(request, offset, len);
        parameters.cb.recv = Some(received);
        // SAFETY: a live worker of this thread, a range of the buffer that this request owns until it is done.
        let pointer = unsafe {
            self.loaded.ucx.ucp_tag_recv_nbx(
                self.workers[peer].worker,
                data,
                count,
                tag,
                self.mask,
                &parameters,
            )
        };
        self.began("ucp_tag_recv_nbx", request, pointer)
    }

    #[inline(always)]
    fn post_send(&mut self, peer: usize, tag: u64, offset: usize, len: usize) -> Result<Request, LinkError> {
        let request = self.take(true, offset, len)?;
        let (data, count, mut parameters) = self.data(request, offset, len);
        parameters.cb.send = Some(sent);
        let (ucx, ep) = (&self.loaded.ucx, self.endpoints[peer].ep);
        // SAFETY: a live endpoint of this thread, a range of the buffer that this request owns until it is done.
        let pointer = unsafe {
            match self.sync {
                true => ucx.ucp_tag_send_sync_nbx(ep, data, count, tag, &parameters),
                false => ucx.ucp_tag_send_nbx(ep, data, count, tag, &parameters),
            }
        };
        self.began("ucp_tag_send_nbx", request, pointer)
    }

    #[inline(always)]
    fn done(&mut self, request: Request) -> Result<bool, LinkError> {
        let state = || self.entries[request.0 as usize].state.get();
        if state() == State::UnderWay {
            self.advance()?;
        }
        match self.entries[request.0 as usize].state.get() {
            State::Done => {
                self.entries[request.0 as usize].state.set(State::Free);
                self.free[self.free_count] = request.0;
                self.free_count += 1;
                Ok(true)
            }
            State::Failed(status) => Err(cold_error("a tagged request", status)),
            State::UnderWay => Ok(false),
            State::Free => Err(LinkError::Unsupported("a request that is not outstanding")),
        }
    }

    #[inline(always)]
    fn wait_all(&mut self, requests: &mut Vec<Request>) -> Result<(), LinkError> {
        while let Some(&request) = requests.last() {
            if self.done(request)? {
                requests.pop();
            } else {
                self.pause()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        self.advance()?;
        let mut flushed = true;
        for (flush, worker) in self.flushes.iter_mut().zip(&self.workers) {
            flushed &= flush.step(worker)?;
        }
        let is_unsent = |e: &Entry| e.is_send.get() && e.state.get() == State::UnderWay;
        Ok(flushed && !self.entries.iter().any(is_unsent))
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }
}
