//! What the loops count and when they pause: segments, interval reports, the agreed end.
//!
//! A loop runs in segments of some milliseconds. Between two of them, outside every sample, the meter looks at the
//! clock, the stop condition and the report interval. Inside a segment nothing but counting happens.

use crate::clock::{Clock, Timebase, monotonic_ns};
use crate::engine::report::Report;
use crate::engine::series::Series;
use crate::host::Probe;
use crate::transport::cancel::Cancel;
use wirespeed_schema::Finite;
use wirespeed_schema::case::{Case, Stop};
use wirespeed_schema::host::Disturbance;
use wirespeed_schema::outcome::{Count, Faults, Interval, PeerSamples, SampleKind, Samples, StopReason};

/// Aim of a segment's length.
const SEGMENT_NS: f64 = 4e6;
/// The first segment's length in batches; each may be twice as long as the one before.
const FIRST_BATCHES: u64 = 16;
/// Samples below so many clock steps are taken over batches. A step is what two neighbouring reads can tell apart, and
/// never less than what a read costs: a sample of that size would be mostly clock.
const STEPS_PER_SAMPLE: f64 = 20.0;
/// Interval reports kept in the outcome; later ones only go to the callback.
const INTERVALS_MAX: usize = 100_000;

/// Counters of a rank's measured phase. Loops add to them directly.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Sent or completed as origin.
    pub sent: Count,
    /// Received or served as target, as far as the rank can see.
    pub received: Count,
    /// Faults in what was received.
    pub faults: Faults,
    /// Messages that had been received when the rank's time began, where that is not when the phase did.
    pub received_before_msgs: u64,
}

/// Proof that the thread is watched for disturbances: no phase is measured without it.
#[must_use]
pub struct Armed(());

/// Time and counts of one rank's measured phase.
pub struct Meter<'a> {
    /// The clock, for the loops.
    pub clock: Clock,
    /// Its rate.
    pub timebase: &'a Timebase,
    /// Counts.
    pub tally: Tally,
    cancel: &'a Cancel,
    report: Report<'a>,
    report_ticks: u64,
    raw_max: u64,
    /// When the measured phase began; never on a rank that has none.
    started: Option<u64>,
    /// The same on the clock of the host.
    began_ns: Option<u64>,
    /// When it was over: nothing behind that is part of an interval.
    ended: Option<u64>,
    /// The counts then.
    ended_tally: Option<Tally>,
    interval_started: u64,
    interval_tally: Tally,
    intervals: Vec<Interval>,
    stop: Stop,
    cpu: Option<u32>,
    pace: Pace,
    probe: Option<Probe>,
    disturbance: Disturbance,
}

/// Where the last segment was planned.
struct Pace {
    done: u64,
    ticks: u64,
    batches_max: u64,
}

/// What a finished meter leaves.
pub struct Measured {
    /// Counts.
    pub tally: Tally,
    /// Samples.
    pub samples: Vec<Samples>,
    /// Interval reports.
    pub intervals: Vec<Interval>,
    /// Samples by peer, where the test tells peers apart.
    pub peers: Vec<PeerSamples>,
    /// What disturbed the measured phase.
    pub disturbance: Disturbance,
    /// When the measured phase began, on the clock of the host.
    pub began_ns: Option<u64>,
}

impl<'a> Meter<'a> {
    /// A meter for `case` on a thread pinned to `cpu`; the measured phase begins with [`Meter::start`].
    pub fn new(
        case: &Case,
        cpu: Option<u32>,
        timebase: &'a Timebase,
        cancel: &'a Cancel,
        report: Report<'a>,
    ) -> Self {
        let report_ticks = timebase.to_ticks(case.report_interval_ns);
        Meter {
            clock: timebase.clock,
            timebase,
            tally: Tally::default(),
            cancel,
            report,
            report_ticks,
            raw_max: case.raw_samples_max,
            started: None,
            began_ns: None,
            ended: None,
            ended_tally: None,
            interval_started: 0,
            interval_tally: Tally::default(),
            intervals: Vec::new(),
            stop: case.stop,
            cpu,
            pace: Pace {
                done: 0,
                ticks: 0,
                batches_max: FIRST_BATCHES,
            },
            probe: None,
            disturbance: Disturbance::default(),
        }
    }

    /// A series whose samples are times of batches.
    pub fn series(&self, kind: SampleKind) -> Series {
        Series::new(kind, self.raw_max, self.report_ticks > 0)
    }

