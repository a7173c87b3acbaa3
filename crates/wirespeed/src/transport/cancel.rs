//! The word that ends a run early: set by a watcher thread, looked at by ports while they wait.
//!
//! It must cost nothing while messages flow: ports look at it only after many empty polls, loops between segments.
//!
//! Two degrees: a *request to stop* lets sources end the run in order, with their last message marked and every result
//! whole; a *cancel* makes every wait return at once.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Why a run is to end early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum CancelReason {
    /// The user stopped it.
    Interrupted = 1,
    /// A peer died, fell silent or gave up.
    PeerLost = 2,
}

type Hook = Box<dyn Fn() + Send>;

#[derive(Default)]
struct Inner {
    reason: AtomicU8,
    stop_requested: AtomicBool,
    hooks: Mutex<Vec<Hook>>,
}

/// A flag shared by a rank and its watcher. The first reason stays.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Inner>);

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Set it and wake whoever sleeps in a port.
    pub fn cancel(&self, reason: CancelReason) {
        let _ = self
            .0
            .reason
            .compare_exchange(0, reason as u8, Ordering::AcqRel, Ordering::Acquire);
        for hook in self.0.hooks.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            hook();
        }
    }

    /// Ask sources to end the run in order (Ctrl-C, first time).
    pub fn request_stop(&self) {
        self.0.stop_requested.store(true, Ordering::Release);
    }

    /// Whether an orderly end was asked for.
    #[inline]
    pub fn stop_requested(&self) -> bool {
        self.0.stop_requested.load(Ordering::Acquire)
    }

    /// Why the run is to end, if it is.
    #[inline]
    pub fn reason(&self) -> Option<CancelReason> {
        match self.0.reason.load(Ordering::Acquire) {
            0 => None,
            1 => Some(CancelReason::Interrupted),
            _ => Some(CancelReason::PeerLost),
        }
    }

    /// Have `hook` called when the flag is set (at once if it is set already): ports whose wait sleeps in the kernel
    /// use it to wake themselves, by shutting a socket down or waking a futex. It may be called more than once.
    pub fn on_cancel(&self, hook: impl Fn() + Send + 'static) {
        let mut hooks = self.0.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock, so that a `cancel` of this moment either sees the hook or is seen here.
        if self.reason().is_some() {
            hook();
        }
        hooks.push(Box::new(hook));
    }

    /// Forget all hooks: called when the ports of a run are closed.
    pub fn clear_hooks(&self) {
        self.0
            .hooks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}
