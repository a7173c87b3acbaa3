//! Why there is no reply, and what the client is told.

use super::files::Denied;
use crate::soap::{Fault, SoapError};
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wirespeed_schema::calendar::rfc3339;

/// Now as RFC 3339: a fault must carry it.
pub(super) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    rfc3339(since.unwrap_or(Duration::ZERO).as_secs())
}

/// Why there is no reply.
pub(super) enum Failed {
    /// The client is told.
    Fault(Fault),
    /// The client is gone, or the answer cannot be finished.
    Connection(io::Error),
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Failed::Fault(fault)
    }
}

impl From<Denied> for Failed {
    fn from(denied: Denied) -> Self {
        Failed::Fault(denied.into())
    }
}

/// The service's own disk: what fails of a connection comes as a [`SoapError`].
impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Failed::Fault(storage_fault(&error))
    }
}

impl From<SoapError> for Failed {
    fn from(error: SoapError) -> Self {
        match error {
            SoapError::Io(error) if is_connection_error(&error) => Failed::Connection(error),
            SoapError::Io(error) => Failed::Fault(storage_fault(&error)),
            other => Failed::Fault(other.into()),
        }
    }
}

/// Whether the connection is at fault, so that nobody can be told.
pub(super) fn is_connection_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::WouldBlock
            | io::ErrorKind::TimedOut
    )
}

/// What a failed write means to the client.
pub(super) fn storage_fault(error: &io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::StorageFull => Fault::server("the service's disk is full"),
        io::ErrorKind::InvalidInput
        | io::ErrorKind::QuotaExceeded
        | io::ErrorKind::InvalidData
        | io::ErrorKind::Other => Fault::custom(error.to_string()),
        _ => Fault::server("the service could not store the data"),
    }
}
