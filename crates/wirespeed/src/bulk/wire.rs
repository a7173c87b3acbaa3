//! What passes over the connections of one worker, counted by its link, and the way to end a connection from outside.
//!
//! Bytes are those that the link reads from and writes to its connection: heads, envelopes and padding included, what TCP
//! or TLS add below left out.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A connection as seen from another thread.
pub trait Line: Send {
    /// Grows as long as the connection makes progress, in either direction; what is sent again does not count.
    fn moved_bytes(&self) -> u64;
    /// End the connection: whoever waits for it gets an error, and the far end stops sending.
    fn cut(&self);
}

/// The connections of one worker, one after the other.
#[derive(Default)]
pub struct Wire {
    read_bytes: AtomicU64,
    written_bytes: AtomicU64,
    line: Mutex<Option<Box<dyn Line>>>,
    cut: AtomicBool,
}

impl Wire {
    /// So many bytes were read.
    pub fn add_read(&self, bytes: u64) {
        self.read_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// So many bytes were written.
    pub fn add_written(&self, bytes: u64) {
        self.written_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes read so far.
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Ordering::Relaxed)
    }

    /// Bytes written so far.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes.load(Ordering::Relaxed)
    }

    /// A new connection takes the place of the one before.
    pub fn attach(&self, line: Box<dyn Line>) {
        *self.line.lock() = Some(line);
    }

    /// There is no connection any more.
    pub(super) fn detach(&self) {
        *self.line.lock() = None;
    }

    /// Changes as long as there is progress.
    pub(super) fn moved_bytes(&self) -> u64 {
        let below = self.line.lock().as_ref().map_or(0, |line| line.moved_bytes());
        below.wrapping_add(self.total_bytes())
    }

    /// Bytes read and written.
    pub(super) fn total_bytes(&self) -> u64 {
        self.read_bytes() + self.written_bytes()
    }

    /// End the connection. False: there is none.
    pub(super) fn cut(&self) -> bool {
        let line = self.line.lock();
        if let Some(line) = line.as_ref() {
            self.cut.store(true, Ordering::Relaxed);
            line.cut();
        }
        line.is_some()
    }

    /// Whether the connection was cut since this was last asked.
    pub(super) fn was_cut(&self) -> bool {
        self.cut.swap(false, Ordering::Relaxed)
    }
}
