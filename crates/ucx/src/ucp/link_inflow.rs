//! What comes in the stream of one peer, and the receives that wait for it: bytes go to the oldest until it is whole.
//!
//! Two ways, `DATA` or not: taken where UCX has them, and copied into place only if anybody reads them there; or written into
//! place by UCX, as much at once as has come.
//! UCX writes for one receive at a time, since it takes any part of the bytes for a receive that is done. Receives that it is told
//! of ahead, and that wait for all their bytes, fill within its poll; the sender waits meanwhile for places in the queue.
//!
//! It must never write past the end of a receive.

use super::link_memory::tell;
use super::link_requests::Requests;
use super::link_worker::failed;
use crate::link_status::cold_error;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use wirespeed::transport::adapt::FixedQueue;
use wirespeed::transport::port::{LinkError, Request};
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::Loaded;

/// A receive that waits for its bytes: those that it lacks, and where the next one goes.
#[derive(Clone, Copy)]
pub struct Awaited {
    /// Of the engine.
    pub request: Request,
    /// Where the next byte goes.
    pub at: *mut u8,
    /// Bytes that it lacks.
    pub len: usize,
    /// Whether UCX's handle of the engine's memory holds for the place.
    pub is_mapped: bool,
    /// Whether anybody reads what has come in its place.
    pub is_read: bool,
}

/// Data of UCX's that no receive has taken yet.
struct Held {
    data: *mut u8,
    len: usize,
    used: usize,
}

/// Whether UCX writes for a receive.
#[derive(Clone, Copy)]
enum Writing {
    No,
    UnderWay,
    /// So many bytes are written.
    Done(usize),
    Failed(sys::ucs_status_t),
}

/// What UCX calls back with; never moved.
struct Wanted {
    loaded: &'static Loaded,
    writing: Cell<Writing>,
}

/// # Safety
/// UCX calls it in the port's thread with the `Wanted` of the peer.
unsafe extern "C" fn written(
    request: *mut c_void,
    status: sys::ucs_status_t,
    length: usize,
    wanted: *mut c_void,
) {
    // SAFETY: it is never moved and lives as long as the worker.
    let wanted = unsafe { &*wanted.cast::<Wanted>() };
    wanted.writing.set(match status {
        sys::UCS_OK => Writing::Done(length),
        status => Writing::Failed(status),
    });
    // SAFETY: UCX's request, given back once.
    unsafe { wanted.loaded.ucx.ucp_request_free(request) };
}

/// What comes from one peer, over an endpoint that outlives its use.
pub struct Inflow {
    ep: sys::ucp_ep_h,
    awaited: FixedQueue<Awaited>,
    held: Held,
    wanted: Box<Wanted>,
}

impl Inflow {
    /// Over endpoint `ep`, for as many receives as there are requests.
    pub fn new(loaded: &'static Loaded, ep: sys::ucp_ep_h, requests: &Requests) -> Self {
        Inflow {
            ep,
            awaited: FixedQueue::new(requests.count()),
            held: Held {
                data: null_mut(),
                len: 0,
                used: 0,
            },
            wanted: Box::new(Wanted {
                loaded,
                writing: Cell::new(Writing::No),
            }),
        }
    }

    /// A receive waits, behind those that do.
    #[inline(always)]
    pub fn wait(&mut self, receive: Awaited) -> Result<(), LinkError> {
        match self.awaited.push(receive) {
            true => Ok(()),
            false => Err(LinkError::Exhausted("requests outstanding")),
        }
    }

    /// Hand what has come to the receives that wait for it.
    #[inline(always)]
    pub fn advance<const DATA: bool>(&mut self, requests: &Requests) -> Result<(), LinkError> {
        while let Some(&mut first) = self.awaited.front_mut() {
            let part = match DATA {
                true => self.take(first)?,
                false => self.write(first, requests.handle())?,
            };
            let Some(part) = part else {
                return Ok(());
            };
            if part >= first.len {
                requests.fulfil(first.request);
                self.awaited.pop();
            } else if let Some(first) = self.awaited.front_mut() {
                first.at = first.at.wrapping_add(part);
                first.len -= part;
            }
        }
        Ok(())
    }

    /// The bytes that were taken for the oldest receive, if any have come.
    #[inline(always)]
    fn take(&mut self, first: Awaited) -> Result<Option<usize>, LinkError> {
        let (ucx, held) = (&self.wanted.loaded.ucx, &mut self.held);
        if held.data.is_null() {
            let mut len = 0;
            // SAFETY: a live endpoint of this thread, a place to write to.
            let data = unsafe { ucx.ucp_stream_recv_data_nb(self.ep, &mut len) };
            if data.is_null() {
                return Ok(None);
            }
            if let Some(status) = failed(data) {
                return Err(cold_error("ucp_stream_recv_data_nb", status));
            }
            *held = Held {
                data: data.cast(),
                len,
                used: 0,
            };
        }
        let part = first.len.min(held.len - held.used);
        if first.is_read {
            // SAFETY: `part` bytes of UCX's data and of the receive's own memory are left.
            unsafe { std::ptr::copy_nonoverlapping(held.data.add(held.used), first.at, part) };
        }
        held.used += part;
        if held.used == held.len {
            self.release();
        }
        Ok(Some(part))
    }

    /// The bytes that UCX wrote to the oldest receive, if any have come; else it goes on to write there.
    #[inline(always)]
    fn write(&mut self, first: Awaited, handle: Option<sys::ucp_mem_h>) -> Result<Option<usize>, LinkError> {
        match self.wanted.writing.get() {
            Writing::No => {}
            Writing::UnderWay => return Ok(None),
            Writing::Done(part) => {
                self.wanted.writing.set(Writing::No);
                return Ok(Some(part));
            }
            Writing::Failed(status) => return Err(cold_error("ucp_stream_recv_nbx", status)),
        }
        // SAFETY: plain data, all-zero is valid; the mask says what is in it.
        let mut parameters: sys::ucp_request_param_t = unsafe { std::mem::zeroed() };
        parameters.op_attr_mask = sys::UCP_OP_ATTR_FIELD_CALLBACK | sys::UCP_OP_ATTR_FIELD_USER_DATA;
        parameters.cb.recv_stream = Some(written);
        parameters.user_data = (&raw const *self.wanted).cast_mut().cast();
        tell(&mut parameters, handle.filter(|_| first.is_mapped));
        let (ucx, mut part) = (&self.wanted.loaded.ucx, 0);
        // SAFETY: a live endpoint of this thread, the receive's own memory, which nobody else touches until it is done.
        let request =
            unsafe { ucx.ucp_stream_recv_nbx(self.ep, first.at.cast(), first.len, &mut part, &parameters) };
        if request.is_null() {
            return Ok(Some(part));
        }
        if let Some(status) = failed(request) {
            return Err(cold_error("ucp_stream_recv_nbx", status));
        }
        self.wanted.writing.set(Writing::UnderWay);
        Ok(None)
    }

    /// Give data of UCX's back; of a live endpoint.
    pub fn release(&mut self) {
        let data = std::mem::replace(&mut self.held.data, null_mut());
        if !data.is_null() {
            // SAFETY: data of this live endpoint, given back once.
            unsafe {
                self.wanted
                    .loaded
                    .ucx
                    .ucp_stream_data_release(self.ep, data.cast())
            };
        }
    }
}
