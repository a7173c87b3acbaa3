//! Limits that control groups (version 1 and 2) put on this process: memory and CPU quota. The tightest one on the
//! way from the process's group to the root counts. It must never take "no limit" for a number.

use super::files::Files;
use super::files::value_in;

const CGROUP: &str = "/proc/self/cgroup";
const MOUNTS: &str = "/proc/self/mountinfo";
/// Version 1 writes the highest page-aligned number for "no limit".
const V1_UNLIMITED_BYTES: u64 = 1 << 60;

/// The tightest limits; `None` where there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Limits {
    /// Memory that the process may use in all.
    pub(super) memory_bytes: Option<u64>,
    /// Memory that is left below the limit; file pages that can be dropped count as left.
    pub(super) memory_left_bytes: Option<u64>,
    /// CPU time a second, in cores.
    pub(super) cpu_quota_cores: Option<f64>,
}

/// A group that grants its processes less CPU time than the machine has.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CpuQuota {
    /// The group, by a name that is the same in every container: what the kernel calls its folder.
    pub group: String,
    /// CPU time a second, in cores.
    pub cores: f64,
}

/// What groups limit.
#[derive(Clone, Copy, PartialEq)]
enum Hierarchy {
    Both,
    MemoryV1,
    CpuV1,
}

/// Read the limits of this process.
pub(super) fn limits(files: &Files) -> Limits {
    let mut limits = Limits::default();
    for (hierarchy, folder) in groups(files) {
        limits.tighten_memory(match hierarchy {
            Hierarchy::Both => memory_v2(files, &folder),
            Hierarchy::MemoryV1 => memory_v1(files, &folder),
            Hierarchy::CpuV1 => None,
        });
        limits.tighten_cpu(cpu(files, hierarchy, &folder));
    }
    limits
}

/// The groups with a quota of CPU time that this process is in.
pub(crate) fn cpu_quotas() -> Vec<CpuQuota> {
    quotas(&Files::live())
}

fn quotas(files: &Files) -> Vec<CpuQuota> {
    let quota = |(hierarchy, folder): (Hierarchy, String)| {
        let cores = cpu(files, hierarchy, &folder)?;
        let group = files.identity(&folder)?;
        Some(CpuQuota { group, cores })
    };
    groups(files).into_iter().filter_map(quota).collect()
}

fn cpu(files: &Files, hierarchy: Hierarchy, folder: &str) -> Option<f64> {
    match hierarchy {
        Hierarchy::Both => cpu_v2(files, folder),
        Hierarchy::CpuV1 => cpu_v1(files, folder),
        Hierarchy::MemoryV1 => None,
    }
}

