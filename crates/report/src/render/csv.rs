//! CSV: strict RFC 4180, one row a case or a repetition; every row repeats all parameters, so that it stands alone.

use super::RenderError;
use crate::tags;
use std::fmt::Display;
use wirespeed_schema::Run;
use wirespeed_schema::case::{Case, Load, Stop};
use wirespeed_schema::run::{CaseResult, Metric, Repetition};
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
const PARAMETERS: [&str; 38] = [
    "document_version",
    "tool_version",
    "started_at",
    "case",
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
    let mut writer = ::csv::WriterBuilder::new()
        .terminator(::csv::Terminator::CRLF)
        .from_writer(Vec::new());
    writer.write_record(header()).map_err(failed)?;
    for (index, result) in run.cases.iter().enumerate() {
        if rows == CsvRows::Cases || result.repetitions.is_empty() {
            writer
                .write_record(record(run, index, result, None))
                .map_err(failed)?;
            continue;
        }
        for repetition in &result.repetitions {
            writer
                .write_record(record(run, index, result, Some(repetition)))
                .map_err(failed)?;
        }
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
    for tag in &tags::ALL {
        header.push(tag.name.to_owned());
        if tag.interval {
            header.push(tags::with_part(tag.name, "lower"));
            header.push(tags::with_part(tag.name, "upper"));
            header.push(tags::level_column(tag.name));
        }
    }
    header
}

fn record(run: &Run, index: usize, result: &CaseResult, repetition: Option<&Repetition>) -> Vec<String> {
    let metrics = repetition.map_or(&result.metrics, |repetition| &repetition.metrics);
    let mut record = identity(run, index, result, repetition);
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
    for tag in &tags::ALL {
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

fn identity(run: &Run, index: usize, result: &CaseResult, repetition: Option<&Repetition>) -> Vec<String> {
    let remarks: Vec<&str> = result.remarks.iter().map(|remark| remark.code.as_str()).collect();
    vec![
        run.document_version.clone(),
        run.tool.version.clone(),
        run.started_at.clone(),
        index.to_string(),
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
    let (iterations, duration_ns) = match case.stop {
        Stop::Iterations { count } => (Some(count), None),
        Stop::Duration { duration_ns } => (None, Some(duration_ns)),
    };
    let of_ranks =
        |text: &dyn Fn(usize) -> String| (0..case.ranks.len()).map(text).collect::<Vec<_>>().join(";");
    vec![
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
        word(&case.group),
        case.ranks.len().to_string(),
        of_ranks(&|rank| word(&case.ranks[rank].role)),
        of_ranks(&|rank| or_empty(case.ranks[rank].peer)),
        of_ranks(&|rank| or_empty(case.ranks[rank].cpu)),
        of_ranks(&|rank| load(&case.ranks[rank].load)),
        or_empty(iterations),
        or_empty(duration_ns),
        case.warmup_iterations.to_string(),
        case.warmup_ns_max.to_string(),
        case.check.to_string(),
        case.report_interval_ns.to_string(),
        case.raw_samples_max.to_string(),
        word(&case.idle),
    ]
}

/// Window in messages, outstanding operations, pace and fan-out, where the test has them.
fn flow_fields(test: &Test) -> (Option<u64>, Option<u64>, Option<u64>, Option<bool>) {
    match test {
        Test::AmBw(stream) | Test::AmBibw(stream) => {
            (Some(stream.window_msgs), None, stream.pace_msg_per_s, None)
        }
        Test::TagLat(tagged) | Test::TagBw(tagged) => (Some(tagged.window_msgs), None, None, None),
        Test::HubLat(hub) => (None, None, None, Some(hub.fan_out)),
        Test::AmLat(_) | Test::PutLat(_) => (None, None, None, None),
        other => (None, Some(other.window()), None, None),
    }
}

/// A rank's load in one field: `cpu_threads=2 memory_bytes=1048576`; empty for none.
fn load(load: &Load) -> String {
    let parts = [
        ("cpu_threads", u64::from(load.cpu_threads)),
        ("memory_bytes", load.memory_bytes),
        ("touch_bytes", load.touch_bytes),
        ("touch_once", u64::from(load.touch_once)),
        ("log_threads", u64::from(load.log_threads)),
    ];
    let set: Vec<String> = parts
        .iter()
        .filter(|(_, value)| *value > 0)
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    set.join(" ")
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
