//! Every transport fills the same fields of an outcome for the same test, or names those that it lacks.
//!
//! A loop that skips a part of the common path publishes zeros that look like figures, and the warnings that rest on them
//! can never fire. So the fields that any transport fills are asked of all. It must never judge values, only that they are there.

use crate::measured::{self, Stopped, run_ranks};
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

/// The fields of one test's ranks, by transport.
type Seen = BTreeMap<String, Vec<Outcome>>;

/// Compare the fields that all transports of `registry` fill, test by test.
pub fn fields(registry: &Registry) -> Vec<Report> {
    let ready = |entry: &&Entry| matches!((entry.probe)(), Availability::Ready);
    let entries: Vec<&Entry> = registry.entries().iter().filter(ready).collect();
    let mut reports = Vec::new();
    for (name, test, roles) in measured::least() {
        let mut seen = Seen::new();
        for entry in &entries {
            let mut case = measured::case(entry, &TransportOptions::new(), test.clone(), roles.clone());
            case.stop = Stop::Duration {
                duration_ns: 30_000_000,
            };
            case.report_interval_ns = 5_000_000;
            case.check = false;
            match run_ranks(registry, entry, &case, |_| ()) {
                Ok(outcomes) => drop(seen.insert(entry.name.to_owned(), outcomes)),
                Err(Stopped::Skipped(why)) => {
                    reports.push(Report::skipped(entry.name, SUITE, name.clone(), why));
                }
                Err(Stopped::Failed(why)) => {
                    reports.push(Report::of(entry.name, SUITE, name.clone(), Err(why)));
                }
            }
        }
        reports.extend(compare(&name, &seen));
    }
    reports
}

fn compare(name: &str, seen: &Seen) -> Vec<Report> {
    let ranks = seen.values().map(Vec::len).max().unwrap_or(0);
    let union: Vec<BTreeSet<String>> = (0..ranks)
        .map(|rank| {
            seen.values()
                .filter_map(|o| o.get(rank))
                .flat_map(filled)
                .collect()
        })
        .collect();
    seen.iter()
        .map(|(transport, outcomes)| {
            let missing: Vec<String> = outcomes
                .iter()
                .zip(&union)
                .flat_map(|(outcome, all)| missing(outcome, all))
                .collect();
            let result = match missing.is_empty() {
                true => Ok(()),
                false => Err(format!(
                    "not filled, nor named as lacking: {}",
                    missing.join(", ")
                )),
            };
            Report::of(transport, SUITE, name, result)
        })
        .collect()
}

/// What others fill and `outcome` neither fills nor names as lacking; and what may not be zero.
fn missing(outcome: &Outcome, all: &BTreeSet<String>) -> Vec<String> {
    let own = filled(outcome);
    let mut missing: Vec<String> = all
        .iter()
        .filter(|path| !own.contains(*path) && !outcome.lacking.keys().any(|lacks| path.starts_with(lacks)))
        .map(|path| format!("rank {}: {path}", outcome.rank))
        .collect();
    let usage = &outcome.disturbance;
    if outcome.role != Role::Idle && usage.user_ns + usage.system_ns == 0 && outcome.lacking.is_empty() {
        missing.push(format!("rank {}: CPU time", outcome.rank));
    }
    let end_ns = |interval: &Interval| interval.start_ns.saturating_add(interval.duration_ns);
    if outcome.intervals.iter().map(end_ns).max() > Some(outcome.observed_ns() + BEYOND_NS) {
        missing.push(format!("rank {}: intervals within the run", outcome.rank));
    }
    missing
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
