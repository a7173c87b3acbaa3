//! How figures over pairs are said: intervals, spreads, values with their unit.

use wirespeed_report::stats::{LEVEL, RunSummary, nearest_rank, summarize};
use wirespeed_schema::units::{format_ns, format_rate, significant};

/// What stands where there are too few pairs for a figure.
pub const TOO_FEW: &str = "too few pairs";
/// Values below which a spread by percentiles says nothing.
const SPREAD_VALUES_MIN: usize = 10;

/// The interval of a median with its level; [`TOO_FEW`] where there is none.
pub fn interval(summary: &RunSummary, unit: &str) -> String {
    match summary.level {
        Some(level) => format!(
            "{:.3} .. {:.3}{unit} ({:.1} %)",
            summary.lower,
            summary.upper,
            level * 100.0
        ),
        None => TOO_FEW.to_owned(),
    }
}

/// (p90 - p10) / median, by nearest rank; `None` for few values, or where the median is not above 0.
pub fn spread_ratio(values: &[f64]) -> Option<f64> {
    let median = summarize(values, LEVEL)?.median;
    let mut values = values.to_vec();
    let spread = nearest_rank(&mut values, 0.9) - nearest_rank(&mut values, 0.1);
    (values.len() >= SPREAD_VALUES_MIN && median > 0.0).then(|| spread / median)
}

/// A figure as people say it: `131.5 ns`, `3.669 GB/s`.
pub fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "ns" => format_ns(value),
        "B/s" | "msg/s" => format_rate(value, unit),
        _ => format!("{} {unit}", significant(value, 4)),
    }
}
