//! The measuring loops: free functions, generic over the port, with nothing in them but the test itself.
//!
//! Between the two barriers a loop never allocates, locks, logs, looks at configuration or calls through a pointer of
//! ours; every function named `hot_` is held to that on its machine code. The engine does not know transports' names.

mod floor;
mod header;
mod messages;
mod meter;
mod payload;
mod pingpong;
mod rank;
mod stream;
mod wired;

pub use messages::messages;

use crate::measure::MeasureError;
use crate::transport::bootstrap::Bootstrap;
use crate::transport::registry::Report;
use crate::transport::{OneSided, Tagged};
use wirespeed_schema::case::Case;
use wirespeed_schema::outcome::Outcome;

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
