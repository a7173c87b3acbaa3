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
        let judged = found.rows.iter().map(|one| &one.row);
        table.notes.extend(of_ratios(Method::Paired, "on/off", judged));
        parts.push(Part::Table(table));
    }
    if !lines.is_empty() {
        parts.push(Part::Lines(lines));
    }
    parts
}
