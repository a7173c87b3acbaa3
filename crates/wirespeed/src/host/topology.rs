//! Cores, sockets, NUMA nodes and caches, as sysfs tells. It must never guess: a fact that is not there has the
//! value of the simplest machine (one socket, one node, each CPU its own core).

use super::affinity::parse_cpu_list;
use super::files::Files;
use std::collections::BTreeSet;
use std::path::Path;

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// One cache of a CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    /// 1 is nearest to the core.
    pub level: u32,
    /// What it holds.
    pub kind: CacheKind,
    /// Size.
    pub size_bytes: u64,
    /// CPUs that share it, ascending.
    pub shared_cpus: Vec<u32>,
}

/// One logical CPU that is online.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpu {
    /// The kernel's number.
    pub number: u32,
    /// Lowest CPU number on the same physical core: names the core machine-wide.
    pub core: u32,
    /// Physical package.
    pub socket: u32,
    /// NUMA node.
    pub numa_node: u32,
    /// CPUs on the same physical core, this one included.
    pub siblings: Vec<u32>,
    /// Its caches.
    pub caches: Vec<Cache>,
}

impl Cpu {
    /// The cache farthest from the core that can hold data.
    pub fn last_level_cache(&self) -> Option<&Cache> {
        let data = self.caches.iter().filter(|c| c.kind != CacheKind::Instruction);
        data.max_by_key(|c| c.level)
    }
}

/// The CPUs of a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// Online CPUs in ascending order.
    pub cpus: Vec<Cpu>,
    /// NUMA nodes online, those without CPUs included; at least 1 once read.
    pub numa_nodes: u32,
}

impl Topology {
    /// Read the topology of the tree at `root`: `/` for this machine. Empty where sysfs is missing.
    pub fn read(root: &Path) -> Self {
        let files = Files::at(root);
        let list = |path: &str| cpu_list(&files, path);
        let nodes = list(&format!("{NODES}/online"));
        let node_cpus: Vec<(u32, Vec<u32>)> = nodes
            .iter()
            .map(|&n| (n, list(&format!("{NODES}/node{n}/cpulist"))))
            .collect();
        let online = list(&format!("{CPUS}/online"));
        let cpus = online.iter().map(|&number| {
            let node = node_cpus.iter().find(|(_, cpus)| cpus.contains(&number));
            read_cpu(&files, number, node.map_or(0, |(node, _)| *node))
        });
        Topology {
            cpus: cpus.collect(),
            numa_nodes: (nodes.len() as u32).max(1),
        }
    }

    /// Physical cores.
    pub fn cores(&self) -> u32 {
        self.cpus
            .iter()
            .map(|cpu| cpu.core)
            .collect::<BTreeSet<_>>()
            .len() as u32
    }

    /// Sockets.
    pub fn sockets(&self) -> u32 {
        self.cpus
            .iter()
            .map(|cpu| cpu.socket)
            .collect::<BTreeSet<_>>()
            .len() as u32
    }

    /// The CPU with this number, if it is online.
    pub fn cpu(&self, number: u32) -> Option<&Cpu> {
        self.cpus.iter().find(|cpu| cpu.number == number)
    }

    /// Size of the largest cache of the first CPU.
    pub fn largest_cache_bytes(&self) -> Option<u64> {
        let data = self
            .cpus
            .first()?
            .caches
            .iter()
            .filter(|c| c.kind != CacheKind::Instruction);
        data.map(|c| c.size_bytes).max()
    }

    /// The CPU with this number; one on a core of its own where nothing is known about it.
    pub(super) fn cpu_or_unknown(&self, number: u32) -> Cpu {
        self.cpu(number).cloned().unwrap_or_else(|| Cpu {
            number,
            core: number,
            socket: 0,
            numa_node: 0,
            siblings: vec![number],
            caches: Vec::new(),
        })
    }
}

/// A list of CPUs or nodes in a file; empty when there is none.
fn cpu_list(files: &Files, path: &str) -> Vec<u32> {
    let list = files.text(path).and_then(|text| parse_cpu_list(&text).ok());
    list.unwrap_or_default()
}

fn read_cpu(files: &Files, number: u32, numa_node: u32) -> Cpu {
    let folder = format!("{CPUS}/cpu{number}");
    // The first name is the current one, the second the one before Linux 5.3.
    let mut siblings = cpu_list(files, &format!("{folder}/topology/core_cpus_list"));
    if siblings.is_empty() {
        siblings = cpu_list(files, &format!("{folder}/topology/thread_siblings_list"));
    }
    if !siblings.contains(&number) {
        siblings = vec![number];
    }
    let socket = files.number(&format!("{folder}/topology/physical_package_id"));
    Cpu {
        number,
        core: siblings.iter().copied().min().unwrap_or(number),
        // Virtual machines without sockets say -1, which is no number here.
        socket: socket.and_then(|s| u32::try_from(s).ok()).unwrap_or(0),
        numa_node,
        siblings,
        caches: read_caches(files, &folder),
    }
}

