//! The section of the run document that only `perftest` writes: every line that was asked for, with its name, and what
//! became of those that are no case.

use super::Generation;
use serde::{Deserialize, Serialize};
use wirespeed_schema::section::Section;

/// One test as it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PerftestLine {
    /// Its name: one part a batch file; empty for a test of the command line.
    pub name: Vec<String>,
    /// The original's name of the test.
    pub test: String,
    /// Where it stands: `FILE:LINE`, the slowest file first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
    /// Its case in the run's `cases`; absent when it is none, or the run could not begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<usize>,
    /// Why it is no case: it is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Why it is no case: it cannot run here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// Rank of its percentile column, 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percentile_rank: Option<f64>,
}

impl PerftestLine {
    /// The name as one word; that of the test when it has none.
    pub fn label(&self) -> String {
        match self.name.is_empty() {
            true => self.test.clone(),
            false => self.name.join("/"),
        }
    }
}

/// `Run::sections["perftest"]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PerftestSection {
    /// Whose form and defaults.
    pub generation: Generation,
    /// Rank of the percentile column, 0 to 100, where a line has none of its own.
    pub percentile_rank: f64,
    /// Every test asked for, in order.
    pub lines: Vec<PerftestLine>,
}

impl Section for PerftestSection {
    const NAME: &'static str = "perftest";
}

impl PerftestSection {
    /// The label of the run's case `index`.
    pub fn label_of(&self, index: usize) -> Option<String> {
        let line = self.lines.iter().find(|line| line.case == Some(index))?;
        Some(line.label())
    }
}
