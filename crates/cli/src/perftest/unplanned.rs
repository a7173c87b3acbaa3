//! Why a test is no case.

use crate::errors::Failure;

/// Why a test is no case.
#[derive(Debug)]
pub enum Unplanned {
    /// A word of it cannot be read, or is missing.
    Wrong(Failure),
    /// Every word can be read, but there is no such test: not here, or not at all. A product of batch files has many of them.
    Unsupported(Failure),
}

impl Unplanned {
    /// There is no such test.
    pub fn unsupported(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Unplanned::Unsupported(Failure::usage(cause, remedy))
    }

    /// Nothing here offers it.
    pub fn not_offered(cause: impl Into<String>) -> Self {
        Unplanned::unsupported(cause, "see `wirespeed list`")
    }
}

impl From<Failure> for Unplanned {
    fn from(failure: Failure) -> Self {
        Unplanned::Wrong(failure)
    }
}
