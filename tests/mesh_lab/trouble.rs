//! Kinds of trouble that a mesh of machines can have, and what a judgement of it should name. It must never measure.

use std::any::Any;
use std::path::PathBuf;
use wirespeed_byteio::lab::Shape;
use wirespeed_schema::mesh::MeshCulprit;
use wirespeed_tests::bridge::Bridge;
use wirespeed_tests::ssh::SshHosts;

/// What is to be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Nothing.
    Nothing,
    /// The host that the trouble is at.
    Host,
    /// The link between the two.
    Link,
}

impl Expected {
    /// Whether it is `culprit`, where the trouble is at these hosts.
    pub fn is(self, culprit: MeshCulprit, at: (u32, u32)) -> bool {
        match (self, culprit) {
            (Expected::Host, MeshCulprit::Host { host, .. }) => host == at.0,
            (Expected::Link, MeshCulprit::Link { from, to, .. }) => (from, to) == at || (to, from) == at,
            _ => false,
        }
    }
}

/// What keeps the trouble up, which may be nothing beside the machines; it ends with this.
pub type Trouble = Box<dyn Any>;

/// Machines and their daemons.
pub type Machines<'a> = (&'a Bridge, &'a SshHosts);

/// A kind of trouble.
pub struct Kind {
    pub name: &'static str,
    /// What is measured between two hosts.
    pub probe: &'static str,
    pub expected: Expected,
    pub make: fn(Machines, (usize, usize)) -> Result<Trouble, String>,
}

const STREAM: &str = "am_bw --via tcp --size 16K -t 100ms --warmup 30ms";
const TURNS: &str = "am_lat --via tcp -t 50ms --warmup 10ms";
const HEALTHY: &str = "400mbit";
const SLOW: &str = "280mbit";
/// The rate of a wire of its own that is as fast as the others.
const HEALTHY_BITS_PER_S: f64 = 400e6;
/// Packets that a lossy wire loses. TCP makes good for 5 % without a loss of speed, over a round trip as short as here.
const LOSS_RATIO: f64 = 0.1;
/// A wire of its own that changes nothing else.
const DIRECT: Shape = Shape {
    rate_bits_per_s: None,
    delay_ns: 0,
    loss_ratio: 0.0,
    queue_bytes: 1 << 20,
};

/// All of them.
pub const KINDS: [Kind; 6] = [
    Kind {
        name: "healthy",
        probe: STREAM,
        expected: Expected::Nothing,
        make: |machines, _| limited(machines.0, None),
    },
    Kind {
        name: "host-rate",
        probe: STREAM,
        expected: Expected::Host,
        make: |machines, at| limited(machines.0, Some(at.0)),
    },
    Kind {
        name: "host-quota",
        probe: "am_bw --via tcp --size 16K -t 200ms --warmup 30ms",
        expected: Expected::Host,
        make: |machines, at| Ok(Box::new(Group::around(machines, at.0)?)),
    },
    Kind {
        name: "link-rate",
        probe: STREAM,
        expected: Expected::Link,
        make: |machines, at| {
            let limits = (0..machines.0.count()).filter(|host| *host != at.0);
            for host in limits {
                machines.0.limit_rate(host, HEALTHY).map_err(|e| e.to_string())?;
            }
            let limited = machines.0.limit_link(at.0, at.1, SLOW);
            limited.map_err(|e| e.to_string())?;
            Ok(Box::new(()))
        },
    },
    Kind {
        name: "link-long",
        probe: TURNS,
        expected: Expected::Link,
        make: |machines, at| {
            wire(
                machines.0,
                at,
                Shape {
                    delay_ns: 500_000,
                    ..DIRECT
                },
            )
        },
    },
    Kind {
        name: "link-lossy",
        // Long enough to see timeouts: what is sent again within them costs next to nothing.
        probe: "am_bw --via tcp --size 16K -t 250ms --warmup 30ms",
        expected: Expected::Link,
        make: |machines, at| {
            limited(machines.0, None)?;
            let shape = Shape {
                rate_bits_per_s: Some(HEALTHY_BITS_PER_S),
                loss_ratio: LOSS_RATIO,
                ..DIRECT
            };
            wire(machines.0, at, shape)
        },
    },
];

/// All machines at the same rate, one of them below.
fn limited(bridge: &Bridge, slow: Option<usize>) -> Result<Trouble, String> {
    for host in 0..bridge.count() {
        let rate = if Some(host) == slow { SLOW } else { HEALTHY };
        bridge.limit_rate(host, rate).map_err(|e| e.to_string())?;
    }
    Ok(Box::new(()))
}

fn wire(bridge: &Bridge, at: (usize, usize), shape: Shape) -> Result<Trouble, String> {
    let wire = bridge.detour(at.0, at.1, shape).map_err(|e| e.to_string())?;
    Ok(Box::new(wire))
}

/// A control group whose processes get a share of one CPU.
struct Group(PathBuf);

impl Group {
    /// With the daemon of a host, and so with all that ssh starts there: a fifth of a CPU.
    fn around((bridge, hosts): Machines, host: usize) -> Result<Group, String> {
        let folder = format!("/sys/fs/cgroup/cpu/wirespeed-mesh-lab-{}", std::process::id());
        let group = Group(PathBuf::from(folder));
        let set = || {
            std::fs::create_dir(&group.0)?;
            std::fs::write(group.0.join("cpu.cfs_period_us"), "10000")?;
            std::fs::write(group.0.join("cpu.cfs_quota_us"), "2000")?;
            let daemon = hosts.daemon(&bridge.name(host));
            for process in family(daemon) {
                std::fs::write(group.0.join("cgroup.procs"), process.to_string())?;
            }
            Ok(())
        };
        set().map_err(|e: std::io::Error| format!("no control group: {e}"))?;
        Ok(group)
    }
}

/// A process and its children, and theirs.
fn family(process: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let children = children.unwrap_or_default();
    let numbers = children.split_whitespace().filter_map(|word| word.parse().ok());
    std::iter::once(process).chain(numbers.flat_map(family)).collect()
}

impl Drop for Group {
    fn drop(&mut self) {
        let left = std::fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
        for process in left.lines() {
            // It may have ended.
            let _ = std::fs::write("/sys/fs/cgroup/cpu/cgroup.procs", process);
        }
        let _ = std::fs::remove_dir(&self.0);
    }
}
