//! The time of a mesh under `--budget`: which cycle, round or check still fits into it. It must never read a clock: times are
//! those since the verb began.

use std::collections::BTreeSet;
use std::time::Duration;

/// The share of a budget that the survey may have; what is left is for the checks of what seems slow.
pub const SURVEY_SHARE: f64 = 0.6;

/// What a case's rounds take.
#[derive(Debug, Clone, Copy)]
struct Pace {
    expected: Duration,
    spent: Duration,
    rounds: u32,
}

/// Without a budget there is time for everything.
#[derive(Debug, Default)]
pub struct Allowance {
    whole: Option<Duration>,
    /// Of each case.
    paces: Vec<Pace>,
    /// Cells of the experiment: cases, alone and under loads.
    cells: usize,
    begun: BTreeSet<usize>,
    /// Until when each case may be checked.
    checked_until: Vec<Option<Duration>>,
}

impl Allowance {
    /// `whole` for everything; what a round of each case is expected to take, and how many cells there are.
    pub fn new(whole: Option<Duration>, expected: &[Duration], cells: usize) -> Allowance {
        let pace = |expected: &Duration| Pace {
            expected: *expected,
            spent: Duration::ZERO,
            rounds: 0,
        };
        Allowance {
            whole,
            paces: expected.iter().map(pace).collect(),
            cells,
            begun: BTreeSet::new(),
            checked_until: vec![None; expected.len()],
        }
    }

    /// Until when a cycle of `rounds` of a cell may run; `None`: it does not fit. The first cycle of each cell gets its part of
    /// all the time, since without it nothing can be checked; further ones are measured whole within the survey's share, or not
    /// at all.
    pub fn cycle(
        &mut self,
        now: Duration,
        (cell, subject): (usize, usize),
        rounds: usize,
    ) -> Option<Duration> {
        let Some(whole) = self.whole else {
            return Some(Duration::MAX);
        };
        let end = whole.mul_f64(SURVEY_SHARE);
        let open = self.cells.saturating_sub(self.begun.len()).max(1) as u32;
        if self.begun.insert(cell) {
            return Some(now + whole.saturating_sub(now) / open);
        }
        let fits = now + self.round(subject).saturating_mul(rounds as u32) <= end;
        fits.then_some(end)
    }

    /// Until when a check of `rounds` may run; `None`: it does not fit. Cases are checked one after the other.
    pub fn check(&mut self, now: Duration, subject: usize, rounds: usize) -> Option<Duration> {
        let Some(whole) = self.whole else {
            return Some(Duration::MAX);
        };
        let open = (self.paces.len() - subject).max(1) as u32;
        let share = now + whole.saturating_sub(now) / open;
        let end = *self.checked_until[subject].get_or_insert(share);
        let fits = now + self.round(subject).saturating_mul(rounds as u32) <= end;
        fits.then_some(end)
    }

    /// Whether one more round fits.
    pub fn has_time(&self, now: Duration, subject: usize, until: Duration) -> bool {
        now.saturating_add(self.round(subject)) <= until
    }

    /// A round took this long.
    pub fn took(&mut self, subject: usize, time: Duration) {
        let pace = &mut self.paces[subject];
        pace.spent += time;
        pace.rounds += 1;
    }

    /// What a round takes: as those did that ran.
    fn round(&self, subject: usize) -> Duration {
        let pace = self.paces[subject];
        match pace.rounds {
            0 => pace.expected,
            rounds => pace.spent / rounds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// A mesh of two cases whose rounds take `times` as long as expected, on a clock of its own: when it ended, and the cycles
    /// and checks of each case that were measured whole.
    fn run(budget: Duration, times: f64) -> (Duration, [usize; 2], [usize; 2]) {
        let expected = Duration::from_millis(300);
        let (rounds, real) = (12, expected.mul_f64(times));
        let mut allowance = Allowance::new(Some(budget), &[expected; 2], 2);
        let mut now = SECOND;
        let (mut cycles, mut checks) = ([0; 2], [0; 2]);
        let mut rounds_until = |allowance: &mut Allowance, subject, until, rounds: usize| {
            for _ in 0..rounds {
                if !allowance.has_time(now, subject, until) {
                    return (now, 0);
                }
                now += real;
                allowance.took(subject, real);
            }
            (now, 1)
        };
        let mut at = SECOND;
        for _ in 0..3 {
            for subject in [0, 1] {
                if let Some(until) = allowance.cycle(at, (subject, subject), rounds) {
                    let (after, whole) = rounds_until(&mut allowance, subject, until, rounds);
                    (at, cycles[subject]) = (after, cycles[subject] + whole);
                }
            }
        }
        for subject in [0, 1] {
            for look in 0..4 {
                let Some(until) = allowance.check(at, subject, 8 << look) else {
                    break;
                };
                let (after, whole) = rounds_until(&mut allowance, subject, until, 8 << look);
                (at, checks[subject]) = (after, checks[subject] + whole);
            }
        }
        (at, cycles, checks)
    }

    #[test]
    fn everything_fits_into_the_budget_however_slow_rounds_are() {
        for budget in [5, 15, 60, 600] {
            for times in [0.5, 1.0, 2.0, 5.0, 20.0] {
                let (end, ..) = run(SECOND * budget, times);
                let one_round = Duration::from_millis(300).mul_f64(times);
                assert!(
                    end <= SECOND * budget + 2 * one_round,
                    "{budget} s, {times}: {end:?}"
                );
            }
        }
    }

    #[test]
    fn what_fits_is_measured_of_every_case() {
        assert_eq!(run(SECOND * 600, 1.0).1, [3, 3]);
        assert_eq!(run(SECOND * 600, 1.0).2, [4, 4]);
        // A first cycle of each before a further one of any, and checks before that.
        let (_, cycles, checks) = run(SECOND * 20, 1.0);
        assert_eq!(cycles, [2, 1]);
        assert!(checks[0] > 0 && checks[1] > 0, "{checks:?}");
    }

    #[test]
    fn without_a_budget_nothing_is_left_out() {
        let mut allowance = Allowance::new(None, &[SECOND], 1);
        let late = SECOND * 1_000_000;
        assert_eq!(allowance.cycle(late, (0, 0), 9), Some(Duration::MAX));
        assert_eq!(allowance.check(late, 0, 9), Some(Duration::MAX));
        assert!(allowance.has_time(late, 0, Duration::MAX));
    }
}
