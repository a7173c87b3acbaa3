//! In which order repetitions run. The repetition is the outer loop, so that slow drift of the machine spreads over all
//! cases; within each round the order is random, so that no case always follows the same other one.

use wirespeed_report::stats::Random;

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
    let mut random = Random::new(seed);
    let mut steps = Vec::with_capacity(cases * repeats as usize);
    for repetition in 0..repeats {
        let mut round: Vec<usize> = (0..cases).collect();
        if repeats > 1 {
            random.shuffle(&mut round);
        }
        steps.extend(round.into_iter().map(|case| Step { repetition, case }));
    }
    steps
}

/// One run of one case of one of two arms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// Number of the pair, from 0.
    pub repetition: u32,
    /// Index of the case within its arm.
    pub case: usize,
    /// 0 or 1.
    pub arm: usize,
}

/// Pairs of visits. The cases of a pair come in random order, both arms of a case one right after the other; of two
/// neighbouring pairs one begins with either arm (ABBA or BAAB at random), so that drift meets both alike.
pub fn blocks(cases: usize, pairs: u32, seed: u64) -> Vec<Visit> {
    let mut random = Random::new(seed);
    let mut first_of_case = vec![0; cases];
    let mut visits = Vec::new();
    for repetition in 0..pairs {
        let mut round: Vec<usize> = (0..cases).collect();
        random.shuffle(&mut round);
        for case in round {
            let first = &mut first_of_case[case];
            *first = match repetition % 2 {
                0 => random.below(2),
                _ => 1 - *first,
            };
            let visit = |arm| Visit {
                repetition,
                case,
                arm,
            };
            visits.extend([visit(*first), visit(1 - *first)]);
        }
    }
    visits
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
    fn pairs_are_whole_and_blocks_balanced() {
        let visits = blocks(3, 8, 42);
        assert_eq!(visits.len(), 48);
        for pair in visits.chunks(2) {
            assert_eq!(
                (pair[0].case, pair[0].repetition),
                (pair[1].case, pair[1].repetition)
            );
            assert_eq!(pair[0].arm + pair[1].arm, 1);
        }
        for case in 0..3 {
            let firsts: Vec<usize> = visits
                .chunks(2)
                .filter(|p| p[0].case == case)
                .map(|p| p[0].arm)
                .collect();
            assert!(firsts.chunks(2).all(|block| block[0] != block[1]), "{firsts:?}");
        }
        assert_eq!(visits, blocks(3, 8, 42));
        assert_ne!(visits, blocks(3, 8, 43));
    }

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
