//! What disturbed the ranks and what the machine was doing besides.

use super::Findings;
use crate::figures::spoken;
use crate::thresholds::{
    BETWEEN_RUNS_MAX, FREQUENCY_SHARE_MAX, LOAD_SHARE_TOLD, MINOR_FAULTS_MAX, NOISE_SHARE_MAX,
    QUIET_SHARE_MAX, SWITCHES_PER_S_MAX, TAKEN_SHARE_MAX,
};
use crate::wording::{counted, grouped, often, percent, spread};
use std::collections::BTreeMap;
use wirespeed_schema::case::{Case, IdlePolicy, Role};
use wirespeed_schema::host::{HostFingerprint, Noise};
use wirespeed_schema::outcome::Outcome;
use wirespeed_schema::run::{Metric, Repetition, Severity};
use wirespeed_schema::test::Capability;
use wirespeed_schema::units::{format_ns, significant};

const PIN: &str = "pin the ranks with --cpus to cores that nothing else uses";
const QUIET: &str = "stop other work on the machine, or pin to other cores with --cpus";

/// Whether remarks of `code` all have one cause: other work on the machine, or beside it on the same host.
pub(crate) fn is_of_busy_machine(code: &str) -> bool {
    let codes = [
        "involuntary_switches",
        "run_queue_wait",
        "noise",
        "load_average",
        "steal",
    ];
    codes.contains(&code)
}

/// The same, or that the cores changed their speed meanwhile: the machine was not in one state.
pub(crate) fn is_of_disturbed_machine(code: &str) -> bool {
    code == "frequency" || is_of_busy_machine(code)
}

/// Check what disturbed one repetition.
pub(super) fn check(findings: &mut Findings, case: &Case, repetition: &Repetition) {
    if repetition.overlapping_sessions > 0 {
        let others = repetition.overlapping_sessions;
        let counted = counted(u64::from(others), "other session");
        let message = format!("the server measured {counted} at the same time");
        let remedy = "let the server measure one session at a time (its default), or wait";
        findings.warn("shared_server", f64::from(others), message, remedy);
    }
    for outcome in repetition
        .outcomes
        .iter()
        .filter(|outcome| outcome.role != Role::Idle)
    {
        check_scheduling(findings, outcome);
        check_taken(findings, outcome);
        check_faults(findings, outcome);
        check_noise(findings, outcome);
        check_frequency(findings, outcome);
        check_machine(findings, &outcome.host);
        check_transport(findings, case, outcome);
    }
}

/// Runs from which on more of them show no further state.
const RUNS_TELLING: usize = 10;

/// Check what only several repetitions show.
pub(super) fn check_case(findings: &mut Findings, metrics: &BTreeMap<String, Metric>, runs: usize) {
    let spreads = metrics
        .iter()
        .filter(|(tag, _)| tag.ends_with("_between_runs_ratio"));
    for (tag, metric) in spreads.filter(|(_, metric)| metric.value.get() > BETWEEN_RUNS_MAX) {
        let figure = tag.trim_end_matches("_between_runs_ratio");
        let (figure, by) = (spoken(figure), spread(metric.value.get()));
        let message = format!("{figure} differs by {by} between runs");
        let remedy = match runs {
            ..RUNS_TELLING => {
                "the machine has more than one state: take more runs (--repeats 10), and quote their range"
            }
            _ => "the machine has more than one state: quote the range of its runs",
        };
        findings.warn("runs_differ", metric.value.get(), message, remedy);
    }
}

