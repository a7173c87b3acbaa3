//! Where a transfer's bytes go at this end: a file beside the one that was named, which takes its name when it is whole. It
//! is reserved before the clock runs, so that a full disk is known at once, and joined with what an earlier transfer left.
//!
//! A transfer that is refused must change nothing, and no file may be named whole that is longer than the resource, or holds
//! a block that nobody has compared with what the journal says of it.

use super::asked::{Claim, Target, TransferError};
use super::journal::{self, Done, Journal, Subject};
use super::session::STOPPED;
use crate::digest::{self, DigestKind};
use crate::room::reserve;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use wirespeed::bulk::Destination;
use wirespeed::sync::mapping;
use wirespeed_control::StopFlag;

/// Of a file that is new, less the user's umask.
const MODE: u32 = 0o666;

/// A destination made ready.
pub(super) struct Place {
    pub destination: Destination,
    pub journal: Option<Journal>,
    pub done: Done,
    pub names: Option<Names>,
    /// Whoever has it locked writes the file.
    _held: Option<File>,
}

/// The names of a file that is fetched.
#[derive(Debug, Clone)]
pub(super) struct Names {
    /// While it is not whole.
    part: PathBuf,
    /// Then.
    whole: PathBuf,
    claim: Claim,
}

impl Names {
    /// Of `path`, where the claim allows what is there: nothing is changed.
    fn of(path: &Path, claim: Claim) -> Result<Names, TransferError> {
        // A link stays one, and what it stands for is replaced.
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        match whole.symlink_metadata() {
            Ok(there) if !there.is_file() => {
                return Err(TransferError::usage(
                    format!("{} is no regular file", path.display()),
                    "name a file; `wirespeed byteio bench` without --into drops what comes",
                ));
            }
            Ok(_) if claim == Claim::New => {
                return Err(TransferError::usage(
                    format!("{} is there already", path.display()),
                    "name another file, or give --overwrite",
                ));
            }
            _ => {}
        }
        let mut part = whole.clone().into_os_string();
        part.push(".wirespeed-part");
        Ok(Names {
            part: PathBuf::from(part),
            whole,
            claim,
        })
    }

