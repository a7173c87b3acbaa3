//! The atomics of protocols that the model checker runs: the processor's, or the checker's own.

#[cfg(not(loom))]
pub use core::sync::atomic::fence;
#[cfg(loom)]
pub use loom::sync::atomic::fence;

use core::sync::atomic::{AtomicU32, Ordering};

/// A 32-bit atomic word of either kind.
pub trait Word {
    /// Load, relaxed.
    fn get(&self) -> u32;
    /// Store, relaxed.
    fn set(&self, value: u32);
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
}

#[cfg(loom)]
impl Word for loom::sync::atomic::AtomicU32 {
    fn get(&self) -> u32 {
        self.load(Ordering::Relaxed)
    }

    fn set(&self, value: u32) {
        self.store(value, Ordering::Relaxed);
    }
}
