//! Atomic operations on words of a region, and how they are done to one that this process has mapped.
//!
//! It must never touch what lies beside the word.

use crate::sync::SharedBytes;
use core::sync::atomic::Ordering::{AcqRel, Acquire};

/// An operation on a remote word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtomicOp {
    /// Add; nothing comes back (posted).
    Add,
    /// Add and fetch the value from before.
    FetchAdd,
    /// Swap and fetch.
    Swap,
    /// Swap if equal to `compare`; fetches the value from before.
    CompareSwap,
}

impl AtomicOp {
    /// Every operation.
    pub const ALL: [AtomicOp; 4] = [
        AtomicOp::Add,
        AtomicOp::FetchAdd,
        AtomicOp::Swap,
        AtomicOp::CompareSwap,
    ];

    /// The name of its test, as far as it has one of its own.
    pub fn name(self) -> &'static str {
        match self {
            AtomicOp::Add => "add",
            AtomicOp::FetchAdd => "fadd",
            AtomicOp::Swap => "swap",
            AtomicOp::CompareSwap => "cswap",
        }
    }
}

/// Width of a remote word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// 4 bytes.
    W4,
    /// 8 bytes.
    W8,
}

impl Width {
    /// Every width.
    pub const ALL: [Width; 2] = [Width::W4, Width::W8];

    /// That of a word of `size_bytes`: 4, else 8.
    pub fn of(size_bytes: u64) -> Self {
        if size_bytes == 4 { Width::W4 } else { Width::W8 }
    }

    /// In bytes.
    #[inline(always)]
    pub fn bytes(self) -> usize {
        match self {
            Width::W4 => 4,
            Width::W8 => 8,
        }
    }
}

/// An atomic operation on a word of a peer's region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordOp {
    /// What is done.
    pub op: AtomicOp,
    /// How wide the word is.
    pub width: Width,
    /// Where it lies in the region, aligned to its width.
    pub offset: usize,
    /// What is added, or takes the word's place.
    pub operand: u64,
    /// What a word is compared with before it is swapped.
    pub compare: u64,
    /// Where a fetched value goes, below `Needs::fetch_slots`.
    pub slot: usize,
}

impl WordOp {
    /// `op` on the word of `width` at `offset`.
    #[inline(always)]
    pub fn new(op: AtomicOp, width: Width, offset: usize, operand: u64, compare: u64, slot: usize) -> Self {
        WordOp {
            op,
            width,
            offset,
            operand,
            compare,
            slot,
        }
    }

    /// Do it to `region`, where the word lies aligned and in bounds; the value from before, zero-extended.
    #[inline(always)]
    pub(crate) fn apply(&self, region: &SharedBytes) -> u64 {
        match self.width {
            Width::W8 => {
                let word = region.u64_at(self.offset);
                match self.op {
                    AtomicOp::Add | AtomicOp::FetchAdd => word.fetch_add(self.operand, AcqRel),
                    AtomicOp::Swap => word.swap(self.operand, AcqRel),
                    AtomicOp::CompareSwap => word
                        .compare_exchange(self.compare, self.operand, AcqRel, Acquire)
                        .unwrap_or_else(|found| found),
                }
            }
            Width::W4 => {
                let (operand, compare) = (self.operand as u32, self.compare as u32);
                let word = region.u32_at(self.offset);
                u64::from(match self.op {
                    AtomicOp::Add | AtomicOp::FetchAdd => word.fetch_add(operand, AcqRel),
                    AtomicOp::Swap => word.swap(operand, AcqRel),
                    AtomicOp::CompareSwap => word
                        .compare_exchange(compare, operand, AcqRel, Acquire)
                        .unwrap_or_else(|found| found),
                })
            }
        }
    }
}
