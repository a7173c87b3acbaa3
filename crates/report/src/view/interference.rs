//! What background load did: a row a figure, and what the loads got done.

use super::comparison::{cells, figures, tone};
use super::model::{Line, Part};
use crate::compare::Method;
use crate::compare::words::of_ratios;
use crate::figures::spoken;
use crate::interference::Interference;
use crate::interference::words::{load_name, work_line};
use crate::table::{Row, Table, Tone, key};
use wirespeed_schema::Run;
use wirespeed_schema::case::Place;

/// The rows and the work of the loads; nothing where none was asked for.
pub fn parts(run: &Run) -> Vec<Part> {
    let Some(found) = run.sections.get::<Interference>() else {
        return Vec::new();
    };
    let rows: Vec<Row> = found
        .rows
        .iter()
        .map(|one| {
            let names = vec![
                one.row.label.clone(),
                load_name(&one.loaded),
                spoken(&one.row.tag),
            ];
            Row {
                cells: [names, cells(&one.row)].concat(),
                tone: tone(one.row.verdict),
            }
        })
        .collect();
    let mut columns = vec![key("case"), key("load"), key("figure")];
    columns.extend(figures("off", "on", "on/off"));
    let mut lines: Vec<Line> = found
        .work
        .iter()
        .map(|work| Line::plain(work_line(work)))
        .collect();
    let missing = found.missing.iter();
    lines.extend(missing.map(|text| Line::toned(Tone::Warning, text)));
    let mut parts = Vec::new();
    if !rows.is_empty() {
        let mut table = Table::new("", columns, rows);
        table.notes.extend(places(&found));
        let judged = found.rows.iter().map(|one| &one.row);
        table.notes.extend(of_ratios(Method::Paired, "on/off", judged));
        parts.push(Part::Table(table));
    }
    if !lines.is_empty() {
        parts.push(Part::Lines(lines));
    }
    parts
}

/// Where the loads of the rows ran.
fn places(found: &Interference) -> Option<String> {
    let words = |place: Place| match place {
        Place::Beside => "any CPU but the rank's own",
        Place::Apart => "cores that no rank measures on",
        Place::Sibling => "the other hardware threads of the ranks' cores",
        Place::Same => "the ranks' own CPUs",
    };
    let told = Place::ALL.into_iter().filter_map(|place| {
        let at = format!("@{}", place.name());
        let mut rows = found.rows.iter();
        rows.any(|one| load_name(&one.loaded).ends_with(&at))
            .then(|| format!("{at}: {}", words(place)))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join("; "))
}
