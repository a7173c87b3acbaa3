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
    began: Instant,
    planned: Duration,
    done: Duration,
}

impl Progress {
    /// For `runs` of known cases. Nothing is shown when `quiet`, or when stderr is no terminal.
    pub fn new<'a>(runs: impl Iterator<Item = &'a Case>, quiet: bool) -> Self {
        let mut steps = 0;
        let mut planned = Duration::ZERO;
        for case in runs {
            steps += 1;
            planned += expected(case);
        }
        let visible = !quiet && steps > 0 && terminal::is_terminal(Stream::Stderr);
        let target = match visible {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        if let Ok(style) = ProgressStyle::with_template("[{bar:20}] {pos}/{len} {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Progress {
            bar,
            visible,
            began: Instant::now(),
            planned,
            done: Duration::ZERO,
        }
    }

    /// A run of `case` begins.
    pub fn start(&mut self, case: &Case) {
        if self.visible {
            let left = units::format_ns(self.left().as_nanos() as f64);
            self.bar
                .set_message(format!("{} · about {left} left", case.label()));
            self.bar.tick();
        }
    }

    /// The run of `case` ended.
    pub fn end(&mut self, case: &Case) {
        self.done += expected(case);
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

    /// What is left of the plan, stretched as the part done was.
    fn left(&self) -> Duration {
        let rest = self.planned.saturating_sub(self.done);
        if self.done.is_zero() {
            return rounded(rest);
        }
        let stretch = self.began.elapsed().as_secs_f64() / self.done.as_secs_f64();
        rounded(rest.mul_f64(stretch.clamp(0.01, 100.0)))
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
