//! The constants of the three families, as typed values. Sources: `mpi.h` of Open MPI 4.1 and 5.0, `mpi.h` of MPICH 4.0
//! and 5.0, and the standard ABI of MPI 5.0 (chapter 20 of the standard, `mpi_abi.h`).
//!
//! It must hold numbers and addresses only.

use crate::library::{Library, LoadError};
use crate::{Handle, address};
use core::ffi::{c_int, c_void};

/// The families of binary interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Open MPI: handles are addresses of objects in the library.
    OpenMpi,
    /// MPICH, Intel MPI, MVAPICH, Cray MPICH: handles are `int`.
    Mpich,
    /// The standard ABI of MPI 5.0: handles are small pointers.
    Standard,
}

impl Family {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Family::OpenMpi => "Open MPI",
            Family::Mpich => "MPICH",
            Family::Standard => "MPI standard ABI",
        }
    }
}

/// Memory for one `MPI_Status` of any family (20, 24 or 32 bytes).
#[derive(Debug, Clone, Copy)]
#[repr(C, align(8))]
pub struct Status(pub [c_int; 8]);

impl Status {
    /// Nothing in it yet.
    pub const EMPTY: Status = Status([0; 8]);
}

/// Levels of thread support, weakest first; their numbers differ between families.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadLevel {
    /// One thread in the process.
    Single,
    /// One thread calls MPI.
    Funneled,
    /// One thread at a time calls MPI.
    Serialized,
    /// Any thread calls MPI at any time.
    Multiple,
}

impl ThreadLevel {
    /// All of them, weakest first.
    pub const ALL: [ThreadLevel; 4] = [
        ThreadLevel::Single,
        ThreadLevel::Funneled,
        ThreadLevel::Serialized,
        ThreadLevel::Multiple,
    ];

    /// Its name as typed and in results.
    pub fn name(self) -> &'static str {
        ["single", "funneled", "serialized", "multiple"][self as usize]
    }
}

/// What callers pass to functions, and where they find what comes back.
#[derive(Debug, Clone, Copy)]
pub struct Constants<H> {
    /// `MPI_COMM_WORLD`.
    pub comm_world: H,
    /// `MPI_COMM_NULL`.
    pub comm_null: H,
    /// `MPI_REQUEST_NULL`.
    pub request_null: H,
    /// `MPI_INFO_NULL`.
    pub info_null: H,
    /// `MPI_BYTE`.
    pub byte: H,
    /// `MPI_UNSIGNED`, 4 bytes.
    pub unsigned: H,
    /// `MPI_UNSIGNED_LONG`, 8 bytes.
    pub unsigned_long: H,
    /// `MPI_SUM`.
    pub sum: H,
    /// `MPI_REPLACE`.
    pub replace: H,
    /// `MPI_NO_OP`.
    pub no_op: H,
    /// `MPI_ERRORS_RETURN`.
    pub errors_return: H,
    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
    pub status_ignore: *mut c_void,
    /// `MPI_ANY_SOURCE`.
    pub any_source: c_int,
    /// `MPI_ANY_TAG`.
    pub any_tag: c_int,
    /// `MPI_COMM_TYPE_SHARED`.
    pub comm_type_shared: c_int,
    /// `MPI_MODE_NOCHECK`.
    pub mode_nocheck: c_int,
    /// `MPI_TAG_UB`, the attribute.
    pub tag_ub: c_int,
    /// `MPI_ERR_TRUNCATE`, a class.
    pub err_truncate: c_int,
    /// Numbers of the thread levels, in the order of [`ThreadLevel::ALL`].
    pub thread_levels: [c_int; 4],
    /// Place of `MPI_SOURCE` in a [`Status`], in `int`s; `MPI_TAG` follows it in every family.
    pub status_source_at: usize,
}

// SAFETY: the pointer is a number that stands for "ignore"; nobody reads through it.
unsafe impl<H: Handle> Send for Constants<H> {}
// SAFETY: as for Send.
unsafe impl<H: Handle> Sync for Constants<H> {}

const LEVELS_SMALL: [c_int; 4] = [0, 1, 2, 3];
const LEVELS_STANDARD: [c_int; 4] = [0, 1024, 2048, 4096];

