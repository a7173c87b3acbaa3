//! A word that a receiver sleeps on and senders ring: a futex, between threads or processes.
//!
//! It must cost a sender nothing but a fence and a load while the receiver is awake.

use super::SharedBytes;
use super::atomic::Word;
use core::sync::atomic::{AtomicU32, Ordering};
use rustix::thread::futex;
use std::time::Duration;

/// The receiver is awake.
pub(super) const AWAKE: u32 = 0;
/// The receiver sleeps or is about to.
const ASLEEP: u32 = 1;

/// Sender, after publishing: whether the receiver must be woken.
#[inline(always)]
pub(super) fn is_asleep<W: Word>(word: &W) -> bool {
    // SYNC POINT: sleep (the record is published before the word is read; pairs with the fence in `fall_asleep`).
    W::fence();
    word.get() == ASLEEP
}

/// Receiver: announce sleep, then ask `empty` once more. Of the two fences one comes first: either the sender sees the
/// word or `empty` sees what it published. Returns what `empty` said: whether to sleep indeed.
#[inline(always)]
pub(super) fn fall_asleep<W: Word>(word: &W, empty: impl FnOnce() -> bool) -> bool {
    word.set(ASLEEP);
    // SYNC POINT: sleep (the word is set before the rings are read; pairs with the fence in `is_asleep`).
    W::fence();
    empty()
}

/// One receiver's bell, as the receiver or as a sender sees it.
#[derive(Clone)]
pub struct Doorbell {
    bytes: SharedBytes,
    flags: futex::Flags,
}

impl Doorbell {
    /// Bytes that a bell takes.
    pub const SIZE_BYTES: usize = 64;

    /// The bell in `bytes`, zeroed at the start. `private` when all its users are threads of one process.
    pub fn new(bytes: SharedBytes, private: bool) -> Self {
        let flags = if private {
            futex::Flags::PRIVATE
        } else {
            futex::Flags::empty()
        };
        Doorbell { bytes, flags }
    }

    #[inline(always)]
    fn word(&self) -> &AtomicU32 {
        self.bytes.u32_at(0)
    }

    /// Sender: call after every record published. Wakes the receiver if it sleeps.
    #[inline(always)]
    pub fn ring(&self) {
        if is_asleep(self.word()) {
            self.wake();
        }
    }

    /// Wake the receiver, whatever it does.
    #[cold]
    pub fn wake(&self) {
        self.word().store(AWAKE, Ordering::Release);
        // A failure to wake is not an error: the receiver's sleep is bounded.
        let _ = futex::wake(self.word(), self.flags, 1);
    }

    /// Receiver: sleep until the bell rings, at most `limit`, if `empty` says that there still is nothing.
    #[cold]
    pub fn sleep_if(&self, limit: Duration, empty: impl FnOnce() -> bool) {
        if fall_asleep(self.word(), empty) {
            let timeout = futex::Timespec {
                tv_sec: limit.as_secs() as i64,
                tv_nsec: limit.subsec_nanos().into(),
            };
            // Woken, timed out or interrupted: the caller looks again in every case.
            let _ = futex::wait(self.word(), self.flags, ASLEEP, Some(&timeout));
        }
        self.word().set(AWAKE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wakes_a_sleeper_and_never_sleeps_on_news() {
        let bytes = SharedBytes::heap(Doorbell::SIZE_BYTES).unwrap();
        for private in [true, false] {
            let bell = Doorbell::new(bytes.clone(), private);
            let forever = Duration::from_secs(3600);
            bell.sleep_if(forever, || false);
            std::thread::scope(|scope| {
                let sleeper = scope.spawn(|| bell.sleep_if(forever, || true));
                while !sleeper.is_finished() {
                    bell.ring();
                    std::thread::yield_now();
                }
            });
            bell.sleep_if(Duration::from_millis(1), || true);
        }
    }
}
