//! Why a measurement has no result.

use crate::load::LoadError;
use crate::transport::bootstrap::BootstrapError;
use crate::transport::error::ConnectError;

/// Why a rank has no result at all. An error in the measured phase gives an [`Outcome`](wirespeed_schema::Outcome) with `error` set instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The case contradicts itself or the group: a usage error.
    #[error("{0}")]
    Usage(String),
    /// The transport or this machine cannot do it; the reason says why.
    #[error("{0}")]
    Unsupported(String),
    /// The ranks could not meet.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    /// No connection.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// This machine has too little memory for what stands around the measurement.
    #[error("{0}")]
    Memory(String),
    /// The system refused something around the measurement: pinning, a load.
    #[error("{0}")]
    System(String),
}

impl MeasureError {
    /// What helps where there is too little memory.
    pub const ASK_FOR_LESS: &str =
        "ask for smaller messages, fewer of them at once, fewer ranks, or less load";

    /// One line of remedy, where one is known.
    pub fn remedy(&self) -> Option<&str> {
        match self {
            MeasureError::Memory(_) | MeasureError::Connect(ConnectError::Memory { .. }) => {
                Some(Self::ASK_FOR_LESS)
            }
            MeasureError::Connect(
                ConnectError::Unfit { remedy, .. } | ConnectError::Refused { remedy, .. },
            ) => Some(remedy),
            _ => None,
        }
    }
}

impl From<LoadError> for MeasureError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Memory { .. } | LoadError::Allocate { .. } => MeasureError::Memory(error.to_string()),
            _ => MeasureError::System(error.to_string()),
        }
    }
}
