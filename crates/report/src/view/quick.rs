//! The quick result: every transport of the machine side by side, each with what it costs beside the fastest one.
//!
//! Latency is the round trip of the smallest messages; the message rate that of the smallest streamed size; bandwidth the
//! best of all sizes.

use super::model::Part;
use crate::assemble::is_unreached;
use crate::charts::Picture;
use crate::figures::{duration, rate, with_interval};
use crate::labels::Input;
use crate::standings::{ends, is_close};
use crate::table::{Row, Table, key, number};
use crate::wording::counted;
use serde::{Deserialize, Serialize};
use wirespeed_schema::Run;
use wirespeed_schema::host::Floor;
use wirespeed_schema::run::{CaseResult, Metric};
use wirespeed_schema::section::Section;
use wirespeed_schema::test::{Capability, Test};
use wirespeed_schema::units::{format_size, significant};

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
    /// Last lines: the document that was written.
    pub next: Vec<String>,
}

impl Section for QuickSection {
    const NAME: &'static str = "quick";
}

impl QuickSection {
    /// The section of `run`, or the transports that its cases show.
    pub fn of(run: &Run) -> QuickSection {
        let stored = run.sections.get();
        let stored = stored.filter(|section: &QuickSection| !section.transports.is_empty());
        stored.unwrap_or_else(|| {
            let mut transports: Vec<QuickTransport> = Vec::new();
            let cases = run.cases.iter();
            for result in cases.filter(|result| result.case.transport != Floor::TRANSPORT) {
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

/// The fastest transport for small messages, the one for many bytes, and what was not measured.
pub fn answers(input: &Input, _: &[Picture]) -> Vec<String> {
    let (run, section) = (input.run, QuickSection::of(input.run));
    let names = || section.transports.iter().map(|row| row.transport.as_str());
    let fastest = fastest(run, &section);
    let widest = names()
        .filter_map(|name| Some((name, best_bandwidth(run, name)?)))
        .max_by(|a, b| a.1.1.value.get().total_cmp(&b.1.1.value.get()));
    let mut said = Vec::new();
    if let Some((name, metric)) = fastest {
        let figure = with_interval("rtt_p50_ns", metric);
        let level = level(&section, (name, metric), |other| round_trip(run, other));
        // Between runs it may move by more than within one.
        let runs = latency_case(run, name).map_or(0, |case| case.repetitions.len());
        let certainty = certainty(runs <= 1, &level);
        said.push(format!("Shortest round trip: {name}, {figure}{certainty}."));
    }
    if let Some((name, (size, bandwidth))) = widest {
        let (figure, size) = (
            with_interval("bandwidth_bytes_per_s", bandwidth),
            format_size(size),
        );
        let level = level(&section, (name, bandwidth), |other| {
            Some(best_bandwidth(run, other)?.1)
        });
        // A rate within a run has no interval.
        let certainty = certainty(bandwidth.lower.is_none(), &level);
        said.push(format!(
            "Highest bandwidth: {name}, {figure} with messages of {size}{certainty}."
        ));
    }
    said.extend(unmeasured(run, &section));
    said
}

/// How far a best figure is to be trusted: whether it is of one run, and who else may have it.
fn certainty(is_one_run: bool, level: &[&str]) -> String {
    match (is_one_run, level) {
        (false, []) => String::new(),
        (true, []) => " (one run)".to_owned(),
        (false, level) => format!(" ({}: too close to call)", level.join(", ")),
        (true, level) => format!(" (one run; {}: too close to call)", level.join(", ")),
    }
}

/// The transport with the shortest median round trip, and that.
fn fastest<'a>(run: &'a Run, section: &'a QuickSection) -> Option<(&'a str, &'a Metric)> {
    let names = section.transports.iter().map(|row| row.transport.as_str());
    names
        .filter_map(|name| Some((name, round_trip(run, name)?)))
        .min_by(|a, b| a.1.value.get().total_cmp(&b.1.value.get()))
}

/// A transport's median round trip.
fn round_trip<'a>(run: &'a Run, transport: &'a str) -> Option<&'a Metric> {
    latency_case(run, transport)?.metrics.get("rtt_p50_ns")
}

/// The other transports whose figure, as `of` has it, cannot be told from the `best` one, which `name` has.
fn level<'a>(
    section: &'a QuickSection,
    (name, best): (&str, &Metric),
    of: impl Fn(&'a str) -> Option<&'a Metric>,
) -> Vec<&'a str> {
    let names = section.transports.iter().map(|row| row.transport.as_str());
    let others = names.filter(|other| *other != name);
    others
        .filter(|other| is_close(of(other).and_then(ends), ends(best)))
        .collect()
}

/// Begins the line that tells how to look closer.
const CLOSER: &str = "How sure is that?";

/// The last lines: those of the section, and how to look closer at the transport that the answer names. Documents of earlier
/// builds hold such a line, of their first transport.
pub fn next(run: &Run) -> Vec<String> {
    let section = QuickSection::of(run);
    let closer = fastest(run, &section)
        .map(|(via, _)| format!("{CLOSER} wirespeed run latency --via {via} --repeats 10"));
    let stored = section.next.iter().filter(|line| !line.starts_with(CLOSER));
    stored.cloned().chain(closer).collect()
}

/// The table of the transports that were measured.
pub fn parts(run: &Run) -> Vec<Part> {
    let table = table_of(run, &QuickSection::of(run));
    table.map(Part::Table).into_iter().collect()
}

fn table_of(run: &Run, section: &QuickSection) -> Option<Table> {
    let columns = vec![
        key("transport"),
        number("RTT p50", 0),
        number("p99", 1),
        number("max", 2),
        number("cost", 1),
        number("messages", 0),
        number("bandwidth", 0),
    ];
    let median = |name: &str| {
        let median = latency_case(run, name)?.figure("rtt_p50_ns");
        median.filter(|median| *median > 0.0)
    };
    let measured = || section.transports.iter().filter(|row| row.unavailable.is_none());
    let fastest = measured()
        .filter_map(|row| median(&row.transport))
        .reduce(f64::min);
    let mut rows: Vec<Row> = Vec::new();
    for row in measured() {
        let latency = latency_case(run, &row.transport);
        let metric = |tag: &str| latency.and_then(|result| result.metrics.get(tag));
        let best = best_bandwidth(run, &row.transport);
        if latency.is_none() && best.is_none() {
            continue;
        }
        let cost = median(&row.transport)
            .zip(fastest)
            .map(|(median, fastest)| median / fastest);
        let widest = |(size, bandwidth)| format!("{} at {}", rate(Some(bandwidth), "B/s"), format_size(size));
        let cells = vec![
            row.transport.clone(),
            duration(metric("rtt_p50_ns")),
            duration(metric("rtt_p99_ns")),
            duration(metric("rtt_max_ns")),
            cost.map(|cost| format!("x{}", significant(cost, 2)))
                .unwrap_or_default(),
            rate(message_rate(run, &row.transport), "/s"),
            best.map(widest).unwrap_or_default(),
        ];
        rows.push(cells.into());
    }
    let note = "RTT: there and back; cost: RTT p50 relative to the shortest";
    (!rows.is_empty()).then(|| Table::new("", columns, rows).noted(note))
}

/// What was not measured, a sentence a reason: whole transports by name, then cases of the others by their number, of
/// as many as the others have.
fn unmeasured(run: &Run, section: &QuickSection) -> Vec<String> {
    let is_measured = |name: &str| cases_of(run, name).any(|result| !result.metrics.is_empty());
    let mut whole: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut single: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in &section.transports {
        let name = row.transport.as_str();
        // Which the end of the run left unmeasured is said of any run.
        let without = cases_of(run, name).filter(|result| result.metrics.is_empty() && !is_unreached(result));
        let reasons = without.filter_map(|result| result.error.as_deref());
        match (row.unavailable.as_deref(), is_measured(name)) {
            (Some(why), _) => filed(&mut whole, why, name),
            (None, false) => reasons.take(1).for_each(|why| filed(&mut whole, why, name)),
            (None, true) => reasons.for_each(|why| filed(&mut single, why, name)),
        }
    }
    let transports = whole
        .iter()
        .map(|(why, names)| format!("Not measured: {} ({}).", names.join(", "), ended(why)));
    // The floor's, too, as whatever else counts the cases does.
    let without: usize = whole
        .iter()
        .flat_map(|(_, names)| names)
        .map(|name| cases_of(run, name).count())
        .sum();
    let total = run.cases.len() - without;
    let of = if whole.is_empty() { "" } else { " of the others" };
    let cases = single.iter().map(|(why, names)| {
        let count = names.len();
        let total = counted(total as u64, "case");
        format!("{count} of {total}{of} not measured: {}.", ended(why))
    });
    transports.chain(cases).collect()
}

/// Put `name` to those that have the same reason.
fn filed<'a>(reasons: &mut Vec<(&'a str, Vec<&'a str>)>, why: &'a str, name: &'a str) {
    match reasons.iter_mut().find(|(known, _)| *known == why) {
        Some((_, names)) => names.push(name),
        None => reasons.push((why, vec![name])),
    }
}

/// A reason without the stop that the sentence has of its own.
fn ended(why: &str) -> &str {
    why.trim_end_matches('.')
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
        .min_by_key(|result| (!is_of_messages(&result.case.test), result.case.test.size_bytes()))
}

fn is_of_messages(test: &Test) -> bool {
    matches!(test.capability(), Capability::Messages | Capability::Tagged)
}

/// Streams of messages in one direction, or of puts where there are none.
fn streams<'a>(run: &'a Run, transport: &'a str) -> Vec<&'a CaseResult> {
    let of = |wanted: fn(&Test) -> bool| -> Vec<&CaseResult> {
        let streams = cases_of(run, transport).filter(|result| wanted(&result.case.test));
        streams
            .filter(|result| result.metrics.contains_key("bandwidth_bytes_per_s"))
            .collect()
    };
    let messages = of(is_of_messages);
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

/// The size of the widest stream, and its bandwidth.
fn best_bandwidth<'a>(run: &'a Run, transport: &'a str) -> Option<(u64, &'a Metric)> {
    streams(run, transport)
        .into_iter()
        .filter_map(|result| {
            let bandwidth = result.metrics.get("bandwidth_bytes_per_s")?;
            Some((result.case.test.size_bytes(), bandwidth))
        })
        .max_by(|a, b| a.1.value.get().total_cmp(&b.1.value.get()))
}
