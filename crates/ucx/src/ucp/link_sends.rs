//! Operations of UCP under way: where their data wait, and that they are counted.
//!
//! UCX reads data, headers and lists until an operation is complete, so each has a place here that stays.

use super::link_lists::Lists;
use super::link_worker::{Trouble, Worker, failed, refused};
use crate::link_status::cold_error;
use crate::options::HEADER_BYTES;
use crate::order::Order;
use crate::pieces::Spans;
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use wirespeed::transport::port::{LinkError, Post, Posted};
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::Loaded;

/// Most memory for data that are copied before they are sent.
const COPIES_BYTES_MAX: usize = 64 << 20;

/// What belongs to one operation.
struct Place {
    list: *const Sends,
    /// Which of the list's places it is.
    index: usize,
    /// Parts that are not complete: the operation is once all of them are. One between two operations, so that what completes
    /// at once writes nothing here.
    parts: u32,
    /// What UCX is told with the operation: all that stays the same is written once.
    parameters: sys::ucp_request_param_t,
}

/// One of an operation's `parts` is complete; whether all are.
#[inline(always)]
fn part_ended(parts: &mut u32) -> bool {
    let is_last = *parts == 1;
    if !is_last {
        *parts -= 1;
    }
    is_last
}

/// Operations under way.
pub struct Sends {
    loaded: &'static Loaded,
    places: Box<[UnsafeCell<Place>]>,
    /// One a place, where data are handed over as lists.
    lists: Lists,
    copies: UnsafeCell<Vec<u8>>,
    copy_bytes: usize,
    headers: UnsafeCell<Vec<u8>>,
    header_bytes: usize,
    order: Order,
    trouble: Trouble,
}

/// The place of an operation that is about to be posted.
pub struct Room<'a> {
    index: usize,
    place: &'a UnsafeCell<Place>,
    lists: &'a Lists,
    copy: *mut u8,
    copy_bytes: usize,
    header: *mut u8,
    /// Whether a first of two parts is on its way.
    is_begun: Cell<bool>,
}

/// # Safety
/// UCX calls it with the place of the operation, in the port's thread.
unsafe extern "C" fn finished(request: *mut c_void, status: sys::ucs_status_t, place: *mut c_void) {
    // SAFETY: the place lives in a live list. This is the port's thread, within a call of UCX, meanwhile the port may hold the
    // place's parameters, but none of these.
    let (list, index, all_ended) = unsafe {
        let place = place.cast::<Place>();
        (&*(*place).list, (*place).index, part_ended(&mut (*place).parts))
    };
    if status < 0 {
        list.trouble.cold_note(status);
    }
    if all_ended {
        list.order.finish(index);
    }
    // SAFETY: UCX's request, given back once.
    unsafe { list.loaded.ucx.ucp_request_free(request) };
}

impl Room<'_> {
    /// Where a header waits that begins with `value`; the list was made [`Sends::with_headers`].
    #[inline(always)]
    pub fn header(&self, value: u64) -> *const c_void {
        // SAFETY: this operation's own header, which nobody reads while it is not under way.
        unsafe { self.header.cast::<u64>().write_unaligned(value) };
        self.header.cast_const().cast()
    }

    /// Room for a copy of the data; `len` was found to fit when the list was made.
    #[inline(always)]
    pub fn copy(&mut self, len: usize) -> Result<&mut [u8], LinkError> {
        if len > self.copy_bytes {
            return Err(LinkError::Unsupported("a copied operation of this size"));
        }
        // SAFETY: this operation's own part of the copies, which nobody reads while it is not under way.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.copy, len) })
    }

    /// What UCX did with the first of two parts, posted with the operation's own parameters: the operation is complete once
    /// both are. The value is what it refused the part with.
    #[inline(always)]
    pub fn first_part(&self, request: sys::ucs_status_ptr_t) -> Option<sys::ucs_status_t> {
        if !request.is_null() && failed(request).is_none() {
            self.is_begun.set(true);
            // SAFETY: the port's thread, outside of UCX's calls, which alone change it too.
            unsafe { (*self.place.get()).parts += 1 };
        }
        failed(request)
    }

    /// Number of the place.
    #[inline(always)]
    pub fn number(&self) -> usize {
        self.index
    }

    /// The pieces of a message whose first one begins at `at`, as a list that stays; pointer and number of entries. The list
    /// of operations was made [`Sends::with_lists`].
    pub fn list(&self, at: *const u8, spans: &Spans) -> (*const c_void, usize) {
        // SAFETY: the place is not under way.
        let (list, count) = unsafe { self.lists.fill(self.index, at, spans) };
        (list.cast_const(), count)
    }
}

