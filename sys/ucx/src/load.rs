//! Finds and loads the library: the place that is asked for, `WIRESPEED_UCX`, then the system's own search.
//!
//! A process has one UCX: two of them would find each other's symbols. It is never unloaded, for UCX leaves handlers
//! behind that run at exit.

use crate::{Ucx, log};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Where to look when no place is asked for.
pub const VARIABLE: &str = "WIRESPEED_UCX";
/// The library that depends on the others, so that all symbols are found through it.
const NAME: &str = "libucp.so.0";
/// The oldest release that has everything.
const OLDEST: Version = Version {
    major: 1,
    minor: 13,
    patch: 0,
};

/// A release of UCX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// First number; another one is another interface.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number.
    pub patch: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The library of this process.
pub struct Loaded {
    /// Its functions.
    pub ucx: Ucx,
    /// Its release.
    pub version: Version,
    /// Its file.
    pub path: PathBuf,
}

/// Why there is no UCX to use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// Not found, or found and unusable.
    #[error(
        "no UCX library: {0}; install UCX (package libucx0), or name its folder with -O ucx=PATH or {VARIABLE}"
    )]
    Missing(String),
    /// Too old, or of another interface.
    #[error("UCX {0} in {1} cannot be used: it must be {OLDEST} or a later release of version 1")]
    Release(Version, String),
    /// The process has another one already.
    #[error(
        "this process uses the UCX of {loaded} already, it cannot load that of {asked}: give each a run of its own"
    )]
    Another {
        /// What is loaded.
        loaded: String,
        /// What was asked for.
        asked: String,
    },
}

static LOADED: OnceLock<Loaded> = OnceLock::new();
static LOADING: Mutex<()> = Mutex::new(());

/// The library, loaded by the first call. `asked` is its file, its folder, or the folder above that.
pub fn load(asked: Option<&Path>) -> Result<&'static Loaded, LoadError> {
    let variable = std::env::var_os(VARIABLE)
        .filter(|v| !v.is_empty())
        .map(PathBuf::from);
    let asked = asked.map(Path::to_owned).or(variable);
    let file = asked.as_deref().map(resolve).transpose()?;
    let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = LOADED.get() {
        return same(loaded, file.as_deref());
    }
    let loaded = open(file.as_deref())?;
    Ok(LOADED.get_or_init(|| loaded))
}

/// The file that a path as typed stands for.
fn resolve(path: &Path) -> Result<PathBuf, LoadError> {
    let candidates = [path.to_owned(), path.join(NAME), path.join("lib").join(NAME)];
    let found = candidates.iter().find(|p| p.is_file());
    let found = found.ok_or_else(|| LoadError::Missing(format!("{} has no {NAME}", path.display())))?;
    found
        .canonicalize()
        .map_err(|e| LoadError::Missing(format!("{}: {e}", found.display())))
}

fn same<'a>(loaded: &'a Loaded, asked: Option<&Path>) -> Result<&'a Loaded, LoadError> {
    match asked {
        Some(file) if file != loaded.path => Err(LoadError::Another {
            loaded: loaded.path.display().to_string(),
            asked: file.display().to_string(),
        }),
        _ => Ok(loaded),
    }
}

fn open(file: Option<&Path>) -> Result<Loaded, LoadError> {
    let name = file.unwrap_or(Path::new(NAME));
    let missing = |e: libloading::Error| LoadError::Missing(cause(&e));
    // SAFETY: loading runs UCX's constructors, which are made for that; symbols stay local, so nothing of this
    // process is replaced.
    let open = || unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) }.map_err(missing);
    let _as_it_was = Hangup::keep();
    // Counted once more than it is used, so that it stays also when it turns out to be no good.
    let _counted = open()?.into_raw();
    let library = open()?;
    // SAFETY: the function's signature is that of every release from 1.13 on.
    let push = unsafe { library.get::<log::Push>(b"ucs_log_push_handler\0") }
        .ok()
        .map(|f| *f);
    // SAFETY: the bindings were made from UCX's headers; the release is checked below, before any other call.
    let ucx = unsafe { Ucx::from_library(library) }.map_err(missing)?;
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: three numbers to write to.
    unsafe { ucx.ucp_get_version(&mut major, &mut minor, &mut patch) };
    let version = Version { major, minor, patch };
    let place = |function: *const c_void| defined_in(function).unwrap_or_default();
    let path = place(ucx.ucp_get_version as *const c_void);
    if version < OLDEST || major != OLDEST.major {
        return Err(LoadError::Release(version, path.display().to_string()));
    }
    // Something else in this process may have brought parts of another UCX, which the loader then took by their name.
    let base = place(ucx.ucs_status_string as *const c_void);
    if base.parent() != path.parent() {
        return Err(LoadError::Another {
            loaded: base.display().to_string(),
            asked: path.display().to_string(),
        });
    }
    // Without the function UCX goes on printing.
    if let Some(push) = push {
        log::capture(push);
    }
    Ok(Loaded { ucx, version, path })
}

/// What this process does at SIGHUP, put back when dropped. UCX takes the signal for itself when it is loaded (`UCX_DEBUG_SIGNO`,
/// to trace from then on): a run under `nohup` would then end with its terminal, and one that was to end would go on.
struct Hangup(libc::sigaction);

impl Hangup {
    fn keep() -> Option<Hangup> {
        // SAFETY: all-zero is a valid value of this structure.
        let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: asks only; the structure is ours.
        let asked = unsafe { libc::sigaction(libc::SIGHUP, std::ptr::null(), &mut now) };
        (asked == 0).then_some(Hangup(now))
    }
}

impl Drop for Hangup {
    fn drop(&mut self) {
        // SAFETY: what the kernel gave is taken back by it.
        unsafe { libc::sigaction(libc::SIGHUP, &self.0, std::ptr::null_mut()) };
    }
}

/// What the loader said, without its number.
fn cause(error: &libloading::Error) -> String {
    let text = match error {
        libloading::Error::DlOpen { source, .. } | libloading::Error::DlSym { source, .. } => {
            std::error::Error::source(error).map_or_else(|| format!("{source:?}"), ToString::to_string)
        }
        other => other.to_string(),
    };
    text.replace(": cannot open shared object file", ": not found")
        .replace(": No such file or directory", "")
}

/// The file in which a function stands.
fn defined_in(function: *const c_void) -> Option<PathBuf> {
    // SAFETY: all-zero is a valid value of this structure of pointers.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the function is of a loaded library, `info` is ours.
    let found = unsafe { libc::dladdr(function, &mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's name of a library that stays loaded.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Path::new(name.to_str().ok()?).canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_without_the_library_is_named() {
        let error = resolve(Path::new("/nowhere/at/all")).unwrap_err();
        assert!(
            error.to_string().contains("/nowhere/at/all has no libucp.so.0"),
            "{error}"
        );
    }

    #[test]
    fn the_loaded_library_knows_its_release() {
        let handler = || Hangup::keep().map(|now| now.0.sa_sigaction);
        // SAFETY: no handler runs, the signal is ignored from here on.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
        match load(None) {
            Ok(loaded) => {
                assert_eq!(handler(), Some(libc::SIG_IGN), "SIGHUP is not ignored any more");
                assert!(loaded.version >= OLDEST);
                assert!(loaded.path.is_file());
                assert!(load(Some(Path::new("/nowhere"))).is_err());
                assert!(std::ptr::eq(loaded, load(Some(&loaded.path)).unwrap()));
            }
            Err(why) => println!("skipped: {why}"),
        }
    }
}
