//! A byte ring in shared memory: one producer, one consumer, no locks, between threads or processes.
//!
//! It must never trust a word that the other side can write: every length and position read from memory is checked
//! before use, and a bad one is [`RingError`], never an access out of bounds.
//!
//! # Format
//! The ring is `capacity` bytes (a power of two), zeroed at the start. Positions count bytes since the start and never
//! wrap; the offset is the position modulo the capacity. A record at a position that is a multiple of 4 is
//! ```text
//! commit: u32 | header: 8 bytes | payload | padding to 4
//! ```
//! `commit` is 0 (nothing here yet), `WRAP` (go on at offset 0) or the payload's length + 1, with `NEXT_LINE` set
//! when the next record begins at the next cache line. Payloads of `ALIGNED_FROM` bytes and more begin at a line.
//!
//! # Why so
//! The commit word travels in the line of its record, so a small message costs one line transfer and nothing else. The
//! producer clears the *next* commit word before it publishes the current one; the consumer never writes into the
//! ring, so lines flow one way. The producer guesses that the next record has the size of this one and starts it at a
//! new line when it would straddle two: three 8-byte messages to a line, each whole within it. The consumer tells its
//! position only every quarter of the ring, in a line of its own; a record is at most three eighths of the ring, so
//! that even with a quarter untold and the end of the ring skipped there is always room for it at last.

mod consumer;
mod memory;
// The checker switches stacks, which miri cannot follow.
#[cfg(all(test, not(miri)))]
mod model;
mod producer;
#[cfg(test)]
mod tests;

pub use consumer::Consumer;
pub use memory::{Memory, RingMemory};
pub use producer::Producer;

/// Cache line, on every machine that matters here.
pub const LINE: usize = 64;
/// Bytes before a small record's payload: commit word and header.
pub const PREFIX: usize = 12;
/// Payloads of this size and more are aligned to a line, for the sake of the copy.
pub const ALIGNED_FROM: usize = 512;
/// Smallest capacity.
pub const CAPACITY_MIN: usize = 1024;
/// Largest capacity: a commit word must be able to tell any length.
pub const CAPACITY_MAX: usize = 1 << 30;

/// Commit word: go on at offset 0.
const WRAP: u32 = u32::MAX;
/// Bit of the commit word: the next record begins at the next line.
const NEXT_LINE: u32 = 1 << 31;

/// What the other side wrote cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("ring: {0}")]
pub struct RingError(pub &'static str);

/// Largest payload that a ring of `capacity` bytes takes.
#[inline(always)]
pub const fn payload_max(capacity: usize) -> usize {
    (capacity / 8 * 3).saturating_sub(2 * LINE)
}

/// Smallest power of two in which four messages of `payload` bytes fit.
pub fn capacity_for(payload: usize) -> Option<usize> {
    payload
        .checked_mul(4)?
        .max(CAPACITY_MIN)
        .checked_next_power_of_two()
}

#[inline(always)]
const fn round_up(value: usize, unit: usize) -> usize {
    (value + unit - 1) & !(unit - 1)
}

/// Where the payload of the record at `position` begins.
#[inline(always)]
const fn payload_at(position: usize, len: usize) -> usize {
    if len < ALIGNED_FROM {
        position + PREFIX
    } else {
        round_up(position + PREFIX, LINE)
    }
}

/// First position after the record.
#[inline(always)]
const fn record_end(position: usize, len: usize) -> usize {
    round_up(payload_at(position, len) + len, 4)
}
