//! The word that ends a run early: set by a watcher thread, looked at by ports while they wait.
//!
//! It must cost nothing while messages flow: ports look at it only after many empty polls, loops between segments.
//!
//! Two degrees: a *request to stop* lets sources end the run in order, with their last message marked and every result
//! whole; a *cancel* makes every wait return at once.

use parking_lot::{Mutex, MutexGuard};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Weak};

/// Why a run is to end early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[non_exhaustive]
pub enum CancelReason {
    /// The user stopped it.
    Interrupted = 1,
    /// A peer died, fell silent or gave up.
    PeerLost = 2,
}

/// Something that may sleep in the kernel while the flag is set.
trait Sleeper: Send {
    /// Wake it, if it is still there.
    fn wake(&self);
    fn is_gone(&self) -> bool;
}

struct Weakly<T> {
    what: Weak<T>,
    wake: fn(&T),
}

impl<T: Send + Sync> Sleeper for Weakly<T> {
    fn wake(&self) {
        if let Some(what) = self.what.upgrade() {
            (self.wake)(&what);
        }
    }

    fn is_gone(&self) -> bool {
        self.what.strong_count() == 0
    }
}

#[derive(Default)]
struct Inner {
    reason: AtomicU8,
    stop_requested: AtomicBool,
    sleepers: Mutex<Vec<Box<dyn Sleeper>>>,
    /// Those who are to hear the request to stop, too.
    listeners: Mutex<Vec<Box<dyn Sleeper>>>,
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
        for sleeper in locked(&self.0.sleepers)
            .iter()
            .chain(locked(&self.0.listeners).iter())
        {
            sleeper.wake();
        }
    }

    /// Ask sources to end the run in order (Ctrl-C, first time).
    pub fn request_stop(&self) {
        self.0.stop_requested.store(true, Ordering::Release);
        for listener in locked(&self.0.listeners).iter() {
            listener.wake();
        }
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

    /// Have `wake` called on `what` when the flag is set, at once if it is set already: ports whose wait sleeps in the
    /// kernel use it to wake themselves, by shutting a socket down or waking a futex. It may be called more than once.
    /// The flag does not keep `what` alive, and forgets it when it is gone.
    pub fn wake_on_cancel<T: Send + Sync + 'static>(&self, what: &Arc<T>, wake: fn(&T)) {
        // Under the lock, so that a `cancel` of this moment either sees the sleeper or is seen here.
        let mut sleepers = locked(&self.0.sleepers);
        if self.reason().is_some() {
            wake(what);
        }
        keep(&mut sleepers, what, wake);
    }

    /// As [`Cancel::wake_on_cancel`], and also when an orderly end is asked for: for what talks to a service that is no
    /// rank, and so is told by nobody else.
    pub fn wake_on_stop<T: Send + Sync + 'static>(&self, what: &Arc<T>, wake: fn(&T)) {
        let mut listeners = locked(&self.0.listeners);
        if self.stop_requested() || self.reason().is_some() {
            wake(what);
        }
        keep(&mut listeners, what, wake);
    }
}

type Sleepers = Vec<Box<dyn Sleeper>>;

fn locked(sleepers: &Mutex<Sleepers>) -> MutexGuard<'_, Sleepers> {
    sleepers.lock()
}

fn keep<T: Send + Sync + 'static>(sleepers: &mut Sleepers, what: &Arc<T>, wake: fn(&T)) {
    sleepers.retain(|s| !s.is_gone());
    sleepers.push(Box::new(Weakly {
        what: Arc::downgrade(what),
        wake,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    fn wake(count: &AtomicUsize) {
        count.fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn sleepers_are_woken_and_the_dead_forgotten() {
        let cancel = Cancel::new();
        let (early, gone) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        cancel.wake_on_cancel(&gone, wake);
        drop(gone);
        cancel.wake_on_cancel(&early, wake);
        assert_eq!(locked(&cancel.0.sleepers).len(), 1);
        cancel.cancel(CancelReason::PeerLost);
        cancel.cancel(CancelReason::Interrupted);
        assert_eq!(cancel.reason(), Some(CancelReason::PeerLost));
        let late = Arc::new(AtomicUsize::new(0));
        cancel.wake_on_cancel(&late, wake);
        assert!(early.load(Ordering::Relaxed) >= 1 && late.load(Ordering::Relaxed) == 1);
    }

    #[test]
    fn a_listener_hears_the_wish_to_stop_and_a_sleeper_does_not() {
        let cancel = Cancel::new();
        let (sleeper, listener) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        cancel.wake_on_cancel(&sleeper, wake);
        cancel.wake_on_stop(&listener, wake);
        cancel.request_stop();
        let late = Arc::new(AtomicUsize::new(0));
        cancel.wake_on_stop(&late, wake);
        let woken = [&sleeper, &listener, &late].map(|count| count.load(Ordering::Relaxed));
        assert_eq!(woken, [0, 1, 1]);
    }
}
