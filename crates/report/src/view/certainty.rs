//! How sure a result is: runs, intervals, the instrument and the machine in figures; and what was measured, and where.

use crate::assemble::is_unreached;
use crate::compare::environment::facts;
use crate::figures::figure_text;
use crate::import::UNKNOWN;
use crate::labels::{Input, label, resampled, worth};
use crate::table::{Row, Table, number, text};
use crate::thresholds::INTERVAL_RUNS_MIN;
use crate::wording::{counted, shell_words};
use std::collections::BTreeSet;
use wirespeed_schema::outcome::Outcome;
use wirespeed_schema::run::{CaseResult, CaseStatus, Run};
use wirespeed_schema::section::Imported;

/// What an interval over runs is of. Of real launches in a row fewer intervals hold the median of a quarter of an hour than
/// of launches in random order: docs/statistics.md.
const OVER_RUNS: &str = "intervals are over runs and describe the machine while they ran";
/// Results whose environments stand side by side.
const ENVIRONMENTS_MAX: usize = 12;
/// Cases whose effective samples are told one by one.
const WORTH_MAX: usize = 12;

/// What was measured: when, by what, on which machine.
pub fn measured(input: &Input) -> Vec<String> {
    let run = input.run;
    let ok = run.cases.iter().filter(|case| !case.metrics.is_empty()).count();
    let repetitions: usize = run.cases.iter().map(runs_of).sum();
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
            "{ok} of {} measured{runs}, {when} on {machine}{kernel}, {who}.",
            counted(run.cases.len() as u64, "case")
        ));
    }
    lines
}

/// Runs behind a case: other tools' are told one by one only where there are several.
fn runs_of(case: &CaseResult) -> usize {
    case.repetitions.len().max(usize::from(!case.metrics.is_empty()))
}

/// The command that repeats a result.
pub fn command(run: &Run) -> Option<String> {
    (!run.command.is_empty()).then(|| shell_words(&run.command))
}

/// How sure: runs, intervals, what was withheld, how repeating ended.
pub fn certainty(run: &Run) -> Vec<String> {
    let cases = || run.cases.iter().filter(|case| !case.metrics.is_empty());
    let runs = || cases().map(runs_of);
    let mut lines = Vec::new();
    // Nobody says how the runs of others began.
    let fresh = match run.sections.has::<Imported>() {
        true => "",
        false => ", each with fresh connections",
    };
    if let (Some(fewest), Some(most)) = (runs().min(), runs().max()) {
        let counts = match fewest == most {
            true => most.to_string(),
            false => format!("{fewest} to {most}"),
        };
        lines.push(match (fewest, most) {
            (_, 0 | 1) if cases().all(|case| case.metrics.values().all(|figure| figure.lower.is_none())) => {
                "One run a case, and no interval: nothing says what another run would give.".to_owned()
            }
            (_, 0 | 1) => {
                "One run a case: the intervals show the spread within it, not what another run would give."
                    .to_owned()
            }
            (_, most) if most < INTERVAL_RUNS_MIN => format!(
                "{counts} runs a case{fresh}; smallest and largest are given, for an interval needs {INTERVAL_RUNS_MIN}."
            ),
            _ => format!("{counts} runs a case{fresh}; {OVER_RUNS}."),
        });
    }
    let goals: Vec<_> = cases().filter_map(|case| case.convergence.as_ref()).collect();
    if !goals.is_empty() {
        let reached = goals.iter().filter(|goal| goal.reached).count();
        lines.push(format!(
            "The goal of the repetitions was reached by {reached} of {}.",
            counted(goals.len() as u64, "case")
        ));
    }
    let withheld: usize = run.cases.iter().map(|case| case.withheld.len()).sum();
    if withheld > 0 {
        lines.push(format!(
            "Withheld for too few samples: {}.",
            counted(withheld as u64, "quantile")
        ));
    }
    let known = || run.cases.iter().filter(|case| !is_unreached(case));
    let bad = |status: CaseStatus| known().filter(|case| case.status == status).count();
    for (status, word) in [
        (CaseStatus::WrongData, "carried wrong data and must not be used"),
        (CaseStatus::Failed, "failed"),
        (CaseStatus::Partial, "ended early"),
        (CaseStatus::Skipped, "were skipped"),
    ] {
        if bad(status) > 0 {
            let all = counted(run.cases.len() as u64, "case");
            lines.push(format!("{} of {all} {word}.", bad(status)));
        }
    }
    lines
}

/// The instrument in figures, and intervals by resampling, for those who doubt.
pub fn evidence(input: &Input) -> Vec<Table> {
    let tables = [Some(instrument_table(input)), resampling(input)];
    let found = tables.into_iter().flatten();
    found
        .filter(|table| !table.rows.is_empty() || !table.notes.is_empty())
        .collect()
}

