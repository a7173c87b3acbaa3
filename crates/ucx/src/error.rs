//! What UCX refused, with its own words.

use wirespeed::transport::ConnectError;
use wirespeed_ucx_sys::{Loaded, said, status_text, ucs_status_t};

/// A call of UCX that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("UCX: {what}: {why}")]
pub struct UcxError {
    what: String,
    why: String,
}

impl UcxError {
    /// `what` was not to be had, and why.
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        UcxError {
            what: what.into(),
            why: why.into(),
        }
    }

    /// `status` of `what`, with what UCX said meanwhile.
    pub fn of(loaded: &Loaded, what: impl Into<String>, status: ucs_status_t) -> Self {
        let mut why = status_text(&loaded.ucx, status);
        if let Some(last) = said().last() {
            why = format!("{why} ({last})");
        }
        UcxError::new(what, why)
    }
}

impl From<UcxError> for ConnectError {
    fn from(error: UcxError) -> Self {
        ConnectError::Other(error.to_string())
    }
}

/// `Ok` unless `status` is an error.
pub fn check(loaded: &Loaded, what: &str, status: ucs_status_t) -> Result<(), UcxError> {
    if status < 0 {
        return Err(UcxError::of(loaded, what, status));
    }
    Ok(())
}
