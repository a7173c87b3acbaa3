//! Progress on a terminal: which case runs, and how long it may still take. Drawn by the control thread, before and
//! after a case and as ranks report; nothing ticks while a rank measures.

use crate::args::ColorChoice;
use crate::stderr;
use crate::terminal::{self, Stream};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};
use wirespeed_schema::case::{Case, Stop};
use wirespeed_schema::outcome::Interval;
use wirespeed_schema::units;

/// What set-up and tear-down are taken to cost before the first run tells.
const SETUP_GUESS: Duration = Duration::from_millis(300);

/// A line on stderr, where somebody watches.
pub struct Progress {
    bar: ProgressBar,
    shows: Shows,
    plan: Plan,
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shows {
    Nothing,
    /// A line for each beginning, where a terminal cannot draw over one.
    Lines,
    Bar,
}

impl Shows {
    fn here(quiet: bool) -> Self {
        match (quiet, terminal::is_terminal(Stream::Stderr), terminal::is_dumb()) {
            (true, ..) | (_, false, _) => Shows::Nothing,
            (_, _, true) => Shows::Lines,
            _ => Shows::Bar,
        }
    }
}

/// Runs in the order in which they are planned, and how long they may take.
pub struct Plan {
    began: Instant,
    runs: Vec<Expected>,
    /// Those that ended, and when the last of them did, from the beginning.
    done: usize,
    done_after: Duration,
    begun: bool,
    /// Operations of the run that goes on, as rank 0 told them.
    operations: u64,
    /// How many times as long as expected the run that goes on takes, by the operations so far.
    stretch: Option<f64>,
}

/// What a run is planned to take.
struct Expected {
    time: Duration,
    /// The operations that end it, where they do: then its time is a guess.
    operations: Option<u64>,
}

impl Plan {
    /// `runs` of known cases, none of them begun.
    pub fn new<'a>(runs: impl Iterator<Item = &'a Case>) -> Self {
        Plan {
            began: Instant::now(),
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
        self.operations += interval.sent.messages.max(interval.received.messages);
        let Some(run) = self.runs.get(self.done) else {
            return;
        };
        if let (Some(wanted), 1..) = (run.operations, self.operations) {
            let so_far = Duration::from_nanos(interval.start_ns + interval.duration_ns);
            let whole = so_far.mul_f64(wanted.max(self.operations) as f64 / self.operations as f64);
            self.stretch = Some((SETUP_GUESS + whole).as_secs_f64() / run.time.as_secs_f64());
        }
    }

    /// What is left, stretched as the part done was; `None` where nobody knows how long so many operations take.
    pub fn left(&self) -> Option<Duration> {
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
        let rest = time(rest).mul_f64(stretch.clamp(0.01, 1e6));
        Some(rounded(rest.saturating_sub(since)))
    }

    /// What is left, in words.
    pub fn left_in_words(&self) -> String {
        match self.left() {
            Some(left) => format!("about {} left", units::format_ns(left.as_nanos() as f64)),
            None => "time left unknown: a count ends it".to_owned(),
        }
    }
}

impl Progress {
    /// For `runs` of known cases. Nothing is shown when `quiet`, or when stderr is no terminal.
    pub fn new<'a>(runs: impl Iterator<Item = &'a Case>, quiet: bool) -> Self {
        let plan = Plan::new(runs);
        let steps = plan.runs.len();
        Self::of(plan, steps, quiet || steps == 0)
    }

    /// For a verb without cases that does so many things.
    pub fn of_steps(count: usize) -> Self {
        Self::of(Plan::new(std::iter::empty()), count, false)
    }

    fn of(plan: Plan, steps: usize, quiet: bool) -> Self {
        let shows = Shows::here(quiet);
        let target = match shows {
            Shows::Bar => ProgressDrawTarget::stderr(),
            _ => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(steps as u64), target);
        if let Ok(style) = ProgressStyle::with_template("[{bar:20}] {pos}/{len} {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        if shows == Shows::Bar {
            stderr::bar_is(&bar);
        }
        Progress { bar, shows, plan }
    }

    /// A run of `case` begins.
    pub fn start(&mut self, case: &Case) {
        self.plan.begin_next();
        self.show(&case.label());
    }

    /// A run begins, under words of the caller's.
    pub fn start_as(&mut self, words: &str) {
        self.plan.begin_next();
        self.show(words);
    }

    /// A step of this name begins.
    pub fn step(&mut self, name: &str) {
        if self.plan.begun {
            self.end();
        }
        self.plan.begun = true;
        let after = self.plan.began.elapsed();
        self.draw(&match after.as_secs() {
            0 => name.to_owned(),
            _ => format!(
                "{name} · {} so far",
                units::format_ns(rounded(after).as_nanos() as f64)
            ),
        });
    }

    /// What a rank of the running `case` tells of itself.
    pub fn hear(&mut self, case: &Case, rank: u32, interval: &Interval) {
        if rank == 0 {
            self.plan.hear(interval);
            if self.shows == Shows::Bar {
                self.show(&case.label());
            }
        }
    }

    fn show(&self, label: &str) {
        self.draw(&format!("{label} · {}", self.plan.left_in_words()));
    }

    fn draw(&self, words: &str) {
        let style = terminal::style(Stream::Stderr, ColorChoice::Never);
        let words = style.line(words);
        match self.shows {
            Shows::Nothing => {}
            Shows::Lines => stderr::say(&words),
            Shows::Bar => {
                self.bar.set_message(words);
                self.bar.tick();
            }
        }
    }

    /// The run ended.
    pub fn end(&mut self) {
        self.plan.end();
        self.bar.inc(1);
    }

    /// A line above the progress.
    pub fn line(&self, text: &str) {
        if self.shows != Shows::Nothing {
            stderr::say(text.trim_end());
        }
    }

    /// Nothing more to come: the line disappears.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn rounded(time: Duration) -> Duration {
    match time.as_secs() {
        0 => Duration::from_millis(100 * time.as_millis().div_ceil(100) as u64),
        seconds => Duration::from_secs(seconds),
    }
}

/// What one run of `case` is planned to take.
fn expected(case: &Case) -> Expected {
    let (measured, operations) = match case.stop {
        Stop::Duration { duration_ns } => (Duration::from_nanos(duration_ns), None),
        // Nobody knows before the first run; half a second is a fair guess for most counts.
        Stop::Iterations { count } => (Duration::from_millis(500), Some(count)),
    };
    let warmup = Duration::from_nanos(case.warmup_ns_max.min(100_000_000));
    Expected {
        time: SETUP_GUESS + measured + warmup,
        operations,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::outcome::Count;

    fn planned(operations: Option<u64>) -> Plan {
        let run = |_| Expected {
            time: Duration::from_secs(10),
            operations,
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
}