    /// A series of batches long enough to be timed, where one operation takes `op_ticks`.
    pub fn batches(&self, kind: SampleKind, op_ticks: f64) -> Series {
        let batch = self.whole(batch_for(op_ticks, self.timebase));
        self.series(kind).in_batches(batch)
    }

    /// A batch of `ops`, or of all operations of a run that has fewer: else no sample would be complete.
    pub fn whole(&self, ops: u64) -> u64 {
        match self.stop {
            Stop::Iterations { count } => ops.min(count.max(1)),
            Stop::Duration { .. } => ops,
        }
    }

    /// A series whose samples are means over a varying number of operations.
    pub fn series_of_means(&self, kind: SampleKind) -> Series {
        self.series(kind).of_means()
    }

    /// A series of means of batches that long, where messages come in one every `op_ticks`.
    pub fn batches_of_means(&self, kind: SampleKind, op_ticks: f64) -> Series {
        let batch = batch_for(op_ticks.max(1.0), self.timebase);
        self.series_of_means(kind).in_batches(batch)
    }

    /// Look at what disturbs this thread. It opens files: before the barrier.
    pub fn arm(&mut self) -> Armed {
        self.probe = Some(Probe::start(self.cpu));
        Armed(())
    }

    /// The barrier is over, and what disturbed it does not count. It reads files: before ranks settle, not in the phase.
    pub fn watch(&mut self) {
        self.probe.iter_mut().for_each(Probe::restart_files);
    }

    /// The measured phase begins.
    pub fn start(&mut self, _: Armed) {
        self.probe.iter_mut().for_each(Probe::restart_usage);
        self.began_ns = Some(monotonic_ns());
        let now = self.clock.now();
        (self.started, self.interval_started) = (Some(now), now);
    }

    /// Ticks since the start; 0 before it.
    pub fn elapsed_ticks(&self) -> u64 {
        self.started
            .map_or(0, |started| self.clock.now().saturating_sub(started))
    }

    /// The measured phase is over: ticks since the start, and no disturbance counts from here on.
    pub fn stop(&mut self) -> u64 {
        let now = self.clock.now();
        self.ended = Some(now);
        let elapsed = self.started.map_or(0, |started| now.saturating_sub(started));
        if let Some(probe) = self.probe.take() {
            self.disturbance = probe.finish();
            self.disturbance.observed_ns = self.timebase.to_ns(elapsed);
        }
        elapsed
    }

    /// What was counted when the phase was over. Others may go on, and what comes of them still counts for the whole.
    pub fn counted_to_the_end(&mut self, tally: Tally) {
        self.ended_tally = Some(tally);
    }

    /// How many operations the next segment has when `done` are done and one takes `op_ticks`; and whether the last
    /// of them ends the run. An orderly stop that was asked for ends it with one more batch.
    ///
    /// What a warm-up says of the speed does not hold once queues have filled up behind a slow reader: segments begin
    /// short, and the latest one counts where it was slower than the whole.
    pub fn next_segment(&mut self, done: u64, op_ticks: f64, batch_ops: u64) -> (u64, bool) {
        let elapsed = self.elapsed_ticks();
        let latest = match done.saturating_sub(self.pace.done) {
            0 => 0.0,
            ops => elapsed.saturating_sub(self.pace.ticks) as f64 / ops as f64,
        };
        let batches_max = self.pace.batches_max;
        self.pace = Pace {
            done,
            ticks: elapsed,
            batches_max: batches_max.saturating_mul(2),
        };
        let op_ns = (op_ticks.max(latest) * self.timebase.ns_per_tick()).max(0.1);
        let mut segment = ((SEGMENT_NS / op_ns) as u64).clamp(1, batches_max.saturating_mul(batch_ops));
        if self.report_ticks > 0 {
            let interval_ns = self.report_ticks as f64 * self.timebase.ns_per_tick();
            segment = segment.min(((interval_ns / 4.0 / op_ns) as u64).max(1));
        }
        segment = segment.div_ceil(batch_ops) * batch_ops;
        if self.cancel.stop_requested() {
            return (batch_ops, true);
        }
        match self.stop {
            Stop::Iterations { count } => {
                let left = count.saturating_sub(done).max(1);
                if left <= segment {
                    (left, true)
                } else {
                    (segment, false)
                }
            }
            Stop::Duration { duration_ns } => {
                let left_ns = duration_ns.saturating_sub(self.timebase.to_ns(self.elapsed_ticks()));
                let left = (left_ns as f64 / op_ns) as u64;
                if left <= batch_ops {
                    (batch_ops, true)
                } else {
                    // Approach the end by halves, so that a slowing transport does not overshoot by a whole segment.
                    let step = segment.min((left / 2).max(1)).div_ceil(batch_ops) * batch_ops;
                    (step, false)
                }
            }
        }
    }

