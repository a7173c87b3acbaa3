//! The machine in one record. It must never hold a secret: no environment, no users, the host's name only on request.

use super::affinity::allowed_cpus;
use super::cgroup::limits;
use super::facts::{facts, interface_facts};
use super::files::Files;
use super::hypervisor::{self, hypervisor};
use super::memory::total_bytes;
use super::topology::Topology;
use parking_lot::Mutex;
use std::path::Path;
use std::time::{Duration, Instant};
use wirespeed_schema::finite::Finite;
use wirespeed_schema::host::HostFingerprint;

const CPUINFO: &str = "/proc/cpuinfo";
/// Runs follow each other in milliseconds, and most facts change with a configuration.
const AGE_MAX: Duration = Duration::from_secs(10);

/// What the fingerprint may tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FingerprintOptions {
    /// Include the name of the host.
    pub host_name: bool,
}

/// Facts about this machine that can change a result. Reads some hundred small files: call it outside timed regions.
pub fn fingerprint(options: FingerprintOptions) -> HostFingerprint {
    let mut found = from_tree(Path::new("/"), &allowed_cpus());
    let uname = rustix::system::uname();
    found.kernel = format!(
        "{} {}",
        uname.sysname().to_string_lossy(),
        uname.release().to_string_lossy()
    );
    found.host_name = options
        .host_name
        .then(|| uname.nodename().to_string_lossy().into_owned());
    if found.hypervisor.as_deref() == Some(hypervisor::UNNAMED) {
        found.hypervisor = hypervisor::signature().or(found.hypervisor);
    }
    found.facts.extend(interface_facts("lo"));
    found
}

/// The same without the host's name for a run among many: what seldom changes may be some seconds old. The load average is
/// of now, and so are the CPUs that the calling thread may use.
pub fn recent_fingerprint() -> HostFingerprint {
    static RECENT: Mutex<Option<(Instant, HostFingerprint)>> = Mutex::new(None);
    let mut recent = RECENT.lock();
    let allowed = allowed_cpus();
    if let Some((when, found)) = &mut *recent
        && when.elapsed() < AGE_MAX
        && found.cpus_allowed == allowed
    {
        found.load_average_1min = load_average(&Files::at(Path::new("/")));
        return found.clone();
    }
    let found = fingerprint(FingerprintOptions::default());
    *recent = Some((Instant::now(), found.clone()));
    found
}

/// The part that comes from files below `root`.
fn from_tree(root: &Path, allowed: &[u32]) -> HostFingerprint {
    let files = Files::at(root);
    let topology = Topology::read(root);
    let cpus_online = match topology.cpus.len() {
        0 => allowed.len(),
        online => online,
    } as u32;
    // Without sysfs each CPU counts as a core and the machine as one socket.
    let or_simplest = |count: u32, simplest: u32| if count == 0 { simplest } else { count };
    HostFingerprint {
        host_name: None,
        kernel: String::new(),
        architecture: std::env::consts::ARCH.to_owned(),
        cpu_model: cpu_model(&files),
        cpus_allowed: allowed.to_vec(),
        cpus_online,
        cores: or_simplest(topology.cores(), cpus_online),
        sockets: or_simplest(topology.sockets(), 1),
        numa_nodes: or_simplest(topology.numa_nodes, 1),
        cache_largest_bytes: topology.largest_cache_bytes(),
        memory_bytes: total_bytes(&files).unwrap_or(0),
        governor: governor(&files, allowed),
        hypervisor: hypervisor(&files),
        clocksource: files.line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        cpu_quota_cores: limits(&files).cpu_quota_cores.and_then(Finite::maybe),
        load_average_1min: load_average(&files),
        facts: facts(&files),
    }
}

/// x86 names the model; Arm gives numbers of implementer and part.
fn cpu_model(files: &Files) -> Option<String> {
    let named = ["model name", "Model", "cpu model"]
        .iter()
        .find_map(|key| files.value(CPUINFO, key));
    named.or_else(|| {
        let implementer = files.value(CPUINFO, "CPU implementer")?;
        let part = files.value(CPUINFO, "CPU part")?;
        Some(format!("implementer {implementer} part {part}"))
    })
}

