//! Active messages of UCP. Short and packed ones are copied into storage of the port, for UCP may read them later; zero-copy
//! ones are handed over where they are. Long messages arrive by rendezvous, into a place kept for them in their order.

use super::link_memory::{allocate, tell};
use super::link_sends::Sends;
use super::link_worker::{Context, Endpoint, Exposed, Flush, Worker, connect};
use super::{COPIED_BYTES_MAX, UcpOptions};
use crate::link_inbox::{Inbox, KEPT_BYTES_MAX, Nobody};
use crate::link_status::cold_error;
use crate::options::{HEADER_BYTES, IN_FRONT_BYTES_MAX};
use crate::pieces::{Apart, Spans};
use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr::null;
use std::sync::Arc;
use wirespeed::sync::{SharedBytes, put};
use wirespeed::transport::port::{Facts, LinkError, MessagePort, OnMessage, Posted};
use wirespeed::transport::waiter::Waiter;
use wirespeed::transport::{Connect, ConnectError, MessageRunner, Ran};
use wirespeed_schema::test::Layout;
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::Loaded;

/// Bytes of long messages that are fetched at once: little enough to stay in a core's own caches until they are handed over.
/// Those that announced themselves meanwhile wait.
const FETCHED_BYTES_MAX: usize = 256 << 10;
/// Messages that are fetched at once however long they are. A CPU of the same machine copies one after the other; a path to
/// another machine would be idle between them.
const FETCHED_NEAR: usize = 1;
const FETCHED_FAR: usize = 2;
/// Bytes in front of the buffer of zero-copy messages, for a header; the buffer begins a page.
const IN_FRONT_AT: usize = 4096;
/// Operations under way at once.
const UNDER_WAY: u64 = 256;
/// Least message that is provided for.
const SMALLEST: usize = 64;

/// What UCX's callback is given: whose message it is, and where it goes.
struct From {
    slot: usize,
    shared: *const Shared,
}

/// What callbacks share with the port; never moved.
struct Shared {
    loaded: &'static Loaded,
    worker: sys::ucp_worker_h,
    inbox: Inbox,
    header_bytes: usize,
    /// One for each place of the inbox, for callbacks of messages whose bytes are on their way.
    places: Box<[Arriving]>,
    /// Messages that announced themselves and are not fetched yet, and those that are being fetched.
    announced: RefCell<VecDeque<Announced>>,
    /// Whether there are any: a look at the list itself would be a call in every poll.
    is_any_announced: Cell<bool>,
    /// Nobody fetches any more what announces itself from now on.
    closing: Cell<bool>,
    fetched: Cell<usize>,
    fetched_bytes: Cell<usize>,
    /// Where messages are copied once more before they are handed over, if they are.
    copy: UnsafeCell<Vec<u8>>,
}

impl Shared {
    fn begin_fetch(&self, len: usize) {
        self.fetched.set(self.fetched.get() + 1);
        self.fetched_bytes.set(self.fetched_bytes.get() + len);
    }

    /// Of a fetch that failed UCX may not know the length.
    fn end_fetch(&self, len: usize) {
        self.fetched.set(self.fetched.get().saturating_sub(1));
        self.fetched_bytes
            .set(self.fetched_bytes.get().saturating_sub(len));
    }
}

struct Arriving {
    shared: *const Shared,
    place: usize,
}

/// A message that UCX keeps until it is fetched.
struct Announced {
    place: usize,
    descriptor: *mut c_void,
    len: usize,
}

type Handler = unsafe extern "C" fn(
    *mut c_void,
    *const c_void,
    usize,
    *mut c_void,
    usize,
    *const sys::ucp_am_recv_param_t,
) -> sys::ucs_status_t;

