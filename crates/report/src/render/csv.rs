//! CSV: strict RFC 4180, one row a case or a repetition; every row repeats all parameters, so that it stands alone.

use super::RenderError;
use crate::perftest::{PerftestLine, PerftestSection};
use crate::tags;
use crate::wording::load_text;
use std::fmt::Display;
use wirespeed_schema::Run;
use wirespeed_schema::case::{Case, Stop};
use wirespeed_schema::run::{CaseResult, CaseStatus, Metric, Repetition};
use wirespeed_schema::test::Test;

/// What a CSV row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsvRows {
    /// One row a case, figures over all repetitions.
    Cases,
    /// One row a repetition; cases that were not measured have one row.
    Repetitions,
}

/// Columns before the figures.
const PARAMETERS: &[&str] = &[
    "document_version",
    "tool_version",
    "started_at",
    "case",
    "name",
    "repetition",
    "repetitions",
    "status",
    "error",
    "remarks",
    "transport",
    "options",
    "test",
    "layout",
    "size_bytes",
    "window_msgs",
    "outstanding_ops",
    "pace_msg_per_s",
    "fan_out",
    "reply_bytes",
    "pattern",
    "grid",
    "neighbours",
    "stride",
    "cache_state",
    "cache_bytes",
    "buffers",
    "group",
    "ranks",
    "roles",
    "peers",
    "cpus",
    "loads",
    "stop_iterations",
    "stop_duration_ns",
    "warmup_iterations",
    "warmup_ns_max",
    "check",
    "report_interval_ns",
    "raw_samples_max",
    "idle",
    "overlapping_sessions",
    "kernel",
    "architecture",
    "cpu_model",
    "clock_source",
    "samples",
];

