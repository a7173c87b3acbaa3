//! Files that are written for the user. A whole file is written aside, in the folder of its final name, and renamed when
//! it is complete: under that name there is always either what was there before or the new content. What is no regular
//! file (a device, a pipe) is written directly.
//!
//! It must never truncate a file before its new content is on the disk, and leave nothing of its own behind.

use crate::errors::Failure;
use crate::outlet::{self, Outlet};
use crate::words;
use rustix::fs::{FallocateFlags, Gid, Uid, fallocate, fchown};
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::{Builder, NamedTempFile};
use wirespeed_schema::shown::quoted;

/// Symbolic links that are followed before they are taken for a circle, as by the kernel.
const LINKS_MAX: u32 = 40;
/// Of a file that is new, less the user's umask.
const MODE: u32 = 0o666;
/// A named pipe that nobody reads is waited for so long.
const READER_TIME: Duration = Duration::from_secs(10);
/// Between two looks for its reader.
const LOOK: Duration = Duration::from_millis(20);

/// What a name stands for, symbolic links followed.
#[derive(Debug)]
enum Target {
    /// Nothing yet.
    New(PathBuf),
    /// A file that can be replaced.
    Regular(PathBuf, Metadata),
    /// Anything else, written as it comes.
    Direct,
}

/// Find out whether `path` can be written; nothing is changed, and nothing made.
pub fn check(path: &Path) -> Result<(), Failure> {
    check_target(path).map_err(|e| Failure::file("write", path, &e))
}

fn check_target(path: &Path) -> io::Result<()> {
    match target(path)? {
        Target::New(place) => aside(&place).map(drop),
        Target::Regular(place, _) => OpenOptions::new().append(true).open(place).map(drop),
        // Opening a pipe has consequences; its permissions are enough.
        Target::Direct => {
            rustix::fs::access(path, rustix::fs::Access::WRITE_OK)?;
            Ok(())
        }
    }
}

/// Let `path` have the content `bytes`; where that fails, it keeps what it had.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    write_target(path, bytes.as_ref()).map_err(|e| Failure::file("write", path, &e))
}

fn write_target(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match target(path)? {
        Target::New(place) => replace(&place, None, bytes).map(drop),
        Target::Regular(place, before) => replace(&place, Some(&before), bytes).map(drop),
        Target::Direct => Outlet::new().write(open_direct(path)?, bytes),
    }
}

/// A file that grows by whole lines while the program works. The earlier file is there until the first line is written.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    file: Option<File>,
    /// Length of what is whole.
    whole_bytes: u64,
    /// The way to what is no regular file.
    direct: Option<Outlet>,
}

impl Lines {
    /// Lines for `path`, which must be writable.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        check(path)?;
        Ok(Lines {
            path: path.to_owned(),
            file: None,
            whole_bytes: 0,
            direct: None,
        })
    }

    /// Append a line; what was written of one that did not fit is taken back.
    pub fn append(&mut self, line: &str) -> Result<(), Failure> {
        self.add(line).map_err(|e| Failure::file("write", &self.path, &e))
    }

    fn add(&mut self, line: &str) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            self.file = Some(match target(&self.path)? {
                Target::New(place) => replace(&place, None, line.as_bytes())?,
                Target::Regular(place, before) => replace(&place, Some(&before), line.as_bytes())?,
                Target::Direct => {
                    let outlet = self.direct.insert(Outlet::new());
                    let file = open_direct(&self.path)?;
                    outlet.write(&file, line.as_bytes())?;
                    file
                }
            });
            self.whole_bytes = line.len() as u64;
            return Ok(());
        };
        if let Some(outlet) = &self.direct {
            return outlet.write(file, line.as_bytes());
        }
        file.write_all_at(line.as_bytes(), self.whole_bytes)
            .inspect_err(|_| {
                // The failure itself is what is told.
                let _ = file.set_len(self.whole_bytes);
            })?;
        self.whole_bytes += line.len() as u64;
        Ok(())
    }
}

