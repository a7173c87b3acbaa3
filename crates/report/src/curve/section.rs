//! What `sweep` and `load` know beside their cases: sections of the run document.

use super::load::{LoadPoint, capacity, carried, knee, rate_offered_per_s};
use crate::assemble::is_unreached;
use serde::{Deserialize, Serialize};
use wirespeed_schema::finite::Finite;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::section::Section;

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

/// What is offered in a load curve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offers {
    /// Messages of a stream.
    #[default]
    Messages,
    /// Requests of a bulk transfer, one block each.
    Requests,
}

impl Offers {
    /// The unit of its rates.
    pub fn unit(self) -> &'static str {
        match self {
            Offers::Messages => "msg/s",
            Offers::Requests => "req/s",
        }
    }

    /// The family of figures for the time from the send.
    pub fn service(self) -> &'static str {
        match self {
            Offers::Messages => "ack",
            Offers::Requests => "completion",
        }
    }
}

/// `Run::sections["load"]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadSection {
    /// What is offered; a figure in messages a second counts these.
    pub offers: Offers,
    /// Seed of the order.
    pub seed: u64,
    /// What was carried with no rate set, as its case shows it; 0 where that has no figure.
    pub most_msg_per_s: Finite,
    /// Rate at the knee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knee_msg_per_s: Option<Finite>,
    /// Rate at which the fitted response time becomes infinite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_msg_per_s: Option<Finite>,
    /// The highest offered rate that was carried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carried_msg_per_s: Option<Finite>,
    /// The lowest offered rate that was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturated_msg_per_s: Option<Finite>,
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
    pub fn new(cases: &[CaseResult], p99_max_ns: Option<f64>, seed: u64) -> LoadSection {
        let rows = load_rows(cases);
        let mut unlimited = cases.iter().filter(|case| offered_per_s(case).is_none());
        let most_per_s = unlimited.find_map(|case| case.figure("rate_msg_per_s"));
        let knee = knee(&rows).ok();
        let all = carried(&rows);
        let kept = p99_max_ns.map(|bound| capacity(&rows, bound));
        let requests = cases.iter().any(|case| case.case.test.bulk().is_some());
        LoadSection {
            offers: match requests {
                true => Offers::Requests,
                false => Offers::Messages,
            },
            seed,
            most_msg_per_s: most_per_s.and_then(Finite::maybe).unwrap_or_default(),
            knee_msg_per_s: knee.and_then(|knee| Finite::maybe(knee.offered_per_s)),
            limit_msg_per_s: knee.and_then(|knee| Finite::maybe(knee.limit_per_s)),
            carried_msg_per_s: all.passes_per_s.and_then(Finite::maybe),
            saturated_msg_per_s: all.fails_per_s.and_then(Finite::maybe),
            p99_max_ns: p99_max_ns.and_then(Finite::maybe),
            passes_msg_per_s: kept.and_then(|kept| kept.passes_per_s).and_then(Finite::maybe),
            fails_msg_per_s: kept.and_then(|kept| kept.fails_per_s).and_then(Finite::maybe),
        }
    }
}

impl Section for LoadSection {
    const NAME: &'static str = "load";
}

impl Section for SweepSection {
    const NAME: &'static str = "sweep";
}

/// The rate that was offered, unless it stands for one without a limit.
pub fn offered_per_s(case: &CaseResult) -> Option<f64> {
    rate_offered_per_s(&case.case.test)
}

/// A case of a load curve as a point; `None` for the one that was not held back, or without figures.
pub fn load_point(case: &CaseResult) -> Option<LoadPoint> {
    // Those of all runs.
    let achieved = case.metrics.get("rate_msg_per_s")?;
    Some(LoadPoint {
        offered_per_s: offered_per_s(case)?,
        achieved_per_s: achieved.value.get(),
        achieved_upper_per_s: achieved.upper.map(|upper| upper.get()),
        messages: achieved.samples / (case.repetitions.len() as u64).max(1),
        response_ns: case
            .figure("response_mean_ns")
            .or_else(|| case.figure("response_p50_ns"))?,
        response_p99_ns: case.figure("response_p99_ns"),
    })
}

