//! The sending half of a ring.
//!
//! It must never publish a record before the commit word after it is cleared.

use super::{
    ALIGNED_FROM, LINE, Memory, NEXT_LINE, RingError, WRAP, payload_at, payload_max, record_end, round_up,
};

/// How far ahead lines are asked for. The consumer's cache holds the line that is to be written next, and a store waits
/// for it; sixteen requests on the way hide that (measured: 12 ns a message without, 7 ns with).
const AHEAD: usize = 16 * LINE;

/// Writes records. One a ring.
pub struct Producer<M> {
    memory: M,
    head: usize,
    /// First position that may not be written: the consumer's last known position plus the capacity.
    limit: usize,
}

impl<M: Memory> Producer<M> {
    /// The producer of a new (zeroed) ring.
    pub fn new(memory: M) -> Self {
        let limit = memory.capacity();
        Producer {
            memory,
            head: 0,
            limit,
        }
    }

    /// The ring's memory.
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// Send `payload`; false when there is no room for it now.
    #[inline(always)]
    pub fn send(&mut self, header: u64, payload: &[u8]) -> Result<bool, RingError> {
        self.send_with(header, payload.len(), |memory, offset| {
            // SAFETY: `send_with` gives an offset with room for `len` bytes.
            unsafe { memory.write(offset, payload) }
        })
    }

    /// Send `len` bytes that `pack` writes straight into the ring; false when there is no room now.
    #[inline(always)]
    pub fn send_packed(
        &mut self,
        header: u64,
        len: usize,
        pack: impl FnOnce(&mut [u8]),
    ) -> Result<bool, RingError> {
        self.send_with(header, len, |memory, offset| {
            // SAFETY: `send_with` gives an offset with room for `len` bytes.
            unsafe { memory.pack(offset, len, pack) }
        })
    }

    #[inline(always)]
    fn send_with(
        &mut self,
        header: u64,
        len: usize,
        fill: impl FnOnce(&M, usize),
    ) -> Result<bool, RingError> {
        let capacity = self.memory.capacity();
        let mask = capacity - 1;
        if len > payload_max(capacity) {
            return Err(RingError("a message is larger than the ring takes"));
        }
        if (self.head & mask) + (record_end(self.head, len) - self.head) > capacity && !self.wrap()? {
            return Ok(false);
        }
        let head = self.head;
        let end = record_end(head, len);
        let (next, flag) = if end % LINE + (end - head) > LINE && !end.is_multiple_of(LINE) {
            (round_up(end, LINE), NEXT_LINE)
        } else {
            (end, 0)
        };
        // The commit word at `next` must be free too: it is cleared below.
        if next + 4 > self.limit && !self.has_room(next + 4)? {
            return Ok(false);
        }
        let offset = head & mask;
        // SAFETY: head and next are multiples of 4; the record ends within the capacity (`wrap` saw to it) and before
        // `limit`, so the consumer is done with it.
        unsafe {
            self.memory.write(offset + 4, &header.to_ne_bytes());
            fill(&self.memory, offset + (payload_at(head, len) - head));
            self.memory.clear(next & mask);
            // SYNC POINT: record (release half; acquire in Consumer::next). The length fits: it is below 2^30.
            self.memory.publish(offset, (len as u32 + 1) | flag);
        }
        if flag != 0 && len < ALIGNED_FROM {
            let mut line = round_up(head + 1, LINE);
            while line <= next {
                self.memory.prefetch((line + AHEAD) & mask);
                line += LINE;
            }
        }
        self.head = next;
        Ok(true)
    }

    /// Move to offset 0 of the next lap; false when the consumer still is there.
    #[cold]
    #[inline(always)]
    fn wrap(&mut self) -> Result<bool, RingError> {
        let capacity = self.memory.capacity();
        let start = round_up(self.head, capacity);
        if start + 4 > self.limit && !self.has_room(start + 4)? {
            return Ok(false);
        }
        // SAFETY: both words are aligned; the one at 0 is before `limit`, the one at head was cleared and is ours.
        unsafe {
            self.memory.clear(0);
            // SYNC POINT: record (release half; acquire in Consumer::next).
            self.memory.publish(self.head & (capacity - 1), WRAP);
        }
        self.head = start;
        Ok(true)
    }

    /// Look at the consumer's position again: whether everything before `position` may be written.
    #[cold]
    #[inline(always)]
    fn has_room(&mut self, position: usize) -> Result<bool, RingError> {
        // SYNC POINT: room (acquire half; release in Consumer::next).
        let tail = self.memory.tail();
        let limit = tail.wrapping_add(self.memory.capacity());
        if tail > self.head || limit < self.limit {
            return Err(RingError("the consumer's position is impossible"));
        }
        self.limit = limit;
        Ok(position <= limit)
    }
}
