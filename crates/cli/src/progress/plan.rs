//! What is left of the runs to come, from what they are planned to take and from how long those before them took. It must
//! never draw anything.

use std::time::{Duration, Instant};
use wirespeed_schema::case::{Case, Stop};
use wirespeed_schema::outcome::{Count, Interval};
use wirespeed_schema::units;

/// What set-up and tear-down are taken to cost before the first run tells.
const SETUP_GUESS: Duration = Duration::from_millis(300);

/// Runs in the order in which they are planned, and how long they may take.
pub struct Plan {
    began: Instant,
    /// When all of it ends, whatever the runs are planned to take.
    until: Option<Instant>,
    runs: Vec<Expected>,
    /// Those that ended, and when the last of them did, from the beginning.
    done: usize,
    done_after: Duration,
    begun: bool,
    /// Operations of the run that goes on, as rank 0 told them; bytes of a transfer.
    operations: u64,
    /// How many times as long as expected the run that goes on takes, by the operations so far.
    stretch: Option<f64>,
}

/// What a run is planned to take.
struct Expected {
    time: Duration,
    /// The operations that end it, or the bytes that a transfer moves, where they do: then its time is a guess.
    operations: Option<u64>,
    /// Bytes are counted.
    in_bytes: bool,
}

impl Plan {
    /// `runs` of known cases, none of them begun.
    pub fn new<'a>(runs: impl Iterator<Item = &'a Case>) -> Self {
        Plan {
            began: Instant::now(),
            until: None,
            runs: runs.map(expected).collect(),
            done: 0,
            done_after: Duration::ZERO,
            begun: false,
            operations: 0,
            stretch: None,
        }
    }

    /// These runs come, too.
    pub fn expect<'a>(&mut self, runs: impl Iterator<Item = &'a Case>) {
        self.runs.extend(runs.map(expected));
    }

    /// Runs are shortened so that all of it ends by `until`.
    pub fn end_by(&mut self, until: Instant) {
        self.until = Some(until);
    }

    /// What has not begun will not run.
    pub fn forget_rest(&mut self) {
        if self.begun {
            self.end();
        }
        self.runs.truncate(self.done);
    }

    /// The next run begins; the one before it, if it goes on still, has ended.
    pub fn begin_next(&mut self) {
        if self.begun {
            self.end();
        }
        self.begun = true;
    }

    /// The run that goes on has ended, or will not run.
    pub fn end(&mut self) {
        (self.begun, self.done, self.done_after) = (false, self.done + 1, self.began.elapsed());
        (self.operations, self.stretch) = (0, None);
    }

    /// What rank 0 of the run that goes on did in a while.
    pub fn hear(&mut self, interval: &Interval) {
        let Some(run) = self.runs.get(self.done) else {
            return;
        };
        let count = |count: &Count| if run.in_bytes { count.bytes } else { count.messages };
        self.operations += count(&interval.sent).max(count(&interval.received));
        if let (Some(wanted), 1..) = (run.operations, self.operations) {
            let so_far = Duration::from_nanos(interval.start_ns + interval.duration_ns);
            let whole = so_far.mul_f64(wanted.max(self.operations) as f64 / self.operations as f64);
            self.stretch = Some((SETUP_GUESS + whole).as_secs_f64() / run.time.as_secs_f64());
        }
    }

    /// One wait of a known time, which begins now.
    pub fn of_time(time: Duration) -> Self {
        Plan {
            begun: true,
            ..Plan::of_times(std::iter::once(time))
        }
    }

    /// Steps of known times, one after the other.
    pub fn of_times(times: impl Iterator<Item = Duration>) -> Self {
        let step = |time| Expected {
            time,
            operations: None,
            in_bytes: false,
        };
        Plan {
            runs: times.map(step).collect(),
            ..Plan::new(std::iter::empty())
        }
    }

    /// Runs that are planned.
    pub fn count(&self) -> usize {
        self.runs.len()
    }

    /// Runs that have ended.
    pub fn done(&self) -> usize {
        self.done
    }

    /// Time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Whether the run that goes on may take longer than `time`: one that a count ends may.
    pub fn is_longer_than(&self, time: Duration) -> bool {
        let run = self.runs.get(self.done);
        run.is_none_or(|run| run.operations.is_some() || run.time > time)
    }

    /// Whether all of it takes longer than `time`: what is left may, or it did already.
    pub fn takes_longer_than(&self, time: Duration) -> bool {
        self.elapsed() > time || self.left().is_some_and(|left| left > time)
    }

    /// The part of all time that has passed; of runs whose time is unknown, the part that has ended.
    pub fn passed(&self) -> f64 {
        let elapsed = self.began.elapsed().as_secs_f64();
        match self.left_exactly() {
            Some(left) => elapsed / (elapsed + left.as_secs_f64()).max(1e-9),
            None => self.done as f64 / self.runs.len().max(1) as f64,
        }
    }

    /// What is left, stretched as the part done was; `None` where nobody knows how long that many operations take.
    pub fn left(&self) -> Option<Duration> {
        self.left_exactly().map(rounded)
    }

    fn left_exactly(&self) -> Option<Duration> {
        let (done, rest) = self.runs.split_at(self.done.min(self.runs.len()));
        let is_counted = |runs: &[Expected]| runs.iter().any(|run| run.operations.is_some());
        if is_counted(rest) && !is_counted(done) && self.stretch.is_none() {
            return None;
        }
        let time = |runs: &[Expected]| runs.iter().map(|run| run.time).sum::<Duration>();
        let stretch = match (self.stretch, time(done)) {
            (Some(stretch), _) => stretch,
            (None, Duration::ZERO) => 1.0,
            (None, expected) => self.done_after.as_secs_f64() / expected.as_secs_f64(),
        };
        let since = self.began.elapsed().saturating_sub(self.done_after);
        let rest = time(rest).mul_f64(stretch.clamp(0.01, 1e6)).saturating_sub(since);
        let most = self
            .until
            .map(|until| until.saturating_duration_since(Instant::now()));
        Some(most.map_or(rest, |most| rest.min(most)))
    }

    /// What is left, in words.
    pub fn left_in_words(&self) -> String {
        match self.left() {
            Some(Duration::ZERO) => "finishing".to_owned(),
            Some(left) => format!("about {} left", in_words(left)),
            None => match rounded(self.elapsed()) {
                Duration::ZERO => "a count ends it".to_owned(),
                so_far => format!("{} so far, a count ends it", in_words(so_far)),
            },
        }
    }
}

