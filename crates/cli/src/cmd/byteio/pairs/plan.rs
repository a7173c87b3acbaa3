//! A pairs file: machines, how a command is run on each, and which pairs are measured in which rounds. Nothing is run here.

use crate::cmd::speed::speed;
use crate::errors::Failure;
use crate::file::{self, text_or};
use crate::input;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use wirespeed_mesh::Pair as Ends;
use wirespeed_mesh::schedule::pack;
use wirespeed_schema::Finite;

/// Bytes of a pairs file.
const FILE_BYTES_MAX: u64 = 1 << 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    machine: Vec<Machine>,
    pairs: Wanted,
}

/// A machine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Machine {
    name: String,
    /// Where it serves the file; absent for one that only reads.
    url: Option<String>,
    /// Words that run a command there; absent for this machine.
    #[serde(default)]
    run: Vec<String>,
    /// The program's name there.
    program: Option<String>,
    /// Speed of its link.
    nominal: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Wanted {
    Word(String),
    List(Vec<String>),
}

/// One pair to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// `reader -> server`.
    pub name: String,
    /// The words that run wirespeed at the reader.
    pub reader: Vec<String>,
    /// Where the server has the file.
    pub url: String,
    /// Speed of the slowest link between them.
    pub nominal: Option<Finite>,
    /// How it is emulated, if it is.
    pub emulated: Option<String>,
}

/// Read and check a pairs file. `both`: each pair the other way round, too.
pub fn read(path: &Path, both: bool) -> Result<Vec<Planned>, Failure> {
    let text = input::text(path, "pairs file", FILE_BYTES_MAX)?;
    parse(&text, both).map_err(|failure| {
        Failure::usage(
            format!("{}: {}", file::shown(path), failure.cause),
            failure.remedy,
        )
    })
}

pub(super) fn parse(text: &str, both: bool) -> Result<Vec<Planned>, Failure> {
    let remedy = "see `wirespeed byteio bench --help` for what a pairs file has";
    let file: File = toml::from_str(text).map_err(|e| Failure::usage(e.message().to_owned(), remedy))?;
    let mut names: Vec<(String, String)> = match &file.pairs {
        Wanted::Word(word) if word == "all" => all(&file.machine),
        Wanted::Word(word) => {
            return Err(Failure::usage(
                format!("pairs = {word:?} is neither \"all\" nor a list"),
                remedy,
            ));
        }
        Wanted::List(list) => list.iter().map(|text| split(text)).collect::<Result<_, _>>()?,
    };
    if both {
        for (reader, server) in names.clone() {
            let back = (server, reader);
            if !names.contains(&back) {
                names.push(back);
            }
        }
    }
    if names.is_empty() {
        return Err(Failure::usage(
            "no pair is named",
            "write pairs = \"all\", or a list of \"reader -> server\"",
        ));
    }
    let find = |name: &str| {
        file.machine.iter().find(|m| m.name == name).ok_or_else(|| {
            Failure::usage(
                format!("no machine is called {name:?}"),
                "write a [[machine]] for each name",
            )
        })
    };
    let plan = names
        .iter()
        .map(|(reader, server)| planned(find(reader)?, find(server)?));
    plan.collect()
}

/// Every ordered pair of two different machines, the second of which serves.
fn all(machines: &[Machine]) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for reader in machines {
        for server in machines
            .iter()
            .filter(|m| m.url.is_some() && m.name != reader.name)
        {
            pairs.push((reader.name.clone(), server.name.clone()));
        }
    }
    pairs
}

fn split(text: &str) -> Result<(String, String), Failure> {
    let parts = text.split_once("->");
    let parts = parts.map(|(reader, server)| (reader.trim().to_owned(), server.trim().to_owned()));
    parts
        .filter(|(reader, server)| !reader.is_empty() && !server.is_empty())
        .ok_or_else(|| {
            Failure::usage(
                format!("{text:?} is not a pair"),
                "write it as \"reader -> server\"",
            )
        })
}

fn planned(reader: &Machine, server: &Machine) -> Result<Planned, Failure> {
    let url = server
        .url
        .clone()
        .ok_or_else(|| Failure::usage(format!("{} serves nothing", server.name), "give it a url"))?;
    let speeds = [&reader.nominal, &server.nominal].into_iter().flatten();
    let mut nominal: Option<Finite> = None;
    for one in speeds {
        let one = speed(one)?;
        nominal = Some(nominal.filter(|least| least.get() < one.get()).unwrap_or(one));
    }
    let mut words = reader.run.clone();
    words.push(match (&reader.program, reader.run.is_empty()) {
        (Some(program), _) => program.clone(),
        (None, true) => this_program()?,
        (None, false) => "wirespeed".to_owned(),
    });
    Ok(Planned {
        name: format!("{} -> {}", reader.name, server.name),
        reader: words,
        url,
        nominal,
        emulated: None,
    })
}

/// The path of the program that runs.
pub fn this_program() -> Result<String, Failure> {
    let program = std::env::current_exe().ok();
    program.map_or(Ok("wirespeed".to_owned()), |path| as_given(&path))
}

/// A program as commands have it.
fn as_given(program: &Path) -> Result<String, Failure> {
    let remedy = "copy the program to a place whose path is UTF-8, and start it there";
    text_or(program, remedy)
}