/// The instrument in figures, and what raw samples are worth.
fn instrument_table(input: &Input) -> Table {
    let row = |(name, value)| Row::from(vec![name, value]);
    let columns = vec![text("the worst of all ranks", 0), number("value", 0)];
    let mut table = Table::new("", columns, instrument(input.run).into_iter().map(row).collect());
    let with = input
        .run
        .cases
        .iter()
        .filter_map(|case| Some((case, worth(case)?)));
    let told = with.map(|(case, said)| format!("{}: {said}.", label(input, false, case)));
    table.notes.extend(told.take(WORTH_MAX));
    table
}

/// Intervals by resampling, where these were asked for.
fn resampling(input: &Input) -> Option<Table> {
    let mut columns = vec![
        text("case", 0),
        text("figure", 0),
        number("value", 0),
        text("interval", 0),
    ];
    let mut rows = resampled(input);
    let methods: BTreeSet<String> = rows.iter().filter_map(|row| row.last().cloned()).collect();
    // What is the same of all is said once.
    let of_all = match methods.len() {
        1 => {
            rows.iter_mut().for_each(|row| drop(row.pop()));
            format!(" {}", methods.into_iter().collect::<String>())
        }
        _ => {
            columns.push(text("bootstrap", 1));
            String::new()
        }
    };
    let title = format!("Intervals by resampling{of_all} (at least 95 %, percentile bootstrap)");
    (!rows.is_empty()).then(|| Table::new(&title, columns, rows.into_iter().map(Row::from).collect()))
}

/// The machines and programs side by side, a row a fact.
pub fn environment(inputs: &[Input]) -> Table {
    let shown = &inputs[..inputs.len().min(ENVIRONMENTS_MAX)];
    let known: Vec<_> = shown.iter().map(|input| facts(input.run)).collect();
    let names: BTreeSet<&String> = known.iter().flat_map(|facts| facts.keys()).collect();
    let rows = names.into_iter().map(|name| {
        let values = known
            .iter()
            .map(|facts| facts.get(name).cloned().unwrap_or_default());
        Row::from(std::iter::once(name.clone()).chain(values).collect::<Vec<_>>())
    });
    let mut columns = vec![text("fact", 0)];
    columns.extend(shown.iter().map(|input| text(input.name, 0)));
    let table = Table::new("", columns, rows.collect());
    match inputs.len() > shown.len() {
        true => table.noted(&format!(
            "Of {} results the first {ENVIRONMENTS_MAX}.",
            inputs.len()
        )),
        false => table,
    }
}

/// What the hypervisor took from a rank; of one without a CPU of its own only what all CPUs lost is known.
fn stolen_ns(outcome: &Outcome) -> Option<f64> {
    outcome.cpu?;
    Some(outcome.disturbance.steal_ns? as f64)
}

/// The instrument and the machine in figures, the worst of all ranks: name and text.
fn instrument(run: &Run) -> Vec<(String, String)> {
    let outcomes = || run.cases.iter().flat_map(CaseResult::outcomes);
    let floors = || outcomes().filter_map(|o| o.floor.as_ref());
    let noises = || outcomes().filter_map(|o| o.noise.as_ref());
    let disturbances = || outcomes().map(|o| &o.disturbance);
    let mut rows = Vec::new();
    let mut add = |name: &str, tag: &str, values: &mut dyn Iterator<Item = f64>| {
        if let Some(worst) = values.reduce(f64::max) {
            rows.push((name.to_owned(), figure_text(tag, worst)));
        }
    };
    add(
        "clock, one read",
        "_ns",
        &mut outcomes().map(|o| o.clock.cost_ns.get()),
    );
    add(
        "clock, smallest step",
        "_ns",
        &mut outcomes().map(|o| o.clock.step_ns.get()),
    );
    add(
        "harness floor, one turn of the loop",
        "_ns",
        &mut floors().map(|f| f.loop_ns.get()),
    );
    add(
        "recording a sample",
        "_ns",
        &mut floors().map(|f| f.record_ns.get()),
    );
    add(
        "CPU time lost to detours before a run",
        "_ratio",
        &mut noises().map(|n| n.lost_ratio.get()),
    );
    add(
        "longest detour",
        "_ns",
        &mut noises().map(|n| n.detour_max_ns.get()),
    );
    add(
        "involuntary context switches of a rank",
        "",
        &mut outcomes().filter_map(|o| o.cpu_taken()).map(|count| count as f64),
    );
    add(
        "migrations of a rank",
        "",
        &mut disturbances().map(|d| d.migrations.unwrap_or(0) as f64),
    );
    add(
        "time that the hypervisor took from a rank",
        "_ns",
        &mut outcomes().filter_map(stolen_ns),
    );
    add(
        "time that a rank waited for a CPU",
        "_ns",
        &mut disturbances().map(|d| d.run_queue_wait_ns.unwrap_or(0) as f64),
    );
    rows
}