/// # Safety
/// UCX calls it in the port's thread with a `From` that lives as long as the worker.
unsafe extern "C" fn arrived<H: OnMessage, const COPY: bool>(
    from: *mut c_void,
    header: *const c_void,
    header_len: usize,
    data: *mut c_void,
    len: usize,
    param: *const sys::ucp_am_recv_param_t,
) -> sys::ucs_status_t {
    // SAFETY: as above.
    let (from, shared) = unsafe {
        let from = &*from.cast::<From>();
        (from, &*from.shared)
    };
    // SAFETY: valid during the call.
    let attributes = unsafe { (*param).recv_attr };
    let is_announced = attributes & u64::from(sys::UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
    let mut payload: &[u8] = match is_announced || len == 0 {
        true => &[],
        // SAFETY: UCX's data, valid during the call.
        false => unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) },
    };
    let mut found = None;
    if header_len == shared.header_bytes {
        // SAFETY: eight bytes at least.
        found = Some(unsafe { header.cast::<u64>().read_unaligned() });
    } else if header_len == 0
        && let Some((header, rest)) = payload.split_first_chunk()
    {
        (found, payload) = (Some(u64::from_ne_bytes(*header)), rest);
    }
    if is_announced && (header_len == 0 || found.is_some()) {
        return announce(shared, from.slot, found, data, len);
    }
    let Some(header) = found else {
        let fault = LinkError::Corrupt("a message without a header");
        shared.inbox.cold_fault(fault);
        return sys::UCS_OK;
    };
    if COPY {
        // SAFETY: callbacks of a worker never run within each other, and nobody else uses the copy.
        let copy = unsafe { &mut *shared.copy.get() };
        if let Some(copy) = copy.get_mut(..payload.len()) {
            copy.copy_from_slice(payload);
            payload = copy;
        }
    }
    // SAFETY: the handler's type is that of the poll that runs: `listen`.
    unsafe { shared.inbox.take::<H>(from.slot, header, payload) };
    sys::UCS_OK
}

/// A message announced itself: UCX keeps it until it is fetched, in its order.
#[inline(never)]
fn announce(
    shared: &Shared,
    slot: usize,
    header: Option<u64>,
    descriptor: *mut c_void,
    len: usize,
) -> sys::ucs_status_t {
    // UCX answers the sender of one that is not taken.
    let place = (!shared.closing.get()).then(|| shared.inbox.reserve(slot, header, len));
    let Some(place) = place.flatten() else {
        return sys::UCS_OK;
    };
    shared.announced.borrow_mut().push_back(Announced {
        place,
        descriptor,
        len,
    });
    shared.is_any_announced.set(true);
    sys::UCS_INPROGRESS
}

/// Fetch what announced itself, as far as it may be fetched now, `least` messages at once; whether to look at the inbox again,
/// for a message that is whole already, or a fault. Outside of UCX's callbacks.
#[cold]
#[inline(never)]
fn cold_fetch(shared: &Shared, least: usize) -> bool {
    loop {
        let mut announced = shared.announced.borrow_mut();
        let bytes = shared.fetched_bytes.get();
        let fits = |next: &&Announced| shared.fetched.get() < least || bytes + next.len <= FETCHED_BYTES_MAX;
        if announced.front().filter(fits).is_none() {
            return false;
        }
        let Some(next) = announced.pop_front() else {
            return false;
        };
        shared.is_any_announced.set(!announced.is_empty());
        drop(announced);
        let under_way = shared.fetched.get();
        shared.begin_fetch(next.len);
        // SAFETY: plain data, all-zero is valid; the mask says what is in it.
        let mut parameters: sys::ucp_request_param_t = unsafe { std::mem::zeroed() };
        parameters.op_attr_mask = sys::UCP_OP_ATTR_FIELD_CALLBACK | sys::UCP_OP_ATTR_FIELD_USER_DATA;
        parameters.cb.recv_am = Some(fetched);
        parameters.user_data = (&raw const shared.places[next.place]).cast_mut().cast();
        let room = shared.inbox.room(next.place).cast();
        let fetch = shared.loaded.ucx.ucp_am_recv_data_nbx;
        // SAFETY: a live worker, UCX's descriptor, room for the message that nobody else touches until it is whole.
        let request = unsafe { fetch(shared.worker, next.descriptor, room, next.len, &parameters) };
        if request.is_null() {
            shared.end_fetch(next.len);
            shared.inbox.is_whole(next.place);
        } else if let Some(status) = super::link_worker::failed(request) {
            let fault = cold_error("ucp_am_recv_data_nbx", status);
            shared.inbox.cold_fault(fault);
            return true;
        }
        // Where UCX copies at once, what is in the caches is handed over before the next message takes its place there.
        if shared.fetched.get() <= under_way {
            return true;
        }
    }
}

/// # Safety
/// UCX calls it in the port's thread with the place that the message was given.
unsafe extern "C" fn fetched(
    request: *mut c_void,
    status: sys::ucs_status_t,
    len: usize,
    arriving: *mut c_void,
) {
    // SAFETY: places and what they belong to live as long as the worker.
    let (place, shared) = unsafe {
        let arriving = &*arriving.cast::<Arriving>();
        (arriving.place, &*arriving.shared)
    };
    shared.end_fetch(len);
    match status {
        sys::UCS_OK => shared.inbox.is_whole(place),
        status => shared.inbox.cold_fault(cold_error("a long message", status)),
    }
    // SAFETY: UCX's request, given back once.
    unsafe { shared.loaded.ucx.ucp_request_free(request) };
}

