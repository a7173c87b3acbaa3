//! New versions of resources: written where nobody sees them, put in place whole, or gone without a trace. A request that
//! fails must never leave anything of them behind.

use super::files::{self, Denied, Root};
use super::spool::each_window;
use crate::digest::random_hex;
use crate::room::reserve;
use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::fs::{fchmod, fchown, flock, linkat, openat, renameat, renameat_with, statat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// Where a version goes.
enum Place {
    /// Under this name, in the place of what is there.
    Name { folder: OwnedFd, name: String },
    /// Into this file: its folder, its links or its owner do not allow another of its name.
    File(File),
}

/// A version that is not in place yet.
pub(super) struct Stage {
    /// Its bytes so far.
    pub file: File,
    place: Place,
    /// Its name until then, where the file system knows no files without one.
    hidden: Option<String>,
    done: AtomicBool,
}

/// Whether a new name was taken.
pub(super) enum Linked {
    /// By this version.
    Here,
    /// Somebody else's was there first.
    Taken,
}

impl Stage {
    /// An empty version of what `path` names, whether it is there yet or not.
    pub fn begin(root: &Root, path: &str) -> Result<Stage, Denied> {
        let there = root.existing(path)?;
        let (folder, name) = root.folder_of(path)?;
        let mode = Mode::from_raw_mode(0o644);
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let (made, hidden) = match openat(&folder, ".", flags | OFlags::TMPFILE, mode) {
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {
                let hidden = hidden_name().map_err(|_| Denied::Failed(Errno::IO))?;
                let made = openat(&folder, &*hidden, flags | OFlags::CREATE | OFlags::EXCL, mode);
                (made, Some(hidden))
            }
            made => (made, None),
        };
        let (made, place) = match (made, there) {
            (Ok(made), None) => (File::from(made), Place::Name { folder, name }),
            (Ok(made), Some(there)) => {
                let made = File::from(made);
                let place = match can_replace(&there, &made, &folder, &name) {
                    true => Place::Name { folder, name },
                    false => {
                        if let Some(hidden) = &hidden {
                            unlinkat(&folder, &**hidden, AtFlags::empty()).map_err(Denied::Failed)?;
                        }
                        return Ok(Stage::of(made, Place::File(there), None));
                    }
                };
                (made, place)
            }
            (Err(Errno::ACCESS | Errno::PERM | Errno::ROFS), Some(there)) => {
                let made = tempfile::tempfile().map_err(|_| Denied::Failed(Errno::IO))?;
                return Ok(Stage::of(made, Place::File(there), None));
            }
            (Err(Errno::ACCESS | Errno::PERM | Errno::ROFS), None) => return Err(Denied::Write),
            (Err(errno), _) => return Err(Denied::Failed(errno)),
        };
        Ok(Stage::of(made, place, hidden))
    }

    fn of(file: File, place: Place, hidden: Option<String>) -> Stage {
        Stage {
            file,
            place,
            hidden,
            done: AtomicBool::new(false),
        }
    }

    /// Put it in the place of what is there.
    pub fn commit(&self) -> io::Result<()> {
        match (&self.place, &self.hidden) {
            (Place::File(into), _) => copy_into(&self.file, self.file.metadata()?.len(), into)?,
            (Place::Name { folder, name }, Some(hidden)) => renameat(folder, &**hidden, folder, &**name)?,
            (Place::Name { folder, name }, None) => {
                let hidden = hidden_name()?;
                self.link(folder, &hidden)?;
                renameat(folder, &*hidden, folder, &**name).inspect_err(|_| {
                    // Should this fail too, a file remains that is offered to nobody.
                    let _ = unlinkat(folder, &*hidden, AtFlags::empty());
                })?;
            }
        }
        self.done.store(true, Ordering::Release);
        Ok(())
    }

    /// Give it its name, if nobody else has it.
    pub fn commit_new(&self) -> io::Result<Linked> {
        let linked = match (&self.place, &self.hidden) {
            (Place::File(_), _) => return Ok(Linked::Taken),
            (Place::Name { folder, name }, Some(hidden)) => {
                renameat_with(folder, &**hidden, folder, &**name, RenameFlags::NOREPLACE)
            }
            (Place::Name { folder, name }, None) => self.link(folder, name),
        };
        match linked {
            Ok(()) => {
                self.done.store(true, Ordering::Release);
                Ok(Linked::Here)
            }
            Err(Errno::EXIST) => Ok(Linked::Taken),
            Err(errno) => Err(errno.into()),
        }
    }

    fn link(&self, folder: &OwnedFd, name: &str) -> Result<(), Errno> {
        let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        linkat(CWD, own, folder, name, AtFlags::SYMLINK_FOLLOW)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let (Place::Name { folder, .. }, Some(hidden), false) =
            (&self.place, &self.hidden, *self.done.get_mut())
        {
            // Should this fail, a file remains that is offered to nobody.
            let _ = unlinkat(folder, &**hidden, AtFlags::empty());
        }
    }
}

fn hidden_name() -> io::Result<String> {
    Ok(format!("{}{}", files::HIDDEN, random_hex()?))
}

/// Whether `made` may take the place of `there`: it is what the name stands for and nothing else is, and its owner and mode
/// could be given to `made`.
fn can_replace(there: &File, made: &File, folder: &OwnedFd, name: &str) -> bool {
    let (Ok(old), Ok(new)) = (there.metadata(), made.metadata()) else {
        return false;
    };
    let Ok(named) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
        return false;
    };
    let is_itself = FileType::from_raw_mode(named.st_mode) == FileType::RegularFile
        && (named.st_dev, named.st_ino) == (old.dev(), old.ino());
    let owner = (old.uid(), old.gid()) == (new.uid(), new.gid())
        || fchown(
            made,
            Some(rustix::fs::Uid::from_raw(old.uid())),
            Some(rustix::fs::Gid::from_raw(old.gid())),
        )
        .is_ok();
    is_itself && old.nlink() == 1 && owner && fchmod(made, Mode::from_raw_mode(old.mode() & 0o7777)).is_ok()
}

