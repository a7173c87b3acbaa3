//! What a process has learned of its clocks, so that only its first runs wait for it. A step is kept once two estimates of it
//! agree; a rate is only lent, to be checked. It must never hold what differs from CPU to CPU, such as the cost of a read.

use super::Source;
use super::step::Step;
use parking_lot::{Mutex, MutexGuard};

/// Steps that differ by no more than this part are the same.
const SAME_STEP: f64 = 0.01;

/// Of one clock.
#[derive(Debug, Clone, Copy)]
struct Learned {
    last_step: Option<Step>,
    /// The one before was the same.
    agreed: bool,
    ns_per_tick: Option<f64>,
}

impl Learned {
    const NOTHING: Learned = Learned {
        last_step: None,
        agreed: false,
        ns_per_tick: None,
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

/// Nanoseconds of a tick as an earlier run found them.
pub fn rate(source: Source) -> Option<f64> {
    learned()[place(source)?].ns_per_tick
}

/// A run has found the rate of a clock.
pub fn saw_rate(source: Source, ns_per_tick: f64) {
    if let Some(place) = place(source) {
        learned()[place].ns_per_tick = Some(ns_per_tick);
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
        let is_kept = |source, ns_per_tick| {
            saw_rate(source, ns_per_tick);
            rate(source) == Some(ns_per_tick)
        };
        for (source, ns_per_tick) in [(Source::Counter, 0.125), (Source::Os, 0.0625)] {
            assert!((0..100).any(|_| is_kept(source, ns_per_tick)), "{source:?}");
        }
        saw_rate(Source::Virtual, 2.0);
        assert_eq!(rate(Source::Virtual), None);
        let never = || unreachable!("the step of virtual time is known");
        assert_eq!(step(Source::Virtual, never), Step::DEFINED);
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
