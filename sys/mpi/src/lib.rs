//! Any MPI library, loaded at run time: nothing of MPI is needed to build this crate, and one program runs under every
//! library whose binary interface is one of three families.
//!
//! [`load()`] opens a library and tells its family; [`Mpi`] is then the table of its functions and constants, generic over
//! what a handle is (a pointer or an `int`), so that whatever is built on it is monomorphic. It calls nothing by itself
//! but `MPI_Get_library_version`, never picks a library (see [`find`]), and never ends the process.

pub mod constants;
pub mod find;
pub mod functions;
mod library;
pub mod load;

pub use constants::{Constants, Family, Status};
pub use functions::Functions;
pub use load::{Library, LoadError, Loaded, Mpi, load};

use core::ffi::{c_int, c_void};

/// What every function returns when all is well.
pub const SUCCESS: c_int = 0;

/// What a handle is: a pointer (Open MPI, the standard ABI) or an `int` (MPICH and those that share its ABI).
pub trait Handle: Copy + Eq + core::fmt::Debug + Send + Sync + 'static {
    /// A handle that is written before it is read.
    const BLANK: Self;

    /// As a number that any handle fits into, for a table that does not know which kind it holds.
    fn to_bits(self) -> usize;

    /// The handle whose number it is.
    fn from_bits(bits: usize) -> Self;
}

impl Handle for usize {
    const BLANK: Self = 0;

    fn to_bits(self) -> usize {
        self
    }

    fn from_bits(bits: usize) -> Self {
        bits
    }
}

impl Handle for c_int {
    const BLANK: Self = 0;

    fn to_bits(self) -> usize {
        self as u32 as usize
    }

    fn from_bits(bits: usize) -> Self {
        bits as u32 as c_int
    }
}

/// `MPI_STATUS_IGNORE` and `MPI_IN_PLACE` are addresses that no memory has.
pub(crate) fn address(value: isize) -> *mut c_void {
    value as *mut c_void
}
