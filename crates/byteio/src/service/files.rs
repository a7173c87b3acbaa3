//! The files that are served: one, or those below a directory. Paths are resolved by the kernel beneath it, so that no
//! `..`, no absolute path and no link leads out, whatever changes meanwhile.

use crate::soap::Fault;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, StatxFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use wirespeed_schema::calendar::rfc3339;

/// How names begin that are nobody's business: versions that are being written.
pub const HIDDEN: &str = ".wirespeed-";

/// What a resource is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading.
    Read,
    /// Writing; it is there.
    Write,
}

/// Why a resource was not written.
pub enum Trouble {
    /// It cannot be opened.
    Denied(Denied),
    /// The system failed.
    Failed(io::Error),
}

impl From<Denied> for Trouble {
    fn from(denied: Denied) -> Self {
        Trouble::Denied(denied)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Trouble::Failed(error)
    }
}

/// Why a resource cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    /// There is none of that name, or none that may be seen.
    Unknown,
    /// None can be made: its folder is not there.
    NoFolder,
    /// It is there but may not be read.
    Read,
    /// Nothing may be written.
    Write,
    /// It is another version than the client wants to write to.
    Condition,
    /// The system failed.
    Failed(Errno),
}

impl From<Denied> for Fault {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Unknown => Fault::resource_unknown("no such resource"),
            Denied::NoFolder => Fault::resource_unknown("the folder that it goes into is not there"),
            Denied::Read => Fault::read_not_permitted("the service may not read this resource"),
            Denied::Write => Fault::write_not_permitted("this service is not writable"),
            Denied::Condition => Fault::server("the resource is of another version"),
            Denied::Failed(errno) => Fault::server(format!("cannot open the resource: {errno}")),
        }
    }
}

/// Facts of an open resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Its length.
    pub size_bytes: u64,
    /// Changes with every change that the clock can tell apart.
    pub tag: String,
    /// Times as RFC 3339: made, changed, read; the first where the file system knows it.
    pub times: [Option<String>; 3],
}

/// What is served.
pub struct Root {
    folder: OwnedFd,
    /// Name of the only file, where one file is served.
    only: Option<String>,
    writable: bool,
}

impl Root {
    /// Serve a directory or a file.
    pub fn open(path: &Path, writable: bool) -> io::Result<Root> {
        let path = path.canonicalize()?;
        let is_folder = std::fs::metadata(&path)?.is_dir();
        let invalid = |why| io::Error::new(io::ErrorKind::InvalidInput, why);
        let (folder, only) = match (is_folder, path.parent(), path.file_name()) {
            (false, Some(parent), Some(name)) => {
                let name = name.to_str();
                let name =
                    name.ok_or_else(|| invalid("the file there has a name that is not UTF-8: rename it"))?;
                (parent, Some(name.to_owned()))
            }
            _ => (path.as_path(), None),
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(folder, flags, Mode::empty())?;
        let root = Root {
            folder,
            only,
            writable,
        };
        if let Some(name) = &root.only {
            root.resource(&format!("/{name}"), Access::Read)
                .map_err(|_| invalid("neither a directory nor a file that can be read"))?;
        }
        Ok(root)
    }

    /// Whether anything may be written.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// The path beneath the folder that a decoded request path names.
    fn beneath<'a>(&'a self, path: &'a str) -> Result<&'a str, Denied> {
        let path = path.trim_start_matches('/');
        let path = match &self.only {
            Some(name) if path.is_empty() || path == name => name,
            Some(_) => return Err(Denied::Unknown),
            None => path,
        };
        let hidden = path.split('/').any(|part| part.starts_with(HIDDEN));
        match path.is_empty() || path.contains('\0') || hidden {
            true => Err(Denied::Unknown),
            false => Ok(path),
        }
    }

    fn open_beneath(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        rustix::fs::openat2(
            &self.folder,
            path,
            flags | OFlags::CLOEXEC,
            Mode::empty(),
            resolve,
        )
    }

    /// Open what a decoded request path names to write it; `None`: there is none yet, and one may be made.
    pub fn existing(&self, path: &str) -> Result<Option<File>, Denied> {
        match self.resource(path, Access::Write) {
            Ok(file) => Ok(Some(file)),
            Err(Denied::Unknown) => {
                let (folder, name) = self.folder_of(path)?;
                let named = rustix::fs::statat(&folder, &*name, AtFlags::SYMLINK_NOFOLLOW);
                match named {
                    Err(Errno::NOENT) => Ok(None),
                    _ => Err(Denied::Unknown),
                }
            }
            Err(denied) => Err(denied),
        }
    }

    /// The folder of what a decoded request path names, and its name there.
    pub fn folder_of(&self, path: &str) -> Result<(OwnedFd, String), Denied> {
        let path = self.beneath(path)?;
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        if matches!(name, "" | "." | "..") {
            return Err(Denied::Unknown);
        }
        let folder = self
            .open_beneath(folder, OFlags::PATH | OFlags::DIRECTORY)
            .map_err(|errno| match errno {
                Errno::NOENT | Errno::NOTDIR => Denied::NoFolder,
                errno => denied(errno, Access::Write),
            })?;
        Ok((folder, name.to_owned()))
    }

    /// A file without a name, on the disk that is served where that is possible.
    pub fn nameless(&self) -> io::Result<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.folder, ".", flags, Mode::from_raw_mode(0o600)) {
            Ok(file) => Ok(File::from(file)),
            Err(Errno::NOSPC | Errno::DQUOT) => Err(io::ErrorKind::StorageFull.into()),
            Err(_) => tempfile::tempfile(),
        }
    }

    /// Open what a decoded request path names.
    pub fn resource(&self, path: &str, access: Access) -> Result<File, Denied> {
        let path = self.beneath(path)?;
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::Write if !self.writable => return Err(Denied::Write),
            Access::Write => OFlags::RDWR,
        };
        // NONBLOCK: opening a fifo must not wait for its other end.
        let opened = self.open_beneath(path, flags | OFlags::NOCTTY | OFlags::NONBLOCK);
        let opened = opened.map_err(|errno| denied(errno, access))?;
        let kind = rustix::fs::fstat(&opened).map_err(Denied::Failed)?.st_mode;
        match FileType::from_raw_mode(kind) {
            FileType::RegularFile => Ok(File::from(opened)),
            _ => Err(Denied::Unknown),
        }
    }
}

