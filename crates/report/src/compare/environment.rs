//! What differs between the machines, programs and circumstances of two results: printed before any figure, because it may explain all.

use super::section::Difference;
use crate::names::{Identity, unlike};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use wirespeed_schema::Run;
use wirespeed_schema::host::HostFingerprint;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::section::Imported;

/// The CPU of a rank that was not pinned, or of which nobody says where it was.
const NO_CPU: &str = "none";

/// The fact that is no machine's.
const PROGRAM: &str = "program";

/// Facts of a machine that differ from moment to moment and explain nothing.
const FLEETING: [&str; 2] = ["host_name", "load_average_1min"];

/// Facts of the two machines, programs and clocks that differ, in the order of their names.
pub fn environment(a: &Run, b: &Run) -> Vec<Difference> {
    let mut found = difference(&facts(a), &facts(b));
    retain_told((a, b), &mut found);
    found
}

/// Without what the file of another tool does not tell, which differs from nothing.
pub(super) fn retain_told((a, b): (&Run, &Run), differences: &mut Vec<Difference>) {
    let empty = facts_of_host(&HostFingerprint::default());
    let is_told = |run: &Run, name: &str, value: &Option<String>| {
        let is_stated =
            |value: &String| empty.get(name) != Some(value) && !value.split(',').all(|cpu| cpu == NO_CPU);
        !run.sections.has::<Imported>() || value.as_ref().is_some_and(is_stated)
    };
    // That another tool measured stands beside the name of the side.
    let is_other_tool = [a, b].iter().any(|run| run.sections.has::<Imported>());
    differences.retain(|one| {
        let is_told = is_told(a, &one.name, &one.a) && is_told(b, &one.name, &one.b);
        is_told && !(is_other_tool && one.name == PROGRAM)
    });
}

/// Entries that differ, by name.
fn difference(a: &Identity, b: &Identity) -> Vec<Difference> {
    let one = |name: &String| Difference {
        name: name.clone(),
        a: a.get(name).cloned(),
        b: b.get(name).cloned(),
    };
    unlike(a, b).map(one).collect()
}

/// Every fact of the machine and the program that stays, by name.
pub fn facts(run: &Run) -> BTreeMap<String, String> {
    let mut facts = facts_of_host(&run.host);
    let commit = run.tool.commit.as_deref().map(|commit| format!(" ({commit})"));
    let program = match run.sections.has::<Imported>() {
        true => run.tool.name.clone(),
        false => format!(
            "{} {}{}",
            run.tool.name,
            run.tool.version,
            commit.unwrap_or_default()
        ),
    };
    facts.insert(PROGRAM.to_owned(), program);
    facts
}

fn facts_of_host(host: &HostFingerprint) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    if let Ok(host) = serde_json::to_value(host) {
        flatten("", &host, &mut facts);
    }
    facts.retain(|name, _| !FLEETING.contains(&name.as_str()));
    facts
}

fn flatten(prefix: &str, value: &Value, facts: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let name = match prefix {
                    "" => name.clone(),
                    prefix => format!("{prefix}.{name}"),
                };
                flatten(&name, value, facts);
            }
        }
        value => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            facts.insert(prefix.to_owned(), text);
        }
    }
}

/// Facts of two matched cases that differ in any rank of any run: CPUs, how ranks waited, facts of the transport.
pub(super) fn circumstances(a: &CaseResult, b: &CaseResult) -> Vec<Difference> {
    let facts = |case: &CaseResult| {
        // By rank, and of each rank all that its runs say.
        let mut facts: BTreeMap<String, BTreeMap<u32, BTreeSet<String>>> = BTreeMap::new();
        let mut note = |name: String, rank: u32, value: String| {
            facts
                .entry(name)
                .or_default()
                .entry(rank)
                .or_default()
                .insert(value);
        };
        let cpu = |cpu: Option<u32>| cpu.map_or(NO_CPU.to_owned(), |cpu| cpu.to_string());
        let cpus: Vec<String> = case.case.ranks.iter().map(|rank| cpu(rank.cpu)).collect();
        note("cpus".to_owned(), 0, cpus.join(","));
        for outcome in case.repetitions.iter().flat_map(|run| &run.outcomes) {
            note("clock".to_owned(), outcome.rank, outcome.clock.source.clone());
            note("idle".to_owned(), outcome.rank, outcome.idle.name().to_owned());
            let told = outcome.transport_facts.iter();
            for (name, value) in told.filter(|(name, _)| !is_measured(name)) {
                note(format!("transport.{name}"), outcome.rank, value.clone());
            }
        }
        let joined = |ranks: BTreeMap<u32, BTreeSet<String>>| {
            let ranks = ranks.into_values().map(|values| Vec::from_iter(values).join("/"));
            let mut ranks: Vec<String> = ranks.collect();
            let are_alike = ranks.windows(2).all(|two| two[0] == two[1]);
            ranks.truncate(if are_alike { 1 } else { ranks.len() });
            ranks.join(", ")
        };
        facts
            .into_iter()
            .map(|(name, values)| (name, joined(values)))
            .collect()
    };
    match a.case.transport == b.case.transport {
        true => difference(&facts(a), &facts(b)),
        false => Vec::new(),
    }
}

/// Facts of a transport that are measured, counted by an engine, or that the kernel adapts as it goes, and so differ from run to
/// run.
fn is_measured(name: &str) -> bool {
    const OWN: [&str; 16] = [
        "delivered_messages",
        "forged_datagrams",
        "held_max_bytes",
        "late_replies",
        "passed_messages",
        "rcvbuf_bytes",
        "receiver_kernel_drops",
        "reply_timeouts",
        "resident_max_bytes",
        "sndbuf_bytes",
        "stray_datagrams",
        "tcp_cwnd_segments",
        "tcp_retransmits",
        "unacknowledged_max_msgs",
        "window_stalls",
        "zcopy_copied",
    ];
    // An option, in spite of its unit.
    let is_timed =
        || name != "busy_poll_us" && ["_us", "_ns", "_per_s"].iter().any(|unit| name.ends_with(unit));
    OWN.contains(&name) || is_timed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => sources(&path, found),
                false => found.push(path),
            }
        }
    }

    /// What an engine notes is a count of what happened: it would explain a difference by itself.
    #[test]
    fn what_an_engine_counts_is_no_environment() {
        let engine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wirespeed/src/engine");
        let (mut files, mut names) = (Vec::new(), Vec::new());
        sources(&engine, &mut files);
        for file in files {
            let text = std::fs::read_to_string(file).unwrap();
            let noted = text.split(".note(\"").skip(1);
            names.extend(noted.map(|rest| rest.split('"').next().unwrap().to_owned()));
        }
        // And what the kernel tells of a connection.
        let link = engine.join("../transport/tcp/link.rs");
        let text = std::fs::read_to_string(link).unwrap();
        let quoted = text.split('"').skip(1).step_by(2);
        names.extend(quoted.filter(|word| word.starts_with("tcp_")).map(str::to_owned));
        assert!(names.len() > 10, "{names:?}");
        let told: Vec<&String> = names.iter().filter(|name| !is_measured(name)).collect();
        assert!(told.is_empty(), "{told:?}");
    }

    #[test]
    fn an_option_is_told() {
        assert!(!is_measured("busy_poll_us") && !is_measured("wait") && is_measured("tcp_rtt_us"));
    }
}
