//! What memory and descriptors a process may have: locked memory, huge pages, shared memory, open files.

use super::{Patient, cannot_tell, ok, warn};
use crate::host::facts::chosen;
use wirespeed_schema::checkup::Check;
use wirespeed_schema::units::{format_size, parse_size};

const LIMITS: &str = "/proc/self/limits";
const MEMINFO: &str = "/proc/meminfo";
const HUGE: &str = "/sys/kernel/mm/transparent_hugepage";
/// Registered buffers of a stream at the default window fit into this.
const LOCKED_BYTES_MIN: u64 = 64 << 20;
/// Room for the segments of a few dozen ranks of an MPI library or UCX.
const SHM_BYTES_MIN: u64 = 256 << 20;
/// Sockets and files of some hundred ranks.
const FILES_MIN: u64 = 1024;

pub(super) fn checks(patient: &Patient) -> Vec<Check> {
    vec![
        locked(patient),
        huge_pages(patient),
        transparent(patient),
        shared(patient),
        open_files(patient),
    ]
}

/// Soft and hard limit of a line of `/proc/self/limits`; `None` for unlimited.
fn limit(patient: &Patient, line: &str) -> Option<(Option<u64>, Option<u64>)> {
    let text = patient.files.text(LIMITS)?;
    let rest = text.lines().find_map(|found| found.strip_prefix(line))?;
    let mut words = rest.split_whitespace();
    let mut one = || match words.next()? {
        "unlimited" => Some(None),
        number => Some(Some(number.parse().ok()?)),
    };
    Some((one()?, one()?))
}

fn locked(patient: &Patient) -> Check {
    const NAME: &str = "memlock";
    const WHY: &str =
        "registered memory (RDMA, UCX, io_uring's buffers) must be locked, and is refused beyond the limit";
    match limit(patient, "Max locked memory") {
        None => cannot_tell(NAME, "the limit cannot be read", WHY),
        Some((None, _)) => ok(NAME, "unlimited", WHY),
        Some((Some(soft), _)) if soft >= LOCKED_BYTES_MIN => ok(NAME, format_size(soft), WHY),
        Some((Some(soft), hard)) => {
            let enough = hard.is_none_or(|hard| hard >= LOCKED_BYTES_MIN);
            let fix = match enough {
                true => "ulimit -l unlimited || ulimit -l $(ulimit -Hl)",
                false => "sudo prlimit --pid $$ --memlock=unlimited",
            };
            warn(NAME, format_size(soft), WHY, fix)
        }
    }
}

fn huge_pages(patient: &Patient) -> Check {
    const NAME: &str = "huge_pages";
    const WHY: &str = "with small pages alone, walks of large buffers also measure the TLB";
    let reserved = patient
        .files
        .value(MEMINFO, "HugePages_Free")
        .and_then(|free| free.parse::<u64>().ok());
    let size = patient.files.kilobytes(MEMINFO, "Hugepagesize");
    let (Some(free), Some(size)) = (reserved, size) else {
        return cannot_tell(NAME, "this kernel has none, or does not count them", WHY);
    };
    let found = format!("{free} of {} free", format_size(size));
    match (free, transparent_mode(patient, "enabled").as_deref()) {
        (0, Some("never")) => warn(
            NAME,
            format!("{found}, and none given on their own"),
            WHY,
            "sudo sysctl -w vm.nr_hugepages=512",
        ),
        (0, Some(mode)) => ok(NAME, format!("{found}; given on their own: {mode}"), WHY),
        _ => ok(NAME, found, WHY),
    }
}

fn transparent_mode(patient: &Patient, file: &str) -> Option<String> {
    chosen(&patient.files.line(&format!("{HUGE}/{file}"))?)
}

fn transparent(patient: &Patient) -> Check {
    const NAME: &str = "transparent_huge_pages";
    const WHY: &str = "a first touch that must find a huge page by compacting memory stalls for milliseconds";
    let Some(enabled) = transparent_mode(patient, "enabled") else {
        return cannot_tell(NAME, "this kernel has no such setting", WHY);
    };
    let defrag = transparent_mode(patient, "defrag").unwrap_or_else(|| "unknown".to_owned());
    let found = format!("{enabled}, defrag {defrag}");
    match (enabled.as_str(), defrag.as_str()) {
        ("always", "always") => warn(NAME, found, WHY, format!("echo madvise | sudo tee {HUGE}/defrag")),
        _ => ok(NAME, found, WHY),
    }
}

fn shared(patient: &Patient) -> Check {
    const NAME: &str = "dev_shm";
    const WHY: &str =
        "MPI libraries and UCX put their segments into /dev/shm, and die on the first page beyond its size";
    let mounts = patient.files.text("/proc/mounts").unwrap_or_default();
    let mount = mounts.lines().find_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        (words.get(1) == Some(&"/dev/shm")).then(|| words.get(3).copied().unwrap_or("").to_owned())
    });
    let Some(options) = mount else {
        return cannot_tell(NAME, "nothing is mounted at /dev/shm", WHY);
    };
    let size = options.split(',').find_map(|option| option.strip_prefix("size="));
    let bytes = match size {
        Some(size) => parse_size(size).ok(),
        // The kernel's default: half of the memory.
        None => patient
            .files
            .kilobytes(MEMINFO, "MemTotal")
            .map(|total| total / 2),
    };
    match bytes {
        None => cannot_tell(NAME, "its size cannot be read", WHY),
        Some(bytes) if bytes >= SHM_BYTES_MIN => ok(NAME, format_size(bytes), WHY),
        Some(bytes) => warn(
            NAME,
            format_size(bytes),
            WHY,
            "sudo mount -o remount,size=1G /dev/shm (containers: --shm-size=1g)",
        ),
    }
}

fn open_files(patient: &Patient) -> Check {
    const NAME: &str = "open_files";
    const WHY: &str = "each pair of ranks over sockets takes descriptors at both ends";
    match limit(patient, "Max open files") {
        None => cannot_tell(NAME, "the limit cannot be read", WHY),
        Some((None, _)) => ok(NAME, "unlimited", WHY),
        Some((Some(soft), _)) if soft >= FILES_MIN => ok(NAME, soft.to_string(), WHY),
        Some((Some(soft), hard)) => {
            let fix = match hard.is_none_or(|hard| hard >= FILES_MIN) {
                true => format!("ulimit -n {FILES_MIN}"),
                false => format!("sudo prlimit --pid $$ --nofile={FILES_MIN}"),
            };
            warn(NAME, soft.to_string(), WHY, fix)
        }
    }
}