fn check_scheduling(findings: &mut Findings, outcome: &Outcome) {
    let rank = outcome.rank;
    let disturbance = &outcome.disturbance;
    if outcome.idle == IdlePolicy::Yield {
        let (why, remedy) = match outcome.transport_facts.contains_key("cpu_quota") {
            false => (
                "there are more ranks than cores",
                "use a machine with a core for each rank, or fewer ranks",
            ),
            true => (
                "a CPU quota grants less than a core a rank",
                "raise the quota to a core for each rank: docker update --cpus N CONTAINER, or systemctl set-property UNIT CPUQuota=",
            ),
        };
        let waited = disturbance.run_queue_wait_ns.unwrap_or(0) as f64;
        let share = waited / outcome.observed_ns().max(1) as f64;
        let mut message = format!("rank {rank} yields its core while it waits: {why}");
        if share > TAKEN_SHARE_MAX {
            message += &format!("; it stood in line for {} of its time", percent(share.min(1.0)));
        }
        findings.warn("yielding", share, message, remedy);
    }
    if let Some(switches) = outcome.cpu_taken().filter(|&switches| switches > 0) {
        let per_s = switches as f64 * 1e9 / outcome.observed_ns().max(1) as f64;
        let severity = match per_s > SWITCHES_PER_S_MAX {
            true => Severity::Warning,
            false => Severity::Note,
        };
        let message = format!(
            "rank {rank} lost its CPU to something else {}, {} a second",
            often(switches),
            significant(per_s, 3)
        );
        findings.add(severity, "involuntary_switches", per_s, message, QUIET);
    }
    if let Some(migrations) = disturbance.migrations.filter(|&migrations| migrations > 0) {
        let message = format!("rank {rank} was moved to another CPU {}", often(migrations));
        findings.warn("migrations", migrations as f64, message, PIN);
    }
    if outcome.cpu.is_none() {
        let message = format!("rank {rank} is not pinned to a CPU");
        findings.note("not_pinned", 0.0, message, PIN);
    }
}

fn check_taken(findings: &mut Findings, outcome: &Outcome) {
    let elapsed = outcome.observed_ns().max(1) as f64;
    // A rank without a CPU of its own is told what was taken from all of them.
    let cpus = match outcome.cpu {
        Some(_) => 1,
        None => outcome.host.cpus_online.max(1),
    };
    let taken = [
        (
            "steal",
            outcome.disturbance.steal_ns,
            "the hypervisor took",
            f64::from(cpus),
            "use a dedicated machine, or another hour; on this one compare only interleaved runs",
        ),
        (
            "run_queue_wait",
            // One that yields waits for the other ranks: its own remark says so.
            outcome.cpu_taken().and(outcome.disturbance.run_queue_wait_ns),
            "waiting for a CPU took",
            1.0,
            QUIET,
        ),
    ];
    for (code, ns, what, cpus, remedy) in taken {
        let ns = ns.unwrap_or(0) as f64;
        let share = ns / (elapsed * cpus);
        if share > TAKEN_SHARE_MAX {
            let (rank, taken, whole) = (outcome.rank, format_ns(ns), format_ns(elapsed));
            let of_all = code == "steal" && outcome.cpu.is_none();
            let message = match (share <= 1.0, of_all) {
                (true, false) => format!("{what} {} of rank {rank}'s time ({taken})", percent(share)),
                (true, true) if cpus > 1.0 => {
                    format!(
                        "{what} {} of the time of all CPUs ({taken}) while rank {rank} measured",
                        percent(share)
                    )
                }
                (_, true) => {
                    format!("{what} {taken} from all CPUs together in the {whole} that rank {rank} measured")
                }
                // The kernel counts in ticks, which may be longer than the run.
                (false, false) => format!(
                    "{what} {taken} in ticks of the kernel, of which rank {rank}'s {whole} are a part"
                ),
            };
            findings.warn(code, share, message, remedy);
        }
    }
}

fn check_faults(findings: &mut Findings, outcome: &Outcome) {
    let (rank, disturbance) = (outcome.rank, &outcome.disturbance);
    if disturbance.major_faults > 0 {
        let message = format!(
            "rank {rank} waited for {} from storage",
            counted(disturbance.major_faults, "page")
        );
        let remedy = "free memory, then run it again";
        findings.warn("major_faults", disturbance.major_faults as f64, message, remedy);
    }
    if disturbance.minor_faults > MINOR_FAULTS_MAX {
        let message = format!(
            "rank {rank} had {} page faults during the run",
            grouped(disturbance.minor_faults)
        );
        let remedy = "warm up longer (--warmup), so that all memory has been touched";
        findings.note("minor_faults", disturbance.minor_faults as f64, message, remedy);
    }
}

