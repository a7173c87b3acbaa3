//! What tells one case of a result from the others: its parameters, and names that keep what varies. It must never name a case
//! as if it stood alone: labels do.

use crate::labels::beside;
use serde_json::Value;
use std::collections::BTreeMap;
use wirespeed_schema::run::CaseResult;

/// Parameters by name, each value as text.
pub(crate) type Identity = BTreeMap<String, String>;

/// The names of some cases, each its own where their parameters differ.
pub(crate) struct Names<'a>(Vec<(&'a CaseResult, String)>);

impl<'a> Names<'a> {
    /// Short names; where two are the same, with the load and the rate beside; where they still are, with all that varies.
    pub fn among(cases: impl IntoIterator<Item = &'a CaseResult>) -> Names<'a> {
        let label = |case: &'a CaseResult| (case, case.case.label());
        let mut names: Vec<(&CaseResult, String)> = cases.into_iter().map(label).collect();
        for group in alike(names.iter().map(|(_, name)| name)) {
            for at in group {
                let more = beside(names[at].0);
                names[at].1.push_str(&more);
            }
        }
        for group in alike(names.iter().map(|(_, name)| name)) {
            let parameters: Vec<Identity> = group.iter().map(|at| identity(names[*at].0)).collect();
            for (at, more) in group.into_iter().zip(varying(parameters.iter().collect())) {
                names[at].1.push_str(&more);
            }
        }
        Names(names)
    }

    /// The name of one of them; of any other case its label.
    pub fn of(&self, case: &CaseResult) -> String {
        let known = self.0.iter().find(|(one, _)| std::ptr::eq(*one, case));
        known.map_or_else(|| case.case.label(), |(_, name)| name.clone())
    }
}

/// The places of keys that are there more than once, in groups of the same key.
pub(crate) fn alike<K: Ord>(keys: impl Iterator<Item = K>) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (at, key) in keys.enumerate() {
        groups.entry(key).or_default().push(at);
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

/// For each of some cases the parameters that are not the same in all, as they are typed, with its values.
pub(crate) fn varying(cases: Vec<&Identity>) -> Vec<String> {
    // Roles have no short name.
    let names = cases[0].keys().filter(|name| *name != "roles");
    let names: Vec<&String> = names
        .filter(|name| cases.iter().any(|case| case.get(*name) != cases[0].get(*name)))
        .collect();
    let value = |case: &Identity, name: &String| {
        let value = case.get(name).map_or("", String::as_str);
        format!(" {} {value}", typed(name))
    };
    let told = |case: &&Identity| names.iter().map(|name| value(case, name)).collect();
    cases.iter().map(told).collect()
}

/// The parameters that make a case the question it is. Not among them: how long it ran, where it was pinned.
pub(crate) fn identity(result: &CaseResult) -> Identity {
    let mut key = Identity::new();
    let Ok(Value::Object(case)) = serde_json::to_value(&result.case) else {
        return key;
    };
    const CIRCUMSTANCES: [&str; 7] = [
        "stop",
        "warmup_iterations",
        "warmup_ns_max",
        "report_interval_ns",
        "raw_samples_max",
        "idle",
        "ranks",
    ];
    for (name, value) in &case {
        match value {
            _ if CIRCUMSTANCES.contains(&name.as_str()) => {}
            Value::Object(options) => {
                let options = options
                    .iter()
                    .map(|(option, value)| (format!("{name}.{option}"), plain(value)));
                key.extend(options);
            }
            value => {
                key.insert(name.clone(), plain(value));
            }
        }
    }
    let ranks = &result.case.ranks;
    key.insert("ranks".to_owned(), ranks.len().to_string());
    let roles: Vec<String> = ranks
        .iter()
        .map(|rank| format!("{:?} {:?}", rank.role, rank.load))
        .collect();
    key.insert("roles".to_owned(), roles.join(", "));
    key
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A parameter as it is typed: without its unit, an option of the transport by its own name.
pub(crate) fn typed(name: &str) -> &str {
    let name = name.strip_prefix("options.").unwrap_or(name);
    let units = ["_bytes", "_msgs", "_msg_per_s"];
    units
        .iter()
        .find_map(|unit| name.strip_suffix(unit))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::failed_case;
    use serde_json::json;

    fn case(differing: Value) -> CaseResult {
        let mut case = json!({
            "test": "am_bw", "size_bytes": 8, "layout": "short", "window_msgs": 64, "transport": "tcp", "group": "processes",
            "ranks": [{"role": "source", "peer": 1}, {"role": "sink", "peer": 0}], "idle": "spin", "options": {"a": "1"},
            "stop": {"by": "duration", "duration_ns": 1}, "warmup_iterations": 0, "warmup_ns_max": 0,
        });
        let fields = case.as_object_mut().unwrap();
        fields.extend(differing.as_object().unwrap().clone());
        failed_case(serde_json::from_value(case).unwrap(), "", None)
    }

    /// Whatever parameter two cases differ in, their names differ, and have nothing else of it.
    #[test]
    fn cases_that_differ_in_any_parameter_have_names_of_their_own() {
        let load = json!({"cpu_threads": 2});
        for (differing, added) in [
            (json!({}), ""),
            (json!({"transport": "unix"}), ""),
            (json!({"size_bytes": 16}), ""),
            (json!({"window_msgs": 128}), " window 64"),
            (json!({"layout": "bcopy"}), " layout short"),
            (json!({"options": {"a": "2"}}), " a 1"),
            (json!({"group": "threads"}), " group processes"),
            (
                json!({"ranks": [{"role": "source", "peer": 1, "load": load}, {"role": "sink", "peer": 0}]}),
                "",
            ),
            (json!({"pace_msg_per_s": 1000}), ""),
            (json!({"check": true}), " check false"),
        ] {
            let cases = [case(json!({})), case(differing.clone())];
            let names = Names::among(&cases);
            let [first, second] = [0, 1].map(|at| names.of(&cases[at]));
            assert_eq!(first, format!("tcp am_bw 8 B{added}"), "{differing}");
            let are_one = differing == json!({});
            assert_eq!(first == second, are_one, "{first}, {second}");
        }
    }
}
