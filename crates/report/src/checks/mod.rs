//! Invariants and circumstances of a result: remarks, worst first.

use wirespeed_schema::run::{CaseResult, Remark};

/// What is known of the medium, to check results against.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// Fastest that data can move over this case's medium, both directions together: a measured memory copy, a link's
    /// rate. `None` when unknown: then nothing is checked.
    pub medium_bytes_per_s: Option<f64>,
}

/// Remarks of all cases, each code once, worst first: for the foot of a table and `Run::remarks`.
pub fn run_remarks(_cases: &[CaseResult]) -> Vec<Remark> {
    Vec::new()
}
