//! In which order repetitions run. The repetition is the outer loop, so that slow drift of the machine spreads over all
//! cases; within each round the order is random, so that no case always follows the same other one.

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016): enough for
/// shuffling, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Below `bound`, by taking the high half of a product (the bias of at most bound/2^64 does not matter here).
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

/// One run of one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// Number of the repetition, from 0.
    pub repetition: u32,
    /// Index of the case.
    pub case: usize,
}

/// Every repetition of every case. A single repetition keeps the plan's order.
pub fn schedule(cases: usize, repeats: u32, seed: u64) -> Vec<Step> {
    // xorshift has one fixed point: zero.
    let mut random = Random(seed | 1 << 63);
    let mut steps = Vec::with_capacity(cases * repeats as usize);
    for repetition in 0..repeats {
        let mut round: Vec<usize> = (0..cases).collect();
        if repeats > 1 {
            for last in (1..cases).rev() {
                round.swap(last, random.below(last + 1));
            }
        }
        steps.extend(round.into_iter().map(|case| Step { repetition, case }));
    }
    steps
}

/// A seed that differs from run to run. It is recorded, so that the order can be repeated. Hash maps of the standard
/// library are keyed at random by the system; that is where it comes from.
pub fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    // Below 2^53: every reader of JSON keeps such a number exactly.
    std::hash::RandomState::new().build_hasher().finish() >> 11
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_once_and_rounds_apart() {
        let steps = schedule(7, 5, 42);
        assert!(steps.is_sorted_by_key(|s| s.repetition));
        let mut sorted = steps.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), 35);
        assert_ne!(steps, sorted);
        assert_eq!(steps, schedule(7, 5, 42));
        assert_ne!(steps, schedule(7, 5, 43));
        assert!(schedule(9, 1, 42).is_sorted());
        assert!(schedule(0, 3, 0).is_empty());
    }
}
