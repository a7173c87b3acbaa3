//! How much memory can still be used. It must never promise more than the machine or the control group has left.

use super::cgroup::limits;
use super::files::Files;
use std::sync::atomic::{AtomicU64, Ordering};

const MEMINFO: &str = "/proc/meminfo";

/// Memory that can be allocated and touched without swapping or being killed: what the kernel estimates as available,
/// or what is left of the control group where that is less.
pub fn available_bytes() -> u64 {
    available(&Files::live()).unwrap_or_else(free_bytes)
}

/// Most memory that this process has had in use (RSS) since a stream last began to be measured, or since it began; format:
/// proc_pid_status(5).
pub fn resident_max_bytes() -> Option<u64> {
    Files::live().kilobytes("/proc/self/status", "VmHWM")
}

/// What the kernel says of the memory of process `pid` under `key`, such as `VmPeak`; format: proc_pid_status(5).
pub fn of_process_bytes(pid: u32, key: &str) -> Option<u64> {
    Files::live().kilobytes(&format!("/proc/{pid}/status"), key)
}

/// Most memory that this process has ever had in use, whatever was begun anew.
pub fn resident_ever_bytes() -> Option<u64> {
    Some(resident_max_bytes()?.max(BEFORE.load(Ordering::Relaxed)))
}

/// Let [`resident_max_bytes`] begin anew with what is in use now. False where the kernel cannot (proc_pid_clear_refs(5)): the
/// peak is then that of the process.
pub(crate) fn begin_resident_max() -> bool {
    let before = resident_max_bytes().unwrap_or(0);
    BEFORE.fetch_max(before, Ordering::Relaxed);
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The greatest peak before the last beginning.
static BEFORE: AtomicU64 = AtomicU64::new(0);

/// Zeros that take no memory until they are written; `None` where the system refuses so many.
pub(crate) fn zeroed_bytes(len: usize) -> Option<Vec<u8>> {
    // Refused zeros would end the process, so they are asked for in a way that can be refused.
    let mut asked: Vec<u8> = Vec::new();
    asked.try_reserve_exact(len).ok()?;
    drop(std::hint::black_box(asked));
    Some(vec![0; len])
}

/// Memory of the machine, or of the control group where that is smaller.
pub(super) fn total_bytes(files: &Files) -> Option<u64> {
    least(files.kilobytes(MEMINFO, "MemTotal"), limits(files).memory_bytes)
}

fn available(files: &Files) -> Option<u64> {
    least(
        files.kilobytes(MEMINFO, "MemAvailable"),
        limits(files).memory_left_bytes,
    )
}

/// The kernel's count of free pages, for machines that hide `/proc`.
fn free_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    // The width of these fields differs between architectures.
    (info.freeram as u64).saturating_mul(u64::from(info.mem_unit))
}

fn least(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.into_iter().chain(b).min()
}

#[cfg(test)]
mod tests {
    use super::super::files::plant;
    use super::*;

    #[test]
    fn the_smaller_of_machine_and_group() {
        let dir = tempfile::tempdir().expect("tempdir");
        let files = Files::at(dir.path());
        assert_eq!(available(&files), None);
        plant(
            dir.path(),
            &[(
                MEMINFO,
                "MemTotal:       8000 kB\nMemFree:  1 kB\nMemAvailable:   4000 kB\n",
            )],
        );
        assert_eq!(
            (total_bytes(&files), available(&files)),
            (Some(8_192_000), Some(4_096_000))
        );
        plant(
            dir.path(),
            &[
                ("/proc/self/cgroup", "0::/\n"),
                (
                    "/proc/self/mountinfo",
                    "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
                ),
                ("/sys/fs/cgroup/memory.max", "5000000\n"),
                ("/sys/fs/cgroup/memory.current", "4000000\n"),
            ],
        );
        assert_eq!(
            (total_bytes(&files), available(&files)),
            (Some(5_000_000), Some(1_000_000))
        );
    }

    #[test]
    fn zeros_that_cannot_be_had_are_none() {
        assert_eq!(zeroed_bytes(3), Some(vec![0; 3]));
        assert_eq!(zeroed_bytes(isize::MAX as usize), None);
        assert_eq!(zeroed_bytes(usize::MAX), None);
    }

    #[test]
    fn this_machine_has_some() {
        assert!(available_bytes() > 0);
        assert!(free_bytes() > 0);
    }
}
