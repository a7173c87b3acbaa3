//! Why a test is no case.

use crate::errors::Failure;

/// Why a test is no case.
#[derive(Debug)]
pub enum Unplanned {
    /// It is invalid.
    Wrong(Failure),
    /// It makes sense, but not here.
    Skipped(String),
}

impl From<Failure> for Unplanned {
    fn from(failure: Failure) -> Self {
        Unplanned::Wrong(failure)
    }
}