/// UCX's callback for handlers of this type, with the second copy or without.
#[inline(always)]
fn callback<H: OnMessage>(copies: bool) -> Handler {
    match copies {
        true => arrived::<H, true>,
        false => arrived::<H, false>,
    }
}

/// Connect and run.
pub fn open<R: MessageRunner>(ctx: &Connect, options: &UcpOptions, runner: R) -> Ran<R::Output> {
    // Long messages of a whole window may be on their way from each peer at once, each with a place of its own.
    let window_bytes = (ctx.needs.message_bytes as u64)
        .saturating_mul(ctx.needs.window_msgs)
        .saturating_mul(ctx.peers.len() as u64);
    if window_bytes > KEPT_BYTES_MAX as u64 {
        return Err(ConnectError::Memory {
            what: "a window of messages from each peer",
            bytes: window_bytes,
        });
    }
    let loaded = options.library()?;
    let context = Context::open(loaded, options, sys::UCP_FEATURE_AM)?;
    let worker = Worker::new(context.clone(), options, &ctx.cancel)?;
    let size = ctx.needs.message_bytes.max(SMALLEST);
    let (header_bytes, peers) = (options.header_bytes, ctx.peers.len());
    let inbox = Inbox::new(size, ctx.needs.window_msgs, peers, header_bytes);
    let copy_bytes = if options.receive_copy { size } else { 0 };
    let shared = share(loaded, worker.worker, inbox, header_bytes, copy_bytes);
    let froms: Box<[From]> = (0..peers)
        .map(|slot| From {
            slot,
            shared: &raw const *shared,
        })
        .collect();
    let (buffer, handle) = zero_copy_buffer(ctx, options, &context)?.unzip();
    let zcopy = buffer.is_some();
    let copied = if zcopy {
        SMALLEST
    } else {
        size.min(COPIED_BYTES_MAX as usize)
    };
    let mut direct = Sends::new(&worker, UNDER_WAY, 0).with_headers(header_bytes);
    if zcopy && options.lists()[1] {
        direct = direct.with_lists();
    }
    let (spans, apart) = pieces(ctx, options, &context, zcopy.then_some(direct.places()))?;
    let mut port = UcpMessages {
        flush: Flush::new(&worker),
        endpoints: Vec::new(),
        copied: Sends::new(&worker, UNDER_WAY, header_bytes + copied),
        worker,
        direct,
        buffer,
        handle: handle.filter(|_| options.register),
        froms,
        shared,
        handler: callback::<Nobody>(options.receive_copy),
        copies: options.receive_copy,
        listed: options.lists()[1],
        fetched_least: FETCHED_NEAR,
        puts_in_front: header_bytes == HEADER_BYTES && !options.lists()[1],
        spans,
        apart,
        send: loaded.ucx.ucp_am_send_nbx,
        waiter: ctx.waiter(),
        facts: options.facts(loaded),
    };
    port.cold_set_handler(callback::<Nobody>(options.receive_copy))
        .map_err(|e| ConnectError::Other(e.to_string()))?;
    let workers = [port.worker.clone()];
    port.endpoints = connect(ctx, options, &workers, Exposed::default())?;
    drop(workers);
    if port.endpoints.iter().any(|to| to.is_far) {
        port.fetched_least = FETCHED_FAR;
    }
    Ok(runner.run(port))
}

/// Memory for zero-copy messages and UCX's handle of it, where the case has such messages.
fn zero_copy_buffer(
    ctx: &Connect,
    options: &UcpOptions,
    context: &Arc<Context>,
) -> Result<Option<(SharedBytes, sys::ucp_mem_h)>, ConnectError> {
    let len = ctx.needs.buffer_bytes;
    if len == 0 || ctx.case.test.layout() != Some(Layout::Zcopy) {
        return Ok(None);
    }
    let (bytes, handle) = allocate(context, options, IN_FRONT_AT + len)?;
    Ok(Some((bytes.slice(IN_FRONT_AT, len), handle)))
}

/// How zero-copy messages are cut, and memory for pieces that lie apart, for so many messages at once; no message is cut
/// where there is none.
fn pieces(
    ctx: &Connect,
    options: &UcpOptions,
    context: &Arc<Context>,
    places: Option<usize>,
) -> Result<(Spans, Option<Apart<sys::ucp_mem_h>>), ConnectError> {
    let Some(places) = places else {
        return Ok((Spans::of(&options.iov, 0)?, None));
    };
    let spans = Spans::of(&options.iov, ctx.needs.message_bytes)?;
    let memory = |len| allocate(context, options, len);
    let apart = Apart::new(&options.iov, &spans, places, ctx.case.check, memory)?;
    Ok((spans, apart))
}

