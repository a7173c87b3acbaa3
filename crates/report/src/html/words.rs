//! The words of a report: what was measured, the answer, how sure.

use super::Input;
pub use super::labels::{RESAMPLED, label, resampled, worth};
use crate::compare::Comparison;
use crate::curve::load_words;
use crate::curve::section::{LoadSection, load_rows};
use crate::import::UNKNOWN;
use crate::interference::Interference;
use crate::render::{Style, figure_text};
use crate::render::{answer, case_line, interference_answers};
use wirespeed_schema::run::{CaseResult, CaseStatus, Metric, Remark, Run, Severity};
use wirespeed_schema::units::significant;

/// The transport of the harness floor; no transport.
pub const FLOOR: &str = "null";
/// Cases that are named one by one in the answer.
const NAMED_MAX: usize = 8;

/// What was measured: when, by what, on which machine, with which command.
pub fn measured(input: &Input) -> Vec<String> {
    let run = input.run;
    let ok = run.cases.iter().filter(|case| !case.metrics.is_empty()).count();
    let repetitions: usize = run.cases.iter().map(|case| case.repetitions.len()).sum();
    let mut lines = Vec::new();
    if !run.cases.is_empty() {
        let machine = run.host.cpu_model.as_deref().unwrap_or("an unknown machine");
        let kernel = match run.host.kernel.as_str() {
            "" => String::new(),
            kernel => format!(" ({kernel})"),
        };
        let runs = match repetitions {
            0 => String::new(),
            1 => " in one run".to_owned(),
            several => format!(" in {several} runs"),
        };
        let when = match run.started_at.as_str() {
            "" | UNKNOWN => "at an unknown time",
            when => when,
        };
        let who = match run.tool.name.as_str() {
            "" | "wirespeed" => format!("by wirespeed {}", run.tool.version),
            other => format!("as {other} states it"),
        };
        lines.push(format!(
            "{ok} of {} cases measured{runs}, {when} on {machine}{kernel}, {who}.",
            run.cases.len()
        ));
    }
    if !run.command.is_empty() {
        lines.push(format!("Repeat it with: {}", run.command.join(" ")));
    }
    lines
}

/// The answer: the comparison's where there is one, what load did or how much can be offered where that was asked, else
/// each case's headline, else the extremes of a sweep.
pub fn answers(input: &Input) -> Vec<String> {
    if let Some(comparison) = Comparison::of(input.run) {
        return answer(&comparison);
    }
    if let Some(found) = Interference::of(input.run).filter(|found| !found.rows.is_empty()) {
        return interference_answers(&found);
    }
    let measured = || input.run.cases.iter().filter(|case| !case.metrics.is_empty());
    let mut cases: Vec<&CaseResult> = measured().filter(|case| case.case.transport != FLOOR).collect();
    if cases.is_empty() {
        cases = measured().collect();
    }
    if cases.is_empty() {
        let why = input.run.error.as_deref().unwrap_or("no case was measured");
        return vec![format!("Nothing was measured: {why}.")];
    }
    if let Some(section) = LoadSection::of(input.run) {
        let what = format!("{}, in an open loop:", cases[0].case.label());
        let rows = load_rows(&input.run.cases);
        return std::iter::once(what).chain(load_words(&section, &rows)).collect();
    }
    let shown = cases.iter().take(NAMED_MAX).map(|case| {
        let (line, plain) = (case_line(case, &Style::PLAIN), case.case.label());
        let alike = cases.iter().filter(|other| other.case.label() == plain).count();
        // Cases that differ in their window or options alone are told apart by these.
        match line.strip_prefix(&plain).filter(|_| alike > 1) {
            Some(rest) => format!("{}{rest}", label(input, false, case)),
            None => line,
        }
    });
    let mut lines: Vec<String> = shown.collect();
    if cases.len() > NAMED_MAX {
        lines.push(format!(
            "and {} more cases; the table below has all.",
            cases.len() - NAMED_MAX
        ));
    }
    lines
}