/// The governor of the CPUs that may be used; all of them where they differ.
fn governor(files: &Files, allowed: &[u32]) -> Option<String> {
    let of_cpu = |cpu| {
        files.line(&format!(
            "/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"
        ))
    };
    let mut found: Vec<String> = allowed.iter().filter_map(of_cpu).collect();
    found.sort();
    found.dedup();
    (!found.is_empty()).then(|| found.join("+"))
}

fn load_average(files: &Files) -> Option<Finite> {
    let text = files.line("/proc/loadavg")?;
    Finite::maybe(text.split(' ').next()?.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::super::files::plant;
    use super::*;

    fn tree(files: &[(&str, &str)]) -> HostFingerprint {
        let dir = tempfile::tempdir().expect("tempdir");
        plant(dir.path(), files);
        from_tree(dir.path(), &[0, 1])
    }

    #[test]
    fn an_empty_tree_has_no_facts() {
        let found = tree(&[]);
        assert_eq!(
            (found.cpus_online, found.cores, found.sockets, found.numa_nodes),
            (2, 2, 1, 1)
        );
        let expected = HostFingerprint {
            architecture: std::env::consts::ARCH.to_owned(),
            cpus_allowed: vec![0, 1],
            cpus_online: 2,
            cores: 2,
            sockets: 1,
            numa_nodes: 1,
            ..HostFingerprint::default()
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_guest_on_x86() {
        let found = tree(&[
            (
                CPUINFO,
                "processor : 0\nmodel name\t: Test CPU\nflags\t\t: fpu hypervisor sse\n",
            ),
            ("/sys/class/dmi/id/sys_vendor", "QEMU\n"),
            ("/sys/class/dmi/id/product_name", "Standard PC\n"),
            (
                "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                "powersave\n",
            ),
            (
                "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
                "performance\n",
            ),
            (
                "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                "tsc\n",
            ),
            ("/proc/meminfo", "MemTotal: 1000 kB\n"),
            ("/proc/loadavg", "0.25 0.50 1.00 1/100 1234\n"),
        ]);
        assert_eq!(found.cpu_model.as_deref(), Some("Test CPU"));
        assert_eq!(found.hypervisor.as_deref(), Some("QEMU Standard PC"));
        assert_eq!(found.governor.as_deref(), Some("performance+powersave"));
        assert_eq!(found.clocksource.as_deref(), Some("tsc"));
        assert_eq!(found.memory_bytes, 1_024_000);
        assert_eq!(found.load_average_1min.map(Finite::get), Some(0.25));
        assert_eq!(found.cpu_quota_cores, None);
    }

    #[test]
    fn arm_names_its_parts() {
        let arm = "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(
            tree(&[(CPUINFO, arm)]).cpu_model.as_deref(),
            Some("implementer 0x41 part 0xd0c")
        );
    }

    #[test]
    fn a_quota_is_in_cores() {
        let found = tree(&[
            ("/proc/self/cgroup", "0::/\n"),
            (
                "/proc/self/mountinfo",
                "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            ),
            ("/sys/fs/cgroup/cpu.max", "250000 100000\n"),
        ]);
        assert_eq!(found.cpu_quota_cores.map(Finite::get), Some(2.5));
    }

    #[test]
    fn a_run_among_many_sees_the_host_as_the_first_does() {
        let unsettled = |mut found: HostFingerprint| {
            found.load_average_1min = None;
            found
        };
        let whole = unsettled(fingerprint(FingerprintOptions::default()));
        for _ in 0..2 {
            assert_eq!(unsettled(recent_fingerprint()), whole);
        }
    }

    #[test]
    fn the_host_is_named_only_on_request() {
        let quiet = fingerprint(FingerprintOptions::default());
        assert_eq!(quiet.host_name, None);
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let told = fingerprint(FingerprintOptions { host_name: true });
        assert_eq!(told.host_name, Some(name));
        assert!(quiet.kernel.starts_with("Linux "));
        assert!(quiet.memory_bytes > 0);
        let text = serde_json::to_string(&quiet).expect("JSON");
        assert_eq!(
            serde_json::from_str::<HostFingerprint>(&text).expect("own output"),
            quiet
        );
    }
}
