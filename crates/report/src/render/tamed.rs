//! CSV, and fields of it that say what they say, whoever wrote them and whatever reads them. It must never change a figure.

use super::RenderError;
use super::style::clean;
use csv::{Terminator, Writer, WriterBuilder};
use std::fmt::Display;

/// CSV that is being written.
pub(crate) struct Rows(Writer<Vec<u8>>);

impl Rows {
    /// No row yet; each will end with `end`.
    pub fn new(end: Terminator) -> Rows {
        Rows(WriterBuilder::new().terminator(end).from_writer(Vec::new()))
    }

    /// A row as it stands, as long as the others.
    pub fn add(&mut self, row: &[String]) -> Result<(), RenderError> {
        self.0.write_record(row).map_err(failed)
    }

    /// All rows.
    pub fn text(self) -> Result<String, RenderError> {
        let bytes = self.0.into_inner().map_err(failed)?;
        String::from_utf8(bytes).map_err(failed)
    }
}

fn failed(error: impl Display) -> RenderError {
    RenderError::of("CSV", &error)
}

/// Fields that neither a terminal obeys nor a spreadsheet computes: text that begins as a formula does has an apostrophe before
/// it, which spreadsheets take for the mark of text.
pub(crate) fn tamed(fields: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    let tame = |field: &str| {
        let field = clean(&field.replace("\r\n", " ").replace(['\r', '\n', '\t'], " "));
        let (number, unit) = field.split_once(' ').unwrap_or((&field, ""));
        let is_figure =
            number.parse::<f64>().is_ok() && unit.chars().all(|c| c.is_alphanumeric() || "%/ ".contains(c));
        let is_formula = field.len() > 1 && field.starts_with(['=', '+', '-', '@']) && !is_figure;
        match is_formula {
            true => format!("'{field}"),
            false => field,
        }
    };
    fields.into_iter().map(|field| tame(field.as_ref())).collect()
}
