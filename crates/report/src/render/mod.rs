//! Renderers: a View or a Run document as text. They never compute a figure that the document does not hold, and never
//! print.

mod bulk;
mod checkup;
mod csv;
mod gate;
mod grid;
pub mod hdr;
mod json;
mod live;
mod markdown;
mod mesh;
mod msgrate;
mod page;
pub mod plot;
mod plot_chart;
mod plot_heat;
mod style;
mod tamed;
mod text;
mod vega;

pub use checkup::checkup;
pub use csv::{CsvRows, csv};
pub use gate::{github, junit, junit_error};
pub use json::{JsonForm, event_line, json};
pub use live::{LiveRun, live};
pub use markdown::markdown;
pub use msgrate::{msgrate_classic, msgrate_line};
pub use page::page;
pub use plot_chart::chart;
pub use style::{Style, shortened, wrap};
pub(crate) use tamed::Rows;
pub use text::{Extent, case_line, sentences, text};
pub use vega::vega_lite;

/// A document could not be written as text.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the document as {form}: {reason}")]
pub struct RenderError {
    /// `JSON`, `CSV`, `HdrHistogram`.
    pub form: &'static str,
    /// Why.
    pub reason: String,
}

impl RenderError {
    fn of(form: &'static str, error: &dyn std::fmt::Display) -> RenderError {
        RenderError {
            form,
            reason: error.to_string(),
        }
    }
}
