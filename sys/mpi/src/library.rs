//! An opened library: addresses of what it exports.
//!
//! It is never closed: MPI libraries start threads and register exit functions that must not vanish.

use core::ffi::CStr;
use libloading::os::unix::{Library as Opened, RTLD_GLOBAL, RTLD_NOW};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

/// Why a library cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The system's loader refused.
    #[error("cannot load {path}: {why}")]
    Open {
        /// The file or soname.
        path: String,
        /// What the loader said.
        why: String,
    },
    /// It is no MPI library, or an unfinished one.
    #[error("{path} has no {symbol}: it is not an MPI library that wirespeed can use")]
    Symbol {
        /// The file.
        path: String,
        /// What is missing.
        symbol: String,
    },
}

/// An opened library.
#[derive(Debug)]
pub struct Library {
    opened: ManuallyDrop<Opened>,
    pub(crate) name: String,
}

impl Library {
    /// Open `path`, a file or a name that the loader looks up. Symbols become global: Open MPI's plug-ins need them.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        // SAFETY: initialisers of an MPI library run; they are as trusted as those of a linked one.
        let opened = unsafe { Opened::open(Some(path), RTLD_NOW | RTLD_GLOBAL) };
        let opened = opened.map_err(|error| LoadError::Open {
            path: path.display().to_string(),
            why: std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string),
        })?;
        Ok(Library {
            opened: ManuallyDrop::new(opened),
            name: path.display().to_string(),
        })
    }

    /// The address of an exported object, as a number.
    pub fn address(&self, symbol: &str) -> Result<usize, LoadError> {
        // SAFETY: the symbol is read as an address, whatever it is.
        let found = unsafe { self.opened.get::<*const ()>(symbol.as_bytes()) };
        match found {
            Ok(found) => Ok(found.as_raw_ptr() as usize),
            Err(_) => Err(self.lacks(symbol)),
        }
    }

    /// Whether it exports `symbol`.
    pub fn has(&self, symbol: &str) -> bool {
        self.address(symbol).is_ok_and(|address| address != 0)
    }

    /// The function `symbol`.
    ///
    /// # Safety
    /// `F` must be a function pointer type with the function's parameters.
    pub unsafe fn function<F: Copy>(&self, symbol: &str) -> Result<F, LoadError> {
        // SAFETY: the caller vouches for the type.
        let found = unsafe { self.opened.get::<F>(symbol.as_bytes()) };
        found.map(|f| *f).map_err(|_| self.lacks(symbol))
    }

    fn lacks(&self, symbol: &str) -> LoadError {
        LoadError::Symbol {
            path: self.name.clone(),
            symbol: symbol.to_owned(),
        }
    }

    /// The file that was loaded, where the loader tells.
    pub fn file(&self) -> PathBuf {
        let given = PathBuf::from(&self.name);
        let Ok(address) = self.address("MPI_Init") else {
            return given;
        };
        let mut info = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: `info` is writable and of the right type; the address is only looked up.
        let found = unsafe { libc::dladdr(address as *const _, info.as_mut_ptr()) };
        if found == 0 {
            return given;
        }
        // SAFETY: zeroed is a valid value of this plain struct, and `dladdr` has filled it.
        let name = unsafe { info.assume_init() }.dli_fname;
        if name.is_null() {
            return given;
        }
        // SAFETY: a string of the loader that lives as long as the library, which is never closed.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        std::fs::canonicalize(&name).unwrap_or_else(|_| PathBuf::from(name))
    }
}
