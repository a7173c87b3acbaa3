//! Lists of the pieces of data, one an operation, that stay while UCX reads them.
//!
//! One must never be filled while its operation is under way.

use crate::options::IOV_MAX;
use crate::pieces::Spans;
use std::cell::UnsafeCell;
use std::ffi::c_void;
use wirespeed_ucx_sys as sys;

/// They are never moved.
#[derive(Default)]
pub struct Lists(Box<[UnsafeCell<[sys::ucp_dt_iov_t; IOV_MAX]>]>);

impl Lists {
    /// For `count` operations.
    pub fn new(count: usize) -> Self {
        let none = sys::ucp_dt_iov_t {
            buffer: std::ptr::null_mut(),
            length: 0,
        };
        Lists((0..count).map(|_| UnsafeCell::new([none; IOV_MAX])).collect())
    }

    /// The pieces of a message whose first one begins at `at`, as the list of operation `number`; pointer and number of entries.
    ///
    /// # Safety
    /// The operation is not under way, so that nobody reads its list.
    pub unsafe fn fill(&self, number: usize, at: *const u8, spans: &Spans) -> (*mut c_void, usize) {
        // SAFETY: the caller's promise; all of it is over when this returns.
        let list = unsafe { &mut *self.0[number].get() };
        for (piece, span) in list.iter_mut().zip(spans.list()) {
            *piece = sys::ucp_dt_iov_t {
                buffer: at.wrapping_add(span.at).cast_mut().cast(),
                length: span.len,
            };
        }
        (list.as_mut_ptr().cast(), spans.list().len())
    }
}