    /// The file is whole: it takes its name. Without leave it replaces nothing that came meanwhile; what it replaces gives it
    /// its mode, and its owner where that is allowed.
    fn finish(&self) -> io::Result<()> {
        if self.claim != Claim::New {
            if let Ok(old) = self.whole.metadata() {
                let same_owner = chown(&self.part, Some(old.uid()), Some(old.gid())).is_ok();
                let bits = if same_owner { 0o7777 } else { 0o777 };
                std::fs::set_permissions(&self.part, Permissions::from_mode(old.mode() & bits))?;
            }
            return std::fs::rename(&self.part, &self.whole);
        }
        match renameat_with(CWD, &self.part, CWD, &self.whole, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            // The file system cannot tell.
            Err(Errno::INVAL | Errno::NOSYS) => std::fs::rename(&self.part, &self.whole),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The part, new or left by an earlier transfer, and nobody else's while the file is open; whether it was there.
    fn hold(&self) -> io::Result<(File, bool)> {
        // What replaces a private file is private from its first byte.
        let mode = self
            .whole
            .metadata()
            .map_or(MODE, |old| old.mode() & 0o777 | 0o600);
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(mode);
        let (file, was_there) = match options.clone().create_new(true).open(&self.part) {
            Ok(file) => (file, false),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => (options.open(&self.part)?, true),
            Err(error) => return Err(error),
        };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(ErrorKind::ResourceBusy.into()),
            // Without locks on its file system, nobody else can be told of.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        // Whoever held it may have given it its name meanwhile.
        let (named, opened) = (self.part.symlink_metadata()?, file.metadata()?);
        match (named.dev(), named.ino()) == (opened.dev(), opened.ino()) && opened.is_file() {
            true => Ok((file, was_there)),
            false => Err(ErrorKind::ResourceBusy.into()),
        }
    }

    /// Whether what broke off is kept for the next transfer.
    fn is_kept(&self) -> bool {
        self.claim != Claim::Measure
    }

    /// What is there is of no use: nothing is left.
    fn forget(&self) {
        // What remains is taken up or refused by the next transfer.
        let _ = std::fs::remove_file(&self.part);
    }
}

impl Place {
    /// Make it ready, until `stop` is raised; an error leaves everything as it was.
    pub fn open(target: &Target, subject: &Subject, stop: &StopFlag) -> Result<Place, TransferError> {
        let (path, claim, maps) = match target {
            Target::Discard => {
                return Ok(Place {
                    destination: Destination::Discard,
                    journal: None,
                    done: Done::new(),
                    names: None,
                    _held: None,
                });
            }
            Target::File { path, claim } => (path, *claim, false),
            // There is no mapping of nothing.
            Target::Map { path, claim } => (path, *claim, subject.total_bytes > 0),
        };
        let names = Names::of(path, claim)?;
        let (file, was_there) = names.hold().map_err(|e| match e.kind() {
            ErrorKind::ResourceBusy => TransferError::failed(
                format!("another transfer writes {}", path.display()),
                "wait for its end, or name another file",
            ),
            _ => failed("write", path, &e),
        })?;
        // Without a tag and without digests nothing tells that the blocks are of the version that is there now.
        let is_known = subject.tag.is_some() || !subject.digest.is_empty();
        let resumes = claim == Claim::New && was_there && is_known && journal::path_of(&names.whole).exists();
        let filled = filled(&names, &file, (subject, stop), (resumes, maps));
        if filled.is_err() && !resumes {
            names.forget();
            // One that remains is of a part that is gone.
            let _ = std::fs::remove_file(journal::path_of(&names.whole));
        }
        let (destination, journal, done) = filled?;
        Ok(Place {
            destination,
            journal,
            done,
            names: Some(names),
            _held: Some(file),
        })
    }

    /// The file is whole and takes its name.
    pub fn finish(&mut self) -> io::Result<()> {
        self.names.as_ref().map_or(Ok(()), Names::finish)?;
        self.journal.take().map_or(Ok(()), Journal::remove)
    }

    /// The transfer broke off: nothing is left where nothing of use came, now or earlier, or where nobody goes on.
    pub fn break_off(self, is_useless: bool) {
        let Some(names) = self.names.filter(|names| is_useless || !names.is_kept()) else {
            return;
        };
        names.forget();
        if let Some(journal) = self.journal {
            // One that remains is of no blocks.
            let _ = journal.remove();
        }
    }
}

/// The part with its whole length, its journal, and the blocks that are there already.
fn filled(
    names: &Names,
    file: &File,
    (subject, stop): (&Subject, &StopFlag),
    (resumes, maps): (bool, bool),
) -> Result<(Destination, Option<Journal>, Done), TransferError> {
    let path = &names.whole;
    let journal_path = journal::path_of(path);
    if !resumes {
        match std::fs::remove_file(&journal_path) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(failed("remove", &journal_path, &e)),
            _ => file.set_len(0).map_err(|e| failed("write", path, &e))?,
        }
    }
    let (journal, done) = match names.is_kept() {
        false => (None, None),
        true => {
            let (journal, done) = Journal::open(path, subject).map_err(|e| match e.kind() {
                ErrorKind::InvalidData => TransferError::usage(
                    format!("cannot go on with {}: {e}", journal_path.display()),
                    "give --overwrite to begin anew",
                ),
                _ => failed("write", &journal_path, &e),
            })?;
            (Some(journal), done)
        }
    };
    let done = there(done.unwrap_or_default(), file, subject, stop)?;
    reserve(file, 0, subject.total_bytes)
        .and_then(|()| file.set_len(subject.total_bytes))
        .map_err(|e| failed("reserve room for", path, &e))?;
    let destination = match maps {
        false => Destination::File(file.try_clone().map_err(|e| failed("write", path, &e))?),
        true => {
            let len = usize::try_from(subject.total_bytes).map_err(|_| {
                TransferError::usage(
                    "the resource is too large to map".to_owned(),
                    "write it to a file",
                )
            })?;
            Destination::Map(mapping::of_file(file, len).map_err(|e| failed("map", path, &e.into()))?)
        }
    };
    Ok((destination, journal, done))
}

/// The blocks of a journal that the part really holds: others are fetched again. Where there are no digests, a part of the
/// right length is believed.
fn there(mut done: Done, file: &File, subject: &Subject, stop: &StopFlag) -> Result<Done, TransferError> {
    let kind = DigestKind::of_name(&subject.digest);
    let is_long = file
        .metadata()
        .is_ok_and(|there| there.len() >= subject.total_bytes);
    done.retain(|index, digest| {
        let offset = index * subject.block_bytes;
        let size = subject.block_bytes.min(subject.total_bytes - offset);
        match kind {
            None => is_long,
            // Whoever wants to stop does not wait for the rest.
            Some(_) if stop.is_requested() => false,
            Some(kind) => digest::of_file(kind, file, offset, size).is_ok_and(|found| found == *digest),
        }
    });
    match stop.is_requested() {
        true => Err(TransferError::failed(STOPPED, "give the same command again")),
        false => Ok(done),
    }
}

fn failed(what: &str, path: &Path, error: &io::Error) -> TransferError {
    TransferError::failed(
        format!("cannot {what} {}: {error}", path.display()),
        "check the path, its permissions and the room on its disk",
    )
}
