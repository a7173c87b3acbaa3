//! Pieces of data as UCX's lists of them.

use crate::options::IOV_MAX;
use crate::pieces::Spans;
use std::ffi::c_void;
use wirespeed_ucx_sys as sys;

/// A list with room for a header and the most pieces.
pub type List = [sys::uct_iov_t; IOV_MAX + 1];

/// One piece.
#[inline(always)]
pub fn piece(at: *const u8, len: usize, handle: sys::uct_mem_h) -> sys::uct_iov_t {
    sys::uct_iov_t {
        buffer: at.cast::<c_void>().cast_mut(),
        length: len,
        memh: handle,
        stride: 0,
        count: 1,
    }
}

/// Put the pieces of a message of `len` bytes whose first one begins at `at` into `list` from `first` on; a message that
/// is longer than those that are cut is one piece. Returns the number of entries that are used.
#[inline(always)]
pub fn cut(
    list: &mut List,
    first: usize,
    at: *const u8,
    len: usize,
    handle: sys::uct_mem_h,
    spans: &Spans,
) -> usize {
    if spans.list().len() <= 1 {
        list[first] = piece(at, len, handle);
        return first + usize::from(len > 0 || first == 0);
    }
    let is_whole = spans.are_of(len);
    let mut used = first;
    if len <= spans.total() {
        for span in spans.list().iter().take_while(|span| span.from < len) {
            // A part of a message lies together.
            let start = if is_whole { span.at } else { span.from };
            list[used] = piece(at.wrapping_add(start), span.len.min(len - span.from), handle);
            used += 1;
        }
    }
    if used == first && (len > 0 || first == 0) {
        list[used] = piece(at, len, handle);
        used += 1;
    }
    used
}

/// An empty list.
#[inline(always)]
pub fn empty() -> List {
    [piece(std::ptr::null(), 0, std::ptr::null_mut()); IOV_MAX + 1]
}
