//! Figures of one histogram: quantiles with intervals, standard deviation, spread.

use super::order::{quantile_interval, samples_needed};
use wirespeed_schema::HistogramData;
use wirespeed_schema::histogram::{BUCKETS, bucket_middle, bucket_range};

/// Half of a bucket over its value: by so much the middle of a bucket of ticks may be off.
const TICKS_ROUNDED: f64 = 1.0 / 512.0;

/// A quantile with its interval, in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The quantile by nearest rank.
    pub value_ns: f64,
    /// Lower end: the lower edge of the bucket of the lower order statistic.
    pub lower_ns: f64,
    /// Upper end: the upper edge of the bucket of the upper order statistic.
    pub upper_ns: f64,
    /// Coverage of the interval.
    pub level: f64,
}

/// Quantile `p` (the ceil(p·n)-th smallest sample) with its order-statistic interval of at least `level`.
///
/// The interval's ends are widened to their buckets' edges, so that it also covers what the histogram rounded.
/// Errors with the samples needed when there are too few.
pub fn quantile(data: &HistogramData, p: f64, level: f64) -> Result<Estimate, u64> {
    let needed = samples_needed(p, level).unwrap_or(u64::MAX);
    let interval = quantile_interval(data.count, p, level).ok_or(needed)?;
    let value_ns = data.quantile_ns(p).ok_or(needed)?;
    let (lower_ns, _) = edges_at_rank_ns(data, interval.lower);
    let (_, upper_ns) = edges_at_rank_ns(data, interval.upper);
    Ok(Estimate {
        value_ns,
        lower_ns: lower_ns.min(value_ns),
        upper_ns: upper_ns.max(value_ns),
        level: interval.level,
    })
}

/// Edges of the bucket that holds the `rank`-th smallest sample, or of the clock's step around it where that is wider; both
/// further out by what a bucket of the clock's ticks had rounded before. Kept within the exact extremes.
fn edges_at_rank_ns(data: &HistogramData, rank: u64) -> (f64, f64) {
    let (min, max) = (data.min_ns.get(), data.max_ns.get());
    let mut seen = 0u64;
    for &(index, count) in &data.buckets {
        seen = seen.saturating_add(count);
        if seen >= rank {
            let (low, width) = bucket_range(index as usize);
            let (low, high) = (low as f64 / 1000.0, (low as f64 + width as f64) / 1000.0);
            let wider = (data.step_ns.get() - (high - low)).max(0.0) / 2.0;
            let (low, high) = (
                low - wider - low * TICKS_ROUNDED,
                high + wider + high * TICKS_ROUNDED,
            );
            return (low.max(min).min(max), high.min(max).max(min));
        }
    }
    (max, max)
}

/// Sample standard deviation in ns, sqrt(Σ c·(x - mean)² / (n - 1)), with x the middle of each bucket; `None` below 2
/// samples. Bucketing adds at most 0.4 % of the value to it.
pub fn sd_ns(data: &HistogramData) -> Option<f64> {
    let used = || {
        data.buckets
            .iter()
            .filter(|&&(index, _)| (index as usize) < BUCKETS)
    };
    let total: f64 = used().map(|&(_, count)| count as f64).sum();
    if total < 2.0 {
        return None;
    }
    let value = |index: u32| bucket_middle(index as usize) as f64 / 1000.0;
    let mean = used()
        .map(|&(index, count)| value(index) * count as f64)
        .sum::<f64>()
        / total;
    let squares: f64 = used()
        .map(|&(index, count)| (value(index) - mean).powi(2) * count as f64)
        .sum();
    Some((squares / (total - 1.0)).sqrt())
}

