//! Requests of the engine under way in UCP: their memory, their pieces, and whether they are done.
//!
//! It must never touch a range of the buffer that a request uses.

use super::UcpOptions;
use super::link_lists::Lists;
use super::link_memory::{allocate, tell};
use super::link_worker::{Context, failed, refused};
use crate::link_status::cold_error;
use crate::pieces::{Apart, Spans};
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::sync::Arc;
use wirespeed::sync::SharedBytes;
use wirespeed::transport::port::{LinkError, Request};
use wirespeed::transport::{Connect, ConnectError, check_available};
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::Loaded;

/// A request as the engine knows it.
pub struct Entry {
    loaded: &'static Loaded,
    state: Cell<State>,
    is_send: Cell<bool>,
    number: u32,
    offset: Cell<usize>,
    len: Cell<usize>,
}

/// The length of messages that nobody hands over as lists: of none.
const NO_LENGTH: usize = usize::MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    UnderWay,
    Done,
    Failed(sys::ucs_status_t),
}

/// # Safety
/// UCX calls it in the port's thread with the entry of the send.
pub unsafe extern "C" fn sent(request: *mut c_void, status: sys::ucs_status_t, entry: *mut c_void) {
    // SAFETY: entries are never moved and live as long as the workers.
    let entry = unsafe { &*entry.cast::<Entry>() };
    entry.state.set(match status {
        sys::UCS_OK => State::Done,
        status => State::Failed(status),
    });
    // SAFETY: UCX's request, given back once.
    unsafe { entry.loaded.ucx.ucp_request_free(request) };
}

/// # Safety
/// As `sent`, for a tagged receive.
pub unsafe extern "C" fn received(
    request: *mut c_void,
    status: sys::ucs_status_t,
    _info: *const sys::ucp_tag_recv_info_t,
    entry: *mut c_void,
) {
    // SAFETY: as in `sent`.
    unsafe { sent(request, status, entry) };
}

/// # Safety
/// As `sent`, for a receive from a stream.
pub unsafe extern "C" fn streamed(
    request: *mut c_void,
    status: sys::ucs_status_t,
    _length: usize,
    entry: *mut c_void,
) {
    // SAFETY: as in `sent`.
    unsafe { sent(request, status, entry) };
}

/// Every request of a port.
pub struct Requests {
    entries: Box<[Entry]>,
    /// What UCX is told with a request: one for all, for with each they would be two more lines of memory a message.
    parameters: UnsafeCell<sys::ucp_request_param_t>,
    /// One a request, where any data are handed over as lists.
    lists: Lists,
    /// Numbers of free requests: the first `free_count`.
    free: Box<[Cell<u32>]>,
    free_count: Cell<usize>,
    /// The engine's memory.
    pub buffer: SharedBytes,
    handle: Option<sys::ucp_mem_h>,
    spans: Spans,
    apart: Option<Apart<sys::ucp_mem_h>>,
    /// The length of the messages that the receiver, the sender hands over as lists.
    listed_bytes: [usize; 2],
}

impl Requests {
    /// For the case of `ctx`.
    pub fn new(ctx: &Connect, options: &UcpOptions, context: &Arc<Context>) -> Result<Self, ConnectError> {
        let wanted = ctx.needs.buffer_bytes;
        check_available("the buffer of matched messages", wanted)?;
        let (buffer, handle) = allocate(context, options, wanted)?;
        let count = ctx.needs.requests_max.max(2);
        let entry = |number| Entry {
            loaded: context.loaded,
            state: Cell::new(State::Free),
            is_send: Cell::new(false),
            number,
            offset: Cell::new(0),
            len: Cell::new(0),
        };
        let entries: Box<[Entry]> = (0..count as u32).map(entry).collect();
        let spans = Spans::of(&options.iov, ctx.needs.message_bytes)?;
        let memory = |len| allocate(context, options, len);
        let apart = Apart::new(&options.iov, &spans, count, ctx.case.check, memory)?;
        let listed_bytes = options.lists().map(|listed| match spans.list() {
            [_, ..] if listed => spans.total(),
            _ => NO_LENGTH,
        });
        let lists = if listed_bytes == [NO_LENGTH; 2] { 0 } else { count };
        Ok(Requests {
            entries,
            // SAFETY: plain data, all-zero is valid; the mask says what is in it.
            parameters: UnsafeCell::new(unsafe { std::mem::zeroed() }),
            lists: Lists::new(lists),
            free: (0..count as u32).rev().map(Cell::new).collect(),
            free_count: Cell::new(count),
            buffer,
            handle: options.register.then_some(handle),
            spans,
            apart,
            listed_bytes,
        })
    }

