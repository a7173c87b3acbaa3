//! What master and workers tell beyond the figures of their cases: the grid of tests and payloads, the price of the first
//! round trip, a row for each worker and each host, latency and bandwidth by a fit.
//!
//! Everything is computed from case results, so a stored document gives the same again. A payload that travels one way
//! is never divided by two: what a round trip moved stands beside it.

mod cells;
mod charts;
mod log;
mod rows;
mod speed;

pub use charts::{bandwidth_chart, tests_chart};
pub use log::{log_csv, log_lines};
pub(crate) use rows::slow_workers;

use crate::thresholds::{FIT_POINTS_MIN, FIT_WORST_MAX};
use serde::{Deserialize, Serialize};
use wirespeed_schema::finite::Finite;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::{Run, Test};

/// `Run::sections["workers"]`: one entry for each transport, in the order of the cases.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkersSection {
    /// One a transport.
    pub groups: Vec<Workers>,
}

/// Master and workers over one transport.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Workers {
    /// The transport.
    pub transport: String,
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
    /// Round trips asked for with each worker; 0 for a run by time.
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

/// A value with its interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The value.
    pub value: Finite,
    /// Lower end.
    pub lower: Finite,
    /// Upper end.
    pub upper: Finite,
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

impl WorkersSection {
    /// Its name in [`Run::sections`].
    pub const NAME: &str = "workers";

    /// What `cases` tell; cases of other tests are left out.
    pub fn new(cases: &[CaseResult]) -> WorkersSection {
        let mut transports: Vec<&str> = Vec::new();
        for result in cases {
            let name = result.case.transport.as_str();
            if matches!(result.case.test, Test::HubLat(_)) && !transports.contains(&name) {
                transports.push(name);
            }
        }
        let group = |transport: &str| {
            let own: Vec<&CaseResult> = cases
                .iter()
                .filter(|result| {
                    result.case.transport == transport && matches!(result.case.test, Test::HubLat(_))
                })
                .collect();
            group(transport, &own)
        };
        WorkersSection {
            groups: transports.into_iter().map(group).collect(),
        }
    }

    /// Give the nodes of a job, which are numbered, their names.
    pub fn name_nodes(&mut self, names: &[String]) {
        let rename = |host: &mut String| {
            let number = host
                .strip_prefix(rows::NODE)
                .and_then(|number| number.parse::<usize>().ok());
            if let Some(name) = number.and_then(|number| names.get(number)) {
                host.clone_from(name);
            }
        };
        for group in &mut self.groups {
            group
                .rows
                .iter_mut()
                .filter_map(|row| row.host.as_mut())
                .for_each(rename);
            group.hosts.iter_mut().for_each(|row| rename(&mut row.host));
        }
    }

    /// The section of `run`, or what its cases tell.
    pub fn of(run: &Run) -> WorkersSection {
        let stored = run.sections.get(Self::NAME);
        let stored = stored.and_then(|value| WorkersSection::deserialize(value).ok());
        stored.unwrap_or_else(|| WorkersSection::new(&run.cases))
    }
}

fn group(transport: &str, cases: &[&CaseResult]) -> Workers {
    let hub = cases.iter().find_map(|result| match &result.case.test {
        Test::HubLat(hub) => Some((hub, result.case.ranks.len())),
        _ => None,
    });
    let (fan_out, both_ways, ranks) = hub.map_or((false, true, 0), |(hub, ranks)| {
        (hub.fan_out, hub.is_symmetric(), ranks)
    });
    let (cells, rows) = (cells::cells(cases), rows::rows(cases));
    Workers {
        transport: transport.to_owned(),
        workers: ranks.saturating_sub(1) as u32,
        fan_out,
        both_ways,
        hosts: rows::hosts(&rows),
        rows,
        fit: if fan_out { None } else { speed::fit(&cells) },
        at_the_end: speed::levelling(&cells),
        connect_ns: cells::connect_ns(cases),
        cells,
    }
}

impl Workers {
    /// What a round trip is divided by for a time of one way: 2, or 1 where half of it is nobody's way.
    pub fn divisor(&self) -> f64 {
        if self.both_ways && !self.fan_out { 2.0 } else { 1.0 }
    }

    /// The largest number of tests; 0 without cells.
    pub fn tests_max(&self) -> u64 {
        self.cells.iter().map(|cell| cell.tests).max().unwrap_or(0)
    }

    /// The cells with most tests, by payload.
    pub fn longest(&self) -> Vec<&Cell> {
        speed::longest(&self.cells)
    }

    /// The payload whose cells stand for all where one is wanted: the one nearest to 1 kB, by ratio.
    pub fn reference_bytes(&self) -> Option<u64> {
        cells::nearest_to_kilobyte(self.cells.iter().map(|cell| cell.size_bytes))
    }
}

/// `value` where it is a finite number.
fn finite(value: f64) -> Option<Finite> {
    Finite::maybe(value)
}

/// Median of some values; `None` without any.
fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().collect();
    crate::stats::summarize(&values, crate::stats::LEVEL).map(|summary| summary.median)
}
