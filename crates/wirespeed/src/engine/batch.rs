//! Samples over batches: the one place that counts operations up to a sample, reads the clock and goes on from there. A
//! loop owns its batch, so that it lies in registers; nothing here may do more than count, read the clock and record.

use super::meter::Meter;
use super::series::Series;
use crate::clock::Clock;
use wirespeed_schema::outcome::SampleKind;

/// The batch that a loop is in. It counts down: within a batch a loop then keeps one number.
pub struct Batch {
    /// Operations that a sample covers.
    ops: u64,
    /// Operations until the next sample.
    left: u64,
    start: u64,
}

impl Batch {
    /// The first batch of a series, from `start` on.
    #[inline(always)]
    pub fn begin(series: &Series, start: u64) -> Self {
        debug_assert!(series.batch_ops > 0, "a batch without operations never ends");
        Batch {
            ops: series.batch_ops,
            left: series.batch_ops,
            start,
        }
    }

    /// Operations that are missing from this batch.
    #[inline(always)]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// One operation more is done. Where it completes a batch, its time is recorded, the next one begins, and the moment is
    /// returned.
    #[inline(always)]
    pub fn one(&mut self, series: &mut Series, clock: Clock) -> Option<u64> {
        self.some(1, series, clock)
    }

    /// As `one` after `ops` operations, no more than are left: a loop over them need not count its batch as well.
    #[inline(always)]
    pub fn some(&mut self, ops: u64, series: &mut Series, clock: Clock) -> Option<u64> {
        self.left -= ops;
        if self.left != 0 {
            return None;
        }
        let now = clock.now();
        series.record(now - self.start);
        (self.start, self.left) = (now, self.ops);
        Some(now)
    }

    /// `ops` operations more are done; with `last`, no others follow. As soon as they are a batch, or at the last, the mean of
    /// those that came is recorded.
    #[inline(always)]
    pub fn several(&mut self, ops: u64, last: bool, series: &mut Series, clock: Clock) {
        if ops < self.left && !last {
            self.left -= ops;
            return;
        }
        let now = clock.now();
        series.record_mean(now - self.start, self.ops - self.left + ops);
        (self.start, self.left) = (now, self.ops);
    }
}

/// Timing of messages that come in as they like: batches that go on from segment to segment, from the first arrival.
pub struct Arrivals {
    /// Mean time a message over batches of arrivals.
    pub intervals: Series,
    first: Option<u64>,
    /// Messages of the phase up to the first mark, which the time is behind.
    before: u64,
    last: u64,
    marked: u64,
    /// Messages of the phase with which a batch is complete: the first one begins the first.
    due: u64,
}

impl Arrivals {
    /// With its series.
    pub fn new(meter: &Meter) -> Self {
        Arrivals {
            intervals: meter.series_of_means(SampleKind::ReceiveInterval),
            first: None,
            before: 0,
            last: 0,
            marked: 0,
            due: 1,
        }
    }

    /// The warm-up is over: take a new series, where messages come in one every `op_ticks`.
    pub fn arm(&mut self, meter: &Meter, op_ticks: f64) {
        self.intervals = meter.batches_of_means(SampleKind::ReceiveInterval, op_ticks);
    }

    /// A new phase begins.
    pub fn restart(&mut self) {
        (self.first, self.before) = (None, 0);
        (self.last, self.marked, self.due) = (0, 0, 1);
        self.intervals.clear();
    }

    /// Whether a batch is complete with `received` messages of the phase.
    #[inline(always)]
    pub fn is_full(&self, received: u64) -> bool {
        received >= self.due
    }

    /// Messages of the phase up to the last mark.
    #[inline(always)]
    pub fn marked(&self) -> u64 {
        self.marked
    }

    /// `received` messages of the phase have come by `now`: record what came since the last mark, if any was before.
    #[inline(always)]
    pub fn mark(&mut self, received: u64, now: u64) {
        if self.first.is_some() {
            self.intervals
                .record_mean(now - self.last, received - self.marked);
        } else {
            (self.first, self.before) = (Some(now), received);
        }
        (self.marked, self.last) = (received, now);
        self.due = received + self.intervals.batch_ops;
    }

    /// Messages that had come when the time began: several, where the first look found them.
    pub fn before(&self) -> u64 {
        self.before
    }

    /// Ticks from the first to the last arrival.
    pub fn elapsed_ticks(&self) -> u64 {
        self.first.map_or(0, |first| self.last.saturating_sub(first))
    }
}