fn denied(errno: Errno, access: Access) -> Denied {
    match (errno, access) {
        (Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV, _) => Denied::Unknown,
        (Errno::NAMETOOLONG | Errno::ISDIR | Errno::NXIO, _) => Denied::Unknown,
        (Errno::ACCESS | Errno::PERM | Errno::ROFS, Access::Write) => Denied::Write,
        (Errno::ACCESS | Errno::PERM, Access::Read) => Denied::Read,
        (other, _) => Denied::Failed(other),
    }
}

/// Facts of an open file.
pub fn facts(file: &File) -> io::Result<Facts> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    let found = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, wanted)?;
    let time = |seconds: i64| u64::try_from(seconds).ok().map(rfc3339);
    let born = found.stx_mask & StatxFlags::BTIME.bits() != 0;
    Ok(Facts {
        size_bytes: found.stx_size,
        tag: format!(
            "{:x}-{:x}-{:x}",
            found.stx_size, found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec
        ),
        times: [
            time(found.stx_btime.tv_sec).filter(|_| born),
            time(found.stx_mtime.tv_sec),
            time(found.stx_atime.tv_sec),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_leads_out() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("in");
        std::fs::create_dir_all(inside.join("sub")).unwrap();
        std::fs::write(folder.path().join("secret"), "x").unwrap();
        std::fs::write(inside.join("sub/file"), "x").unwrap();
        symlink("../secret", inside.join("out")).unwrap();
        symlink("/etc/passwd", inside.join("absolute")).unwrap();
        symlink("sub/file", inside.join("within")).unwrap();
        symlink("loop", inside.join("loop")).unwrap();
        let root = Root::open(&inside, false).unwrap();
        for good in ["/sub/file", "sub/file", "/within", "/sub/../sub/file"] {
            assert!(root.resource(good, Access::Read).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/",
            "/../secret",
            "/sub/../../secret",
            "/out",
            "/absolute",
            "/loop",
            "/sub",
            "/none",
            "/sub/file/x",
            "/a\0b",
            "/proc/self/root/etc/passwd",
        ] {
            assert_eq!(
                root.resource(bad, Access::Read).err(),
                Some(Denied::Unknown),
                "{bad}"
            );
        }
        assert_eq!(
            root.resource("/sub/file", Access::Write).err(),
            Some(Denied::Write)
        );
        let writable = Root::open(&inside, true).unwrap();
        assert!(matches!(writable.existing("/new"), Ok(None)));
        assert!(matches!(writable.existing("/sub/file"), Ok(Some(_))));
        for bad in [
            "/out",
            "/sub",
            "/../new",
            "/out/new",
            "/absolute/new",
            "/sub/.",
            "/.wirespeed-1",
            "/loop",
        ] {
            assert_eq!(writable.existing(bad).err(), Some(Denied::Unknown), "{bad}");
        }
        for lost in ["/none/new", "/sub/none/new", "/sub/file/new"] {
            assert_eq!(writable.existing(lost).err(), Some(Denied::NoFolder), "{lost}");
        }
    }

    #[test]
    fn one_file_is_all_there_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one");
        std::fs::write(&path, "12345").unwrap();
        std::fs::write(folder.path().join("two"), "x").unwrap();
        let root = Root::open(&path, false).unwrap();
        let file = root.resource("/", Access::Read).unwrap();
        assert_eq!(facts(&file).unwrap().size_bytes, 5);
        assert!(root.resource("/one", Access::Read).is_ok());
        assert_eq!(root.resource("/two", Access::Read).err(), Some(Denied::Unknown));
        assert!(Root::open(Path::new("/dev/null"), false).is_err());
        let unnamed = folder.path().join(OsStr::from_bytes(b"\xff"));
        std::fs::write(&unnamed, "x").unwrap();
        let refused = Root::open(&unnamed, false).err().unwrap();
        assert!(refused.to_string().contains("not UTF-8"), "{refused}");
    }
}