fn share(
    loaded: &'static Loaded,
    worker: sys::ucp_worker_h,
    inbox: Inbox,
    header_bytes: usize,
    copy_bytes: usize,
) -> Box<Shared> {
    let places = inbox.places();
    let mut shared = Box::new(Shared {
        loaded,
        worker,
        inbox,
        header_bytes,
        places: Box::default(),
        announced: RefCell::new(VecDeque::with_capacity(places)),
        is_any_announced: Cell::new(false),
        closing: Cell::new(false),
        fetched: Cell::new(0),
        fetched_bytes: Cell::new(0),
        copy: UnsafeCell::new(vec![0; copy_bytes]),
    });
    let whole: *const Shared = &raw const *shared;
    let arriving = |place| Arriving { shared: whole, place };
    shared.places = (0..places).map(arriving).collect();
    shared
}

type Send = unsafe extern "C" fn(
    sys::ucp_ep_h,
    u32,
    *const c_void,
    usize,
    *const c_void,
    usize,
    *const sys::ucp_request_param_t,
) -> sys::ucs_status_ptr_t;

/// Endpoints to every peer of one worker. Dropped in this order: endpoints while the worker still makes progress, what
/// UCX calls back with after it.
pub struct UcpMessages {
    flush: Flush,
    endpoints: Vec<Endpoint>,
    worker: Arc<Worker>,
    copied: Box<Sends>,
    direct: Box<Sends>,
    buffer: Option<SharedBytes>,
    /// UCX's handle of the buffer, where it is to be told.
    handle: Option<sys::ucp_mem_h>,
    froms: Box<[From]>,
    shared: Box<Shared>,
    handler: Handler,
    copies: bool,
    /// Data are handed over as lists.
    listed: bool,
    /// The header may be the last bytes in front of zero-copy data.
    puts_in_front: bool,
    fetched_least: usize,
    spans: Spans,
    apart: Option<Apart<sys::ucp_mem_h>>,
    send: Send,
    waiter: Waiter,
    facts: Facts,
}

impl UcpMessages {
    #[cold]
    #[inline(never)]
    fn cold_set_handler(&mut self, handler: Handler) -> Result<(), LinkError> {
        let loaded = self.shared.loaded;
        for (id, from) in self.froms.iter().enumerate() {
            // SAFETY: plain data, all-zero is valid; the mask says what is in it.
            let mut parameters: sys::ucp_am_handler_param_t = unsafe { std::mem::zeroed() };
            parameters.field_mask = u64::from(
                sys::UCP_AM_HANDLER_PARAM_FIELD_ID
                    | sys::UCP_AM_HANDLER_PARAM_FIELD_CB
                    | sys::UCP_AM_HANDLER_PARAM_FIELD_ARG,
            );
            parameters.id = id as u32;
            parameters.cb = Some(handler);
            parameters.arg = (&raw const *from).cast_mut().cast();
            // SAFETY: a live worker, whole parameters; what the handler is given lives as long as the port.
            let status = unsafe {
                loaded
                    .ucx
                    .ucp_worker_set_am_recv_handler(self.worker.worker, &parameters)
            };
            if status < 0 {
                return Err(cold_error("ucp_worker_set_am_recv_handler", status));
            }
        }
        self.handler = handler;
        Ok(())
    }

    /// From now on messages are for handlers of this type.
    #[inline(always)]
    fn listen<H: OnMessage>(&mut self) -> Result<(), LinkError> {
        let wanted = callback::<H>(self.copies);
        if self.handler as usize != wanted as usize {
            return self.cold_set_handler(wanted);
        }
        Ok(())
    }

    /// Fetch what announced itself: after what arrived was handed over, whose room is then the first that is taken.
    #[inline(always)]
    fn fetch(&self) -> bool {
        self.shared.is_any_announced.get() && cold_fetch(&self.shared, self.fetched_least)
    }
}

impl MessagePort for UcpMessages {
    const SLOW: bool = true;
    const ZCOPY: bool = true;

