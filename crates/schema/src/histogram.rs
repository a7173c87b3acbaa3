//! The histogram as data: log-linear buckets over picoseconds, sparse, mergeable.
//!
//! 256 sub-buckets an octave: a bucket is at most 1/256 (0.39 %) of its value wide, so its middle is within
//! 0.2 % of a value. The same mapping serves the recorder (over clock ticks) and this document (over ps): a value that went
//! through both is within 0.4 %.

use crate::finite::Finite;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// log2 of the number of sub-buckets an octave.
pub const SUB_BUCKET_BITS: u32 = 8;
const SUB_BUCKETS: u64 = 1 << SUB_BUCKET_BITS;

/// Number of buckets that cover all of `u64`.
pub const BUCKETS: usize = ((64 - SUB_BUCKET_BITS as usize) + 1) << SUB_BUCKET_BITS;

/// The bucket that `value` falls into. Values below 512 have a bucket of their own.
#[inline(always)]
pub fn bucket_of(value: u64) -> usize {
    let octave = 63 - (value | SUB_BUCKETS).leading_zeros();
    let shift = octave - SUB_BUCKET_BITS;
    ((shift as usize) << SUB_BUCKET_BITS) + (value >> shift) as usize
}

/// Lowest value of bucket `index` and the bucket's width. An index beyond the last means the last: data from outside
/// must not make arithmetic overflow.
pub fn bucket_range(index: usize) -> (u64, u64) {
    let index = index.min(BUCKETS - 1) as u64;
    if index < 2 * SUB_BUCKETS {
        return (index, 1);
    }
    let shift = (index >> SUB_BUCKET_BITS) - 1;
    let mantissa = index - (shift << SUB_BUCKET_BITS);
    (mantissa << shift, 1 << shift)
}

/// Middle of bucket `index`.
pub fn bucket_middle(index: usize) -> u64 {
    let (low, width) = bucket_range(index);
    low + width / 2
}

/// Sparse histogram of durations. Buckets are sorted by index; no count is zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistogramData {
    /// Samples recorded.
    pub count: u64,
    /// Smallest sample, exact.
    pub min_ns: Finite,
    /// Largest sample, exact.
    pub max_ns: Finite,
    /// Sum of all samples, exact up to floating point.
    pub sum_ns: Finite,
    /// `(bucket index over picoseconds, count)`.
    pub buckets: Vec<(u32, u64)>,
    /// What a sample's clock can tell apart: its step over the operations of a sample. 0 where it is not known.
    #[serde(default, skip_serializing_if = "Finite::is_zero")]
    pub step_ns: Finite,
}

impl HistogramData {
    /// The same samples, taken with a clock that moves in steps of `step_ns` a sample.
    pub fn with_step_ns(mut self, step_ns: f64) -> Self {
        self.step_ns = Finite::maybe(step_ns.max(0.0)).unwrap_or_default();
        self
    }

