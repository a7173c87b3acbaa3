//! Medians and their intervals by order statistics: no assumption about how noise is distributed.

/// Confidence wanted of an interval.
const LEVEL: f64 = 0.95;

/// A median with the interval that two order statistics give, and the level that these really have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Median {
    /// The middle.
    pub value: f64,
    /// Lower end, upper end and level; absent with too few values for the level wanted.
    pub interval: Option<(f64, f64, f64)>,
}

/// The median of `values`; `None` when there are none.
///
/// The k-th smallest and k-th largest of n values enclose the true median with probability 1 - 2·P(B < k), where B is
/// binomial (n, 1/2); the largest k that keeps the level is taken (David and Nagaraja, Order Statistics, 7.1).
pub fn median(values: &[f64]) -> Option<Median> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let middle = *sorted.get(n / 2)?;
    let value = if n % 2 == 1 {
        middle
    } else {
        (middle + sorted[n / 2 - 1]) / 2.0
    };
    let mut below = 0.0;
    let mut interval = None;
    for k in 1..=n / 2 {
        below += probability(n, k - 1);
        let level = 1.0 - 2.0 * below;
        if level < LEVEL {
            break;
        }
        interval = Some((sorted[k - 1], sorted[n - k], level));
    }
    Some(Median { value, interval })
}

/// (p90 - p10) / median, by nearest rank; `None` below ten values or where the median is not above 0.
pub fn spread_ratio(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |part: f64| sorted[((part * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len()) - 1];
    let middle = median(values)?.value;
    (sorted.len() >= 10 && middle > 0.0).then(|| (at(0.9) - at(0.1)) / middle)
}

/// P(B = k) for B binomial (n, 1/2).
fn probability(n: usize, k: usize) -> f64 {
    let choose: f64 = (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product();
    choose * 0.5f64.powi(n as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_leaves_the_extremes_out() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!(spread_ratio(&values), Some(8.0 / 5.5));
        assert_eq!(spread_ratio(&values[..9]), None);
    }

    #[test]
    fn ten_values_give_the_second_and_the_ninth() {
        let values: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        let median = median(&values).unwrap();
        assert_eq!(median.value, 5.5);
        let (low, high, level) = median.interval.unwrap();
        assert_eq!((low, high), (2.0, 9.0));
        // 1 - 2·(1 + 10)/1024
        assert!((level - (1.0 - 22.0 / 1024.0)).abs() < 1e-12);
    }

    #[test]
    fn few_values_give_no_interval() {
        assert_eq!(
            median(&[3.0]).unwrap(),
            Median {
                value: 3.0,
                interval: None
            }
        );
        assert!(median(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap().interval.is_none());
        assert!(median(&[]).is_none());
    }
}
