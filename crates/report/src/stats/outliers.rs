//! Marks values that lie far from the others. Nothing is ever dropped because of its mark.

/// How far a value lies from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Among the others.
    Usual,
    /// Beyond 1.5 interquartile ranges.
    Mild,
    /// Beyond 3 interquartile ranges.
    Far,
}

/// Tukey's fences on logarithms (Tukey, Exploratory Data Analysis, 1977), because times and rates are skewed: a value is
/// mild beyond 1.5 and far beyond 3 interquartile ranges outside the quartiles. The range is at least `resolution` (a
/// ratio such as 0.002), so that values that are all but equal have no outliers. Values that are not above 0 are far.
/// Below four values everything is usual.
pub fn mark(values: &[f64], resolution: f64) -> Vec<Mark> {
    let mut logs: Vec<f64> = values.iter().filter(|v| **v > 0.0).map(|v| v.ln()).collect();
    logs.retain(|log| log.is_finite());
    if logs.len() < 4 {
        return vec![Mark::Usual; values.len()];
    }
    logs.sort_by(f64::total_cmp);
    let (low, high) = (quartile(&logs, 0.25), quartile(&logs, 0.75));
    let range = (high - low).max(resolution);
    values
        .iter()
        .map(|&value| {
            let log = value.ln();
            if !log.is_finite() {
                return Mark::Far;
            }
            let beyond = (low - log).max(log - high) / range;
            match beyond {
                b if b > 3.0 => Mark::Far,
                b if b > 1.5 => Mark::Mild,
                _ => Mark::Usual,
            }
        })
        .collect()
}

/// Quantile by linear interpolation between order statistics (Hyndman and Fan's type 7).
pub(super) fn quartile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (low, part) = (at.floor() as usize, at.fract());
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + (sorted[high] - sorted[low]) * part
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_one_that_stands_out_is_marked() {
        let values = [100.0, 101.0, 99.0, 100.5, 98.0, 102.0, 400.0, 107.0];
        let marks = mark(&values, 0.002);
        assert_eq!(marks[6], Mark::Far);
        assert_eq!(&marks[..6], [Mark::Usual; 6]);
        // All but equal: a tenth of a percent is no outlier.
        assert_eq!(
            mark(&[100.0, 100.0, 100.0, 100.0, 100.1], 0.002),
            [Mark::Usual; 5]
        );
        assert_eq!(mark(&[1.0, 1.0, 50.0], 0.0), [Mark::Usual; 3]);
        assert_eq!(mark(&[1.0, 1.0, 1.0, 1.0, 0.0], 0.01)[4], Mark::Far);
    }

    /// Reference: NumPy `quantile`, its default.
    #[test]
    fn quartiles_lie_between_order_statistics() {
        let of = |q| quartile(&[1.0, 2.0, 4.0, 9.0], q);
        assert_eq!([0.0, 0.25, 0.5, 0.75, 1.0].map(of), [1.0, 1.75, 3.0, 5.25, 9.0]);
        assert_eq!([0.0, 0.5, 1.0].map(|q| quartile(&[7.0], q)), [7.0; 3]);
    }

    #[test]
    fn a_value_on_a_fence_is_within_it() {
        let last = |range: f64| {
            let values = [[1.0; 8].as_slice(), &[8.0]].concat();
            mark(&values, range.ln())[8]
        };
        assert_eq!([1.99, 2.0].map(last), [Mark::Far, Mark::Mild]);
        assert_eq!([3.99, 4.0].map(last), [Mark::Mild, Mark::Usual]);
    }

    proptest! {
        #[test]
        fn scale_does_not_matter_and_nothing_is_lost(values in prop::collection::vec(1e-3..1e6f64, 0..40), scale in 0.01..100.0f64) {
            let marks = mark(&values, 0.002);
            prop_assert_eq!(marks.len(), values.len());
            prop_assert!(marks.iter().filter(|m| **m == Mark::Usual).count() * 2 >= values.len());
            let far = |values: &[f64]| mark(values, 0.002).iter().filter(|m| **m == Mark::Far).count();
            let scaled: Vec<f64> = values.iter().map(|v| v * scale).collect();
            prop_assert!(far(&values).abs_diff(far(&scaled)) <= 1);
        }
    }
}
