//! To be written.

use crate::measure::MeasureError;
use crate::transport::bootstrap::Bootstrap;
use crate::transport::registry::Report;
use crate::transport::{Messages, OneSided, Tagged};
use wirespeed_schema::case::Case;
use wirespeed_schema::outcome::Outcome;

/// Run a test on active messages.
pub fn messages<T: Messages>(
    case: &Case,
    bootstrap: &dyn Bootstrap,
    report: Report,
) -> Result<Outcome, MeasureError> {
    let _ = (case, bootstrap, report);
    unimplemented!()
}

/// Run a test on put, get and atomics.
pub fn one_sided<T: OneSided>(
    case: &Case,
    bootstrap: &dyn Bootstrap,
    report: Report,
) -> Result<Outcome, MeasureError> {
    let _ = (case, bootstrap, report);
    unimplemented!()
}

/// Run a test on tagged messages.
pub fn tagged<T: Tagged>(
    case: &Case,
    bootstrap: &dyn Bootstrap,
    report: Report,
) -> Result<Outcome, MeasureError> {
    let _ = (case, bootstrap, report);
    unimplemented!()
}
