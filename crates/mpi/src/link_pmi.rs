//! What a rank says to Hydra's daemon past the MPI library: that it leaves, where the library hangs. Hydra kills all other ranks
//! of a job when a connection ends on which nobody has said so. It must never speak to another launcher, whose words differ, nor
//! let the library hear the answer.

use core::ffi::c_int;
use core::ptr::null_mut;
use std::fs::File;
use std::io::Write as _;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd as _, RawFd};
use std::os::unix::fs::FileTypeExt as _;

/// PMI 1, which Hydra speaks with MPICH and with Intel MPI, also where it starts its daemons by Slurm.
const LEAVING: &[u8] = b"cmd=finalize\n";
/// How long the daemon may take to hear of it.
const HEARD_MS: i32 = 2000;
/// Hydra alone sets it: the rank's number on its node.
const OF_HYDRA: &str = "MPI_LOCALRANKID";

/// Where a thread stays for the rest of the process.
extern "C" fn stay(_: c_int) {
    loop {
        // SAFETY: may be called in a handler of signals.
        unsafe { libc::pause() };
    }
}

/// Hold `thread`, which is within the library, wherever it is: waiting for another answer of the daemon, it would take the next
/// one for that, and abort the job. From the call on: a read of its own would return through the handler.
fn hold(thread: libc::pthread_t) {
    // SAFETY: plain data, all-zero is valid: no flags, no signals that are blocked meanwhile.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = stay as *const () as usize;
    // SAFETY: whole data and a handler that may run anywhere; the thread lives, for it never leaves the library.
    unsafe {
        if libc::sigaction(libc::SIGUSR2, &raw const action, null_mut()) == 0 {
            libc::pthread_kill(thread, libc::SIGUSR2);
        }
    }
}

/// Tell the daemon that this process leaves, which ends next; `within` is the thread that is in the library, if one is. Does
/// nothing under another launcher.
pub fn leave(within: Option<libc::pthread_t>) {
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
    if !is_socket {
        return;
    }
    if let Some(thread) = within {
        hold(thread);
    }
    if daemon.write_all(LEAVING).is_err() {
        return;
    }
    let mut heard = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one place, which lives as long as the call.
    unsafe { libc::poll(&raw mut heard, 1, HEARD_MS) };
}
