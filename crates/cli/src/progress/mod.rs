//! Progress on a terminal: what is being measured, and how long it may still take. Drawn before and after a run and as ranks
//! report. Within a run it is drawn again once a second, and only where the run takes longer than that: no shorter
//! measurement is ever disturbed by it. It must never write when nobody watches.

mod plan;

pub use plan::Plan;

use crate::args::ColorChoice;
use crate::stderr;
use crate::terminal::{self, Stream};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use parking_lot::Mutex;
use plan::{in_words, rounded};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wirespeed_byteio::client::Step;
use wirespeed_report::render::shortened;
use wirespeed_schema::case::Case;
use wirespeed_schema::outcome::Interval;
use wirespeed_schema::units::{format_rate, format_size};

/// What takes longer than this is drawn again meanwhile, and is told where only lines can be written.
const LONG: Duration = Duration::from_secs(2);
/// How often a long run is drawn.
const AGAIN: Duration = Duration::from_secs(1);
/// How often a line is written into a file.
const SELDOM: Duration = Duration::from_secs(10);
/// Columns of a terminal that does not say how many it has.
const COLUMNS: usize = 80;

/// A line on stderr, where somebody watches.
pub struct Progress {
    bar: ProgressBar,
    shows: Shows,
    course: Arc<Course>,
    /// When a line was last written, where only lines can be.
    said: Option<Instant>,
    /// Time between two such lines, at least.
    between: Duration,
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shows {
    Nothing,
    /// A line now and then, where a terminal cannot draw over one.
    Lines,
    /// The same of what takes long only, through a launcher that may write it into a file.
    FewLines,
    Bar,
}

impl Shows {
    fn here(quiet: bool) -> Self {
        match (quiet, terminal::is_terminal(Stream::Stderr), terminal::is_dumb()) {
            (true, ..) => Shows::Nothing,
            (_, false, _) if crate::job::is_in_job() => Shows::FewLines,
            (_, false, _) => Shows::Nothing,
            (_, true, true) => Shows::Lines,
            (_, true, false) => Shows::Bar,
        }
    }
}

/// What goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Runs of cases.
    Runs,
    /// This many steps of unknown time.
    Steps(usize),
    /// A transfer, which tells what it moves.
    Bytes,
    /// A wait of known time.
    Time,
    /// A wait for something that others do.
    Wait,
}

/// What is drawn, by whoever draws it.
struct Course {
    kind: Kind,
    now: Mutex<Now>,
    bytes: Bytes,
}

/// Bytes of a transfer; all 0 until the service has answered.
#[derive(Debug, Default)]
struct Bytes {
    moved: AtomicU64,
    /// Those of them that were there before.
    kept: AtomicU64,
    total: AtomicU64,
}

struct Now {
    plan: Plan,
    words: String,
}

impl Course {
    /// The line for a terminal of this many columns; with a bar where it is drawn again.
    fn line(&self, columns: usize, with_bar: bool) -> String {
        let now = self.now.lock();
        let plan = &now.plan;
        let elapsed = || in_words(rounded(plan.elapsed()));
        let (passed, count, tail) = match self.kind {
            Kind::Runs => (plan.passed(), plan.count(), plan.left_in_words()),
            Kind::Steps(count) => (
                plan.done() as f64 / count.max(1) as f64,
                count,
                format!("{} so far", elapsed()),
            ),
            Kind::Bytes => (self.bytes.passed(), 0, self.bytes.in_words(plan.elapsed())),
            Kind::Time => (plan.passed(), 0, plan.left_in_words()),
            Kind::Wait => (0.0, 0, format!("{} so far", elapsed())),
        };
        let mut line = match self.kind {
            Kind::Wait => String::new(),
            _ if !with_bar => String::new(),
            _ => format!("[{}] ", bar(passed, if columns < 60 { 8 } else { 20 })),
        };
        if count > 0 {
            line += &format!("{}/{count} ", plan.done());
        }
        let room = columns.saturating_sub(line.chars().count() + tail.chars().count() + 4);
        line += &shortened(&now.words, room);
        // Who has just begun to wait need not be told so.
        match self.kind {
            Kind::Wait | Kind::Steps(_) if plan.elapsed() < AGAIN => line,
            _ => line + " · " + &tail,
        }
    }
}

/// `passed` of 1 as a bar of this many columns.
fn bar(passed: f64, columns: usize) -> String {
    let full = (passed.clamp(0.0, 1.0) * columns as f64) as usize;
    let head = if full < columns { ">" } else { "" };
    format!("{:columns$}", "=".repeat(full) + head)
}

impl Bytes {
    fn all(&self) -> [u64; 3] {
        [&self.moved, &self.kept, &self.total].map(|count| count.load(Ordering::Relaxed))
    }

    fn passed(&self) -> f64 {
        let [moved, _, total] = self.all();
        moved as f64 / total.max(1) as f64
    }

