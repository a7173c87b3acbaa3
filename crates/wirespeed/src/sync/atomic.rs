//! The atomics of protocols that the model checker runs: the processor's, or the checker's own.

use core::sync::atomic::{AtomicU32, Ordering, fence};

/// A 32-bit atomic word of either kind.
pub trait Word {
    /// Load, relaxed.
    fn get(&self) -> u32;
    /// Store, relaxed.
    fn set(&self, value: u32);
    /// Order every access before it ahead of every access after it, sequentially consistent.
    fn fence();
}

impl Word for AtomicU32 {
    #[inline(always)]
    fn get(&self) -> u32 {
        self.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn set(&self, value: u32) {
        self.store(value, Ordering::Relaxed);
    }

    #[inline(always)]
    fn fence() {
        fence(Ordering::SeqCst);
    }
}

#[cfg(test)]
impl Word for loom::sync::atomic::AtomicU32 {
    fn get(&self) -> u32 {
        self.load(Ordering::Relaxed)
    }

    fn set(&self, value: u32) {
        self.store(value, Ordering::Relaxed);
    }

    fn fence() {
        loom::sync::atomic::fence(Ordering::SeqCst);
    }
}
