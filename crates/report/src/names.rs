//! What tells one case of a result from the others: its parameters, and names that keep what varies. It must never name a case
//! as if it stood alone: labels do.

use crate::curve::rate_offered_per_s;
use crate::labels::beside;
use crate::wording::load_beside;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use wirespeed_schema::case::Stop;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::format_ns;

/// Parameters by name, each value as text.
pub(crate) type Identity = BTreeMap<String, String>;

/// The names whose values are not the same in both.
pub(crate) fn unlike<'a>(a: &'a Identity, b: &'a Identity) -> impl Iterator<Item = &'a String> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    names.into_iter().filter(|name| a.get(*name) != b.get(*name))
}

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
            let parameters: Vec<Parameters> = group.iter().map(|at| Parameters::of(names[*at].0)).collect();
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

/// All parameters of a case by the names that are typed.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parameters {
    /// Those that make it the question it is.
    question: Identity,
    /// How long it ran, where, as whom, beside what.
    circumstances: Identity,
}

impl Parameters {
    /// Those of `result`.
    pub fn of(result: &CaseResult) -> Parameters {
        let mut question = Identity::new();
        for (name, value) in identity(result) {
            let value = match name.starts_with("pace_") && rate_offered_per_s(&result.case.test).is_none() {
                true => "unlimited".to_owned(),
                false => value,
            };
            // Roles and loads are told apart below.
            if name != "roles" {
                question.insert(typed(&name).to_owned(), value);
            }
        }
        Parameters {
            question,
            circumstances: circumstances(result),
        }
    }

    /// Whether another case is the same question.
    pub fn asks_the_same(&self, other: &Parameters) -> bool {
        self.question == other.question
    }

    /// All but those of these names.
    pub fn without(mut self, names: &[&str]) -> Parameters {
        for of in [&mut self.question, &mut self.circumstances] {
            of.retain(|name, _| !names.contains(&name.as_str()));
        }
        self
    }

    /// The value of one, where the case has it.
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = self.question.get(name).or_else(|| self.circumstances.get(name));
        value.map(String::as_str)
    }
}

/// The names of parameters that tell `cases` apart: all of what is asked in which they differ, and of the circumstances those that
/// tell apart who asks the same, first of all the first ones.
pub(crate) fn differing(cases: &[&Parameters]) -> Vec<String> {
    let known: BTreeSet<&String> = cases.iter().flat_map(|case| case.question.keys()).collect();
    let differs = |name: &&String| cases.iter().any(|case| case.get(name) != cases[0].get(name));
    let mut names: Vec<String> = known.into_iter().filter(differs).cloned().collect();
    let groups = |names: &[String]| {
        let values = cases
            .iter()
            .map(|case| names.iter().map(|name| case.get(name)).collect::<Vec<_>>());
        values.collect::<BTreeSet<_>>().len()
    };
    for name in CIRCUMSTANCES {
        let more = [&names[..], &[name.to_owned()]].concat();
        if groups(&more) > groups(&names) {
            names = more;
        }
    }
    names
}

/// For each of some cases what tells it from the others: ` window 64`; of cases that are the same in everything, the number of
/// each but the first: ` (2)`.
pub(crate) fn varying(cases: Vec<&Parameters>) -> Vec<String> {
    let names = differing(&cases);
    let value = |case: &Parameters, name: &String| Some(format!(" {name} {}", case.get(name)?));
    let told = |case: &&Parameters| names.iter().filter_map(|name| value(case, name)).collect();
    let mut told: Vec<String> = cases.iter().map(told).collect();
    for group in alike(told.clone().iter()) {
        for (number, at) in group.into_iter().enumerate().skip(1) {
            told[at].push_str(&format!(" ({})", number + 1));
        }
    }
    told
}

/// What a case may differ in and still be the same question, the most telling first.
const CIRCUMSTANCES: [&str; 10] = [
    "to",
    "roles",
    "cpus",
    "load",
    "iterations",
    "duration",
    "warmup",
    "interval",
    "raw",
    "arm",
];

