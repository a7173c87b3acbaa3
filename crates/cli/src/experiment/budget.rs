//! A budget of wall time for a whole experiment: cases shorten so that all of them fit.

use std::time::{Duration, Instant};
use wirespeed_schema::case::{Case, Stop};

/// A case is not shortened below this: it would say nothing.
const SHORTEST: Duration = Duration::from_millis(20);
/// What a case costs beside its own time, before the first one tells.
const OVERHEAD_GUESS: Duration = Duration::from_millis(150);

/// What there is time for, and what cases cost beside their own time, from those that ran.
pub struct Budget {
    /// Until when everything is to be measured.
    pub deadline: Instant,
    /// What the user can do where it is too small.
    pub remedy: &'static str,
    overhead: Duration,
    runs: u32,
}

/// What is still to run, the next run included.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rest {
    /// The time that it asks for itself.
    pub asked: Duration,
    /// How many runs it is.
    pub runs: u32,
}

impl Rest {
    /// All of `cases`.
    pub fn of<'a>(cases: impl Iterator<Item = &'a Case>) -> Self {
        cases.fold(Rest::default(), |rest, case| Rest {
            asked: rest.asked + asked(case),
            runs: rest.runs + 1,
        })
    }

    /// Without `case`, which ran or never will.
    pub fn without(self, case: &Case) -> Self {
        Rest {
            asked: self.asked.saturating_sub(asked(case)),
            runs: self.runs.saturating_sub(1),
        }
    }
}

impl Budget {
    /// Everything is to be measured before `deadline`; whoever set it knows the `remedy` where that is too soon.
    pub fn until(deadline: Instant, remedy: &'static str) -> Self {
        Budget {
            deadline,
            remedy,
            overhead: Duration::ZERO,
            runs: 0,
        }
    }

    /// The case, shortened so that the rest still fits; `None` when there is no time left for anything.
    pub fn fit(&self, case: &Case, rest: Rest) -> Option<Case> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let overhead = match self.runs {
            0 => OVERHEAD_GUESS,
            runs => self.overhead / runs,
        };
        let for_overhead = overhead * rest.runs;
        let factor = left.saturating_sub(for_overhead).as_secs_f64() / rest.asked.as_secs_f64().max(1e-9);
        let fitted = asked(case).mul_f64(factor.min(1.0)).max(SHORTEST);
        if fitted > left {
            return None;
        }
        let mut case = case.clone();
        case.stop = Stop::Duration {
            duration_ns: fitted.as_nanos() as u64,
        };
        Some(case)
    }

    /// Whether a run of `case` as it is ends in time.
    pub fn has_time(&self, case: &Case) -> bool {
        asked(case) <= self.deadline.saturating_duration_since(Instant::now())
    }

    /// `case` took this long in all.
    pub fn took(&mut self, case: &Case, wall: Duration) {
        self.overhead += wall.saturating_sub(asked(case));
        self.runs += 1;
    }
}

/// The time that a case asks for itself.
fn asked(case: &Case) -> Duration {
    match case.stop {
        Stop::Duration { duration_ns } => Duration::from_nanos(duration_ns),
        Stop::Iterations { .. } => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed::{Machine, Registry};
    use wirespeed_schema::plan::{expand, parse_plan};

    #[test]
    fn cases_shrink_with_the_budget() {
        let registry = Registry::builtin();
        let plan =
            parse_plan("[[case]]\ntest = \"am_lat\"\nvia = \"null\"\nduration = [\"120ms\", \"80ms\"]\n");
        let cases = expand(&plan.unwrap(), &Machine::new(&registry)).unwrap();
        let case = &cases[0].case;
        let rest = Rest::of(cases.iter().map(|planned| &planned.case));
        assert_eq!((rest.asked, rest.runs), (Duration::from_millis(200), 2));
        assert_eq!(rest.without(case).asked, Duration::from_millis(80));
        let plenty = Instant::now() + Duration::from_secs(60);
        assert_eq!(Budget::until(plenty, "").fit(case, rest).unwrap(), *case);
        let slow = |deadline| Budget {
            overhead: Duration::from_secs(100),
            runs: 2,
            ..Budget::until(deadline, "")
        };
        let fitted = slow(plenty - Duration::from_secs(15)).fit(case, rest).unwrap();
        assert_eq!(asked(&fitted), SHORTEST);
        assert!(slow(Instant::now()).fit(case, rest).is_none());
    }
}
