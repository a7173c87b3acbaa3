//! The measuring loops: free functions, generic over the port, with nothing in them but the test itself.
//!
//! Between the two barriers a loop never allocates, locks, logs, looks at configuration or calls through a pointer of
//! ours; every function named `hot_` is held to that on its machine code. The engine does not know transports' names.

mod attached;
mod datagram;
mod floor;
mod header;
mod messages;
mod meter;
mod one_sided;
mod operation;
mod payload;
mod phases;
mod pingpong;
mod rank;
mod region;
mod rma_loops;
mod stream;
mod wired;

pub use messages::messages;
pub use one_sided::one_sided;

use crate::measure::MeasureError;
use crate::transport::Tagged;
use crate::transport::bootstrap::Bootstrap;
use crate::transport::registry::Report;
use wirespeed_schema::case::Case;
use wirespeed_schema::outcome::Outcome;

/// Run a test on tagged messages.
pub fn tagged<T: Tagged>(
    case: &Case,
    bootstrap: &dyn Bootstrap,
    report: Report,
) -> Result<Outcome, MeasureError> {
    let _ = (case, bootstrap, report);
    unimplemented!()
}
