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

/// What a resource is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading.
    Read,
    /// Writing; made where it is not there yet.
    Write,
}

/// Why a resource cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    /// There is none of that name, or none that may be seen.
    Unknown,
    /// It is there but may not be read.
    Read,
    /// Nothing may be written.
    Write,
    /// The system failed.
    Failed(Errno),
}

impl From<Denied> for Fault {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Unknown => Fault::resource_unknown("no such resource"),
            Denied::Read => Fault::read_not_permitted("the service may not read this resource"),
            Denied::Write => Fault::write_not_permitted("this service is not writable"),
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
        let (folder, only) = match (is_folder, path.parent(), path.file_name()) {
            (false, Some(parent), Some(name)) => (parent, Some(name.to_string_lossy().into_owned())),
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
            root.resource(&format!("/{name}"), Access::Read).map_err(|_| {
                io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "neither a directory nor a file that can be read",
                )
            })?;
        }
        Ok(root)
    }

    /// Whether anything may be written.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Open what a decoded request path names.
    pub fn resource(&self, path: &str, access: Access) -> Result<File, Denied> {
        let path = path.trim_start_matches('/');
        let path = match &self.only {
            Some(name) if path.is_empty() || path == name => name,
            Some(_) => return Err(Denied::Unknown),
            None => path,
        };
        if path.is_empty() || path.contains('\0') {
            return Err(Denied::Unknown);
        }
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::Write if !self.writable => return Err(Denied::Write),
            Access::Write => OFlags::RDWR | OFlags::CREATE,
        };
        // NONBLOCK: opening a fifo must not wait for its other end.
        let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let mode = match access {
            Access::Read => Mode::empty(),
            Access::Write => Mode::from_raw_mode(0o644),
        };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let opened = rustix::fs::openat2(&self.folder, path, flags, mode, resolve);
        let opened = opened.map_err(|errno| match (errno, access) {
            (
                Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV | Errno::NAMETOOLONG | Errno::ISDIR,
                _,
            ) => Denied::Unknown,
            (Errno::NXIO, _) => Denied::Unknown,
            (Errno::ACCESS | Errno::PERM | Errno::ROFS, Access::Write) => Denied::Write,
            (Errno::ACCESS | Errno::PERM, Access::Read) => Denied::Read,
            (other, _) => Denied::Failed(other),
        })?;
        let kind = rustix::fs::fstat(&opened).map_err(Denied::Failed)?.st_mode;
        match FileType::from_raw_mode(kind) {
            FileType::RegularFile => Ok(File::from(opened)),
            _ => Err(Denied::Unknown),
        }
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
        assert!(writable.resource("/new", Access::Write).is_ok());
        assert_eq!(
            writable.resource("/out", Access::Write).err(),
            Some(Denied::Unknown)
        );
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
    }
}
