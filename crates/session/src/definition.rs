//! What a session is, as data: its computations, the resources of each, whose messages each accepts. Read from JSON,
//! checked as a whole before anything is started. It must never start or place anything.

use crate::ask::DAEMON;
use crate::{COMPUTATIONS_MAX, usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wirespeed_control::Failure;
use wirespeed_schema::Finite;
use wirespeed_schema::units::format_size;

/// The client's name in message filters.
pub const CLIENT: &str = "client";
/// Memory of a benchmark's main computation where nothing else is asked for: what the original asks for.
pub const REQUEST_BYTES: u64 = 2048 << 20;
/// Least memory that a computation may ask for: its program takes so much.
const MEMORY_BYTES_MIN: u64 = 16 << 20;
/// Largest definition that is read.
pub const DEFINITION_BYTES_MAX: u64 = 1 << 20;

/// Resources that a computation asks for. What is absent is not limited and not set aside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Resources {
    /// CPU seconds a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<Finite>,
    /// Memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// One computation, or an array of equal ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Computation {
    /// Its name. Those of an array are called NAME_0, NAME_1 and so on.
    pub name: String,
    /// How many; `$index` in values of the environment becomes the number of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<u32>,
    /// What each asks for.
    #[serde(default)]
    pub resources: Resources,
    /// Variables beside the environment of the node.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Only on the node of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Whose messages it accepts: names of computations or arrays, or `client`. Absent: everybody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepts: Option<Vec<String>>,
}

/// A session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Its name, for people.
    pub name: String,
    /// Its computations. The first one is the main one: what the command line asks for is asked for it.
    pub computations: Vec<Computation>,
}

impl Definition {
    /// Read and check a definition.
    pub fn from_json(text: &[u8]) -> Result<Self, Failure> {
        let read: Result<Definition, _> = serde_json::from_slice(text);
        let definition = read.map_err(|e| {
            usage(
                format!("the session definition is not one: {e}"),
                "docs/session.md has the form, `wirespeed session --schema` the JSON Schema",
            )
        })?;
        definition.check()?;
        Ok(definition)
    }

    /// The benchmark's own session: `count` computations that accept everybody's messages.
    pub fn benchmark(count: u32) -> Self {
        let computation = |number: u32| Computation {
            name: format!("benchcomp{number}"),
            resources: Resources {
                cores: None,
                memory_bytes: (number == 0).then_some(REQUEST_BYTES),
            },
            ..Computation::default()
        };
        Definition {
            name: "benchmark".into(),
            computations: (0..count).map(computation).collect(),
        }
    }

    /// The JSON Schema of definitions.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Definition).to_value()
    }

    /// Everything that can be known to be nonsense.
    pub fn check(&self) -> Result<(), Failure> {
        let total: u64 = self
            .computations
            .iter()
            .map(|c| u64::from(c.array.unwrap_or(1)))
            .sum();
        if total == 0 || total > COMPUTATIONS_MAX as u64 {
            return Err(usage(
                format!("the session has {total} computations"),
                format!("define 1 to {COMPUTATIONS_MAX}"),
            ));
        }
        for (at, computation) in self.computations.iter().enumerate() {
            computation.check()?;
            if self.computations[..at].iter().any(|c| c.name == computation.name) {
                return Err(usage(
                    format!("two computations are called {:?}", computation.name),
                    "give each a name of its own, or use one array",
                ));
            }
            let known = |name: &String| name == CLIENT || self.computations.iter().any(|c| c.name == *name);
            let accepts = computation.accepts.iter().flatten();
            if let Some(stranger) = accepts.into_iter().find(|name| !known(name)) {
                return Err(usage(
                    format!(
                        "{} accepts messages of {stranger:?}, who does not exist",
                        computation.name
                    ),
                    "name computations of this session, or client",
                ));
            }
        }
        let names = self.expand();
        let doubled = names
            .iter()
            .enumerate()
            .find(|(at, c)| names[..*at].iter().any(|o| o.name == c.name));
        match doubled {
            Some((_, c)) => Err(usage(
                format!("two computations are called {:?}", c.name),
                "an array's members are called NAME_0, NAME_1 and so on",
            )),
            None => Ok(()),
        }
    }

    /// Every computation, arrays expanded.
    pub fn expand(&self) -> Vec<Computation> {
        let mut all = Vec::new();
        for computation in &self.computations {
            let Some(count) = computation.array else {
                all.push(computation.clone());
                continue;
            };
            for index in 0..count {
                let mut one = computation.clone();
                one.array = None;
                one.name = format!("{}_{index}", computation.name);
                for value in one.environment.values_mut() {
                    *value = value.replace("$index", &index.to_string());
                }
                all.push(one);
            }
        }
        all
    }

    /// Whether `to` accepts what `from` sends; both are names of expanded computations or [`CLIENT`].
    pub fn accepts(&self, to: &str, from: &str) -> bool {
        let is = |computation: &Computation, name: &str| match computation.array {
            None => computation.name == name,
            Some(count) => (0..count).any(|index| name == format!("{}_{index}", computation.name)),
        };
        let Some(receiver) = self.computations.iter().find(|c| is(c, to)) else {
            return true;
        };
        receiver.accepts.as_ref().is_none_or(|accepted| {
            accepted
                .iter()
                .any(|name| name == from || self.computations.iter().any(|c| c.name == *name && is(c, from)))
        })
    }
}

