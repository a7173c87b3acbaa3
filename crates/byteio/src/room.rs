//! Room on a disk before anything is written there. It must change neither the length nor the bytes of a file.

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::fs::File;
use std::io;

/// Room for these bytes, where the file system can reserve it, so that a full disk is known before anything is changed.
pub(crate) fn reserve(file: &File, offset_bytes: u64, size_bytes: u64) -> io::Result<()> {
    if size_bytes == 0 {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::KEEP_SIZE, offset_bytes, size_bytes) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}
