//! Progress on a terminal: which case runs, and how long it may still take. Drawn by the control thread, before and
//! after a case; nothing ticks while a rank measures.

use crate::terminal::{self, Stream};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};
use wirespeed_schema::case::{Case, Stop};
use wirespeed_schema::units;

/// What set-up and tear-down are taken to cost before the first run tells.
const SETUP_GUESS: Duration = Duration::from_millis(300);

/// A line on stderr, where somebody watches.
pub struct Progress {
    bar: ProgressBar,
    visible: bool,
    plan: Plan,
}

/// Runs in the order in which they are planned, and how long they may take.
pub struct Plan {
    began: Instant,
    runs: Vec<Duration>,
    /// Those that ended, and when the last of them did, from the beginning.
    done: usize,
    done_after: Duration,
    begun: bool,
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
    }

    /// What is left, stretched as the part done was.
    pub fn left(&self) -> Duration {
        let (done, rest) = self.runs.split_at(self.done.min(self.runs.len()));
        let done: Duration = done.iter().sum();
        let rest: Duration = rest.iter().sum();
        let stretch = match done.is_zero() {
            true => 1.0,
            false => self.done_after.as_secs_f64() / done.as_secs_f64(),
        };
        let since = self.began.elapsed().saturating_sub(self.done_after);
        rounded(rest.mul_f64(stretch.clamp(0.01, 100.0)).saturating_sub(since))
    }
}

impl Progress {
    /// For `runs` of known cases. Nothing is shown when `quiet`, or when stderr is no terminal.
    pub fn new<'a>(runs: impl Iterator<Item = &'a Case>, quiet: bool) -> Self {
        let plan = Plan::new(runs);
        let steps = plan.runs.len() as u64;
        let visible = !quiet && steps > 0 && terminal::is_terminal(Stream::Stderr);
        let target = match visible {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        if let Ok(style) = ProgressStyle::with_template("[{bar:20}] {pos}/{len} {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Progress { bar, visible, plan }
    }

    /// A run of `case` begins.
    pub fn start(&mut self, case: &Case) {
        self.plan.begin_next();
        if self.visible {
            let left = units::format_ns(self.plan.left().as_nanos() as f64);
            let label = case.label();
            self.bar.set_message(format!("{label} · about {left} left"));
            self.bar.tick();
        }
    }

    /// The run ended.
    pub fn end(&mut self) {
        self.plan.end();
        self.bar.inc(1);
    }

    /// A line above the progress.
    pub fn line(&self, text: &str) {
        if self.visible {
            self.bar.println(text.trim_end());
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
fn expected(case: &Case) -> Duration {
    let measured = match case.stop {
        Stop::Duration { duration_ns } => Duration::from_nanos(duration_ns),
        // Nobody knows before the first run; half a second is a fair guess for most counts.
        Stop::Iterations { .. } => Duration::from_millis(500),
    };
    let warmup = Duration::from_nanos(case.warmup_ns_max.min(100_000_000));
    SETUP_GUESS + measured + warmup
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_shrinks_with_every_run() {
        let mut plan = Plan {
            runs: vec![Duration::from_secs(10); 3],
            ..Plan::new(std::iter::empty())
        };
        assert!(plan.left() > Duration::from_secs(25));
        plan.begin_next();
        assert_eq!(plan.done, 0);
        plan.begin_next();
        assert_eq!(plan.done, 1, "one that began ends with the next");
        plan.end();
        plan.end();
        // More runs than were planned are no panic.
        plan.end();
        assert_eq!(plan.left(), Duration::ZERO);
    }
}
