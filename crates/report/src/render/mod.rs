//! Renderers: a Run document as text. They never compute a figure that the document does not hold.

use wirespeed_schema::Run;
use wirespeed_schema::run::{CaseResult, Event};

/// How text may look. The caller decides (terminal, NO_COLOR, locale); renderers only obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal.
    pub width: usize,
    /// ANSI colours allowed.
    pub color: bool,
    /// Characters beyond ASCII allowed (µ, ·, braille).
    pub unicode: bool,
}

/// What a CSV row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsvRows {
    /// One row a case, figures over all repetitions.
    Cases,
    /// One row a repetition.
    Repetitions,
}

/// How JSON is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonForm {
    /// Indented; arrays of numbers on one line.
    Pretty,
    /// One line.
    Compact,
}

/// A document could not be written as text.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the document as {form}: {reason}")]
pub struct RenderError {
    /// `JSON`, `CSV`, `HdrHistogram`.
    pub form: &'static str,
    /// Why.
    pub reason: String,
}

/// The human table of a run.
pub fn table(_run: &Run, _style: &Style) -> String {
    String::new()
}

/// One line on a finished case, for progress output.
pub fn case_line(_result: &CaseResult, _style: &Style) -> String {
    String::new()
}

/// The quick result: every road side by side.
pub fn quick(_run: &Run, _style: &Style) -> String {
    String::new()
}

/// CSV (RFC 4180) with a header.
pub fn csv(_run: &Run, _rows: CsvRows) -> Result<String, RenderError> {
    Ok(String::new())
}

/// The document as JSON, with a final newline.
pub fn json(_run: &Run, _form: JsonForm) -> Result<String, RenderError> {
    Ok(String::new())
}

/// One event as one line of NDJSON, newline included.
pub fn event_line(_event: &Event) -> Result<String, RenderError> {
    Ok(String::new())
}