    #[inline(always)]
    fn send_bcopy(&mut self, peer: usize, header: u64, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        let to = &self.endpoints[peer];
        let header_bytes = self.shared.header_bytes;
        self.copied.post("ucp_am_send_nbx", |room, parameters| {
            let copy = room.copy(header_bytes + len)?;
            put(copy, 0, header.to_ne_bytes());
            pack(&mut copy[header_bytes..]);
            let whole: (*const c_void, usize) = (copy.as_ptr().cast(), copy.len());
            let (header, header_bytes, data, len) =
                if header_bytes == HEADER_BYTES && len <= IN_FRONT_BYTES_MAX {
                    (null(), 0, whole.0, whole.1)
                } else {
                    (
                        whole.0,
                        header_bytes,
                        whole.0.wrapping_byte_add(header_bytes),
                        len,
                    )
                };
            // SAFETY: a live endpoint of this thread; header and data stay in their place until the completion.
            Ok(unsafe { (self.send)(to.ep, to.slot_there, header, header_bytes, data, len, parameters) })
        })
    }

    #[inline(always)]
    fn send_zcopy(&mut self, peer: usize, header: u64, offset: usize, len: usize) -> Posted {
        let Some(buffer) = &self.buffer else {
            return Err(LinkError::Unsupported("zcopy on this port"));
        };
        let Some(at) = buffer.place(offset, len) else {
            return Err(LinkError::Unsupported("memory outside the buffer"));
        };
        let to = &self.endpoints[peer];
        self.direct.post("ucp_am_send_nbx", |room, parameters| {
            let (mut data, mut count): (*const c_void, usize) = (at.cast(), len);
            let mut header_bytes = self.shared.header_bytes;
            // Nothing under way reads what is in front of the buffer.
            let in_front =
                offset == 0 && len <= IN_FRONT_BYTES_MAX && self.puts_in_front && self.direct.is_empty();
            let header = if in_front {
                let front = at.wrapping_sub(HEADER_BYTES);
                // SAFETY: the end of the bytes in front of the buffer, which are this port's alone; see above.
                unsafe { front.cast::<u64>().write_unaligned(header) };
                (data, count) = (front.cast_const().cast(), HEADER_BYTES + len);
                header_bytes = 0;
                null()
            } else {
                room.header(header)
            };
            let mut handle = self.handle;
            if self.listed && self.spans.are_of(len) {
                let mut first = at;
                if let Some(apart) = &self.apart {
                    let place = apart.place(room.number(), 0);
                    apart.fill(place, buffer, offset);
                    first = apart.start(place);
                    handle = handle.map(|_| apart.handle);
                }
                (data, count) = room.list(first, &self.spans);
                parameters.op_attr_mask |= sys::UCP_OP_ATTR_FIELD_DATATYPE;
                parameters.datatype = u64::from(sys::UCP_DATATYPE_IOV);
            }
            tell(parameters, handle);
            // SAFETY: a live endpoint of this thread; header, list and data stay until the completion.
            Ok(unsafe {
                (self.send)(
                    to.ep,
                    to.slot_there,
                    header,
                    header_bytes,
                    data,
                    count,
                    parameters,
                )
            })
        })
    }

    #[inline(always)]
    fn zcopy_completed(&self) -> u64 {
        self.direct.completed()
    }

    #[inline(always)]
    fn buffer(&mut self) -> Option<&SharedBytes> {
        self.buffer.as_ref()
    }

    #[inline(always)]
    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        self.listen::<H>()?;
        let mut handled = self.shared.inbox.during(on, || self.worker.progress())?;
        while self.fetch() {
            handled += self.shared.inbox.during(on, || ())?;
        }
        self.worker.trouble()?;
        Ok(handled)
    }

    #[inline(always)]
    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        let handled = self.poll(on)?;
        if handled > 0 {
            return Ok(handled);
        }
        if self.worker.sleeps() {
            self.waiter.look()?;
            self.worker.cold_sleep()?;
            return self.poll(on);
        }
        self.waiter.idle()?;
        Ok(0)
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        // Also without sends: a peer's connection may need our answers. What arrives is kept: there is no handler.
        let flushed = self.flush.step(&self.worker, 0)?;
        self.worker.progress();
        self.fetch();
        self.worker.trouble()?;
        let done = flushed && self.copied.is_empty() && self.direct.is_empty();
        self.shared.inbox.fault().map_or(Ok(done), Err)
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }
}

impl Drop for UcpMessages {
    fn drop(&mut self) {
        let shared = &self.shared;
        shared.closing.set(true);
        for one in shared.announced.borrow_mut().drain(..) {
            // SAFETY: a live worker of this thread, UCX's descriptor, given back once.
            unsafe {
                shared
                    .loaded
                    .ucx
                    .ucp_am_data_release(shared.worker, one.descriptor)
            };
        }
    }
}
