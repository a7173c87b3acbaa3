//! Comparing two sets of runs by ranks: no law of the values is assumed.
//!
//! Paired: Wilcoxon's signed ranks. Unpaired: Mann and Whitney's ranks. Both give the Hodges-Lehmann estimate of the
//! shift of B against A, the interval that the same test inverts to, and a two-sided p-value.

use statrs::distribution::{ContinuousCDF, Normal};
use wirespeed_schema::order::InOrder;

/// Up to so many pairs the exact distribution of the signed-rank sum is used.
const PAIRS_EXACT_MAX: usize = 60;
/// Up to so many values a side the exact distribution of the rank sum is used.
const SIDE_EXACT_MAX: usize = 40;
/// The same where some are equal, which takes more work.
const SIDE_TIED_MAX: usize = 20;
/// More values a side than this are not compared one with each other: the first so many stand for all.
const SIDE_MAX: usize = 2_000;

/// The shift between two sets of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Hodges-Lehmann estimate: B - A.
    pub estimate: f64,
    /// Ends of the interval with the coverage that it states itself; `None` where there are too few values for one.
    pub interval: Option<(f64, f64, f64)>,
    /// Two-sided p-value against no shift.
    pub p_value: f64,
}

/// Signed-rank comparison of paired values, given as differences B - A (Wilcoxon 1945; Hollander, Wolfe and Chicken,
/// Nonparametric Statistical Methods, 3.1 to 3.3). Six differences are the fewest with an interval at 95 %.
///
/// The test is exact for a distribution of differences that is symmetric about the shift, as it is when A and B are
/// exchangeable. `None` without finite differences.
pub fn paired_shift(differences: &[f64], level: f64) -> Option<Shift> {
    let mut values: Vec<f64> = differences.iter().copied().filter(|d| d.is_finite()).collect();
    values.truncate(SIDE_MAX);
    let n = values.len();
    if n == 0 {
        return None;
    }
    let mut walsh = Vec::with_capacity(n * (n + 1) / 2);
    for (i, a) in values.iter().enumerate() {
        walsh.extend(values[i..].iter().map(|b| a / 2.0 + b / 2.0));
    }
    let (mean, variance) = signed_rank_moments(n);
    let lower_tail = match n <= PAIRS_EXACT_MAX {
        true => exact_tail(&signed_rank_counts(n)),
        false => normal_tail(mean, variance.sqrt(), walsh.len()),
    };
    Some(Shift {
        p_value: signed_rank_p(&values),
        ..invert(walsh, &lower_tail, level)?
    })
}

/// Rank-sum comparison of unpaired values (Mann and Whitney 1947; Hollander, Wolfe and Chicken, 4.1 to 4.3). Four values
/// a side are the fewest with an interval at 95 %. `None` where a side has no finite value.
pub fn unpaired_shift(a: &[f64], b: &[f64], level: f64) -> Option<Shift> {
    let finite = |values: &[f64]| -> Vec<f64> {
        let kept = values.iter().copied().filter(|v| v.is_finite());
        kept.take(SIDE_MAX).collect()
    };
    let (a, b) = (finite(a), finite(b));
    let (n, m) = (a.len(), b.len());
    if n == 0 || m == 0 {
        return None;
    }
    let differences: Vec<f64> = b.iter().flat_map(|b| a.iter().map(move |a| b - a)).collect();
    let (mean, variance) = rank_sum_moments(n, m);
    let lower_tail = match n.max(m) <= SIDE_EXACT_MAX {
        true => exact_tail(&rank_sum_counts(n, m)),
        false => normal_tail(mean, variance.sqrt(), differences.len()),
    };
    Some(Shift {
        p_value: rank_sum_p(&a, &b),
        ..invert(differences, &lower_tail, level)?
    })
}

/// From the sorted pairwise values: their median, and the k-th smallest and largest with P(T < k) at most half of what
/// the level leaves. `lower_tail[t]` is P(T <= t).
fn invert(mut pairwise: Vec<f64>, lower_tail: &[f64], level: f64) -> Option<Shift> {
    pairwise.sort_by(f64::total_cmp);
    let count = pairwise.len();
    let middle = pairwise.get(count / 2)? / 2.0 + pairwise.get((count - 1) / 2)? / 2.0;
    let tail = (1.0 - level) / 2.0 * (1.0 + 1e-9);
    let below = lower_tail.iter().take_while(|p| **p <= tail).count();
    let interval = (below > 0 && 2 * below <= count).then(|| {
        let reached = 1.0 - 2.0 * lower_tail[below - 1];
        (pairwise[below - 1], pairwise[count - below], reached)
    });
    Some(Shift {
        estimate: middle,
        interval,
        p_value: 1.0,
    })
}

