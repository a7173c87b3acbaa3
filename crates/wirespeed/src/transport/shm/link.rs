//! Where the memory comes from: a sealed anonymous file, opened by peers through /proc.
//!
//! It must never be larger than what the machine can give: a shortage must show here, not as SIGBUS in the loop.

use crate::sync::{SharedBytes, mapping};
use crate::transport::local::{Address, Medium, Place};
use crate::transport::port::Facts;
use crate::transport::{ConnectError, check_available};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;

/// Files shared through /proc/PID/fd.
pub struct SharedFile {
    huge: bool,
}

impl SharedFile {
    /// `huge`: try huge pages.
    pub fn new(huge: bool) -> Self {
        SharedFile { huge }
    }
}

/// Keeps the descriptor open until every peer has mapped the file.
pub struct OpenFile {
    _fd: OwnedFd,
    huge: &'static str,
}

impl Medium for SharedFile {
    const PRIVATE: bool = false;
    type Offer = OpenFile;

    fn offer(&self, len: usize, _: usize) -> Result<(SharedBytes, OpenFile, u64), ConnectError> {
        const WHAT: &str = "the shared segment";
        let (created, huge) = match huge_length(len).filter(|_| self.huge) {
            None if self.huge => (None, "off: this kernel has no huge pages"),
            None => (None, "off"),
            Some(huge_len) => match mapping::create(huge_len, true) {
                Ok(created) => (Some(created), "on"),
                Err(_) => (None, "off: no huge pages are reserved (vm.nr_hugepages)"),
            },
        };
        let created = match created {
            Some(created) => created,
            None => {
                check_available(WHAT, len)?;
                mapping::create(len, false).map_err(|errno| match errno {
                    Errno::NOMEM | Errno::NOSPC => ConnectError::memory(WHAT, len),
                    other => ConnectError::os("a shared memory file", other.into()),
                })?
            }
        };
        let (fd, bytes) = created;
        let handle = fd.as_raw_fd() as u64;
        Ok((bytes, OpenFile { _fd: fd, huge }, handle))
    }

    fn facts(offer: &OpenFile) -> Facts {
        Facts::from([("huge".to_owned(), offer.huge.to_owned())])
    }

    fn take(&self, rank: u32, here: &Place, address: &Address) -> Result<SharedBytes, ConnectError> {
        if !here.same_machine(&address.place) {
            return Err(ConnectError::BadPeer {
                rank,
                what:
                    "it is on another machine or in another PID namespace; shared memory does not reach there"
                        .into(),
            });
        }
        let fd = i32::try_from(address.handle).unwrap_or(-1);
        mapping::open(address.place.pid, fd, address.segment_bytes).map_err(|errno| match errno {
            Errno::NOMEM => ConnectError::memory("a peer's segment", address.segment_bytes),
            Errno::INVAL => ConnectError::BadPeer {
                rank,
                what: "no sealed memory file of the size that it said".into(),
            },
            other => ConnectError::os(format!("the shared memory of rank {rank}"), other.into()),
        })
    }
}

/// `len` in whole huge pages of the default size, where the kernel has them.
fn huge_length(len: usize) -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("Hugepagesize:"))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    len.checked_next_multiple_of(kib.checked_mul(1024).filter(|bytes| *bytes > 0)?)
}
