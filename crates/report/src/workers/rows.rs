//! A row for each worker and each host, so that a slow machine stands out.
//!
//! A worker is compared with the median of all workers' medians in the same cell, never with figures of another payload.

use super::cells::{master, nearest_to_kilobyte, tests};
use super::section::{HostRow, Interval, WorkerRow, finite, median};
use crate::assemble::rounded_level;
use crate::stats::{self, LEVEL};
use crate::thresholds::SLOW_RATIO;
use std::collections::BTreeMap;
use wirespeed_schema::HistogramData;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::run::{CaseResult, Repetition};

/// What stands before the number of a node whose name is not to be told.
pub const NODE: &str = "node ";

/// One worker in one case.
struct Compared {
    worker: u32,
    ratio: f64,
    slow: bool,
}

/// Samples of each worker in all repetitions of a case; histograms that contradict themselves are left out.
fn by_worker(repetitions: &[Repetition]) -> BTreeMap<u32, HistogramData> {
    let mut samples: BTreeMap<u32, HistogramData> = BTreeMap::new();
    for peer in repetitions
        .iter()
        .filter_map(master)
        .flat_map(|master| &master.peers)
    {
        if peer.samples.check().is_ok() && !peer.samples.is_empty() {
            samples.entry(peer.peer).or_default().merge(&peer.samples);
        }
    }
    samples
}

fn compared(repetitions: &[Repetition]) -> Vec<Compared> {
    let medians: Vec<(u32, stats::Estimate)> = by_worker(repetitions)
        .iter()
        .filter_map(|(worker, samples)| Some((*worker, stats::quantile(samples, 0.5, LEVEL).ok()?)))
        .collect();
    let mut sorted: Vec<f64> = medians.iter().map(|(_, estimate)| estimate.value_ns).collect();
    sorted.sort_by(f64::total_cmp);
    // Of the middle two the lower: of two workers the slower one is compared with the other.
    let middle = sorted.get(sorted.len().saturating_sub(1) / 2).copied();
    let Some(middle) = middle.filter(|ns| *ns > 0.0) else {
        return Vec::new();
    };
    let compare = |(worker, own): &(u32, stats::Estimate)| Compared {
        worker: *worker,
        ratio: own.value_ns / middle,
        slow: own.lower_ns > middle * SLOW_RATIO,
    };
    medians.iter().map(compare).collect()
}

/// Workers of a case that are slower than the others, with their ratios.
pub(crate) fn slow_workers(repetitions: &[Repetition]) -> Vec<(u32, f64)> {
    let slow = compared(repetitions).into_iter().filter(|one| one.slow);
    slow.map(|one| (one.worker, one.ratio)).collect()
}

/// The rows of all workers that any case knows, by rank.
pub fn rows(cases: &[&CaseResult]) -> Vec<WorkerRow> {
    let reference = reference(cases);
    let comparisons: Vec<Vec<Compared>> = cases.iter().map(|result| compared(&result.repetitions)).collect();
    let mut rows: BTreeMap<u32, WorkerRow> = BTreeMap::new();
    let mut firsts: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for repetition in cases.iter().flat_map(|result| &result.repetitions) {
        for peer in master(repetition).into_iter().flat_map(|master| &master.peers) {
            let row = rows.entry(peer.peer).or_default();
            row.worker = peer.peer;
            row.trips = row.trips.saturating_add(peer.samples.count);
            firsts
                .entry(peer.peer)
                .or_default()
                .extend(peer.first_ns.map(Finite::get));
        }
        for outcome in &repetition.outcomes {
            if let Some(row) = rows.get_mut(&outcome.rank) {
                row.cpu = outcome.cpu;
                let node = outcome
                    .transport_facts
                    .get("node")
                    .map(|node| format!("{NODE}{node}"));
                row.host = node.or(outcome.host.host_name.clone());
            }
        }
    }
    let samples = reference
        .map(|result| by_worker(&result.repetitions))
        .unwrap_or_default();
    for (worker, row) in &mut rows {
        row.first_ns = firsts.remove(worker).and_then(median).and_then(finite);
        if let Some(samples) = samples.get(worker) {
            fill(row, samples);
        }
        let own = || comparisons.iter().flatten().filter(|one| one.worker == *worker);
        row.ratio = median(own().map(|one| one.ratio)).and_then(finite);
        row.slow = own().filter(|one| one.slow).count() * 2 > own().count();
    }
    rows.into_values().collect()
}

/// The case with most tests and the payload nearest to 1 kB.
fn reference<'a>(cases: &[&'a CaseResult]) -> Option<&'a CaseResult> {
    let size = |result: &CaseResult| result.case.test.size_bytes();
    let measured = || cases.iter().filter(|result| !result.repetitions.is_empty());
    let nearest = nearest_to_kilobyte(measured().map(|result| size(result)))?;
    measured()
        .filter(|result| size(result) == nearest)
        .max_by_key(|result| tests(result))
        .copied()
}

fn fill(row: &mut WorkerRow, samples: &HistogramData) {
    row.rtt_min_ns = Some(samples.min_ns);
    row.rtt_max_ns = Some(samples.max_ns);
    row.rtt_mean_ns = finite(samples.mean_ns());
    row.rtt_p99_ns = stats::quantile(samples, 0.99, LEVEL)
        .ok()
        .and_then(|p99| finite(p99.value_ns));
    row.rtt_p50_ns = stats::quantile(samples, 0.5, LEVEL).ok().and_then(|p50| {
        Some(Interval {
            value: finite(p50.value_ns)?,
            lower: finite(p50.lower_ns)?,
            upper: finite(p50.upper_ns)?,
            level: rounded_level(p50.level),
        })
    });
}

/// The rows of all hosts; none where there are not at least two known.
pub fn hosts(workers: &[WorkerRow]) -> Vec<HostRow> {
    let mut hosts: BTreeMap<&str, Vec<&WorkerRow>> = BTreeMap::new();
    for row in workers {
        if let Some(host) = &row.host {
            hosts.entry(host).or_default().push(row);
        }
    }
    if hosts.len() < 2 {
        return Vec::new();
    }
    let row = |(host, rows): (&str, Vec<&WorkerRow>)| HostRow {
        host: host.to_owned(),
        workers: rows.iter().map(|row| row.worker).collect(),
        rtt_p50_ns: median(rows.iter().filter_map(|row| Some(row.rtt_p50_ns?.value.get()))).and_then(finite),
        ratio: median(rows.iter().filter_map(|row| Some(row.ratio?.get()))).and_then(finite),
        slow: rows.iter().all(|row| row.slow),
    };
    hosts.into_iter().map(row).collect()
}
