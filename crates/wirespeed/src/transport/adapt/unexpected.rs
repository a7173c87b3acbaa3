//! Messages that arrived before their receive was posted: a log of one peer, in memory that is had at connect.
//!
//! A record is its tag, its length with a mark when it was taken out, and its bytes, padded to whole words. It must
//! never grow: what has no room is refused.

use crate::sync::SharedBytes;
use core::sync::atomic::Ordering::Relaxed;

/// Bytes of a record before its data.
pub const RECORD_BYTES: usize = 16;
const TAKEN: u64 = 1 << 63;

/// The log.
pub struct Unexpected {
    memory: SharedBytes,
    head: usize,
    tail: usize,
}

/// Where the bytes of a message lie, until the next `push`.
pub struct Found {
    /// Start in [`Unexpected::memory`].
    pub start: usize,
    /// Length.
    pub len: usize,
}

struct Record {
    tag: u64,
    len: usize,
    taken: bool,
}

fn record_bytes(len: usize) -> usize {
    RECORD_BYTES.saturating_add(len).saturating_add(7) & !7
}

impl Unexpected {
    /// A log of `bytes`; `None` when the memory cannot be had.
    pub fn new(bytes: usize) -> Option<Self> {
        Some(Unexpected {
            memory: SharedBytes::heap(bytes & !7)?,
            head: 0,
            tail: 0,
        })
    }

    /// Where the bytes of found messages lie.
    #[inline(always)]
    pub fn memory(&self) -> &SharedBytes {
        &self.memory
    }

    /// Keep a message; false when there is no room.
    pub fn push(&mut self, tag: u64, payload: &[u8]) -> bool {
        let bytes = record_bytes(payload.len());
        if bytes > self.memory.len() - self.tail {
            self.compact();
        }
        if bytes > self.memory.len() - self.tail {
            return false;
        }
        self.memory.u64_at(self.tail).store(tag, Relaxed);
        self.memory
            .u64_at(self.tail + 8)
            .store(payload.len() as u64, Relaxed);
        self.memory.write(self.tail + RECORD_BYTES, payload);
        self.tail += bytes;
        true
    }

    /// Take out the first message with `tag`.
    #[inline(always)]
    pub fn take(&mut self, tag: u64) -> Option<Found> {
        if self.head == self.tail {
            return None;
        }
        self.search(tag)
    }

    fn record(&self, at: usize) -> Record {
        let len = self.memory.u64_at(at + 8).load(Relaxed);
        Record {
            tag: self.memory.u64_at(at).load(Relaxed),
            len: (len & !TAKEN) as usize,
            taken: len & TAKEN != 0,
        }
    }

    fn search(&mut self, tag: u64) -> Option<Found> {
        let mut at = self.head;
        while at < self.tail {
            let record = self.record(at);
            if !record.taken && record.tag == tag {
                self.memory.u64_at(at + 8).fetch_or(TAKEN, Relaxed);
                self.drop_taken();
                return Some(Found {
                    start: at + RECORD_BYTES,
                    len: record.len,
                });
            }
            at += record_bytes(record.len);
        }
        None
    }

    /// Move the head past what was taken out.
    fn drop_taken(&mut self) {
        while self.head < self.tail {
            let record = self.record(self.head);
            if !record.taken {
                return;
            }
            self.head += record_bytes(record.len);
        }
        (self.head, self.tail) = (0, 0);
    }

    /// Move what is left to the front.
    fn compact(&mut self) {
        let (mut from, mut to) = (self.head, 0);
        while from < self.tail {
            let record = self.record(from);
            let bytes = record_bytes(record.len);
            if !record.taken {
                self.memory.copy_from(to, &self.memory, from, bytes);
                to += bytes;
            }
            from += bytes;
        }
        (self.head, self.tail) = (0, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn agrees_with_a_list(steps in prop::collection::vec((any::<bool>(), 0u64..3, 0usize..40), 1..200)) {
            let mut log = Unexpected::new(256).unwrap();
            let mut list: VecDeque<(u64, Vec<u8>)> = VecDeque::new();
            for (number, (push, tag, len)) in steps.into_iter().enumerate() {
                if push {
                    let payload = vec![number as u8; len];
                    let used: usize = list.iter().map(|m| record_bytes(m.1.len())).sum();
                    let fits = used + record_bytes(len) <= 256;
                    prop_assert_eq!(log.push(tag, &payload), fits);
                    if fits {
                        list.push_back((tag, payload));
                    }
                } else {
                    let at = list.iter().position(|m| m.0 == tag);
                    let expected = at.and_then(|at| list.remove(at)).map(|m| m.1);
                    let found = log.take(tag).map(|found| {
                        let mut data = vec![0; found.len];
                        log.memory().read(found.start, &mut data);
                        data
                    });
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
