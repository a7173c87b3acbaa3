//! The receiving half of a ring.
//!
//! It must never write into the ring's data.

use super::{LINE, Memory, NEXT_LINE, RingError, WRAP, payload_at, payload_max, record_end, round_up};
use crate::sync::take;

/// Reads records. One a ring.
pub struct Consumer<M> {
    memory: M,
    tail: usize,
    /// Position last told to the producer.
    told: usize,
}

impl<M: Memory> Consumer<M> {
    /// The consumer of a new (zeroed) ring.
    pub fn new(memory: M) -> Self {
        Consumer {
            memory,
            tail: 0,
            told: 0,
        }
    }

    /// The ring's memory.
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// Whether there is nothing to take.
    pub fn is_empty(&self) -> bool {
        let offset = self.tail & (self.memory.capacity() - 1);
        // SAFETY: the tail is a multiple of 4 and the mask keeps it below the capacity.
        unsafe { self.memory.commit(offset) == 0 }
    }

    /// Hand the next record's header and payload to `on`; false when there is none yet. The payload is valid only
    /// during the call.
    #[inline(always)]
    pub fn next(&mut self, on: impl FnOnce(u64, &[u8])) -> Result<bool, RingError> {
        let capacity = self.memory.capacity();
        let mask = capacity - 1;
        let mut offset = self.tail & mask;
        // SAFETY: the tail is a multiple of 4 and the mask keeps it below the capacity.
        // SYNC POINT: record (acquire half; release in Producer::send_with and Producer::wrap).
        let mut word = unsafe { self.memory.commit(offset) };
        if word == 0 {
            return Ok(false);
        }
        if word == WRAP {
            word = self.wrap(offset)?;
            offset = 0;
            if word == 0 {
                return Ok(false);
            }
        }
        let tail = self.tail;
        // A word of NEXT_LINE alone gives a length of usize::MAX, which is refused with the other bad ones.
        let len = ((word & !NEXT_LINE) as usize).wrapping_sub(1);
        if len > payload_max(capacity) || offset + (record_end(tail, len) - tail) > capacity {
            return Err(RingError("a record has an impossible length"));
        }
        let end = record_end(tail, len);
        // SAFETY: the record lies within the capacity, checked above, and has been published.
        unsafe {
            let header = self
                .memory
                .read(offset + 4, 8, |bytes| u64::from_ne_bytes(take(bytes, 0)));
            self.memory
                .read(offset + (payload_at(tail, len) - tail), len, |payload| {
                    on(header, payload)
                });
        }
        self.tail = if word & NEXT_LINE == 0 {
            end
        } else {
            round_up(end, LINE)
        };
        if self.tail - self.told >= capacity / 4 {
            self.tell();
        }
        Ok(true)
    }

    /// Go on at offset 0 of the next lap; returns the commit word there.
    #[cold]
    #[inline(always)]
    fn wrap(&mut self, offset: usize) -> Result<u32, RingError> {
        if offset == 0 {
            return Err(RingError("a record at the start of the ring says wrap"));
        }
        self.tail = round_up(self.tail, self.memory.capacity());
        // SAFETY: offset 0 always exists.
        // SYNC POINT: record (acquire half; release in Producer::send_with).
        match unsafe { self.memory.commit(0) } {
            WRAP => Err(RingError("a record at the start of the ring says wrap")),
            word => Ok(word),
        }
    }

    #[cold]
    #[inline(always)]
    fn tell(&mut self) {
        // SYNC POINT: room (release half; acquire in Producer::has_room).
        self.memory.set_tail(self.tail);
        self.told = self.tail;
    }
}
