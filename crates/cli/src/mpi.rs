//! MPI as the program has it: the jobs of its launchers, or, in a build without the feature `mpi`, why there are none.

#[cfg(not(feature = "mpi"))]
use wirespeed_control::job::{Detected, Job, JobError, JobKind, LaunchCommand};

#[cfg(feature = "mpi")]
pub use wirespeed_mpi::jobs;

#[cfg(not(feature = "mpi"))]
struct NoJobs;

/// Jobs of MPI launchers: none.
#[cfg(not(feature = "mpi"))]
pub fn jobs() -> &'static dyn JobKind {
    &NoJobs
}

#[cfg(not(feature = "mpi"))]
impl JobKind for NoJobs {
    fn detect(&self) -> Option<Detected> {
        None
    }

    fn join(&self) -> Result<Box<dyn Job>, JobError> {
        Err(absent())
    }

    fn command(&self, _: u32) -> Result<LaunchCommand, JobError> {
        Err(absent())
    }
}

#[cfg(not(feature = "mpi"))]
fn absent() -> JobError {
    JobError::new(crate::absent::NO_MPI, "build it with the feature \"mpi\"")
}
