//! Every transport fills the same fields of an outcome for the same test, or names those that it lacks.
//!
//! A loop that skips a part of the common path publishes zeros that look like figures, and the warnings that rest on them
//! can never fire. So the fields that any transport fills are asked of all. It must never judge values, only that they are there.

use crate::measured::{self, Leaving, Stopped, run_ranks};
use crate::report::Report;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use wirespeed::Registry;
use wirespeed::schema::case::{Role, Stop, TransportOptions};
use wirespeed::schema::outcome::{Interval, Outcome};
use wirespeed::transport::Availability;
use wirespeed::transport::registry::Entry;

const SUITE: &str = "fields";
/// Fields that belong to a transport, a machine, or to what happened by chance.
const OWN: [&str; 6] = [
    "transport_facts",
    "host",
    "faults",
    "error",
    "lacking",
    "load_done",
];
/// Of an interval, what it has where it saw samples enough.
const BY_CHANCE: [&str; 3] = ["p50_ns", "p99_ns", "max_ns"];

/// Reports go on past the measured phase until all ranks have met: on a busy machine for a while.
const BEYOND_NS: u64 = 5_000_000_000;

/// How long a test runs, at first and where a field is still missing: on a busy machine a short run may see too few
/// operations for a sample, and only what is absent from a long run too is absent by design.
const DURATIONS_NS: [u64; 4] = [30_000_000, 120_000_000, 480_000_000, 1_920_000_000];

/// Compare the fields that all transports of `registry` fill, test by test.
pub fn fields(registry: &Registry) -> Vec<Report> {
    let ready = |entry: &&Entry| matches!((entry.probe)(), Availability::Ready);
    let entries: Vec<&Entry> = registry.entries().iter().filter(ready).collect();
    let mut reports = Vec::new();
    for (name, test, roles) in measured::least() {
        let mut seen = Seen::default();
        let mut left = entries.clone();
        for duration_ns in DURATIONS_NS {
            for entry in std::mem::take(&mut left) {
                let mut case = measured::case(entry, &TransportOptions::new(), test.clone(), roles.clone());
                case.stop = Stop::Duration { duration_ns };
                case.report_interval_ns = 5_000_000;
                case.check = false;
                match run_ranks((registry, Leaving::Idle), entry, &case, |_| ()) {
                    Ok(outcomes) => seen.add(entry.name, &outcomes),
                    Err(Stopped::Skipped(why)) => {
                        reports.push(Report::skipped(entry.name, SUITE, name.clone(), why));
                    }
                    Err(Stopped::Failed(why)) => {
                        reports.push(Report::of(entry.name, SUITE, name.clone(), Err(why)));
                    }
                }
            }
            left.extend(
                entries
                    .iter()
                    .filter(|entry| !seen.missing(entry.name).is_empty()),
            );
            if left.is_empty() {
                break;
            }
        }
        reports.extend(seen.reports(&name));
    }
    reports
}

/// What the runs of one test showed: the fields that each rank fills, by transport, and what was wrong with one.
#[derive(Default)]
struct Seen {
    ranks: BTreeMap<String, Vec<Filled>>,
}

/// One rank's fields over all runs of a test.
#[derive(Default, Clone)]
struct Filled {
    paths: BTreeSet<String>,
    lacking: BTreeSet<String>,
    wrong: BTreeSet<String>,
}

impl Seen {
    /// Add a run of `transport`.
    fn add(&mut self, transport: &str, outcomes: &[Outcome]) {
        let ranks = self.ranks.entry(transport.to_owned()).or_default();
        ranks.resize(outcomes.len().max(ranks.len()), Filled::default());
        for (rank, outcome) in ranks.iter_mut().zip(outcomes) {
            rank.paths.extend(filled(outcome));
            rank.lacking.extend(outcome.lacking.keys().cloned());
            rank.wrong.extend(wrong(outcome));
        }
    }

    /// What `transport` does not fill but another does, by rank; and what was wrong.
    fn missing(&self, transport: &str) -> Vec<String> {
        let mut missing = Vec::new();
        for (rank, own) in self.ranks.get(transport).into_iter().flatten().enumerate() {
            let lacks = |path: &str| own.lacking.iter().any(|lacks| path.starts_with(lacks));
            let all: BTreeSet<&String> = self
                .ranks
                .values()
                .filter_map(|ranks| ranks.get(rank))
                .flat_map(|rank| &rank.paths)
                .collect();
            let absent = all
                .into_iter()
                .filter(|path| !own.paths.contains(*path) && !lacks(path));
            missing.extend(
                absent
                    .chain(&own.wrong)
                    .map(|what| format!("rank {rank}: {what}")),
            );
        }
        missing
    }

    fn reports(&self, name: &str) -> Vec<Report> {
        let report = |transport: &String| {
            let missing = self.missing(transport);
            let result = match missing.is_empty() {
                true => Ok(()),
                false => Err(format!(
                    "not filled, nor named as lacking: {}",
                    missing.join(", ")
                )),
            };
            Report::of(transport, SUITE, name, result)
        };
        self.ranks.keys().map(report).collect()
    }
}

/// What may be missing from no run of any length.
fn wrong(outcome: &Outcome) -> Vec<String> {
    let mut wrong = Vec::new();
    let usage = &outcome.disturbance;
    if outcome.role != Role::Idle && usage.user_ns + usage.system_ns == 0 && outcome.lacking.is_empty() {
        wrong.push("CPU time".to_owned());
    }
    let end_ns = |interval: &Interval| interval.start_ns.saturating_add(interval.duration_ns);
    if outcome.intervals.iter().map(end_ns).max() > Some(outcome.observed_ns() + BEYOND_NS) {
        wrong.push("intervals within the run".to_owned());
    }
    wrong
}

/// Paths of the fields that are there, those of a list's items as one; samples by their kind.
fn filled(outcome: &Outcome) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    let Ok(Value::Object(fields)) = serde_json::to_value(outcome) else {
        return paths;
    };
    for (name, value) in fields.iter().filter(|(name, _)| !OWN.contains(&name.as_str())) {
        walk(name.clone(), value, &mut paths);
    }
    paths
}

fn walk(path: String, value: &Value, paths: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields
                .iter()
                .filter(|(name, _)| !BY_CHANCE.contains(&name.as_str()))
            {
                walk(format!("{path}.{name}"), value, paths);
            }
        }
        Value::Array(items) => {
            for item in items {
                let kind = item.get("kind").and_then(Value::as_str).unwrap_or_default();
                walk(format!("{path}[{kind}]"), item, paths);
            }
        }
        Value::Null => {}
        _ => drop(paths.insert(path)),
    }
}
