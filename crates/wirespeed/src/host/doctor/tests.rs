//! Made-up machines: a good one, a bad one, one that tells nothing, and this one.

use super::super::files::plant;
use super::*;
use std::collections::BTreeMap;

const CPU: &str = "/sys/devices/system/cpu";

/// Files of a good machine that are not one for each CPU.
const GOOD: &[(&str, &str)] = &[
    ("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-1\n"),
    (
        "/proc/cpuinfo",
        "model name : T\nflags\t\t: fpu constant_tsc nonstop_tsc\n",
    ),
    (
        "/proc/stat",
        "cpu 9 0 0 1 0 0 0 0\ncpu0 500 0 0 500 0 0 0 0 0\ncpu1 500 0 0 500 0 0 0 0 0\n",
    ),
    ("/proc/loadavg", "0.01 0.02 0.03 1/9 9\n"),
    ("/proc/uptime", "1000.00 500.00\n"),
    (
        "/proc/interrupts",
        " CPU0 CPU1\n 24: 5 0 IO-APIC 5-edge nvme0\nLOC: 90000 90000 Local timer\n",
    ),
    (
        "/proc/self/limits",
        "Limit  Soft Limit  Hard Limit  Units\nMax open files  1024  4096  files\nMax locked memory  unlimited  unlimited  bytes\n",
    ),
    (
        "/proc/meminfo",
        "MemTotal: 8388608 kB\nHugePages_Free: 0\nHugepagesize: 2048 kB\n",
    ),
    ("/proc/mounts", "tmpfs /dev/shm tmpfs rw,nosuid 0 0\n"),
    ("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n"),
    ("/proc/sys/net/ipv4/tcp_wmem", "4096\t16384\t4194304\n"),
    ("/proc/sys/kernel/yama/ptrace_scope", "0\n"),
    ("/proc/sys/kernel/perf_event_paranoid", "-1\n"),
    (
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "always [madvise] never\n",
    ),
    (
        "/sys/kernel/mm/transparent_hugepage/defrag",
        "always defer [madvise] never\n",
    ),
    (
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "tsc\n",
    ),
    ("/sys/devices/system/cpu/online", "0-1\n"),
    ("/sys/devices/system/node/online", "0\n"),
    ("/sys/devices/system/node/node0/cpulist", "0-1\n"),
    ("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
    ("/sys/class/net/eth0/operstate", "up\n"),
    ("/sys/class/net/eth0/mtu", "1500\n"),
    ("/sys/class/net/eth0/speed", "1000\n"),
    ("/sys/class/net/eth0/device/numa_node", "0\n"),
    ("/sys/class/net/lo/operstate", "unknown\n"),
];

/// Two cores on one node, everything as it should be.
fn good(root: &Path) {
    plant(root, GOOD);
    for cpu in 0..2 {
        plant(
            root,
            &[
                (
                    &format!("{CPU}/cpu{cpu}/cpufreq/scaling_governor"),
                    "performance\n",
                ),
                (
                    &format!("{CPU}/cpu{cpu}/topology/core_cpus_list"),
                    &cpu.to_string(),
                ),
                (&format!("{CPU}/cpu{cpu}/cpuidle/state0/name"), "POLL\n"),
                (&format!("{CPU}/cpu{cpu}/cpuidle/state0/latency"), "0\n"),
            ],
        );
    }
}

fn path(rate_bytes_per_s: f64, rtt_ns: u64) -> Examination {
    Examination {
        rate_bytes_per_s: Some(rate_bytes_per_s),
        rtt_ns: Some(rtt_ns),
        ..Examination::default()
    }
}

fn by_name(found: &Checkup) -> BTreeMap<String, Check> {
    found
        .checks
        .iter()
        .map(|check| (check.name.clone(), check.clone()))
        .collect()
}

#[test]
fn a_good_machine_has_nothing_to_warn_of() {
    let dir = tempfile::tempdir().expect("tempdir");
    good(dir.path());
    let found = examine(dir.path(), &path(1e8, 1_000_000));
    let bad: Vec<_> = found
        .checks
        .iter()
        .filter(|check| check.state != CheckState::Ok)
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
    assert_eq!(
        (found.cpus, found.interfaces),
        (vec![0, 1], vec!["eth0".to_owned()])
    );
    assert!(
        found.checks.iter().all(|check| check.fix.is_none()),
        "nothing to mend"
    );
}

/// The checks that warn of a bad machine, and what is in the command that mends it.
const FIXES: &[(&str, &str)] = &[
    ("governor", "cpupower -c 0-1 frequency-set -g performance"),
    (
        "turbo",
        "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo",
    ),
    ("idle_states", "cpupower -c 0-1 idle-set -D 10"),
    ("clocksource", "echo tsc | sudo tee"),
    ("counter", "invtsc"),
    ("steal", "dedicated"),
    ("smt_siblings", "for cpu in 2;"),
    ("cpu_quota", "CPUQuota="),
    ("other_work", "isolcpus=0-1"),
    ("numa", "--cpus 2"),
    ("interrupts", "echo 2 | sudo tee /proc/irq/24/smp_affinity_list"),
    ("memlock", "ulimit -l"),
    ("dev_shm", "remount,size=1G"),
    ("open_files", "prlimit --pid $$ --nofile=1024"),
    ("transparent_huge_pages", "echo madvise"),
    ("socket_buffers", "tcp_rmem='4096 131072 50000000'"),
    ("mtu", "ip link set dev eth0 mtu 9000"),
    ("ptrace_scope", "sysctl -w kernel.yama.ptrace_scope=0"),
    ("perf_event_paranoid", "sysctl -w kernel.perf_event_paranoid=2"),
];

/// What is wrong with a bad machine, over a good one.
const BAD: &[(&str, &str)] = &[
    (
        "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
        "powersave\n",
    ),
    ("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C6\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "133\n"),
    (
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "hpet\n",
    ),
    (
        "/sys/devices/system/clocksource/clocksource0/available_clocksource",
        "tsc hpet\n",
    ),
    ("/proc/cpuinfo", "flags\t\t: fpu constant_tsc\n"),
    (
        "/proc/stat",
        "cpu0 500 0 0 500 0 0 0 0 0\ncpu1 500 0 0 400 0 0 0 100 0\n",
    ),
    ("/sys/devices/system/cpu/online", "0-2\n"),
    ("/proc/self/status", "Cpus_allowed_list:\t0-2\n"),
    ("/sys/devices/system/cpu/cpu0/topology/core_cpus_list", "0,2\n"),
    ("/sys/devices/system/cpu/cpu2/topology/core_cpus_list", "0,2\n"),
    ("/proc/self/cgroup", "0::/\n"),
    (
        "/proc/self/mountinfo",
        "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    ),
    ("/sys/fs/cgroup/cpu.max", "150000 100000\n"),
    ("/proc/loadavg", "2.50 0.02 0.03 1/9 9\n"),
    ("/sys/devices/system/node/online", "0-1\n"),
    ("/sys/devices/system/node/node0/cpulist", "0-1\n"),
    ("/sys/devices/system/node/node1/cpulist", "2\n"),
    ("/sys/class/net/eth0/device/numa_node", "1\n"),
    ("/sys/class/net/eth0/speed", "25000\n"),
    (
        "/proc/interrupts",
        " CPU0 CPU1\n 24: 5 990000 PCI-MSI 5-edge eth0-rx\n",
    ),
    (
        "/proc/self/limits",
        "Max open files  256  256  files\nMax locked memory  65536  unlimited  bytes\n",
    ),
    ("/proc/mounts", "shm /dev/shm tmpfs rw,size=65536k 0 0\n"),
    (
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "[always] madvise never\n",
    ),
    (
        "/sys/kernel/mm/transparent_hugepage/defrag",
        "[always] defer madvise never\n",
    ),
    ("/proc/sys/kernel/yama/ptrace_scope", "1\n"),
    ("/proc/sys/kernel/perf_event_paranoid", "4\n"),
];

#[test]
fn each_fault_is_found_with_the_command_that_mends_it() {
    let dir = tempfile::tempdir().expect("tempdir");
    good(dir.path());
    plant(dir.path(), BAD);
    let found = by_name(&examine(dir.path(), &path(1.25e9, 20_000_000)));
    for &(name, fix) in FIXES {
        let check = &found[name];
        assert_eq!(check.state, CheckState::Warn, "{check:?}");
        assert!(
            check.fix.as_deref().is_some_and(|text| text.contains(fix)),
            "{check:?}"
        );
    }
}

#[test]
fn root_needs_no_leave_and_the_system_a_cpu() {
    let dir = tempfile::tempdir().expect("tempdir");
    good(dir.path());
    plant(dir.path(), BAD);
    let two = "Uid:\t0\t0\t0\t0\nCpus_allowed_list:\t0-1\n";
    plant(dir.path(), &[("/proc/self/status", two)]);
    let found = examine(dir.path(), &path(1.25e9, 20_000_000));
    let fixes = || found.checks.iter().filter_map(|check| check.fix.as_deref());
    assert!(
        fixes().count() > 10 && !fixes().any(|fix| fix.contains("sudo ")),
        "{found:#?}"
    );
    assert_eq!(
        by_name(&found)["other_work"].fix.as_deref(),
        Some("see who runs (top), and stop it")
    );
}

#[test]
fn a_machine_that_tells_nothing_is_never_called_good_or_bad() {
    let dir = tempfile::tempdir().expect("tempdir");
    let found = examine(dir.path(), &Examination::default());
    let told: Vec<_> = found
        .checks
        .iter()
        .filter(|check| check.state != CheckState::CannotTell)
        .map(|check| check.name.as_str())
        .collect();
    // No group that limits it is a fact: the files of one would be there.
    assert_eq!(told, ["cpu_quota"]);
}

#[test]
fn two_ranks_on_one_core_and_cpus_of_others_are_named() {
    let dir = tempfile::tempdir().expect("tempdir");
    good(dir.path());
    plant(
        dir.path(),
        &[
            ("/sys/devices/system/cpu/cpu0/topology/core_cpus_list", "0-1\n"),
            ("/sys/devices/system/cpu/cpu1/topology/core_cpus_list", "0-1\n"),
        ],
    );
    let found = by_name(&examine(dir.path(), &Examination::default()));
    assert!(
        found["smt_siblings"].found.contains("on the core of CPU 0"),
        "{:?}",
        found["smt_siblings"]
    );
    let asked = Examination {
        cpus: vec![0, 7],
        interfaces: vec!["eth9".to_owned()],
        ..Examination::default()
    };
    let found = by_name(&examine(dir.path(), &asked));
    assert!(
        found["cpus_allowed"].found.contains("CPU 7 is not among"),
        "{:?}",
        found["cpus_allowed"]
    );
    // No command gives a CPU that the machine does not have.
    let fix = found["cpus_allowed"].fix.as_deref();
    assert_eq!(fix, Some("choose others: --cpus 0-1"));
    assert_eq!(found["mtu"].state, CheckState::CannotTell);
    assert!(found["socket_buffers"].found.contains("--rate and --rtt"));
}

/// What allows one CPU must not take the others away.
#[test]
fn cpus_that_may_not_be_used_are_allowed_with_all_that_are_asked_for() {
    let dir = tempfile::tempdir().expect("tempdir");
    good(dir.path());
    plant(dir.path(), &[("/proc/self/status", "Cpus_allowed_list:\t0\n")]);
    let asked = Examination {
        cpus: vec![0, 1],
        ..Examination::default()
    };
    let found = &by_name(&examine(dir.path(), &asked))["cpus_allowed"];
    let fix = found.fix.as_deref();
    assert_eq!(
        fix,
        Some(
            "choose others, --cpus 0, or allow them, as far as the control group has them: taskset -pc 0-1 $$"
        )
    );
    assert!(found.why.contains("cannot be pinned"), "{found:?}");
}

#[test]
fn buffers_follow_the_product_of_rate_and_time() {
    let dir = tempfile::tempdir().expect("tempdir");
    good(dir.path());
    let state = |rate, rtt| by_name(&examine(dir.path(), &path(rate, rtt)))["socket_buffers"].state;
    // 4 MiB of send buffer carry 2 MiB in flight: 200 MiB/s over 10 ms.
    assert_eq!(state(2e8, 10_000_000), CheckState::Ok);
    assert_eq!(state(2.2e8, 10_000_000), CheckState::Warn);
    // Absurd products neither overflow nor pass.
    assert_eq!(state(1e300, u64::MAX), CheckState::Warn);
    // Without a rate, that of the interface: 1 Gbit/s over 100 ms are 12.5 MB.
    let asked = Examination {
        rtt_ns: Some(100_000_000),
        ..Examination::default()
    };
    assert_eq!(
        by_name(&examine(dir.path(), &asked))["socket_buffers"].state,
        CheckState::Warn
    );
}

#[test]
fn this_machine_is_examined_and_left_as_it_is() {
    let found = examine(Path::new("/"), &Examination::default());
    let names: std::collections::BTreeSet<&str> =
        found.checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names.len(), found.checks.len(), "every check once");
    assert!(!found.cpus.is_empty());
    for check in &found.checks {
        assert!(!check.found.is_empty() && !check.why.is_empty(), "{check:?}");
        assert_eq!(check.fix.is_some(), check.state == CheckState::Warn, "{check:?}");
    }
}
