//! Memory that another process can map too: an anonymous file, sealed against shrinking, reserved before use.
//!
//! It must never leave a name anywhere: the file has none, and ends with its last descriptor and mapping.

use super::SharedBytes;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FallocateFlags, MemfdFlags, Mode, OFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::sync::Arc;

/// Seals without which a peer could take the memory away under a reader (SIGBUS).
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

/// A mapping, unmapped when dropped.
struct Mapping {
    base: *mut core::ffi::c_void,
    len: usize,
}

// SAFETY: the address is owned by this value and used only to unmap.
unsafe impl Send for Mapping {}
// SAFETY: it offers no access.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `map` with this length; SharedBytes keeps this value alive as long as anybody can look.
        // Failure would mean that the arguments are wrong; there is nothing to do about it here.
        let _ = unsafe { rustix::mm::munmap(self.base, self.len) };
    }
}

/// A new anonymous file of `len` zero bytes (a multiple of the page size), all of it reserved. `huge`: on huge pages.
/// Errors: `NOMEM` or `NOSPC` when the memory is not to be had.
pub fn create(len: usize, huge: bool) -> Result<(OwnedFd, SharedBytes), Errno> {
    let mut flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    if huge {
        flags |= MemfdFlags::HUGETLB;
    }
    let fd = rustix::fs::memfd_create("wirespeed", flags)?;
    rustix::fs::ftruncate(&fd, len as u64)?;
    rustix::fs::fcntl_add_seals(&fd, SEALS | SealFlags::SEAL)?;
    rustix::fs::fallocate(&fd, FallocateFlags::empty(), 0, len as u64)?;
    let bytes = map(&fd, len)?;
    Ok((fd, bytes))
}

/// The file that process `pid` of this user has open as `fd`, mapped. Errors: `INVAL` when it is not a sealed file of
/// exactly `len` bytes; whatever opening says.
pub fn open(pid: u32, fd: i32, len: usize) -> Result<SharedBytes, Errno> {
    let path = format!("/proc/{pid}/fd/{fd}");
    // Without NONBLOCK a hostile fifo at that number would hold us here.
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let sealed = rustix::fs::fcntl_get_seals(&file).is_ok_and(|seals| seals.contains(SEALS));
    let size = rustix::fs::fstat(&file)?.st_size;
    if !sealed || u64::try_from(size) != Ok(len as u64) {
        return Err(Errno::INVAL);
    }
    map(&file, len)
}

/// The first `len` bytes of a regular file, mapped for reading and writing. They must be reserved on its disk, and nobody
/// may cut the file while the mapping lives: touching what is not there ends the process (SIGBUS). Errors: whatever mapping
/// says, `INVAL` for no bytes.
pub fn of_file(file: impl AsFd, len: usize) -> Result<SharedBytes, Errno> {
    map_with(file, len, MapFlags::SHARED)
}

fn map(fd: impl AsFd, len: usize) -> Result<SharedBytes, Errno> {
    // POPULATE: page tables are filled now, not in the measured loop.
    map_with(fd, len, MapFlags::SHARED | MapFlags::POPULATE)
}

fn map_with(fd: impl AsFd, len: usize, flags: MapFlags) -> Result<SharedBytes, Errno> {
    // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
    let base = unsafe {
        rustix::mm::mmap(
            core::ptr::null_mut(),
            len,
            ProtFlags::READ | ProtFlags::WRITE,
            flags,
            fd,
            0,
        )?
    };
    let owner = Arc::new(Mapping { base, len });
    // SAFETY: mapped readable and writable until `owner` is dropped; the file cannot shrink (sealed, or promised by the
    // caller of `of_file`); page-aligned.
    Ok(unsafe { SharedBytes::from_raw(base.cast(), len, owner) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn two_mappings_show_the_same_bytes() {
        let (fd, one) = create(8192, false).unwrap();
        let two = open(std::process::id(), fd.as_raw_fd(), 8192).unwrap();
        one.write(5000, b"here");
        drop((fd, one));
        let mut back = [0; 4];
        two.read(5000, &mut back);
        assert_eq!(&back, b"here");
    }

    #[test]
    fn what_could_shrink_or_differs_in_size_is_refused() {
        let (fd, _bytes) = create(8192, false).unwrap();
        assert_eq!(rustix::fs::ftruncate(&fd, 4096), Err(Errno::PERM));
        let pid = std::process::id();
        assert_eq!(open(pid, fd.as_raw_fd(), 4096).err(), Some(Errno::INVAL));
        let unsealed = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&unsealed, 4096).unwrap();
        assert_eq!(open(pid, unsealed.as_raw_fd(), 4096).err(), Some(Errno::INVAL));
        assert!(open(pid, 1 << 20, 4096).is_err());
    }
}