    /// Receives are never lists: what arrives is copied into place.
    pub fn receive_in_one(&mut self) {
        self.listed_bytes[0] = NO_LENGTH;
    }

    /// Whether any receives are lists.
    pub fn are_receives_listed(&self) -> bool {
        self.listed_bytes[0] != NO_LENGTH
    }

    /// UCX's handle of the engine's memory, where it is to be told.
    #[inline(always)]
    pub fn handle(&self) -> Option<sys::ucp_mem_h> {
        self.handle
    }

    /// How many there may be.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// A free request for `len` bytes at `offset`, and as many requests fewer that are free: [`Requests::post`] leaves it free
    /// where UCX is done at once.
    #[inline(always)]
    fn next(&self, is_send: bool, offset: usize, len: usize) -> Result<(&Entry, usize), LinkError> {
        if self.buffer.place(offset, len).is_none() {
            return Err(LinkError::Unsupported("memory outside the buffer"));
        }
        let Some(left) = self.free_count.get().checked_sub(1) else {
            return Err(LinkError::Exhausted("tagged requests"));
        };
        let entry = &self.entries[self.free[left].get() as usize];
        entry.state.set(State::UnderWay);
        entry.is_send.set(is_send);
        entry.offset.set(offset);
        entry.len.set(len);
        Ok((entry, left))
    }

    /// A request that is posted later.
    #[inline(always)]
    pub fn take(&mut self, is_send: bool, offset: usize, len: usize) -> Result<Request, LinkError> {
        let (entry, left) = self.next(is_send, offset, len)?;
        self.free_count.set(left);
        Ok(Request(entry.number))
    }

    /// Take a request for `len` bytes at `offset` and post it by `call`, which gets its data as [`Requests::data`] tells them.
    #[inline(always)]
    pub fn post(
        &mut self,
        operation: &'static str,
        (is_send, offset, len): (bool, usize, usize),
        call: impl FnOnce(*mut c_void, usize, &mut sys::ucp_request_param_t) -> sys::ucs_status_ptr_t,
    ) -> Result<Request, LinkError> {
        let (entry, left) = self.next(is_send, offset, len)?;
        // SAFETY: UCX reads them within the call that posts a request, and nobody else does.
        let parameters = unsafe { &mut *self.parameters.get() };
        let (data, count) = self.told(entry, (is_send, offset, len), parameters);
        let pointer = call(data, count, parameters);
        if pointer.is_null() && !self.lies_apart(is_send, len) {
            entry.state.set(State::Free);
            return Ok(Request::DONE);
        }
        self.free_count.set(left);
        began(operation, entry, pointer)
    }

    /// Whether what was received is still to be brought together.
    #[inline(always)]
    fn lies_apart(&self, is_send: bool, len: usize) -> bool {
        self.apart.is_some() && !is_send && len == self.listed_bytes[0]
    }

    /// The data of a taken request, as one range or a list that stays, and parameters that say so, to which the caller adds its
    /// callback.
    pub fn data(&mut self, request: Request) -> (*mut c_void, usize, &mut sys::ucp_request_param_t) {
        let entry = &self.entries[request.0 as usize];
        // SAFETY: as in `post`.
        let parameters = unsafe { &mut *self.parameters.get() };
        let part = (entry.is_send.get(), entry.offset.get(), entry.len.get());
        let (data, count) = self.told(entry, part, parameters);
        (data, count, parameters)
    }

