//! A straight line through points by weighted least squares, with intervals of its two parameters.
//!
//! Weights say how much each point counts, in any common scale: the variance of the residuals is estimated from the
//! points themselves (Draper and Smith, Applied Regression Analysis, 1.4 and 9.2). The intervals assume residuals without
//! order; where the points bend, they are too narrow, and [`Line::residuals`] shows it.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// One point with its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// What was set.
    pub x: f64,
    /// What was measured.
    pub y: f64,
    /// Its weight, above zero: in proportion to one over the variance of `y`.
    pub weight: f64,
}

impl Observation {
    /// A point whose error is in proportion to its value: weight 1/y². Right for times over several decades, where
    /// equal weights would let the largest alone decide.
    pub fn relative(x: f64, y: f64) -> Observation {
        Observation {
            x,
            y,
            weight: 1.0 / (y * y),
        }
    }
}

/// Why there is no line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// Fewer than three points leave no residual to judge the line by.
    #[error("a fit needs at least three points at three places or more, not {0}")]
    TooFew(usize),
    /// A value or weight is not finite, or a weight not above zero.
    #[error("a fit needs finite values and weights above zero")]
    BadValue,
}

/// A parameter with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// The estimate.
    pub value: f64,
    /// Lower end of its interval.
    pub lower: f64,
    /// Upper end of its interval.
    pub upper: f64,
}

/// A fitted line `y = intercept + slope x`.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Value at `x` = 0.
    pub intercept: Parameter,
    /// Growth of `y` with `x`.
    pub slope: Parameter,
    /// Measured minus fitted, in the order of the points.
    pub residuals: Vec<f64>,
    /// Part of the weighted variation of `y` that the line explains, 0 to 1.
    pub r_squared: f64,
    /// Level of the intervals.
    pub level: f64,
}

/// The line that minimises the weighted sum of squared residuals; intervals by Student's t with n - 2 degrees.
pub fn weighted_line(points: &[Observation], level: f64) -> Result<Line, FitError> {
    let fine = |p: &Observation| p.x.is_finite() && p.y.is_finite() && p.weight.is_finite() && p.weight > 0.0;
    if !points.iter().all(fine) {
        return Err(FitError::BadValue);
    }
    let mut places: Vec<f64> = points.iter().map(|p| p.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    if places.len() < 3 {
        return Err(FitError::TooFew(places.len()));
    }
    // Only ratios of weights matter; scaled, their sums neither overflow nor vanish.
    let heaviest = points.iter().map(|p| p.weight).fold(0.0, f64::max);
    let sum = |term: &dyn Fn(&Observation) -> f64| {
        points.iter().map(|p| p.weight / heaviest * term(p)).sum::<f64>()
    };
    let total = sum(&|_| 1.0);
    let (x_mean, y_mean) = (sum(&|p| p.x) / total, sum(&|p| p.y) / total);
    let xx = sum(&|p| (p.x - x_mean).powi(2));
    let xy = sum(&|p| (p.x - x_mean) * (p.y - y_mean));
    let yy = sum(&|p| (p.y - y_mean).powi(2));
    let slope = xy / xx;
    let intercept = y_mean - slope * x_mean;
    let left = sum(&|p| (p.y - intercept - slope * p.x).powi(2));
    let degrees = (points.len() - 2) as f64;
    let variance = left / degrees;
    let t = StudentsT::new(0.0, 1.0, degrees)
        .map(|law| law.inverse_cdf(0.5 + level / 2.0))
        .map_err(|_| FitError::BadValue)?;
    let slope_half = t * (variance / xx).sqrt();
    let intercept_half = t * (variance * (1.0 / total + x_mean.powi(2) / xx)).sqrt();
    let parameter = |value: f64, half: f64| Parameter {
        value,
        lower: value - half,
        upper: value + half,
    };
    let line = Line {
        intercept: parameter(intercept, intercept_half),
        slope: parameter(slope, slope_half),
        residuals: points.iter().map(|p| p.y - intercept - slope * p.x).collect(),
        r_squared: if yy > 0.0 {
            (1.0 - left / yy).clamp(0.0, 1.0)
        } else {
            1.0
        },
        level,
    };
    let ends = [line.intercept, line.slope].map(|p| p.lower.is_finite() && p.upper.is_finite());
    if ends == [true, true] {
        Ok(line)
    } else {
        Err(FitError::BadValue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn three_places_are_needed() {
        let twice = [1.0, 1.0, 2.0].map(|x| Observation { x, y: x, weight: 1.0 });
        assert_eq!(weighted_line(&twice, 0.95), Err(FitError::TooFew(2)));
        let bad = [1.0, 2.0, 3.0].map(|x| Observation {
            x,
            y: f64::NAN,
            weight: 1.0,
        });
        assert_eq!(weighted_line(&bad, 0.95), Err(FitError::BadValue));
        assert_eq!(
            weighted_line(&[1.0, 2.0, 3.0].map(|x| Observation::relative(x, 0.0)), 0.95),
            Err(FitError::BadValue)
        );
    }

    proptest! {
        #[test]
        fn an_exact_line_is_found(intercept in -1e6..1e6f64, slope in -1e3..1e3f64, weights in prop::collection::vec(0.01..100.0f64, 3..12)) {
            let points: Vec<Observation> = weights
                .iter()
                .enumerate()
                .map(|(index, &weight)| {
                    let x = f64::from(index as u32).exp2();
                    Observation { x, y: intercept + slope * x, weight }
                })
                .collect();
            let line = weighted_line(&points, 0.95).unwrap();
            let scale = intercept.abs() + slope.abs() * 4096.0 + 1.0;
            prop_assert!((line.slope.value - slope).abs() < 1e-9 * scale);
            prop_assert!((line.intercept.value - intercept).abs() < 1e-8 * scale);
            prop_assert!(line.residuals.iter().all(|r| r.abs() < 1e-8 * scale));
        }

        #[test]
        fn any_input_gives_finite_numbers_or_an_error(points in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>()), 0..8)) {
            let points: Vec<Observation> = points.into_iter().map(|(x, y, weight)| Observation { x, y, weight }).collect();
            if let Ok(line) = weighted_line(&points, 0.95) {
                prop_assert!(line.slope.value.is_finite() && line.intercept.upper.is_finite());
            }
        }
    }
}
