//! What UCX's headers have as inline functions of the transport layer: calls through an interface's table.
//!
//! Each is a load and a jump; nothing may be added here. An operation that an interface lacks stands in its table too,
//! as a function that says so.

use crate::bindings::*;
use core::ffi::{c_uint, c_void};

/// Calls `$operation` of the table behind `$table` with the arguments.
macro_rules! through {
    ($table:expr, $operation:ident, $($argument:expr),*) => {{
        // SAFETY: the caller promises a live object; its table is whole, so the entry is a function.
        unsafe { ((*$table).ops.$operation.unwrap_unchecked())($($argument),*) }
    }};
}

macro_rules! endpoint_operations {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `ep` is a live endpoint of the calling thread; the arguments are as UCX's manual asks.
        #[inline(always)]
        #[allow(clippy::too_many_arguments)] // UCX's own
        pub unsafe fn $name(ep: uct_ep_h, $($argument: $kind),*) -> $result {
            // SAFETY: an endpoint knows its interface as long as it lives.
            let iface = unsafe { (*ep).iface };
            through!(iface, $name, ep, $($argument),*)
        }
    )*};
}

endpoint_operations! {
    /// Put, inlined by the call.
    ep_put_short(buffer: *const c_void, length: c_uint, to: u64, rkey: uct_rkey_t) -> ucs_status_t;
    /// Put of what a callback packs; the number of bytes or an error.
    ep_put_bcopy(pack: uct_pack_callback_t, arg: *mut c_void, to: u64, rkey: uct_rkey_t) -> isize;
    /// Put from registered memory.
    ep_put_zcopy(
        iov: *const uct_iov_t, count: usize, to: u64, rkey: uct_rkey_t, done: *mut uct_completion_t
    ) -> ucs_status_t;
    /// Get, unpacked by a callback.
    ep_get_bcopy(
        unpack: uct_unpack_callback_t, arg: *mut c_void, length: usize, from: u64, rkey: uct_rkey_t,
        done: *mut uct_completion_t
    ) -> ucs_status_t;
    /// Get into registered memory.
    ep_get_zcopy(
        iov: *const uct_iov_t, count: usize, from: u64, rkey: uct_rkey_t, done: *mut uct_completion_t
    ) -> ucs_status_t;
    /// Active message, inlined by the call.
    ep_am_short(id: u8, header: u64, payload: *const c_void, length: c_uint) -> ucs_status_t;
    /// Active message, gathered and inlined by the call.
    ep_am_short_iov(id: u8, iov: *const uct_iov_t, count: usize) -> ucs_status_t;
    /// Active message of what a callback packs; the number of bytes or an error.
    ep_am_bcopy(id: u8, pack: uct_pack_callback_t, arg: *mut c_void, flags: c_uint) -> isize;
    /// Active message from registered memory.
    ep_am_zcopy(
        id: u8, header: *const c_void, header_length: c_uint, iov: *const uct_iov_t, count: usize, flags: c_uint,
        done: *mut uct_completion_t
    ) -> ucs_status_t;
    /// Atomic operation on 4 bytes, nothing comes back.
    ep_atomic32_post(op: c_uint, value: u32, to: u64, rkey: uct_rkey_t) -> ucs_status_t;
    /// Atomic operation on 8 bytes, nothing comes back.
    ep_atomic64_post(op: c_uint, value: u64, to: u64, rkey: uct_rkey_t) -> ucs_status_t;
    /// Atomic operation on 4 bytes, the value from before comes back.
    ep_atomic32_fetch(
        op: uct_atomic_op_t, value: u32, result: *mut u32, to: u64, rkey: uct_rkey_t, done: *mut uct_completion_t
    ) -> ucs_status_t;
    /// Atomic operation on 8 bytes, the value from before comes back.
    ep_atomic64_fetch(
        op: uct_atomic_op_t, value: u64, result: *mut u64, to: u64, rkey: uct_rkey_t, done: *mut uct_completion_t
    ) -> ucs_status_t;
    /// Compare and swap of 4 bytes.
    ep_atomic_cswap32(
        compare: u32, swap: u32, to: u64, rkey: uct_rkey_t, result: *mut u32, done: *mut uct_completion_t
    ) -> ucs_status_t;
    /// Compare and swap of 8 bytes.
    ep_atomic_cswap64(
        compare: u64, swap: u64, to: u64, rkey: uct_rkey_t, result: *mut u64, done: *mut uct_completion_t
    ) -> ucs_status_t;
    /// Order what comes after behind what came before.
    ep_fence(flags: c_uint) -> ucs_status_t;
}

/// Whether all operations of the interface's endpoints are complete.
///
/// # Safety
/// `iface` is a live interface of the calling thread.
#[inline(always)]
pub unsafe fn iface_flush(iface: uct_iface_h) -> ucs_status_t {
    through!(iface, iface_flush, iface, 0, core::ptr::null_mut())
}

/// Move what is under way; how much did. This replaces the worker's own progress function, whose table has another
/// layout from release 1.16 on.
///
/// # Safety
/// As for [`iface_flush`].
#[inline(always)]
pub unsafe fn iface_progress(iface: uct_iface_h) -> c_uint {
    through!(iface, iface_progress, iface)
}

/// Sends and receives move by [`iface_progress`] from now on.
///
/// # Safety
/// As for [`iface_flush`].
pub unsafe fn iface_progress_enable(iface: uct_iface_h, flags: c_uint) {
    through!(iface, iface_progress_enable, iface, flags);
}
