//! The quick result: every transport of the machine side by side, each with what it costs beside the transport before it.

use super::figures::{duration, rate};
use super::plot::{self, Axes, Series};
use super::style::{Style, Tone, clean, wrap};
use super::{grid, table};
use serde::{Deserialize, Serialize};
use wirespeed_schema::Run;
use wirespeed_schema::Test;
use wirespeed_schema::run::{CaseResult, Metric};
use wirespeed_schema::units::{format_rate, format_size, significant};

/// A transport of the quick result, in the order of the table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuickTransport {
    /// Name of the transport; its cases are those of the run with this transport.
    pub transport: String,
    /// What it is for people: `two threads, lock-free queue`.
    pub title: String,
    /// Why it was not measured; absent when it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
}

/// `Run::sections["quick"]`. Without it the transports are those of the cases in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuickSection {
    /// The transports; documents call them by the name that they had first.
    #[serde(rename = "roads")]
    pub transports: Vec<QuickTransport>,
    /// Last lines: the document that was written, what to try next.
    pub next: Vec<String>,
}

impl QuickSection {
    /// The name of the section in [`Run::sections`].
    pub const NAME: &str = "quick";

    /// The section of `run`, or the transports that its cases show.
    pub fn of(run: &Run) -> QuickSection {
        let stored = run
            .sections
            .get(Self::NAME)
            .and_then(|value| QuickSection::deserialize(value).ok());
        stored.unwrap_or_else(|| {
            let mut transports: Vec<QuickTransport> = Vec::new();
            for result in &run.cases {
                if transports
                    .iter()
                    .all(|row| row.transport != result.case.transport)
                {
                    transports.push(QuickTransport {
                        transport: result.case.transport.clone(),
                        ..QuickTransport::default()
                    });
                }
            }
            QuickSection {
                transports,
                next: Vec::new(),
            }
        })
    }
}

/// The quick result: a table of transports, a plot of bandwidth against size, trust line, remarks, what to try next.
///
/// Latency is the round trip of the smallest messages; the message rate that of the smallest streamed size; bandwidth
/// the best of all sizes.
pub fn quick(run: &Run, style: &Style) -> String {
    let section = QuickSection::of(run);
    let mut lines = table_of(run, &section, style);
    lines.extend(unavailable(run, &section, style));
    lines.extend(bandwidth_plot(run, &section, style));
    if let Some(trust) = table::trust_line(&run.cases) {
        lines.push(style.paint(Tone::Faint, &wrap(&trust, style.width, 2)));
    }
    lines.extend(table::remark_lines(&table::all_remarks(run), style));
    lines.extend(table::run_end(run, style));
    lines.extend(section.next.iter().map(|line| wrap(&clean(line), style.width, 2)));
    table::finish(lines, style)
}

const COLUMNS: [grid::Column; 9] = [
    grid::text("transport", 0),
    grid::text("what it is", 4),
    grid::number("RTT p50", 0),
    grid::number("p99", 1),
    grid::number("max", 2),
    grid::number("cost", 1),
    grid::number("messages", 0),
    grid::number("bandwidth", 0),
    grid::number("at size", 3),
];

