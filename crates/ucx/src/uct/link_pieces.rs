//! Data cut into pieces of about one length, as UCX's lists of them.

use crate::options::IOV_MAX;
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

/// Put `len` bytes from `at` into `list` from `first` on, in `pieces` pieces (fewer where there are fewer bytes);
/// returns the number of entries that are used.
#[inline(always)]
pub fn cut(
    list: &mut List,
    first: usize,
    at: *const u8,
    len: usize,
    handle: sys::uct_mem_h,
    pieces: usize,
) -> usize {
    if pieces == 1 {
        list[first] = piece(at, len, handle);
        return first + 1;
    }
    let length = len.div_ceil(pieces).max(1);
    let (mut used, mut offset) = (first, 0);
    while offset < len {
        let this = length.min(len - offset);
        list[used] = piece(at.wrapping_add(offset), this, handle);
        (used, offset) = (used + 1, offset + this);
    }
    used
}

/// An empty list.
#[inline(always)]
pub fn empty() -> List {
    [piece(std::ptr::null(), 0, std::ptr::null_mut()); IOV_MAX + 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_data_once() {
        let data = [0u8; 100];
        for len in [0, 1, 2, 7, 16, 17, 100] {
            for pieces in [1, 2, 3, 16] {
                let mut list = empty();
                let used = cut(&mut list, 1, data.as_ptr(), len, std::ptr::null_mut(), pieces);
                assert!(used - 1 <= pieces);
                let mut offset = 0;
                for entry in &list[1..used] {
                    assert_eq!(entry.buffer as usize, data.as_ptr() as usize + offset);
                    offset += entry.length;
                }
                assert_eq!(offset, len);
            }
        }
    }
}
