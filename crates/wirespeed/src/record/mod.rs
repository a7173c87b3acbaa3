//! Recording samples in the loop: a log-linear histogram over clock ticks in constant memory, and, where asked for, the
//! first raw samples in order of time.
//!
//! `record` must never allocate, lock or call anything. It puts the bucket's number aside and counts it at the next call:
//! the increment then overlaps with that call's clock read instead of following it, and recording costs next to nothing
//! beyond the clock (measured with every result: `floor.record_ns`).

use wirespeed_schema::Finite;
use wirespeed_schema::histogram::{BUCKETS, HistogramData, bucket_middle, bucket_of};

/// Histogram of tick counts. 114 KiB, of which a run touches the few cache lines where its samples fall.
pub struct Recorder {
    /// One count a bucket, and one more for [`NO_BUCKET`].
    counts: Box<[u64]>,
    pending: usize,
    min: u64,
    max: u64,
    sum: u64,
    raw: Box<[u64]>,
    raw_len: usize,
}

/// Where the pending sample of an empty recorder is counted; never read.
const NO_BUCKET: usize = BUCKETS;

impl Recorder {
    /// An empty recorder that also keeps the first `raw_max` samples.
    pub fn new(raw_max: usize) -> Self {
        Recorder {
            counts: vec![0; BUCKETS + 1].into_boxed_slice(),
            pending: NO_BUCKET,
            min: u64::MAX,
            max: 0,
            sum: 0,
            raw: vec![0; raw_max].into_boxed_slice(),
            raw_len: 0,
        }
    }

    /// Add one sample. Extremes are kept by branches that are hardly ever taken: a store to the same word in every call
    /// would make each wait for the one before.
    #[inline(always)]
    pub fn record(&mut self, ticks: u64) {
        if let Some(slot) = self.counts.get_mut(self.pending) {
            *slot += 1;
        }
        self.pending = bucket_of(ticks);
        self.sum = self.sum.wrapping_add(ticks);
        if ticks > self.max {
            self.max = ticks;
        }
        if ticks < self.min {
            self.min = ticks;
        }
        if let Some(slot) = self.raw.get_mut(self.raw_len) {
            *slot = ticks;
            self.raw_len += 1;
        }
    }

    /// Count the pending sample; before anything is read.
    fn settle(&mut self) {
        if let Some(slot) = self.counts.get_mut(self.pending) {
            *slot += 1;
        }
        self.pending = NO_BUCKET;
    }

    /// The buckets that hold anything. The rest of them would be brought into the cache between two parts of a run.
    fn touched(&self) -> std::ops::Range<usize> {
        match self.min <= self.max {
            true => bucket_of(self.min)..bucket_of(self.max) + 1,
            false => 0..0,
        }
    }

    /// Samples so far. Adds up buckets: not for loops.
    pub fn count(&mut self) -> u64 {
        self.settle();
        self.counts[self.touched()].iter().sum()
    }

    /// Largest sample in ticks.
    pub fn max_ticks(&self) -> u64 {
        self.max
    }

    /// The median in ticks: the middle of the bucket that holds it; of an even number, between those of the middle two.
    pub fn median_ticks(&mut self) -> Option<u64> {
        let count = self.count();
        let lower = self.ticks_at_rank(count.div_ceil(2))?;
        Some(lower + (self.ticks_at_rank(count / 2 + 1)? - lower) / 2)
    }

    /// Middle of the bucket that holds the nearest-rank `percent`-th percentile, in ticks.
    pub fn percentile_ticks(&mut self, percent: u64) -> Option<u64> {
        let rank = (u128::from(self.count()) * u128::from(percent)).div_ceil(100) as u64;
        self.ticks_at_rank(rank)
    }

    /// Middle of the bucket that holds the `rank`-th smallest sample.
    fn ticks_at_rank(&self, rank: u64) -> Option<u64> {
        let mut seen = 0;
        let bucket = self.touched().find(|&bucket| {
            seen += self.counts[bucket];
            self.counts[bucket] > 0 && seen >= rank
        })?;
        Some(bucket_middle(bucket).clamp(self.min, self.max))
    }

    /// Forget everything; raw samples too.
    pub fn clear(&mut self) {
        self.settle();
        let touched = self.touched();
        self.counts[touched].fill(0);
        self.counts[NO_BUCKET] = 0;
        (self.min, self.max, self.sum, self.raw_len) = (u64::MAX, 0, 0, 0);
    }

