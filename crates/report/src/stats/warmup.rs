//! Where the warm-up of a series ends: MSER-5, with a cap.
//!
//! What is found is told and drawn; samples are never dropped because of it.

/// Values of a batch.
const BATCH: usize = 5;
/// The cut may take at most this share; a better one further on means that there is no steady state.
const CUT_SHARE_MAX: f64 = 0.5;
/// Below so many batches nothing can be told.
const BATCHES_MIN: usize = 10;

/// What a series shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUp {
    /// It is steady from this sample on (0: from the beginning).
    Until(usize),
    /// It is still changing when more than half is cut off.
    NoSteadyState,
}

/// The cut that minimises the standard error of the mean of what remains, over means of five (White, "An effective
/// truncation heuristic for bias reduction in simulation output", Simulation 69, 1997; White, Cobb and Spratt, 2000).
///
/// MSER(d) = Σ_{j≥d} (x_j - mean_d)² / (m-d)². The last batches are never the answer, because a handful of values
/// always has some small variance. `None` below 50 samples, or for values that are not finite.
pub fn warm_up(values: &[f64]) -> Option<WarmUp> {
    let means: Vec<f64> = values
        .chunks_exact(BATCH)
        .map(|chunk| chunk.iter().map(|v| v / BATCH as f64).sum())
        .collect();
    let m = means.len();
    if m < BATCHES_MIN || means.iter().any(|mean: &f64| !mean.is_finite()) {
        return None;
    }
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, m);
    for (cut, value) in means.iter().enumerate().rev() {
        count += 1.0;
        let difference = value - mean;
        mean += difference / count;
        squares += difference * (value - mean);
        let error = squares / (count * count);
        // Equal errors: the earlier cut keeps more.
        if cut + BATCHES_MIN / 2 <= m && error <= best.0 {
            best = (error, cut);
        }
    }
    let cap = (m as f64 * CUT_SHARE_MAX) as usize;
    Some(match best.1 {
        cut if cut > cap => WarmUp::NoSteadyState,
        cut => WarmUp::Until(cut * BATCH),
    })
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;
    use proptest::prelude::*;

    fn with_start(n: usize, start: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..n)
            .map(|t| {
                let warm = (1.0 - t as f64 / start.max(1) as f64).max(0.0) * 50.0;
                100.0 + random.normal() + warm
            })
            .collect()
    }

    #[test]
    fn a_slow_start_is_found_and_a_steady_series_kept() {
        for seed in 0..20 {
            let Some(WarmUp::Until(cut)) = warm_up(&with_start(2000, 300, seed)) else {
                panic!("seed {seed}: no cut");
            };
            assert!((250..450).contains(&cut), "seed {seed}: {cut}");
        }
        assert_eq!(warm_up(&vec![3.0; 500]), Some(WarmUp::Until(0)));
    }

    #[test]
    fn a_drift_has_no_steady_state() {
        let drift: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(warm_up(&drift), Some(WarmUp::NoSteadyState));
        assert_eq!(warm_up(&drift[..49]), None);
        assert_eq!(warm_up(&[f64::INFINITY; 100]), None);
    }

    proptest! {
        #[test]
        fn the_cut_is_the_smallest_error_under_the_cap(values in prop::collection::vec(0.0..1e3f64, 50..200)) {
            let means: Vec<f64> = values.chunks_exact(BATCH).map(|c| c.iter().sum::<f64>() / 5.0).collect();
            let error = |cut: usize| {
                let rest = &means[cut..];
                let mean = rest.iter().sum::<f64>() / rest.len() as f64;
                rest.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (rest.len() as f64).powi(2)
            };
            if let Some(WarmUp::Until(cut)) = warm_up(&values) {
                prop_assert!(cut * 2 <= values.len());
                let got = error(cut / BATCH);
                for other in 0..=means.len() - BATCHES_MIN / 2 {
                    prop_assert!(got <= error(other) + 1e-9);
                }
            }
        }
    }
}
