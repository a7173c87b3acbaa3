//! Why the last call of the C library failed, as a plain number.
//!
//! It must never make a `std::io::Error`: that can own memory, and hot loops neither own nor free any.

use rustix::io::Errno;

/// The calling thread's `errno`; meaningful right after a call that failed.
#[inline(always)]
pub fn last_errno() -> Errno {
    // SAFETY: the C library returns a valid pointer to the calling thread's own errno; only this thread writes it.
    Errno::from_raw_os_error(unsafe { *libc::__errno_location() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_tells_why() {
        // SAFETY: closing no descriptor touches nothing.
        assert_eq!(unsafe { libc::close(-1) }, -1);
        assert_eq!(last_errno(), Errno::BADF);
    }
}
