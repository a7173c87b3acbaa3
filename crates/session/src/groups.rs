//! Control groups of version 1 and 2 that hold one computation each: cores and memory are limited here where the kernel
//! lets us. What it refuses is told, never passed over.
//!
//! A group's name carries the process that made it, so that what a killed one left can be found and removed.

use crate::definition::Resources;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use wirespeed::host::{hierarchies, memberships};

/// Accounting period of CPU quotas.
const PERIOD_US: u64 = 100_000;
/// Smallest quota that kernels take.
const QUOTA_US_MIN: u64 = 1000;
/// A group whose last process has just gone may be busy for a moment.
const REMOVE_TIME: Duration = Duration::from_secs(1);
const PREFIX: &str = "wirespeed-";

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Where this process may make groups: the folders of its own groups, by what they control.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    v2: Option<PathBuf>,
    cpu: Option<PathBuf>,
    cpuacct: Option<PathBuf>,
    memory: Option<PathBuf>,
}

impl Roots {
    /// Those of this process.
    pub fn find() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let roots = Self::from_texts(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"));
        roots.sweep();
        roots
    }

    fn from_texts(groups: &str, mounts: &str) -> Self {
        let mut roots = Roots::default();
        for (controller, path) in memberships(groups) {
            let place = match controller {
                "" => &mut roots.v2,
                "cpu" => &mut roots.cpu,
                "cpuacct" => &mut roots.cpuacct,
                "memory" => &mut roots.memory,
                _ => continue,
            };
            *place = folder(mounts, controller, path);
        }
        roots
    }

    /// What Slurm enforces of `asked` for the step that this process is. Cores: the step may use no more CPUs than asked for,
    /// of a host that has more. Memory: a group of Slurm's on the way up has a limit.
    pub fn held_by_slurm(&self, asked: &Resources) -> Held {
        let allowed = wirespeed::host::allowed_cpus().len();
        let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
        let online = wirespeed::host::parse_cpu_list(online.trim()).map_or(allowed, |cpus| cpus.len());
        let cores = asked
            .cores
            .is_some_and(|cores| allowed < online && allowed as f64 <= cores.get().ceil());
        Held {
            cores,
            memory: asked
                .memory_bytes
                .is_some_and(|bytes| self.slurm_limit().is_some_and(|l| l <= bytes)),
        }
    }

    /// The tightest limit of memory in groups of Slurm's above this process.
    fn slurm_limit(&self) -> Option<u64> {
        let (own, file) = match (&self.memory, &self.v2) {
            (Some(folder), _) => (folder, "memory.limit_in_bytes"),
            (None, Some(folder)) => (folder, "memory.max"),
            (None, None) => return None,
        };
        let of_slurm = |folder: &&Path| folder.to_string_lossy().contains("slurm");
        let groups = own.ancestors().take_while(of_slurm);
        groups.filter_map(|folder| number(&folder.join(file))).min()
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.v2, &self.cpu, &self.cpuacct, &self.memory]
            .into_iter()
            .flatten()
    }

    /// Remove groups whose maker is gone.
    fn sweep(&self) {
        for folder in self.all() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let maker = name.strip_prefix(PREFIX).and_then(|rest| {
                    let mut parts = rest.split('-');
                    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
                });
                if maker.is_some_and(|(pid, start)| start_time(pid) != Some(start)) {
                    // One that still holds processes is refused, and swept another time.
                    let _ = fs::remove_dir(entry.path());
                }
            }
        }
    }
}

/// The folder of the group at `path` in a mount of its hierarchy.
fn folder(mounts: &str, controller: &str, path: &str) -> Option<PathBuf> {
    hierarchies(mounts, controller).find_map(|(root, point)| {
        let below = path.strip_prefix(root.trim_end_matches('/'))?;
        (!below.split('/').any(|part| part == "..")).then(|| Path::new(point).join(below.trim_matches('/')))
    })
}

/// A number alone in its file.
fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// When process `pid` began, in clock ticks since boot; no two processes share number and time.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// What somebody else enforces already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// Cores.
    pub cores: bool,
    /// Memory.
    pub memory: bool,
}

/// What a group's own counters say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time of all its processes.
    pub cpu_ns: Option<u64>,
    /// Time in which it was kept from a CPU by its quota.
    pub throttled_ns: Option<u64>,
    /// Most memory that it held.
    pub memory_max_bytes: Option<u64>,
    /// Processes that the kernel killed for memory.
    pub oom_kills: u64,
}

/// The groups of one computation; removed when dropped.
#[derive(Debug, Default)]
pub struct Group {
    folders: Vec<PathBuf>,
    cpu: Option<PathBuf>,
    cpuacct: Option<PathBuf>,
    memory: Option<PathBuf>,
    v2: bool,
    /// Cores are enforced here.
    pub cores_enforced: bool,
    /// Memory is enforced here.
    pub memory_enforced: bool,
    /// What the kernel refused, one line each.
    pub refusals: Vec<String>,
}

