//! What the caches hold when an iteration begins. All of it happens between samples.

use super::places::Places;
use crate::error::MeasureError;
use crate::sync::SharedBytes;
use std::hint::black_box;
use wirespeed_schema::posted::CacheState;

/// Words of a cache line.
const LINE_WORDS: usize = 8;

/// Brings the caches into a state.
pub struct Caches {
    state: CacheState,
    /// Filled before each iteration, so that nothing else is in the caches.
    filler: Vec<u64>,
}

impl Default for Caches {
    /// Left as they are.
    fn default() -> Self {
        Caches {
            state: CacheState::Hot,
            filler: Vec::new(),
        }
    }
}

impl Caches {
    /// For `state`, with `bytes` of other data where it needs them.
    pub fn new(state: CacheState, bytes: u64) -> Result<Self, MeasureError> {
        let mut filler = Vec::new();
        if state == CacheState::Flushed {
            let words = usize::try_from(bytes / 8).unwrap_or(usize::MAX);
            filler.try_reserve_exact(words).map_err(|_| {
                MeasureError::Memory(format!("no memory for {bytes} bytes that flush the caches"))
            })?;
            filler.resize(words, 1);
        }
        Ok(Caches { state, filler })
    }

    /// Before an iteration whose messages lie at `places`.
    pub fn prepare(&mut self, places: &mut Places, buffer: &SharedBytes) {
        match self.state {
            CacheState::Hot => (),
            CacheState::Rotating => places.rotate(),
            CacheState::Touched => places.touch(buffer),
            CacheState::Flushed => self.fill(),
        }
    }

    /// Read and write a word of every line; each needs the one before, so that none can be left out.
    fn fill(&mut self) {
        let mut carried = 0u64;
        for line in self.filler.chunks_mut(LINE_WORDS) {
            carried = carried.wrapping_add(line[0]);
            line[0] = carried;
        }
        black_box(carried);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_states_that_need_memory_take_it() {
        let mut places = Places::own(8, 1, 3);
        let buffer = SharedBytes::heap(places.bytes()).unwrap();
        let mut caches = Caches::new(CacheState::Flushed, 1 << 16).unwrap();
        assert_eq!(caches.filler.len() * 8, 1 << 16);
        caches.prepare(&mut places, &buffer);
        assert_eq!(caches.filler[LINE_WORDS], 2);
        let mut caches = Caches::new(CacheState::Rotating, 1 << 16).unwrap();
        assert!(caches.filler.is_empty());
        let before = places.outgoing(0);
        caches.prepare(&mut places, &buffer);
        assert_ne!(places.outgoing(0), before);
        assert!(Caches::new(CacheState::Flushed, u64::MAX).is_err());
    }
}