fn target(path: &Path) -> io::Result<Target> {
    // No file can have such a name, also where there is nothing yet.
    let name = path.as_os_str().as_encoded_bytes();
    if name.ends_with(b"/") || name.ends_with(b"/.") {
        return Err(ErrorKind::IsADirectory.into());
    }
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => return Ok(Target::Direct),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut place = path.to_owned();
    for _ in 0..LINKS_MAX {
        // What a process has open, such as its stdout, is written where it is: others write there too.
        if place.starts_with("/proc") {
            return Ok(Target::Direct);
        }
        match std::fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => place = folder(&place).join(std::fs::read_link(&place)?),
            Ok(found) => return Ok(Target::Regular(place, found)),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Target::New(place)),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// `path` as a message may show it: in one line, and without what a terminal obeys.
pub fn shown(path: &Path) -> String {
    quoted(&words::of(path.as_os_str()), usize::MAX)
}

/// The name of `path` for other programs, and documents, that have it as text. Errors where it is none.
pub fn text(path: &Path) -> Result<String, Failure> {
    text_or(path, "give it a name in UTF-8, or a link with one")
}

/// The same, where something else helps.
pub fn text_or(path: &Path, remedy: &str) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::usage(
            format!("{} is not UTF-8, and is given to others as text", shown(path)),
            remedy,
        )
    })
}

/// The folder of `place`.
pub fn folder(place: &Path) -> &Path {
    match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A file beside `place`, gone when it is dropped.
fn aside(place: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".wirespeed-").suffix(".partial");
    builder
        .permissions(Permissions::from_mode(MODE))
        .tempfile_in(folder(place))
        // Its cause, without the name that only this function knows.
        .map_err(|e| {
            let text = e.to_string();
            let cause = text.rsplit_once(" at path \"").map_or(&*text, |(cause, _)| cause);
            io::Error::new(e.kind(), cause)
        })
}

/// Put `bytes` under the name `place`; the file, open for more.
fn replace(place: &Path, before: Option<&Metadata>, bytes: &[u8]) -> io::Result<File> {
    let Some(before) = before else {
        return filled(aside(place)?, bytes)?.persist(place).map_err(|e| e.error);
    };
    let refused = |e: &io::Error| {
        let kinds = [
            ErrorKind::PermissionDenied,
            ErrorKind::ReadOnlyFilesystem,
            ErrorKind::ResourceBusy,
        ];
        kinds.contains(&e.kind())
    };
    // Whoever may write a file may not always replace it: its folder is another's, or it is a mount of its own.
    let fresh = match aside(place) {
        Ok(fresh) if before.nlink() == 1 && has_kept(&fresh, before) => fresh,
        Err(error) if !refused(&error) => return Err(error),
        _ => return overwrite(place, bytes),
    };
    match filled(fresh, bytes)?.persist(place) {
        Err(error) if refused(&error.error) => overwrite(place, bytes),
        done => done.map_err(|e| e.error),
    }
}

/// Whether `fresh` has got owner and permissions of the file that it will replace.
fn has_kept(fresh: &NamedTempFile, before: &Metadata) -> bool {
    let file = fresh.as_file();
    let own = file.metadata().map(|own| (own.uid(), own.gid()));
    let is_owner = own.is_ok_and(|own| own == (before.uid(), before.gid()));
    let owner = (Uid::from_raw(before.uid()), Gid::from_raw(before.gid()));
    let owned = is_owner || fchown(file, Some(owner.0), Some(owner.1)).is_ok();
    owned && file.set_permissions(before.permissions()).is_ok()
}

/// All of it on the disk: some file systems only then tell that there is no room.
fn filled(mut fresh: NamedTempFile, bytes: &[u8]) -> io::Result<NamedTempFile> {
    fresh.as_file_mut().write_all(bytes)?;
    fresh.as_file().sync_all()?;
    Ok(fresh)
}