impl Group {
    /// A group that holds to `cores` and `memory_bytes`, as far as it can be had and nobody else does. Without either there
    /// is none.
    pub fn make(roots: &Roots, cores: Option<f64>, memory_bytes: Option<u64>, held: Held) -> Group {
        let mut group = Group::default();
        let cores = cores.filter(|_| !held.cores);
        let memory_bytes = memory_bytes.filter(|_| !held.memory);
        if held.memory {
            // Its counters tell of a kill; it is not ours to change or remove.
            group.v2 = roots.memory.is_none();
            group.memory = roots.memory.clone().or_else(|| roots.v2.clone());
        }
        if cores.is_none() && memory_bytes.is_none() {
            return group;
        }
        let pid = std::process::id();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{pid}-{}-{number}", start_time(pid).unwrap_or(0));
        if roots.cpu.is_some() || roots.memory.is_some() {
            group.cpu = cores.and_then(|_| group.folder(roots.cpu.as_ref(), &name, "cpu"));
            group.cpuacct = group.folder(roots.cpuacct.as_ref(), &name, "cpuacct");
            if let Some(folder) =
                memory_bytes.and_then(|_| group.folder(roots.memory.as_ref(), &name, "memory"))
            {
                group.memory = Some(folder);
            }
        } else if let Some(root) = &roots.v2 {
            group.v2 = true;
            // Refused where processes live in that group, unless the controllers were handed down already.
            let _ = fs::write(root.join("cgroup.subtree_control"), "+cpu +memory");
            let folder = group.folder(Some(root), &name, "cpu,memory");
            (group.cpu, group.memory) = (folder.clone(), folder);
        } else {
            group.refusals.push("this machine shows no control groups".into());
        }
        if let Some(cores) = cores {
            group.cores_enforced = group.limit_cores(cores);
        }
        if let Some(bytes) = memory_bytes {
            group.memory_enforced = group.limit_memory(bytes);
        }
        group
    }

    fn folder(&mut self, root: Option<&PathBuf>, name: &str, what: &str) -> Option<PathBuf> {
        let folder = root?.join(name);
        match fs::create_dir(&folder) {
            Ok(()) => {
                self.folders.push(folder.clone());
                Some(folder)
            }
            Err(error) => {
                self.refusals.push(format!("control group for {what}: {error}"));
                None
            }
        }
    }

    fn limit_cores(&mut self, cores: f64) -> bool {
        let Some(folder) = self.cpu.clone() else {
            return false;
        };
        let quota_us = ((cores * PERIOD_US as f64) as u64).max(QUOTA_US_MIN);
        let written = match self.v2 {
            true => fs::write(folder.join("cpu.max"), format!("{quota_us} {PERIOD_US}")),
            false => fs::write(folder.join("cpu.cfs_period_us"), PERIOD_US.to_string())
                .and_then(|()| fs::write(folder.join("cpu.cfs_quota_us"), quota_us.to_string())),
        };
        self.is_done("cores", written)
    }

    fn limit_memory(&mut self, bytes: u64) -> bool {
        let Some(folder) = self.memory.clone() else {
            return false;
        };
        let (limit, swap) = match self.v2 {
            true => ("memory.max", ("memory.swap.max", "0")),
            false => ("memory.limit_in_bytes", ("memory.swappiness", "0")),
        };
        // Where there is no swap there is nothing to forbid.
        let _ = fs::write(folder.join(swap.0), swap.1);
        let written = fs::write(folder.join(limit), bytes.to_string());
        self.is_done("memory", written)
    }

    fn is_done(&mut self, what: &str, written: io::Result<()>) -> bool {
        if let Err(error) = &written {
            self.refusals.push(format!("limit of {what}: {error}"));
        }
        written.is_ok()
    }

