//! UCX's status numbers as the engine knows them.
//!
//! It must never allocate: it is called in loops.

use wirespeed::transport::port::{LinkError, Post, Posted};
use wirespeed_ucx_sys as sys;

/// Statuses of a peer or a path that is no more.
const GONE: [sys::ucs_status_t; 6] = [
    sys::UCS_ERR_UNREACHABLE,
    sys::UCS_ERR_CONNECTION_RESET,
    sys::UCS_ERR_NOT_CONNECTED,
    sys::UCS_ERR_ENDPOINT_TIMEOUT,
    sys::UCS_ERR_CANCELED,
    sys::UCS_ERR_REJECTED,
];

/// `status` as an error of the port.
#[cold]
pub fn cold_error(operation: &'static str, status: sys::ucs_status_t) -> LinkError {
    if GONE.contains(&status) {
        return LinkError::Closed;
    }
    match status {
        sys::UCS_ERR_UNSUPPORTED => LinkError::Unsupported(operation),
        sys::UCS_ERR_MESSAGE_TRUNCATED => LinkError::Corrupt("a message longer than its receive"),
        sys::UCS_ERR_NO_MEMORY | sys::UCS_ERR_EXCEEDS_LIMIT => LinkError::Exhausted(operation),
        _ => LinkError::Library {
            op: operation,
            why: reason(status),
        },
    }
}

/// What UCX calls the errors that an operation may end with.
fn reason(status: sys::ucs_status_t) -> &'static str {
    match status {
        sys::UCS_ERR_NO_MESSAGE => "no pending message",
        sys::UCS_ERR_IO_ERROR => "input or output error",
        sys::UCS_ERR_INVALID_PARAM => "invalid parameter",
        sys::UCS_ERR_OUT_OF_RANGE => "out of range",
        sys::UCS_ERR_TIMED_OUT => "operation timed out",
        sys::UCS_ERR_NO_DEVICE => "no such device",
        sys::UCS_ERR_BUSY => "element is busy",
        sys::UCS_ERR_SHMEM_SEGMENT => "shared memory error",
        sys::UCS_ERR_INVALID_ADDR => "invalid address",
        _ => "UCX gave an error",
    }
}

/// Whether an operation was taken.
#[inline(always)]
pub fn posted(operation: &'static str, status: sys::ucs_status_t) -> Posted {
    match status {
        sys::UCS_OK => Ok(Post::Done),
        sys::UCS_ERR_NO_RESOURCE => Ok(Post::Busy),
        _ => Err(cold_error(operation, status)),
    }
}
