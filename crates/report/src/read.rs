//! Read a Run document from bytes: typed errors for what is truncated, foreign, newer, too large or inconsistent.
//!
//! Files come from anywhere. Nothing read here may panic later: histograms are checked before a document is let in.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::error::Category;
use std::io::Read;
use wirespeed_schema::Run;
use wirespeed_schema::run::{Remark, Severity};
use wirespeed_schema::shown::quoted;
use wirespeed_schema::version::{DOCUMENT_VERSION, document_is_newer, document_is_readable};

/// Largest document that is read. Histograms are sparse; the largest real documents are a hundred times smaller.
pub const DOCUMENT_BYTES_MAX: usize = 256 << 20;

/// Why bytes are not a readable Run document. Each displays as one line; [`ReadError::remedy`] is the other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// More bytes than any document has.
    #[error("the document is larger than {} MiB", DOCUMENT_BYTES_MAX >> 20)]
    TooLarge {
        /// Its length.
        bytes: usize,
    },
    /// It ends in the middle, or is empty.
    #[error("{}", match .line { 0 => "the document is empty".to_owned(), line => format!("the document ends early, at line {line}") })]
    Truncated {
        /// Last line, from 1; 0 for an empty document.
        line: usize,
    },
    /// Not JSON at all.
    #[error("not JSON: line {line}, column {column}")]
    NotJson {
        /// Line from 1.
        line: usize,
        /// Column from 1.
        column: usize,
    },
    /// JSON, but not of ours.
    #[error("JSON, but not a run document: it has no {missing}")]
    Foreign {
        /// The member that every run document has.
        missing: &'static str,
    },
    /// Of another major version.
    #[error("a run document of version {version}; this build reads {DOCUMENT_VERSION}")]
    OtherVersion {
        /// Its version, shortened.
        version: String,
    },
    /// A member is missing or of the wrong kind.
    #[error("a damaged run document: {reason}")]
    Malformed {
        /// What and where.
        reason: String,
    },
    /// The parts contradict each other.
    #[error("a damaged run document: case {case}, rank {rank}: {reason}")]
    Inconsistent {
        /// Number of the case, from 0.
        case: usize,
        /// The rank.
        rank: u32,
        /// What is wrong.
        reason: &'static str,
    },
}

impl ReadError {
    /// What the user can do about it, one line.
    pub fn remedy(&self) -> &'static str {
        match self {
            ReadError::TooLarge { .. } => "split the plan, or measure without raw samples",
            ReadError::Truncated { .. } => "fetch or write the file again; the run may still be writing it",
            ReadError::NotJson { .. } | ReadError::Foreign { .. } => {
                "name a file that --json or -o FILE.json wrote"
            }
            ReadError::OtherVersion { .. } => {
                "read it with the version of wirespeed that wrote it, or a newer one"
            }
            ReadError::Malformed { .. } | ReadError::Inconsistent { .. } => {
                "take the file as it was written: this one was changed or damaged"
            }
        }
    }
}

/// The members that tell a run document from other JSON.
#[derive(Deserialize)]
struct Probe {
    document_version: Option<serde_json::Value>,
    cases: Option<IgnoredAny>,
}

/// Why bytes could not be parsed.
fn not_ours(bytes: &[u8], error: &serde_json::Error) -> ReadError {
    match error.classify() {
        Category::Data => ReadError::Foreign {
            missing: "document_version",
        },
        Category::Eof => ReadError::Truncated {
            line: if bytes.is_empty() { 0 } else { error.line() },
        },
        Category::Syntax if ends_in_a_number(bytes) => ReadError::Truncated { line: error.line() },
        Category::Syntax | Category::Io => ReadError::NotJson {
            line: error.line(),
            column: error.column(),
        },
    }
}

/// Whether the text ends within a number, such as `1.` or `2e`, that the parser passed over: it calls that a mistake
/// rather than an end. One more digit then leads it to the end.
fn ends_in_a_number(bytes: &[u8]) -> bool {
    let parsed = || serde_json::from_reader::<_, IgnoredAny>(bytes.chain(&b"0"[..]));
    matches!(bytes.last(), Some(b'.' | b'+' | b'-' | b'e' | b'E'))
        && parsed().is_err_and(|error| error.classify() == Category::Eof)
}

/// Code of the remark on a document that a later version wrote.
pub(crate) const NEWER: &str = "newer_document";

/// Read a Run document. One of a later minor version is read as far as it is known here, and carries a remark that says
/// so. NaN and infinities cannot come out of it: JSON has none, and overflowing numbers are refused.
pub fn read_run(bytes: &[u8]) -> Result<Run, ReadError> {
    // Some editors put it before what they save; RFC 8259 lets a reader pass over it.
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    if bytes.len() > DOCUMENT_BYTES_MAX {
        return Err(ReadError::TooLarge { bytes: bytes.len() });
    }
    let probe: Probe = serde_json::from_slice(bytes).map_err(|error| not_ours(bytes, &error))?;
    let version = match &probe.document_version {
        Some(serde_json::Value::String(version)) => version,
        _ => {
            return Err(ReadError::Foreign {
                missing: "document_version",
            });
        }
    };
    if !document_is_readable(version) {
        return Err(ReadError::OtherVersion {
            version: quoted(version, 20),
        });
    }
    if probe.cases.is_none() {
        return Err(ReadError::Foreign { missing: "cases" });
    }
    let mut run = Run::read(bytes).map_err(|error| ReadError::Malformed {
        reason: error.to_string(),
    })?;
    check(&run)?;
    if document_is_newer(&run.document_version) && newer_remark(&run).is_none() {
        run.remarks.push(newer(&run.document_version));
    }
    Ok(run)
}

/// The remark on a document that a later version wrote: every reader of one tells it.
pub fn newer_remark(run: &Run) -> Option<&Remark> {
    run.remarks.iter().find(|remark| remark.code == NEWER)
}

/// One remark on all of these documents, each with its name, that a later version wrote.
pub fn newer_of<'a>(named: impl IntoIterator<Item = (&'a str, &'a Run)>) -> Option<Remark> {
    let newer = named.into_iter().filter(|(_, run)| newer_remark(run).is_some());
    let told = newer
        .map(|(name, run)| {
            format!(
                "{name} is a document of version {}",
                quoted(&run.document_version, 20)
            )
        })
        .collect::<Vec<_>>();
    (!told.is_empty()).then(|| newer_than_here(&told.join(", ")))
}

fn newer(version: &str) -> Remark {
    newer_than_here(&format!("a document of version {}", quoted(version, 20)))
}

fn newer_than_here(what: &str) -> Remark {
    let message = format!("{what}: what versions after {DOCUMENT_VERSION} added is not shown");
    let remedy = "read it with the version of wirespeed that wrote it, or a newer one";
    Remark::new(Severity::Note, NEWER, message, Some(remedy))
}

fn check(run: &Run) -> Result<(), ReadError> {
    for (case, result) in run.cases.iter().enumerate() {
        for outcome in result.seen().flat_map(|run| &run.outcomes) {
            for samples in &outcome.samples {
                samples
                    .histogram
                    .check()
                    .map_err(|reason| ReadError::Inconsistent {
                        case,
                        rank: outcome.rank,
                        reason,
                    })?;
            }
        }
    }
    Ok(())
}
