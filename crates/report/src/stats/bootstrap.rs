//! Intervals of any statistic by resampling, for nested data: runs, and within a run samples that remember each other.
//!
//! Runs are drawn first, then blocks inside each drawn run: the spread between runs stays in the interval.

use super::outliers::quartile;
use super::random::Random;
use super::series::block_length;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// How to resample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampling {
    /// How often. 2 000 keep the ends of a 95 % interval steady to a few percent of its width.
    pub resamples: u32,
    /// Seed of the draw; recorded with the result.
    pub seed: u64,
    /// Confidence level.
    pub level: f64,
}

/// A resampled interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The statistic of the data themselves.
    pub estimate: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

/// Percentile interval of `statistic`, resampling runs with replacement and, inside each, blocks of a random length
/// around the automatic one (the stationary bootstrap: Politis and Romano, JASA 89, 1994). One run alone is resampled in
/// blocks only, and its interval then says nothing of the spread between runs.
///
/// `statistic` sees all drawn samples in the order drawn and may reorder them; where it gives no finite number that draw
/// is left out. `None` without samples, or where more than half of the draws gave nothing. Several runs are few: the
/// percentiles lie further out than the level alone says (`tail`).
pub fn nested(runs: &[Vec<f64>], how: Resampling, statistic: impl Fn(&mut [f64]) -> f64) -> Option<Interval> {
    let runs = Runs::of(runs);
    let mut all: Vec<f64> = runs.values.iter().flat_map(|run| run.iter().copied()).collect();
    let estimate = statistic(&mut all);
    resampled(estimate, how, runs.values.len(), |random| {
        all.clear();
        for _ in 0..runs.values.len() {
            runs.draw(random, &mut all);
        }
        statistic(&mut all)
    })
}

/// The same for a statistic over runs of a statistic within each run, such as the median of the runs' medians: `within`
/// sees the samples of one drawn run, `over` one value for each drawn run. With one sample a run, runs alone are drawn.
pub fn nested_over_runs(
    runs: &[Vec<f64>],
    how: Resampling,
    within: impl Fn(&mut [f64]) -> f64,
    over: impl Fn(&mut [f64]) -> f64,
) -> Option<Interval> {
    let runs = Runs::of(runs);
    let mut values: Vec<f64> = runs.values.iter().map(|run| within(&mut run.to_vec())).collect();
    let estimate = over(&mut values);
    let mut drawn = Vec::new();
    resampled(estimate, how, runs.values.len(), |random| {
        values.clear();
        for _ in 0..runs.values.len() {
            drawn.clear();
            runs.draw(random, &mut drawn);
            values.push(within(&mut drawn));
        }
        over(&mut values)
    })
}

/// Runs with the block length of each.
struct Runs<'a> {
    values: Vec<&'a [f64]>,
    lengths: Vec<f64>,
}

