//! Why the ranks of a job cannot meet.

/// Why the ranks of a job cannot meet, with the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct JobError {
    /// One line.
    pub cause: String,
    /// One line.
    pub remedy: String,
}

impl JobError {
    /// A cause and its remedy.
    pub fn new(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        JobError {
            cause: cause.into(),
            remedy: remedy.into(),
        }
    }
}
