//! Pieces of data as UCX's lists of them.

use crate::options::IOV_MAX;
use crate::pieces::Spans;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use wirespeed_ucx_sys as sys;

/// A list with room for a header and the most pieces. Only what is used is written: a message has one or two most often.
pub struct List {
    entries: [MaybeUninit<sys::uct_iov_t>; IOV_MAX + 1],
    used: usize,
}

impl List {
    /// An empty list.
    #[inline(always)]
    pub fn new() -> Self {
        List {
            entries: [const { MaybeUninit::uninit() }; IOV_MAX + 1],
            used: 0,
        }
    }

    /// One more piece.
    #[inline(always)]
    pub fn push(&mut self, at: *const u8, len: usize, handle: sys::uct_mem_h) {
        self.entries[self.used].write(sys::uct_iov_t {
            buffer: at.cast::<c_void>().cast_mut(),
            length: len,
            memh: handle,
            stride: 0,
            count: 1,
        });
        self.used += 1;
    }

    /// Add the pieces of a message of `len` bytes whose first one begins at `at`; a message that is longer than those
    /// that are cut is one piece. No list is left empty.
    #[inline(always)]
    pub fn cut(&mut self, at: *const u8, len: usize, handle: sys::uct_mem_h, spans: &Spans) {
        let before = self.used;
        let pieces = spans.list();
        if pieces.len() > 1 && len <= spans.total() {
            let is_whole = spans.are_of(len);
            for span in pieces.iter().take_while(|span| span.from < len) {
                // A part of a message lies together.
                let start = if is_whole { span.at } else { span.from };
                self.push(at.wrapping_add(start), span.len.min(len - span.from), handle);
            }
        }
        if self.used == before && (len > 0 || before == 0) {
            self.push(at, len, handle);
        }
    }

    /// As UCX wants it; [`List::len`] entries.
    #[inline(always)]
    pub fn as_ptr(&self) -> *const sys::uct_iov_t {
        self.entries.as_ptr().cast()
    }

    /// Entries in use.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::Iov;

    fn lengths(list: &List) -> Vec<usize> {
        // SAFETY: as many entries were written.
        unsafe { std::slice::from_raw_parts(list.as_ptr(), list.len()) }
            .iter()
            .map(|entry| entry.length)
            .collect()
    }

    #[test]
    fn a_list_holds_what_was_put_in() {
        let data = [0u8; 16];
        let none = std::ptr::null_mut();
        let whole = Spans::of(&Iov::default(), 16).unwrap();
        let mut list = List::new();
        list.push(data.as_ptr(), 8, none);
        list.cut(data.as_ptr(), 16, none, &whole);
        assert_eq!(lengths(&list), [8, 16]);
        list.cut(data.as_ptr(), 0, none, &whole);
        assert_eq!(lengths(&list), [8, 16]);
        let mut empty = List::new();
        empty.cut(data.as_ptr(), 0, none, &whole);
        assert_eq!(lengths(&empty), [0]);
    }
}
