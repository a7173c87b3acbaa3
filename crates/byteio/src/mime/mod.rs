//! Framing of messages with attachments: multipart/related with XOP, and DIME. Sans-IO: readers below, sinks above.

pub mod dime;
pub mod multipart;
pub mod params;

use std::io;

/// Why framing cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MimeError {
    /// The bytes below failed or ended.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is not what its type says.
    #[error("malformed {0}")]
    Malformed(&'static str),
}