/// Rounds in which no machine is in two pairs.
pub fn rounds(plan: &[Planned]) -> Vec<Vec<&Planned>> {
    let mut machines: BTreeMap<&str, usize> = BTreeMap::new();
    let mut number = |name| {
        let next = machines.len();
        *machines.entry(name).or_insert(next)
    };
    let ends = plan.iter().map(|one| {
        let (reader, server) = one.name.split_once(" -> ").unwrap_or_default();
        Ends {
            from: number(reader),
            to: number(server),
        }
    });
    let pairs: Vec<Ends> = ends.collect();
    let rounds = pack(machines.len(), &pairs).into_iter();
    rounds
        .map(|round| round.into_iter().map(|at| &plan[at]).collect())
        .collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    fn names(text: &str) -> Result<Vec<String>, String> {
        parse(text, false)
            .map(|plan| plan.into_iter().map(|p| p.name).collect())
            .map_err(|f| f.cause)
    }

    #[test]
    fn all_means_every_ordered_pair() {
        let machine = |n: usize| format!("[[machine]]\nname = \"m{n}\"\nurl = \"http://m{n}/f\"\n");
        let text = format!("pairs = \"all\"\n{}", (0..7).map(machine).collect::<String>());
        let plan = parse(&text, false).unwrap();
        assert_eq!(plan.len(), 42);
    }

    pub fn machines(count: usize, pairs: &str) -> Vec<Planned> {
        let machine = |n: usize| format!("[[machine]]\nname = \"m{n}\"\nurl = \"http://m{n}/f\"\n");
        let text = format!("pairs = {pairs}\n{}", (0..count).map(machine).collect::<String>());
        parse(&text, false).unwrap()
    }

    /// The rounds of `plan`: each pair is in one of them, and nobody is in two pairs of a round.
    fn checked_rounds(plan: &[Planned]) -> usize {
        let rounds = rounds(plan);
        assert_eq!(rounds.iter().map(Vec::len).sum::<usize>(), plan.len());
        for round in &rounds {
            let mut names: Vec<&str> = round.iter().flat_map(|one| one.name.split(" -> ")).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), 2 * round.len());
        }
        rounds.len()
    }

    #[test]
    fn rounds_are_as_few_as_a_tournament_needs() {
        for count in 2..=33 {
            let all = machines(count, "\"all\"");
            let fewest = count - 1 + count % 2;
            assert_eq!(
                checked_rounds(&all),
                2 * fewest,
                "{count} machines, both directions"
            );
            let one_way: Vec<Planned> = all
                .iter()
                .filter(|one| one.name.split_once(" -> ").is_some_and(|(a, b)| a < b))
                .cloned()
                .collect();
            assert_eq!(
                checked_rounds(&one_way),
                fewest,
                "{count} machines, one direction"
            );
        }
        let apart = machines(6, "[\"m0 -> m1\", \"m2 -> m3\", \"m4 -> m5\", \"m0 -> m1\"]");
        assert_eq!(checked_rounds(&apart), 2);
    }

    #[test]
    fn both_ways_are_two_pairs_of_which_none_is_twice() {
        let machine = |n: usize| format!("[[machine]]\nname = \"m{n}\"\nurl = \"http://m{n}/f\"\n");
        let machines: String = (0..3).map(machine).collect();
        let text = format!("pairs = [\"m0 -> m1\", \"m1 -> m0\", \"m0 -> m2\"]\n{machines}");
        let named: Vec<String> = parse(&text, true).unwrap().into_iter().map(|p| p.name).collect();
        assert_eq!(named, ["m0 -> m1", "m1 -> m0", "m0 -> m2", "m2 -> m0"]);
        let reads_only = "pairs = [\"a -> b\"]\n[[machine]]\nname = \"a\"\n[[machine]]\nname = \"b\"\nurl = \"http://b/f\"\n";
        assert!(
            parse(reads_only, true)
                .unwrap_err()
                .cause
                .contains("a serves nothing")
        );
    }

    #[test]
    fn a_program_that_no_command_can_name_is_refused() {
        let odd = Path::new(OsStr::from_bytes(b"/caf\xe9/wirespeed"));
        let refused = as_given(odd).unwrap_err();
        assert!(
            refused.cause.starts_with(r"$'/caf\xe9/wirespeed' is not UTF-8"),
            "{refused:?}"
        );
        assert_eq!(as_given(Path::new("/café/ws")).unwrap(), "/café/ws");
    }

    #[test]
    fn a_pair_is_as_slow_as_its_slower_link() {
        let text = "pairs = [\"a -> b\"]\n[[machine]]\nname = \"a\"\nnominal = \"1Gb/s\"\nrun = [\"ssh\", \"a\"]\n[[machine]]\nname = \"b\"\nurl = \"http://b/f\"\nnominal = \"100Mb/s\"\n";
        let plan = parse(text, false).unwrap();
        assert_eq!(plan[0].nominal.unwrap().get(), 12.5e6);
        assert_eq!(plan[0].reader, ["ssh", "a", "wirespeed"]);
    }

    #[test]
    fn nonsense_is_named() {
        let b = "[[machine]]\nname = \"b\"\n";
        for (text, cause) in [
            ("", "missing field `pairs`"),
            ("pairs = []", "no pair is named"),
            ("pairs = \"some\"", "neither"),
            ("pairs = [\"a\"]", "is not a pair"),
            ("pairs = [\"a -> \"]", "is not a pair"),
            ("pairs = [\"a -> b\"]", "no machine is called \"a\""),
            (&format!("pairs = [\"b -> b\"]\n{b}"), "serves nothing"),
            (&format!("pairs = \"all\"\n{b}colour = 1"), "unknown field"),
        ] {
            let found = names(text).unwrap_err();
            assert!(found.contains(cause), "{text:?}: {found}");
        }
    }
}