/// The folders of all groups that limit this process.
fn groups(files: &Files) -> Vec<(Hierarchy, String)> {
    let (Some(groups), Some(mounts)) = (files.text(CGROUP), files.text(MOUNTS)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (controller, path) in memberships(&groups) {
        let hierarchy = match controller {
            "" => Hierarchy::Both,
            "memory" => Hierarchy::MemoryV1,
            "cpu" => Hierarchy::CpuV1,
            _ => continue,
        };
        let folders = folders(&mounts, controller, path);
        found.extend(folders.into_iter().map(|folder| (hierarchy, folder)));
    }
    found
}

/// The controllers that groups of this process have, and the group's path at each; the one of version 2, which has all, goes
/// without a name. `groups` is `/proc/self/cgroup`; format: cgroups(7).
pub fn memberships(groups: &str) -> impl Iterator<Item = (&str, &str)> {
    let fields = groups
        .lines()
        .filter_map(|line| line.split_once(':')?.1.split_once(':'));
    fields.flat_map(|(controllers, path)| controllers.split(',').map(move |one| (one, path)))
}

impl Limits {
    fn tighten_memory(&mut self, found: Option<(u64, u64)>) {
        if let Some((limit, left)) = found {
            self.memory_bytes = Some(self.memory_bytes.map_or(limit, |m| m.min(limit)));
            self.memory_left_bytes = Some(self.memory_left_bytes.map_or(left, |m| m.min(left)));
        }
    }

    fn tighten_cpu(&mut self, found: Option<f64>) {
        if let Some(cores) = found {
            self.cpu_quota_cores = Some(self.cpu_quota_cores.map_or(cores, |c| c.min(cores)));
        }
    }
}

/// The folder of the group `path` in the mount of its hierarchy, then its parents up to the mount itself.
fn folders(mounts: &str, controller: &str, path: &str) -> Vec<String> {
    let Some((mount_root, mount_point)) = hierarchies(mounts, controller).next() else {
        return Vec::new();
    };
    // In a namespace of its own the process may see a path that the mount does not show; then the mount is its group.
    let below = match path.strip_prefix(mount_root.trim_end_matches('/')) {
        Some(below) if !below.split('/').any(|part| part == "..") => below.trim_matches('/'),
        _ => "",
    };
    let mut found = vec![mount_point.to_owned()];
    let mut folder = mount_point.to_owned();
    for part in below.split('/').filter(|part| !part.is_empty()) {
        folder = format!("{folder}/{part}");
        found.push(folder.clone());
    }
    found.reverse();
    found
}

/// Root and mount point of each hierarchy of a controller, or without a name of version 2; `mounts` is `/proc/self/mountinfo`;
/// format: proc_pid_mountinfo(5).
pub fn hierarchies<'a>(mounts: &'a str, controller: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    mounts.lines().filter_map(move |line| {
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut filesystem = filesystem.split(' ');
        let (kind, options) = (filesystem.next()?, filesystem.nth(1).unwrap_or(""));
        let is_it = match controller {
            "" => kind == "cgroup2",
            name => kind == "cgroup" && options.split(',').any(|option| option == name),
        };
        if !is_it {
            return None;
        }
        let mut fields = mount.split(' ').skip(3);
        Some((fields.next()?, fields.next()?))
    })
}

/// Limit and what is left of it.
fn memory_v2(files: &Files, folder: &str) -> Option<(u64, u64)> {
    let limit = files.number(&format!("{folder}/memory.max"))?;
    let used = files.number(&format!("{folder}/memory.current"));
    let stat = files.text(&format!("{folder}/memory.stat"));
    Some((limit, left(limit, used, stat.as_deref(), "inactive_file")))
}

fn memory_v1(files: &Files, folder: &str) -> Option<(u64, u64)> {
    let limit = files.number(&format!("{folder}/memory.limit_in_bytes"))?;
    if limit >= V1_UNLIMITED_BYTES {
        return None;
    }
    let used = files.number(&format!("{folder}/memory.usage_in_bytes"));
    let stat = files.text(&format!("{folder}/memory.stat"));
    Some((limit, left(limit, used, stat.as_deref(), "total_inactive_file")))
}

/// Pages of files that nobody used lately are dropped before anything is refused.
fn left(limit: u64, used: Option<u64>, stat: Option<&str>, droppable_key: &str) -> u64 {
    let droppable = stat
        .and_then(|s| value_in(s, droppable_key))
        .and_then(|v| v.parse().ok())
        .unwrap_or(0);
    limit.saturating_sub(used.unwrap_or(0).saturating_sub(droppable))
}

/// `cpu.max` holds `max PERIOD` or `QUOTA PERIOD`, in microseconds.
fn cpu_v2(files: &Files, folder: &str) -> Option<f64> {
    let text = files.line(&format!("{folder}/cpu.max"))?;
    let (quota, period) = text.split_once(' ')?;
    cores(quota.parse().ok()?, period.parse().ok()?)
}

/// A quota of -1 means none; it is no unsigned number.
fn cpu_v1(files: &Files, folder: &str) -> Option<f64> {
    let quota = files.number(&format!("{folder}/cpu.cfs_quota_us"))?;
    let period = files.number(&format!("{folder}/cpu.cfs_period_us"))?;
    cores(quota, period)
}

fn cores(quota_us: u64, period_us: u64) -> Option<f64> {
    (quota_us > 0 && period_us > 0).then(|| quota_us as f64 / period_us as f64)
}

