//! What a rank says to Hydra's daemon past the MPI library: that it leaves, where the library hangs. Hydra kills all other ranks
//! of a job when a connection ends on which nobody has said so. It must never speak to another launcher: Slurm's words differ.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd as _, RawFd};
use wirespeed_mpi_sys::find::{Starter, job_variables};

/// PMI 1, which Hydra speaks with MPICH and with Intel MPI.
const LEAVING: &[u8] = b"cmd=finalize\n";

/// Tell the daemon that this process leaves, and wait for its answer: it may take as long as the daemon takes. Does nothing under
/// another launcher.
pub fn leave() {
    let variable = |name: &str| std::env::var(name).ok();
    let is_hydra = job_variables(&variable).is_some_and(|job| job.starter == Starter::Pmi && !job.slurm);
    let Some(fd) = variable("PMI_FD").and_then(|fd| fd.parse::<RawFd>().ok()) else {
        return;
    };
    if !is_hydra || fd < 0 {
        return;
    }
    // SAFETY: the launcher has opened it for this process before its first instruction, and the library, which owns it, closes
    // it at the end of `MPI_Finalize` alone, which has not come. It is not closed here.
    let mut daemon = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
    if daemon.write_all(LEAVING).is_ok() {
        // Whatever it answers: the process ends next.
        let _ = daemon.read(&mut [0; 64]);
    }
}
