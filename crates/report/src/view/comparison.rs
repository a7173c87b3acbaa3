//! A comparison: the sides, what differs between them, a row a figure, what could not be compared.

use super::model::{Line, Part};
use super::remarks::listed;
use crate::charts::Picture;
use crate::compare::words::{answer, of_ratios};
use crate::compare::{self, Comparison, Method, Side, Verdict};
use crate::figures::{figure_text, spoken};
use crate::labels::{Input, ratio};
use crate::table::{Column, Row, Table, Tone, key, number, text};
use crate::tags::HEADLINES;
use wirespeed_schema::Run;

/// Facts of the environment that are shown; the document has all.
const DIFFERENCES_MAX: usize = 12;
/// Cases without a partner that are named.
const NAMED_MAX: usize = 8;

/// What B is against A.
pub fn answers(input: &Input, _: &[Picture]) -> Vec<String> {
    input
        .run
        .sections
        .get::<Comparison>()
        .map(|found| answer(&found))
        .unwrap_or_default()
}

/// The sides, the environment, the rows.
pub fn parts(run: &Run) -> Vec<Part> {
    let Some(found) = run.sections.get::<Comparison>() else {
        return Vec::new();
    };
    let mut lines = sides(&found);
    lines.extend(environment(&found));
    // Units tell headlines apart, and of each case there is one.
    let mut labels: Vec<&str> = found.rows.iter().map(|row| row.label.as_str()).collect();
    labels.sort_unstable();
    labels.dedup();
    let are_headlines = found
        .rows
        .iter()
        .all(|row| HEADLINES.iter().any(|(tag, ..)| *tag == row.tag));
    let names_figures = labels.len() < found.rows.len() || !are_headlines;
    let rows = found.rows.iter().map(|row| {
        let figure = if names_figures {
            spoken(&row.tag)
        } else {
            String::new()
        };
        Row {
            cells: [vec![row.label.clone(), figure], cells(row)].concat(),
            tone: tone(row.verdict),
        }
    });
    let mut columns = vec![key("case"), key("figure")];
    columns.extend(figures("A", "B", "B/A"));
    let mut table = Table::new("", columns, rows.collect());
    table.notes.extend(of_ratios(found.method, "B/A", &found.rows));
    let mut parts = vec![Part::Lines(lines), Part::Table(table)];
    let lacking = lacking(&found);
    if !lacking.is_empty() {
        parts.push(Part::Lines(lacking));
    }
    parts
}

/// The columns of one figure on two sides.
pub(super) fn figures(a: &str, b: &str, quotient: &str) -> [Column; 6] {
    [
        number(a, 3),
        number(b, 3),
        number("runs", 5),
        number(quotient, 0),
        text("interval", 1),
        text("verdict", 0),
    ]
}

/// Its cells.
pub(super) fn cells(row: &compare::Row) -> Vec<String> {
    let interval = row.lower.zip(row.upper);
    let disturbed = if row.withheld.is_empty() {
        ""
    } else {
        " (disturbed)"
    };
    vec![
        figure_text(&row.tag, row.a.get()),
        figure_text(&row.tag, row.b.get()),
        match row.a_runs == row.b_runs {
            true => row.a_runs.to_string(),
            false => format!("{}/{}", row.a_runs, row.b_runs),
        },
        ratio(row.ratio.get()),
        interval.map_or(String::new(), |(lower, upper)| {
            format!("[{}, {}]", ratio(lower.get()), ratio(upper.get()))
        }),
        format!("{}{disturbed}", row.verdict.name()),
    ]
}

/// How a row with this verdict is to be read.
pub(super) fn tone(verdict: Verdict) -> Option<Tone> {
    match verdict {
        Verdict::Slower => Some(Tone::Bad),
        Verdict::Inconclusive => Some(Tone::Warning),
        Verdict::Faster | Verdict::Same => None,
    }
}

fn sides(comparison: &Comparison) -> Vec<Line> {
    let line = |letter: &str, side: &Side| {
        let when = match (comparison.method, &side.imported) {
            (Method::Paired, _) => String::new(),
            (Method::Unpaired, Some(tool)) => format!("  (from {tool}, time {})", side.started_at),
            (Method::Unpaired, None) => format!("  ({}, wirespeed {})", side.started_at, side.version),
        };
        Line::plain(format!("{letter}: {}{when}", side.name))
    };
    let mut lines = vec![line("A", &comparison.a), line("B", &comparison.b)];
    if comparison.control {
        lines.push(Line::plain(
            "control: both sides are the same, so every difference below is the machine's",
        ));
    }
    lines
}

fn environment(comparison: &Comparison) -> Vec<Line> {
    let differences = &comparison.environment;
    let untold = untold(comparison);
    let mut lines = match (differences.is_empty(), comparison.method) {
        (true, Method::Paired) => Vec::new(),
        (true, Method::Unpaired) if untold.is_none() => vec![Line::plain("environment: the same")],
        (true, Method::Unpaired) => Vec::new(),
        (false, _) => vec![Line::toned(
            Tone::Warning,
            "environment differs, which may explain the difference:",
        )],
    };
    lines.splice(0..0, untold);
    for difference in differences.iter().take(DIFFERENCES_MAX) {
        let said = |value: &Option<String>| value.clone().unwrap_or_else(|| "not stated".to_owned());
        let (a, b) = (said(&difference.a), said(&difference.b));
        lines.push(Line::plain(format!("  {}: {a} -> {b}", difference.name)));
    }
    if differences.len() > DIFFERENCES_MAX {
        let more = differences.len() - DIFFERENCES_MAX;
        lines.push(Line::plain(format!("  and {more} more, see --json")));
    }
    lines
}

/// The sides whose machine is not known, for the tool that measured them does not describe it.
fn untold(comparison: &Comparison) -> Option<Line> {
    let of = |letter: &str, side: &Side| Some(format!("{letter} (from {})", side.imported.as_ref()?));
    let sides = [of("A", &comparison.a), of("B", &comparison.b)];
    let sides: Vec<String> = sides.into_iter().flatten().collect();
    let text = format!("environment: not known of {}", sides.join(" and "));
    (!sides.is_empty()).then(|| Line::plain(text))
}

fn lacking(comparison: &Comparison) -> Vec<Line> {
    let mut lines = Vec::new();
    for ((_, why), cases) in comparison.missing().into_iter().zip(comparison.told()) {
        if !cases.is_empty() {
            let text = format!("{why}: {}", listed(&cases, NAMED_MAX));
            lines.push(Line::toned(Tone::Faint, text));
        }
    }
    lines
}
