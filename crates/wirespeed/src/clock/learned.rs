//! What a process has learned of its clocks, so that only its first runs wait for it. A step is kept once two estimates of it
//! agree; a rate is only lent, to be checked. It must never hold what differs from CPU to CPU, such as the cost of a read.

use super::Source;
use super::step::Step;
use parking_lot::{Mutex, MutexGuard};

/// Steps that differ by no more than this part are the same.
const SAME_STEP: f64 = 0.01;

/// How long a tick is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Nanoseconds of a tick.
    pub ns_per_tick: f64,
    /// How far it may be off, in ppm.
    pub error_ppm: f64,
}

impl Rate {
    /// The better known of two that agree: one over a short run tells nothing new of a longer one's. Of two that do not, the newer.
    pub fn or_better(self, known: Option<Rate>) -> Rate {
        let agrees = |known: &Rate| {
            let apart_ppm = (self.ns_per_tick / known.ns_per_tick - 1.0).abs() * 1e6;
            apart_ppm <= self.error_ppm && known.error_ppm < self.error_ppm
        };
        known.filter(agrees).unwrap_or(self)
    }
}

/// Of one clock.
#[derive(Debug, Clone, Copy)]
struct Learned {
    last_step: Option<Step>,
    /// The one before was the same.
    agreed: bool,
    rate: Option<Rate>,
}

impl Learned {
    const NOTHING: Learned = Learned {
        last_step: None,
        agreed: false,
        rate: None,
    };

    fn step(&self) -> Option<Step> {
        self.last_step.filter(|_| self.agreed)
    }

    fn saw_step(&mut self, found: Step) {
        let is_same =
            |last: Step| last.found == found.found && (last.ticks / found.ticks - 1.0).abs() <= SAME_STEP;
        self.agreed = self.last_step.is_some_and(is_same);
        self.last_step = Some(found);
    }
}

/// Of the hardware counter and of the operating system's clock. Virtual time is known by definition.
static LEARNED: Mutex<[Learned; 2]> = Mutex::new([Learned::NOTHING; 2]);

/// No one leaves it half written.
fn learned() -> MutexGuard<'static, [Learned; 2]> {
    LEARNED.lock()
}

fn place(source: Source) -> Option<usize> {
    match source {
        Source::Counter => Some(0),
        Source::Os => Some(1),
        Source::Virtual => None,
    }
}

/// The step of a clock: the one that is known, else what `find` finds.
pub fn step(source: Source, find: impl FnOnce() -> Step) -> Step {
    let Some(place) = place(source) else {
        return Step::DEFINED;
    };
    let known = learned()[place].step();
    known.unwrap_or_else(|| {
        let found = find();
        learned()[place].saw_step(found);
        found
    })
}

/// The rate as earlier runs found it.
pub fn rate(source: Source) -> Option<Rate> {
    learned()[place(source)?].rate
}

/// A run has found the rate of a clock.
pub fn saw_rate(source: Source, rate: Rate) {
    if let Some(place) = place(source) {
        learned()[place].rate = Some(rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Found;

    fn found(found: Found, ticks: f64) -> Step {
        Step {
            ticks,
            found,
            share: 0.9,
        }
    }

    #[test]
    fn rates_are_kept_for_each_clock_that_has_one() {
        // Other tests measure the same clocks meanwhile; whoever takes these rates from here checks them first.
        let of = |ns_per_tick| Rate {
            ns_per_tick,
            error_ppm: 1.0,
        };
        let is_kept = |source, ns_per_tick| {
            saw_rate(source, of(ns_per_tick));
            rate(source) == Some(of(ns_per_tick))
        };
        for (source, ns_per_tick) in [(Source::Counter, 0.125), (Source::Os, 0.0625)] {
            assert!((0..100).any(|_| is_kept(source, ns_per_tick)), "{source:?}");
        }
        saw_rate(Source::Virtual, of(2.0));
        assert_eq!(rate(Source::Virtual), None);
        let never = || unreachable!("the step of virtual time is known");
        assert_eq!(step(Source::Virtual, never), Step::DEFINED);
    }

    #[test]
    fn a_short_run_leaves_a_rate_that_is_better_known() {
        let of = |ns_per_tick, error_ppm| Rate {
            ns_per_tick,
            error_ppm,
        };
        let long = of(0.5, 0.1);
        assert_eq!(of(0.500_05, 290.0).or_better(Some(long)), long);
        // They do not agree: the clock has changed. Or the new one is the better known.
        for found in [of(0.501, 290.0), of(0.5, 0.05)] {
            assert_eq!(found.or_better(Some(long)), found);
        }
        assert_eq!(long.or_better(None), long);
    }

    #[test]
    fn a_step_is_kept_once_two_estimates_in_turn_agree() {
        let mut learned = Learned::NOTHING;
        for disturbed in [
            found(Found::Grid, 26.0),
            found(Found::Grid, 13.0),
            found(Found::Tick, 13.0),
            found(Found::Grid, 26.0),
        ] {
            learned.saw_step(disturbed);
            assert_eq!(learned.step(), None, "after {disturbed:?}");
        }
        learned.saw_step(found(Found::Grid, 26.1));
        assert_eq!(learned.step(), Some(found(Found::Grid, 26.1)));
    }
}
