//! Hosts and pairs of a mesh by name, and files of pairs. It must never decide what is measured between them.

use super::roster::Roster;
use crate::errors::Failure;
use crate::{file, input};
use std::path::Path;
use wirespeed_mesh::Pair;
use wirespeed_schema::units::counted;

/// A longer file names no pairs.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The number of the host of this name.
pub fn find(roster: &Roster, name: &str) -> Result<usize, Failure> {
    roster.find(name).ok_or_else(|| {
        let remedy = match roster.nearest(name) {
            Some(near) => format!("did you mean {near:?}?"),
            None => "name a host as `wirespeed mesh --dry-run` shows it".to_owned(),
        };
        Failure::usage(format!("there is no host {name:?}"), remedy)
    })
}

/// The pairs of a file: two names of hosts a line.
pub fn pairs_of(path: &Path, roster: &Roster) -> Result<Vec<Pair>, Failure> {
    let text = input::text(path, "file of pairs", FILE_BYTES_MAX)?;
    let remedy = "write FROM TO, two names of hosts, a line each";
    let found = parse_pairs(&text, roster).map_err(|(line, why)| {
        Failure::usage(format!("{}, line {line}: {why}", file::shown(path)), remedy)
    })?;
    match found.is_empty() {
        true => Err(Failure::usage(
            format!("{} names no pair", file::shown(path)),
            remedy,
        )),
        false => Ok(found),
    }
}

fn parse_pairs(text: &str, roster: &Roster) -> Result<Vec<Pair>, (usize, String)> {
    let mut pairs = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().filter(|word| *word != "->").collect();
        let host = |name: &str| find(roster, name).map_err(|unknown| (number, unknown.cause));
        match words[..] {
            [] => {}
            [from, to] => pairs.push(Pair {
                from: host(from)?,
                to: host(to)?,
            }),
            _ => return Err((number, counted(words.len() as u64, "word"))),
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_a_file_are_found_by_name() {
        let roster = Roster::named(&["node1", "node2", "node3"]);
        let found = parse_pairs("# two\nnode1 node2\n\nnode3 -> node1 # back\n", &roster).unwrap();
        assert_eq!(found, [Pair { from: 0, to: 1 }, Pair { from: 2, to: 0 }]);
        for (text, line, word) in [
            ("node1 node2\nnode1 node4", 2, "node4"),
            ("node1", 1, "1 word"),
            ("node1 node2 node3", 1, "3 words"),
        ] {
            let (at, why) = parse_pairs(text, &roster).unwrap_err();
            assert!(at == line && why.contains(word), "{text}: {at} {why}");
        }
    }
}
