//! How often intervals held, and what that says of the level that they state. It must never call a method right or wrong
//! on fewer hits and misses than it shows.

use super::published::Method;
use std::collections::BTreeMap;
use std::ops::AddAssign;
use wirespeed_report::stats::share_interval;

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

    /// Wilson's interval of that share, at 95 %.
    pub fn wilson(&self) -> (f64, f64) {
        share_interval(self.held, self.count)
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
