//! Renderers: a Run document as text. They never compute a figure that the document does not hold, and never print.

pub mod byteio;
mod cases;
mod checkup;
mod comparison;
mod csv;
mod curves;
mod figures;
mod gate;
mod grid;
pub mod hdr;
mod interference;
mod json;
mod live;
mod movers;
mod msgrate;
pub mod plot;
mod plot_chart;
mod plot_heat;
mod quick;
mod report;
mod style;
mod table;
mod workers;

pub use checkup::checkup;
pub use comparison::{answer, comparison};
pub use csv::{CsvRows, csv};
pub use curves::{load, sweep};
pub use figures::figure_text;
pub use gate::{github, junit};
pub use interference::interference;
pub(crate) use interference::{answers_with_rows, interference_answers, load_subject};
pub use json::{JsonForm, event_line, json};
pub use live::{LiveRun, live};
pub use movers::movers;
pub use msgrate::{msgrate, msgrate_classic, msgrate_line};
pub use plot_chart::chart;
pub use quick::{QuickSection, QuickTransport, quick};
pub use report::{report, sentences};
pub use style::Style;
pub use table::{case_line, table};
pub use workers::workers;

/// A document could not be written as text.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the document as {form}: {reason}")]
pub struct RenderError {
    /// `JSON`, `CSV`, `HdrHistogram`.
    pub form: &'static str,
    /// Why.
    pub reason: String,
}
