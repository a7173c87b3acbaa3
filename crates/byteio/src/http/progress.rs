//! What a connection's thread waits for, for whoever judges the other end. Only that thread writes it.

use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// What the other end is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// To begin a message.
    Message,
    /// To go on with one.
    Rest,
    /// To take what is sent.
    Room,
}

/// What was seen of a connection until now.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen {
    /// Bytes that were read.
    pub received_bytes: u64,
    /// The wait in course, and its begin.
    pub wait: Option<(Wait, Instant)>,
    /// All waits that ended, but those for messages to begin.
    waited: Duration,
}

impl Seen {
    /// How long the other end was waited for until `now`, but to begin messages.
    pub fn waited_until(&self, now: Instant) -> Duration {
        let present = match self.wait {
            Some((Wait::Rest | Wait::Room, since)) => now.saturating_duration_since(since),
            Some((Wait::Message, _)) | None => Duration::ZERO,
        };
        self.waited + present
    }
}

/// What a connection does at its socket.
#[derive(Default)]
pub struct Progress(Mutex<Seen>);

impl Progress {
    /// A call that may wait is made then.
    pub fn begins(&self, wait: Wait, then: Instant) {
        self.0.lock().wait = Some((wait, then));
    }

    /// It returned after `took`, and brought so many bytes.
    pub fn ends(&self, received_bytes: usize, took: Duration) {
        let mut seen = self.0.lock();
        if let Some((Wait::Rest | Wait::Room, _)) = seen.wait.take() {
            seen.waited += took;
        }
        seen.received_bytes += received_bytes as u64;
    }

    /// What was seen until now.
    pub fn seen(&self) -> Seen {
        *self.0.lock()
    }
}
