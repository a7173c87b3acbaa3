//! Settings of kernel and interfaces that change results, one fact a line. Each is read by name from a fixed list, so
//! that nothing private can slip in; of the kernel's command line only named options are taken.

use super::files::Files;
use super::offload::offloads;
use std::collections::BTreeMap;
use wirespeed_schema::order::map_of;

/// The kernel's random name for this boot: the same for every process of a machine, whatever its namespaces.
pub fn boot_id() -> std::io::Result<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(id.trim().to_owned())
}

/// Kernel settings, by their sysctl names.
const SYSCTLS: &[&str] = &[
    "kernel.io_uring_disabled",
    "kernel.numa_balancing",
    "kernel.sched_rt_runtime_us",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.udp_rmem_min",
    "vm.overcommit_memory",
];

/// Other settings: name and file.
const SETTINGS: &[(&str, &str)] = &[
    ("cpu.boost", "/sys/devices/system/cpu/cpufreq/boost"),
    (
        "cpu.idle_driver",
        "/sys/devices/system/cpu/cpuidle/current_driver",
    ),
    (
        "cpu.idle_governor",
        "/sys/devices/system/cpu/cpuidle/current_governor",
    ),
    ("cpu.isolated", "/sys/devices/system/cpu/isolated"),
    ("cpu.no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo"),
    ("cpu.nohz_full", "/sys/devices/system/cpu/nohz_full"),
    ("cpu.smt_control", "/sys/devices/system/cpu/smt/control"),
];

/// Options of the kernel's command line that may be told.
const BOOT_OPTIONS: &[(&str, &str)] = &[
    ("boot.idle", "idle"),
    ("boot.isolcpus", "isolcpus"),
    ("boot.mitigations", "mitigations"),
    ("boot.preempt", "preempt"),
];

const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const WEAKNESSES: &str = "/sys/devices/system/cpu/vulnerabilities";
/// Weaknesses whose mitigations cost time at each switch into the kernel or between threads.
const COSTLY_WEAKNESSES: &[&str] = &[
    "mds",
    "meltdown",
    "retbleed",
    "spec_rstack_overflow",
    "spectre_v2",
    "srbds",
];
/// Longest interface name, without the closing zero.
const INTERFACE_NAME_MAX: usize = 15;

/// What can be told of an interface: `interface.NAME.mtu` and its offloads. Nothing for a name that does not exist.
pub fn interface_facts(name: &str) -> BTreeMap<String, String> {
    let mut facts = interface(&Files::live(), name);
    if !facts.is_empty() {
        facts.extend(offloads(name).into_iter().map(|(what, on)| {
            let state = if on { "on" } else { "off" };
            (format!("interface.{name}.{what}"), state.to_owned())
        }));
    }
    facts
}

/// All settings that can be read.
pub(super) fn facts(files: &Files) -> BTreeMap<String, String> {
    let sysctls = SYSCTLS.iter().map(|&name| {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        (name.to_owned(), files.line(&path))
    });
    let settings = SETTINGS
        .iter()
        .map(|&(name, path)| (name.to_owned(), files.line(path)));
    let weaknesses = COSTLY_WEAKNESSES.iter().map(|name| {
        let state = files.line(&format!("{WEAKNESSES}/{name}"));
        (
            format!("cpu.vulnerability.{name}"),
            state.filter(|s| s != "Not affected"),
        )
    });
    let boot_line = files.line("/proc/cmdline").unwrap_or_default();
    let boot = BOOT_OPTIONS
        .iter()
        .map(|&(name, key)| (name.to_owned(), boot_option(&boot_line, key)));
    let huge = [(
        "vm.transparent_hugepage".to_owned(),
        files.line(HUGE_PAGES).and_then(|t| chosen(&t)),
    )];
    let all = sysctls.chain(settings).chain(weaknesses).chain(boot).chain(huge);
    map_of(all.filter_map(|(name, value)| Some((name, value?))))
}

/// Whether `name` can be that of an interface, and is no path.
pub fn is_interface_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_graphic() && c != '/';
    !name.is_empty() && name.len() <= INTERFACE_NAME_MAX && !name.starts_with('.') && name.chars().all(plain)
}

fn interface(files: &Files, name: &str) -> BTreeMap<String, String> {
    if !is_interface_name(name) {
        return BTreeMap::new();
    }
    let read = |key: &str, file: &str| {
        let value = files.line(&format!("/sys/class/net/{name}/{file}"))?;
        Some((format!("interface.{name}.{key}"), value))
    };
    let found = [read("mtu", "mtu"), read("speed_mbit_per_s", "speed")];
    // Interfaces without a speed of their own say -1.
    map_of(found.into_iter().flatten().filter(|(_, value)| value != "-1"))
}

/// The value of `key=` on the kernel's command line; what follows `--` belongs to another program.
fn boot_option(line: &str, key: &str) -> Option<String> {
    let options = line.split(' ').take_while(|option| *option != "--");
    let values = options.filter_map(|option| option.strip_prefix(key)?.strip_prefix('='));
    values.last().filter(|value| !value.is_empty()).map(str::to_owned)
}

/// The choice in brackets: `madvise` of `always [madvise] never`.
pub(super) fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::files::plant;
    use super::*;

    #[test]
    fn reads_settings_and_leaves_out_the_absent() {
        let dir = tempfile::tempdir().expect("tempdir");
        plant(
            dir.path(),
            &[
                ("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n"),
                ("/proc/sys/kernel/io_uring_disabled", "0\n"),
                (
                    "/proc/cmdline",
                    "ro mitigations=auto mitigations=off quiet -- idle=secret token=secret\n",
                ),
                ("/sys/devices/system/cpu/isolated", "\n"),
                (
                    "/sys/kernel/mm/transparent_hugepage/enabled",
                    "always [madvise] never\n",
                ),
                ("/sys/devices/system/cpu/vulnerabilities/mds", "Not affected\n"),
                (
                    "/sys/devices/system/cpu/vulnerabilities/retbleed",
                    "Mitigation: IBRS\n",
                ),
            ],
        );
        let found = facts(&Files::at(dir.path()));
        let expected = [
            ("boot.mitigations", "off"),
            ("cpu.vulnerability.retbleed", "Mitigation: IBRS"),
            ("kernel.io_uring_disabled", "0"),
            ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
            ("vm.transparent_hugepage", "madvise"),
        ];
        let expected: BTreeMap<_, _> = expected.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        assert_eq!(found, expected);
    }

    #[test]
    fn interfaces_by_plain_names_only() {
        let dir = tempfile::tempdir().expect("tempdir");
        plant(
            dir.path(),
            &[
                ("/sys/class/net/lo/mtu", "65536\n"),
                ("/sys/class/net/eth0/mtu", "1500\n"),
                ("/sys/class/net/eth0/speed", "10000\n"),
                ("/sys/class/net/mtu", "0\n"),
            ],
        );
        let files = Files::at(dir.path());
        let mtu = |name: &str| interface(&files, name).remove(&format!("interface.{name}.mtu"));
        assert_eq!(mtu("lo").as_deref(), Some("65536"));
        assert_eq!(interface(&files, "eth0").len(), 2);
        for bad in ["", ".", "..", "../net", "a b", "interface-of-sixteen", "none"] {
            assert_eq!(interface(&files, bad).len(), 0, "{bad:?}");
        }
    }

    #[test]
    fn an_interface_that_is_not_there_has_no_facts() {
        assert_eq!(interface_facts("none-such"), BTreeMap::new());
    }
}
