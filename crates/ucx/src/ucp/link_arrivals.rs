//! Active messages of UCP as they arrive. Short ones are handed over in UCX's callback; long ones come by rendezvous, into a
//! place kept for them in their order, a few at a time.
//!
//! It must never let UCX call back once the port is dropped: [`Arrivals`] outlives the worker.

use super::link_worker::failed;
use crate::link_inbox::{Inbox, Nobody};
use crate::link_status::cold_error;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::VecDeque;
use std::ffi::c_void;
use wirespeed::transport::port::{LinkError, OnMessage};
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::Loaded;

/// Bytes of long messages that are fetched at once: little enough to stay in a core's own caches until they are handed over.
/// Those that announced themselves meanwhile wait.
const FETCHED_BYTES_MAX: usize = 256 << 10;
/// Messages that are fetched at once however long they are. A CPU of the same machine copies one after the other; a path to
/// another machine would be idle between them.
const FETCHED_NEAR: usize = 1;
const FETCHED_FAR: usize = 2;

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
        } else if let Some(status) = failed(request) {
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

/// What arrives at a port, from all peers.
pub struct Arrivals {
    froms: Box<[From]>,
    shared: Box<Shared>,
    handler: Handler,
    copies: bool,
    fetched_least: usize,
}

impl Arrivals {
    /// At `worker`, into `inbox`, with headers of so many bytes from so many peers; each copied once more before it is handed over
    /// where `copied_bytes` says how long they are at most. Nothing is heard before [`Arrivals::begin`].
    pub fn new(
        loaded: &'static Loaded,
        worker: sys::ucp_worker_h,
        inbox: Inbox,
        (header_bytes, peers): (usize, usize),
        copied_bytes: Option<usize>,
    ) -> Self {
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
            copy: UnsafeCell::new(vec![0; copied_bytes.unwrap_or(0)]),
        });
        let whole: *const Shared = &raw const *shared;
        let arriving = |place| Arriving { shared: whole, place };
        shared.places = (0..places).map(arriving).collect();
        let from = |slot| From { slot, shared: whole };
        Arrivals {
            froms: (0..peers).map(from).collect(),
            shared,
            handler: callback::<Nobody>(copied_bytes.is_some()),
            copies: copied_bytes.is_some(),
            fetched_least: FETCHED_NEAR,
        }
    }

    /// Hear messages from now on.
    pub fn begin(&mut self) -> Result<(), LinkError> {
        self.cold_set_handler(self.handler)
    }

    /// A peer is on another machine.
    pub fn come_from_far(&mut self) {
        self.fetched_least = FETCHED_FAR;
    }

    /// Where they are kept in their order.
    #[inline(always)]
    pub fn inbox(&self) -> &Inbox {
        &self.shared.inbox
    }

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
                    .ucp_worker_set_am_recv_handler(self.shared.worker, &parameters)
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
    pub fn listen<H: OnMessage>(&mut self) -> Result<(), LinkError> {
        let wanted = callback::<H>(self.copies);
        if self.handler as usize != wanted as usize {
            return self.cold_set_handler(wanted);
        }
        Ok(())
    }

    /// Fetch what announced itself: after what arrived was handed over, whose room is then the first that is taken.
    #[inline(always)]
    pub fn fetch(&self) -> bool {
        self.shared.is_any_announced.get() && cold_fetch(&self.shared, self.fetched_least)
    }

    /// Give back what announced itself, while the worker lives; from now on nothing is taken.
    pub fn close(&self) {
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
