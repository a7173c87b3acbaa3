//! Where ranks run: the CPUs that they may use, what shares them, and what interrupts them.

use super::{Patient, cannot_tell, ok, warn};
use crate::host::affinity::{format_cpu_list, parse_cpu_list};
use crate::host::cgroup;
use wirespeed_schema::checkup::Check;
use wirespeed_schema::units::{counted, counted_about, significant};

/// Fewest CPUs with which two ranks need not share one.
const CPUS_MIN: usize = 2;
/// A larger load average for each CPU of the machine is a warning.
const LOAD_PER_CPU_MAX: f64 = 0.1;
/// More interrupts a second of one kind on a measuring CPU are a warning.
const IRQS_PER_S_MAX: f64 = 10.0;

pub(super) fn checks(patient: &Patient) -> Vec<Check> {
    vec![
        allowed(patient),
        quota(patient),
        siblings(patient),
        isolation(patient),
        nodes(patient),
        interrupts(patient),
    ]
}

fn allowed(patient: &Patient) -> Check {
    const NAME: &str = "cpus_allowed";
    const WHY: &str = "two ranks on one CPU take turns: every message then costs a switch of context";
    let list = format_cpu_list(&patient.allowed);
    let strange: Vec<u32> = patient
        .cpus
        .iter()
        .copied()
        .filter(|cpu| !patient.allowed.contains(cpu))
        .collect();
    let are_there = strange.iter().all(|&cpu| patient.topology.cpu(cpu).is_some());
    match (patient.allowed.len(), strange.is_empty()) {
        (0, _) => cannot_tell(NAME, "the process's CPUs cannot be read", WHY),
        (_, false) => warn(
            NAME,
            format!("CPU {} is not among {list}", format_cpu_list(&strange)),
            "a rank cannot be pinned to a CPU that its process may not use",
            match are_there {
                // All of them: taskset takes away what its list lacks.
                true => format!(
                    "choose others, --cpus {list}, or allow them, as far as the control group has them: taskset -pc {} $$",
                    patient.cpu_words()
                ),
                false => format!("choose others: --cpus {list}"),
            },
        ),
        (count, true) if count < CPUS_MIN => warn(
            NAME,
            format!("CPU {list} alone"),
            WHY,
            "give the shell more CPUs: taskset -pc 0-$(($(nproc --all)-1)) $$",
        ),
        (_, true) => ok(NAME, format!("{list}; measured on {}", patient.cpu_words()), WHY),
    }
}

fn quota(patient: &Patient) -> Check {
    const NAME: &str = "cpu_quota";
    const WHY: &str =
        "a control group that has used up its quota is stopped until the next period, some 100 ms away";
    let needed = patient.cpus.len();
    match cgroup::limits(&patient.files).cpu_quota_cores {
        None => ok(NAME, "none", WHY),
        Some(cores) if cores >= needed as f64 => ok(NAME, counted_about(cores, 3, "core"), WHY),
        Some(cores) => warn(
            NAME,
            format!("{} for {needed} ranks that spin", counted_about(cores, 3, "core")),
            WHY,
            "raise it: docker update --cpus N CONTAINER, or systemctl set-property UNIT CPUQuota=",
        ),
    }
}