#[cfg(test)]
mod tests {
    use super::super::files::plant;
    use super::*;

    const V2_MOUNT: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    const V1_MOUNTS: &str = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                             33 31 0:32 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

    fn read(files: &[(&str, &str)]) -> Limits {
        let dir = tempfile::tempdir().expect("tempdir");
        plant(dir.path(), files);
        limits(&Files::at(dir.path()))
    }

    #[test]
    fn v2_takes_the_tightest_of_the_path() {
        let found = read(&[
            (CGROUP, "0::/a/b\n"),
            (MOUNTS, V2_MOUNT),
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("/sys/fs/cgroup/a/b/cpu.max", "300000 100000\n"),
            ("/sys/fs/cgroup/a/memory.max", "1000000\n"),
            ("/sys/fs/cgroup/a/memory.current", "600000\n"),
            ("/sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 100000\n"),
            ("/sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("/sys/fs/cgroup/cpu.max", "max 100000\n"),
        ]);
        assert_eq!(found.memory_bytes, Some(1_000_000));
        assert_eq!(found.memory_left_bytes, Some(500_000));
        assert_eq!(found.cpu_quota_cores, Some(1.5));
    }

    #[test]
    fn groups_with_a_quota_are_told_apart_however_they_are_reached() {
        let dir = tempfile::tempdir().expect("tempdir");
        let quota = ("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
        let files = [(CGROUP, "0::/a/b\n"), (MOUNTS, V2_MOUNT), quota];
        plant(dir.path(), &files);
        plant(dir.path(), &[("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n")]);
        let outside = quotas(&Files::at(dir.path()));
        let [found] = &outside[..] else {
            panic!("{outside:?}");
        };
        assert_eq!(found.cores, 1.5);
        // A container whose mount begins at the group.
        plant(
            dir.path(),
            &[
                (MOUNTS, "30 23 0:26 / /box rw - cgroup2 cgroup2 rw\n"),
                (CGROUP, "0::/\n"),
            ],
        );
        std::os::unix::fs::symlink("sys/fs/cgroup/a", dir.path().join("box")).expect("link");
        assert_eq!(quotas(&Files::at(dir.path())), outside);
        plant(
            dir.path(),
            &[
                (CGROUP, "0::/b\n"),
                ("/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n"),
            ],
        );
        let both = quotas(&Files::at(dir.path()));
        assert!(both.len() == 2 && both[0].group != both[1].group, "{both:?}");
        assert!(both.iter().all(|quota| !quota.group.contains([' ', ',', '='])));
    }

    #[test]
    fn v1_strips_the_root_of_the_mount() {
        let found = read(&[
            (CGROUP, "5:memory:/docker/x/job\n4:cpu,cpuacct:/\n0::/\n"),
            (MOUNTS, V1_MOUNTS),
            (
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
            ("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4096000\n"),
            ("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "96000\n"),
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n"),
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ]);
        assert_eq!(found.memory_bytes, Some(4_096_000));
        assert_eq!(found.memory_left_bytes, Some(4_000_000));
        assert_eq!(found.cpu_quota_cores, Some(0.5));
    }

    #[test]
    fn no_limit_is_absent() {
        let found = read(&[
            (
                CGROUP,
                "5:memory:/\n4:cpu,cpuacct:/\n0::/../elsewhere\nnonsense\n",
            ),
            (MOUNTS, &format!("short line\n{V1_MOUNTS}{V2_MOUNT}")),
            (
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            ("/sys/fs/cgroup/memory.max", "max\n"),
            ("/sys/fs/cgroup/cpu.max", "max 0\n"),
        ]);
        assert_eq!(found, Limits::default());
        assert_eq!(read(&[]), Limits::default());
    }

    #[test]
    fn an_overdrawn_group_has_nothing_left() {
        let found = read(&[
            (CGROUP, "0::/\n"),
            (MOUNTS, V2_MOUNT),
            ("/sys/fs/cgroup/memory.max", "1000\n"),
            ("/sys/fs/cgroup/memory.current", "2000\n"),
        ]);
        assert_eq!(found.memory_left_bytes, Some(0));
    }
}
