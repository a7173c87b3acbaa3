//! Latency and bandwidth from the cells with most tests, and whether the bandwidth has levelled off.

use super::section::{Cell, Interval, Levelling, SpeedFit, finite};
use crate::fit::{Hockney, Observation, Parameter, hockney};
use crate::stats::LEVEL;
use wirespeed_schema::order::InOrder;

/// The cells with most tests, by payload.
pub fn longest(cells: &[Cell]) -> Vec<&Cell> {
    let most = cells.iter().map(|cell| cell.tests).max().unwrap_or(0);
    let mut chosen: Vec<&Cell> = cells.iter().filter(|cell| cell.tests == most).collect();
    chosen.order_by_key(|cell| cell.size_bytes);
    chosen
}

fn moved(cell: &Cell) -> f64 {
    cell.size_bytes as f64 + cell.reply_bytes as f64
}

/// The fit of the medians, or of the means where there are too few round trips for medians.
pub fn fit(cells: &[Cell]) -> Option<SpeedFit> {
    let chosen = longest(cells);
    let time = |cell: &Cell| cell.rtt_p50_ns.map_or(cell.rtt_mean_ns, |p50| p50.value).get();
    let points: Vec<Observation> = chosen
        .iter()
        .map(|cell| Observation::relative(moved(cell), time(cell)))
        .collect();
    let fit = hockney(&points, LEVEL).ok()?;
    let published = |value: Option<f64>| value.and_then(finite);
    Some(SpeedFit {
        rtt_ns: interval(fit.latency_ns)?,
        bandwidth_bytes_per_s: published(fit.bandwidth_bytes_per_s),
        bandwidth_lower_bytes_per_s: published(fit.bandwidth_lower_bytes_per_s),
        bandwidth_upper_bytes_per_s: published(fit.bandwidth_upper_bytes_per_s),
        half_size_bytes: published(half_message(&fit, &chosen)),
        worst_residual_ratio: finite(fit.worst_residual(&points))?,
        residuals_ns: fit.line.residuals.iter().filter_map(|r| finite(*r)).collect(),
        points: points.len() as u64,
        level: finite(LEVEL)?,
    })
}

/// n½ counts what a round trip moves; a message is half of that, or what an answer of always one size leaves.
fn half_message(fit: &Hockney, cells: &[&Cell]) -> Option<f64> {
    let (half, reply) = (fit.half_size_bytes?, cells.first()?.reply_bytes);
    let size = match cells.iter().all(|cell| cell.reply_bytes == cell.size_bytes) {
        true => half / 2.0,
        false if cells.iter().all(|cell| cell.reply_bytes == reply) => half - reply as f64,
        false => return None,
    };
    (size >= 0.0).then_some(size)
}

fn interval(parameter: Parameter) -> Option<Interval> {
    Some(Interval {
        value: finite(parameter.value)?,
        lower: finite(parameter.lower)?,
        upper: finite(parameter.upper)?,
        level: finite(LEVEL),
    })
}

/// The two largest payloads beside each other: medians, or means where one of them has no median.
pub fn levelling(cells: &[Cell]) -> Option<Levelling> {
    let median = |cell: &Cell| cell.bandwidth_p50_bytes_per_s.map(|p50| p50.value);
    let chosen = longest(cells);
    let [.., before, last] = chosen.as_slice() else {
        return None;
    };
    let (before_speed, last_speed) = match (median(before), median(last)) {
        (Some(before), Some(last)) => (before, last),
        _ => (before.bandwidth_bytes_per_s?, last.bandwidth_bytes_per_s?),
    };
    let ratio = last_speed.get() / before_speed.get();
    Some(Levelling {
        from_bytes: before.size_bytes,
        to_bytes: last.size_bytes,
        ratio: finite(ratio)?,
    })
}
