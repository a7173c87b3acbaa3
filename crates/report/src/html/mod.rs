//! The report: results as one HTML file that needs nothing else, with words first, then pictures, each with its table.
//!
//! No script, nothing fetched: the page forbids both to itself. Text from results is escaped, so a hostile result stays
//! text. It never computes a figure of its own: figures come from the documents, findings from `curve`, `fit` and `stats`.

mod forest;
pub(crate) mod labels;
mod loggp;
mod page;
mod pairs;
mod pictures;
mod shapes;
pub(crate) mod sweeps;
mod vega;
mod window;
pub(crate) mod words;

pub use page::page;
pub use sweeps::{Swept, against_size};
pub use vega::vega_lite;

use crate::svg::Chart;
use wirespeed_schema::Run;

/// A result with the name by which people know it.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// File name.
    pub name: &'a str,
    /// The document.
    pub run: &'a Run,
}

/// A chart with the words before it and the table behind it.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The chart.
    pub chart: Chart,
    /// What it shows, in a sentence or two with figures.
    pub words: Vec<String>,
    /// Heading of the table's columns.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

/// Every picture that the results have, in the order of the page. The same results give the same pictures.
pub fn pictures(inputs: &[Input]) -> Vec<Picture> {
    pictures::all(inputs)
}
