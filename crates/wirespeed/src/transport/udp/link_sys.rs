//! The socket options that no safe wrapper offers. Cold: called once before and once after a run.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Index of the drop counter in what SO_MEMINFO returns (linux/sock_diag.h).
const SK_MEMINFO_DROPS: usize = 8;
/// Words that SO_MEMINFO returns.
const SK_MEMINFO_VARS: usize = 9;

/// Set SO_BUSY_POLL: microseconds for which a receive polls the device before it sleeps. Raising it above the system's
/// `net.core.busy_read` needs CAP_NET_ADMIN.
pub fn set_busy_poll(socket: BorrowedFd, microseconds: u32) -> io::Result<()> {
    // The option is a C int; the caller's parser allows at most a million.
    let value = microseconds as libc::c_int;
    // SAFETY: the pointer and length describe `value`, which lives through the call; the kernel only reads it.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_BUSY_POLL,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Datagrams that the kernel dropped at this socket since it was made, mostly because its receive buffer was full. The
/// counter that SO_RXQ_OVFL would attach to every datagram; read here once, it costs the loop nothing.
pub fn kernel_drops(socket: BorrowedFd) -> io::Result<u32> {
    let mut words = [0u32; SK_MEMINFO_VARS];
    let mut len = size_of_val(&words) as libc::socklen_t;
    // SAFETY: the pointers describe `words` and its length in bytes; the kernel writes no more than `len` bytes.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            words.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    if result == 0 {
        Ok(words[SK_MEMINFO_DROPS])
    } else {
        Err(io::Error::last_os_error())
    }
}
