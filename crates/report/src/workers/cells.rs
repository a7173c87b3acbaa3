//! The grid: one cell for each payload and number of tests.

use super::section::{Cell, Interval, finite, median};
use wirespeed_schema::Outcome;
use wirespeed_schema::case::{Role, Stop};
use wirespeed_schema::finite::Finite;
use wirespeed_schema::run::{CaseResult, CaseStatus, Metric, Repetition};
use wirespeed_schema::test::Hub;

/// The payload that stands for all where one is wanted.
const KILOBYTE: f64 = 1000.0;

/// A cell for every case that has round trips.
pub fn cells(cases: &[&CaseResult]) -> Vec<Cell> {
    cases.iter().filter_map(|result| cell(result)).collect()
}

/// The master's outcome in a repetition.
pub fn master(repetition: &Repetition) -> Option<&Outcome> {
    repetition
        .outcomes
        .iter()
        .find(|outcome| outcome.role == Role::Hub)
}

fn cell(result: &CaseResult) -> Option<Cell> {
    let hub = result.case.test.hub()?;
    let mean = result.metrics.get("rtt_mean_ns")?;
    let tests = tests(result);
    let first = first_mean(result);
    let moved = hub.size_bytes as f64 + hub.reply() as f64;
    let p50 = result.metrics.get("rtt_p50_ns").and_then(interval);
    let speed = |ns: f64| finite(moved * 1e9 / ns).filter(|_| ns > 0.0 && moved > 0.0);
    let bandwidth = match hub.fan_out {
        false => speed(mean.value.get()),
        true => overlapped(result, hub),
    };
    // The slowest round trip is the least speed.
    let bandwidth_p50 = p50.filter(|_| !hub.fan_out).and_then(|rtt| {
        Some(Interval {
            value: speed(rtt.value.get())?,
            lower: speed(rtt.upper.get())?,
            upper: speed(rtt.lower.get())?,
            level: rtt.level,
        })
    });
    let with_first = first.filter(|_| tests > 0).and_then(|first| {
        let tests = tests as f64;
        finite((first.get() + (tests - 1.0) * mean.value.get()) / tests)
    });
    Some(Cell {
        size_bytes: hub.size_bytes,
        reply_bytes: hub.reply(),
        tests,
        trips: mean.samples,
        rtt_mean_ns: mean.value,
        rtt_p50_ns: p50,
        first_ns: first,
        rtt_mean_with_first_ns: with_first,
        bandwidth_bytes_per_s: bandwidth,
        bandwidth_p50_bytes_per_s: bandwidth_p50,
    })
}

/// Round trips with each worker: as asked for, or the mean of those that there were where a case ended early; 0 for a run by
/// time.
pub fn tests(result: &CaseResult) -> u64 {
    match result.case.stop {
        Stop::Iterations { count } if result.status == CaseStatus::Partial => count.min(done(result)),
        Stop::Iterations { count } => count,
        Stop::Duration { .. } => 0,
    }
}

fn done(result: &CaseResult) -> u64 {
    let masters = result.repetitions.iter().filter_map(master);
    let trips: Vec<u64> = masters
        .flat_map(|master| &master.peers)
        .map(|peer| peer.samples.count)
        .collect();
    let all: u64 = trips.iter().fold(0, |sum, own| sum.saturating_add(*own));
    all.div_ceil((trips.len() as u64).max(1))
}

fn interval(metric: &Metric) -> Option<Interval> {
    Some(Interval {
        value: metric.value,
        lower: metric.lower.unwrap_or(metric.value),
        upper: metric.upper.unwrap_or(metric.value),
        level: metric.level,
    })
}

/// Mean over workers of their first round trips, median over repetitions.
fn first_mean(result: &CaseResult) -> Option<Finite> {
    let of_one = |repetition: &Repetition| {
        let firsts: Vec<f64> = master(repetition)?
            .peers
            .iter()
            .filter_map(|peer| peer.first_ns.map(Finite::get))
            .collect();
        (!firsts.is_empty()).then(|| firsts.iter().sum::<f64>() / firsts.len() as f64)
    };
    median(result.repetitions.iter().filter_map(of_one)).and_then(finite)
}

/// Payload bytes of all workers over the time of the run, median over repetitions.
fn overlapped(result: &CaseResult, hub: &Hub) -> Option<Finite> {
    let of_one = |repetition: &Repetition| {
        let master = master(repetition)?;
        let bytes = (hub.size_bytes as f64 + hub.reply() as f64) * master.received.messages as f64;
        (master.elapsed_ns > 0 && bytes > 0.0).then(|| bytes * 1e9 / master.elapsed_ns as f64)
    };
    median(result.repetitions.iter().filter_map(of_one)).and_then(finite)
}

/// Time to open the master's port, median over all repetitions of all cases.
pub fn connect_ns(cases: &[&CaseResult]) -> Option<Finite> {
    let repetitions = cases.iter().flat_map(|result| &result.repetitions);
    let times = repetitions.filter_map(|repetition| master(repetition)?.connect_ns);
    median(times.map(Finite::get)).and_then(finite)
}

/// The size nearest to 1 kB, by ratio; an empty payload is the farthest.
pub fn nearest_to_kilobyte(sizes: impl Iterator<Item = u64>) -> Option<u64> {
    let distance = |size: u64| (size.max(1) as f64 / KILOBYTE).ln().abs();
    sizes.min_by(|a, b| distance(*a).total_cmp(&distance(*b)))
}
