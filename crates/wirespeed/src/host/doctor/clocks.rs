//! What time is measured with, and what takes it away: clocksource, counter, steal.

use super::{Patient, cannot_tell, check, ok, warn};
use wirespeed_schema::checkup::{Check, CheckState};
use wirespeed_schema::units::significant;

const SOURCES: &str = "/sys/devices/system/clocksource/clocksource0";
/// Clocks that are read without a system call.
const QUICK: [&str; 5] = [
    "tsc",
    "arch_sys_counter",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "timebase",
];
/// A larger share of the time since boot that the hypervisor took is a warning.
const STEAL_SHARE_MAX: f64 = 0.001;
/// Position of "steal" among the numbers of a CPU's line (proc_stat(5)).
const STEAL_FIELD: usize = 7;

pub(super) fn checks(patient: &Patient) -> Vec<Check> {
    vec![clocksource(patient), counter(patient), steal(patient)]
}

fn clocksource(patient: &Patient) -> Check {
    const NAME: &str = "clocksource";
    const WHY: &str = "a clock that needs a system call costs more than a short message takes";
    let current = patient.files.line(&format!("{SOURCES}/current_clocksource"));
    let Some(current) = current else {
        return cannot_tell(NAME, "the kernel does not name it", WHY);
    };
    if QUICK.contains(&current.as_str()) {
        return ok(NAME, current, WHY);
    }
    let available = patient.files.line(&format!("{SOURCES}/available_clocksource"));
    let better = available.unwrap_or_default();
    let better = QUICK
        .iter()
        .find(|quick| better.split(' ').any(|name| name == **quick));
    let fix = match better {
        Some(quick) => format!("echo {quick} | sudo tee {SOURCES}/current_clocksource"),
        None => "boot with tsc=reliable, if the machine's counter is".to_owned(),
    };
    warn(NAME, current, WHY, fix)
}

fn counter(patient: &Patient) -> Check {
    const NAME: &str = "counter";
    const WHY: &str =
        "ticks are converted to time by one rate, which must not change with the CPU's frequency or sleep";
    if patient.files.value("/proc/cpuinfo", "CPU implementer").is_some() {
        return ok(NAME, "the architecture's counter has a constant rate", WHY);
    }
    let Some(flags) = patient.files.value("/proc/cpuinfo", "flags") else {
        return cannot_tell(NAME, "/proc/cpuinfo names no flags", WHY);
    };
    let has = |flag: &str| flags.split_whitespace().any(|word| word == flag);
    let lacking: Vec<&str> = ["constant_tsc", "nonstop_tsc"]
        .into_iter()
        .filter(|flag| !has(flag))
        .collect();
    match lacking[..] {
        [] => ok(NAME, "TSC, constant and nonstop", WHY),
        _ => warn(
            NAME,
            format!("the TSC is not {}", lacking.join(", not ")),
            WHY,
            "measure on a machine with an invariant TSC; let the hypervisor pass it on (-cpu host,+invtsc)",
        ),
    }
}

fn steal(patient: &Patient) -> Check {
    const NAME: &str = "steal";
    const WHY: &str = "time that the hypervisor takes from a CPU falls into somebody's latency";
    let Some(stat) = patient.files.text("/proc/stat") else {
        return cannot_tell(NAME, "/proc/stat cannot be read", WHY);
    };
    let share = |cpu: &u32| {
        let key = format!("cpu{cpu}");
        let line = stat
            .lines()
            .find(|line| line.split(' ').next() == Some(key.as_str()))?;
        let ticks: Vec<u64> = line
            .split_whitespace()
            .skip(1)
            .filter_map(|n| n.parse().ok())
            .collect();
        let all: u64 = ticks.iter().take(STEAL_FIELD + 1).sum();
        Some((*ticks.get(STEAL_FIELD)? as f64 / all.max(1) as f64, *cpu))
    };
    let worst = patient
        .cpus
        .iter()
        .filter_map(share)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((share, cpu)) = worst else {
        return cannot_tell(NAME, "the kernel does not count it", WHY);
    };
    let found = format!(
        "{} % of CPU {cpu}'s time since boot",
        significant(share * 100.0, 2)
    );
    match share > STEAL_SHARE_MAX {
        false => ok(NAME, found, WHY),
        true => check(
            NAME,
            CheckState::Warn,
            found,
            WHY,
            Some("measure on a dedicated machine or instance, and compare only interleaved runs (wirespeed ab)".to_owned()),
        ),
    }
}
