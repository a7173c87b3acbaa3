//! What differs between the machines and programs of two results: printed before any figure, because it may explain all.

use super::section::Difference;
use serde_json::Value;
use std::collections::BTreeMap;
use wirespeed_schema::Run;
use wirespeed_schema::host::HostFingerprint;
use wirespeed_schema::section::Imported;

/// Facts of a machine that differ from moment to moment and explain nothing.
const FLEETING: [&str; 2] = ["host_name", "load_average_1min"];

/// Facts of the two machines, programs and clocks that differ, in the order of their names. What the file of another tool
/// does not tell differs from nothing.
pub fn environment(a: &Run, b: &Run) -> Vec<Difference> {
    let untold = facts_of_host(&HostFingerprint::default());
    let is_untold = |run: &Run, name: &str, value: &Option<String>| {
        run.sections.has::<Imported>() && (value.is_none() || value.as_ref() == untold.get(name))
    };
    let mut found = difference(&facts(a), &facts(b));
    found.retain(|one| !is_untold(a, &one.name, &one.a) && !is_untold(b, &one.name, &one.b));
    found
}

/// Entries that differ, by name.
pub(super) fn difference(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<Difference> {
    let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    names
        .into_iter()
        .filter(|name| a.get(*name) != b.get(*name))
        .map(|name| Difference {
            name: name.clone(),
            a: a.get(name).cloned(),
            b: b.get(name).cloned(),
        })
        .collect()
}

/// Every fact of the machine and the program that stays, by name.
pub fn facts(run: &Run) -> BTreeMap<String, String> {
    let mut facts = facts_of_host(&run.host);
    let commit = run.tool.commit.as_deref().map(|commit| format!(" ({commit})"));
    let program = format!(
        "{} {}{}",
        run.tool.name,
        run.tool.version,
        commit.unwrap_or_default()
    );
    facts.insert("program".to_owned(), program);
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
