//! Several networks of the same hosts, each measured apart: a case of its own on each rail, so that figures, judgement and files
//! keep them apart by the case. It must never choose a network by itself.

use super::hostfile::ALL_RAILS;
use super::roster::{Roster, Source};
use crate::errors::Failure;
use crate::experiment::Prepared;
use std::collections::BTreeSet;
use wirespeed::Registry;
use wirespeed_schema::plan::PlanError;

/// What to do about a rail that cannot be measured.
const REMEDY: &str = "give every host a rail=NAME:IP in --hostfile, and name those: --rail NAME, --rail all";

/// The rails that `words` name, on each of which every host has an address; none where there are no words.
pub fn named(words: &[String], roster: &Roster) -> Result<Vec<String>, Failure> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    if roster.source != Source::Ssh {
        return Err(Failure::usage(
            "--rail needs hosts that ssh reaches, each with its addresses",
            REMEDY,
        ));
    }
    let known: BTreeSet<&str> = roster
        .hosts
        .iter()
        .flat_map(|host| host.rails.keys())
        .map(String::as_str)
        .collect();
    let mut found: Vec<String> = Vec::new();
    for word in words {
        let rails = known.iter().filter(|rail| word == ALL_RAILS || *rail == word);
        let before = found.len();
        found.extend(rails.map(|rail| (*rail).to_owned()));
        if found.len() == before {
            let known: Vec<&str> = known.into_iter().collect();
            return Err(match known.is_empty() {
                true => Failure::usage(format!("no host is on a rail {word:?}"), REMEDY),
                false => PlanError::unknown("rail", word, &known).into(),
            });
        }
    }
    for (number, rail) in found.iter().enumerate() {
        if found[..number].contains(rail) {
            return Err(Failure::usage(
                format!("--rail names {rail} twice"),
                "name each once",
            ));
        }
        if let Some(host) = roster.hosts.iter().find(|host| !host.rails.contains_key(rail)) {
            let cause = format!("{} has no address on rail {rail}", host.name);
            return Err(Failure::usage(cause, REMEDY));
        }
    }
    Ok(found)
}

/// Each case on each of `rails`; as it is where there are none.
pub fn each(registry: &Registry, cases: Vec<Prepared>, rails: &[String]) -> Result<Vec<Prepared>, Failure> {
    if rails.is_empty() {
        return Ok(cases);
    }
    let own = |transport: &str| registry.find(transport).is_some_and(|entry| entry.by_device);
    if let Some(case) = cases.iter().find(|case| own(&case.planned.case.transport)) {
        return Err(Failure::usage(
            format!(
                "{} chooses its network by a device of its own, not by an address",
                case.planned.case.transport
            ),
            "leave --rail out and name the devices among its options, or name another transport",
        ));
    }
    let on = |case: &Prepared, rail: &String| {
        let mut planned = case.planned.clone();
        planned.case = planned.case.with_rail(Some(rail.clone()));
        Prepared {
            skip: case.skip.clone(),
            ..Prepared::planned(planned)
        }
    };
    let all = cases
        .iter()
        .flat_map(|case| rails.iter().map(move |rail| on(case, rail)));
    Ok(all.collect())
}

#[cfg(test)]
mod tests {
    use super::super::roster::Host;
    use super::*;
    use std::net::IpAddr;

    fn roster(hosts: &[&[&str]], source: Source) -> Roster {
        let host = |(number, rails): (usize, &&[&str])| Host {
            name: format!("h{number}"),
            rails: rails
                .iter()
                .map(|rail| ((*rail).to_owned(), IpAddr::from([10, 0, 0, number as u8])))
                .collect(),
            ..Host::default()
        };
        Roster {
            source,
            hosts: hosts.iter().enumerate().map(host).collect(),
        }
    }

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn rails_are_named_once_and_every_host_is_on_them() {
        let both = roster(&[&["a", "b"], &["a", "b"]], Source::Ssh);
        assert_eq!(named(&[], &both).unwrap(), Vec::<String>::new());
        assert_eq!(named(&words(&["b"]), &both).unwrap(), ["b"]);
        assert_eq!(named(&words(&["all"]), &both).unwrap(), ["a", "b"]);
        let one = roster(&[&["a", "b"], &["a"]], Source::Ssh);
        let here = roster(&[&["a"], &["a"]], Source::Here);
        let none = roster(&[&[], &[]], Source::Ssh);
        for (roster, list, word) in [
            (&both, &["c"][..], "\"c\""),
            (&both, &["a", "a"], "twice"),
            (&both, &["all", "b"], "twice"),
            (&one, &["all"], "h1 has no address on rail b"),
            (&none, &["all"], "\"all\""),
            (&here, &["a"], "ssh"),
        ] {
            let failure = named(&words(list), roster).unwrap_err();
            assert!(
                failure.code == 2 && failure.cause.contains(word),
                "{}",
                failure.cause
            );
        }
    }
}
