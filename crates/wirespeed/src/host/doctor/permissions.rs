//! What a process may do to its neighbours: read their memory, count their events.

use super::{Patient, cannot_tell, ok, warn};
use wirespeed_schema::checkup::Check;

/// Up to this level a process may count its own events.
const PARANOID_MAX: i64 = 2;

pub(super) fn checks(patient: &Patient) -> Vec<Check> {
    vec![ptrace(patient), perf_event(patient)]
}

fn level(patient: &Patient, path: &str) -> Option<i64> {
    patient.files.text(path)?.parse().ok()
}

fn ptrace(patient: &Patient) -> Check {
    const NAME: &str = "ptrace_scope";
    const WHY: &str =
        "copies straight from one process to another (cma of UCX and MPI) need the right to trace it";
    match level(patient, "/proc/sys/kernel/yama/ptrace_scope") {
        None if patient.files.exists("/proc/sys/kernel") => {
            ok(NAME, "no Yama here: own processes may be read", WHY)
        }
        None => cannot_tell(NAME, "/proc/sys/kernel cannot be read", WHY),
        Some(0) => ok(NAME, "0: own processes may be read", WHY),
        Some(scope) => warn(
            NAME,
            format!("{scope}: only children may be read, so these libraries take a slower transport"),
            WHY,
            "sudo sysctl -w kernel.yama.ptrace_scope=0",
        ),
    }
}

fn perf_event(patient: &Patient) -> Check {
    const NAME: &str = "perf_event_paranoid";
    const WHY: &str =
        "counters of cycles and cache misses (perf stat -- wirespeed ..) say why a figure is what it is";
    match level(patient, "/proc/sys/kernel/perf_event_paranoid") {
        None => cannot_tell(NAME, "this kernel has no performance events", WHY),
        Some(level) if level <= PARANOID_MAX => ok(NAME, level.to_string(), WHY),
        Some(level) => warn(
            NAME,
            format!("{level}: not even own processes may be counted"),
            WHY,
            format!("sudo sysctl -w kernel.perf_event_paranoid={PARANOID_MAX}"),
        ),
    }
}
