//! A range of memory that other threads, processes or devices may read and write at any time.
//!
//! It must never hand out a Rust reference into that memory: all access is by copy or by atomic word, bounds-checked.

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::any::Any;
use std::sync::Arc;

/// Shared memory with an owner that keeps it mapped. Cloning shares the same bytes.
#[derive(Clone)]
pub struct SharedBytes {
    base: *mut u8,
    len: usize,
    _owner: Arc<dyn Any + Send + Sync>,
}

// SAFETY: the memory outlives every clone (`_owner`), and is touched only by copies and atomics that tolerate races.
unsafe impl Send for SharedBytes {}
// SAFETY: as for Send; no method hands out a reference into the memory.
unsafe impl Sync for SharedBytes {}

/// Heap memory, page-aligned so that words in it are aligned wherever the offset is.
struct Heap {
    start: *mut u8,
    layout: std::alloc::Layout,
}

/// Alignment of heap memory.
const PAGE: usize = 4096;

// SAFETY: the pointer is owned and only freed in drop.
unsafe impl Send for Heap {}
// SAFETY: Heap itself offers no access.
unsafe impl Sync for Heap {}

impl Drop for Heap {
    fn drop(&mut self) {
        // SAFETY: allocated in `SharedBytes::heap` with this layout, freed once.
        unsafe { std::alloc::dealloc(self.start, self.layout) }
    }
}

impl SharedBytes {
    /// Zeroed heap memory for threads of one process. `None` when it cannot be had. Pages that nobody writes take no
    /// memory: asked for with the allocator's own alignment they come from the kernel as they are, and the start is
    /// moved to a page here.
    pub fn heap(len: usize) -> Option<Self> {
        let layout = std::alloc::Layout::from_size_align(len.max(64).checked_add(PAGE)?, 8).ok()?;
        // SAFETY: the layout has a non-zero size.
        let start = unsafe { std::alloc::alloc_zeroed(layout) };
        if start.is_null() {
            return None;
        }
        let base = start.wrapping_add(start.align_offset(PAGE));
        Some(SharedBytes {
            base,
            len,
            _owner: Arc::new(Heap { start, layout }),
        })
    }

    /// Wrap a mapping.
    ///
    /// # Safety
    /// `base..base + len` must stay readable and writable as long as `owner` lives, and no Rust reference into it may
    /// exist. `base` must be aligned to 8 bytes.
    pub unsafe fn from_raw(base: *mut u8, len: usize, owner: Arc<dyn Any + Send + Sync>) -> Self {
        SharedBytes {
            base,
            len,
            _owner: owner,
        }
    }

    /// Length in bytes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Start of the memory, for transports that map or register it.
    #[inline(always)]
    pub fn as_ptr(&self) -> *mut u8 {
        self.base
    }

    /// Where `offset` lies, if `len` bytes fit there: for transports that hand the range to a library or to the kernel.
    #[inline(always)]
    pub fn place(&self, offset: usize, len: usize) -> Option<*mut u8> {
        (offset <= self.len && len <= self.len - offset).then(|| self.base.wrapping_add(offset))
    }

    /// Pointer to `offset`, after checking that `len` bytes fit there.
    #[inline(always)]
    #[track_caller]
    fn at(&self, offset: usize, len: usize) -> *mut u8 {
        match self.place(offset, len) {
            Some(place) => place,
            None => panic!("shared memory access out of bounds"),
        }
    }

    /// The sub-range `offset..offset + len`.
    pub fn slice(&self, offset: usize, len: usize) -> SharedBytes {
        SharedBytes {
            base: self.at(offset, len),
            len,
            _owner: self._owner.clone(),
        }
    }

    /// Copy `data` to `offset`.
    #[inline(always)]
    #[track_caller]
    pub fn write(&self, offset: usize, data: &[u8]) {
        let target = self.at(offset, data.len());
        // SAFETY: bounds checked by `at`; a Rust slice and this memory never overlap (no references into it exist).
        unsafe { core::ptr::copy_nonoverlapping(data.as_ptr(), target, data.len()) }
    }

    /// Copy `data.len()` bytes from `offset`.
    #[inline(always)]
    #[track_caller]
    pub fn read(&self, offset: usize, data: &mut [u8]) {
        let source = self.at(offset, data.len());
        // SAFETY: as in `write`.
        unsafe { core::ptr::copy_nonoverlapping(source, data.as_mut_ptr(), data.len()) }
    }

    /// Copy `len` bytes from `source` at `from` to this memory at `to`; the ranges may overlap.
    #[inline(always)]
    #[track_caller]
    pub fn copy_from(&self, to: usize, source: &SharedBytes, from: usize, len: usize) {
        let target = self.at(to, len);
        let origin = source.at(from, len);
        // SAFETY: both ranges are checked; `copy` allows overlap.
        unsafe { core::ptr::copy(origin, target, len) }
    }

    /// Fill `len` bytes at `offset` through `pack`, which gets them as a plain slice.
    ///
    /// # Safety
    /// Nobody else may touch the range while `pack` runs.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn pack(&self, offset: usize, len: usize, pack: impl FnOnce(&mut [u8])) {
        let target = self.at(offset, len);
        // SAFETY: bounds checked; exclusivity is the caller's promise.
        pack(unsafe { core::slice::from_raw_parts_mut(target, len) })
    }

    /// The byte at `offset`, acquire.
    #[inline(always)]
    pub fn load_u8(&self, offset: usize) -> u8 {
        let p = self.at(offset, 1);
        // SAFETY: in bounds; any address is aligned for a byte.
        unsafe { (*p.cast::<AtomicU8>()).load(Ordering::Acquire) }
    }

    /// Set the byte at `offset`, release.
    #[inline(always)]
    pub fn store_u8(&self, offset: usize, value: u8) {
        let p = self.at(offset, 1);
        // SAFETY: in bounds; any address is aligned for a byte.
        unsafe { (*p.cast::<AtomicU8>()).store(value, Ordering::Release) }
    }

    /// The aligned word at `offset`. Panics when `offset` is not a multiple of 8.
    #[inline(always)]
    #[track_caller]
    pub fn u64_at(&self, offset: usize) -> &AtomicU64 {
        let p = self.at(offset, 8);
        assert!((p as usize).is_multiple_of(8), "unaligned 8-byte word");
        // SAFETY: in bounds, aligned; atomics may be shared with other processes.
        unsafe { &*p.cast::<AtomicU64>() }
    }

    /// The aligned half-word at `offset`. Panics when `offset` is not a multiple of 4.
    #[inline(always)]
    #[track_caller]
    pub fn u32_at(&self, offset: usize) -> &AtomicU32 {
        let p = self.at(offset, 4);
        assert!((p as usize).is_multiple_of(4), "unaligned 4-byte word");
        // SAFETY: in bounds, aligned; atomics may be shared with other processes.
        unsafe { &*p.cast::<AtomicU32>() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_what_was_written() {
        let bytes = SharedBytes::heap(64).unwrap();
        bytes.write(3, b"abc");
        let mut back = [0u8; 3];
        bytes.read(3, &mut back);
        assert_eq!(&back, b"abc");
        bytes.u64_at(8).fetch_add(7, Ordering::Relaxed);
        assert_eq!(bytes.slice(8, 8).u64_at(0).load(Ordering::Relaxed), 7);
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn refuses_to_leave_its_bounds() {
        SharedBytes::heap(64).unwrap().write(60, &[0; 8]);
    }
}