    /// Add all samples of `other`; its raw samples follow as far as there is room.
    pub fn merge(&mut self, other: &mut Recorder) {
        self.settle();
        other.settle();
        for bucket in other.touched() {
            self.counts[bucket] += other.counts[bucket];
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum = self.sum.wrapping_add(other.sum);
        let room = self.raw.len() - self.raw_len;
        let taken = room.min(other.raw_len);
        self.raw[self.raw_len..self.raw_len + taken].copy_from_slice(&other.raw[..taken]);
        self.raw_len += taken;
    }

    /// As data, with `ns_per_tick` (for batch samples: divided by the operations of a batch).
    pub fn to_data(&mut self, ns_per_tick: f64) -> HistogramData {
        let count = self.count();
        if count == 0 {
            return HistogramData::default();
        }
        let finite = |v: f64| Finite::maybe(v).unwrap_or_default();
        let mut data = HistogramData {
            count,
            min_ns: finite(self.min as f64 * ns_per_tick),
            max_ns: finite(self.max as f64 * ns_per_tick),
            sum_ns: finite(self.sum as f64 * ns_per_tick),
            buckets: Vec::new(),
            step_ns: Finite::ZERO,
        };
        for (bucket, count) in self.touched().map(|bucket| (bucket, self.counts[bucket])) {
            if count == 0 {
                continue;
            }
            let ps = bucket_middle(bucket) as f64 * ns_per_tick * 1000.0;
            let index = bucket_of(ps.round() as u64) as u32;
            match data.buckets.last_mut() {
                Some(last) if last.0 == index => last.1 += count,
                _ => data.buckets.push((index, count)),
            }
        }
        data
    }

    /// The raw samples kept, in ns.
    pub fn raw_ns(&self, ns_per_tick: f64) -> Vec<Finite> {
        self.raw[..self.raw_len]
            .iter()
            .filter_map(|&t| Finite::maybe(t as f64 * ns_per_tick))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_sorting(samples in prop::collection::vec(0u64..1 << 40, 1..300), q in 0.0..=1.0f64) {
            let mut recorder = Recorder::new(10);
            samples.iter().for_each(|&s| recorder.record(s));
            let data = recorder.to_data(0.4);
            let mut sorted = samples.clone();
            sorted.sort_unstable();
            let rank = ((q * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len());
            let exact = sorted[rank - 1] as f64 * 0.4;
            let got = data.quantile_ns(q).unwrap();
            prop_assert!((got - exact).abs() <= exact * 0.004 + 0.5, "{got} for {exact}");
            prop_assert_eq!(data.count, samples.len() as u64);
            prop_assert_eq!(data.buckets.iter().map(|b| b.1).sum::<u64>(), data.count);
            prop_assert!(data.buckets.windows(2).all(|w| w[0].0 < w[1].0));
            prop_assert_eq!(recorder.raw_ns(1.0).len(), samples.len().min(10));
        }

        #[test]
        fn merging_is_recording_together(a in prop::collection::vec(any::<u32>(), 0..50), b in prop::collection::vec(any::<u32>(), 0..50)) {
            let fill = |samples: &[u32]| {
                let mut r = Recorder::new(8);
                samples.iter().for_each(|&s| r.record(u64::from(s)));
                r
            };
            let mut merged = fill(&a);
            merged.merge(&mut fill(&b));
            let mut together = fill(&[a, b].concat());
            prop_assert_eq!(merged.to_data(1.0), together.to_data(1.0));
            prop_assert_eq!(merged.raw_ns(1.0), together.raw_ns(1.0));
            prop_assert_eq!(merged.median_ticks(), together.median_ticks());
        }
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let mut recorder = Recorder::new(0);
        (1..=200).for_each(|s| recorder.record(s));
        assert_eq!(recorder.median_ticks(), Some(100));
        assert_eq!(recorder.percentile_ticks(99), Some(198));
        assert_eq!(recorder.percentile_ticks(100), Some(200));
        assert_eq!(Recorder::new(0).percentile_ticks(99), None);
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_middle_two() {
        let mut recorder = Recorder::new(0);
        [10, 20, 40, 50].into_iter().for_each(|s| recorder.record(s));
        assert_eq!(recorder.median_ticks(), Some(30));
        recorder.record(20);
        assert_eq!(recorder.median_ticks(), Some(20));
        assert_eq!(Recorder::new(0).median_ticks(), None);
    }

    #[test]
    fn memory_does_not_depend_on_the_number_of_samples() {
        let mut recorder = Recorder::new(4);
        (0..1_000_000).for_each(|s| recorder.record(s));
        assert_eq!(recorder.count(), 1_000_000);
        assert_eq!(recorder.raw_ns(1.0).len(), 4);
        recorder.clear();
        assert_eq!(recorder.to_data(1.0), HistogramData::default());
    }
    #[test]
    fn ticks_become_nanoseconds_everywhere_and_nothing_outlives_a_clear() {
        let mut recorder = Recorder::new(2);
        for samples in [[10, 20, 42], [30, 60, 99]] {
            recorder.clear();
            samples.into_iter().for_each(|s| recorder.record(s));
            let ns = |ticks: u64| Finite::maybe(ticks as f64 * 0.5).unwrap();
            let data = recorder.to_data(0.5);
            assert_eq!((data.count, data.step_ns), (3, Finite::ZERO));
            assert_eq!((data.min_ns, data.max_ns), (ns(samples[0]), ns(samples[2])));
            assert_eq!(data.sum_ns, ns(samples.iter().sum()));
            assert_eq!(recorder.max_ticks(), samples[2]);
            assert_eq!(
                recorder.raw_ns(0.5),
                samples[..2].iter().map(|&s| ns(s)).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn what_is_merged_into_full_raw_samples_still_counts() {
        let (mut all, mut other) = (Recorder::new(3), Recorder::new(3));
        [1, 2].into_iter().for_each(|s| all.record(s));
        [3, 4, 5].into_iter().for_each(|s| other.record(s));
        all.merge(&mut other);
        let raw: Vec<f64> = all.raw_ns(1.0).into_iter().map(|ns| ns.get()).collect();
        assert_eq!((all.count(), raw), (5, vec![1.0, 2.0, 3.0]));
    }
}
