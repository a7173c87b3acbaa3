//! LogGP from windows of messages: L the latency, o the overhead, g the gap between messages, G the gap between bytes
//! (Alexandrov, Ionescu, Schauser and Scheiman, "LogGP", SPAA 1995).
//!
//! With PRTT(n, s) the time from the first of n messages of s bytes to the short answer to the last, the method of netgauge
//! (Hoefler, Lichei and Rehm, "Low-overhead LogGP parameter assessment for modern interconnection networks", PMEO-PDS 2007):
//!
//! ```text
//! (PRTT(n, s) - PRTT(1, s)) / (n - 1) = g + (s - 1) G        a line over sizes
//! (PRTT(1, s) - (s - 1) G) / 2        = L + 2 o                of the least size s
//! ```
//!
//! `o` cannot be had from these times; where the ends sleep while they wait, it is half of the CPU time of a message. A
//! processor that is busy for o cannot send faster than one message in o, so o is at most g, and L is not below nought. A CPU
//! time that breaks either held more than the work on messages, and is no o.

use super::line::{FitError, Line, Observation, Parameter, weighted_line};

/// Times of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Windows {
    /// Message size.
    pub size_bytes: u64,
    /// PRTT(1, s).
    pub one_ns: f64,
    /// PRTT(n, s).
    pub many_ns: f64,
}

/// The parameters, with the residuals of the line behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct LogGp {
    /// g, with its interval.
    pub gap_ns: Parameter,
    /// G, with its interval.
    pub gap_per_byte_ns: Parameter,
    /// L + 2 o.
    pub one_way_ns: f64,
    /// o, where it is known.
    pub overhead_ns: Option<f64>,
    /// L: between these, which are one value where o is known.
    pub latency_ns: (f64, f64),
    /// Sizes with a gap above zero, and that gap.
    pub gaps: Vec<(u64, f64)>,
    /// The line over s - 1, with the residual of every gap.
    pub line: Line,
    /// Root mean square of the relative residuals.
    pub residual_ratio: f64,
}

/// The parameters from windows of `window_msgs` messages and of one. `overhead_ns`: half of the CPU time of a message, where
/// CPU time is work; one that is impossible is left out. Sizes at which the larger window took no longer are left out; three others are needed.
pub fn loggp(
    points: &[Windows],
    window_msgs: u64,
    overhead_ns: Option<f64>,
    level: f64,
) -> Result<LogGp, FitError> {
    let further = window_msgs.saturating_sub(1) as f64;
    let gap = |point: &Windows| (point.many_ns - point.one_ns) / further;
    let mut gaps: Vec<(u64, f64)> = points
        .iter()
        .map(|point| (point.size_bytes, gap(point)))
        .collect();
    gaps.retain(|(_, gap)| gap.is_finite() && *gap > 0.0);
    let observed: Vec<Observation> = gaps
        .iter()
        .map(|(size, gap)| Observation::relative(size.saturating_sub(1) as f64, *gap))
        .collect();
    let line = weighted_line(&observed, level)?;
    let least = points.iter().min_by_key(|point| point.size_bytes);
    // There and back, only the message of the size has more than a byte: the answer is short.
    let bytes_ns = |size: u64| size.saturating_sub(1) as f64 * line.slope.value.max(0.0);
    let one_way_ns = least.map_or(f64::NAN, |point| {
        (point.one_ns - bytes_ns(point.size_bytes)) / 2.0
    });
    if !(one_way_ns.is_finite() && one_way_ns > 0.0) {
        return Err(FitError::BadValue);
    }
    let possible = 0.0..=line.intercept.upper.min(one_way_ns / 2.0);
    let overhead_ns = overhead_ns.filter(|o| possible.contains(o));
    let latency = |overhead: f64| (one_way_ns - 2.0 * overhead).max(0.0);
    let at_most = line.intercept.value.max(0.0);
    let relative = line
        .residuals
        .iter()
        .zip(&gaps)
        .map(|(r, (_, gap))| (r / gap).powi(2));
    Ok(LogGp {
        gap_ns: line.intercept,
        gap_per_byte_ns: line.slope,
        one_way_ns,
        overhead_ns,
        latency_ns: match overhead_ns {
            Some(overhead) => (latency(overhead), latency(overhead)),
            None => (latency(at_most), one_way_ns),
        },
        residual_ratio: (relative.sum::<f64>() / gaps.len() as f64).sqrt(),
        gaps,
        line,
    })
}

