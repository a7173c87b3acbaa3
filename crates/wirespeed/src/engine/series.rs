//! Samples of one kind while they are taken, in ticks; figures in nanoseconds when they are asked for.
//!
//! It must never decide when a sample or an interval ends.

use crate::clock::Timebase;
use crate::record::Recorder;
use wirespeed_schema::Finite;
use wirespeed_schema::outcome::{SampleKind, Samples};

/// Fewer samples than this have no 99th percentile other than their largest.
const P99_SAMPLES_MIN: u64 = 100;
/// Fraction bits of [`Series::record_mean`].
const MEAN_SHIFT: u32 = 6;

/// Samples of one kind while they are taken.
pub struct Series {
    kind: SampleKind,
    /// Operations that one sample covers.
    pub batch_ops: u64,
    per_op: bool,
    current: Recorder,
    total: Option<Recorder>,
}

impl Series {
    pub(super) fn new(kind: SampleKind, raw_max: u64, intervals: bool) -> Self {
        let raw_max = usize::try_from(raw_max).unwrap_or(usize::MAX);
        Series {
            kind,
            batch_ops: 1,
            per_op: false,
            current: Recorder::new(raw_max),
            total: intervals.then(|| Recorder::new(raw_max)),
        }
    }

    /// Record the time of one batch (of one operation, mostly).
    #[inline(always)]
    pub fn record(&mut self, ticks: u64) {
        self.current.record(ticks);
    }

    /// Record the mean of `ops` operations that took `ticks`, with 1/64 tick of resolution. A series takes either
    /// these or `record`, see [`super::meter::Meter::series_of_means`].
    #[inline(always)]
    pub fn record_mean(&mut self, ticks: u64, ops: u64) {
        self.current.record((ticks << MEAN_SHIFT) / ops.max(1));
    }

    /// What its samples are.
    pub fn kind(&self) -> SampleKind {
        self.kind
    }

    /// As it is, of means: see [`Series::record_mean`].
    #[must_use]
    pub(super) fn of_means(mut self) -> Self {
        self.per_op = true;
        self
    }

    fn ns_per_unit(&self, timebase: &Timebase) -> f64 {
        let divisor = if self.per_op {
            f64::from(1u32 << MEAN_SHIFT)
        } else {
            self.batch_ops as f64
        };
        timebase.ns_per_tick() / divisor
    }

    /// Forget what was recorded.
    pub fn clear(&mut self) {
        self.current.clear();
        if let Some(total) = &mut self.total {
            total.clear();
        }
    }

    /// As it is, of batches of `batch_ops`.
    #[must_use]
    pub fn in_batches(mut self, batch_ops: u64) -> Self {
        self.batch_ops = batch_ops;
        self
    }

    /// Median, 99th percentile where samples are enough for one, and longest of the samples since the last interval ended; the
    /// next one begins.
    pub(super) fn close_interval(&mut self, timebase: &Timebase) -> [Option<Finite>; 3] {
        let scale = self.ns_per_unit(timebase);
        let ns = |ticks: u64| Finite::maybe(ticks as f64 * scale);
        let p50_ns = self.current.median_ticks().and_then(ns);
        let enough = self.current.count() >= P99_SAMPLES_MIN;
        let p99_ns = enough
            .then(|| self.current.percentile_ticks(99))
            .flatten()
            .and_then(ns);
        let max_ns = p50_ns.and_then(|_| ns(self.current.max_ticks()));
        self.move_on();
        [p50_ns, p99_ns, max_ns]
    }

    /// What was recorded belongs to what is over.
    fn move_on(&mut self) {
        if let Some(total) = &mut self.total {
            total.merge(&mut self.current);
            self.current.clear();
        }
    }

    pub(super) fn into_samples(mut self, timebase: &Timebase) -> Option<Samples> {
        self.move_on();
        let scale = self.ns_per_unit(timebase);
        // Means are of as many operations as came, so that their steps differ.
        let step_ns = if self.per_op {
            0.0
        } else {
            timebase.step.ticks * scale
        };
        let recorder = self.total.as_mut().unwrap_or(&mut self.current);
        (recorder.count() > 0).then(|| Samples {
            kind: self.kind,
            batch_ops: self.batch_ops,
            histogram: recorder.to_data(scale).with_step_ns(step_ns),
            raw_ns: recorder.raw_ns(scale),
        })
    }
}
