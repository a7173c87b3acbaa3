//! Read a Run document from bytes, with typed errors.

use wirespeed_schema::Run;

/// Why bytes are not a readable Run document. Each displays as one line; [`ReadError::remedy`] is the other.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Not a run document.
    #[error("not a run document")]
    Foreign,
}

impl ReadError {
    /// What the user can do about it, one line.
    pub fn remedy(&self) -> &'static str {
        ""
    }
}

/// Read a Run document.
pub fn read_run(_bytes: &[u8]) -> Result<Run, ReadError> {
    Err(ReadError::Foreign)
}