    /// True when nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the parts agree: sorted buckets within range, no empty one, counts that sum to `count`, ordered extremes.
    /// Data from another process or a file must pass this before anything is computed from them.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.buckets.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return Err("histogram buckets are not in order");
        }
        if self.buckets.iter().any(|&(index, _)| index as usize >= BUCKETS) {
            return Err("histogram bucket out of range");
        }
        if self.buckets.iter().any(|&(_, count)| count == 0) {
            return Err("histogram bucket without samples");
        }
        let sum = self
            .buckets
            .iter()
            .try_fold(0u64, |sum, &(_, count)| sum.checked_add(count));
        if sum != Some(self.count) {
            return Err("histogram counts do not add up");
        }
        if self.min_ns.get() < 0.0 || self.min_ns > self.max_ns || self.sum_ns.get() < 0.0 {
            return Err("histogram extremes are out of order");
        }
        if self.step_ns.get() < 0.0 {
            return Err("histogram step is negative");
        }
        Ok(())
    }

    /// Arithmetic mean in ns; 0 when empty.
    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum_ns.get() / self.count as f64
        }
    }

    /// Value of the `rank`-th smallest sample (1-based, nearest rank), within half a bucket; `None` when out of range.
    pub fn value_at_rank_ns(&self, rank: u64) -> Option<f64> {
        if rank == 0 || rank > self.count {
            return None;
        }
        if rank == 1 {
            return Some(self.min_ns.get());
        }
        if rank == self.count {
            return Some(self.max_ns.get());
        }
        let mut seen = 0u64;
        for &(index, count) in &self.buckets {
            seen = seen.saturating_add(count);
            if seen >= rank {
                let ns = bucket_middle(index as usize) as f64 / 1000.0;
                // Not `clamp`: it panics on data from outside whose minimum is above its maximum.
                return Some(ns.max(self.min_ns.get()).min(self.max_ns.get()));
            }
        }
        Some(self.max_ns.get())
    }

    /// Quantile `q` in 0..=1: the ceil(q·n)-th smallest sample (nearest rank); the median of an even number is the mean of the
    /// middle two. `None` when empty.
    ///
    /// Where the clock's step is coarser than the bucket, many samples share a value, and the nearest rank could only jump
    /// from step to step. Each sample then stands for the whole step around it: the quantile is the point where the
    /// distribution function reaches q, interpolated within the step (the median of grouped data; Yule and Kendall, *An
    /// Introduction to the Theory of Statistics*). It is never further than half a step from the nearest rank.
    pub fn quantile_ns(&self, q: f64) -> Option<f64> {
        if self.count == 0 || !(0.0..=1.0).contains(&q) {
            return None;
        }
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count);
        let nearest = self.value_at_rank_ns(rank)?;
        let is_between = q == 0.5 && self.count.is_multiple_of(2);
        let next = self.value_at_rank_ns(rank + u64::from(is_between))?;
        let width = bucket_range(bucket_of((nearest * 1000.0) as u64)).1 as f64 / 1000.0;
        let is_extreme = rank == 1 || rank == self.count;
        let step = self.step_ns.get();
        match step > width && !is_extreme && next - nearest <= step {
            true => Some(self.within_step_ns(q, nearest)),
            false => Some(nearest / 2.0 + next / 2.0),
        }
    }

    /// Where the samples below reach q·n, each spread evenly over the step around its bucket's middle.
    fn within_step_ns(&self, q: f64, nearest: f64) -> f64 {
        let (step, middle) = (self.step_ns.get(), |index: u32| {
            bucket_middle(index as usize) as f64 / 1000.0
        });
        let first = self
            .buckets
            .partition_point(|&(index, _)| middle(index) < nearest - step);
        let last = self
            .buckets
            .partition_point(|&(index, _)| middle(index) <= nearest + step);
        let (below, near) = (&self.buckets[..first], &self.buckets[first..last.max(first)]);
        let wanted = q * self.count as f64 - below.iter().map(|&(_, count)| count as f64).sum::<f64>();
        let reached = |at: f64| -> f64 {
            let part = |index| ((at - middle(index)) / step + 0.5).clamp(0.0, 1.0);
            near.iter()
                .map(|&(index, count)| count as f64 * part(index))
                .sum()
        };
        let (mut low, mut high) = (nearest - step / 2.0, nearest + step / 2.0);
        // A thousandth of a bucket after so many halvings, for any step worth the name.
        for _ in 0..40 {
            let at = low + (high - low) / 2.0;
            match reached(at) < wanted {
                true => low = at,
                false => high = at,
            }
        }
        high.max(self.min_ns.get()).min(self.max_ns.get())
    }

    /// Add all samples of `other`. Counts add; quantiles are never averaged.
    pub fn merge(&mut self, other: &HistogramData) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = other.clone();
            return;
        }
        let mut merged: std::collections::BTreeMap<u32, u64> = self.buckets.iter().copied().collect();
        for &(index, count) in &other.buckets {
            let slot = merged.entry(index).or_default();
            *slot = slot.saturating_add(count);
        }
        self.buckets = merged.into_iter().collect();
        self.count = self.count.saturating_add(other.count);
        self.min_ns = if other.min_ns < self.min_ns {
            other.min_ns
        } else {
            self.min_ns
        };
        self.max_ns = if other.max_ns > self.max_ns {
            other.max_ns
        } else {
            self.max_ns
        };
        self.sum_ns = Finite::maybe(self.sum_ns.get() + other.sum_ns.get()).unwrap_or(self.sum_ns);
        // The coarser of the two holds for both.
        if other.step_ns > self.step_ns {
            self.step_ns = other.step_ns;
        }
    }

    /// Build from single samples in ns (tests, importers).
    pub fn from_samples_ns(samples: &[f64]) -> Self {
        let mut counts = std::collections::BTreeMap::<u32, u64>::new();
        let mut data = HistogramData::default();
        for sample in samples.iter().copied().filter(|s| s.is_finite() && *s >= 0.0) {
            *counts
                .entry(bucket_of((sample * 1000.0).round() as u64) as u32)
                .or_default() += 1;
            let value = Finite::maybe(sample).unwrap_or_default();
            if data.count == 0 || value < data.min_ns {
                data.min_ns = value;
            }
            if data.count == 0 || value > data.max_ns {
                data.max_ns = value;
            }
            data.sum_ns = Finite::maybe(data.sum_ns.get() + sample).unwrap_or(data.sum_ns);
            data.count += 1;
        }
        data.buckets = counts.into_iter().collect();
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_tile_every_value() {
        assert_eq!((bucket_of(0), bucket_of(511)), (0, 511));
        assert_eq!((bucket_range(511), bucket_range(512)), ((511, 1), (512, 2)));
        // Each begins where the one before ends, and holds both of its ends.
        for index in 0..BUCKETS - 1 {
            let (low, width) = bucket_range(index);
            assert_eq!(low + width, bucket_range(index + 1).0, "{index}");
            assert_eq!((bucket_of(low), bucket_of(low + width - 1)), (index, index));
            assert!(width == 1 || low / width >= SUB_BUCKETS, "{index} is too wide");
        }
        let (low, width) = bucket_range(BUCKETS - 1);
        assert_eq!(low + (width - 1), u64::MAX);
        assert_eq!(bucket_range(BUCKETS), (low, width));
        assert_eq!(bucket_middle(512), 513);
    }

    #[test]
    fn figures_of_a_few_samples_are_known() {
        let data = HistogramData::from_samples_ns(&[10.0, 20.0, 30.0, 40.0]);
        assert_eq!(data.mean_ns(), 25.0);
        assert_eq!(HistogramData::default().mean_ns(), 0.0);
        let near = |found: Option<f64>, expected: f64| (found.unwrap() / expected - 1.0).abs() < 0.002;
        assert!(near(data.quantile_ns(0.5), 25.0), "the mean of the middle two");
        assert!(near(data.quantile_ns(0.51), 30.0) && near(data.quantile_ns(0.25), 10.0));
        assert_eq!(
            (data.quantile_ns(0.0), data.quantile_ns(1.0)),
            (Some(10.0), Some(40.0))
        );
        assert_eq!(
            (data.quantile_ns(1.1), HistogramData::default().quantile_ns(0.5)),
            (None, None)
        );
        let ranks = [0, 1, 2, 4, 5].map(|rank| data.value_at_rank_ns(rank).map(|v| v.round()));
        assert_eq!(ranks, [None, Some(10.0), Some(20.0), Some(40.0), None]);
    }

    /// A clock of 10 ns: of 100 samples 30 show 100, 50 show 110 and 20 show 120. The distribution function rises evenly over the
    /// step around each, so that it reaches q at 105 + 10 (100 q - 30) / 50 within the middle one.
    #[test]
    fn quantiles_lie_within_the_step() {
        let mut samples = vec![100.0; 30];
        samples.resize(80, 110.0);
        samples.resize(100, 120.0);
        let data = HistogramData::from_samples_ns(&samples).with_step_ns(10.0);
        let tenths: Vec<f64> = samples.iter().map(|ns| ns / 100.0).collect();
        let small = HistogramData::from_samples_ns(&tenths).with_step_ns(0.1);
        for (q, expected) in [(0.5, 109.0), (0.6, 111.0), (0.75, 114.0), (0.9, 120.0)] {
            for found in [
                data.quantile_ns(q).unwrap(),
                100.0 * small.quantile_ns(q).unwrap(),
            ] {
                assert!((found - expected).abs() < 0.3, "{q}: {found}");
            }
        }
        assert_eq!(data.quantile_ns(1.0), Some(120.0), "an extreme is what it is");
        // A step that the buckets resolve, and values farther apart than a step, are left as they are.
        let fine = HistogramData::from_samples_ns(&samples).with_step_ns(0.1);
        assert!((fine.quantile_ns(0.5).unwrap() - 110.0).abs() < 0.3);
        let mut large = vec![50_000.0; 2];
        large.resize(9, 100_000.0);
        let large = HistogramData::from_samples_ns(&[&large[..], &[200_000.0]].concat());
        let stepped = large.clone().with_step_ns(100.0);
        assert_eq!(
            stepped.quantile_ns(0.3),
            large.quantile_ns(0.3),
            "a bucket is wider"
        );
        let apart = HistogramData::from_samples_ns(&[100.0, 100.0, 200.0, 200.0]).with_step_ns(10.0);
        assert!((apart.quantile_ns(0.5).unwrap() - 150.0).abs() < 0.5);
        assert_eq!(data.clone().with_step_ns(-1.0).step_ns.get(), 0.0);
    }

    #[test]
    fn foreign_data_are_refused_and_never_overflow() {
        let good = HistogramData::from_samples_ns(&[1.0, 2.0, 900.0]);
        assert_eq!(good.check(), Ok(()));
        assert_eq!(HistogramData::from_samples_ns(&[5.0]).check(), Ok(()));
        assert_eq!(good.clone().with_step_ns(10.0).check(), Ok(()));
        let mut bad = vec![good.clone(); 6];
        bad[0].buckets[0].0 = u32::MAX;
        bad[1].count += 1;
        bad[2].min_ns = Finite::from(5000u32);
        bad[3].buckets.push((0, 1));
        bad[4].step_ns = Finite::maybe(-1.0).unwrap();
        bad[5].min_ns = Finite::maybe(-1.0).unwrap();
        for data in &bad {
            assert!(data.check().is_err(), "{data:?}");
            let _ = data.quantile_ns(0.5);
        }
        assert_eq!(bucket_range(usize::MAX), bucket_range(BUCKETS - 1));
    }

    /// Times around a true value as a clock of steps of 10 ns shows them.
    fn stepped(times: impl Iterator<Item = f64>) -> HistogramData {
        let seen: Vec<f64> = times.map(|t| (t / 10.0).floor() * 10.0).collect();
        HistogramData::from_samples_ns(&seen).with_step_ns(10.0)
    }

    #[test]
    fn a_median_between_two_steps_is_found() {
        // What lasts 127 ns spans 12 or 13 steps, by where in a step it began.
        let spans = (0..1000).map(|i| f64::from(i) / 100.0 % 10.0 + 127.0);
        let median = stepped(spans).quantile_ns(0.5).unwrap();
        assert!((median - 127.0).abs() < 1.0, "{median}");
        // It moves as the truth does, not by whole steps.
        let later = (0..1000).map(|i| f64::from(i) / 100.0 % 10.0 + 128.0);
        let moved = stepped(later).quantile_ns(0.5).unwrap() - median;
        assert!((0.5..2.0).contains(&moved), "{moved}");
    }

    #[test]
    fn nothing_is_interpolated_between_two_modes() {
        let modes = (0..100).map(|i| if i < 45 { 100.0 } else { 500.0 });
        let median = stepped(modes).quantile_ns(0.5).unwrap();
        assert!((495.0..=505.0).contains(&median), "{median}");
    }

    proptest! {
        #[test]
        fn a_step_moves_no_quantile_further_than_half_of_it(samples in prop::collection::vec(1.0..1e5f64, 1..200), q in 0.0..=1.0f64, step in 0.0..1e4f64) {
            let fine = HistogramData::from_samples_ns(&samples);
            let coarse = fine.clone().with_step_ns(step);
            let (fine, of_coarse) = (fine.quantile_ns(q).unwrap(), coarse.quantile_ns(q).unwrap());
            prop_assert!((fine - of_coarse).abs() <= step / 2.0 + 1e-9, "{fine} {of_coarse}");
            let above = coarse.quantile_ns((q + 0.01).min(1.0)).unwrap();
            prop_assert!(above >= of_coarse - 1e-3 * step, "{above} below {of_coarse}");
        }

        #[test]
        fn a_value_lies_in_its_bucket(value in any::<u64>()) {
            let index = bucket_of(value);
            let (low, width) = bucket_range(index);
            prop_assert!(index < BUCKETS);
            prop_assert!(low <= value && value - low < width);
            prop_assert!(width == 1 || width <= low / 256);
        }

        #[test]
        fn merging_is_recording_together(a in prop::collection::vec(0.0..1e9f64, 0..50), b in prop::collection::vec(0.0..1e9f64, 0..50)) {
            let mut merged = HistogramData::from_samples_ns(&a);
            merged.merge(&HistogramData::from_samples_ns(&b));
            let together = HistogramData::from_samples_ns(&[a, b].concat());
            prop_assert_eq!(&merged.buckets, &together.buckets);
            prop_assert_eq!(merged.count, together.count);
            prop_assert_eq!(merged.min_ns, together.min_ns);
            prop_assert_eq!(merged.max_ns, together.max_ns);
        }

        #[test]
        fn the_median_of_an_even_number_is_between_the_middle_two(
            mut samples in prop::collection::vec(1.0..1e9f64, 1..200),
            step in prop::option::of(1.0..1e6f64),
        ) {
            let data = HistogramData::from_samples_ns(&samples);
            let data = step.iter().fold(data, |data, step| data.with_step_ns(*step));
            samples.sort_by(f64::total_cmp);
            let (lower, upper) = (samples[(samples.len() - 1) / 2], samples[samples.len() / 2]);
            let exact = lower / 2.0 + upper / 2.0;
            let got = data.quantile_ns(0.5).unwrap();
            let near = exact * 0.002 + 0.002 + step.unwrap_or(0.0);
            prop_assert!((got - exact).abs() <= near, "{got} for {exact}");
        }

        #[test]
        fn quantiles_are_within_half_a_bucket(mut samples in prop::collection::vec(1.0..1e9f64, 1..200), q in 0.0..=1.0f64) {
            prop_assume!(q != 0.5);
            let data = HistogramData::from_samples_ns(&samples);
            samples.sort_by(f64::total_cmp);
            let rank = ((q * samples.len() as f64).ceil() as usize).clamp(1, samples.len());
            let exact = samples[rank - 1];
            let got = data.quantile_ns(q).unwrap();
            prop_assert!((got - exact).abs() <= exact * 0.002 + 0.002, "{got} for {exact}");
        }
    }
}