    /// The data of a request, and what UCX is told of them.
    #[inline(always)]
    fn told(
        &self,
        entry: &Entry,
        (is_send, offset, len): (bool, usize, usize),
        parameters: &mut sys::ucp_request_param_t,
    ) -> (*mut c_void, usize) {
        let at = self.buffer.as_ptr().wrapping_add(offset);
        parameters.op_attr_mask = sys::UCP_OP_ATTR_FIELD_CALLBACK | sys::UCP_OP_ATTR_FIELD_USER_DATA;
        parameters.user_data = (&raw const *entry).cast_mut().cast();
        tell(parameters, self.handle);
        match len == self.listed_bytes[usize::from(is_send)] {
            true => self.listed(entry.number, (is_send, offset), parameters),
            false => (at.cast(), len),
        }
    }

    /// As `told`, of data that are handed over as a list.
    #[inline(never)]
    fn listed(
        &self,
        number: u32,
        (is_send, offset): (bool, usize),
        parameters: &mut sys::ucp_request_param_t,
    ) -> (*mut c_void, usize) {
        let mut at = self.buffer.as_ptr().wrapping_add(offset);
        if let Some(apart) = &self.apart {
            let place = apart.place(number as usize, usize::from(is_send));
            if is_send {
                apart.fill(place, &self.buffer, offset);
            }
            at = apart.start(place);
            tell(parameters, self.handle.map(|_| apart.handle));
        }
        parameters.op_attr_mask |= sys::UCP_OP_ATTR_FIELD_DATATYPE;
        parameters.datatype = u64::from(sys::UCP_DATATYPE_IOV);
        // SAFETY: the request is not under way yet, so nobody reads its list.
        unsafe { self.lists.fill(number as usize, at, &self.spans) }
    }

    /// What UCX did with a taken request.
    pub fn began(
        &self,
        operation: &'static str,
        request: Request,
        pointer: sys::ucs_status_ptr_t,
    ) -> Result<Request, LinkError> {
        began(operation, &self.entries[request.0 as usize], pointer)
    }

    /// A request is done.
    #[inline(always)]
    pub fn fulfil(&self, request: Request) {
        self.entries[request.0 as usize].state.set(State::Done);
    }

    /// Whether a request is under way.
    #[inline(always)]
    pub fn is_under_way(&self, request: Request) -> bool {
        request != Request::DONE && self.entries[request.0 as usize].state.get() == State::UnderWay
    }

    /// Whether a request is done; if so it is free again.
    #[inline(always)]
    pub fn done(&mut self, request: Request) -> Result<bool, LinkError> {
        if request == Request::DONE {
            return Ok(true);
        }
        let entry = &self.entries[request.0 as usize];
        if entry.state.get() != State::Done {
            return match entry.state.get() {
                State::UnderWay => Ok(false),
                undone => Err(cold_undone(undone)),
            };
        }
        entry.state.set(State::Free);
        if let Some(apart) = &self.apart
            && self.lies_apart(entry.is_send.get(), entry.len.get())
        {
            let place = apart.place(request.0 as usize, 0);
            apart.empty(place, &self.buffer, entry.offset.get());
        }
        let free_count = self.free_count.get();
        self.free[free_count].set(request.0);
        self.free_count.set(free_count + 1);
        Ok(true)
    }

    /// Whether a send is under way.
    pub fn are_sends_under_way(&self) -> bool {
        let is_unsent = |e: &Entry| e.is_send.get() && e.state.get() == State::UnderWay;
        self.entries.iter().any(is_unsent)
    }
}

/// What UCX did with a request.
#[inline(always)]
fn began(
    operation: &'static str,
    entry: &Entry,
    pointer: sys::ucs_status_ptr_t,
) -> Result<Request, LinkError> {
    if pointer.is_null() {
        entry.state.set(State::Done);
    } else if let Some(status) = failed(pointer) {
        // Nobody tries a request again.
        return refused(operation, status).and(Err(LinkError::Exhausted(operation)));
    }
    Ok(Request(entry.number))
}

#[cold]
#[inline(never)]
fn cold_undone(state: State) -> LinkError {
    match state {
        State::Failed(status) => cold_error("a tagged request", status),
        _ => LinkError::Unsupported("a request that is not outstanding"),
    }
}