fn circumstances(result: &CaseResult) -> Identity {
    let case = &result.case;
    let each = |text: &dyn Fn(usize) -> String| {
        let texts: Vec<String> = (0..case.ranks.len()).map(text).collect();
        texts.join(",")
    };
    let (iterations, duration) = match case.stop {
        Stop::Iterations { count } => (count.to_string(), String::new()),
        Stop::Duration { duration_ns } => (String::new(), format_ns(duration_ns as f64)),
    };
    let cpu = |rank: usize| case.ranks[rank].cpu.map_or("-".to_owned(), |cpu| cpu.to_string());
    let values = [
        case.to.clone().unwrap_or_default(),
        each(&|rank| case.ranks[rank].role.name().to_owned()),
        each(&cpu),
        load_beside(result),
        iterations,
        duration,
        case.warmup_text(),
        format_ns(case.report_interval_ns as f64),
        case.raw_samples_max.to_string(),
        result.arm.clone().unwrap_or_default(),
    ];
    let named = CIRCUMSTANCES.map(str::to_owned).into_iter().zip(values);
    named.filter(|(_, value)| !value.is_empty()).collect()
}

/// The parameters that make a case the question it is. Not among them: how long it ran, where it was pinned.
pub(crate) fn identity(result: &CaseResult) -> Identity {
    let mut key = Identity::new();
    let Ok(Value::Object(case)) = serde_json::to_value(&result.case) else {
        return key;
    };
    const OTHERS: [&str; 8] = [
        "stop",
        "warmup_iterations",
        "warmup_ns_max",
        "report_interval_ns",
        "raw_samples_max",
        "idle",
        "ranks",
        "to",
    ];
    for (name, value) in &case {
        match value {
            _ if OTHERS.contains(&name.as_str()) => {}
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
    let roles = ranks
        .iter()
        .map(|rank| format!("{:?} {:?}", rank.role, rank.load));
    // A load that is none of its ranks'.
    let beside = result
        .under
        .clone()
        .filter(|_| ranks.iter().all(|rank| rank.load.is_idle()));
    let roles: Vec<String> = roles.chain(beside).collect();
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
    use crate::tests::stream;
    use serde_json::json;

    fn case(differing: Value) -> CaseResult {
        stream(differing, &[])
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
            (json!({"to": "192.0.2.2"}), ""),
            (json!({"warmup_iterations": 5}), " warmup 0"),
            (json!({"warmup_iterations": 5, "warmup_ns_max": 7}), " warmup 0"),
            (json!({"report_interval_ns": 5}), " interval 0 ns"),
            (json!({"raw_samples_max": 5}), " raw 0"),
            (
                json!({"stop": {"by": "duration", "duration_ns": 2}}),
                " duration 1 ns",
            ),
            (json!({"stop": {"by": "iterations", "count": 2}}), ""),
            (
                json!({"ranks": [{"role": "sink", "peer": 1}, {"role": "source", "peer": 0}]}),
                " roles source,sink",
            ),
            (
                json!({"ranks": [{"role": "source", "peer": 1, "cpu": 3}, {"role": "sink", "peer": 0}]}),
                " cpus -,-",
            ),
        ] {
            let cases = [case(json!({})), case(differing.clone())];
            let names = Names::among(&cases);
            let [first, second] = [0, 1].map(|at| names.of(&cases[at]));
            assert_eq!(first, format!("tcp am_bw 8 B{added}"), "{differing}");
            assert_ne!(first, second);
            let is_same = differing == json!({});
            assert_eq!(second == format!("{first} (2)"), is_same, "{second}");
        }
    }

    #[test]
    fn arms_that_are_the_same_in_everything_are_named() {
        let arm = |letter: &str| CaseResult {
            arm: Some(letter.to_owned()),
            ..case(json!({}))
        };
        let cases = [arm("A"), arm("B")];
        let names = Names::among(&cases);
        assert_eq!(
            [0, 1].map(|at| names.of(&cases[at])),
            ["tcp am_bw 8 B arm A", "tcp am_bw 8 B arm B"]
        );
        // Arms that differ are told by that alone.
        let other = CaseResult {
            arm: Some("B".to_owned()),
            ..case(json!({"layout": "bcopy"}))
        };
        let cases = [arm("A"), other];
        assert_eq!(Names::among(&cases).of(&cases[0]), "tcp am_bw 8 B layout short");
    }

    #[test]
    fn a_rate_that_stands_for_none_is_called_unlimited() {
        for (pace, shown) in [(1000, "1000"), (1_000_000_000, "unlimited")] {
            let parameters = Parameters::of(&case(json!({"pace_msg_per_s": pace})));
            assert_eq!(parameters.get("pace"), Some(shown));
        }
    }
}