    /// What was moved, how fast, and what is left.
    fn in_words(&self, elapsed: Duration) -> String {
        let [moved, kept, total] = self.all();
        if total == 0 {
            return format!("{} so far", in_words(rounded(elapsed)));
        }
        let so_far = format!("{} of {}", format_size(moved), format_size(total));
        let per_s = moved.saturating_sub(kept) as f64 / elapsed.as_secs_f64().max(1e-3);
        match total.saturating_sub(moved) {
            0 => format!("{}, storing and comparing", format_size(total)),
            _ if per_s == 0.0 => so_far,
            left => {
                let left = in_words(rounded(Duration::from_secs_f64((left as f64 / per_s).min(1e9))));
                format!("{so_far}, {}, about {left} left", format_rate(per_s, "B/s"))
            }
        }
    }
}

impl Progress {
    /// For `runs` of known cases, counted with those of `before`, which they follow. Nothing is shown when `quiet`, or when stderr
    /// is no terminal.
    pub fn after<'a>(before: Option<Self>, runs: impl Iterator<Item = &'a Case>, quiet: bool) -> Self {
        let mut plan = before.map_or_else(|| Plan::new(std::iter::empty()), Progress::into_plan);
        plan.expect(runs);
        let quiet = quiet || plan.count() == 0;
        Self::of(Kind::Runs, plan, quiet)
    }

    /// The same of runs that are shortened so that all of them end by `until`.
    pub fn ending_by(self, until: Instant) -> Self {
        self.course.now.lock().plan.end_by(until);
        self
    }

    /// What was done.
    fn into_plan(self) -> Plan {
        self.finish();
        let mut plan = std::mem::replace(&mut self.course.now.lock().plan, Plan::new(std::iter::empty()));
        plan.forget_rest();
        plan
    }

    /// The same of what may take minutes: told in lines, now and then, where stderr is a file.
    pub fn also_in_files<'a>(
        before: Option<Self>,
        runs: impl Iterator<Item = &'a Case>,
        quiet: bool,
    ) -> Self {
        let mut progress = Self::after(before, runs, quiet);
        if progress.shows == Shows::Nothing && !quiet {
            (progress.shows, progress.between) = (Shows::FewLines, SELDOM);
        }
        progress
    }

    /// For a verb without cases that does this many things.
    pub fn of_steps(count: usize, quiet: bool) -> Self {
        Self::of(Kind::Steps(count), Plan::new(std::iter::empty()), quiet)
    }

    /// For a verb without cases that does things which take about so long.
    pub fn of_times(times: impl Iterator<Item = Duration>, quiet: bool) -> Self {
        Self::of(Kind::Runs, Plan::of_times(times), quiet)
    }

    /// For one transfer under these words, which tells its steps to [`Progress::moved`].
    pub fn of_bytes(words: &str, quiet: bool) -> Self {
        Self::begun(words, (Kind::Bytes, Plan::new(std::iter::empty())), quiet)
    }

    /// For a wait of a known time under these words.
    pub fn of_time(words: &str, time: Duration, quiet: bool) -> Self {
        let quiet = quiet || time < AGAIN;
        Self::begun(words, (Kind::Time, Plan::of_time(time)), quiet)
    }

    /// For a wait under these words that ends when it ends.
    pub fn waiting(words: &str, quiet: bool) -> Self {
        Self::begun(words, (Kind::Wait, Plan::new(std::iter::empty())), quiet)
    }

    /// One thing, under what goes on around it, if anything is drawn there.
    fn begun(words: &str, (kind, plan): (Kind, Plan), quiet: bool) -> Self {
        let mut progress = Self::of(kind, plan, quiet || stderr::is_drawn_on());
        progress.show(words);
        progress
    }

    fn of(kind: Kind, plan: Plan, quiet: bool) -> Self {
        let shows = Shows::here(quiet);
        let course = Arc::new(Course {
            kind,
            now: Mutex::new(Now {
                plan,
                words: String::new(),
            }),
            bytes: Bytes::default(),
        });
        let bar = match shows {
            Shows::Bar => drawn(&course),
            _ => ProgressBar::hidden(),
        };
        Progress {
            bar,
            shows,
            course,
            said: None,
            between: LONG,
        }
    }

    /// A run of `case` begins.
    pub fn start(&mut self, case: &Case) {
        self.start_as(&case.label());
    }

    /// A run begins, under words of the caller's.
    pub fn start_as(&mut self, words: &str) {
        self.course.now.lock().plan.begin_next();
        self.show(words);
    }

    /// A transfer went on; drawn by no thread that moves its bytes.
    pub fn moved(&self, step: Step) {
        let bytes = &self.course.bytes;
        if bytes.total.swap(step.total_bytes, Ordering::Relaxed) == 0 {
            bytes.kept.store(step.bytes, Ordering::Relaxed);
        }
        bytes.moved.fetch_add(step.bytes, Ordering::Relaxed);
    }

    /// What a rank of the running `case` tells of itself.
    pub fn hear(&mut self, case: &Case, rank: u32, interval: &Interval) {
        if rank == 0 {
            self.course.now.lock().plan.hear(interval);
            if self.shows == Shows::Bar {
                self.show(&case.label());
            }
        }
    }

    /// Draw under these words, again and again where it takes long.
    fn show(&mut self, words: &str) {
        let style = terminal::style(Stream::Stderr, ColorChoice::Never);
        let (is_long, is_late) = {
            let mut now = self.course.now.lock();
            now.words = style.line(words);
            (now.plan.is_longer_than(LONG), now.plan.takes_longer_than(LONG))
        };
        let is_due = self.said.is_none_or(|said| said.elapsed() > self.between);
        match self.shows {
            Shows::Lines if is_due => self.say(style.width),
            Shows::FewLines if is_due && is_late => self.say(style.width),
            Shows::Bar => {
                self.bar.disable_steady_tick();
                match is_long {
                    true => self.bar.enable_steady_tick(AGAIN),
                    false => self.bar.tick(),
                }
            }
            _ => {}
        }
    }

    fn say(&mut self, columns: usize) {
        let style = terminal::style(Stream::Stderr, ColorChoice::Never);
        stderr::say(&style.line(&self.course.line(columns, false)));
        self.said = Some(Instant::now());
    }

    /// The run ended.
    pub fn end(&mut self) {
        self.bar.disable_steady_tick();
        self.course.now.lock().plan.end();
        self.bar.tick();
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

/// A bar on the terminal that draws `course`.
fn drawn(course: &Arc<Course>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let course = course.clone();
    let line = move |_: &ProgressState, out: &mut dyn Write| {
        let columns = terminal::seen_columns(Stream::Stderr).unwrap_or(COLUMNS);
        let style = terminal::style(Stream::Stderr, ColorChoice::Never);
        // A terminal that takes nothing more is no error of the measurement.
        let _ = out.write_str(&style.line(&course.line(columns, true)));
    };
    if let Ok(style) = ProgressStyle::with_template("{line}") {
        bar.set_style(style.with_key("line", line));
    }
    stderr::bar_is(&bar);
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::test::{Layout, PingPong, Test};

    fn course(kind: Kind, plan: Plan, words: &str) -> Course {
        let words = words.to_owned();
        Course {
            kind,
            now: Mutex::new(Now { plan, words }),
            bytes: Bytes::default(),
        }
    }

    #[test]
    fn what_follows_is_counted_with_what_was() {
        let case = Case::new(Test::AmLat(PingPong::new(64, Layout::Short)), "tcp");
        let mut first = Progress::after(None, std::iter::repeat_n(&case, 5), true);
        for _ in 0..2 {
            first.start(&case);
        }
        // Of five, two began, and the others will not.
        let second = Progress::after(Some(first), std::iter::repeat_n(&case, 3), true);
        let now = second.course.now.lock();
        assert_eq!((now.plan.done(), now.plan.count()), (2, 5));
    }

    #[test]
    fn a_bar_has_its_columns() {
        assert_eq!(bar(0.0, 8), ">       ");
        assert_eq!(bar(0.5, 8), "====>   ");
        assert_eq!(bar(1.0, 8), "========");
        assert_eq!(bar(7.0, 8), "========");
    }

    #[test]
    fn a_line_fits_and_keeps_the_time() {
        let words = "a_transport_of_a_long_name am_lat 8 B, aes-256-gcm, 2 ranks";
        for columns in [40, 60, 80, 200] {
            let time = course(Kind::Time, Plan::of_time(Duration::from_secs(90)), words);
            let line = time.line(columns, true);
            assert!(line.chars().count() < columns, "{line}");
            assert!(line.ends_with("s left"), "{line}");
        }
        let time = course(Kind::Time, Plan::of_time(Duration::from_secs(90)), "holding");
        assert_eq!(time.line(80, false), "holding · about 90 s left");
    }

    #[test]
    fn a_transfer_tells_its_rate() {
        let told = |[moved, kept, total]: [u64; 3]| {
            let bytes = Bytes {
                moved: moved.into(),
                kept: kept.into(),
                total: total.into(),
            };
            bytes.in_words(Duration::from_secs(1))
        };
        let mib = |count: u64| count << 20;
        assert_eq!(told([0, 0, 0]), "1 s so far");
        assert_eq!(told([0, 0, mib(4)]), "0 B of 4 MiB");
        assert_eq!(
            told([mib(1), 0, mib(4)]),
            "1 MiB of 4 MiB, 1.049 MB/s, about 3 s left"
        );
        // What an earlier transfer left is no speed of this one.
        assert_eq!(
            told([mib(3), mib(2), mib(4)]),
            "3 MiB of 4 MiB, 1.049 MB/s, about 1 s left"
        );
        assert_eq!(told([mib(4), 0, mib(4)]), "4 MiB, storing and comparing");
    }
}
