//! Latency and bandwidth from times of several sizes: T = a + s/b (Hockney, Parallel Computing 20, 1994).
//!
//! `a` is the time of a message without payload, `b` the bandwidth that ever larger ones approach, and n½ = a b the size
//! at which half of it is reached. One line through a protocol switch is a compromise; its residuals say so.

use super::line::{FitError, Line, Observation, Parameter, weighted_line};

/// The fit of times to sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Hockney {
    /// `a`, with its interval. Below zero where times grow faster than in proportion to sizes.
    pub latency_ns: Parameter,
    /// `b`; `None` where time does not grow with size.
    pub bandwidth_bytes_per_s: Option<f64>,
    /// Lower end of the interval of `b`; `None` where the slope's interval lies at or below zero.
    pub bandwidth_lower_bytes_per_s: Option<f64>,
    /// Upper end of the interval of `b`; `None` where it is unbounded: the slope's interval reaches zero.
    pub bandwidth_upper_bytes_per_s: Option<f64>,
    /// n½; `None` without a bandwidth or with `a` below zero.
    pub half_size_bytes: Option<f64>,
    /// The line in ns and bytes, with the residual of every time.
    pub line: Line,
}

/// Fit times `y` in ns to sizes `x` in bytes, with intervals of `level`.
///
/// At least three different sizes; weights as in [`Observation`], usually [`Observation::relative`].
pub fn hockney(points: &[Observation], level: f64) -> Result<Hockney, FitError> {
    let line = weighted_line(points, level)?;
    let inverse = |ns_per_byte: f64| {
        (ns_per_byte > 0.0)
            .then(|| 1e9 / ns_per_byte)
            .filter(|b| b.is_finite())
    };
    let bandwidth = inverse(line.slope.value);
    let half = bandwidth.map(|_| line.intercept.value / line.slope.value);
    Ok(Hockney {
        latency_ns: line.intercept,
        bandwidth_bytes_per_s: bandwidth,
        bandwidth_lower_bytes_per_s: inverse(line.slope.upper),
        bandwidth_upper_bytes_per_s: inverse(line.slope.lower),
        half_size_bytes: half.filter(|size| *size >= 0.0 && size.is_finite()),
        line,
    })
}

impl Hockney {
    /// The time that the fit gives for `size_bytes`.
    pub fn time_ns(&self, size_bytes: f64) -> f64 {
        self.line.intercept.value + self.line.slope.value * size_bytes
    }

    /// Largest residual in parts of its measured time: above some tenths, one line does not describe these times.
    pub fn worst_residual(&self, points: &[Observation]) -> f64 {
        let parts = self
            .line
            .residuals
            .iter()
            .zip(points)
            .map(|(r, p)| (r / p.y).abs());
        parts.filter(|part| part.is_finite()).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Round trips of a cluster of five over payloads one way, in ns.
    const TIMES: [(f64, f64); 7] = [
        (40.0, 574_966.0),
        (400.0, 597_890.0),
        (1e3, 679_622.0),
        (4e3, 775_984.0),
        (4e4, 3_373_182.0),
        (4e5, 21_997_392.0),
        (4e6, 221_568_460.0),
    ];

    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 2e-6, "{value} for {expected}");
    }

    // The expected numbers are those of SciPy 1.x on the same data:
    //   p, c = curve_fit(lambda x, a, b: a + b*x, x, y, p0=[1000, 1], sigma=s, absolute_sigma=False)
    //   half = scipy.stats.t.ppf(0.975, len(x) - 2) * numpy.sqrt(numpy.diag(c))
    // with s = y (relative) and s = 1 (equal weights).

    #[test]
    fn relative_weights_agree_with_scipy() {
        let points = TIMES.map(|(x, y)| Observation::relative(x, y));
        let fit = hockney(&points, 0.95).unwrap();
        near(fit.latency_ns.value, 5.848_496_52e5);
        near(fit.line.slope.value, 5.687_038_69e1);
        near(fit.latency_ns.upper - fit.latency_ns.value, 6.856_302_58e4);
        near(fit.line.slope.value - fit.line.slope.lower, 7.442_810_92);
        near(fit.line.residuals[0], -1.215_846_775e4);
        near(fit.line.residuals[2], 3.790_196_084e4);
        let bandwidth = fit.bandwidth_bytes_per_s.unwrap();
        near(bandwidth, 1e9 / 56.870_386_9);
        near(fit.half_size_bytes.unwrap(), 584_849.652 / 56.870_386_9);
        assert!(fit.bandwidth_lower_bytes_per_s.unwrap() < bandwidth);
        assert!(fit.bandwidth_upper_bytes_per_s.unwrap() > bandwidth);
    }

    #[test]
    fn equal_weights_agree_with_scipy() {
        let points = TIMES.map(|(x, y)| Observation { x, y, weight: 1.0 });
        let fit = hockney(&points, 0.95).unwrap();
        near(fit.latency_ns.value, 5.762_501_22e5);
        near(fit.line.slope.value, 5.523_272_06e1);
        near(fit.latency_ns.value - fit.latency_ns.lower, 4.286_864_60e5);
        near(fit.line.slope.upper - fit.line.slope.value, 2.821_281_24e-1);
    }

    #[test]
    fn flat_times_have_no_bandwidth() {
        let flat = [1.0, 2.0, 3.0].map(|x| Observation::relative(x, 500.0));
        let fit = hockney(&flat, 0.95).unwrap();
        assert_eq!((fit.bandwidth_bytes_per_s, fit.half_size_bytes), (None, None));
        near(fit.latency_ns.value, 500.0);
    }
}