fn siblings(patient: &Patient) -> Check {
    const NAME: &str = "smt_siblings";
    const WHY: &str =
        "hardware threads of one core share its units: what runs on the other one slows this one";
    let known = patient.cpus.iter().filter_map(|&cpu| patient.topology.cpu(cpu));
    let known: Vec<_> = known.collect();
    if known.is_empty() {
        return cannot_tell(NAME, "the kernel does not tell which CPUs share a core", WHY);
    }
    let mut cores: Vec<u32> = known.iter().map(|cpu| cpu.core).collect();
    cores.sort_unstable();
    let shared = cores.windows(2).find(|pair| pair[0] == pair[1]);
    if let Some(pair) = shared {
        let found = format!(
            "CPUs {} have two on the core of CPU {}",
            patient.cpu_words(),
            pair[0]
        );
        let firsts = one_a_core(patient);
        let fix = match firsts.len() > 1 {
            true => format!("pin to different cores: --cpus {}", format_cpu_list(&firsts)),
            false => "measure on a machine with a core for each rank".to_owned(),
        };
        return warn(NAME, found, WHY, fix);
    }
    let mut idle: Vec<u32> = known
        .iter()
        .flat_map(|cpu| cpu.siblings.iter().copied())
        .collect();
    idle.retain(|cpu| !patient.cpus.contains(cpu));
    match idle.is_empty() {
        true => ok(NAME, "each measuring core has one hardware thread", WHY),
        false => warn(
            NAME,
            format!("CPUs {} share the measuring cores", format_cpu_list(&idle)),
            WHY,
            format!(
                "for cpu in {}; do echo 0 | sudo tee /sys/devices/system/cpu/cpu$cpu/online; done",
                idle.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
            ),
        ),
    }
}

/// One allowed CPU of each core, as many as are measured on.
fn one_a_core(patient: &Patient) -> Vec<u32> {
    let mut cores = Vec::new();
    let mut firsts = Vec::new();
    for &cpu in &patient.allowed {
        let core = patient.topology.cpu_or_unknown(cpu).core;
        if !cores.contains(&core) && firsts.len() < patient.cpus.len() {
            cores.push(core);
            firsts.push(cpu);
        }
    }
    firsts
}

fn isolation(patient: &Patient) -> Check {
    const NAME: &str = "other_work";
    const WHY: &str = "whatever the scheduler puts on a measuring CPU shows up as the longest latencies";
    let isolated = patient.files.text("/sys/devices/system/cpu/isolated");
    let isolated = isolated
        .and_then(|list| parse_cpu_list(&list).ok())
        .unwrap_or_default();
    if patient.cpus.iter().all(|cpu| isolated.contains(cpu)) && !patient.cpus.is_empty() {
        return ok(NAME, format!("CPUs {} are isolated", patient.cpu_words()), WHY);
    }
    let load = patient.files.line("/proc/loadavg");
    let load: Option<f64> = load.and_then(|text| text.split(' ').next()?.parse().ok());
    let cpus = patient.topology.cpus.len().max(patient.allowed.len()).max(1) as f64;
    let Some(load) = load else {
        return cannot_tell(NAME, "not isolated; the load average cannot be read", WHY);
    };
    let found = format!(
        "not isolated; load average {} of {}",
        significant(load, 2),
        counted(cpus as u64, "CPU")
    );
    match load / cpus > LOAD_PER_CPU_MAX {
        false => ok(NAME, found, WHY),
        true => warn(
            NAME,
            found,
            WHY,
            // The rest of the system needs a CPU too.
            match patient.other_cpus().is_empty() {
                true => "see who runs (top), and stop it".to_owned(),
                false => format!(
                    "see who runs (top), stop it, or boot with isolcpus={}",
                    patient.cpu_words()
                ),
            },
        ),
    }
}

fn nodes(patient: &Patient) -> Check {
    const NAME: &str = "numa";
    const WHY: &str = "memory and devices of another NUMA node are farther away and share its link";
    let number = |&cpu: &u32| patient.topology.cpu_or_unknown(cpu).numa_node;
    let mut nodes: Vec<u32> = patient.cpus.iter().map(number).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let (Some(&node), false) = (nodes.first(), patient.topology.cpus.is_empty()) else {
        return cannot_tell(NAME, "the kernel does not tell the nodes", WHY);
    };
    if patient.topology.numa_nodes < 2 {
        return ok(NAME, "one node", WHY);
    }
    let cpus = patient.cpu_words();
    if nodes.len() > 1 {
        let found = format!("CPUs {cpus} are on nodes {}", format_cpu_list(&nodes));
        let fix = format!("pin to one node: --cpus {}", cpus_of_node(patient, node));
        return warn(NAME, found, WHY, fix);
    }
    if let Some((interface, other)) = far_device(patient, node) {
        let found = format!("{interface} is on node {other}, CPUs {cpus} on node {node}");
        let fix = format!(
            "pin to the device's node: --cpus {}",
            cpus_of_node(patient, other)
        );
        return warn(NAME, found, WHY, fix);
    }
    if patient.files.number("/proc/sys/kernel/numa_balancing") == Some(1) {
        return warn(
            NAME,
            "automatic balancing moves pages between nodes during a run",
            WHY,
            "sudo sysctl -w kernel.numa_balancing=0",
        );
    }
    ok(
        NAME,
        format!("CPUs {cpus} are on node {node}, and no device is on another"),
        WHY,
    )
}