impl Sends {
    /// For `under_way` operations of `worker`, which is told what goes wrong, each with `copy_bytes` for a copy of its data.
    pub fn new(worker: &Worker, under_way: u64, copy_bytes: usize) -> Box<Self> {
        let fit = match copy_bytes {
            0 => u64::MAX,
            bytes => (COPIES_BYTES_MAX / bytes).max(4) as u64,
        };
        let order = Order::new(under_way.min(fit));
        let place = |index| {
            UnsafeCell::new(Place {
                list: std::ptr::null(),
                index,
                parts: 1,
                // SAFETY: plain data, all-zero is valid; the mask says what is in it.
                parameters: unsafe { std::mem::zeroed() },
            })
        };
        let places = order.places();
        let mut list = Box::new(Sends {
            loaded: worker.context.loaded,
            places: (0..places).map(place).collect(),
            lists: Lists::default(),
            copies: UnsafeCell::new(vec![0; places * copy_bytes]),
            copy_bytes,
            headers: UnsafeCell::default(),
            header_bytes: 0,
            order,
            trouble: worker.noted(),
        });
        let address: *const Sends = &raw const *list;
        for place in &mut list.places {
            let user_data = place.get().cast();
            let place = place.get_mut();
            place.list = address;
            place.parameters.cb.send = Some(finished);
            place.parameters.user_data = user_data;
        }
        list
    }

    /// With a header of `header_bytes`, 8 or more, for each operation.
    pub fn with_headers(mut self: Box<Self>, header_bytes: usize) -> Box<Self> {
        self.header_bytes = header_bytes.max(HEADER_BYTES);
        self.headers = UnsafeCell::new(vec![0; self.places.len() * self.header_bytes]);
        self
    }

    /// With a list of pieces for each operation.
    pub fn with_lists(mut self: Box<Self>) -> Box<Self> {
        self.lists = Lists::new(self.places.len());
        self
    }

    /// Post an operation; `post` gets its place and parameters that tell of its completion, and returns what UCX did.
    #[inline(always)]
    pub fn post(
        &self,
        operation: &'static str,
        post: impl FnOnce(&mut Room, &mut sys::ucp_request_param_t) -> Result<sys::ucs_status_ptr_t, LinkError>,
    ) -> Posted {
        let Some(number) = self.order.next() else {
            return Ok(Post::Busy);
        };
        let index = self.order.place(number);
        let place = &self.places[index];
        // SAFETY: the place is not under way; copies and headers are never moved.
        let (copy, header) = unsafe {
            (
                (*self.copies.get()).as_mut_ptr().add(index * self.copy_bytes),
                (*self.headers.get()).as_mut_ptr().add(index * self.header_bytes),
            )
        };
        let mut room = Room {
            index,
            place,
            lists: &self.lists,
            copy,
            copy_bytes: self.copy_bytes,
            header,
            is_begun: Cell::new(false),
        };
        // SAFETY: the place is not under way: UCX reads its parameters within the call that posts it, and nobody else does.
        let parameters = unsafe { &mut (*place.get()).parameters };
        parameters.op_attr_mask = sys::UCP_OP_ATTR_FIELD_CALLBACK | sys::UCP_OP_ATTR_FIELD_USER_DATA;
        let request = post(&mut room, parameters)?;
        if request.is_null() && !room.is_begun.get() {
            self.order.at_once(number);
            return Ok(Post::Done);
        }
        // SAFETY: as in `first_part`.
        let parts = unsafe { &mut (*place.get()).parts };
        if let Some(status) = failed(request) {
            return match *parts {
                1 => refused(operation, status),
                // The first part is on its way, and nobody can take it back.
                _ => Err(cold_error(operation, status)),
            };
        }
        // Without a request the last part is complete; the first one may have become so meanwhile.
        match request.is_null() && part_ended(parts) {
            true => self.order.at_once(number),
            false => self.order.begin(number),
        }
        Ok(Post::Done)
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.places.len()
    }

    /// Operations completed so far, in order.
    #[inline(always)]
    pub fn completed(&self) -> u64 {
        self.order.completed()
    }

    /// Operations posted so far.
    #[inline(always)]
    pub fn posted(&self) -> u64 {
        self.order.posted()
    }

    /// Whether none is under way.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}
