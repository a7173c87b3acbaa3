//! Random numbers that are the same on every machine: for shuffled orders, resampling and simulated laws.
//!
//! Never for secrets. A seed is recorded wherever one is used, so that what it gave can be had again.

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A sequence of its own for every seed below 2^63.
    pub fn new(seed: u64) -> Self {
        // xorshift has one fixed point: zero.
        Random(seed | 1 << 63)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Below `bound`, by taking the high half of a product; 0 where `bound` is 0. The bias of at most bound/2^64 is far
    /// below anything that sampling can show.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// Uniform between 0 and 1, both excluded.
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Exponential with mean 1, by inversion.
    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Standard normal (Box and Muller, 1958; one of the pair is used).
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Shuffle in place (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_laws() {
        let mut random = Random::new(1);
        let n = 200_000;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let uniform: Vec<f64> = (0..n).map(|_| random.uniform()).collect();
        let normal: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let squares: Vec<f64> = normal.iter().map(|x| x * x).collect();
        let exponential: Vec<f64> = (0..n).map(|_| random.exponential()).collect();
        assert!((mean(&uniform) - 0.5).abs() < 0.005);
        assert!(mean(&normal).abs() < 0.01 && (mean(&squares) - 1.0).abs() < 0.02);
        assert!((mean(&exponential) - 1.0).abs() < 0.01);
        assert!(uniform.iter().all(|u| *u > 0.0 && *u < 1.0));
    }

    /// By the generator's definition, in integers of any length: the same on every machine.
    #[test]
    fn the_sequence_is_that_of_the_definition() {
        let mut random = Random::new(1);
        let bits = [
            0x38ea_0cf8_a66c_dd1d,
            0x5148_b519_6da8_131d,
            0x5dcf_5eac_dbbf_693a,
        ];
        assert_eq!(bits.map(|_| random.bits()), bits);
        let (mut below, mut uniform) = (Random::new(1), Random::new(1));
        for bits in bits {
            let share = bits as f64 / 2f64.powi(64);
            assert_eq!(below.below(1000), (1000.0 * share) as usize);
            assert!((uniform.uniform() - share).abs() < 1e-15);
        }
    }

    /// Each of the six orders of three is as likely.
    #[test]
    fn shuffling_prefers_no_order() {
        let (mut random, mut counts) = (Random::new(2), std::collections::BTreeMap::new());
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert!(
            counts.len() == 6 && counts.values().all(|count| (850..1150).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn shuffling_keeps_everything_and_seeds_decide() {
        let shuffled = |seed| {
            let mut items: Vec<u32> = (0..20).collect();
            Random::new(seed).shuffle(&mut items);
            items
        };
        let mut sorted = shuffled(3);
        assert_eq!(shuffled(3), sorted);
        assert_ne!(shuffled(3), shuffled(4));
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<u32>>());
        assert_eq!(Random::new(1).below(0), 0);
    }
}
