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

/// One run of one case in one of its arms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// Number of the round, from 0; the visits of a round are compared with each other.
    pub repetition: u32,
    /// Index of the case within its arm.
    pub case: usize,
    /// Which of the arms, from 0.
    pub arm: usize,
}

/// Rounds of visits. The cases of a round come in random order, all arms of a case one right after the other; of two
/// neighbouring rounds the second has the arms in the reverse order of the first, which is random (ABBA or BAAB with two),
/// so that drift meets all alike.
pub fn blocks(cases: usize, arms: usize, rounds: u32, seed: u64) -> Vec<Visit> {
    let mut random = Random::new(seed);
    let mut order_of_case: Vec<Vec<usize>> = vec![(0..arms).collect(); cases];
    let mut visits = Vec::new();
    for repetition in 0..rounds {
        let mut round: Vec<usize> = (0..cases).collect();
        random.shuffle(&mut round);
        for case in round {
            let order = &mut order_of_case[case];
            match repetition % 2 {
                0 => random.shuffle(order),
                _ => order.reverse(),
            }
            visits.extend(order.iter().map(|&arm| Visit {
                repetition,
                case,
                arm,
            }));
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
    fn rounds_are_whole_and_blocks_balanced() {
        for arms in [2, 4] {
            let visits = blocks(3, arms, 8, 42);
            assert_eq!(visits.len(), 3 * arms * 8);
            for round in visits.chunks(arms) {
                assert!(
                    round
                        .iter()
                        .all(|v| (v.case, v.repetition) == (round[0].case, round[0].repetition))
                );
                let mut seen: Vec<usize> = round.iter().map(|v| v.arm).collect();
                seen.sort_unstable();
                assert_eq!(seen, (0..arms).collect::<Vec<_>>());
            }
            for case in 0..3 {
                let of_case: Vec<usize> = visits.iter().filter(|v| v.case == case).map(|v| v.arm).collect();
                for block in of_case.chunks(2 * arms) {
                    assert!(block.iter().eq(block.iter().rev()), "{block:?}");
                }
            }
            assert_eq!(visits, blocks(3, arms, 8, 42));
            assert_ne!(visits, blocks(3, arms, 8, 43));
        }
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
