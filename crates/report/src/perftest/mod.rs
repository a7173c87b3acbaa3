//! The form of ucx_perftest: its tests by their names, its table and its CSV, column for column, from outcomes. What
//! each column means is in docs/metrics.md. No figure is made here that the outcomes do not hold, and nothing is printed.

mod defaults;
mod figures;
mod form;
mod originals;
mod section;

pub use defaults::SIZE_BYTES;
pub use figures::{Figures, Progress};
pub use form::{Form, box_of};
pub use originals::{Api, HEADER_BYTES, ORIGINALS, Original, original, original_of};
pub use section::{PerftestLine, PerftestSection};

/// Which of the original's releases gives the form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Generation {
    /// Today's.
    #[default]
    #[serde(rename = "today")]
    Today,
    /// That of 2015.
    #[serde(rename = "2015")]
    Y2015,
}
