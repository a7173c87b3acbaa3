//! In which order things are measured. The round is the outer loop, so that slow drift of the machine spreads over all
//! cases; within each round the order is random, so that no case always follows the same other one. What is compared with
//! each other runs one right after the other, every second time in reverse order, so that drift meets all alike.

use wirespeed_report::stats::Random;

/// The order of an experiment, by its seed.
pub struct Order(Random);

impl Order {
    /// The same seed gives the same order.
    pub fn new(seed: u64) -> Self {
        Order(Random::new(seed))
    }

    /// Put the subjects of a round in random order.
    pub fn round(&mut self, subjects: &mut [usize]) {
        self.0.shuffle(subjects);
    }

    /// The order of the cells of one subject in its round number `round`, from what it was in the round before: of two
    /// neighbouring rounds the first is random and the second its reverse (ABBA or BAAB with two).
    pub fn block(&mut self, cells: &mut [usize], round: u32) {
        match round % 2 {
            0 => self.0.shuffle(cells),
            _ => cells.reverse(),
        }
    }
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

    fn blocks(arms: usize, rounds: u32, seed: u64) -> Vec<Vec<usize>> {
        let mut order = Order::new(seed);
        let mut cells: Vec<usize> = (0..arms).collect();
        let mut seen = Vec::new();
        for round in 0..rounds {
            order.block(&mut cells, round);
            seen.push(cells.clone());
        }
        seen
    }

    #[test]
    fn every_cell_once_a_round_and_every_second_round_is_reversed() {
        for arms in [2, 4] {
            let seen = blocks(arms, 8, 42);
            for pair in seen.chunks(2) {
                assert!(pair[0].iter().eq(pair[1].iter().rev()), "{pair:?}");
                let mut sorted = pair[0].clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..arms).collect::<Vec<_>>());
            }
            assert_eq!(seen, blocks(arms, 8, 42));
            assert_ne!(seen, blocks(arms, 8, 43));
        }
    }

    #[test]
    fn a_round_has_every_subject_once_by_its_seed() {
        let round = |seed| {
            let mut subjects: Vec<usize> = (0..20).collect();
            Order::new(seed).round(&mut subjects);
            subjects
        };
        assert_eq!(round(42), round(42));
        assert_ne!(round(42), round(43));
        let mut sorted = round(42);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
    }
}
