//! What a transfer is asked for, and what it gives. Nothing is moved here.

use super::{ClientOptions, Found};
use crate::digest::DigestKind;
use std::path::PathBuf;
use wirespeed::bulk::{BulkError, BulkErrorKind, BulkOutcome};
use wirespeed_schema::byteio::Transfer;
use wirespeed_schema::host::HostFingerprint;
use wirespeed_schema::message::FailureClass;

/// What a get may find where its file goes, and what it leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// No file may be there. What an interrupted transfer left is gone on with.
    New,
    /// A file that is there is replaced when its successor is whole. What an interrupted transfer left is begun anew.
    Replace,
    /// As [`Claim::Replace`], and nothing stays of a transfer that breaks off: it was measured.
    Measure,
}

/// Where the bytes of a get go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Nowhere.
    Discard,
    /// Into a file, by position.
    File {
        /// Its path.
        path: PathBuf,
        /// What may be there.
        claim: Claim,
    },
    /// Into a mapping of a file.
    Map {
        /// Its path.
        path: PathBuf,
        /// What may be there.
        claim: Claim,
    },
}

impl Target {
    /// As printed.
    pub fn name(&self) -> &'static str {
        match self {
            Target::Discard => "discard",
            Target::File { .. } => "file",
            Target::Map { .. } => "map",
        }
    }
}

/// What to transfer, and how.
#[derive(Debug, Clone)]
pub struct TransferOptions {
    /// The resource and the way to it.
    pub client: ClientOptions,
    /// Connections.
    pub threads: usize,
    /// Blocks outstanding on each.
    pub depth: usize,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Attempts at one block.
    pub attempts_max: u32,
    /// Where a get goes.
    pub target: Target,
    /// What a put sends.
    pub source: Option<PathBuf>,
    /// Digest to compare with, where the service offers it.
    pub digest: Option<DigestKind>,
    /// Only so many bytes from the start; needed where the service does not say how many there are.
    pub size_bytes: Option<u64>,
}

/// What was transferred.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Moved {
    /// Bytes of the whole.
    pub total_bytes: u64,
    /// What was seen.
    pub transfer: Transfer,
    /// What the engine counted and timed.
    pub outcome: BulkOutcome,
    /// The service's machine, where it is wirespeed.
    pub far: Option<HostFingerprint>,
    /// How the service sent it.
    pub manner: Manner,
}

/// How a service sends a resource, where that is not in blocks of what it has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manner {
    /// It knows no ranges: the whole comes at once over one connection, whatever is asked for.
    pub one_stream: bool,
    /// It sends another coding (gzip, ..), though nobody asked for one: what is counted and stored is coded.
    pub coding: Option<String>,
}

impl Manner {
    pub(super) fn of(found: &Found) -> Self {
        Manner {
            one_stream: found.whole_only,
            coding: found.coding.clone(),
        }
    }
}

/// Why there was no transfer at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct TransferError {
    /// One line of cause.
    pub cause: String,
    /// One line of remedy.
    pub remedy: String,
    /// Usage where what the user asked for is invalid, refused where a key or token is wrong; failed else.
    pub class: FailureClass,
}

impl TransferError {
    pub(super) fn usage(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        TransferError {
            cause: cause.into(),
            remedy: remedy.into(),
            class: FailureClass::Usage,
        }
    }

    pub(super) fn failed(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        TransferError {
            class: FailureClass::Failed,
            ..Self::usage(cause, remedy)
        }
    }
}

impl From<BulkError> for TransferError {
    fn from(error: BulkError) -> Self {
        let remedy = error.remedy.as_deref();
        let remedy = remedy.unwrap_or("check the address, and what the service says");
        TransferError {
            class: match error.kind {
                BulkErrorKind::Refused => FailureClass::Refused,
                _ => FailureClass::Failed,
            },
            ..TransferError::failed(error.why.as_str(), remedy)
        }
    }
}

/// What a transfer tells while it goes on.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Bytes that are there now and were not before; first of all those of an earlier transfer.
    pub bytes: u64,
    /// Bytes of the whole.
    pub total_bytes: u64,
}

/// What there is to transfer, found out before any of it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Bytes of the whole.
    pub total_bytes: u64,
    /// How the service sends it.
    pub manner: Manner,
}
