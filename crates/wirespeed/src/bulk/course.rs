//! What a transfer is measured with: the engine's clock, the CPU whose disturbance counts, and who is told on the way.
//!
//! It must never touch a block.

use crate::clock::{Clock, Timebase};
use crate::engine::Report;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wirespeed_schema::host::Disturbance;
use wirespeed_schema::outcome::{Count, Interval};

/// Interval reports kept in the outcome; later ones only go to the callback.
const INTERVALS_MAX: usize = 100_000;
/// How long whoever waits for the workers sleeps at most, where nobody wants reports.
const LOOK: Duration = Duration::from_secs(1);

/// What a transfer is measured with.
///
/// ```
/// use wirespeed::bulk::Course;
/// use wirespeed::clock::Timebase;
///
/// let timebase = Timebase::start();
/// let mut slices = 0;
/// let mut tell = |_: &wirespeed::schema::outcome::Interval| slices += 1;
/// // Nobody is told of anything before a transfer runs.
/// let course = Course::new(&timebase, &mut tell).on_cpu(Some(0)).reporting_every(100_000_000);
/// drop(course);
/// assert_eq!(slices, 0);
/// ```
pub struct Course<'a> {
    pub(super) timebase: &'a Timebase,
    pub(super) cpu: Option<u32>,
    interval_ns: u64,
    report: Report<'a>,
}

impl<'a> Course<'a> {
    /// Timed by `timebase`, on any CPU; `report` is told nothing.
    pub fn new(timebase: &'a Timebase, report: Report<'a>) -> Self {
        Course {
            timebase,
            cpu: None,
            interval_ns: 0,
            report,
        }
    }

    /// All workers run on this CPU.
    #[must_use]
    pub fn on_cpu(mut self, cpu: Option<u32>) -> Self {
        self.cpu = cpu;
        self
    }

    /// The callback is told every so often what was moved; 0 for never. It runs in the thread that started the transfer.
    #[must_use]
    pub fn reporting_every(mut self, interval_ns: u64) -> Self {
        self.interval_ns = interval_ns;
        self
    }

    pub(super) fn clock(&self) -> Clock {
        self.timebase.clock
    }
}

/// What all workers have moved so far, for those who look on.
#[derive(Default)]
pub(super) struct Moved {
    blocks: AtomicU64,
    bytes: AtomicU64,
}

impl Moved {
    /// One more block is where it belongs.
    pub fn add(&self, bytes: u64) {
        self.blocks.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn count(&self) -> Count {
        Count {
            messages: self.blocks.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}

/// The slices of a transfer as it goes on.
pub(super) struct Slices<'c, 'a> {
    course: &'c mut Course<'a>,
    writes: bool,
    began: u64,
    since: u64,
    told: Count,
    kept: Vec<Interval>,
}

impl<'c, 'a> Slices<'c, 'a> {
    /// The first begins now; `writes`: blocks go to the far end.
    pub fn begin(course: &'c mut Course<'a>, writes: bool) -> Self {
        let now = course.clock().now();
        Slices {
            course,
            writes,
            began: now,
            since: now,
            told: Count::default(),
            kept: Vec::new(),
        }
    }

    /// Until when nobody need look.
    pub fn wait(&self) -> Duration {
        match self.course.interval_ns {
            0 => LOOK,
            interval_ns => Duration::from_nanos(interval_ns / 4),
        }
    }

    /// Tell what was moved, if a slice is over.
    pub fn look(&mut self, moved: &Moved) {
        let now = self.course.clock().now();
        let interval_ns = self.course.interval_ns;
        if interval_ns > 0 && self.course.timebase.to_ns(now.saturating_sub(self.since)) >= interval_ns {
            self.close(now, moved);
        }
    }

    fn close(&mut self, now: u64, moved: &Moved) {
        let all = moved.count();
        let count = Count {
            messages: all.messages - self.told.messages,
            bytes: all.bytes - self.told.bytes,
        };
        let (sent, received) = match self.writes {
            true => (count, Count::default()),
            false => (Count::default(), count),
        };
        let ns = |from: u64, to: u64| self.course.timebase.to_ns(to.saturating_sub(from));
        let interval = Interval {
            start_ns: ns(self.began, self.since),
            duration_ns: ns(self.since, now),
            sent,
            received,
            p50_ns: None,
            p99_ns: None,
            max_ns: None,
        };
        (self.course.report)(&interval);
        if self.kept.len() < INTERVALS_MAX {
            self.kept.push(interval);
        }
        (self.since, self.told) = (now, all);
    }

    /// The last, shorter slice is told, too. All of them.
    pub fn finish(mut self, moved: &Moved) -> Vec<Interval> {
        if self.course.interval_ns > 0 {
            self.close(self.course.clock().now(), moved);
        }
        self.kept
    }
}

/// What disturbed several threads: counts, times and the time observed are sums, so that shares stay shares.
pub(super) fn together(all: impl Iterator<Item = Disturbance>) -> Disturbance {
    let both = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
    let add = |a: Disturbance, b: Disturbance| Disturbance {
        observed_ns: a.observed_ns + b.observed_ns,
        voluntary_switches: a.voluntary_switches + b.voluntary_switches,
        involuntary_switches: a.involuntary_switches + b.involuntary_switches,
        migrations: both(a.migrations, b.migrations),
        minor_faults: a.minor_faults + b.minor_faults,
        major_faults: a.major_faults + b.major_faults,
        user_ns: a.user_ns + b.user_ns,
        system_ns: a.system_ns + b.system_ns,
        steal_ns: both(a.steal_ns, b.steal_ns),
        run_queue_wait_ns: both(a.run_queue_wait_ns, b.run_queue_wait_ns),
    };
    all.reduce(add).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_hold_all_that_was_moved_once() {
        let timebase = Timebase::start();
        let mut told = Vec::new();
        let mut tell = |interval: &Interval| told.push(interval.received.bytes);
        let mut course = Course::new(&timebase, &mut tell).reporting_every(1);
        let moved = Moved::default();
        let mut slices = Slices::begin(&mut course, false);
        for bytes in [5, 7] {
            moved.add(bytes);
            std::thread::sleep(Duration::from_micros(10));
            slices.look(&moved);
        }
        moved.add(1);
        let kept = slices.finish(&moved);
        assert_eq!(told, [5, 7, 1]);
        assert!(kept.windows(2).all(|pair| pair[1].start_ns > pair[0].start_ns));
    }

    #[test]
    fn what_one_thread_cannot_tell_the_sum_cannot() {
        let one = |migrations| Disturbance {
            observed_ns: 10,
            voluntary_switches: 2,
            migrations,
            steal_ns: Some(3),
            ..Disturbance::default()
        };
        let sum = together([one(Some(1)), one(None)].into_iter());
        assert_eq!((sum.observed_ns, sum.voluntary_switches), (20, 4));
        assert_eq!((sum.migrations, sum.steal_ns), (None, Some(6)));
    }
}