/// The rows of a load curve, as every table shows them and every sentence is derived from them: rising.
pub fn load_rows(cases: &[CaseResult]) -> Vec<LoadPoint> {
    let mut rows: Vec<LoadPoint> = cases.iter().filter_map(load_point).collect();
    rows.order_by(|a, b| a.offered_per_s.total_cmp(&b.offered_per_s));
    rows
}

/// Rates that were offered and have no row, and how many of those the run did not reach.
pub fn load_missing(cases: &[CaseResult]) -> (usize, usize) {
    let has_no_row = |case: &&CaseResult| offered_per_s(case).is_some() && load_point(case).is_none();
    let missing = || cases.iter().filter(has_no_row);
    (
        missing().count(),
        missing().filter(|case| is_unreached(case)).count(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::{UNREACHED, skipped_case};
    use crate::curve::load::UNLIMITED_PER_S;
    use crate::curve::window::InUse;
    use crate::tests::stream;
    use serde_json::json;

    fn result(pace: serde_json::Value, metrics: &[(&str, f64)]) -> CaseResult {
        stream(json!({"window_msgs": 4, "pace_msg_per_s": pace}), metrics)
    }

    #[test]
    fn a_point_is_what_was_offered_and_what_came_of_it() {
        let figures = [
            ("rate_msg_per_s", 990.0),
            ("response_mean_ns", 1500.0),
            ("response_p99_ns", 4000.0),
        ];
        let expected = LoadPoint {
            offered_per_s: 1000.0,
            achieved_per_s: 990.0,
            achieved_upper_per_s: None,
            messages: 600,
            response_ns: 1500.0,
            response_p99_ns: Some(4000.0),
        };
        let found = result(1000.into(), &figures);
        assert_eq!(load_point(&found), Some(expected));
        assert_eq!(load_rows(&[found]), [expected]);
        assert_eq!(load_point(&result(serde_json::Value::Null, &figures)), None);
        assert_eq!(load_point(&result(1000.into(), &figures[1..])), None);
        assert_eq!(load_point(&result(1000.into(), &figures[..1])), None);
    }

    #[test]
    fn a_section_holds_what_the_rows_show() {
        let at = |offered: u64, achieved: f64, p99_ns: f64| {
            let figures = [
                ("rate_msg_per_s", achieved),
                ("response_mean_ns", 1500.0),
                ("response_p99_ns", p99_ns),
            ];
            result(offered.into(), &figures)
        };
        let cases = [
            at(3000, 1500.0, 9000.0),
            at(1000, 1000.0, 4000.0),
            at(2000, 2000.0, 6000.0),
            result(4000.into(), &[]),
            result(serde_json::Value::Null, &[]),
            result(UNLIMITED_PER_S.into(), &[("rate_msg_per_s", 5000.0)]),
        ];
        assert_eq!(load_missing(&cases), (1, 0));
        let unreached = skipped_case(cases[3].case.clone(), UNREACHED, None);
        assert_eq!(load_missing(&[cases[3].clone(), unreached]), (2, 1));
        let found = LoadSection::new(&cases, Some(5000.0), 7);
        let expected = LoadSection {
            seed: 7,
            most_msg_per_s: Finite::from(5000u32),
            carried_msg_per_s: Some(Finite::from(2000u32)),
            saturated_msg_per_s: Some(Finite::from(3000u32)),
            p99_max_ns: Some(Finite::from(5000u32)),
            passes_msg_per_s: Some(Finite::from(1000u32)),
            fails_msg_per_s: Some(Finite::from(2000u32)),
            ..LoadSection::default()
        };
        assert_eq!(found, expected);
        let words = [Offers::Messages, Offers::Requests].map(|of| (of.unit(), of.service()));
        assert_eq!(words, [("msg/s", "ack"), ("req/s", "completion")]);
    }

    #[test]
    fn a_windows_use_is_a_share_of_it() {
        let half = result(serde_json::Value::Null, &[("in_flight_mean_msgs", 2.0)]);
        let used = InUse::of(&half).unwrap();
        assert_eq!((used.least, used.median, used.most), (0.5, 0.5, 0.5));
    }
}
