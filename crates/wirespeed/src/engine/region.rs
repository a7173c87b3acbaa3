//! Layout of the exposed region in one-sided tests, and what operations write there.
//!
//! First the data (or the word of the atomics), then one control word a phase, each in a cache line of its own. A
//! source ends a phase by putting the number of its operations, flagged, into that phase's control word.

use super::attached::Attached;
use super::phases::Phase;
use crate::sync::SharedBytes;
use crate::transport::port::{LinkError, OneSidedPort, Post};
use core::sync::atomic::Ordering;

/// Set in a control word that has been written.
const WRITTEN: u64 = 1 << 63;
const LINE: usize = 64;
/// Control words: one for each [`Phase`].
const PHASES: usize = 4;
/// Most memory that rotating slots may take a rank.
const SLOT_BYTES_MAX: usize = 64 << 20;

/// Where things are in a region.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Bytes of one operation.
    pub size: usize,
    /// Places for data, used in turn when payloads are checked.
    pub slots: usize,
}

impl Layout {
    /// For operations of `size` bytes, at most `outstanding` at once; one slot unless `check`.
    pub fn new(size: usize, outstanding: u64, check: bool) -> Self {
        let fit = (SLOT_BYTES_MAX / size.max(1)).max(1);
        let wanted = usize::try_from(outstanding).unwrap_or(usize::MAX);
        Layout {
            size,
            slots: if check { wanted.clamp(1, fit) } else { 1 },
        }
    }

    /// Start of slot `number % slots`.
    #[inline(always)]
    pub fn slot(&self, number: u64) -> usize {
        if self.slots == 1 {
            0
        } else {
            (number % self.slots as u64) as usize * self.size
        }
    }

    /// Bytes of all slots.
    #[inline(always)]
    pub fn data_bytes(&self) -> usize {
        self.size * self.slots
    }

    #[inline(always)]
    fn control(&self, phase: Phase) -> usize {
        (self.data_bytes().div_ceil(LINE) + phase as usize) * LINE
    }

    /// Bytes of the whole region.
    pub fn region_bytes(&self) -> usize {
        (self.data_bytes().div_ceil(LINE) + PHASES) * LINE
    }

    /// What the control word of `phase` says: the number of operations of the whole test up to the phase's end.
    #[inline(always)]
    pub fn ended_at(&self, region: &SharedBytes, phase: Phase) -> Option<u64> {
        let word = region.u64_at(self.control(phase)).load(Ordering::Acquire);
        (word & WRITTEN != 0).then_some(word & !WRITTEN)
    }
}

/// Tell the target that `phase` ends after operation number `operations`: after everything posted before, and before
/// everything posted after. Once a phase: no part of the loops' code.
#[inline(never)]
pub fn end_phase<P: OneSidedPort>(
    link: &mut Attached<P>,
    layout: Layout,
    phase: Phase,
    operations: u64,
) -> Result<(), LinkError> {
    let word = (operations | WRITTEN).to_le_bytes();
    link.fence()?;
    while link.port.put_short(0, layout.control(phase), &word)? == Post::Busy {
        link.give_way()?;
    }
    link.fence()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_words_do_not_overlap_data() {
        for size in [1, 8, 63, 64, 65, 1 << 20] {
            for outstanding in [1, 32] {
                let layout = Layout::new(size, outstanding, true);
                assert!(layout.control(Phase::First) >= layout.data_bytes());
                assert!(layout.control(Phase::Measured) + 8 <= layout.region_bytes());
                assert!(layout.slot(u64::MAX) + size <= layout.data_bytes());
                let region = SharedBytes::heap(layout.region_bytes()).unwrap();
                assert_eq!(layout.ended_at(&region, Phase::Settle), None);
                region.write(layout.control(Phase::Settle), &(7 | WRITTEN).to_le_bytes());
                assert_eq!(layout.ended_at(&region, Phase::Settle), Some(7));
            }
        }
    }
}
