//! Names in plans: tests, friendly or not, and the keys of parameters.

use super::Axis;
use super::error::PlanError;
use super::parameters::parameter;
use crate::kinds;

/// Keys that exclude each other: giving one replaces a default of the others; giving two is an error.
pub const EXCLUSIVE: [&[&str]; 3] = [&["threads", "procs"], &["threads", "to"], &["iters", "duration"]];

/// The test that `name` stands for, friendly or not.
pub fn canonical_test(name: &str) -> Result<&'static str, PlanError> {
    kinds::named(name).map(|kind| kind.name)
}

/// Whether `test` (canonical name) takes the parameter `key`.
pub fn takes(test: &str, key: &str) -> bool {
    match (kinds::kind(test), parameter(key)) {
        (Some(kind), Ok(parameter)) => super::parameters::takes(kind, parameter),
        _ => false,
    }
}

/// The key as documents spell it; `fan-out` is `fan_out`.
pub fn canonical_key(key: &str) -> Result<&'static str, PlanError> {
    parameter(key).map(|parameter| parameter.key)
}

/// Split the text of a parameter into its values. Sizes and counts take lists and ranges (`8..1M:x2`); names and
/// durations take lists; `cpus`, `roles` and `load` use the comma themselves, so their lists are split at `;`.
pub fn split_axis(key: &str, text: &str) -> Result<Axis, PlanError> {
    parameter(key)?.split(text)
}

#[cfg(test)]
mod tests {
    use super::super::tests::one;
    use super::*;
    use crate::kinds::{KINDS, Roles};
    use crate::plan::parameters;
    use crate::test::Test;
    use std::collections::BTreeSet;

    #[test]
    fn counts_and_sizes_expand_in_their_own_units() {
        assert_eq!(
            split_axis("window", "512..2048:x2").unwrap(),
            ["512", "1024", "2048"]
        );
        assert_eq!(split_axis("size", "512..2048:x2").unwrap(), ["512", "1K", "2K"]);
        assert_eq!(split_axis("cpus", "0,1;0,2").unwrap(), ["0,1", "0,2"]);
        assert_eq!(split_axis("via", "shm, tcp").unwrap(), ["shm", "tcp"]);
        assert!(split_axis("via", "shm,,tcp").is_err());
        assert!(split_axis("size", "8..4").is_err());
    }

    #[test]
    fn friendly_names_stand_for_tests() {
        assert_eq!(canonical_test("latency").unwrap(), "am_lat");
        assert_eq!(canonical_test("put_bw").unwrap(), "put_bw");
        let error = canonical_test("am-lat").unwrap_err();
        assert_eq!(error.remedy, "did you mean \"am_lat\"?");
    }

    #[test]
    fn keys_may_have_hyphens() {
        assert_eq!(canonical_key("fan-out").unwrap(), "fan_out");
        assert_eq!(
            canonical_key("sise").unwrap_err().remedy,
            "did you mean \"size\"?"
        );
    }

    #[test]
    fn no_name_is_given_twice_and_every_definition_is_whole() {
        let mut keys = BTreeSet::new();
        let mut letters = BTreeSet::new();
        for parameter in parameters() {
            assert!(keys.insert(parameter.key), "{}", parameter.key);
            assert!(
                parameter.letters.iter().all(|letter| letters.insert(letter)),
                "{}",
                parameter.key
            );
            for text in [parameter.help, parameter.remedy, parameter.value_name] {
                assert!(!text.is_empty(), "{}", parameter.key);
            }
            assert!(parameter.example.starts_with(&format!("{} = ", parameter.key)));
        }
        let names: BTreeSet<_> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), KINDS.len());
    }

    /// Each row reads the test that it names, and what it takes is what the test tells.
    #[test]
    fn rows_and_tests_agree() {
        for kind in &KINDS {
            let place = match kind.roles {
                Roles::Near(_) => vec![("to", "http://far:1/file"), ("total", "1M")],
                _ => vec![("procs", "2")],
            };
            let words = [vec![("test", kind.name), ("via", "shm")], place].concat();
            let case = one(&words);
            let test: &Test = &case.test;
            assert_eq!(test.name(), kind.name);
            assert_eq!(
                test.layout().is_some(),
                takes(kind.name, "layout"),
                "{}",
                kind.name
            );
            assert_eq!(test.capability(), kind.capability());
            // `shm` carries no more here.
            let usual = kind.size_bytes.min(1 << 20);
            assert_eq!(test.size_bytes(), usual, "{}", kind.name);
            let sized = one(&[words, vec![("size", "4")]].concat());
            assert_eq!(sized.test.size_bytes(), 4, "{}", kind.name);
            let told: Vec<_> = test.values().iter().map(|(parameter, _)| parameter.key).collect();
            for own in kind.takes.iter().flat_map(|group| group.iter()) {
                let is_told = told.contains(&own.key) || ["layout", "pace"].contains(&own.key);
                assert!(is_told, "{} does not tell {}", kind.name, own.key);
            }
        }
    }

    /// What a document tells of a test, typed again, is that test; a test tells what it was given.
    #[test]
    fn what_a_test_tells_is_what_it_was_given() {
        let given = [
            ("size", "4"),
            ("layout", "zcopy"),
            ("window", "3"),
            ("outstanding", "5"),
            ("pace", "7"),
            ("reply", "9"),
            ("fan_out", "true"),
            ("buffers", "multiple"),
            ("pattern", "all-start"),
            ("grid", "ring"),
            ("peers", "2"),
            ("stride", "2"),
            ("cache_state", "rotating"),
            ("cache_size", "4096"),
            ("total", "1000"),
            ("connections", "6"),
        ];
        for kind in &KINDS {
            let place = match kind.roles {
                Roles::Near(_) => ("to", "http://far:1/file"),
                Roles::Neighbours => ("threads", "6"),
                _ => ("threads", "2"),
            };
            let named = [("test", kind.name), ("via", "shm"), place];
            let taken: Vec<_> = given
                .into_iter()
                .filter(|(key, _)| takes(kind.name, key))
                .collect();
            let test = one(&[&named[..], &taken].concat()).test;
            let told = test.values();
            for (key, value) in &taken {
                let found = told.iter().find(|(parameter, _)| parameter.key == *key);
                assert_eq!(
                    found.map(|(_, text)| text.as_str()),
                    Some(*value),
                    "{} {key}",
                    kind.name
                );
            }
            let again = told
                .iter()
                .map(|(parameter, text)| (parameter.key, text.as_str()));
            let again: Vec<_> = again.filter(|(key, _)| takes(kind.name, key)).collect();
            assert_eq!(one(&[&named[..], &again].concat()).test, test);
            let has = |key: &str| takes(kind.name, key);
            let is_defined = kind.name.starts_with("osu_") || kind.name.starts_with("imb_");
            assert_eq!(
                [
                    test.defined().is_some(),
                    test.stream().is_some(),
                    test.hub().is_some()
                ],
                [is_defined, has("pace"), has("reply")],
                "{}",
                kind.name
            );
            assert_eq!(
                [test.msgrate().is_some(), test.bulk().is_some()],
                [has("pattern"), has("total")],
                "{}",
                kind.name
            );
        }
    }
}
