//! In the place of io_uring in a build without the feature `uring`: why there is none.

use super::setup::{Link, Setup};
use crate::transport::ConnectError;
use crate::transport::absent::NoPort;

const WHY: &str = "this build was made without io_uring (feature \"uring\")";

/// Why there is no ring.
pub fn available() -> Result<(), &'static str> {
    Err(WHY)
}

/// No port, and why.
pub fn open(_: Vec<Link>, _: Setup) -> Result<NoPort, ConnectError> {
    Err(ConnectError::Other(WHY.to_owned()))
}
