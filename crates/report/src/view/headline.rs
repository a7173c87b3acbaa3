//! A case in one line, and what several cases span: each figure with its interval, and what the interval means.

use super::cases::{self, Kind};
use super::model::{Line, Part, Spread};
use super::remarks::cause;
use crate::charts::Picture;
use crate::figures::{figure_text, with_interval};
use crate::interference::undisturbed;
use crate::labels::{Input, worth};
use crate::names::Names;
use crate::wording::counted;
use wirespeed_schema::host::Floor;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::run::{CaseResult, CaseStatus};
use wirespeed_schema::units::significant;

/// In place of the figures of a case that has none.
pub const UNRECORDED: &str = "nothing was recorded";
/// In place of the figure of a case that has others: its other end was lost.
const PARTLY: &str = "its main figure is not known";
/// Cases that are named one by one in an answer.
const NAMED_MAX: usize = 3;

/// One line on a case: its label and its headline, or why it has none.
pub fn case_text(result: &CaseResult) -> String {
    text_as(&result.case.label(), result)
}

fn text_as(label: &str, result: &CaseResult) -> String {
    match result.status {
        CaseStatus::Failed | CaseStatus::Skipped => format!("{label}: {}", cause(result)),
        _ => {
            let status = cases::status(result.status);
            let gap = if status.is_empty() { "" } else { "  " };
            format!("{label}: {}{gap}{status}", figures(result))
        }
    }
}

/// The headline figures of a case.
fn figures(result: &CaseResult) -> String {
    let figure = |tag: &str| result.metrics.get(tag).map(|metric| with_interval(tag, metric));
    // Results of other tools may have the mean alone.
    let latency = |median: &str, mean: &str, name: &str| {
        let median = figure(median).map(|text| format!("{name}p50 {text}"));
        median.or_else(|| figure(mean).map(|text| format!("{name}mean {text}")))
    };
    let said = match Kind::of(&result.case.test) {
        Kind::RoundTrip => latency("rtt_p50_ns", "rtt_mean_ns", "RTT "),
        Kind::Completion => latency("completion_p50_ns", "completion_mean_ns", ""),
        Kind::Bulk => figure("bandwidth_bytes_per_s"),
        Kind::Rate | Kind::Iterations => {
            let bandwidth = result.metrics.get("bandwidth_bytes_per_s");
            let bandwidth = bandwidth.map(|metric| figure_text("bandwidth_bytes_per_s", metric.value.get()));
            let both: Vec<String> = figure("rate_msg_per_s").into_iter().chain(bandwidth).collect();
            (!both.is_empty()).then(|| both.join(", "))
        }
    };
    said.unwrap_or_else(|| {
        let none = if result.metrics.is_empty() {
            UNRECORDED
        } else {
            PARTLY
        };
        none.to_owned()
    })
}

/// The answer of a run of any cases: the headline of a few, the span of many.
pub fn answers(input: &Input, charts: &[Picture]) -> Vec<String> {
    let found = undisturbed(input.run);
    let measured = || found.iter().filter(|case| !case.metrics.is_empty());
    let mut cases: Vec<&CaseResult> = measured()
        .filter(|case| case.case.transport != Floor::TRANSPORT)
        .collect();
    if cases.is_empty() {
        cases = measured().collect();
    }
    match cases.as_slice() {
        [] => Vec::new(),
        [only] => vec![match meaning(only) {
            Some(meaning) => format!("{} ({meaning})", case_text(only)),
            None => case_text(only),
        }],
        several => {
            let curves = charts.iter().filter(|picture| picture.is_curve);
            let mut said: Vec<String> = curves.flat_map(|picture| picture.answer.clone()).collect();
            let spans = Kind::ALL.into_iter().filter_map(|kind| span(several, kind));
            said.extend(spans);
            match said.is_empty() {
                false => said,
                true => named(several),
            }
        }
    }
}

