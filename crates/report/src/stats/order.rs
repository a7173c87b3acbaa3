//! Distribution-free confidence intervals of quantiles from the order of independent samples.
//!
//! The number B of samples at or below the quantile p is binomial(n, p). The interval from the l-th to the u-th
//! smallest sample covers the quantile with probability P(l <= B < u) = F(u-1) - F(l-1), whatever the distribution
//! (Hahn and Meeker, Statistical Intervals, 5.2; Conover, Practical Nonparametric Statistics, 3.2). Both tails get at
//! most half of what the level leaves. Correlated samples make the true level lower; docs/metrics.md says so.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

/// Up to so many samples the binomial distribution itself is used.
pub const EXACT_SAMPLES_MAX: u64 = 10_000;
/// Up to so many expected samples in the smaller tail the binomial distribution itself is used, for any n.
pub const EXACT_TAIL_MAX: f64 = 1_000.0;

/// Ranks (1-based) of the samples that bound a quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankInterval {
    /// Rank of the sample that is the lower end.
    pub lower: u64,
    /// Rank of the sample that is the upper end.
    pub upper: u64,
    /// Coverage of the interval: at least the level asked for, more where the ranks are coarse.
    pub level: f64,
    /// True: from the binomial distribution. False: from its normal approximation with continuity correction.
    pub exact: bool,
}

/// Samples that the two-sided interval of quantile `p` needs to exist: both (1-p)^n and p^n at most (1-level)/2.
///
/// p50 6, p90 36, p99 368, p99.9 3 688, p99.99 36 887, p99.999 368 887 at 95 %. `None` for p outside 0..1 exclusive.
pub fn samples_needed(p: f64, level: f64) -> Option<u64> {
    if !(p > 0.0 && p < 1.0 && level > 0.0 && level < 1.0) {
        return None;
    }
    let tail = (1.0 - level) / 2.0;
    let larger = p.max(1.0 - p);
    Some((tail.ln() / larger.ln()).ceil().max(1.0) as u64)
}

/// The narrowest pair of ranks with at most (1-level)/2 in either tail, or `None` when `n` samples are too few.
///
/// l is the largest rank with F(l-1) <= tail, u the smallest with 1 - F(u-1) <= tail.
pub fn quantile_interval(n: u64, p: f64, level: f64) -> Option<RankInterval> {
    if n < samples_needed(p, level)? {
        return None;
    }
    let tail = (1.0 - level) / 2.0;
    let smaller_tail = n as f64 * p.min(1.0 - p);
    if n <= EXACT_SAMPLES_MAX || smaller_tail <= EXACT_TAIL_MAX {
        let binomial = Binomial::new(p, n).ok()?;
        return from_tails(n, tail, true, |x| binomial.cdf(x), |x| binomial.sf(x));
    }
    let mean = n as f64 * p;
    let normal = Normal::new(mean, (mean * (1.0 - p)).sqrt()).ok()?;
    let (cdf, sf) = (
        |x: u64| normal.cdf(x as f64 + 0.5),
        |x: u64| normal.sf(x as f64 + 0.5),
    );
    from_tails(n, tail, false, cdf, sf)
}

/// Find both ranks by bisection in the monotonic functions `cdf` (P(B <= x)) and `sf` (P(B > x)).
fn from_tails(
    n: u64,
    tail: f64,
    exact: bool,
    cdf: impl Fn(u64) -> f64,
    sf: impl Fn(u64) -> f64,
) -> Option<RankInterval> {
    // (1-p)^n and p^n may round to just above the tail where n is exactly the least possible.
    let tail_with_slack = tail * (1.0 + 1e-9);
    let too_many_below = first_true(0, n, |x| cdf(x) > tail_with_slack);
    let upper_minus_one = first_true(0, n, |x| sf(x) <= tail_with_slack);
    let (lower, upper) = (too_many_below, upper_minus_one + 1);
    if lower == 0 || upper > n {
        return None;
    }
    let level = (cdf(upper - 1) - cdf(lower - 1)).clamp(0.0, 1.0);
    Some(RankInterval {
        lower,
        upper,
        level,
        exact,
    })
}

