//! Sweeps and load curves: what the curve says, and the points that it says it of.

use super::model::{Line, Part};
use super::{cases, headline};
use crate::charts::{Picture, probe_words};
use crate::curve::load_words;
use crate::curve::section::{LoadSection, SweepSection, load_missing, load_point, load_rows};
use crate::interference::undisturbed;
use crate::labels::Input;
use crate::table::{Row, Table, Tone, key_number, number, text};
use wirespeed_schema::Run;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::{format_ns, format_rate};

/// What a sweep over LogGP without parameters lacks.
const NO_LOGGP: &str = "No parameters of LogGP: they need three sizes at which the larger window took longer than one \
                        message. Measure longer (--duration behind the --), more often (--repeats), or on a quieter machine.";

/// What the curves answer; where there are too few points for one, the headlines of the cases.
pub fn sweep_answers(input: &Input, charts: &[Picture]) -> Vec<String> {
    let curves = charts.iter().filter(|picture| picture.is_curve);
    let mut said: Vec<String> = curves.flat_map(|picture| picture.answer.clone()).collect();
    let section = input.run.sections.get::<SweepSection>().unwrap_or_default();
    if section.over == "loggp" && !charts.iter().any(|picture| picture.is_loggp) {
        said.push(NO_LOGGP.to_owned());
    }
    match said.is_empty() {
        true => headline::answers(input, charts),
        false => said,
    }
}

/// The cases, and what was probed.
pub fn sweep_parts(run: &Run) -> Vec<Part> {
    let found = undisturbed(run);
    let mut parts: Vec<Part> = cases::tables(found.iter()).into_iter().map(Part::Table).collect();
    let section = run.sections.get::<SweepSection>().unwrap_or_default();
    let probes: Vec<Line> = section
        .probes
        .iter()
        .map(|probe| match probe.confirmed {
            true => Line::toned(Tone::Strong, probe_words(probe)),
            false => Line::toned(Tone::Faint, probe_words(probe)),
        })
        .collect();
    if !probes.is_empty() {
        parts.push(Part::Lines(probes));
    }
    parts
}

/// What can be offered.
pub fn load_answers(input: &Input, _: &[Picture]) -> Vec<String> {
    let section = input.run.sections.get::<LoadSection>().unwrap_or_default();
    let found = undisturbed(input.run);
    let rows = load_rows(&found);
    let Some(case) = found.iter().find(|case| load_point(case).is_some()) else {
        return Vec::new();
    };
    let mut words = load_words(&section, &rows, load_missing(&found));
    if let Some(first) = words.first_mut() {
        *first = format!("{}, offered at fixed rates: {first}", case.case.label());
    }
    words
}

/// Offered and achieved rates, service and response times.
pub fn load_parts(run: &Run) -> Vec<Part> {
    let section = run.sections.get::<LoadSection>().unwrap_or_default();
    let columns = vec![
        key_number("offered"),
        number("achieved", 0),
        number("service p50", 3),
        number("service p99", 4),
        number("response p50", 1),
        number("response p99", 0),
        number("response max", 2),
        text("verdict", 0),
    ];
    let found = undisturbed(run);
    let rows: Vec<Row> = found.iter().filter_map(|case| load_row(case, &section)).collect();
    match rows.is_empty() {
        true => Vec::new(),
        false => vec![Part::Table(Table::new("", columns, rows))],
    }
}

fn load_row(case: &CaseResult, section: &LoadSection) -> Option<Row> {
    let point = load_point(case)?;
    let (unit, service) = (section.offers.unit(), section.offers.service());
    let time = |tag: &str| case.figure(tag).map_or(String::new(), format_ns);
    let (standing, tone) = match point.is_carried() {
        Some(true) => ("", None),
        Some(false) => ("saturated", Some(Tone::Warning)),
        None => ("not told", None),
    };
    Some(Row {
        cells: vec![
            format_rate(point.offered_per_s, unit),
            format_rate(point.achieved_per_s, unit),
            time(&format!("{service}_p50_ns")),
            time(&format!("{service}_p99_ns")),
            time("response_p50_ns"),
            time("response_p99_ns"),
            time("response_max_ns"),
            standing.to_owned(),
        ],
        tone,
    })
}
