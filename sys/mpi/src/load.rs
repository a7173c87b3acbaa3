//! Opens a library, tells its family and version, and fills the tables.

use crate::Handle;
use crate::constants::{Constants, Family};
use crate::functions::Functions;
pub use crate::library::{Library, LoadError};
use core::ffi::{CStr, c_char, c_int};
use std::path::{Path, PathBuf};

impl Library {
    /// The family of its interface.
    fn family(&self) -> Family {
        if self.has("ompi_mpi_comm_world") {
            return Family::OpenMpi;
        }
        // MPICH exports the query in both of its libraries: only the name of the file tells them apart.
        let is_standard = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("libmpi_abi.")
        };
        if self.has("MPI_Abi_get_version")
            && (is_standard(Path::new(&self.name)) || is_standard(&self.file()))
        {
            return Family::Standard;
        }
        Family::Mpich
    }

    /// The library's own words about its version, first line.
    fn version(&self) -> Result<String, LoadError> {
        /// `MPI_MAX_LIBRARY_VERSION_STRING` is at most 8192.
        const TEXT_BYTES: usize = 8192 + 1;
        type GetVersion = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
        // SAFETY: the function's type by the standard.
        let get: GetVersion = unsafe { self.function("MPI_Get_library_version") }?;
        let mut text = vec![0u8; TEXT_BYTES];
        let mut length = 0;
        // SAFETY: the text has the largest size of all families; the call is allowed before MPI is initialised.
        let code = unsafe { get(text.as_mut_ptr().cast(), &mut length) };
        if code != crate::SUCCESS {
            return Ok("unknown version".to_owned());
        }
        let text = CStr::from_bytes_until_nul(&text)
            .unwrap_or_default()
            .to_string_lossy();
        Ok(brief(&text))
    }
}

/// `MPICH Version: 4.0.2\n..` and `Open MPI v4.1.4, package: ..` as a name and a version.
fn brief(text: &str) -> String {
    let line = text
        .lines()
        .find(|l| !l.trim().is_empty())
        .unwrap_or("unknown version");
    let line = line.split(", package").next().unwrap_or(line);
    let words: Vec<&str> = line.split_whitespace().filter(|w| *w != "Version:").collect();
    words.join(" ").replace("(R)", "")
}

/// The functions and constants of one library.
pub struct Mpi<H> {
    /// Functions.
    pub functions: Functions<H>,
    /// Constants.
    pub constants: Constants<H>,
    /// Family of its interface.
    pub family: Family,
    /// Name and version, by its own words.
    pub version: String,
    /// The file.
    pub file: PathBuf,
}

/// A library by what its handles are.
pub enum Loaded {
    /// Handles are pointers: Open MPI, the standard ABI.
    Pointers(Mpi<usize>),
    /// Handles are integers: MPICH, Intel MPI.
    Integers(Mpi<c_int>),
}

impl Loaded {
    /// Family of its interface.
    pub fn family(&self) -> Family {
        match self {
            Loaded::Pointers(mpi) => mpi.family,
            Loaded::Integers(mpi) => mpi.family,
        }
    }

    /// Name and version.
    pub fn version(&self) -> &str {
        match self {
            Loaded::Pointers(mpi) => &mpi.version,
            Loaded::Integers(mpi) => &mpi.version,
        }
    }

    /// The file.
    pub fn file(&self) -> &Path {
        match self {
            Loaded::Pointers(mpi) => &mpi.file,
            Loaded::Integers(mpi) => &mpi.file,
        }
    }
}

/// Open the library at `path` (a file, or a name that the loader looks up) and fill its tables. A process must load at
/// most one: their symbols are global.
pub fn load(path: &Path) -> Result<Loaded, LoadError> {
    let library = Library::open(path)?;
    let family = library.family();
    Ok(match family {
        Family::OpenMpi => Loaded::Pointers(fill(&library, family, Constants::open_mpi(&library)?)?),
        Family::Standard => Loaded::Pointers(fill(&library, family, Constants::standard())?),
        Family::Mpich => Loaded::Integers(fill(&library, family, Constants::mpich())?),
    })
}

fn fill<H: Handle>(library: &Library, family: Family, constants: Constants<H>) -> Result<Mpi<H>, LoadError> {
    Ok(Mpi {
        functions: Functions::of(library)?,
        constants,
        family,
        version: library.version()?,
        file: library.file(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_brief() {
        assert_eq!(
            brief("MPICH Version:      4.0.2\nMPICH Release date: x"),
            "MPICH 4.0.2"
        );
        assert_eq!(
            brief("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"),
            "Open MPI v4.1.4"
        );
        assert_eq!(
            brief("Intel(R) MPI Library 2021.14 for Linux* OS\n"),
            "Intel MPI Library 2021.14 for Linux* OS"
        );
        assert_eq!(brief("\n"), "unknown version");
    }

    #[test]
    fn what_is_no_mpi_library_is_refused_by_name() {
        let Err(error) = load(Path::new("/no/such/libmpi.so")) else {
            panic!("it was loaded");
        };
        assert!(error.to_string().contains("/no/such/libmpi.so"), "{error}");
        let Err(error) = load(Path::new("libc.so.6")) else {
            panic!("it was loaded");
        };
        assert!(matches!(error, LoadError::Symbol { .. }), "{error}");
    }
}
