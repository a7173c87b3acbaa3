//! What `sweep` and `load` know beside their cases: sections of the run document.

use super::load::{LoadPoint, capacity, knee};
use serde::{Deserialize, Serialize};
use wirespeed_schema::Test;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::run::{CaseResult, Run};

/// Name of the section of a sweep.
pub const SWEEP: &str = "sweep";
/// Name of the section of a load curve.
pub const LOAD: &str = "load";

/// Interleaved runs at both edges of a threshold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Probe {
    /// Last size before it.
    pub above_bytes: u64,
    /// First size behind it.
    pub until_bytes: u64,
    /// Time of the second over that of the first if the piece before went on.
    pub smooth_ratio: Finite,
    /// Lower end of the interval of the measured ratio.
    pub lower_ratio: Finite,
    /// Upper end.
    pub upper_ratio: Finite,
    /// Whether the smooth ratio lies outside.
    pub confirmed: bool,
}

impl Probe {
    /// `None` where a ratio is no number.
    pub fn new(
        (above_bytes, until_bytes): (u64, u64),
        smooth: f64,
        interval: (f64, f64),
        confirmed: bool,
    ) -> Option<Probe> {
        Some(Probe {
            above_bytes,
            until_bytes,
            smooth_ratio: Finite::maybe(smooth)?,
            lower_ratio: Finite::maybe(interval.0)?,
            upper_ratio: Finite::maybe(interval.1)?,
            confirmed,
        })
    }
}

/// `Run::sections["sweep"]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SweepSection {
    /// `size` or `window`.
    pub over: String,
    /// Seed of the order.
    pub seed: u64,
    /// Thresholds that were probed.
    pub probes: Vec<Probe>,
}

/// `Run::sections["load"]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadSection {
    /// Seed of the order.
    pub seed: u64,
    /// What was carried when nothing but the window held it back.
    pub most_msg_per_s: Finite,
    /// Rate at the knee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knee_msg_per_s: Option<Finite>,
    /// Rate at which the fitted response time becomes infinite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_msg_per_s: Option<Finite>,
    /// The bound of the 99th percentile that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_max_ns: Option<Finite>,
    /// The highest rate that keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes_msg_per_s: Option<Finite>,
    /// The lowest rate that does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fails_msg_per_s: Option<Finite>,
}

impl LoadSection {
    /// What the cases of a load curve show.
    pub fn new(cases: &[CaseResult], most_per_s: f64, p99_max_ns: Option<f64>, seed: u64) -> LoadSection {
        let points: Vec<LoadPoint> = cases
            .iter()
            .filter_map(|case| load_point(case, most_per_s))
            .collect();
        let knee = knee(&points);
        let kept = p99_max_ns.map(|bound| capacity(&trials(cases, most_per_s), bound));
        LoadSection {
            seed,
            most_msg_per_s: Finite::maybe(most_per_s).unwrap_or_default(),
            knee_msg_per_s: knee.and_then(|knee| Finite::maybe(knee.offered_per_s)),
            limit_msg_per_s: knee.and_then(|knee| Finite::maybe(knee.limit_per_s)),
            p99_max_ns: p99_max_ns.and_then(Finite::maybe),
            passes_msg_per_s: kept.and_then(|kept| kept.passes_per_s).and_then(Finite::maybe),
            fails_msg_per_s: kept.and_then(|kept| kept.fails_per_s).and_then(Finite::maybe),
        }
    }

    /// The section of `run`, if it has one that can be read.
    pub fn of(run: &Run) -> Option<LoadSection> {
        LoadSection::deserialize(run.sections.get(LOAD)?).ok()
    }

    /// As it stands in the document.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl SweepSection {
    /// The section of `run`, if it has one that can be read.
    pub fn of(run: &Run) -> Option<SweepSection> {
        SweepSection::deserialize(run.sections.get(SWEEP)?).ok()
    }

    /// As it stands in the document.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// The rate at which a case was paced, unless nothing can carry it.
pub fn offered_per_s(case: &CaseResult, most_per_s: f64) -> Option<f64> {
    let pace = match &case.case.test {
        Test::AmBw(stream) | Test::AmBibw(stream) => stream.pace_msg_per_s? as f64,
        _ => return None,
    };
    (most_per_s <= 0.0 || pace <= 2.0 * most_per_s).then_some(pace)
}

/// A case of a load curve as a point; `None` for the one that was not held back, or without figures.
pub fn load_point(case: &CaseResult, most_per_s: f64) -> Option<LoadPoint> {
    let figure = |tag: &str| case.metrics.get(tag).map(|metric| metric.value.get());
    Some(LoadPoint {
        offered_per_s: offered_per_s(case, most_per_s)?,
        achieved_per_s: figure("rate_msg_per_s")?,
        response_ns: figure("response_mean_ns").or_else(|| figure("response_p50_ns"))?,
        response_p99_ns: figure("response_p99_ns"),
    })
}

/// Every run of every rate as a trial of its own.
fn trials(cases: &[CaseResult], most_per_s: f64) -> Vec<LoadPoint> {
    let runs = cases
        .iter()
        .flat_map(|case| case.repetitions.iter().map(move |repetition| (case, repetition)));
    runs.filter_map(|(case, repetition)| {
        let single = CaseResult {
            metrics: repetition.metrics.clone(),
            repetitions: Vec::new(),
            ..case.clone()
        };
        load_point(&single, most_per_s)
    })
    .collect()
}
