//! Why a port could not be opened.

use super::bootstrap::BootstrapError;
use super::options::OptionError;
use wirespeed_schema::units;

/// Why a port could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The ranks could not meet.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    /// The options do not fit.
    #[error(transparent)]
    Options(#[from] OptionError),
    /// The operating system refused.
    #[error("{op}: {source}")]
    Os {
        /// What was tried.
        op: String,
        /// What it said.
        source: std::io::Error,
    },
    /// A peer's blob or first message is not what this build expects.
    #[error("rank {rank} sent an unusable address: {what}")]
    BadPeer {
        /// The peer.
        rank: u32,
        /// What was wrong.
        what: String,
    },
    /// Not enough memory for what the case needs.
    #[error("not enough memory: {what} needs {}", units::format_size(*bytes))]
    Memory {
        /// What for.
        what: &'static str,
        /// How much.
        bytes: u64,
    },
    /// A peer did not connect in time.
    #[error("rank {rank} did not connect within {seconds} s")]
    Timeout {
        /// The peer.
        rank: u32,
        /// How long was waited.
        seconds: u64,
    },
    /// The far end or a file of this one cannot serve the case as it is.
    #[error("{cause}")]
    Unfit {
        /// One line of cause.
        cause: String,
        /// One line of remedy.
        remedy: String,
    },
    /// The far end refuses this one, or is not the one that its identity tells of.
    #[error("{cause}")]
    Refused {
        /// One line of cause.
        cause: String,
        /// One line of remedy.
        remedy: String,
    },
    /// Anything else, in one line.
    #[error("{0}")]
    Other(String),
}

impl ConnectError {
    /// There are no `bytes` of memory for `what`.
    pub fn memory(what: &'static str, bytes: usize) -> Self {
        let bytes = bytes as u64;
        ConnectError::Memory { what, bytes }
    }

    /// `source` happened while doing `op`.
    pub fn os(op: impl Into<String>, source: std::io::Error) -> Self {
        ConnectError::Os {
            op: op.into(),
            source,
        }
    }
}
