//! Where a transfer's bytes go at this end: the file is reserved before the clock runs, so that a full disk is known at
//! once, and joined with what an earlier transfer left.

use super::journal::{Done, Journal, Subject};
use super::transfer::{Target, TransferError};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use wirespeed::bulk::Destination;
use wirespeed::sync::mapping;

/// A destination made ready.
pub(super) struct Place {
    pub destination: Destination,
    pub journal: Option<Journal>,
    pub done: Done,
}

impl Place {
    pub fn open(target: &Target, subject: &Subject) -> Result<Place, TransferError> {
        let (path, overwrite, map) = match target {
            Target::Discard => {
                return Ok(Place {
                    destination: Destination::Discard,
                    journal: None,
                    done: Done::new(),
                });
            }
            Target::File { path, overwrite } => (path, *overwrite, false),
            Target::Map { path, overwrite } => (path, *overwrite, true),
        };
        let journal_path = super::journal::path_of(path);
        if overwrite && journal_path.exists() {
            std::fs::remove_file(&journal_path).map_err(|e| failed("remove", &journal_path, &e))?;
        }
        let resumes = journal_path.exists() && path.exists();
        if !resumes && path.exists() && !overwrite {
            return Err(TransferError::usage(
                format!("{} is there already", path.display()),
                "name another file, or give --overwrite",
            ));
        }
        if !resumes && journal_path.exists() {
            // The file of the journal is gone: what it says is there is not.
            std::fs::remove_file(&journal_path).map_err(|e| failed("remove", &journal_path, &e))?;
        }
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(!resumes)
            .open(path)
            .map_err(|e| failed("write", path, &e))?;
        let (journal, done) = Journal::open(path, subject).map_err(|e| {
            TransferError::usage(
                format!("cannot go on with {}: {e}", journal_path.display()),
                "give --overwrite to begin anew",
            )
        })?;
        reserve(&file, subject.total_bytes).map_err(|e| failed("reserve room for", path, &e))?;
        let destination = match map {
            false => Destination::File(file),
            true => {
                let len = usize::try_from(subject.total_bytes).map_err(|_| {
                    TransferError::usage(
                        "the resource is too large to map".to_owned(),
                        "write it to a file",
                    )
                })?;
                let bytes = mapping::of_file(&file, len).map_err(|e| failed("map", path, &e.into()))?;
                Destination::Map(bytes)
            }
        };
        Ok(Place {
            destination,
            journal: Some(journal),
            done: done.unwrap_or_default(),
        })
    }
}

/// Room on the disk for the whole, where the file system can reserve; its length in any case.
fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) => Ok(()),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => file.set_len(bytes),
        Err(error) => Err(error.into()),
    }
}

fn failed(what: &str, path: &Path, error: &io::Error) -> TransferError {
    TransferError::failed(
        format!("cannot {what} {}: {error}", path.display()),
        "check the path, its permissions and the room on its disk",
    )
}