/// A rank, or a sum of ranks, in halves: those of ties are whole or lie in the middle between two.
fn doubled(rank: f64) -> usize {
    (2.0 * rank).round() as usize
}

/// Number of subsets of 1..=n with each sum.
fn signed_rank_counts(n: usize) -> Vec<f64> {
    subset_counts(1..=n)
}

/// Number of subsets of `ranks` with each sum.
fn subset_counts(ranks: impl Iterator<Item = usize>) -> Vec<f64> {
    let mut counts = vec![1.0];
    for rank in ranks {
        let mut next = counts.clone();
        next.resize(counts.len() + rank, 0.0);
        for (sum, count) in counts.iter().enumerate() {
            next[sum + rank] += count;
        }
        counts = next;
    }
    counts
}

/// Number of ways in which n of the ranks 1..=n+m give each value of U, from the generating function
/// Π (1 - x^(m+i)) / (1 - x^i).
fn rank_sum_counts(n: usize, m: usize) -> Vec<f64> {
    let mut counts = vec![0.0; n * m + 1];
    counts[0] = 1.0;
    for i in 1..=n {
        for sum in ((m + i)..counts.len()).rev() {
            counts[sum] -= counts[sum - m - i];
        }
        for sum in i..counts.len() {
            counts[sum] += counts[sum - i];
        }
    }
    counts
}

/// Number of ways in which n of the ranks of both sides, ties and all, give each sum; ranks in halves.
fn tied_sum_counts(n: usize, ranks: &[f64]) -> Vec<f64> {
    let most = ranks.iter().copied().map(doubled).sum::<usize>();
    // ways[taken][sum]
    let mut ways = vec![vec![0.0; most + 1]; n + 1];
    ways[0][0] = 1.0;
    let mut reached = 0;
    for rank in ranks.iter().copied().map(doubled) {
        reached += rank;
        for taken in (1..=n).rev() {
            let (before, after) = ways.split_at_mut(taken);
            for sum in rank..=reached {
                after[0][sum] += before[taken - 1][sum - rank];
            }
        }
    }
    ways.swap_remove(n)
}

/// P(T <= t) for every t.
fn exact_tail(counts: &[f64]) -> Vec<f64> {
    let total: f64 = counts.iter().sum();
    let mut sum = 0.0;
    counts
        .iter()
        .map(|count| {
            sum += count / total;
            sum
        })
        .collect()
}

/// The same from the normal approximation with continuity correction.
fn normal_tail(mean: f64, sd: f64, count: usize) -> Vec<f64> {
    let Ok(normal) = Normal::new(mean, sd) else {
        return Vec::new();
    };
    (0..=count).map(|t| normal.cdf(t as f64 + 0.5)).collect()
}

/// Two-sided p-value of the signed ranks: exact, given the ties, up to 60 differences; else the normal approximation with the
/// variance that the ties leave. Differences of 0 are left out.
fn signed_rank_p(differences: &[f64]) -> f64 {
    let mut values: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    values.order_by(|a, b| a.abs().total_cmp(&b.abs()));
    let n = values.len();
    if n == 0 {
        return 1.0;
    }
    let sizes: Vec<f64> = values.iter().map(|v| v.abs()).collect();
    let (ranks, ties) = mid_ranks(&sizes);
    let plus: f64 = ranks
        .iter()
        .zip(&values)
        .filter(|(_, v)| **v > 0.0)
        .map(|(r, _)| r)
        .sum();
    let all = (n * (n + 1)) as f64 / 2.0;
    let smaller = plus.min(all - plus);
    if n <= PAIRS_EXACT_MAX {
        let tail = exact_tail(&subset_counts(ranks.iter().copied().map(doubled)));
        return (2.0 * tail[doubled(smaller)]).min(1.0);
    }
    let (mean, variance) = signed_rank_moments(n);
    two_sided(smaller - mean, variance - ties / 48.0)
}