impl Computation {
    fn check_resources(&self) -> Result<(), Failure> {
        let name = &self.name;
        match (self.resources.cores, self.resources.memory_bytes) {
            (Some(cores), _) if !(0.01..=4096.0).contains(&cores.get()) => Err(usage(
                format!("{name}: invalid number of cores {}", cores.get()),
                "ask for 0.01 to 4096 cores",
            )),
            (_, Some(bytes)) if bytes < MEMORY_BYTES_MIN => Err(usage(
                format!("{name}: {} of memory are too little", format_size(bytes)),
                format!("ask for at least {}", format_size(MEMORY_BYTES_MIN)),
            )),
            _ => Ok(()),
        }
    }

    fn check(&self) -> Result<(), Failure> {
        let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let is_taken = [CLIENT, DAEMON].contains(&self.name.as_str());
        if self.name.is_empty() || self.name.len() > 64 || !self.name.chars().all(good) || is_taken {
            return Err(usage(
                format!("{:?} is no name for a computation", self.name),
                "use up to 64 letters, digits, - and _; client and router are taken",
            ));
        }
        if self.array == Some(0) {
            return Err(usage(
                format!("array {} has no members", self.name),
                "give it at least 1",
            ));
        }
        self.check_resources()?;
        let bad = |name: &String| name.is_empty() || name.contains(['=', '\0']);
        match self.environment.keys().find(|name| bad(name)) {
            Some(name) => Err(usage(
                format!("{}: {name:?} is no name of a variable", self.name),
                "leave = out of it",
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Definition, Failure> {
        Definition::from_json(text.as_bytes())
    }

    #[test]
    fn arrays_expand_and_filters_know_them() {
        let definition = read(
            r#"{"name": "render", "computations": [
                {"name": "merge", "accepts": ["mcrt"]},
                {"name": "mcrt", "array": 2, "environment": {"PART": "$index"}, "resources": {"cores": 1.5}}]}"#,
        )
        .unwrap();
        let all = definition.expand();
        let names: Vec<&str> = all.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["merge", "mcrt_0", "mcrt_1"]);
        assert_eq!(all[2].environment["PART"], "1");
        assert!(definition.accepts("merge", "mcrt_1") && !definition.accepts("merge", CLIENT));
        assert!(definition.accepts("mcrt_0", "merge") && definition.accepts("mcrt_0", CLIENT));
    }

    #[test]
    fn nonsense_is_named() {
        for (text, word) in [
            ("{", "not one"),
            (r#"{"name":"x","computations":[]}"#, "0 computations"),
            (r#"{"name":"x","computations":[{"name":"client"}]}"#, "client"),
            (
                r#"{"name":"x","computations":[{"name":"a"},{"name":"a"}]}"#,
                "two",
            ),
            (
                r#"{"name":"x","computations":[{"name":"a_0"},{"name":"a","array":1}]}"#,
                "two",
            ),
            (r#"{"name":"x","computations":[{"name":"a","array":300}]}"#, "300"),
            (
                r#"{"name":"x","computations":[{"name":"a","accepts":["b"]}]}"#,
                "\"b\"",
            ),
            (
                r#"{"name":"x","computations":[{"name":"a","resources":{"cores":0}}]}"#,
                "cores 0",
            ),
            (
                r#"{"name":"x","computations":[{"name":"a","resources":{"memory_bytes":9}}]}"#,
                "9 B of memory",
            ),
            (
                r#"{"name":"x","computations":[{"name":"a","colour":1}]}"#,
                "colour",
            ),
        ] {
            let failure = read(text).unwrap_err();
            assert!(failure.message.contains(word), "{text}: {failure:?}");
        }
    }

    #[test]
    fn the_schema_describes_what_is_read() {
        let schema = Definition::schema().to_string();
        for word in ["computations", "memory_bytes", "accepts", "array"] {
            assert!(schema.contains(word), "{word}");
        }
    }
}
