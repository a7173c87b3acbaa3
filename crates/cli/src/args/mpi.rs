//! What can be said about MPI with every verb: which library, and how threads may call it.

use clap::{Args, ValueEnum};
use std::path::PathBuf;
use wirespeed_mpi::ThreadLevel;

/// Options about MPI.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "MPI")]
pub struct MpiArgs {
    /// The MPI library: a file such as libmpi.so.40, or the folder of an installation [default: found by itself]
    ///
    /// Without it: the library of the launcher that started this process, of the launcher on PATH, or one that the
    /// system's loader knows.
    #[arg(long, global = true, value_name = "PATH", env = "WIRESPEED_MPI")]
    pub mpi: Option<PathBuf>,

    /// Thread level that MPI is asked for
    #[arg(long, global = true, value_enum, value_name = "LEVEL", default_value_t = Threads::Single)]
    pub mpi_threads: Threads,
}

/// Levels of thread support.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Threads {
    /// What `MPI_Init` gives
    #[default]
    Single,
    /// One thread calls MPI
    Funneled,
    /// One thread at a time calls MPI
    Serialized,
    /// Any thread calls MPI at any time
    Multiple,
}

impl Threads {
    /// The level as the library knows it.
    pub fn level(self) -> ThreadLevel {
        match self {
            Threads::Single => ThreadLevel::Single,
            Threads::Funneled => ThreadLevel::Funneled,
            Threads::Serialized => ThreadLevel::Serialized,
            Threads::Multiple => ThreadLevel::Multiple,
        }
    }
}
