//! HTTP/1.1 for blocking sockets: heads parsed by httparse, bodies framed here, ranges. What is not understood is refused;
//! a length is checked before anything is allocated for it.

pub mod body;
pub mod channel;
pub mod head;
pub mod range;

use std::io;

/// A number in a header: digits, and nothing else.
fn number(text: &str) -> Option<u64> {
    let value = text.parse().ok();
    value.filter(|_| text.bytes().all(|b| b.is_ascii_digit()))
}

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
