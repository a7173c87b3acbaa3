//! Where a transfer's bytes go at this end: a file beside the one that was named, which takes its name when it is whole. It
//! is reserved before the clock runs, so that a full disk is known at once, and joined with what an earlier transfer left.

use super::journal::{Done, Journal, Subject};
use super::transfer::{Target, TransferError};
use rustix::fs::{CWD, FallocateFlags, RenameFlags, fallocate, renameat_with};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use wirespeed::bulk::Destination;
use wirespeed::sync::mapping;

/// A destination made ready.
pub(super) struct Place {
    pub destination: Destination,
    pub journal: Option<Journal>,
    pub done: Done,
    pub names: Option<Names>,
}

/// The names of a file that is fetched.
#[derive(Debug, Clone)]
pub(super) struct Names {
    /// While it is not whole.
    part: PathBuf,
    /// Then.
    whole: PathBuf,
    overwrite: bool,
}

impl Names {
    fn of(path: &Path, overwrite: bool) -> Names {
        // A link stays one, and what it stands for is replaced.
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut part = whole.clone().into_os_string();
        part.push(".wirespeed-part");
        Names {
            part: PathBuf::from(part),
            whole,
            overwrite,
        }
    }

    /// The file is whole: it takes its name. Without leave it replaces nothing that came meanwhile.
    pub fn finish(&self) -> io::Result<()> {
        if self.overwrite {
            return std::fs::rename(&self.part, &self.whole);
        }
        match renameat_with(CWD, &self.part, CWD, &self.whole, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            // The file system cannot tell.
            Err(Errno::INVAL | Errno::NOSYS) => std::fs::rename(&self.part, &self.whole),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Nothing of the file is there: nothing is left.
    pub fn forget(&self) {
        // What remains is taken up or refused by the next transfer.
        let _ = std::fs::remove_file(&self.part);
    }
}

impl Place {
    pub fn open(target: &Target, subject: &Subject) -> Result<Place, TransferError> {
        let (path, overwrite, map) = match target {
            Target::Discard => {
                return Ok(Place {
                    destination: Destination::Discard,
                    journal: None,
                    done: Done::new(),
                    names: None,
                });
            }
            Target::File { path, overwrite } => (path, *overwrite, false),
            Target::Map { path, overwrite } => (path, *overwrite, true),
        };
        let journal_path = super::journal::path_of(path);
        if overwrite && journal_path.exists() {
            std::fs::remove_file(&journal_path).map_err(|e| failed("remove", &journal_path, &e))?;
        }
        let names = Names::of(path, overwrite);
        let resumes = journal_path.exists() && names.part.exists();
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
            .open(&names.part)
            .map_err(|e| failed("write", path, &e))?;
        reserve(&file, subject.total_bytes).map_err(|e| {
            if !resumes {
                names.forget();
            }
            failed("reserve room for", path, &e)
        })?;
        let (journal, done) = Journal::open(path, subject).map_err(|e| {
            TransferError::usage(
                format!("cannot go on with {}: {e}", journal_path.display()),
                "give --overwrite to begin anew",
            )
        })?;
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
            names: Some(names),
        })
    }

    /// Nothing came, now or earlier: nothing is left.
    pub fn forget(self) {
        if let Some(names) = self.names {
            names.forget();
        }
        if let Some(journal) = self.journal {
            // One that remains is of no blocks.
            let _ = journal.remove();
        }
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
