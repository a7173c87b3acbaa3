//! HTTP/1.1 for blocking sockets: heads parsed by httparse, bodies framed here, ranges. What is not understood is refused;
//! a length is checked before anything is allocated for it.

pub mod body;
pub mod channel;
pub mod head;
pub mod progress;
pub mod range;

use std::io;

/// Why a message cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The bytes below failed or ended.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The other end closed before a message began.
    #[error("the connection was closed")]
    Closed,
    /// It is not HTTP/1, or framed in a way that two readers could read differently.
    #[error("malformed HTTP message: {0}")]
    Malformed(&'static str),
}
