//! How often intervals held, and what that says of the level that they state. It must never call a method right or wrong
//! on fewer hits and misses than it shows.

use super::published::Method;
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// The 97.5th percentile of the normal distribution, for Wilson's interval at 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// What was seen of a method.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    /// Intervals.
    pub count: usize,
    /// Those that held their target.
    pub held: usize,
    /// Sum of the levels stated.
    levels: f64,
}

/// Tallies by method.
pub type Tallies = BTreeMap<Method, Tally>;

/// What a tally says of the stated level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The level stated is within Wilson's interval of what was seen.
    Holds,
    /// Intervals held less often than they state.
    MissesLow,
    /// More often.
    Conservative,
}

impl Verdict {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::MissesLow => "misses low",
            Verdict::Conservative => "conservative",
        }
    }
}

impl Tally {
    /// One more interval, which stated `level`.
    pub fn add(&mut self, has_held: bool, level: f64) {
        self.count += 1;
        self.held += usize::from(has_held);
        self.levels += level;
    }

    /// The level stated, in the mean. 0 without intervals.
    pub fn level(&self) -> f64 {
        self.levels / self.count.max(1) as f64
    }

    /// The share that held. 0 without intervals.
    pub fn share(&self) -> f64 {
        self.held as f64 / self.count.max(1) as f64
    }

    /// Wilson's interval of that share, at 95 % (Wilson, JASA 22, 1927).
    pub fn wilson(&self) -> (f64, f64) {
        let count = self.count as f64;
        if self.count == 0 {
            return (0.0, 1.0);
        }
        let share = self.share();
        let square = Z * Z / count;
        let middle = (share + square / 2.0) / (1.0 + square);
        let half = Z * (share * (1.0 - share) / count + square / (4.0 * count)).sqrt() / (1.0 + square);
        ((middle - half).max(0.0), (middle + half).min(1.0))
    }

    /// Whether what was seen bears the stated level out.
    pub fn verdict(&self) -> Verdict {
        let (lower, upper) = self.wilson();
        match self.level() {
            level if level > upper => Verdict::MissesLow,
            level if level < lower => Verdict::Conservative,
            _ => Verdict::Holds,
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.count += other.count;
        self.held += other.held;
        self.levels += other.levels;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(held: usize, count: usize, level: f64) -> Tally {
        let mut tally = Tally::default();
        (0..count).for_each(|number| tally.add(number < held, level));
        tally
    }

    /// The first four as printed in Newcombe, Statistics in Medicine 17, 1998, table I; the last by bisection of
    /// (p - s)² = z² p (1 - p) / n.
    #[test]
    fn wilsons_interval_is_known() {
        for (held, count, lower, upper) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
            (95, 100, 0.888_25, 0.978_456),
        ] {
            let found = tally(held, count, 0.95).wilson();
            assert!(
                (found.0 - lower).abs() < 6e-5 && (found.1 - upper).abs() < 6e-5,
                "{found:?}"
            );
        }
        assert_eq!(Tally::default().wilson(), (0.0, 1.0));
    }

    #[test]
    fn a_level_outside_of_what_was_seen_is_a_miss() {
        for (held, level, verdict) in [
            (95, 0.95, Verdict::Holds),
            (98, 0.992_187_5, Verdict::Holds),
            (97, 0.992_187_5, Verdict::MissesLow),
            (89, 0.95, Verdict::MissesLow),
            (100, 0.95, Verdict::Conservative),
            (99, 0.95, Verdict::Holds),
        ] {
            assert_eq!(tally(held, 100, level).verdict(), verdict, "{held} at {level}");
        }
    }
}