/// Spread inside one run: (Q75 - Q25) / Q50. `None` below 8 samples or where the median is 0.
pub fn spread_ratio(data: &HistogramData) -> Option<f64> {
    if data.count < 8 {
        return None;
    }
    let (low, middle, high) = (
        data.quantile_ns(0.25)?,
        data.quantile_ns(0.5)?,
        data.quantile_ns(0.75)?,
    );
    (middle > 0.0).then(|| (high - low).max(0.0) / middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wirespeed_schema::Finite;
    use wirespeed_schema::histogram::bucket_of;

    const TICK_NS: f64 = 0.417;

    #[test]
    fn a_spread_is_relative_to_a_median_that_is_not_zero() {
        let of = |values: &[f64]| spread_ratio(&HistogramData::from_samples_ns(values));
        assert_eq!(of(&[0.0; 8]), None);
        assert_eq!(of(&[5.0; 8]), Some(0.0));
        assert_eq!(of(&[5.0; 7]), None, "too few");
    }

    #[test]
    fn too_few_samples_say_how_many_are_needed() {
        let data = HistogramData::from_samples_ns(&[1.0; 5]);
        assert_eq!(quantile(&data, 0.5, 0.95), Err(6));
        assert_eq!(quantile(&data, 0.99, 0.95), Err(368));
        assert_eq!(quantile(&HistogramData::default(), 0.5, 0.95), Err(6));
    }

    /// Samples 100, 101, .. 199 ns: the interval of the median is from the 40th to the 61st sample
    /// (SciPy: binom(100, 0.5), ranks 40 and 61), 139 and 160 ns; the sd is 29.011 ns (numpy.std(ddof=1)).
    #[test]
    fn known_samples_give_known_figures() {
        let samples: Vec<f64> = (100..200).map(f64::from).collect();
        let data = HistogramData::from_samples_ns(&samples);
        let median = quantile(&data, 0.5, 0.95).unwrap();
        assert!((median.value_ns - 149.5).abs() < 0.3, "{median:?}");
        assert!(
            (median.lower_ns - 139.0).abs() < 0.6 && median.lower_ns <= 139.0,
            "{median:?}"
        );
        assert!(
            (median.upper_ns - 160.0).abs() < 0.7 && median.upper_ns >= 160.0,
            "{median:?}"
        );
        assert!((sd_ns(&data).unwrap() - 29.011).abs() < 0.06);
        assert!((spread_ratio(&data).unwrap() - 50.0 / 149.0).abs() < 0.01);
        assert_eq!(sd_ns(&HistogramData::from_samples_ns(&[1.0])), None);
    }

    /// Half a step of 10 ns around 100 ns, or the bucket where that is wider, and what buckets round; never beyond the extremes.
    #[test]
    fn intervals_reach_as_far_as_the_clock_may_be_off() {
        let mut samples = vec![80.0; 10];
        samples.resize(90, 100.0);
        samples.resize(100, 120.0);
        let data = HistogramData::from_samples_ns(&samples);
        for (step_ns, reach_ns) in [(10.0, 5.0), (0.1, 0.0), (100.0, 20.0)] {
            let found = quantile(&data.clone().with_step_ns(step_ns), 0.5, 0.95).unwrap();
            for end in [100.0 - found.lower_ns, found.upper_ns - 100.0] {
                assert!((reach_ns..reach_ns + 0.6).contains(&end), "{step_ns}: {found:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn intervals_hold_the_exact_order_statistics(
            mut samples in prop::collection::vec(0.5..1e8f64, 36..400),
            p in prop::sample::select(vec![0.5, 0.9]),
        ) {
            // As the recorder has them: in buckets of ticks, then of picoseconds; the extremes are exact.
            let rounded: Vec<f64> = samples
                .iter()
                .map(|ns| bucket_middle(bucket_of((ns / TICK_NS).round() as u64)) as f64 * TICK_NS)
                .collect();
            samples.iter_mut().for_each(|ns| *ns = (*ns / TICK_NS).round() * TICK_NS);
            samples.sort_by(f64::total_cmp);
            let data = HistogramData {
                min_ns: Finite::new(samples[0]).unwrap(),
                max_ns: Finite::new(samples[samples.len() - 1]).unwrap(),
                ..HistogramData::from_samples_ns(&rounded)
            };
            let n = samples.len() as u64;
            let ranks = quantile_interval(n, p, 0.95).unwrap();
            let got = quantile(&data, p, 0.95).unwrap();
            // The histogram rounds to whole picoseconds.
            prop_assert!(got.lower_ns <= samples[ranks.lower as usize - 1] + 0.001);
            prop_assert!(got.upper_ns >= samples[ranks.upper as usize - 1] - 0.001);
            prop_assert!(got.lower_ns <= got.value_ns && got.value_ns <= got.upper_ns);
        }

        #[test]
        fn sd_is_near_the_exact_one(samples in prop::collection::vec(100.0..1e6f64, 2..200)) {
            let mean = samples.iter().sum::<f64>() / samples.len() as f64;
            let exact = (samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (samples.len() - 1) as f64).sqrt();
            let largest = samples.iter().copied().fold(0.0, f64::max);
            let got = sd_ns(&HistogramData::from_samples_ns(&samples)).unwrap();
            prop_assert!((got - exact).abs() <= 0.003 * largest, "{got} for {exact}");
        }
    }
}
