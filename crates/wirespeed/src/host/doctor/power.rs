//! How the CPUs save power: governor, turbo, idle states.

use super::{Patient, cannot_tell, ok, warn};
use wirespeed_schema::checkup::Check;

const CPUS: &str = "/sys/devices/system/cpu";
/// Idle states that take longer to leave cost a sleeping rank more than a short message does.
const EXIT_US_MAX: u64 = 10;
/// More states than any driver has.
const STATES_MAX: u32 = 32;

pub(super) fn checks(patient: &Patient) -> Vec<Check> {
    vec![governor(patient), turbo(patient), idle_states(patient)]
}

fn governor(patient: &Patient) -> Check {
    const NAME: &str = "governor";
    const WHY: &str = "a CPU that changes its frequency with the load measures its own governor";
    let of_cpu = |cpu: &u32| {
        let path = format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor");
        Some((*cpu, patient.files.line(&path)?))
    };
    let found: Vec<(u32, String)> = patient.cpus.iter().filter_map(of_cpu).collect();
    let words: Vec<String> = found
        .iter()
        .map(|(cpu, name)| format!("CPU {cpu}: {name}"))
        .collect();
    match found.is_empty() {
        true => cannot_tell(
            NAME,
            "no frequency driver here: the host or the firmware decides",
            WHY,
        ),
        false if found.iter().all(|(_, name)| name == "performance") => ok(NAME, words.join(", "), WHY),
        false => warn(
            NAME,
            words.join(", "),
            WHY,
            format!(
                "sudo cpupower -c {} frequency-set -g performance",
                patient.cpu_words()
            ),
        ),
    }
}

fn turbo(patient: &Patient) -> Check {
    const NAME: &str = "turbo";
    const WHY: &str = "a boosted clock depends on temperature and on what the other cores do";
    const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
    const BOOST: &str = "/sys/devices/system/cpu/cpufreq/boost";
    match (patient.files.number(NO_TURBO), patient.files.number(BOOST)) {
        (Some(1), _) | (None, Some(0)) => ok(NAME, "off", WHY),
        (Some(_), _) => warn(NAME, "on", WHY, format!("echo 1 | sudo tee {NO_TURBO}")),
        (None, Some(_)) => warn(NAME, "on", WHY, format!("echo 0 | sudo tee {BOOST}")),
        (None, None) => cannot_tell(NAME, "no switch for it here", WHY),
    }
}

fn idle_states(patient: &Patient) -> Check {
    const NAME: &str = "idle_states";
    const WHY: &str = "a rank that sleeps is woken only after its core has left its idle state";
    let slowest = patient
        .cpus
        .iter()
        .filter_map(|&cpu| slowest_state(patient, cpu))
        .max();
    match slowest {
        None => cannot_tell(
            NAME,
            "no idle driver here: the host decides how deep a core sleeps",
            WHY,
        ),
        Some((us, name)) if us <= EXIT_US_MAX => ok(NAME, format!("deepest {name}, left in {us} µs"), WHY),
        Some((us, name)) => warn(
            NAME,
            format!("deepest {name}, left in {us} µs"),
            WHY,
            format!(
                "sudo cpupower -c {} idle-set -D {EXIT_US_MAX}",
                patient.cpu_words()
            ),
        ),
    }
}

/// The state of `cpu` that takes longest to leave, of those that are not disabled.
fn slowest_state(patient: &Patient, cpu: u32) -> Option<(u64, String)> {
    let state = |number: u32| {
        let folder = format!("{CPUS}/cpu{cpu}/cpuidle/state{number}");
        let us = patient.files.number(&format!("{folder}/latency"))?;
        let disabled = patient.files.number(&format!("{folder}/disable")) == Some(1);
        let name = patient.files.line(&format!("{folder}/name"))?;
        Some((!disabled).then_some((us, name)))
    };
    (0..STATES_MAX).map_while(state).flatten().max()
}
