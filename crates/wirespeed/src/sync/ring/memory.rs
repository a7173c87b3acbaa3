//! What a ring needs of its memory, and the real thing over [`SharedBytes`].
//!
//! It must never hand out a reference that outlives the call.

use super::{CAPACITY_MAX, CAPACITY_MIN, LINE};
use crate::sync::SharedBytes;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Memory of one ring. Offsets are in bytes from the start of the data; commit words lie at multiples of 4.
/// The model checker has its own implementation.
///
/// # Safety
/// Implementations do not check offsets where they say so; the ring checks before it calls.
pub trait Memory {
    /// Bytes of data: a power of two.
    fn capacity(&self) -> usize;

    /// The commit word at `offset`, acquire.
    ///
    /// # Safety
    /// `offset` is a multiple of 4 below the capacity.
    unsafe fn commit(&self, offset: usize) -> u32;

    /// Set the commit word at `offset`, release.
    ///
    /// # Safety
    /// As for `commit`; the offset belongs to the producer.
    unsafe fn publish(&self, offset: usize, word: u32);

    /// Clear the commit word at `offset`, relaxed.
    ///
    /// # Safety
    /// As for `publish`.
    unsafe fn clear(&self, offset: usize);

    /// Write `data` at `offset`.
    ///
    /// # Safety
    /// `offset..offset + data.len()` lies within the capacity and belongs to the producer.
    unsafe fn write(&self, offset: usize, data: &[u8]);

    /// Let `pack` write `len` bytes at `offset`.
    ///
    /// # Safety
    /// As for `write`.
    unsafe fn pack(&self, offset: usize, len: usize, pack: impl FnOnce(&mut [u8]));

    /// Let `read` see `len` bytes at `offset`.
    ///
    /// # Safety
    /// The range lies within the capacity and belongs to the consumer.
    unsafe fn read<R>(&self, offset: usize, len: usize, read: impl FnOnce(&[u8]) -> R) -> R;

    /// The consumer's position, acquire.
    fn tail(&self) -> usize;

    /// Set the consumer's position, release.
    fn set_tail(&self, position: usize);

    /// Ask for the line at `offset` to be made writable soon. A hint.
    #[inline(always)]
    fn prefetch(&self, offset: usize) {
        let _ = offset;
    }
}

/// Bytes before the data: the consumer's position, and its neighbour line, which prefetchers fetch along.
const HEAD: usize = 2 * LINE;

/// The consumer's position in lines of its own, then the data.
#[derive(Clone)]
pub struct RingMemory {
    data: *mut u8,
    capacity: usize,
    bytes: SharedBytes,
}

// SAFETY: `data` points into `bytes`, which may be sent and shared; access is as in `SharedBytes`.
unsafe impl Send for RingMemory {}

impl RingMemory {
    /// Bytes that a ring of `capacity` takes.
    pub const fn size_bytes(capacity: usize) -> usize {
        capacity + HEAD
    }

    /// The ring in `bytes`, which must be zeroed, aligned to a line and as long as `size_bytes` of a power of two.
    pub fn new(bytes: SharedBytes) -> Option<Self> {
        let capacity = bytes.len().checked_sub(HEAD)?;
        let aligned = (bytes.as_ptr() as usize).is_multiple_of(LINE);
        let fits = (CAPACITY_MIN..=CAPACITY_MAX).contains(&capacity) && capacity.is_power_of_two();
        (aligned && fits).then(|| RingMemory {
            // SAFETY: the length is at least HEAD, checked above.
            data: unsafe { bytes.as_ptr().add(HEAD) },
            capacity,
            bytes,
        })
    }
}

// Why slices of this memory may be handed out at all: they are plain bytes, every value of which is valid, and the
// protocol gives the range to one side until it publishes. A hostile process that writes out of turn can make a reader
// see bytes change; nothing in this crate derives a length, index or branch to unsafe code from payload bytes, so the
// worst is a wrong payload, which the checks of a run report. Copying every payload first would cost a second pass
// over the data and make the figure that of the copy.
impl Memory for RingMemory {
    #[inline(always)]
    fn capacity(&self) -> usize {
        self.capacity
    }

    /// # Safety
    /// As the trait says.
    #[inline(always)]
    unsafe fn commit(&self, offset: usize) -> u32 {
        // SAFETY: in bounds and aligned by the caller's promise.
        unsafe { (*self.data.add(offset).cast::<AtomicU32>()).load(Ordering::Acquire) }
    }

    /// # Safety
    /// As the trait says.
    #[inline(always)]
    unsafe fn publish(&self, offset: usize, word: u32) {
        // SAFETY: in bounds and aligned by the caller's promise.
        unsafe { (*self.data.add(offset).cast::<AtomicU32>()).store(word, Ordering::Release) }
    }

    /// # Safety
    /// As the trait says.
    #[inline(always)]
    unsafe fn clear(&self, offset: usize) {
        // SAFETY: in bounds and aligned by the caller's promise.
        unsafe { (*self.data.add(offset).cast::<AtomicU32>()).store(0, Ordering::Relaxed) }
    }

    /// # Safety
    /// As the trait says.
    #[inline(always)]
    unsafe fn write(&self, offset: usize, data: &[u8]) {
        // SAFETY: in bounds by the caller's promise; no Rust reference into the ring lives outside a callback.
        unsafe {
            let target = self.data.add(offset);
            if data.len() == 8 {
                // The commonest size of all, and a call to memcpy would cost as much as the rest of the send.
                core::ptr::copy_nonoverlapping(data.as_ptr(), target, 8);
            } else {
                core::ptr::copy_nonoverlapping(data.as_ptr(), target, data.len());
            }
        }
    }

    /// # Safety
    /// As the trait says.
    #[inline(always)]
    unsafe fn pack(&self, offset: usize, len: usize, pack: impl FnOnce(&mut [u8])) {
        // SAFETY: in bounds and not yet published, so no honest peer touches it; see above for the others.
        pack(unsafe { core::slice::from_raw_parts_mut(self.data.add(offset), len) })
    }

    /// # Safety
    /// As the trait says.
    #[inline(always)]
    unsafe fn read<R>(&self, offset: usize, len: usize, read: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: in bounds and published, so no honest peer touches it; see above for the others.
        read(unsafe { core::slice::from_raw_parts(self.data.add(offset), len) })
    }

    #[inline(always)]
    fn tail(&self) -> usize {
        // SAFETY: the first line is part of `bytes` and aligned, checked in `new`.
        unsafe { (*self.bytes.as_ptr().cast::<AtomicU64>()).load(Ordering::Acquire) as usize }
    }

    #[inline(always)]
    fn set_tail(&self, position: usize) {
        // SAFETY: as in `tail`.
        unsafe { (*self.bytes.as_ptr().cast::<AtomicU64>()).store(position as u64, Ordering::Release) }
    }

    #[inline(always)]
    fn prefetch(&self, offset: usize) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a hint; it does not access memory as far as the language is concerned.
        unsafe {
            core::arch::asm!("prefetchw [{}]", in(reg) self.data.wrapping_add(offset),
                options(nostack, preserves_flags, readonly));
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = offset;
    }
}