/// The smallest x in `low..=high` for which the monotonic `predicate` holds; `high` when it holds for none before.
fn first_true(mut low: u64, mut high: u64, predicate: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if predicate(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QUANTILES: [(f64, u64); 6] = [
        (0.5, 6),
        (0.9, 36),
        (0.99, 368),
        (0.999, 3_688),
        (0.9999, 36_887),
        (0.99999, 368_887),
    ];

    #[test]
    fn an_interval_exists_exactly_from_the_samples_needed() {
        for (p, needed) in QUANTILES {
            assert_eq!(samples_needed(p, 0.95), Some(needed), "p {p}");
            assert!(quantile_interval(needed, p, 0.95).is_some(), "p {p}");
            assert_eq!(quantile_interval(needed - 1, p, 0.95), None, "p {p}");
        }
        for nonsense in [0.0, 1.0, -1.0, f64::NAN] {
            assert_eq!(samples_needed(nonsense, 0.95), None);
            assert_eq!(quantile_interval(100, nonsense, 0.95), None);
        }
    }

    /// Computed with SciPy 1.x: l the largest with binom.cdf(l-1, n, p) <= 0.025, u the smallest with
    /// binom.sf(u-1, n, p) <= 0.025, level binom.cdf(u-1, n, p) - binom.cdf(l-1, n, p).
    #[test]
    fn exact_intervals_agree_with_scipy() {
        let vectors = [
            (6, 0.5, 1, 6, 0.96875),
            (10, 0.5, 2, 9, 0.978515625),
            (20, 0.5, 6, 15, 0.9586105346679688),
            (30, 0.5, 10, 21, 0.9572260547429323),
            (36, 0.9, 29, 36, 0.9539621052026521),
            (100, 0.9, 84, 96, 0.955690107191223),
            (368, 0.99, 360, 368, 0.9624158204108587),
            (1_000, 0.99, 983, 997, 0.976094763497977),
            (3_688, 0.999, 3_680, 3_688, 0.9616237518034272),
            (10_000, 0.5, 4_902, 5_099, 0.9511670501036189),
            (10_000, 0.99, 9_880, 9_920, 0.9557546828065552),
            (100_000, 0.999, 99_880, 99_920, 0.954789056801905),
            (36_887, 0.9999, 36_879, 36_887, 0.9615436769915792),
            (368_887, 0.99999, 368_879, 368_887, 0.9615360393728671),
            (1_000_000, 0.9999, 999_880, 999_920, 0.9546922529320958),
        ];
        for (n, p, lower, upper, level) in vectors {
            let got = quantile_interval(n, p, 0.95).unwrap();
            assert_eq!(
                (got.lower, got.upper, got.exact),
                (lower, upper, true),
                "n {n} p {p}"
            );
            assert!(
                (got.level - level).abs() < 1e-7,
                "n {n} p {p}: {} for {level}",
                got.level
            );
        }
    }

    /// Exact ranks from SciPy as above; the normal approximation may be a rank or two off at these sizes.
    #[test]
    fn approximate_intervals_are_near_the_exact_ones() {
        let vectors = [
            (1_000_000, 0.5, 499_020, 500_981),
            (1_000_000, 0.99, 989_805, 990_196),
            (10_000_000, 0.99, 9_899_383, 9_900_617),
        ];
        for (n, p, lower, upper) in vectors {
            let got = quantile_interval(n, p, 0.95).unwrap();
            assert!(!got.exact);
            assert!(
                got.lower.abs_diff(lower) <= 2 && got.upper.abs_diff(upper) <= 2,
                "{n} {p}: {got:?}"
            );
            assert!((0.95..0.952).contains(&got.level), "{got:?}");
        }
    }

    /// Counted from the other end, the samples beyond a quantile are those of its counterpart.
    #[test]
    fn intervals_of_a_quantile_and_its_counterpart_mirror_each_other() {
        for n in [40, 700, 20_000, 1_000_000, 30_000_000] {
            for p in [0.1, 0.3, 0.45, 0.5] {
                let (low, high) = (
                    quantile_interval(n, p, 0.95).unwrap(),
                    quantile_interval(n, 1.0 - p, 0.95).unwrap(),
                );
                assert_eq!(
                    (low.lower, low.upper),
                    (n + 1 - high.upper, n + 1 - high.lower),
                    "{n} {p}"
                );
                assert!(
                    (low.level - high.level).abs() < 1e-7 && low.exact == high.exact,
                    "{n} {p}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn every_interval_holds_its_quantile_and_its_level(n in 1u64..2_000_000_000, p in 0.001..0.999f64) {
            if let Some(interval) = quantile_interval(n, p, 0.95) {
                let rank = ((p * n as f64).ceil() as u64).clamp(1, n);
                prop_assert!(1 <= interval.lower && interval.upper <= n);
                prop_assert!(interval.lower <= rank && rank <= interval.upper, "{interval:?} {rank}");
                prop_assert!(interval.level >= 0.9499, "{interval:?}");
            } else {
                prop_assert!(n < samples_needed(p, 0.95).unwrap());
            }
        }
    }
}