impl Constants<usize> {
    /// Those of Open MPI: handles are addresses of what `library` exports.
    pub fn open_mpi(library: &Library) -> Result<Self, LoadError> {
        let at = |name: &str| library.address(name);
        Ok(Constants {
            comm_world: at("ompi_mpi_comm_world")?,
            comm_null: at("ompi_mpi_comm_null")?,
            request_null: at("ompi_request_null")?,
            info_null: at("ompi_mpi_info_null")?,
            byte: at("ompi_mpi_byte")?,
            unsigned: at("ompi_mpi_unsigned")?,
            unsigned_long: at("ompi_mpi_unsigned_long")?,
            sum: at("ompi_mpi_op_sum")?,
            replace: at("ompi_mpi_op_replace")?,
            no_op: at("ompi_mpi_op_no_op")?,
            errors_return: at("ompi_mpi_errors_return")?,
            status_ignore: address(0),
            any_source: -1,
            any_tag: -1,
            comm_type_shared: 0,
            mode_nocheck: 1,
            tag_ub: 0,
            err_truncate: 15,
            thread_levels: LEVELS_SMALL,
            status_source_at: 0,
        })
    }

    /// Those of the standard ABI.
    pub fn standard() -> Self {
        Constants {
            comm_world: 0x101,
            comm_null: 0x100,
            request_null: 0x180,
            info_null: 0x130,
            byte: 0x247,
            unsigned: 0x20d,
            unsigned_long: 0x20e,
            sum: 0x21,
            replace: 0x3c,
            no_op: 0x3d,
            errors_return: 0x143,
            status_ignore: address(0),
            any_source: -1,
            any_tag: -2,
            comm_type_shared: 221,
            mode_nocheck: 1024,
            tag_ub: 501,
            err_truncate: 15,
            thread_levels: LEVELS_STANDARD,
            status_source_at: 0,
        }
    }
}

impl Constants<c_int> {
    /// Those of the MPICH ABI.
    pub fn mpich() -> Self {
        Constants {
            comm_world: 0x4400_0000,
            comm_null: 0x0400_0000,
            request_null: 0x2c00_0000,
            info_null: 0x1c00_0000,
            byte: 0x4c00_010d,
            unsigned: 0x4c00_0406,
            unsigned_long: 0x4c00_0808,
            sum: 0x5800_0003,
            replace: 0x5800_000d,
            no_op: 0x5800_000e,
            errors_return: 0x5400_0001,
            status_ignore: address(1),
            any_source: -2,
            any_tag: -1,
            comm_type_shared: 1,
            mode_nocheck: 1024,
            tag_ub: 0x6440_0001,
            err_truncate: 14,
            thread_levels: LEVELS_SMALL,
            status_source_at: 2,
        }
    }
}

impl<H: Handle> Constants<H> {
    /// The library's number for `level`.
    pub fn thread_level(&self, level: ThreadLevel) -> c_int {
        self.thread_levels[level as usize]
    }

    /// The level whose number is `number`: the strongest that it reaches.
    pub fn named_thread_level(&self, number: c_int) -> ThreadLevel {
        let reached = ThreadLevel::ALL
            .into_iter()
            .filter(|level| self.thread_level(*level) <= number);
        reached.last().unwrap_or(ThreadLevel::Single)
    }

    /// The rank that a received message came from.
    #[inline(always)]
    pub fn source(&self, status: &Status) -> c_int {
        status.0[self.status_source_at]
    }

    /// The tag of a received message.
    #[inline(always)]
    pub fn tag(&self, status: &Status) -> c_int {
        status.0[self.status_source_at + 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_levels_have_names_both_ways() {
        for level in ThreadLevel::ALL {
            let number = Constants::standard().thread_level(level);
            assert_eq!(Constants::standard().named_thread_level(number), level);
            assert_eq!(Constants::mpich().named_thread_level(level as c_int), level);
        }
        assert_eq!(Constants::standard().named_thread_level(3), ThreadLevel::Single);
    }

    #[test]
    fn a_status_of_any_family_fits() {
        assert_eq!(core::mem::size_of::<Status>(), 32);
        let status = Status([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(Constants::mpich().source(&status), 3);
        assert_eq!(Constants::mpich().tag(&status), 4);
        assert_eq!(Constants::standard().source(&status), 1);
    }
}
