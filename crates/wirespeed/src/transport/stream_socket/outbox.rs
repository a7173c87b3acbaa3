//! What is to be sent to one peer and has not yet been taken by the kernel.
//!
//! With `coalesce_bytes = 0` it holds at most one frame, so every message is a write of its own; above that, frames are
//! gathered until so many bytes are there. It must never do I/O itself.

use super::frame::{self, HEADER_BYTES};
use super::inbox::zeroed;
use crate::sync::put;
use crate::transport::ConnectError;

/// A send buffer of frames.
pub struct Outbox {
    buf: Vec<u8>,
    head: usize,
    tail: usize,
    coalesce_bytes: usize,
}

impl Outbox {
    /// An outbox for messages of at most `message_bytes_max` bytes.
    pub fn new(message_bytes_max: usize, coalesce_bytes: usize) -> Result<Self, ConnectError> {
        let len = message_bytes_max
            .saturating_add(HEADER_BYTES)
            .saturating_add(coalesce_bytes);
        Ok(Outbox {
            buf: zeroed(len, "the send buffer")?,
            head: 0,
            tail: 0,
            coalesce_bytes,
        })
    }

    /// Whether everything has been taken.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.tail == 0
    }

    /// Whether one more frame of any allowed size fits.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.tail == 0 || self.tail < self.coalesce_bytes
    }

    /// Add a frame; its payload is to be written into the slice. Only with [`Outbox::has_room`].
    #[inline(always)]
    pub fn stage(&mut self, word: u64, len: usize) -> &mut [u8] {
        let frame = self.extend(HEADER_BYTES + len);
        let (head, payload) = frame.split_at_mut(HEADER_BYTES);
        put(head, 0, frame::encode(len, word));
        payload
    }

    /// Whether it is time to send.
    #[inline(always)]
    pub fn is_due(&self) -> bool {
        self.tail - self.head >= self.coalesce_bytes
    }

    /// What is to be sent.
    #[inline(always)]
    pub fn unsent(&self) -> &[u8] {
        &self.buf[self.head..self.tail]
    }

    /// The first `count` bytes of [`Outbox::unsent`] were taken.
    #[inline(always)]
    pub fn taken(&mut self, count: usize) {
        self.head += count;
        if self.head == self.tail {
            (self.head, self.tail) = (0, 0);
        }
    }

    /// Room for `len` more bytes of a frame whose beginning was sent from elsewhere or is here; they are to be written into
    /// the slice.
    #[inline(always)]
    pub fn extend(&mut self, len: usize) -> &mut [u8] {
        let at = self.tail;
        self.tail = at + len;
        &mut self.buf[at..self.tail]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_frame_at_a_time_without_coalescing() {
        let mut out = Outbox::new(8, 0).unwrap();
        out.stage(3, 8).fill(1);
        assert!(!out.has_room() && out.is_due());
        assert_eq!(out.unsent().len(), 24);
        out.taken(20);
        assert_eq!(out.unsent(), [1; 4]);
        assert!(!out.has_room());
        out.taken(4);
        assert!(out.has_room() && out.is_empty());
    }

    #[test]
    fn frames_are_gathered_up_to_the_limit() {
        let mut out = Outbox::new(8, 48).unwrap();
        out.stage(1, 8).fill(1);
        assert!(out.has_room() && !out.is_due());
        out.stage(2, 8).fill(2);
        assert!(!out.has_room() && out.is_due());
        out.taken(48);
        assert!(out.has_room());
    }
}