/// All `total_bytes` of one file in the place of the whole of another, which keeps its identity.
fn copy_into(from: &impl FileExt, total_bytes: u64, into: &File) -> io::Result<()> {
    flock(into, FlockOperation::LockExclusive)?;
    reserve(into, 0, total_bytes)?;
    let mut at = 0;
    each_window(from, total_bytes, |piece| {
        into.write_all_at(piece, at)?;
        at += piece.len() as u64;
        io::Result::Ok(())
    })?;
    into.set_len(total_bytes)
}

/// Do `write` to what `path` names: to the file that is there, or to a new one that gets its name when it is whole.
pub(super) fn write_to<E: From<Denied> + From<io::Error>>(
    root: &Root,
    path: &str,
    mut write: impl FnMut(&File) -> Result<(), E>,
) -> Result<(), E> {
    loop {
        if let Some(file) = root.existing(path)? {
            return write(&file);
        }
        let stage = Stage::begin(root, path)?;
        write(&stage.file)?;
        if let Linked::Here = stage.commit_new()? {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::files::Access;
    use std::os::unix::fs::symlink;

    fn names(folder: &std::path::Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_version_is_seen_when_it_is_whole_or_never() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        std::fs::write(&file, "old").unwrap();
        let root = Root::open(folder.path(), true).unwrap();
        let reader = root.resource("/f", Access::Read).unwrap();
        for (name, commits) in [("/f", false), ("/f", true), ("/new", false), ("/new", true)] {
            let stage = Stage::begin(&root, name).unwrap();
            stage.file.write_all_at(b"other", 0).unwrap();
            let before = names(folder.path());
            if commits {
                stage.commit().unwrap();
                assert_eq!(std::fs::read(folder.path().join(&name[1..])).unwrap(), b"other");
            } else {
                drop(stage);
                assert_eq!(names(folder.path()), before);
            }
        }
        assert_eq!(names(folder.path()), ["f", "new"]);
        let mut old = [0; 3];
        reader.read_exact_at(&mut old, 0).unwrap();
        assert_eq!(&old, b"old", "who reads goes on with what was opened");
    }

    #[test]
    fn links_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        std::fs::write(&file, "something old").unwrap();
        symlink("f", folder.path().join("soft")).unwrap();
        std::fs::hard_link(&file, folder.path().join("hard")).unwrap();
        let root = Root::open(folder.path(), true).unwrap();
        for (name, content) in [("/soft", "one"), ("/hard", "another")] {
            let stage = Stage::begin(&root, name).unwrap();
            stage.file.write_all_at(content.as_bytes(), 0).unwrap();
            stage.commit().unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), content);
        }
        assert!(folder.path().join("soft").is_symlink());
    }

    #[test]
    fn two_first_writes_both_stay() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path(), true).unwrap();
        let mut tries = 0;
        let written: Result<(), files::Trouble> = write_to(&root, "/f", |file| {
            tries += 1;
            if tries == 1 {
                std::fs::write(folder.path().join("f"), "ab").unwrap();
            }
            Ok(file.write_all_at(b"c", 2)?)
        });
        assert!(written.is_ok());
        assert_eq!(std::fs::read(folder.path().join("f")).unwrap(), b"abc");
        assert_eq!(names(folder.path()), ["f"]);
    }

    /// A file of which a read gives less than was asked for, as a signal or a network file system may.
    struct Short(File);

    impl FileExt for Short {
        fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
            let count = buffer.len().min(1000);
            self.0.read_at(&mut buffer[..count], at)
        }

        fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
            self.0.write_at(bytes, at)
        }
    }

    #[test]
    fn a_short_read_skips_nothing_and_an_early_end_is_an_error() {
        let data: Vec<u8> = (0..600_001u32).map(|n| ((n * 7) >> 3) as u8).collect();
        let (from, into) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        from.write_all_at(&data, 0).unwrap();
        into.set_len(700_000).unwrap();
        let (from, total) = (Short(from), data.len() as u64);
        copy_into(&from, total, &into).unwrap();
        let mut found = vec![0; data.len()];
        into.read_exact_at(&mut found, 0).unwrap();
        assert!(found == data && into.metadata().unwrap().len() == total);
        let error = copy_into(&from, total + 1, &into).unwrap_err();
        // Not one of the connection: the client is to be told.
        assert_eq!(error.kind(), io::ErrorKind::Other);
    }
}
