//! Book-keeping of `MSG_ZEROCOPY` sends to one peer: which calls the kernel has finished with, and which messages
//! those were. It must never do I/O itself.
//!
//! The kernel numbers the successful zero-copy calls of a socket from 0 and reports ranges of finished ones on the
//! socket's error queue, usually in order. One message may take several calls.

use super::frame::{self, HEADER_BYTES};

/// Messages that may be unfinished at once; their headers must stay in place as long.
const MESSAGES: usize = 1024;

/// Calls that may be unfinished at once.
const CALLS: u32 = 4096;

/// What the kernel has not yet taken of the message at hand.
#[derive(Debug, Clone, Copy)]
pub struct Rest {
    slot: usize,
    /// Bytes taken, header included.
    taken: usize,
    /// Where the payload is in the port's buffer.
    pub offset: usize,
    /// Length of the payload.
    pub len: usize,
}

impl Rest {
    /// The part of the payload that is still to go, as offset and length in the port's buffer.
    #[inline(always)]
    pub fn payload(&self) -> (usize, usize) {
        let gone = self.taken.saturating_sub(HEADER_BYTES);
        (self.offset + gone, self.len - gone)
    }
}

/// Zero-copy sends to one peer.
pub struct ZeroCopy {
    headers: Box<[[u8; HEADER_BYTES]]>,
    /// By message: number of the call after its last one.
    ends: Box<[u32]>,
    /// By call number modulo `CALLS`: finished out of order.
    finished: Box<[bool]>,
    calls: u32,
    /// Every call below it is finished.
    finished_below: u32,
    accepted: u64,
    completed: u64,
    copied: u64,
    rest: Option<Rest>,
}

impl ZeroCopy {
    /// Nothing sent yet.
    pub fn new() -> Self {
        ZeroCopy {
            headers: vec![[0; HEADER_BYTES]; MESSAGES].into(),
            ends: vec![0; MESSAGES].into(),
            finished: vec![false; CALLS as usize].into(),
            calls: 0,
            finished_below: 0,
            accepted: 0,
            completed: 0,
            copied: 0,
            rest: None,
        }
    }

    /// Whether a message is only partly taken.
    #[inline(always)]
    pub fn is_pending(&self) -> bool {
        self.rest.is_some()
    }

    /// Whether calls or messages are unfinished.
    #[inline(always)]
    pub fn is_outstanding(&self) -> bool {
        self.accepted != self.completed
    }

    /// Whether a further message can be accepted.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.rest.is_none() && (self.accepted - self.completed) < MESSAGES as u64
    }

    /// Messages that the kernel has finished with.
    #[inline(always)]
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Calls whose data the kernel copied after all.
    pub fn copied(&self) -> u64 {
        self.copied
    }

    /// Accept a message. Only with [`ZeroCopy::has_room`].
    #[inline(always)]
    pub fn accept(&mut self, word: u64, offset: usize, len: usize) {
        let slot = (self.accepted % MESSAGES as u64) as usize;
        self.headers[slot] = frame::encode(len, word);
        self.accepted += 1;
        self.rest = Some(Rest {
            slot,
            taken: 0,
            offset,
            len,
        });
    }

    /// What is still to go, and the rest of its header; `None` also when too many calls are unfinished.
    #[inline(always)]
    pub fn to_send(&self) -> Option<(&[u8], Rest)> {
        let rest = self.rest?;
        if self.calls.wrapping_sub(self.finished_below) >= CALLS {
            return None;
        }
        Some((&self.headers[rest.slot][rest.taken.min(HEADER_BYTES)..], rest))
    }

    /// One call took `count` bytes, more than 0.
    #[inline(always)]
    pub fn taken(&mut self, count: usize) {
        self.calls = self.calls.wrapping_add(1);
        if let Some(rest) = &mut self.rest {
            rest.taken += count;
            if rest.taken == HEADER_BYTES + rest.len {
                self.ends[rest.slot] = self.calls;
                self.rest = None;
            }
        }
    }

    /// The kernel has finished with calls `first..=last`.
    pub fn finish(&mut self, first: u32, last: u32, copied: bool) {
        let count = last.wrapping_sub(first).wrapping_add(1).min(CALLS);
        for call in (0..count).map(|i| first.wrapping_add(i)) {
            self.finished[(call % CALLS) as usize] = true;
        }
        if copied {
            self.copied += u64::from(count);
        }
        while self.finished_below != self.calls {
            let mark = &mut self.finished[(self.finished_below % CALLS) as usize];
            if !std::mem::take(mark) {
                break;
            }
            self.finished_below = self.finished_below.wrapping_add(1);
        }
        let handed_over = self.accepted - u64::from(self.rest.is_some());
        while self.completed < handed_over {
            let end = self.ends[(self.completed % MESSAGES as u64) as usize];
            // Both count calls of the recent past, so the distance tells which is later.
            if (self.finished_below.wrapping_sub(end) as i32) < 0 {
                break;
            }
            self.completed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_complete_when_all_their_calls_have() {
        let mut zero = ZeroCopy::new();
        zero.accept(1, 0, 100);
        zero.taken(10);
        assert_eq!(zero.to_send().unwrap().0.len(), 6);
        zero.taken(50);
        let (head, rest) = zero.to_send().unwrap();
        assert_eq!((head.len(), rest.payload()), (0, (44, 56)));
        zero.taken(56);
        assert!(!zero.is_pending() && zero.is_outstanding());
        zero.accept(2, 0, 4);
        zero.taken(20);
        zero.finish(3, 3, true);
        zero.finish(1, 2, false);
        assert_eq!(zero.completed(), 0);
        zero.finish(0, 0, false);
        assert_eq!((zero.completed(), zero.copied()), (2, 1));
        assert!(!zero.is_outstanding());
    }

    #[test]
    fn call_numbers_wrap() {
        let mut zero = ZeroCopy::new();
        zero.calls = u32::MAX - 1;
        zero.finished_below = u32::MAX - 1;
        for round in 0..5u32 {
            zero.accept(0, 0, 0);
            zero.taken(HEADER_BYTES);
            let call = (u32::MAX - 1).wrapping_add(round);
            zero.finish(call, call, false);
            assert_eq!(zero.completed(), u64::from(round) + 1);
        }
    }
}