    /// What enforces: `cgroup v1`, `cgroup v2`.
    pub fn means(&self) -> &'static str {
        if self.v2 { "cgroup v2" } else { "cgroup v1" }
    }

    /// Its folders.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Put a process into it. A refusal ends what it enforces.
    pub fn hold(&mut self, pid: u32) {
        for folder in self.folders.clone() {
            if let Err(error) = fs::write(folder.join("cgroup.procs"), pid.to_string()) {
                self.refusals
                    .push(format!("moving the computation to its group: {error}"));
                self.cores_enforced &= self.cpu.as_ref() != Some(&folder);
                self.memory_enforced &= self.memory.as_ref() != Some(&folder);
            }
        }
    }

    /// Its counters.
    pub fn usage(&self) -> Usage {
        let number = |folder: &Option<PathBuf>, file: &str| number(&folder.as_ref()?.join(file));
        let value = |folder: &Option<PathBuf>, file: &str, key: &str| -> Option<u64> {
            let text = fs::read_to_string(folder.as_ref()?.join(file)).ok()?;
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
            line?.trim().parse().ok()
        };
        if self.v2 {
            return Usage {
                cpu_ns: value(&self.cpu, "cpu.stat", "usage_usec").map(|us| us * 1000),
                throttled_ns: value(&self.cpu, "cpu.stat", "throttled_usec").map(|us| us * 1000),
                memory_max_bytes: number(&self.memory, "memory.peak"),
                oom_kills: value(&self.memory, "memory.events", "oom_kill").unwrap_or(0),
            };
        }
        Usage {
            cpu_ns: number(&self.cpuacct, "cpuacct.usage"),
            throttled_ns: value(&self.cpu, "cpu.stat", "throttled_time"),
            memory_max_bytes: number(&self.memory, "memory.max_usage_in_bytes"),
            oom_kills: value(&self.memory, "memory.oom_control", "oom_kill").unwrap_or(0),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let deadline = Instant::now() + REMOVE_TIME;
        for folder in &self.folders {
            while fs::remove_dir(folder).is_err_and(|e| e.kind() != io::ErrorKind::NotFound)
                && Instant::now() < deadline
            {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// A computation whose node is gone moves out of its groups and removes them.
pub fn leave(folders: &[PathBuf]) {
    for folder in folders {
        if let Some(parent) = folder.parent() {
            // A refusal leaves the group to the next node's sweep.
            let _ = fs::write(parent.join("cgroup.procs"), std::process::id().to_string());
        }
        let _ = fs::remove_dir(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_found_below_the_mounts() {
        let mounts = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                      33 31 0:32 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      34 31 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let roots = Roots::from_texts("5:memory:/docker/x/job\n4:cpu,cpuacct:/\n0::/a\nbad\n", mounts);
        let is = |path: &Option<PathBuf>, text: &str| assert_eq!(path.as_deref(), Some(Path::new(text)));
        is(&roots.memory, "/sys/fs/cgroup/memory/job");
        is(&roots.cpu, "/sys/fs/cgroup/cpu,cpuacct");
        is(&roots.v2, "/sys/fs/cgroup/unified/a");
        assert!(Roots::from_texts("", mounts).all().next().is_none());
        assert!(Roots::from_texts("0::/../elsewhere\n", mounts).v2.is_none());
    }

    #[test]
    fn limits_are_written_and_folders_go() {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots {
            v2: Some(dir.path().to_owned()),
            ..Roots::default()
        };
        let group = Group::make(&roots, Some(1.5), Some(64 << 20), Held::default());
        let folder = group.folders()[0].clone();
        assert!(group.cores_enforced && group.memory_enforced, "{group:?}");
        assert_eq!(
            fs::read_to_string(folder.join("cpu.max")).unwrap(),
            "150000 100000"
        );
        fs::write(folder.join("memory.events"), "low 0\noom_kill 2\n").unwrap();
        fs::write(folder.join("cpu.stat"), "usage_usec 7\nthrottled_usec 3\n").unwrap();
        let usage = group.usage();
        assert_eq!(
            (usage.oom_kills, usage.cpu_ns, usage.throttled_ns),
            (2, Some(7000), Some(3000))
        );
        // Real groups hold no files of ours.
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            fs::remove_file(entry.path()).unwrap();
        }
        drop(group);
        assert!(!folder.exists());
    }

    #[test]
    fn what_slurm_holds_is_left_to_slurm() {
        let dir = tempfile::tempdir().unwrap();
        let step = dir.path().join("slurm/job_7/step_0");
        fs::create_dir_all(&step).unwrap();
        fs::write(dir.path().join("slurm/job_7/memory.max"), "67108864\n").unwrap();
        fs::write(step.join("memory.max"), "max\n").unwrap();
        fs::write(step.join("memory.events"), "oom_kill 1\n").unwrap();
        let roots = Roots {
            v2: Some(step.clone()),
            ..Roots::default()
        };
        let asking = |bytes| {
            roots.held_by_slurm(&Resources {
                cores: None,
                memory_bytes: Some(bytes),
            })
        };
        assert!(asking(64 << 20).memory && !asking(32 << 20).memory);
        let group = Group::make(&roots, None, Some(64 << 20), asking(64 << 20));
        assert!(!group.memory_enforced && group.folders().is_empty() && group.refusals.is_empty());
        assert_eq!(group.usage().oom_kills, 1);
        drop(group);
        assert!(step.is_dir(), "it is not ours");
    }

    #[test]
    fn what_is_refused_is_told() {
        let roots = Roots {
            cpu: Some("/nonexistent".into()),
            ..Roots::default()
        };
        let group = Group::make(&roots, Some(1.0), None, Held::default());
        assert!(!group.cores_enforced && group.refusals.len() == 1, "{group:?}");
        assert!(
            Group::make(&roots, None, None, Held::default())
                .refusals
                .is_empty()
        );
    }

    #[test]
    fn groups_of_dead_makers_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let make = |name: String| fs::create_dir(dir.path().join(name)).unwrap();
        let me = std::process::id();
        make(format!("{PREFIX}{}-1-0", u32::MAX));
        make(format!("{PREFIX}{me}-{}-0", start_time(me).unwrap()));
        make("of-somebody-else".into());
        let roots = Roots {
            cpu: Some(dir.path().to_owned()),
            ..Roots::default()
        };
        roots.sweep();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