impl LogGp {
    /// The gap that the line gives for `size_bytes`.
    pub fn gap_at_ns(&self, size_bytes: f64) -> f64 {
        self.gap_ns.value + (size_bytes - 1.0).max(0.0) * self.gap_per_byte_ns.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Random;
    use proptest::prelude::*;

    const N: u64 = 16;

    /// A transport with L = 2 µs, o = 300 ns, g = 500 ns, G = 0.25 ns a byte.
    fn simulated(noise: f64, seed: u64) -> Vec<Windows> {
        let mut random = Random::new(seed);
        let mut noisy = |ns: f64| ns * (noise * random.normal()).exp();
        (0..8u32)
            .map(|step| {
                let size_bytes = 4u64.pow(step);
                let bytes = (size_bytes - 1) as f64 * 0.25;
                let one_ns = 2.0 * 2000.0 + 4.0 * 300.0 + bytes;
                let many_ns = one_ns + (N - 1) as f64 * (500.0 + bytes);
                Windows {
                    size_bytes,
                    one_ns: noisy(one_ns),
                    many_ns: noisy(many_ns),
                }
            })
            .collect()
    }

    #[test]
    fn the_parameters_of_a_known_road_come_out() {
        let found = loggp(&simulated(0.0, 1), N, Some(300.0), 0.95).unwrap();
        let near =
            |value: f64, truth: f64| assert!((value / truth - 1.0).abs() < 1e-6, "{value} for {truth}");
        near(found.gap_ns.value, 500.0);
        near(found.gap_per_byte_ns.value, 0.25);
        near(found.one_way_ns, 2600.0);
        near(found.latency_ns.0, 2000.0);
        near(found.gap_at_ns(4097.0), 500.0 + 1024.0);
        assert!(found.residual_ratio < 1e-9);
        let impossible = loggp(&simulated(0.0, 1), N, Some(5000.0), 0.95).unwrap();
        assert_eq!(
            impossible.overhead_ns, None,
            "more than g, and L would be below nought"
        );
        // The same from larger sizes alone: the least one's bytes are no latency.
        let large = loggp(&simulated(0.0, 1)[3..], N, Some(300.0), 0.95).unwrap();
        near(large.one_way_ns, 2600.0);
        let bounded = loggp(&simulated(0.0, 1), N, None, 0.95).unwrap();
        assert!(
            bounded.latency_ns.0 <= 2000.0 && 2000.0 <= bounded.latency_ns.1,
            "{bounded:?}"
        );
    }

    #[test]
    fn intervals_hold_the_truth_under_noise() {
        let held = (0..100)
            .filter(|&seed| {
                let found = loggp(&simulated(0.02, seed), N, None, 0.95).unwrap();
                let slope = found.gap_per_byte_ns;
                slope.lower <= 0.25 && 0.25 <= slope.upper && found.residual_ratio < 0.1
            })
            .count();
        assert!(held >= 85, "{held} of 100");
    }

    #[test]
    fn without_gaps_there_are_no_parameters() {
        let flat = simulated(0.0, 1).into_iter().map(|point| Windows {
            many_ns: point.one_ns,
            ..point
        });
        assert_eq!(
            loggp(&flat.collect::<Vec<_>>(), N, None, 0.95),
            Err(FitError::TooFew(0))
        );
        assert_eq!(
            loggp(&simulated(0.0, 1)[..2], N, None, 0.95),
            Err(FitError::TooFew(2))
        );
        assert!(loggp(&simulated(0.0, 1), 1, None, 0.95).is_err());
    }

    proptest! {
        #[test]
        fn any_times_give_finite_parameters_or_an_error(times in prop::collection::vec((1u64..1 << 30, any::<f64>(), any::<f64>()), 0..10)) {
            let points: Vec<Windows> = times.into_iter().map(|(size_bytes, one_ns, many_ns)| Windows { size_bytes, one_ns, many_ns }).collect();
            if let Ok(found) = loggp(&points, 8, None, 0.95) {
                prop_assert!(found.gap_ns.value.is_finite() && found.residual_ratio.is_finite());
                prop_assert!(found.latency_ns.0 >= 0.0 && found.latency_ns.0 <= found.latency_ns.1);
            }
        }
    }
}
