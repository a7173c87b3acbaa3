//! The interval of a share, for what counts hits and misses. It must never judge them.

/// The 97.5th percentile of the normal distribution, for an interval at 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// Wilson's interval at 95 % of the share of which `held` of `count` were seen (Wilson, JASA 22, 1927); all of 0 to 1 for none.
pub fn share_interval(held: usize, count: usize) -> (f64, f64) {
    if count == 0 {
        return (0.0, 1.0);
    }
    let of = count as f64;
    let share = held as f64 / of;
    let square = Z * Z / of;
    let middle = (share + square / 2.0) / (1.0 + square);
    let half = Z * (share * (1.0 - share) / of + square / (4.0 * of)).sqrt() / (1.0 + square);
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::share_interval;

    /// The first four as printed in Newcombe, Statistics in Medicine 17, 1998, table I; the last by bisection of
    /// (p - s)² = z² p (1 - p) / n.
    #[test]
    fn wilsons_interval_is_known() {
        for (held, count, lower, upper) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
            (95, 100, 0.888_25, 0.978_456),
        ] {
            let found = share_interval(held, count);
            assert!(
                (found.0 - lower).abs() < 6e-5 && (found.1 - upper).abs() < 6e-5,
                "{found:?}"
            );
        }
        assert_eq!(share_interval(0, 0), (0.0, 1.0));
    }
}
