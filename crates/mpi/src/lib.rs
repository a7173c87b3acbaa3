//! MPI, whichever library there is: the transport `mpi`, and the group of ranks that an MPI launcher started.
//!
//! The library is found and loaded at run time ([`process`]); [`jobs`] is what the program needs to be part of a job or
//! to start one; [`Mpi`] is the transport. Calls into the library stand in the `link` files alone.
//!
//! It must never call `MPI_Abort`, never let an error of MPI end the process, and never call MPI from any thread but the
//! one that joined the job and, where the user wants several, those that are ranks of their own.

mod job;
mod link;
mod link_error;
mod link_lanes;
mod link_messages;
mod link_one_sided;
mod link_pmi;
mod link_pmix;
mod link_ring;
mod link_tagged;
mod options;
pub mod process;
mod transport;

pub use job::{THREADS_PER_PROCESS_VARIABLE, THREADS_VARIABLE, jobs};
pub use transport::Mpi;
pub use wirespeed_mpi_sys::constants::ThreadLevel;

use wirespeed::Registry;
use wirespeed::transport::registry::Entry;

/// `registry` with MPI, whose loops are compiled here.
#[must_use]
pub fn join(registry: Registry) -> Registry {
    registry.with(Entry::of::<Mpi>())
}