/// The scans before and after a run: a machine that is quiet before it need not be so at its end.
fn check_noise(findings: &mut Findings, outcome: &Outcome) {
    let scans = [(&outcome.noise, "before"), (&outcome.noise_after, "after")];
    for (noise, when) in scans {
        let Some(noise) = noise else {
            continue;
        };
        let lost = noise.lost_ratio.get();
        if lost > NOISE_SHARE_MAX {
            let message = format!(
                "CPU {} lost {} of its time to other things {when} the run, {} at once",
                noise.cpu,
                percent(lost),
                format_ns(noise.detour_max_ns.get())
            );
            findings.warn("noise", lost, message, QUIET);
        }
    }
}

/// The same step of work before and after a run: it takes so many cycles, so that another time means another frequency, or that
/// a sibling or another guest used the core, which no counter here tells apart.
fn check_frequency(findings: &mut Findings, outcome: &Outcome) {
    let step = |noise: &Option<Noise>| {
        // On a busy CPU even the fastest turn of a scan may have been disturbed.
        let quiet = noise
            .as_ref()
            .filter(|noise| noise.lost_ratio.get() < QUIET_SHARE_MAX)?;
        quiet.step_ns.map(|ns| ns.get()).filter(|ns| *ns > 0.0)
    };
    let (Some(before), Some(after)) = (step(&outcome.noise), step(&outcome.noise_after)) else {
        return;
    };
    let change = before / after - 1.0;
    if change.abs() > FREQUENCY_SHARE_MAX {
        let message = format!(
            "a step of work took rank {}'s core {} before the run and {} after it: its frequency changed, or a sibling was busy",
            outcome.rank,
            format_ns(before),
            format_ns(after)
        );
        let remedy = "set the governor to performance and turn turbo off (`wirespeed doctor` shows how), keep siblings idle, or warm up longer";
        findings.warn("frequency", change.abs(), message, remedy);
    }
}

/// Check the machine itself: what else it was doing, how it saves power.
pub(super) fn check_machine(findings: &mut Findings, host: &HostFingerprint) {
    let cpus = f64::from(host.cpus_online.max(1));
    if let Some(load) = host
        .load_average_1min
        .map(|load| load.get() / cpus)
        .filter(|&load| load > LOAD_SHARE_TOLD)
    {
        let severity = match load > 1.0 {
            true => Severity::Warning,
            false => Severity::Note,
        };
        let message = format!(
            "the load average was {} on {} when the run began",
            significant(load * cpus, 2),
            counted(cpus as u64, "CPU")
        );
        findings.add(severity, "load_average", load, message, QUIET);
    }
    if host.governor.as_deref() == Some("powersave") {
        let message = "the frequency governor is powersave".to_owned();
        let remedy = "set it to performance (cpupower frequency-set -g performance)";
        findings.note("governor", 0.0, message, remedy);
    }
}

/// A capability as a reader knows it.
fn named(fact: &str) -> &str {
    match Capability::ALL.into_iter().find(|known| known.name() == fact) {
        Some(known) => known.in_words(),
        None => fact,
    }
}

fn check_transport(findings: &mut Findings, case: &Case, outcome: &Outcome) {
    for (fact, value) in &outcome.transport_facts {
        if let Some(how) = value.strip_prefix("emulated") {
            let message = format!(
                "{} has no {} of its own: they are emulated, {}",
                case.transport,
                named(fact),
                how.trim_start_matches([':', ' '])
            );
            findings.note("emulated", 0.0, message, "");
        }
        if fact == "data_encryption" && !value.starts_with("none") {
            let message = format!("every message was encrypted with {value}: the figures include the cipher");
            findings.note("encrypted", 0.0, message, "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_is_a_disturbed_one() {
        for (code, busy, disturbed) in [
            ("noise", true, true),
            ("steal", true, true),
            ("frequency", false, true),
            ("modes", false, false),
        ] {
            let found = (is_of_busy_machine(code), is_of_disturbed_machine(code));
            assert_eq!(found, (busy, disturbed), "{code}");
        }
    }
}