impl<'a> Runs<'a> {
    fn of(runs: &'a [Vec<f64>]) -> Runs<'a> {
        let values: Vec<&[f64]> = runs
            .iter()
            .map(Vec::as_slice)
            .filter(|run| !run.is_empty())
            .collect();
        let lengths = values
            .iter()
            .map(|run| block_length(run).unwrap_or(1.0))
            .collect();
        Runs { values, lengths }
    }

    /// Add the blocks of a run, any of them.
    fn draw(&self, random: &mut Random, drawn: &mut Vec<f64>) {
        let index = random.below(self.values.len());
        draw_blocks(self.values[index], self.lengths[index], random, drawn);
    }
}

/// The interval that as many draws as asked for give. `None` without an estimate, so that nothing is drawn from nothing.
fn resampled(
    estimate: f64,
    how: Resampling,
    runs: usize,
    mut draw: impl FnMut(&mut Random) -> f64,
) -> Option<Interval> {
    if !estimate.is_finite() {
        return None;
    }
    let mut random = Random::new(how.seed);
    let mut found: Vec<f64> = (0..how.resamples).map(|_| draw(&mut random)).collect();
    found.retain(|value| value.is_finite());
    if found.len() * 2 <= how.resamples as usize {
        return None;
    }
    found.sort_by(f64::total_cmp);
    let tail = tail(how.level, runs);
    Some(Interval {
        estimate,
        lower: quartile(&found, tail).min(estimate),
        upper: quartile(&found, 1.0 - tail).max(estimate),
    })
}

/// The share of draws beyond each end. Draws from few runs spread too little: by √((n-1)/n), and as if their spread were
/// known. The expanded percentile interval makes up for both: Φ(-√(n/(n-1)) · t) with Student's t of n-1 degrees of freedom
/// (Hesterberg, The American Statistician 69, 2015). One run is drawn from in blocks, many of them: nothing to make up for.
fn tail(level: f64, runs: usize) -> f64 {
    let plain = (1.0 - level) / 2.0;
    let n = runs as f64;
    let quantile = |free| StudentsT::new(0.0, 1.0, free).map(|t| t.inverse_cdf(1.0 - plain));
    match quantile(n - 1.0) {
        Ok(t) if runs > 1 => Normal::standard().cdf(-(n / (n - 1.0)).sqrt() * t),
        _ => plain,
    }
}

/// As many samples as `run` has, in blocks that begin anywhere, wrap around, and end with probability 1/`length` after
/// each sample.
fn draw_blocks(run: &[f64], length: f64, random: &mut Random, drawn: &mut Vec<f64>) {
    let mut at = random.below(run.len());
    for _ in 0..run.len() {
        drawn.push(run[at]);
        at = match random.uniform() * length < 1.0 {
            true => random.below(run.len()),
            false => (at + 1) % run.len(),
        };
    }
}

/// The median, reordering `values`: of an even number the mean of the middle two. Not a number for no values.
pub fn median(values: &mut [f64]) -> f64 {
    let count = values.len();
    if count == 0 {
        return f64::NAN;
    }
    let (below, middle, _) = values.select_nth_unstable_by(count / 2, f64::total_cmp);
    let lower = below.iter().copied().max_by(f64::total_cmp);
    match lower.filter(|_| count.is_multiple_of(2)) {
        Some(lower) => lower / 2.0 + *middle / 2.0,
        None => *middle,
    }
}

/// The quantile `p` by nearest rank, reordering `values`. Not a number for no values.
pub fn nearest_rank(values: &mut [f64], p: f64) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let rank = ((p * values.len() as f64).ceil() as usize).clamp(1, values.len());
    *values.select_nth_unstable_by(rank - 1, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Quantiles of t as tabled (2.570582, 2.364624, 2.045230), the normal share by erfc.
    #[test]
    fn few_runs_lie_further_out() {
        for (runs, expected) in [
            (1, 0.025),
            (6, 0.0024318032),
            (8, 0.0057375205),
            (30, 0.0187539003),
        ] {
            let found = tail(0.95, runs);
            assert!((found / expected - 1.0).abs() < 1e-6, "{runs}: {found}");
        }
    }

    const HOW: Resampling = Resampling {
        resamples: 400,
        seed: 5,
        level: 0.95,
    };

    fn mean(values: &mut [f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// Coverage of the mean over samples with correlation time 19: blocks keep it, single samples would not.
    #[test]
    fn blocks_cover_where_single_samples_do_not() {
        let mut random = Random::new(3);
        let (mut by_blocks, mut by_samples, replicates) = (0, 0, 200);
        for _ in 0..replicates {
            let mut x = 0.0;
            let values: Vec<f64> = (0..600)
                .map(|_| {
                    x = 0.9 * x + random.normal();
                    x
                })
                .collect();
            let blocks = nested(std::slice::from_ref(&values), HOW, mean).unwrap();
            by_blocks += usize::from(blocks.lower <= 0.0 && blocks.upper >= 0.0);
            let half = 1.96 * (values.iter().map(|v| v * v).sum::<f64>()).sqrt() / 600.0;
            by_samples += usize::from(blocks.estimate.abs() <= half);
        }
        assert!(by_blocks * 100 >= 85 * replicates, "{by_blocks} of {replicates}");
        assert!(by_samples * 100 < 60 * replicates, "{by_samples} of {replicates}");
    }

    /// Reference: SciPy 1.17 `bootstrap((x,), f, n_resamples=99999, method="percentile", random_state=1)`, with
    /// x(t) = 100·frac((t+1)²·0.6180339887498949) + 50, t = 0..29. What is left is the chance of the draws.
    #[test]
    fn runs_alone_agree_with_the_reference() {
        let runs: Vec<Vec<f64>> = (1..=30u32)
            .map(|t| vec![100.0 * (f64::from(t * t) * 0.618_033_988_749_894_9).fract() + 50.0])
            .collect();
        // The level of 30 runs whose expanded ends are the 2.5 and 97.5 percentiles of the reference: P(|T₂₉| < 1.927021).
        let how = Resampling {
            resamples: 20_000,
            level: 0.9361744,
            ..HOW
        };
        let alone = |values: &mut [f64]| values[0];
        let middle = |values: &mut [f64]| crate::stats::summarize(values, 0.95).unwrap().median;
        let of_mean = nested_over_runs(&runs, how, alone, mean).unwrap();
        let of_median = nested_over_runs(&runs, how, alone, middle).unwrap();
        for (found, [estimate, lower, upper], slack) in [
            (of_mean, [98.371_212, 88.186_840, 108.710_743], 0.5),
            (of_median, [100.539_157, 76.023_328, 108.706_432], 1.5),
        ] {
            assert!((found.estimate - estimate).abs() < 1e-5, "{found:?}");
            assert!(
                (found.lower - lower).abs() < slack && (found.upper - upper).abs() < slack,
                "{found:?}"
            );
        }
        assert_eq!(nested(&runs, how, mean), Some(of_mean));
    }

    #[test]
    fn the_spread_between_runs_stays_in_the_interval() {
        let runs: Vec<Vec<f64>> = (0..8).map(|run| vec![100.0 + f64::from(run); 50]).collect();
        let nested_runs = nested(&runs, HOW, |v| nearest_rank(v, 0.5)).unwrap();
        assert!(nested_runs.upper - nested_runs.lower >= 2.0, "{nested_runs:?}");
        let one: Vec<f64> = runs.concat();
        assert!(one.len() == 400 && nested(&[], HOW, mean).is_none());
        assert!(nested(&[vec![1.0]], HOW, |_| f64::NAN).is_none());
    }

    proptest! {
        #[test]
        fn ends_bound_the_estimate_and_lie_within_the_data(
            runs in prop::collection::vec(prop::collection::vec(1.0..1e3f64, 0..30), 1..5),
            seed in any::<u64>(),
        ) {
            let how = Resampling { resamples: 50, seed, ..HOW };
            if let Some(interval) = nested(&runs, how, |v| nearest_rank(v, 0.5)) {
                let all: Vec<f64> = runs.concat();
                prop_assert!(interval.lower <= interval.estimate && interval.estimate <= interval.upper);
                prop_assert!(all.iter().any(|v| *v <= interval.lower + 1e-9));
                prop_assert!(all.iter().any(|v| *v >= interval.upper - 1e-9));
                prop_assert_eq!(nested(&runs, how, |v| nearest_rank(v, 0.5)), Some(interval));
                let over = nested_over_runs(&runs, how, |v| nearest_rank(v, 0.5), |v| nearest_rank(v, 0.5)).unwrap();
                prop_assert!(over.lower <= over.estimate && over.estimate <= over.upper);
            }
        }
    }

    #[test]
    fn more_than_half_of_the_draws_have_to_give_a_number() {
        for (bad, expected) in [(0, true), (199, true), (200, false), (400, false)] {
            let mut drawn = 0;
            let found = resampled(1.0, HOW, 8, |_| {
                drawn += 1;
                if drawn <= bad { f64::NAN } else { 1.0 }
            });
            assert_eq!((drawn, found.is_some()), (400, expected), "{bad}");
        }
    }

    /// A block that never ends is the run from anywhere, round its end; of blocks of one sample any may follow any.
    #[test]
    fn blocks_wrap_around_and_end_as_often_as_their_length_says() {
        let run: Vec<f64> = (0..50).map(f64::from).collect();
        let mut random = Random::new(8);
        let mut followed = |length: f64| {
            let mut drawn = Vec::new();
            for _ in 0..200 {
                drawn.clear();
                draw_blocks(&run, length, &mut random, &mut drawn);
                assert_eq!(drawn.len(), run.len());
            }
            let pairs = drawn.windows(2).filter(|pair| pair[1] == (pair[0] + 1.0) % 50.0);
            pairs.count()
        };
        assert_eq!(followed(1e300), 49);
        assert!(followed(1.0) < 10 && (15..40).contains(&followed(2.0)));
    }

    #[test]
    fn the_median_is_the_middle_or_lies_between_the_two() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [8.0, 1.0, 2.0, 4.0]), 3.0);
        assert_eq!(median(&mut [f64::MAX; 2]), f64::MAX);
        assert!(median(&mut []).is_nan());
    }

    #[test]
    fn the_nearest_rank_of_few_values() {
        let of = |p| nearest_rank(&mut [5.0, 1.0, 4.0, 2.0, 3.0], p);
        assert_eq!([0.0, 0.2, 0.21, 0.5, 1.0].map(of), [1.0, 1.0, 2.0, 3.0, 5.0]);
        assert!(nearest_rank(&mut [], 0.5).is_nan());
    }
}