/// Two-sided p-value of Mann and Whitney's U: exact up to 40 values a side, or 20 where there are ties; else the normal
/// approximation with the ties' variance and continuity correction.
fn rank_sum_p(a: &[f64], b: &[f64]) -> f64 {
    let (n, m) = (a.len(), b.len());
    let mut both: Vec<(f64, bool)> = a
        .iter()
        .map(|v| (*v, true))
        .chain(b.iter().map(|v| (*v, false)))
        .collect();
    both.order_by(|x, y| x.0.total_cmp(&y.0));
    let values: Vec<f64> = both.iter().map(|(v, _)| *v).collect();
    let (ranks, ties) = mid_ranks(&values);
    let of_a: f64 = ranks
        .iter()
        .zip(&both)
        .filter(|(_, (_, mine))| *mine)
        .map(|(r, _)| r)
        .sum();
    let u = of_a - (n * (n + 1)) as f64 / 2.0;
    let smaller = u.min((n * m) as f64 - u);
    if ties == 0.0 && n.max(m) <= SIDE_EXACT_MAX {
        let tail = exact_tail(&rank_sum_counts(n, m));
        return (2.0 * tail[smaller as usize]).min(1.0);
    }
    if n.max(m) <= SIDE_TIED_MAX {
        // Ties leave no symmetry: what is at least as far from the middle, on either side.
        let counts = tied_sum_counts(n, &ranks);
        let [low, high] =
            [smaller, (n * m) as f64 - smaller].map(|u| doubled(u + (n * (n + 1)) as f64 / 2.0));
        let far = counts[..=low].iter().sum::<f64>() + counts[high..].iter().sum::<f64>();
        return (far / counts.iter().sum::<f64>()).min(1.0);
    }
    let (mean, _) = rank_sum_moments(n, m);
    let all = (n + m) as f64;
    let variance = (n * m) as f64 / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    two_sided((smaller - mean + 0.5).min(0.0), variance)
}

/// Mean and variance of the signed ranks' sum, without ties.
fn signed_rank_moments(n: usize) -> (f64, f64) {
    let count = n as f64;
    let sum = count * (count + 1.0);
    (sum / 4.0, sum * (2.0 * count + 1.0) / 24.0)
}

/// Mean and variance of U, without ties.
fn rank_sum_moments(n: usize, m: usize) -> (f64, f64) {
    let product = (n * m) as f64;
    (product / 2.0, product * (n + m + 1) as f64 / 12.0)
}

/// 2·P(Z <= z) for z = difference / √variance, a difference of at most 0; 1 without variance.
fn two_sided(difference: f64, variance: f64) -> f64 {
    if variance <= 0.0 {
        return 1.0;
    }
    let z = difference / variance.sqrt();
    match Normal::new(0.0, 1.0) {
        Ok(normal) => (2.0 * normal.cdf(z)).min(1.0),
        Err(_) => 1.0,
    }
}