/// Write over a file that cannot be replaced, when there is room for all of it.
fn overwrite(place: &Path, bytes: &[u8]) -> io::Result<File> {
    let file = OpenOptions::new().write(true).open(place)?;
    let (before, length) = (file.metadata()?.len(), bytes.len() as u64);
    if length > before
        && let Err(error) = fallocate(&file, FallocateFlags::empty(), before, length - before)
        // A file system that cannot promise room has to be tried.
        && error != rustix::io::Errno::OPNOTSUPP
    {
        file.set_len(before)?;
        return Err(error.into());
    }
    file.write_all_at(bytes, 0)?;
    file.set_len(length)?;
    file.sync_all()?;
    Ok(file)
}

/// Open what is no regular file; a pipe needs somebody who reads it.
fn open_direct(path: &Path) -> io::Result<File> {
    let mut deadline = Instant::now() + READER_TIME;
    let mut is_hurried = false;
    loop {
        let opened = OpenOptions::new()
            .append(true)
            .custom_flags(libc_nonblock())
            .open(path);
        match opened {
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
                let now = Instant::now();
                if !is_hurried && outlet::is_over() {
                    is_hurried = true;
                    deadline = deadline.min(now + outlet::GRACE);
                }
                if now >= deadline {
                    return Err(match is_hurried {
                        true => ErrorKind::TimedOut.into(),
                        false => io::Error::new(ErrorKind::NotConnected, "nobody reads this pipe"),
                    });
                }
                std::thread::sleep(LOOK);
            }
            Ok(file) => {
                let flags = rustix::fs::fcntl_getfl(&file)? - rustix::fs::OFlags::NONBLOCK;
                rustix::fs::fcntl_setfl(&file, flags)?;
                return Ok(file);
            }
            Err(error) => return Err(error),
        }
    }
}

/// The flag in the form that the standard library takes.
fn libc_nonblock() -> i32 {
    rustix::fs::OFlags::NONBLOCK.bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<_> = entries
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_check_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        check(&dir.path().join("new")).unwrap();
        assert_eq!(names(dir.path()), Vec::<String>::new());
        assert!(check(&dir.path().join("no/such")).is_err());
        assert!(check(dir.path()).is_err());
    }

    #[test]
    fn a_name_of_a_folder_is_refused_before_anything_is_measured() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["new.json/", "new.json/.", "new.json//"] {
            let refused = check(&dir.path().join(name)).unwrap_err();
            assert!(refused.cause.contains("is a directory"), "{name}: {refused:?}");
        }
    }

    #[test]
    fn permissions_links_and_names_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("real");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let link = dir.path().join("link");
        symlink("real", &link).unwrap();
        write(&link, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o640
        );
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        let dangling = dir.path().join("dangling");
        symlink("fresh", &dangling).unwrap();
        write(&dangling, "fresh").unwrap();
        // Two names of one file stay two names of it.
        let other = dir.path().join("other");
        std::fs::hard_link(&path, &other).unwrap();
        write(&path, "longer than it was").unwrap();
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "longer than it was");
        write(&path, "short").unwrap();
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "short");
        assert_eq!(names(dir.path()), ["dangling", "fresh", "link", "other", "real"]);
        let circle = dir.path().join("circle");
        symlink("circle", &circle).unwrap();
        assert!(write(&circle, "").is_err());
    }

    #[test]
    fn pipes_and_devices_are_written_directly() {
        let dir = tempfile::tempdir().unwrap();
        write(Path::new("/dev/null"), "gone").unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        check(&pipe).unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || {
                let mut text = String::new();
                File::open(pipe).unwrap().read_to_string(&mut text).unwrap();
                text
            }
        });
        write(&pipe, "through").unwrap();
        assert_eq!(reader.join().unwrap(), "through");
        assert_eq!(names(dir.path()), ["pipe"]);
        assert_eq!(
            write(Path::new("/dev/full"), "much").unwrap_err().code,
            crate::errors::exit::FAILED
        );
    }

    #[test]
    fn lines_take_the_earlier_files_place_with_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events");
        std::fs::write(&path, "earlier, and longer\n").unwrap();
        let mut lines = Lines::open(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "earlier, and longer\n");
        for expected in ["1\n", "1\n2\n"] {
            lines.append(&expected[expected.len() - 2..]).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        }
        assert_eq!(names(dir.path()), ["events"]);
    }
}
