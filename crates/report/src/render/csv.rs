//! CSV: strict RFC 4180, one row a case or a repetition, of a mesh one row a pair; every row repeats all parameters, so that it stands alone.

use super::RenderError;
use super::tamed::{Rows, tamed};
use crate::assemble::UNREACHED;
use crate::perftest::{PerftestLine, PerftestSection};
use crate::tags;
use crate::wording::load_text;
use std::fmt::Display;
use wirespeed_schema::Run;
use wirespeed_schema::byteio::ByteioSection;
use wirespeed_schema::case::Stop;
use wirespeed_schema::mesh::MeshSection;
use wirespeed_schema::parameter::{Parameter, Section};
use wirespeed_schema::plan;
use wirespeed_schema::run::{CaseResult, CaseStatus, Metric, Repetition};

/// What a CSV row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsvRows {
    /// One row a case, figures over all repetitions.
    Cases,
    /// One row a repetition; cases that were not measured have one row.
    Repetitions,
}

/// Columns before the parameters of the test.
const IDENTITY: &[&str] = &[
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
];

/// Columns between the parameters of the test and the figures.
const RUN: &[&str] = &[
    "group",
    "to",
    "ranks",
    "roles",
    "peers",
    "cpus",
    "loads",
    "under",
    "arm",
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
    if let Some(section) = run.sections.get::<MeshSection>() {
        return super::mesh::pairs(run, &section);
    }
    // At offered rates the figures are those of cases: response times, percentiles.
    let offered = run.cases.iter().any(|case| case.case.test.pace_per_s().is_some());
    if let Some(section) = run.sections.get::<ByteioSection>().filter(|_| !offered) {
        return super::bulk::csv(&section);
    }
    let mut text = Rows::new(::csv::Terminator::CRLF);
    text.add(&header())?;
    let section = run.sections.get::<PerftestSection>().unwrap_or_default();
    for (index, result) in run.cases.iter().enumerate() {
        let name = section.label_of(index).unwrap_or_default();
        let whole = rows == CsvRows::Cases || result.repetitions.is_empty();
        let parts = result.repetitions.iter().filter(|_| !whole).map(Some);
        for part in whole.then_some(None).into_iter().chain(parts) {
            text.add(&tamed(record(run, (index, &name), result, part)))?;
        }
    }
    for line in section.lines.iter().filter(|line| line.case.is_none()) {
        text.add(&tamed(unplanned(run, line)))?;
    }
    text.text()
}

/// Parameters of tests with a column of their own, in the order of help.
fn columns() -> impl Iterator<Item = &'static Parameter> {
    let of = |section| plan::parameters().filter(move |parameter| parameter.section == section);
    let sections = Section::ALL.into_iter().flat_map(of);
    sections.filter(|parameter| !parameter.column.is_empty())
}

fn header() -> Vec<String> {
    let parameters = columns().map(|parameter| parameter.column);
    let names = IDENTITY
        .iter()
        .copied()
        .chain(parameters)
        .chain(RUN.iter().copied());
    let mut header: Vec<String> = names.map(str::to_owned).collect();
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
        (None, None) => (CaseStatus::Skipped, UNREACHED),
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
    record.extend(case_fields(result));
    let shown: Vec<&Repetition> =
        repetition.map_or_else(|| result.repetitions.iter().collect(), |one| vec![one]);
    record.push(idle_of(&shown));
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

fn case_fields(result: &CaseResult) -> Vec<String> {
    let case = &result.case;
    let options: Vec<String> = case
        .options
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let values = case.test.values();
    let value = |parameter: &Parameter| {
        let found = values.iter().find(|(known, _)| known.key == parameter.key);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
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
    ];
    fields.extend(columns().map(value));
    fields.extend([
        word(&case.group),
        case.to.clone().unwrap_or_default(),
        case.ranks.len().to_string(),
        of_ranks(&|rank| word(&case.ranks[rank].role)),
        of_ranks(&|rank| or_empty(case.ranks[rank].peer)),
        of_ranks(&|rank| or_empty(case.ranks[rank].cpu)),
        of_ranks(&|rank| load_text(&case.ranks[rank].load)),
        result.under.clone().unwrap_or_default(),
        result.arm.clone().unwrap_or_default(),
        or_empty(iterations),
        or_empty(duration_ns),
        case.warmup_iterations.to_string(),
        case.warmup_ns_max.to_string(),
        case.check.to_string(),
        case.report_interval_ns.to_string(),
        case.raw_samples_max.to_string(),
    ]);
    fields
}

/// What polling ranks did between two polls: one word, or one a rank where they differ; empty where nothing was measured.
fn idle_of(shown: &[&Repetition]) -> String {
    let outcomes = shown.first().map_or(&[][..], |first| &first.outcomes);
    let mut words: Vec<&str> = outcomes.iter().map(|outcome| outcome.idle.name()).collect();
    if words.iter().all(|word| *word == words[0]) {
        words.truncate(1);
    }
    words.join(";")
}

fn or_empty(value: Option<impl Display>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A value of an enumeration as it stands in the JSON document.
pub(super) fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}
