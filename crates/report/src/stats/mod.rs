//! Statistics: quantiles by nearest rank with order-statistic intervals, moments of histograms, summaries over runs.
//!
//! Nothing here knows what a figure means; nothing here may assume that data from outside are consistent.

pub mod histogram;
pub mod order;
pub mod runs;

pub use histogram::{Estimate, quantile, sd_ns, spread_ratio};
pub use order::{RankInterval, quantile_interval, samples_needed};
pub use runs::{RunSummary, summarize, trimmed_mean};

/// The confidence level that intervals aim at; the one reached is at least this.
pub const LEVEL: f64 = 0.95;