    /// Call between segments: reports an interval when one is over.
    pub fn between_segments(&mut self, main: Option<&mut Series>) {
        if self.report_ticks == 0 {
            return;
        }
        let now = self.clock.now();
        if now.saturating_sub(self.interval_started) >= self.report_ticks {
            self.close_interval(now, main);
        }
    }

    fn close_interval(&mut self, now: u64, main: Option<&mut Series>) {
        let difference = |a: Count, b: Count| Count {
            messages: a.messages - b.messages,
            bytes: a.bytes - b.bytes,
        };
        let figures = main.map(|series| series.close_interval(self.timebase));
        let [p50_ns, p99_ns, max_ns] = figures.unwrap_or_default();
        let interval = Interval {
            start_ns: self.timebase.to_ns(
                self.interval_started
                    .saturating_sub(self.started.unwrap_or(self.interval_started)),
            ),
            duration_ns: self.timebase.to_ns(now.saturating_sub(self.interval_started)),
            sent: difference(self.tally.sent, self.interval_tally.sent),
            received: difference(self.tally.received, self.interval_tally.received),
            p50_ns,
            p99_ns,
            max_ns,
        };
        (self.report)(&interval);
        if self.intervals.len() < INTERVALS_MAX {
            self.intervals.push(interval);
        }
        self.interval_tally = self.tally;
        // What reporting takes is a part of the next one: together they are the whole time.
        self.interval_started = now;
    }

    /// The phase is over: the last, shorter interval is reported, the series become samples.
    pub fn finish(mut self, mut series: Vec<Series>) -> Measured {
        // Where an error ended the phase, what disturbed it until now.
        if self.started.is_some() && self.probe.is_some() {
            self.stop();
        }
        let tally = self.tally;
        if self.report_ticks > 0 && self.started.is_some() {
            let now = self.ended.unwrap_or_else(|| self.clock.now());
            self.tally = self.ended_tally.unwrap_or(tally);
            self.close_interval(now, series.first_mut());
        }
        // The rate of the whole run, as all times of the outcome have it.
        let timebase = &self.timebase.recalibrated();
        let by = timebase.ns_per_tick() / self.timebase.ns_per_tick();
        self.intervals
            .iter_mut()
            .for_each(|interval| stretch(interval, by));
        let observed_ns = &mut self.disturbance.observed_ns;
        *observed_ns = (*observed_ns as f64 * by).round() as u64;
        Measured {
            tally,
            samples: series
                .into_iter()
                .filter_map(|s| s.into_samples(timebase))
                .collect(),
            intervals: self.intervals,
            peers: Vec::new(),
            disturbance: self.disturbance,
            began_ns: self.began_ns,
        }
    }

    /// Whether the user asked for an orderly stop.
    pub fn stop_reason(&self) -> StopReason {
        if self.cancel.stop_requested() {
            StopReason::Interrupted
        } else {
            StopReason::Completed
        }
    }
}

/// `interval` by a rate that is known better: its times `by` as long.
fn stretch(interval: &mut Interval, by: f64) {
    for ns in [&mut interval.start_ns, &mut interval.duration_ns] {
        *ns = (*ns as f64 * by).round() as u64;
    }
    for ns in [&mut interval.p50_ns, &mut interval.p99_ns, &mut interval.max_ns] {
        *ns = ns.and_then(|ns| Finite::maybe(ns.get() * by));
    }
}

/// Operations that one sample must cover so that it spans at least 20 clock steps: a power of two.
pub fn batch_for(op_ticks: f64, timebase: &Timebase) -> u64 {
    let needed = STEPS_PER_SAMPLE * timebase.cost_ticks.max(timebase.step.ticks);
    if op_ticks <= 0.0 || op_ticks >= needed {
        return 1;
    }
    ((needed / op_ticks).ceil() as u64)
        .next_power_of_two()
        .min(1 << 16)
}