fn table_of(run: &Run, section: &QuickSection, style: &Style) -> Vec<String> {
    let mut rows = Vec::new();
    let mut before: Option<f64> = None;
    for row in section.transports.iter().filter(|row| row.unavailable.is_none()) {
        let latency = latency_case(run, &row.transport);
        let metric = |tag: &str| latency.and_then(|result| result.metrics.get(tag));
        let median = metric("rtt_p50_ns").map(|metric| metric.value.get());
        let cost = before
            .filter(|&before| before > 0.0)
            .zip(median)
            .map(|(before, median)| median / before);
        let best = best_bandwidth(run, &row.transport);
        if latency.is_none() && best.is_none() {
            continue;
        }
        rows.push(vec![
            clean(&row.transport),
            clean(&row.title),
            duration(metric("rtt_p50_ns")),
            duration(metric("rtt_p99_ns")),
            duration(metric("rtt_max_ns")),
            cost.map(|cost| format!("x{}", significant(cost, 2)))
                .unwrap_or_default(),
            rate(message_rate(run, &row.transport), "msg/s"),
            best.map(|(_, bandwidth)| format_rate(bandwidth, "B/s"))
                .unwrap_or_default(),
            best.map(|(size, _)| format_size(size)).unwrap_or_default(),
        ]);
        before = median.or(before);
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let (mut lines, _) = grid::render(&COLUMNS, &rows, style.width);
    lines[0] = style.paint(Tone::Strong, &lines[0]);
    lines.push(style.paint(
        Tone::Faint,
        &wrap(
            "RTT: there and back; one way is about half. cost: RTT p50 relative to the row above. \
             kB, MB, GB are powers of ten.",
            style.width,
            2,
        ),
    ));
    lines.push(String::new());
    lines
}

/// Transports that were not measured, and why: as the section says, or as their cases do.
fn unavailable(run: &Run, section: &QuickSection, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    for row in &section.transports {
        let measured = cases_of(run, &row.transport).any(|result| !result.metrics.is_empty());
        let reason = row.unavailable.clone().or_else(|| {
            let failed = cases_of(run, &row.transport).find_map(|result| result.error.clone());
            failed.filter(|_| !measured)
        });
        if let Some(reason) = reason {
            let text = format!("{}: not measured: {}", clean(&row.transport), clean(&reason));
            lines.push(style.paint(Tone::Faint, &wrap(&text, style.width, 2)));
        }
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

fn bandwidth_plot(run: &Run, section: &QuickSection, style: &Style) -> Vec<String> {
    let series: Vec<Series> = section
        .transports
        .iter()
        .map(|row| Series {
            label: clean(&row.transport),
            points: stream_points(run, &row.transport)
                .into_iter()
                .map(|(size, value)| (size as f64, value))
                .collect(),
        })
        .filter(|series| series.points.len() > 1)
        .collect();
    let axes = Axes {
        title: "bandwidth against message size (both axes logarithmic)",
        x_text: |value| format_size(value.round() as u64),
        y_text: |value| format_rate(value, "B/s"),
    };
    let mut lines = plot::log_log(&series, &axes, style);
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

fn cases_of<'a>(run: &'a Run, transport: &'a str) -> impl Iterator<Item = &'a CaseResult> {
    run.cases
        .iter()
        .filter(move |result| result.case.transport == transport)
}

/// The measured round-trip case of the smallest size, messages before one-sided operations.
fn latency_case<'a>(run: &'a Run, transport: &'a str) -> Option<&'a CaseResult> {
    cases_of(run, transport)
        .filter(|result| result.metrics.contains_key("rtt_p50_ns"))
        .min_by_key(|result| {
            (
                !matches!(result.case.test, Test::AmLat(_)),
                result.case.test.size_bytes(),
            )
        })
}

/// Streams of active messages in one direction, or of puts where there are none.
fn streams<'a>(run: &'a Run, transport: &'a str) -> Vec<&'a CaseResult> {
    let of = |wanted: fn(&Test) -> bool| -> Vec<&CaseResult> {
        let streams = cases_of(run, transport).filter(|result| wanted(&result.case.test));
        streams
            .filter(|result| result.metrics.contains_key("bandwidth_bytes_per_s"))
            .collect()
    };
    let messages = of(|test| matches!(test, Test::AmBw(_)));
    match messages.is_empty() {
        true => of(|test| matches!(test, Test::PutBw(_))),
        false => messages,
    }
}

fn message_rate<'a>(run: &'a Run, transport: &'a str) -> Option<&'a Metric> {
    let smallest = streams(run, transport)
        .into_iter()
        .min_by_key(|result| result.case.test.size_bytes())?;
    smallest.metrics.get("rate_msg_per_s")
}

/// Size and bandwidth of every stream, by size; the best where a size was measured more than once.
fn stream_points(run: &Run, transport: &str) -> Vec<(u64, f64)> {
    let mut points: Vec<(u64, f64)> = Vec::new();
    for result in streams(run, transport) {
        let size = result.case.test.size_bytes();
        let Some(bandwidth) = result
            .metrics
            .get("bandwidth_bytes_per_s")
            .map(|metric| metric.value.get())
        else {
            continue;
        };
        match points.iter_mut().find(|(known, _)| *known == size) {
            Some((_, best)) => *best = best.max(bandwidth),
            None => points.push((size, bandwidth)),
        }
    }
    points.sort_by_key(|&(size, _)| size);
    points
}

fn best_bandwidth(run: &Run, transport: &str) -> Option<(u64, f64)> {
    stream_points(run, transport)
        .into_iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))
}
