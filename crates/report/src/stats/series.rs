//! Samples in order of time: how many independent ones they are worth, and how long their memory is.
//!
//! Messages that follow each other are alike; an interval that treats them as independent is too narrow. What is
//! computed here says by how much.

/// Longer series are shortened to so many means of batches before their autocorrelation is taken.
const BATCHES_MAX: usize = 50_000;

/// Effective sample size of the mean: s² over the variance of the mean that correlation leaves, from Geyer's initial
/// monotone positive sequence (Geyer, "Practical Markov Chain Monte Carlo", Statistical Science 7, 1992, section 3.3).
///
/// Series above 50 000 samples are first shortened to means of batches, whose variance holds what correlation there is
/// within a batch. Between 1 and n: negative correlation is not credited. `None` below four samples, or for values that
/// are all alike or not finite.
pub fn effective_samples(values: &[f64]) -> Option<f64> {
    let n = values.len();
    let variance = variance(values)?;
    if n < 4 || is_constant(values, variance) {
        return None;
    }
    let batch = n.div_ceil(BATCHES_MAX);
    let means: Vec<f64> = values
        .chunks_exact(batch)
        .map(|chunk| chunk.iter().sum::<f64>() / batch as f64)
        .collect();
    let of_mean = self::variance(&means)? * correlation_time(&means)? / means.len() as f64;
    let effective = variance / of_mean;
    effective.is_finite().then(|| effective.clamp(1.0, n as f64))
}

/// Integrated autocorrelation time 1 + 2·Σρ(k), the sum cut off where pairs of neighbouring lags are no longer positive,
/// and kept from rising. At least 1/n.
fn correlation_time(values: &[f64]) -> Option<f64> {
    let n = values.len();
    let centred = centred(values)?;
    let zero = autocovariance(&centred, 0);
    if zero <= 0.0 {
        return Some(1.0);
    }
    let (mut sum, mut last_pair) = (0.0, f64::INFINITY);
    let mut lag = 0;
    while lag + 1 < n {
        let pair = (autocovariance(&centred, lag) + autocovariance(&centred, lag + 1)) / zero;
        if pair <= 0.0 {
            break;
        }
        last_pair = pair.min(last_pair);
        sum += last_pair;
        lag += 2;
    }
    Some((2.0 * sum - 1.0).max(1.0 / n as f64))
}

/// Mean block length of the stationary bootstrap (Politis and White, "Automatic block-length selection for the dependent
/// bootstrap", Econometric Reviews 23, 2004; corrected by Patton, Politis and White, ibid. 28, 2009). At least 1;
/// `None` below 8 samples or for values that are not finite.
pub fn block_length(values: &[f64]) -> Option<f64> {
    let n = values.len();
    if n < 8 {
        return None;
    }
    let x = centred(values)?;
    if is_constant(values, autocovariance(&x, 0)) {
        return Some(1.0);
    }
    let (count, root) = (n as f64, (n as f64).sqrt());
    let longest = (3.0 * root).min(count / 3.0).ceil();
    let quiet_run = 5.max(count.log10() as usize);
    let lag_max = (root.ceil() as usize + quiet_run).min(n - 2);
    let threshold = 2.0 * (count.log10() / count).sqrt();
    let squares = |part: &[f64]| part.iter().map(|v| v * v).sum::<f64>();
    let mut covariances = Vec::with_capacity(lag_max + 1);
    let mut correlations: Vec<f64> = Vec::with_capacity(lag_max + 1);
    let mut cut = None;
    for lag in 0..=lag_max {
        let product = autocovariance(&x, lag) * count;
        let norm = (squares(&x[lag + 1..]) * squares(&x[..n - lag - 1])).sqrt();
        covariances.push(product / count);
        correlations.push(if norm > 0.0 { product.abs() / norm } else { 0.0 });
        let quiet = lag >= quiet_run
            && correlations[lag - quiet_run..lag]
                .iter()
                .all(|rho| *rho < threshold);
        if quiet && cut.is_none() {
            cut = Some(lag - quiet_run);
        }
    }
    let lags = cut.map_or(lag_max, |cut| 2 * cut.max(1)).min(lag_max);
    let (mut slope, mut long_run) = (0.0, covariances[0]);
    for (lag, covariance) in covariances.iter().enumerate().take(lags + 1).skip(1) {
        let share = lag as f64 / lags as f64;
        let weight = if share <= 0.5 { 1.0 } else { 2.0 * (1.0 - share) };
        slope += 2.0 * weight * lag as f64 * covariance;
        long_run += 2.0 * weight * covariance;
    }
    if long_run == 0.0 {
        return Some(1.0);
    }
    let length = (slope * slope / (long_run * long_run)).cbrt() * count.cbrt();
    length.is_finite().then(|| length.min(longest).max(1.0))
}