/// Cases one by one, told apart where their labels do not.
fn named(cases: &[&CaseResult]) -> Vec<String> {
    let names = Names::among(cases.iter().copied());
    let shown = cases
        .iter()
        .take(NAMED_MAX)
        .map(|case| text_as(&names.of(case), case));
    let mut lines: Vec<String> = shown.collect();
    if cases.len() > NAMED_MAX {
        lines.push(format!(
            "and {}",
            counted((cases.len() - NAMED_MAX) as u64, "more case")
        ));
    }
    lines
}

/// The best and the worst of the cases of one kind: both figures, and how far they are apart. `None` where they move
/// messages of different sizes or offer them at different rates, which no figure makes alike.
fn span(cases: &[&CaseResult], kind: Kind) -> Option<String> {
    let tag = kind.headline();
    let of_kind = cases.iter().filter(|case| Kind::of(&case.case.test) == kind);
    let mut with: Vec<(f64, &CaseResult)> = of_kind
        .filter_map(|case| Some((case.figure(tag)?, *case)))
        .collect();
    let asked = |case: &CaseResult| (case.case.test.size_bytes(), case.case.test.pace_per_s());
    let first = asked(with.first()?.1);
    if with.iter().any(|(_, case)| asked(case) != first) {
        return None;
    }
    with.order_by(|a, b| a.0.total_cmp(&b.0));
    if tag.ends_with("_per_s") {
        with.reverse();
    }
    let ((best, first), (worst, last)) = (with.first()?, with.last()?);
    let names = Names::among(with.iter().map(|(_, case)| *case));
    let said = |case: &CaseResult| {
        let figure = with_interval(tag, &case.metrics[tag]);
        format!("{} {figure}", names.of(case))
    };
    if with.len() < 2 {
        return Some(format!("{}: {}", first.case.label(), figures(first)));
    }
    let apart = (best / worst).max(worst / best);
    let apart = match apart.is_finite() {
        true => format!(", a factor of {} apart", significant(apart, 2)),
        false => String::new(),
    };
    Some(format!(
        "{} of {} cases: best {}, worst {}{apart}.",
        kind.figure(),
        with.len(),
        said(first),
        said(last)
    ))
}

/// What the interval of a case's headline means.
fn meaning(result: &CaseResult) -> Option<String> {
    let metric = result.metrics.get(Kind::of(&result.case.test).headline())?;
    let runs = result.repetitions.len();
    let percent = |level: f64| format!("{} %", significant(level * 100.0, 3));
    Some(match (metric.level, runs) {
        (Some(level), 0 | 1) => format!("{} interval within one run", percent(level.get())),
        (Some(level), runs) => format!("{} over {runs} runs in a row", percent(level.get())),
        (None, 0 | 1) => "one run".to_owned(),
        (None, runs) => cases::braces(&format!("of {runs} runs")),
    })
}

/// The shape of the samples of a run of one case.
pub fn parts(results: &[CaseResult]) -> Vec<Part> {
    let [result] = results else {
        return Vec::new();
    };
    let mut parts: Vec<Part> = spread(result).map(Part::Spread).into_iter().collect();
    parts.extend(over_time(result));
    parts.extend(worth(result).map(|text| Part::Lines(vec![Line::plain(text)])));
    parts
}

/// Ends and percentiles of a latency case.
fn spread(result: &CaseResult) -> Option<Spread> {
    let family = ["rtt", "completion"]
        .into_iter()
        .find(|f| result.metrics.contains_key(&format!("{f}_p50_ns")))?;
    let value = |part: &str| result.figure(&format!("{family}_{part}_ns"));
    Some(Spread {
        min_ns: value("min")?,
        p50_ns: value("p50"),
        p99_ns: value("p99"),
        max_ns: value("max")?,
    })
}

/// Messages in each slice of time of the first repetition, where reports were asked for.
fn over_time(result: &CaseResult) -> Option<Part> {
    let outcomes = &result.repetitions.first()?.outcomes;
    let intervals = &outcomes
        .iter()
        .find(|outcome| outcome.intervals.len() > 1)?
        .intervals;
    let rates = intervals
        .iter()
        .filter(|interval| interval.duration_ns > 0)
        .map(|slice| slice.sent.messages.max(slice.received.messages) as f64 / slice.duration_ns as f64);
    Some(Part::Trend("over time", rates.collect()))
}