/// CSV with a header, in a fixed order of columns: the parameters, then every figure of [`tags::ALL`], those with an
/// interval followed by its lower end, upper end and level. An empty field means that there is no such figure.
pub fn csv(run: &Run, rows: CsvRows) -> Result<String, RenderError> {
    // At offered rates the figures are those of cases: response times, percentiles.
    let offered = run.cases.iter().any(|case| case.case.test.pace_per_s().is_some());
    if let Some(section) = crate::byteio::section(run).filter(|_| !offered) {
        return super::byteio::csv(&section);
    }
    let mut writer = ::csv::WriterBuilder::new()
        .terminator(::csv::Terminator::CRLF)
        .from_writer(Vec::new());
    writer.write_record(header()).map_err(failed)?;
    let section = PerftestSection::of(run).unwrap_or_default();
    for (index, result) in run.cases.iter().enumerate() {
        let name = section.label_of(index).unwrap_or_default();
        if rows == CsvRows::Cases || result.repetitions.is_empty() {
            writer
                .write_record(record(run, (index, &name), result, None))
                .map_err(failed)?;
            continue;
        }
        for repetition in &result.repetitions {
            writer
                .write_record(record(run, (index, &name), result, Some(repetition)))
                .map_err(failed)?;
        }
    }
    for line in section.lines.iter().filter(|line| line.case.is_none()) {
        writer.write_record(unplanned(run, line)).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(failed)?;
    String::from_utf8(bytes).map_err(failed)
}

fn failed(error: impl Display) -> RenderError {
    RenderError {
        form: "CSV",
        reason: error.to_string(),
    }
}

fn header() -> Vec<String> {
    let mut header: Vec<String> = PARAMETERS.iter().map(|name| (*name).to_owned()).collect();
    for tag in tags::ALL {
        header.push(tag.name.to_owned());
        if tag.interval {
            header.push(tags::with_part(tag.name, "lower"));
            header.push(tags::with_part(tag.name, "upper"));
            header.push(tags::level_column(tag.name));
        }
    }
    header
}

/// The row of a test that is no case: its name, and why.
fn unplanned(run: &Run, line: &PerftestLine) -> Vec<String> {
    let (status, why) = match (&line.failed, &line.skipped) {
        (Some(why), _) => (CaseStatus::Failed, why.as_str()),
        (None, Some(why)) => (CaseStatus::Skipped, why.as_str()),
        (None, None) => (CaseStatus::Skipped, "the run ended before it"),
    };
    let known = [
        ("document_version", run.document_version.clone()),
        ("tool_version", run.tool.version.clone()),
        ("started_at", run.started_at.clone()),
        ("name", line.label()),
        ("status", word(&status)),
        ("error", why.to_owned()),
    ];
    let value = |column: &String| known.iter().find(|(name, _)| name == column);
    header()
        .iter()
        .map(|column| value(column).map(|(_, text)| text.clone()).unwrap_or_default())
        .collect()
}

fn record(run: &Run, at: (usize, &str), result: &CaseResult, repetition: Option<&Repetition>) -> Vec<String> {
    let metrics = repetition.map_or(&result.metrics, |repetition| &repetition.metrics);
    let mut record = identity(run, at, result, repetition);
    record.extend(case_fields(&result.case));
    let shown: Vec<&Repetition> =
        repetition.map_or_else(|| result.repetitions.iter().collect(), |one| vec![one]);
    let overlapping = shown
        .iter()
        .map(|repetition| repetition.overlapping_sessions)
        .max();
    record.push(or_empty(overlapping));
    record.push(run.host.kernel.clone());
    record.push(run.host.architecture.clone());
    record.push(run.host.cpu_model.clone().unwrap_or_default());
    let outcome = shown.iter().flat_map(|repetition| &repetition.outcomes).next();
    record.push(
        outcome
            .map(|outcome| outcome.clock.source.clone())
            .unwrap_or_default(),
    );
    let headline = tags::HEADLINES.iter().find_map(|(tag, _, _)| metrics.get(*tag));
    record.push(or_empty(headline.map(|metric| metric.samples)));
    for tag in tags::ALL {
        let metric = metrics.get(tag.name);
        record.push(or_empty(metric.map(|metric| metric.value.get())));
        if tag.interval {
            let part = |part: fn(&Metric) -> Option<wirespeed_schema::Finite>| {
                or_empty(metric.and_then(part).map(|value| value.get()))
            };
            record.extend([part(|m| m.lower), part(|m| m.upper), part(|m| m.level)]);
        }
    }
    record
}

fn identity(
    run: &Run,
    (index, name): (usize, &str),
    result: &CaseResult,
    repetition: Option<&Repetition>,
) -> Vec<String> {
    let remarks: Vec<&str> = result.remarks.iter().map(|remark| remark.code.as_str()).collect();
    vec![
        run.document_version.clone(),
        run.tool.version.clone(),
        run.started_at.clone(),
        index.to_string(),
        name.to_owned(),
        or_empty(repetition.map(|repetition| repetition.index)),
        result.repetitions.len().to_string(),
        word(&result.status),
        result.error.clone().unwrap_or_default(),
        remarks.join(";"),
    ]
}

fn case_fields(case: &Case) -> Vec<String> {
    let options: Vec<String> = case
        .options
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let (window, outstanding, pace, fan_out) = flow_fields(&case.test);
    let reply_bytes = match &case.test {
        Test::HubLat(hub) => Some(hub.reply()),
        _ => None,
    };
    let (iterations, duration_ns) = match case.stop {
        Stop::Iterations { count } => (Some(count), None),
        Stop::Duration { duration_ns } => (None, Some(duration_ns)),
    };
    let of_ranks =
        |text: &dyn Fn(usize) -> String| (0..case.ranks.len()).map(text).collect::<Vec<_>>().join(";");
    let mut fields = vec![
        case.transport.clone(),
        options.join(";"),
        case.test.name().to_owned(),
        case.test
            .layout()
            .map(|layout| layout.name().to_owned())
            .unwrap_or_default(),
        case.test.size_bytes().to_string(),
        or_empty(window),
        or_empty(outstanding),
        or_empty(pace),
        or_empty(fan_out),
        or_empty(reply_bytes),
    ];
    fields.extend(posted_fields(&case.test));
    fields.extend([
        word(&case.group),
        case.ranks.len().to_string(),
        of_ranks(&|rank| word(&case.ranks[rank].role)),
        of_ranks(&|rank| or_empty(case.ranks[rank].peer)),
        of_ranks(&|rank| or_empty(case.ranks[rank].cpu)),
        of_ranks(&|rank| load_text(&case.ranks[rank].load)),
        or_empty(iterations),
        or_empty(duration_ns),
        case.warmup_iterations.to_string(),
        case.warmup_ns_max.to_string(),
        case.check.to_string(),
        case.report_interval_ns.to_string(),
        case.raw_samples_max.to_string(),
        word(&case.idle),
    ]);
    fields
}

/// Pattern, arrangement, neighbours, stride, cache state and its memory, reuse of buffers, where the test has them.
fn posted_fields(test: &Test) -> [String; 7] {
    match test {
        Test::Msgrate(test) => [
            test.pattern.name().to_owned(),
            test.grid.name().to_owned(),
            test.peers.to_string(),
            test.stride_ranks.to_string(),
            test.cache_state.name().to_owned(),
            test.cache_bytes.to_string(),
            String::new(),
        ],
        other => {
            let mut fields = <[String; 7]>::default();
            fields[6] = other.defined().map_or("", |test| test.buffers.name()).to_owned();
            fields
        }
    }
}

/// Window in messages, outstanding operations, pace and fan-out, where the test has them.
fn flow_fields(test: &Test) -> (Option<u64>, Option<u64>, Option<f64>, Option<bool>) {
    match test {
        Test::AmBw(stream) | Test::AmBibw(stream) | Test::AmAlltoall(stream) => {
            (Some(stream.window_msgs), None, test.pace_per_s(), None)
        }
        Test::TagLat(tagged) | Test::TagBw(tagged) => (Some(tagged.window_msgs), None, None, None),
        Test::HubLat(hub) => (None, None, None, Some(hub.fan_out)),
        Test::AmLat(_) | Test::PutLat(_) => (None, None, None, None),
        posted if posted.is_posted() => (Some(posted.window()), None, None, None),
        other => (None, Some(other.window()), other.pace_per_s(), None),
    }
}

fn or_empty(value: Option<impl Display>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A value of an enumeration as it stands in the JSON document.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}
