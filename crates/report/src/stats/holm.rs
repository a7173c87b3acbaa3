//! Many comparisons at once: p-values adjusted so that the chance of even one false finding stays at the level.

use wirespeed_schema::order::InOrder;

/// Holm's step-down adjustment (Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
/// Statistics 6, 1979): the k-th smallest of m is multiplied by m-k+1, kept from falling, and capped at 1. In the order
/// given. A p-value that is not a number counts as 1.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let p = |index: usize| match p_values[index] {
        p if p.is_nan() => 1.0,
        p => p.clamp(0.0, 1.0),
    };
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.order_by(|&a, &b| p(a).total_cmp(&p(b)));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, &index) in order.iter().enumerate() {
        let factor = (p_values.len() - rank) as f64;
        largest = largest.max((p(index) * factor).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reference: statsmodels 0.15 `multipletests(p, method="holm")`.
    #[test]
    fn agrees_with_the_reference() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005, 0.5]);
        for (got, reference) in adjusted.iter().zip([0.04, 0.09, 0.09, 0.025, 0.5]) {
            assert!((got - reference).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[f64::NAN, 0.01]), [1.0, 0.02]);
        assert!(holm(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn order_is_kept_and_nothing_falls(p in prop::collection::vec(0.0..=1.0f64, 1..30)) {
            let adjusted = holm(&p);
            for (a, b) in p.iter().zip(&adjusted) {
                prop_assert!(b >= a && *b <= 1.0);
            }
            for (i, j) in (0..p.len()).flat_map(|i| (0..p.len()).map(move |j| (i, j))) {
                prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
            }
        }
    }
}
