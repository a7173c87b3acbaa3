//! What can be said about MPI with every verb: which library, and how threads may call it.

use crate::errors::Failure;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use wirespeed_mpi::process::Choice;
use wirespeed_mpi::{THREADS_PER_PROCESS_VARIABLE, THREADS_VARIABLE, ThreadLevel};

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

    /// Thread level that MPI is asked for [default: single; multiple where several threads of a process measure]
    #[arg(long, global = true, value_enum, value_name = "LEVEL", env = THREADS_VARIABLE)]
    pub mpi_threads: Option<Threads>,

    /// Threads of each process that exchange messages, each a rank of its own with a communicator of its own [default: 1]
    #[arg(long, global = true, value_name = "N", env = THREADS_PER_PROCESS_VARIABLE, allow_hyphen_values = true)]
    pub mpi_threads_per_process: Option<String>,
}

/// More are a slip of the keyboard.
const THREADS_PER_PROCESS_MAX: u32 = 1024;

impl MpiArgs {
    /// What the user wants of MPI, or what contradicts itself.
    pub fn choice(&self) -> Result<Choice, Failure> {
        let text = self.mpi_threads_per_process.as_deref().unwrap_or("1");
        let threads_per_process = match text.trim().parse() {
            Ok(count @ 1..=THREADS_PER_PROCESS_MAX) => count,
            _ => {
                return Err(Failure::usage(
                    format!("--mpi-threads-per-process {text} is not a number of threads"),
                    format!("give a number from 1 to {THREADS_PER_PROCESS_MAX}, such as 2"),
                ));
            }
        };
        let needed = match threads_per_process {
            1 => ThreadLevel::Single,
            _ => ThreadLevel::Multiple,
        };
        let threads = self.mpi_threads.map_or(needed, Threads::level);
        if threads_per_process > 1 && threads < ThreadLevel::Multiple {
            return Err(Failure::usage(
                format!(
                    "{threads_per_process} threads of a process cannot call MPI at thread level {}",
                    threads.name()
                ),
                "use --mpi-threads multiple, or leave it out",
            ));
        }
        Ok(Choice {
            library: self.mpi.clone(),
            threads,
            threads_per_process,
        })
    }
}

/// Levels of thread support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Threads {
    /// What `MPI_Init` gives
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
