//! Summaries over runs: each run gives one value, and the run is the unit of repetition.

use super::order::quantile_interval;

/// One figure over runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunSummary {
    /// Median of the runs' values (the mean of the middle two for an even number).
    pub median: f64,
    /// Lower end of the interval, or the smallest value where `level` is `None`.
    pub lower: f64,
    /// Upper end of the interval, or the largest value where `level` is `None`.
    pub upper: f64,
    /// Coverage of the order-statistic interval; `None` below six runs: then the ends are the spread of the runs.
    pub level: Option<f64>,
    /// Runs behind it.
    pub runs: usize,
}

/// Median over runs with its order-statistic interval of at least `level`; below the six runs that it needs, the
/// smallest and largest value. `None` without values. Values that are not finite are left out.
pub fn summarize(values: &[f64], level: f64) -> Option<RunSummary> {
    let sorted = sorted_finite(values);
    let n = sorted.len();
    let median = match n {
        0 => return None,
        _ if n % 2 == 1 => sorted[n / 2],
        // Halved before adding, so that the largest numbers do not overflow.
        _ => sorted[n / 2 - 1] / 2.0 + sorted[n / 2] / 2.0,
    };
    let interval = quantile_interval(n as u64, 0.5, level);
    let (lower, upper) = match interval {
        Some(ranks) => (sorted[ranks.lower as usize - 1], sorted[ranks.upper as usize - 1]),
        None => (sorted[0], sorted[n - 1]),
    };
    Some(RunSummary {
        median,
        lower,
        upper,
        level: interval.map(|ranks| ranks.level),
        runs: n,
    })
}

/// Mean of the values without the best and the worst one; `None` below three values.
pub fn trimmed_mean(values: &[f64]) -> Option<f64> {
    let sorted = sorted_finite(values);
    if sorted.len() < 3 {
        return None;
    }
    let kept = &sorted[1..sorted.len() - 1];
    // Divided first, so that the largest numbers do not overflow.
    let mean: f64 = kept.iter().map(|value| value / kept.len() as f64).sum();
    mean.is_finite().then_some(mean)
}

fn sorted_finite(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn six_runs_give_an_interval_and_five_a_spread() {
        let six = summarize(&[3.0, 1.0, 2.0, 6.0, 5.0, 4.0], 0.95).unwrap();
        assert_eq!((six.median, six.lower, six.upper), (3.5, 1.0, 6.0));
        // 1 - 2·0.5^6.
        assert!((six.level.unwrap() - 0.96875).abs() < 1e-9);
        let five = summarize(&[3.0, 1.0, 2.0, 5.0, 4.0], 0.95).unwrap();
        assert_eq!(
            (five.median, five.lower, five.upper, five.level),
            (3.0, 1.0, 5.0, None)
        );
        assert_eq!(summarize(&[f64::NAN], 0.95), None);
    }

    #[test]
    fn ten_runs_leave_out_the_extremes() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let ten = summarize(&values, 0.95).unwrap();
        assert_eq!((ten.lower, ten.upper), (2.0, 9.0));
        assert_eq!(trimmed_mean(&values), Some(5.5));
        // SciPy 1.17: trim_mean(numpy.arange(1, 11)**2.0, 0.1) = 35.5.
        let squares: Vec<f64> = values.iter().map(|value| value * value).collect();
        assert_eq!(trimmed_mean(&squares), Some(35.5));
        assert_eq!(trimmed_mean(&[1.0, 100.0, 4.0]), Some(4.0));
        assert_eq!(trimmed_mean(&[1.0, 2.0]), None);
    }

    proptest! {
        #[test]
        fn order_does_not_matter_and_ends_bound_the_median(mut values in prop::collection::vec(-1e300..1e300f64, 1..40)) {
            let summary = summarize(&values, 0.95).unwrap();
            prop_assert!(summary.lower <= summary.median && summary.median <= summary.upper);
            let mean = trimmed_mean(&values);
            values.reverse();
            prop_assert_eq!(summarize(&values, 0.95), Some(summary));
            prop_assert_eq!(trimmed_mean(&values), mean);
        }
    }
}