/// As many allowed CPUs of `node` as are measured on.
fn cpus_of_node(patient: &Patient, node: u32) -> String {
    let cpus = patient.topology.cpus.iter().filter(|cpu| cpu.numa_node == node);
    let near = cpus
        .map(|cpu| cpu.number)
        .filter(|cpu| patient.allowed.contains(cpu));
    format_cpu_list(&near.take(patient.cpus.len()).collect::<Vec<u32>>())
}

/// An interface whose device is on another node than `node`.
fn far_device<'a>(patient: &'a Patient, node: u32) -> Option<(&'a str, u32)> {
    patient.interfaces.iter().find_map(|interface| {
        let path = format!("/sys/class/net/{interface}/device/numa_node");
        // Devices without a node say -1, which is no number here.
        let other = u32::try_from(patient.files.number(&path)?).ok()?;
        (other != node).then_some((interface.as_str(), other))
    })
}

fn interrupts(patient: &Patient) -> Check {
    const NAME: &str = "interrupts";
    const WHY: &str = "a device's interrupt takes a measuring CPU for some microseconds";
    let table = patient.files.text("/proc/interrupts");
    let uptime = patient.files.line("/proc/uptime");
    let uptime_s: Option<f64> = uptime.and_then(|text| text.split(' ').next()?.parse().ok());
    let (Some(table), Some(uptime_s)) = (table, uptime_s) else {
        return cannot_tell(NAME, "/proc/interrupts cannot be read", WHY);
    };
    let busiest = patient
        .cpus
        .iter()
        .filter_map(|&cpu| busiest_irq(&table, cpu))
        .max();
    let Some((count, irq, cpu, device)) = busiest else {
        return ok(
            NAME,
            format!("no device has interrupted CPUs {}", patient.cpu_words()),
            WHY,
        );
    };
    let per_s = count as f64 / uptime_s.max(1.0);
    let found = format!(
        "at most {} a second on CPU {cpu} since boot ({device})",
        significant(per_s, 2)
    );
    let others = patient.other_cpus();
    match (per_s > IRQS_PER_S_MAX, others.is_empty()) {
        (false, _) => ok(NAME, found, WHY),
        (true, false) => warn(
            NAME,
            found,
            WHY,
            format!(
                "echo {} | sudo tee /proc/irq/{irq}/smp_affinity_list",
                format_cpu_list(&others)
            ),
        ),
        (true, true) => warn(
            NAME,
            found,
            WHY,
            "leave a CPU free for interrupts: fewer ranks, or a machine with more CPUs",
        ),
    }
}

/// The device's interrupt that `cpu` took most often: count, number, CPU, device.
fn busiest_irq(table: &str, cpu: u32) -> Option<(u64, u32, u32, String)> {
    let mut lines = table.lines();
    let heading = lines.next()?;
    let name = format!("CPU{cpu}");
    let column = heading.split_whitespace().position(|word| word == name)?;
    let columns = heading.split_whitespace().count();
    let row = |line: &str| {
        let (irq, rest) = line.trim_start().split_once(':')?;
        // Named rows (timer ticks, calls between CPUs) belong to no device.
        let irq: u32 = irq.parse().ok()?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let count: u64 = words.get(column)?.parse().ok()?;
        let device = words
            .get(columns..)
            .and_then(<[&str]>::last)
            .unwrap_or(&"unnamed");
        (count > 0).then(|| (count, irq, cpu, (*device).to_owned()))
    };
    lines.filter_map(row).max()
}
