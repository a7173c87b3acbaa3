//! New versions of resources: written where nobody sees them, put in place whole, or gone without a trace. A request that
//! fails must never leave anything of them behind.

use super::files::{self, Denied, Root};
use super::streams::random_hex;
use crate::room::reserve;
use parking_lot::Mutex;
use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::fs::{fchmod, fchown, flock, linkat, openat, renameat, renameat_with, statat, unlinkat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a version waits for whoever writes it.
const LIFE: Duration = Duration::from_secs(600);
/// Bytes copied at once.
const WINDOW_BYTES: usize = 256 << 10;

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
            (Place::File(into), _) => copy_into(&self.file, into)?,
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
    let hex = random_hex().ok_or_else(|| io::Error::other("no random numbers"))?;
    Ok(format!("{}{hex}", files::HIDDEN))
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

/// The whole of one file in the place of the whole of another, which keeps its identity.
fn copy_into(from: &File, into: &File) -> io::Result<()> {
    flock(into, FlockOperation::LockExclusive)?;
    let total = from.metadata()?.len();
    reserve(into, 0, total)?;
    let (mut window, mut at) = (vec![0; WINDOW_BYTES], 0);
    loop {
        match from.read_at(&mut window, at)? {
            0 => return into.set_len(total),
            count => into.write_all_at(&window[..count], at)?,
        }
        at = (at + WINDOW_BYTES as u64).min(total);
    }
}

/// Data of one request until all of it is understood: little in memory, much in a file without a name.
#[derive(Default)]
pub(super) struct Spool {
    held: Vec<u8>,
    file: Option<File>,
    /// Bytes in it.
    pub bytes: u64,
}

impl Spool {
    /// Take a piece; no more than `bytes_max` in all.
    pub fn put(&mut self, root: &Root, piece: &[u8], bytes_max: u64) -> io::Result<()> {
        if piece.len() as u64 > bytes_max.saturating_sub(self.bytes) {
            let why = "more data than this service takes at once";
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, why));
        }
        if self.held.len() + piece.len() > WINDOW_BYTES {
            self.flush(root)?;
        }
        self.held.extend_from_slice(piece);
        self.bytes += piece.len() as u64;
        Ok(())
    }

    fn flush(&mut self, root: &Root) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(root.nameless()?),
        };
        let at = self.bytes - self.held.len() as u64;
        file.write_all_at(&self.held, at)?;
        self.held.clear();
        Ok(())
    }

    /// Hand everything on, in order; it can be asked for again.
    pub fn copy(&self, mut sink: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        if let Some(file) = &self.file {
            let (mut window, mut at) = (vec![0; WINDOW_BYTES], 0);
            let filed = self.bytes - self.held.len() as u64;
            while at < filed {
                let want = window
                    .len()
                    .min(usize::try_from(filed - at).unwrap_or(usize::MAX));
                file.read_exact_at(&mut window[..want], at)?;
                sink(&window[..want])?;
                at += want as u64;
            }
        }
        match self.held.is_empty() {
            true => Ok(()),
            false => sink(&self.held),
        }
    }
}

/// A version that clients write by name.
struct Entry {
    path: String,
    stage: Arc<Stage>,
    touched: Instant,
}

/// All versions that clients write, each under a name that cannot be guessed.
pub(super) struct Stages {
    open: Mutex<HashMap<String, Entry>>,
    max: usize,
}

impl Stages {
    pub fn new(max: usize) -> Self {
        Stages {
            open: Mutex::default(),
            max,
        }
    }

    /// Drop those that nobody uses any more.
    pub fn sweep(&self) {
        // One in use by a connection is being written.
        self.open
            .lock()
            .retain(|_, entry| Arc::strong_count(&entry.stage) > 1 || entry.touched.elapsed() < LIFE);
    }

    /// Begin one; its name, or `None` when there are too many.
    pub fn begin(&self, root: &Root, path: &str) -> Result<Option<String>, Denied> {
        let stage = Arc::new(Stage::begin(root, path)?);
        let id = random_hex();
        let mut open = self.open.lock();
        let Some(id) = id.filter(|_| open.len() < self.max) else {
            return Ok(None);
        };
        let entry = Entry {
            path: path.to_owned(),
            stage,
            touched: Instant::now(),
        };
        open.insert(id.clone(), entry);
        Ok(Some(id))
    }

    /// The version of `path` with this name.
    pub fn find(&self, id: &str, path: &str) -> Option<Arc<Stage>> {
        let mut open = self.open.lock();
        let entry = open.get_mut(id).filter(|entry| entry.path == path)?;
        entry.touched = Instant::now();
        Some(entry.stage.clone())
    }

    /// End one, in place or not; what became of it.
    pub fn end(&self, id: &str, path: &str, commits: bool) -> Result<(), Ended> {
        let stage = self.find(id, path).ok_or(Ended::Unknown)?;
        self.open.lock().remove(id);
        match commits {
            true => stage.commit().map_err(Ended::Failed),
            false => Ok(()),
        }
    }
}

/// Why a version did not end as it was to.
pub(super) enum Ended {
    /// There is none of that name.
    Unknown,
    /// The system failed.
    Failed(io::Error),
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

    #[test]
    fn a_spool_gives_back_what_it_took() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path(), true).unwrap();
        let mut spool = Spool::default();
        let data: Vec<u8> = (0..700_001u32).map(|n| ((n * 7) >> 3) as u8).collect();
        for piece in data.chunks(100_003) {
            spool.put(&root, piece, 1 << 20).unwrap();
        }
        assert!(spool.put(&root, &data, 1 << 20).is_err());
        for _ in 0..2 {
            let mut found = Vec::new();
            spool
                .copy(|piece| {
                    found.extend_from_slice(piece);
                    Ok(())
                })
                .unwrap();
            assert!(found == data);
        }
        assert!(names(folder.path()).is_empty());
    }
}