/// A time in words.
pub fn in_words(time: Duration) -> String {
    units::format_ns(time.as_nanos() as f64)
}

/// A time as precise as anybody wants to read it: tenths of a second, then seconds.
pub fn rounded(time: Duration) -> Duration {
    match time.as_secs() {
        0 => Duration::from_millis(100 * time.as_millis().div_ceil(100) as u64),
        _ => Duration::from_secs((time + Duration::from_millis(500)).as_secs()),
    }
}

/// What one run of `case` is planned to take.
fn expected(case: &Case) -> Expected {
    // Nobody knows before the first run; half a second is a fair guess for most counts.
    let guess = Duration::from_millis(500);
    // A transfer ends with its whole, unless its blocks are offered at a rate.
    let moved = case.test.bulk().filter(|bulk| bulk.pace_interval_ns.is_none());
    let (measured, operations) = match (moved, case.stop) {
        (Some(bulk), _) => (guess, Some(bulk.total_bytes)),
        (None, Stop::Duration { duration_ns }) => (Duration::from_nanos(duration_ns), None),
        (None, Stop::Iterations { count }) => (guess, Some(count)),
    };
    let warmup = Duration::from_nanos(case.warmup_ns_max.min(100_000_000));
    Expected {
        time: SETUP_GUESS + measured + warmup,
        operations,
        in_bytes: moved.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(operations: Option<u64>) -> Plan {
        let run = |_| Expected {
            time: Duration::from_secs(10),
            operations,
            in_bytes: false,
        };
        Plan {
            runs: (0..3).map(run).collect(),
            ..Plan::new(std::iter::empty())
        }
    }

    #[test]
    fn what_is_left_shrinks_with_every_run() {
        let mut plan = planned(None);
        assert!(plan.left() > Some(Duration::from_secs(25)));
        plan.begin_next();
        assert_eq!(plan.done, 0);
        plan.begin_next();
        assert_eq!(plan.done, 1, "one that began ends with the next");
        plan.end();
        plan.end();
        // More runs than were planned are no panic.
        plan.end();
        assert_eq!(plan.left(), Some(Duration::ZERO));
    }

    #[test]
    fn no_more_is_left_than_a_budget_has() {
        let hour = Duration::from_secs(3600);
        let mut plan = Plan::of_times([hour, hour].into_iter());
        assert!(plan.left() > Some(hour));
        plan.end_by(Instant::now() + hour);
        assert!(plan.left() <= Some(hour) && plan.left() > Some(Duration::ZERO));
        plan.end_by(plan.began);
        assert_eq!(plan.left_in_words(), "finishing");
    }

    #[test]
    fn where_a_count_ends_it_the_rate_so_far_tells_what_is_left() {
        let mut plan = planned(Some(1_000_000));
        plan.begin_next();
        assert_eq!(plan.left(), None, "a guess is no answer");
        let second = |number: u64| Interval {
            start_ns: number * 1_000_000_000,
            duration_ns: 1_000_000_000,
            sent: Count::of(1000, 8),
            received: Count::of(1000, 8),
            p50_ns: None,
            p99_ns: None,
            max_ns: None,
        };
        plan.hear(&second(0));
        plan.hear(&second(1));
        // Three runs of a thousand seconds.
        let left = plan.left().unwrap();
        assert!(
            left > Duration::from_secs(2990) && left < Duration::from_secs(3010),
            "{left:?}"
        );
        plan.end();
        assert!(plan.left().is_some(), "the first run told how long one takes");
    }

    #[test]
    fn time_passes_within_a_run() {
        let mut plan = planned(None);
        plan.begin_next();
        assert!(plan.passed() < 0.1 && plan.left_in_words().ends_with("s left"));
        plan.began -= Duration::from_secs(15);
        assert!((plan.passed() - 0.5).abs() < 0.05, "{}", plan.passed());
        plan.began -= Duration::from_secs(20);
        assert_eq!(plan.left_in_words(), "finishing");
        assert_eq!(
            planned(Some(9)).left_in_words().replace("100 ms so far, ", ""),
            "a count ends it"
        );
        let mut counted = planned(Some(9));
        counted.begin_next();
        counted.began -= Duration::from_secs(7);
        assert_eq!(counted.left_in_words(), "7 s so far, a count ends it");
        assert!(counted.is_longer_than(Duration::from_secs(60)));
        let hour = Duration::from_secs(3600);
        let mut short = Plan::of_time(Duration::from_secs(1));
        assert!(!short.is_longer_than(hour) && !short.takes_longer_than(hour));
        assert!(!counted.takes_longer_than(hour), "nobody knows");
        assert!(Plan::of_times([hour, hour].into_iter()).takes_longer_than(hour));
        short.began -= 2 * hour;
        assert!(short.takes_longer_than(hour), "it did");
    }
}
