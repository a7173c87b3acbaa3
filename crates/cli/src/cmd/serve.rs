//! `wirespeed serve`: the far end; and the hidden verb of a rank's process.

use crate::args::ServeArgs;
use crate::errors::{Ended, Failure};
use wirespeed::Registry;

/// Serve until stopped.
pub fn serve(_registry: &Registry, _arguments: &ServeArgs) -> Result<Ended, Failure> {
    Err(Failure::failed("not yet", "wait"))
}

/// Be a rank, until the coordinator has no more work.
pub fn rank(registry: &Registry) -> Result<Ended, Failure> {
    match wirespeed_control::agent::run_stdio_agent(registry) {
        0 => Ok(Ended::OK),
        code => Err(Failure::with(
            code,
            "__rank is started by wirespeed itself",
            "use `wirespeed run`, which starts ranks",
        )),
    }
}
