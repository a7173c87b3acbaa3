//! Renderers: a Run document as text. They never compute a figure that the document does not hold, and never print.

mod cases;
mod csv;
mod figures;
mod grid;
pub mod hdr;
mod json;
pub mod plot;
mod quick;
mod style;
mod table;

pub use csv::{CsvRows, csv};
pub use json::{JsonForm, event_line, json};
pub use quick::{QuickRoad, QuickSection, quick};
pub use style::Style;
pub use table::{case_line, table};

/// A document could not be written as text.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the document as {form}: {reason}")]
pub struct RenderError {
    /// `JSON`, `CSV`, `HdrHistogram`.
    pub form: &'static str,
    /// Why.
    pub reason: String,
}