/// Ranks of sorted values, equal ones sharing the middle of theirs, and Σ(t³ - t) over groups of t equal ones.
fn mid_ranks(sorted: &[f64]) -> (Vec<f64>, f64) {
    let (mut ranks, mut ties, mut start) = (Vec::with_capacity(sorted.len()), 0.0, 0);
    while start < sorted.len() {
        let equal = sorted[start..]
            .iter()
            .take_while(|v| **v == sorted[start])
            .count();
        let middle = start as f64 + (equal as f64 + 1.0) / 2.0;
        ranks.extend(std::iter::repeat_n(middle, equal));
        ties += (equal as f64).powi(3) - equal as f64;
        start += equal;
    }
    (ranks, ties)
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;
    use proptest::prelude::*;

    const BEFORE: [f64; 9] = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    const AFTER: [f64; 9] = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 314.0 / 100.0, 1.29];

    /// Reference: SciPy 1.17 `wilcoxon`, exact; estimate and interval from NumPy's median of the 45 Walsh averages and their
    /// 6th from either end. With ties: all 1,024 signs of the ranks.
    #[test]
    fn signed_ranks_agree_with_scipy() {
        let differences: Vec<f64> = BEFORE.iter().zip(AFTER).map(|(a, b)| a - b).collect();
        let shift = paired_shift(&differences, 0.95).unwrap();
        assert!((shift.estimate - 0.46).abs() < 1e-12);
        assert!((shift.p_value - 0.0390625).abs() < 1e-12, "{shift:?}");
        let (lower, upper, level) = shift.interval.unwrap();
        assert!(
            (lower - 0.01).abs() < 1e-12 && (upper - 0.786).abs() < 1e-12,
            "{shift:?}"
        );
        assert!((level - 0.9609375).abs() < 1e-12);
        let tied = [1.0, 2.0, 2.0, -3.0, 4.0, 5.0, -5.0, 6.0, 7.0, 8.0];
        let shift = paired_shift(&tied, 0.95).unwrap();
        assert!((shift.p_value - 0.089_843_75).abs() < 1e-12, "{shift:?}");
    }

    /// Reference: SciPy 1.17 `mannwhitneyu`, exact; the estimate is NumPy's median of all differences. With ties: all ways
    /// to draw seven of the twelve ranks.
    #[test]
    fn rank_sums_agree_with_scipy() {
        let shift = unpaired_shift(&AFTER, &BEFORE, 0.95).unwrap();
        assert!((shift.p_value - 6316.0 / 48_620.0).abs() < 1e-12, "{shift:?}");
        assert!((shift.estimate - 0.56).abs() < 1e-12);
        let apart = unpaired_shift(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[7.0, 8.0, 9.0, 10.0], 0.95).unwrap();
        assert!(
            (apart.p_value - 0.009_523_809_523_809_525).abs() < 1e-12,
            "{apart:?}"
        );
        let tied = unpaired_shift(
            &[1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0],
            &[2.0, 3.0, 4.0, 5.0, 6.0],
            0.95,
        )
        .unwrap();
        assert!((tied.p_value - 116.0 / 792.0).abs() < 1e-12, "{tied:?}");
    }

    /// Values that move in steps of a clock tie, and no p-value may be smaller than that of the most extreme order.
    #[test]
    fn ties_make_no_value_rarer_than_the_rarest_order() {
        for n in 1..=12 {
            let p = paired_shift(&vec![10.0; n], 0.95).unwrap().p_value;
            assert!((p - 2.0 / 2f64.powi(n as i32)).abs() < 1e-12, "{n}: {p}");
            let p = unpaired_shift(&vec![1.0; n], &vec![2.0; n], 0.95)
                .unwrap()
                .p_value;
            let orders: f64 = (1..=n).map(|i| (n + i) as f64 / i as f64).product();
            assert!((p - 2.0 / orders).abs() < 1e-12, "{n}: {p}");
        }
        // Beyond what is counted one by one, ties change little.
        let side = |n: usize, shift: usize| {
            (0..n)
                .map(|i| ((i * 7) % 10 + shift) as f64)
                .collect::<Vec<f64>>()
        };
        let exact = unpaired_shift(&side(20, 0), &side(20, 3), 0.95).unwrap().p_value;
        let approximate = unpaired_shift(&side(21, 0), &side(20, 3), 0.95).unwrap().p_value;
        assert!(
            (0.5..2.0).contains(&(exact / approximate)),
            "{exact} {approximate}"
        );
    }

    #[test]
    fn equal_values_share_the_middle_of_their_ranks() {
        assert_eq!(mid_ranks(&[1.0, 2.0, 5.0]), (vec![1.0, 2.0, 3.0], 0.0));
        let tied = [1.0, 2.0, 2.0, 3.0, 4.0, 4.0, 4.0];
        assert_eq!(mid_ranks(&tied), (vec![1.0, 2.5, 2.5, 4.0, 6.0, 6.0, 6.0], 30.0));
    }

    /// By hand, Φ by erfc: of 1 to 64 with signs in turn the ranks make 1,024 of 2,080, variance 22,360; odd numbers against
    /// even ones, 41 of each, have U = 820, mean 840.5, variance 11,626.9.
    #[test]
    fn many_values_have_the_p_values_of_the_normal_law() {
        let turns: Vec<f64> = (1..=64)
            .map(|i| if i % 2 == 0 { -1.0 } else { 1.0 } * f64::from(i))
            .collect();
        let rising: Vec<f64> = (1..=64).map(f64::from).collect();
        let side = |first: u32| (0..41).map(|i| f64::from(first + 2 * i)).collect::<Vec<f64>>();
        for (found, expected) in [
            (signed_rank_p(&turns), 0.914_788_920),
            (signed_rank_p(&rising) * 1e12, 3.525_498),
            (rank_sum_p(&side(1), &side(2)), 0.852852355),
        ] {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }

    #[test]
    fn the_normal_law_has_the_moments_of_what_is_counted() {
        let moments = |counts: &[f64]| {
            let total: f64 = counts.iter().sum();
            let mean = |value: &dyn Fn(f64) -> f64| {
                let weighted = (0..)
                    .zip(counts)
                    .map(|(sum, count)| value(f64::from(sum)) * count);
                weighted.sum::<f64>() / total
            };
            let middle = mean(&|sum| sum);
            (middle, mean(&|sum| (sum - middle).powi(2)))
        };
        for (n, m) in [(1, 1), (2, 7), (9, 4), (12, 12)] {
            for (found, of_counts) in [
                (signed_rank_moments(n), moments(&signed_rank_counts(n))),
                (rank_sum_moments(n, m), moments(&rank_sum_counts(n, m))),
            ] {
                assert!(
                    (found.0 - of_counts.0).abs() < 1e-9 && (found.1 - of_counts.1).abs() < 1e-9,
                    "{n} {m}"
                );
            }
        }
    }

    /// The variance is that of the ranks themselves: of signs Σr²/4, of a draw of n of N nm/(N(N-1)) Σ(r - (N+1)/2)².
    #[test]
    fn ties_leave_the_variance_of_the_ranks() {
        let ranks = |values: &[f64]| -> Vec<f64> {
            let below = |v: &f64| values.iter().filter(|other| *other < v).count() as f64;
            let equal = |v: &f64| values.iter().filter(|other| *other == v).count() as f64;
            values.iter().map(|v| below(v) + (equal(v) + 1.0) / 2.0).collect()
        };
        let tied = |n: usize| (0..n).map(|i| ((i * 7) % 10) as f64).collect::<Vec<f64>>();
        let differences: Vec<f64> = tied(70).iter().map(|v| v - 3.5).collect();
        let sizes = ranks(&differences.iter().map(|d| d.abs()).collect::<Vec<f64>>());
        let minus: f64 = sizes
            .iter()
            .zip(&differences)
            .filter(|(_, d)| **d < 0.0)
            .map(|(r, _)| r)
            .sum();
        let variance = sizes.iter().map(|r| r * r).sum::<f64>() / 4.0;
        let expected = two_sided(minus - sizes.iter().sum::<f64>() / 2.0, variance);
        assert!((signed_rank_p(&differences) - expected).abs() < 1e-12);
        let (a, b) = (tied(25), tied(33).iter().map(|v| v + 1.0).collect::<Vec<f64>>());
        let both = ranks(&[&a[..], &b[..]].concat());
        let squares: f64 = both.iter().map(|r| (r - 59.0 / 2.0).powi(2)).sum();
        let of_a: f64 = both[..25].iter().sum();
        let variance = 25.0 * 33.0 / (58.0 * 57.0) * squares;
        let expected = two_sided(of_a - 25.0 * 59.0 / 2.0 + 0.5, variance);
        assert!((rank_sum_p(&a, &b) - expected).abs() < 1e-12);
    }

    #[test]
    fn too_few_values_have_no_interval() {
        assert_eq!(paired_shift(&[1.0; 5], 0.95).unwrap().interval, None);
        assert!(paired_shift(&[1.0; 6], 0.95).unwrap().interval.is_some());
        assert_eq!(unpaired_shift(&[1.0; 3], &[2.0; 4], 0.95).unwrap().interval, None);
        assert!(
            unpaired_shift(&[1.0; 4], &[2.0; 4], 0.95)
                .unwrap()
                .interval
                .is_some()
        );
        assert_eq!(paired_shift(&[f64::NAN], 0.95), None);
        assert_eq!(unpaired_shift(&[], &[1.0], 0.95), None);
        assert_eq!(paired_shift(&[0.0; 10], 0.95).unwrap().p_value, 1.0);
    }

    /// Both intervals cover the true shift about as often as they say, exact and approximate.
    #[test]
    fn intervals_cover_what_they_say() {
        let mut random = Random::new(11);
        for (n, replicates) in [(8, 1500), (80, 300)] {
            let (mut paired, mut unpaired) = (0, 0);
            for _ in 0..replicates {
                let mut draw = |shift: f64| (0..n).map(|_| random.normal() + shift).collect::<Vec<f64>>();
                let (a, b) = (draw(0.0), draw(3.0));
                let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
                let covers = |shift: Shift| {
                    shift
                        .interval
                        .is_some_and(|(low, high, _)| low <= 3.0 && 3.0 <= high)
                };
                paired += usize::from(covers(paired_shift(&differences, 0.95).unwrap()));
                unpaired += usize::from(covers(unpaired_shift(&a, &b, 0.95).unwrap()));
            }
            for covered in [paired, unpaired] {
                let share = covered as f64 / replicates as f64;
                assert!((0.93..0.985).contains(&share), "n {n}: {share}");
            }
        }
    }

    proptest! {
        #[test]
        fn swapping_the_sides_mirrors_everything(
            a in prop::collection::vec(-100.0..100.0f64, 1..20),
            b in prop::collection::vec(-100.0..100.0f64, 1..20),
        ) {
            let (one, other) = (unpaired_shift(&a, &b, 0.95).unwrap(), unpaired_shift(&b, &a, 0.95).unwrap());
            prop_assert!((one.estimate + other.estimate).abs() < 1e-9);
            prop_assert!((one.p_value - other.p_value).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&one.p_value));
            if let (Some((low, high, level)), Some((other_low, other_high, _))) = (one.interval, other.interval) {
                prop_assert!(low <= one.estimate && one.estimate <= high && level >= 0.95 - 1e-9);
                prop_assert!((low + other_high).abs() < 1e-9 && (high + other_low).abs() < 1e-9);
            }
        }
    }
}
