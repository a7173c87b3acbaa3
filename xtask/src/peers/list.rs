//! `peers list`: groups, their rows, what is missing here and why, and how long they are expected to take. It installs and
//! measures nothing.

use super::groups::{SETS, Set};
use super::run::{expected, needs};
use super::{state, tools};
use std::collections::BTreeMap;
use std::path::Path;

/// The sets of this word, or all of them.
pub fn print(root: &Path, word: Option<&str>) {
    // Each need is looked for once.
    let mut reasons = BTreeMap::new();
    let sets = SETS.iter().filter(|set| word.is_none_or(|word| set.word == word));
    for set in sets {
        let lines = set_lines(root, set, &mut |need| {
            let reason = reasons.entry(need).or_insert_with(|| tools::missing(root, need));
            reason.clone()
        });
        println!("{}\n", lines.join("\n"));
    }
}

fn set_lines(root: &Path, set: &Set, missing: &mut dyn FnMut(&'static str) -> Option<String>) -> Vec<String> {
    // One that cannot be read is told by --resume.
    let kept = state::read(&state::folder(root, set.name), set.name)
        .ok()
        .flatten();
    let typed = format!("peers {}", set.word);
    let mut lines = vec![format!(
        "{}: {}; {} pairs by default",
        typed.trim_end(),
        set.about,
        set.pairs
    )];
    for group in (set.groups)() {
        let round_s: f64 = group
            .rows
            .iter()
            .map(|row| expected(&group, row, kept.as_ref()).as_secs_f64())
            .sum();
        let minutes = round_s * set.pairs as f64 / 60.0;
        let rows = group.rows.len();
        lines.push(format!(
            "  {}: {rows} rows, a round {round_s:.0} s, {minutes:.0} min",
            group.name
        ));
        for row in &group.rows {
            let reason = needs(row).into_iter().find_map(&mut *missing);
            let reason = reason.map_or(String::new(), |reason| format!(" [missing: {reason}]"));
            let kept = kept.as_ref().and_then(|kept| kept.rows.get(row.name));
            let pairs = kept.map_or(String::new(), |kept| format!(" ({} pairs)", kept.pairs.len()));
            lines.push(format!("    {}{pairs}{reason}", row.name));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_listed_with_what_it_lacks() {
        let root = tempfile::tempdir().unwrap();
        for set in SETS {
            let mut absent = |need: &'static str| (need == "iperf3").then(|| "no iperf3".to_owned());
            let lines = set_lines(root.path(), set, &mut absent);
            for row in (set.groups)().iter().flat_map(|group| &group.rows) {
                let line = lines.iter().find(|line| line.trim_start().starts_with(row.name));
                let says = line.unwrap().contains("[missing: no iperf3]");
                assert_eq!(says, needs(row).contains(&"iperf3"), "{}", row.name);
            }
        }
    }
}
