//! A word that a receiver sleeps on and senders ring: a futex, between threads or processes.
//!
//! It must cost a sender nothing but a fence and a load while the receiver is awake.

use super::SharedBytes;
use core::sync::atomic::{AtomicU32, Ordering, fence};
use rustix::thread::futex;
use std::time::Duration;

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;

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

    fn word(&self) -> &AtomicU32 {
        self.bytes.u32_at(0)
    }

    /// Sender: call after every record published. Wakes the receiver if it sleeps.
    #[inline(always)]
    pub fn ring(&self) {
        // SYNC POINT: sleep (the record is published before the word is read; pairs with the fence in `sleep_unless`).
        fence(Ordering::SeqCst);
        if self.word().load(Ordering::Relaxed) == ASLEEP {
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

    /// Receiver: sleep until the bell rings, at most `limit`. `arrived` is asked once more after the word is set: a
    /// sender either sees the word or has published before, so nothing is missed. Returns what `arrived` said.
    #[cold]
    pub fn sleep_unless<E>(
        &self,
        limit: Duration,
        arrived: impl FnOnce() -> Result<usize, E>,
    ) -> Result<usize, E> {
        self.word().store(ASLEEP, Ordering::Relaxed);
        // SYNC POINT: sleep (the word is set before the rings are read; pairs with the fence in `ring`).
        fence(Ordering::SeqCst);
        let handled = arrived();
        if matches!(handled, Ok(0)) {
            let timeout = futex::Timespec {
                tv_sec: limit.as_secs() as i64,
                tv_nsec: limit.subsec_nanos().into(),
            };
            // Woken, timed out or interrupted: the caller looks again in every case.
            let _ = futex::wait(self.word(), self.flags, ASLEEP, Some(&timeout));
        }
        self.word().store(AWAKE, Ordering::Relaxed);
        handled
    }
}