fn read_caches(files: &Files, cpu_folder: &str) -> Vec<Cache> {
    let mut caches = Vec::new();
    for index in 0.. {
        let folder = format!("{cpu_folder}/cache/index{index}");
        let Some(level) = files.number(&format!("{folder}/level")) else {
            break;
        };
        let kind = match files.text(&format!("{folder}/type")).as_deref() {
            Some("Data") => CacheKind::Data,
            Some("Instruction") => CacheKind::Instruction,
            _ => CacheKind::Unified,
        };
        let size = files.text(&format!("{folder}/size"));
        // A cache whose size the firmware does not tell is of no use to anybody.
        let Some(size_bytes) = size.and_then(|s| wirespeed_schema::units::parse_size(&s).ok()) else {
            continue;
        };
        caches.push(Cache {
            level: u32::try_from(level).unwrap_or(u32::MAX),
            kind,
            size_bytes,
            shared_cpus: cpu_list(files, &format!("{folder}/shared_cpu_list")),
        });
    }
    caches
}

#[cfg(test)]
mod tests {
    use super::super::files::plant;
    use super::*;

    /// Two sockets of one core with two threads each; CPU 4 is offline; node 2 has memory only.
    fn two_sockets(root: &Path) {
        plant(
            root,
            &[
                ("/sys/devices/system/cpu/online", "0-3\n"),
                ("/sys/devices/system/node/online", "0-2\n"),
                ("/sys/devices/system/node/node0/cpulist", "0,2\n"),
                ("/sys/devices/system/node/node1/cpulist", "1,3\n"),
                ("/sys/devices/system/node/node2/cpulist", "\n"),
            ],
        );
        for (cpu, siblings, socket) in [(0, "0,2", "0"), (1, "1,3", "1"), (2, "0,2", "0"), (3, "1,3", "1")] {
            let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
            let caches = [
                ("1", "Data", "48K"),
                ("1", "Instruction", "64M"),
                ("2", "Unified", "2048K"),
                ("3", "Unified", "32768K"),
            ];
            plant(
                root,
                &[
                    (&format!("{folder}/topology/core_cpus_list"), siblings),
                    (&format!("{folder}/topology/physical_package_id"), socket),
                ],
            );
            for (index, (level, kind, size)) in caches.iter().enumerate() {
                let cache = format!("{folder}/cache/index{index}");
                plant(
                    root,
                    &[
                        (&format!("{cache}/level"), level),
                        (&format!("{cache}/type"), kind),
                        (&format!("{cache}/size"), size),
                        (&format!("{cache}/shared_cpu_list"), siblings),
                    ],
                );
            }
        }
    }

    #[test]
    fn reads_cores_sockets_nodes_and_caches() {
        let dir = tempfile::tempdir().expect("tempdir");
        two_sockets(dir.path());
        let t = Topology::read(dir.path());
        assert_eq!((t.cpus.len(), t.cores(), t.sockets(), t.numa_nodes), (4, 2, 2, 3));
        let cpu = t.cpu(3).expect("CPU 3");
        assert_eq!((cpu.core, cpu.socket, cpu.numa_node), (1, 1, 1));
        assert_eq!(cpu.siblings, [1, 3]);
        assert_eq!(cpu.caches.len(), 4);
        let last = cpu.last_level_cache().expect("cache");
        assert_eq!((last.level, last.size_bytes), (3, 32 << 20));
        assert_eq!(last.shared_cpus, [1, 3]);
        assert_eq!(
            t.largest_cache_bytes(),
            Some(32 << 20),
            "instruction caches do not count"
        );
        assert_eq!(t.cpu(4), None);
    }

    #[test]
    fn bare_tree_gives_single_cores() {
        let dir = tempfile::tempdir().expect("tempdir");
        let cpu = "/sys/devices/system/cpu";
        plant(
            dir.path(),
            &[
                (&format!("{cpu}/online"), "0,7"),
                (&format!("{cpu}/cpu7/topology/physical_package_id"), "-1"),
                (&format!("{cpu}/cpu7/cache/index0/level"), "1"),
            ],
        );
        let t = Topology::read(dir.path());
        assert_eq!((t.cores(), t.sockets(), t.numa_nodes), (2, 1, 1));
        assert_eq!(t.largest_cache_bytes(), None);
        assert_eq!(Topology::read(&dir.path().join("none")).cpus, []);
    }

    #[test]
    fn this_machine_is_consistent() {
        let t = Topology::read(Path::new("/"));
        assert!(t.cores() as usize <= t.cpus.len());
        assert!(t.sockets() <= t.cores());
        for cpu in &t.cpus {
            assert!(cpu.siblings.contains(&cpu.number));
        }
    }
}