/// How sure: runs, intervals, what was withheld, how repeating ended.
pub fn certainty(run: &Run) -> Vec<String> {
    let cases = || run.cases.iter().filter(|case| !case.metrics.is_empty());
    let runs = || cases().map(|case| case.repetitions.len());
    let mut lines = Vec::new();
    if let (Some(fewest), Some(most)) = (runs().min(), runs().max()) {
        lines.push(match (fewest, most) {
            (_, 0 | 1) => {
                "One run a case: the intervals show the spread within it, not what another run would give."
                    .to_owned()
            }
            (fewest, most) if fewest == most => {
                format!("{most} runs a case, each with fresh connections; intervals are over runs.")
            }
            (fewest, most) => format!(
                "{fewest} to {most} runs a case, each with fresh connections; intervals are over runs."
            ),
        });
    }
    let goals: Vec<_> = cases().filter_map(|case| case.convergence.as_ref()).collect();
    if !goals.is_empty() {
        let reached = goals.iter().filter(|goal| goal.reached).count();
        lines.push(format!(
            "The goal of the repetitions was reached by {reached} of {} cases.",
            goals.len()
        ));
    }
    let withheld: usize = run.cases.iter().map(|case| case.withheld.len()).sum();
    if withheld > 0 {
        lines.push(format!(
            "{withheld} quantiles were withheld, because there are too few samples for their intervals."
        ));
    }
    let bad = |status: CaseStatus| run.cases.iter().filter(|case| case.status == status).count();
    for (status, word) in [
        (CaseStatus::WrongData, "carried wrong data and must not be used"),
        (CaseStatus::Failed, "failed"),
        (CaseStatus::Partial, "ended early"),
        (CaseStatus::Skipped, "were skipped"),
    ] {
        if bad(status) > 0 {
            lines.push(format!("{} of {} cases {word}.", bad(status), run.cases.len()));
        }
    }
    lines
}

/// The instrument and the machine in figures, the worst of all ranks: name and text.
pub fn trust(run: &Run) -> Vec<(String, String)> {
    let outcomes = || {
        run.cases
            .iter()
            .flat_map(|case| &case.repetitions)
            .flat_map(|r| &r.outcomes)
    };
    let worst = |values: &mut dyn Iterator<Item = f64>| {
        values.fold(None, |worst: Option<f64>, v| Some(worst.map_or(v, |w| w.max(v))))
    };
    let mut rows = Vec::new();
    let mut add = |name: &str, tag: &str, value: Option<f64>| {
        if let Some(value) = value {
            rows.push((name.to_owned(), figure_text(tag, value)));
        }
    };
    add(
        "clock, one read",
        "_ns",
        worst(&mut outcomes().map(|o| o.clock.cost_ns.get())),
    );
    add(
        "clock, smallest step",
        "_ns",
        worst(&mut outcomes().map(|o| o.clock.step_ns.get())),
    );
    let floors = || outcomes().filter_map(|o| o.floor.as_ref());
    add(
        "harness floor, one turn of the loop",
        "_ns",
        worst(&mut floors().map(|f| f.loop_ns.get())),
    );
    add(
        "recording a sample",
        "_ns",
        worst(&mut floors().map(|f| f.record_ns.get())),
    );
    let noises = || outcomes().filter_map(|o| o.noise.as_ref());
    add(
        "CPU time lost to detours before a run",
        "_ratio",
        worst(&mut noises().map(|n| n.lost_ratio.get())),
    );
    add(
        "longest detour",
        "_ns",
        worst(&mut noises().map(|n| n.detour_max_ns.get())),
    );
    let count = |what: fn(&wirespeed_schema::host::Disturbance) -> u64| {
        worst(&mut outcomes().map(|o| what(&o.disturbance) as f64))
    };
    add(
        "involuntary context switches of a rank",
        "",
        count(|d| d.involuntary_switches),
    );
    add("migrations of a rank", "", count(|d| d.migrations.unwrap_or(0)));
    add(
        "time that the hypervisor took from a rank",
        "_ns",
        count(|d| d.steal_ns.unwrap_or(0)),
    );
    add(
        "time that a rank waited for a CPU",
        "_ns",
        count(|d| d.run_queue_wait_ns.unwrap_or(0)),
    );
    rows
}

/// Remarks of the run and of its cases, each code once, worst first.
pub fn remarks(run: &Run) -> Vec<Remark> {
    let mut remarks = run.remarks.clone();
    for remark in crate::checks::run_remarks(&run.cases) {
        if !remarks.iter().any(|known| known.code == remark.code) {
            remarks.push(remark);
        }
    }
    remarks.sort_by_key(|remark| std::cmp::Reverse(remark.severity));
    remarks
}

/// The word for a severity.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Suspect => "suspect",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// A figure with its interval: `1.87 µs [1.86 µs, 1.88 µs]`; in braces where the ends are those of few runs.
pub fn with_interval(tag: &str, metric: &Metric) -> String {
    let text = |value: f64| figure_text(tag, value);
    match (metric.lower, metric.upper, metric.level) {
        (Some(lower), Some(upper), Some(_)) => {
            format!(
                "{} [{}, {}]",
                text(metric.value.get()),
                text(lower.get()),
                text(upper.get())
            )
        }
        (Some(lower), Some(upper), None) => {
            format!(
                "{} {{{} .. {}}}",
                text(metric.value.get()),
                text(lower.get()),
                text(upper.get())
            )
        }
        _ => text(metric.value.get()),
    }
}

/// A ratio with four digits.
pub fn ratio(value: f64) -> String {
    significant(value, 4)
}
