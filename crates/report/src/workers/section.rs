//! What a document says of a master and its workers.

use crate::thresholds::{FIT_POINTS_MIN, FIT_WORST_MAX};
use serde::{Deserialize, Serialize};
use wirespeed_schema::finite::Finite;
use wirespeed_schema::run::Metric;

/// `Run::sections["workers"]`: one entry for each transport and whatever else differs but payloads and numbers of tests, in the
/// order of the cases.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkersSection {
    /// One each.
    pub groups: Vec<Workers>,
}

/// Master and workers over one transport.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Workers {
    /// The transport.
    pub transport: String,
    /// What tells it from others over this transport: ` to 192.0.2.2`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub apart: String,
    /// Ranks that answer.
    pub workers: u32,
    /// All workers at once instead of one after the other.
    pub fan_out: bool,
    /// Answers are as large as requests: half of a round trip is a way.
    pub both_ways: bool,
    /// Every payload with every number of tests, in the plan's order.
    pub cells: Vec<Cell>,
    /// Each worker, by rank.
    pub rows: Vec<WorkerRow>,
    /// Each host, where they are known and more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostRow>,
    /// Latency and bandwidth from the medians of the cells with most tests; absent below three payloads, and where round
    /// trips overlap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<SpeedFit>,
    /// How the bandwidth goes on at the largest payload; absent below two payloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_the_end: Option<Levelling>,
    /// Time to open the master's port, median over cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_ns: Option<Finite>,
}

/// One payload with one number of tests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cell {
    /// Payload to a worker.
    pub size_bytes: u64,
    /// Payload of its answer.
    pub reply_bytes: u64,
    /// Round trips with each worker: as asked for, or as many as there were where the case ended early; 0 for a run by time.
    pub tests: u64,
    /// Round trips measured with all workers, all repetitions.
    pub trips: u64,
    /// Mean round trip.
    pub rtt_mean_ns: Finite,
    /// Median round trip, with its interval; absent where there are too few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_p50_ns: Option<Interval>,
    /// Mean over workers of the very first round trip, before warm-up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_ns: Option<Finite>,
    /// The mean as a program without warm-up has it: the first round trip counts as one of the tests (derived).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_mean_with_first_ns: Option<Finite>,
    /// Payload bytes over time, both ways together where both carry payload: from the mean round trip, or over the whole
    /// run where round trips overlap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_bytes_per_s: Option<Finite>,
    /// The same from the median round trip and its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_p50_bytes_per_s: Option<Interval>,
}

/// A value with its interval, or without a level the smallest and the largest of few runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The value.
    pub value: Finite,
    /// Lower end.
    pub lower: Finite,
    /// Upper end.
    pub upper: Finite,
    /// Coverage of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Finite>,
}

impl Interval {
    /// As a figure, which says for itself what its ends are.
    pub(crate) fn metric(&self) -> Metric {
        Metric {
            value: self.value,
            lower: Some(self.lower),
            upper: Some(self.upper),
            level: self.level,
            samples: 0,
            derived: false,
        }
    }
}

/// One worker.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkerRow {
    /// Its rank.
    pub worker: u32,
    /// Its host or node, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// CPU that it was pinned to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// Round trips with it in all cells.
    pub trips: u64,
    /// Its first round trip, median over cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_ns: Option<Finite>,
    /// Smallest round trip of the reference cell: the one with most tests and the payload nearest to 1 kB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_min_ns: Option<Finite>,
    /// Median of the reference cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_p50_ns: Option<Interval>,
    /// Mean of the reference cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_mean_ns: Option<Finite>,
    /// 99th percentile of the reference cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_p99_ns: Option<Finite>,
    /// Largest of the reference cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_max_ns: Option<Finite>,
    /// Its median over the median of all workers' medians; median over cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Finite>,
    /// In more than half of the cells its whole interval lies above 1.2 times the median of all workers.
    pub slow: bool,
}

/// All workers of one host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostRow {
    /// Its name.
    pub host: String,
    /// Its workers' ranks.
    pub workers: Vec<u32>,
    /// Median of their medians in the reference cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_p50_ns: Option<Finite>,
    /// Median of their ratios.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Finite>,
    /// All of its workers are slow.
    pub slow: bool,
}

/// T = a + s/b over round trips: `s` is what a round trip moves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpeedFit {
    /// `a`: a round trip without payload.
    pub rtt_ns: Interval,
    /// `b`; absent where time does not grow with size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_bytes_per_s: Option<Finite>,
    /// Lower end of its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_lower_bytes_per_s: Option<Finite>,
    /// Upper end; absent where it is unbounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_upper_bytes_per_s: Option<Finite>,
    /// Payload of a message at which half of `b` is reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_size_bytes: Option<Finite>,
    /// Largest residual over its measured time.
    pub worst_residual_ratio: Finite,
    /// Residuals in the order of the payloads.
    pub residuals_ns: Vec<Finite>,
    /// Payloads fitted.
    pub points: u64,
    /// Level of the intervals.
    pub level: Finite,
}

impl SpeedFit {
    /// Whether the line describes its times: points and residuals, and no time below zero.
    pub fn holds(&self) -> bool {
        self.points >= FIT_POINTS_MIN as u64
            && self.worst_residual_ratio.get() <= FIT_WORST_MAX
            && self.rtt_ns.value.get() >= 0.0
    }
}

/// The bandwidth at the largest payload beside that of the next smaller one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Levelling {
    /// The next smaller payload.
    pub from_bytes: u64,
    /// The largest payload.
    pub to_bytes: u64,
    /// Bandwidth at the largest over that at the smaller.
    pub ratio: Finite,
}

/// `value` where it is a finite number.
pub(super) fn finite(value: f64) -> Option<Finite> {
    Finite::maybe(value)
}

/// Median of some values; `None` without any.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().collect();
    crate::stats::summarize(&values, crate::stats::LEVEL).map(|summary| summary.median)
}
