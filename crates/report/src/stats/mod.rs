//! Statistics: quantiles with order-statistic intervals, moments of histograms, summaries over runs, resampling,
//! series in time (effective samples, warm-up), fairness, modes, groups of runs, outliers, rank comparisons, and when to stop.
//!
//! Nothing here knows what a figure means; nothing here may assume that data from outside are consistent.

pub mod bootstrap;
pub mod fairness;
pub mod groups;
pub mod histogram;
pub mod holm;
pub mod modes;
pub mod order;
pub mod outliers;
pub mod random;
pub mod ranks;
pub mod runs;
pub mod series;
pub mod share;
pub mod until;
pub mod warmup;

pub use bootstrap::{Resampling, median, nearest_rank, nested, nested_over_runs};
pub use fairness::{Fairness, OverRounds, fairness, jain};
pub use groups::{Group, groups};
pub use histogram::{Estimate, quantile, sd_ns, spread_ratio};
pub use holm::holm;
pub use modes::{Mode, modes};
pub use order::{RankInterval, quantile_interval, samples_needed};
pub use outliers::{Mark, mark};
pub use random::Random;
pub use ranks::{Shift, paired_shift, unpaired_shift};
pub use runs::{RunSummary, summarize, trimmed_mean};
pub use series::{block_length, effective_samples};
pub use share::share_interval;
pub use until::{Caps, Look, StopRule, Target, drifts};
pub use warmup::{WarmUp, warm_up};

/// The confidence level that intervals aim at; the one reached is at least this.
pub const LEVEL: f64 = 0.95;