/// Σ x(t)·x(t+lag) / n of centred values.
fn autocovariance(centred: &[f64], lag: usize) -> f64 {
    let pairs = centred.iter().zip(&centred[lag..]);
    pairs.map(|(a, b)| a * b).sum::<f64>() / centred.len() as f64
}

/// Whether the spread is what rounding leaves of equal values.
fn is_constant(values: &[f64], variance: f64) -> bool {
    let largest = values.iter().fold(0.0, |largest: f64, v| largest.max(v.abs()));
    variance.sqrt() <= largest * 1e-12
}

fn centred(values: &[f64]) -> Option<Vec<f64>> {
    let mean = values.iter().map(|v| v / values.len() as f64).sum::<f64>();
    mean.is_finite()
        .then(|| values.iter().map(|v| v - mean).collect())
}

/// Variance with n-1; `None` below two values or for values that are not finite.
fn variance(values: &[f64]) -> Option<f64> {
    let centred = centred(values)?;
    let sum: f64 = centred.iter().map(|v| v * v).sum();
    (values.len() > 1 && sum.is_finite()).then(|| sum / (values.len() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;
    use proptest::prelude::*;

    /// x(t) = φ·x(t-1) + e(t): its correlation time is (1+φ)/(1-φ).
    fn autoregressive(phi: f64, n: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut x = random.normal() / (1.0 - phi * phi).sqrt();
        (0..n)
            .map(|_| {
                x = phi * x + random.normal();
                x + 100.0
            })
            .collect()
    }

    #[test]
    fn correlated_samples_count_for_fewer() {
        for (phi, n) in [(0.0, 20_000), (0.5, 20_000), (0.9, 40_000), (0.9, 1_000_000)] {
            let truth = n as f64 * (1.0 - phi) / (1.0 + phi);
            let got = effective_samples(&autoregressive(phi, n, 7)).unwrap();
            assert!(
                (got / truth - 1.0).abs() < 0.25,
                "φ {phi} n {n}: {got} for {truth}"
            );
        }
    }

    /// Reference: arch 8.0 `optimal_block_length(x)["stationary"]`, x(t) = φ·x(t-1) + u(t) from x(-1) = 0 with
    /// u(t) = frac((t+1)²·0.6180339887498949) - 0.5.
    #[test]
    fn block_lengths_agree_with_the_reference() {
        for (count, phi, reference) in BLOCK_LENGTHS {
            let mut x = 0.0;
            let values: Vec<f64> = (0..count)
                .map(|t| {
                    let u = ((t + 1) * (t + 1)) as f64 * 0.618_033_988_749_894_9;
                    x = phi * x + u.fract() - 0.5;
                    x
                })
                .collect();
            let got = block_length(&values).unwrap();
            assert!(
                (got - f64::max(reference, 1.0)).abs() < 1e-5,
                "{count} φ {phi}: {got} for {reference}"
            );
        }
    }

    const BLOCK_LENGTHS: [(u64, f64, f64); 14] = [
        (8, 0.0, 0.860290),
        (8, 0.5, 3.0),
        (10, -0.5, 4.0),
        (12, 0.9, 4.0),
        (20, 0.9, 2.608371),
        (33, -0.5, 5.186445),
        (33, 0.5, 2.811973),
        (60, 0.99, 5.462494),
        (400, 0.0, 1.016345),
        (400, 0.5, 7.123934),
        (400, 0.9, 17.312614),
        (400, -0.5, 13.404096),
        (1500, 0.5, 11.394725),
        (1500, 0.99, 68.188629),
    ];

    #[test]
    fn too_little_gives_nothing() {
        assert_eq!(effective_samples(&[1.0, 2.0, 3.0]), None);
        assert_eq!(effective_samples(&[5.0; 100]), None);
        assert_eq!(effective_samples(&[f64::NAN; 100]), None);
        assert_eq!(block_length(&[1.0; 7]), None);
        assert_eq!(block_length(&[1.0; 100]), Some(1.0));
    }

    proptest! {
        #[test]
        fn never_more_than_there_are(values in prop::collection::vec(-1e6..1e6f64, 4..300), scale in 0.001..1e6f64) {
            if let Some(effective) = effective_samples(&values) {
                prop_assert!(effective >= 1.0 && effective <= values.len() as f64);
                let scaled: Vec<f64> = values.iter().map(|v| v * scale).collect();
                let again = effective_samples(&scaled).unwrap();
                prop_assert!((again / effective - 1.0).abs() < 1e-3);
            }
            if let Some(length) = block_length(&values) {
                prop_assert!(length >= 1.0 && length <= values.len() as f64);
            }
        }
    }
}
