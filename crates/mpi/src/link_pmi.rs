//! What a rank says to Hydra's daemon past the MPI library: that it leaves, where the library hangs. Hydra kills all other ranks
//! of a job when a connection ends on which nobody has said so. It must never speak to another launcher, whose words differ, nor
//! take an answer that the library may be waiting for.

use std::fs::File;
use std::io::Write as _;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd as _, FromRawFd as _, RawFd};
use std::os::unix::fs::FileTypeExt as _;

/// PMI 1, which Hydra speaks with MPICH and with Intel MPI, also where it starts its daemons by Slurm.
const LEAVING: &[u8] = b"cmd=finalize\n";
/// How long the daemon may take to hear of it.
const HEARD_MS: i32 = 2000;
/// Hydra alone sets it: the rank's number on its node.
const OF_HYDRA: &str = "MPI_LOCALRANKID";

/// Tell the daemon that this process leaves, which ends next. Does nothing under another launcher.
pub fn leave() {
    let number = std::env::var("PMI_FD")
        .ok()
        .and_then(|fd| fd.parse::<RawFd>().ok());
    let Some(fd) = number.filter(|fd| *fd >= 0 && std::env::var_os(OF_HYDRA).is_some()) else {
        return;
    };
    // SAFETY: a number of this process, which is not closed here. The launcher has opened it before this process began, and the
    // library closes it near the end of `MPI_Finalize`. Where it has done so by now, all of this fails, or meets another socket
    // of the library: nothing else is opened any more.
    let mut daemon = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
    let is_socket = daemon.metadata().is_ok_and(|m| m.file_type().is_socket());
    if !is_socket || daemon.write_all(LEAVING).is_err() {
        return;
    }
    let mut heard = libc::pollfd {
        fd: daemon.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one place, which lives as long as the call.
    unsafe { libc::poll(&raw mut heard, 1, HEARD_MS) };
}
