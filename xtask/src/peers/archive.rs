//! The archive of what a set has measured, under docs/runs/: written anew from the state after each round, so that whoever is
//! cut off leaves what there is. It must never touch another archive.

use super::derived;
use super::groups::{Group, Set};
use super::state;
use super::state::Store;
use super::table::{Better, Comparison};
use super::units::{TOO_FEW, interval, spread_ratio, with_unit};
use crate::runs;
use anyhow::{Context as _, Result};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use wirespeed_report::stats::{LEVEL, summarize};
use wirespeed_schema::units::significant;

const RUNS: &str = "docs/runs";
const RAW: &str = "raw.txt.xz";

/// Make the archive's folder if the state has none, and name it there.
pub fn folder(root: &Path, set: &Set, state: &mut state::State) -> Result<PathBuf> {
    let known = state.archive.as_ref().map(|archive| root.join(archive));
    if let Some(known) = known.filter(|known| known.is_dir()) {
        return Ok(known);
    }
    let made = runs::fresh_folder(&root.join(RUNS), &format!("{}-{}", state.begun.0, set.name))?;
    let name = made.file_name().unwrap_or_default().to_string_lossy();
    state.archive = Some(format!("{RUNS}/{name}"));
    Ok(made)
}

/// Write the summary, every pair, and the raw output, compressed.
pub fn write(set: &Set, store: &Store, folder: &Path) -> Result<String> {
    let summary = summary(set, &store.state);
    put(&folder.join("README.md"), &summary)?;
    put(&folder.join("pairs.csv"), &pairs(set, &store.state))?;
    runs::pack(&store.raw(), &folder.join(RAW))?;
    Ok(summary)
}

/// Whoever is cut off here leaves the file before.
fn put(path: &Path, text: &str) -> Result<()> {
    let next = path.with_extension("new");
    let written = fs::write(&next, text).and_then(|()| fs::rename(&next, path));
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// The groups that have pairs.
fn measured(set: &Set, state: &state::State) -> Vec<Group> {
    let mut groups = (set.groups)();
    groups.retain(|group| group.rows.iter().any(|row| state.rows.contains_key(row.name)));
    groups
}

fn pairs(set: &Set, state: &state::State) -> String {
    let mut text = "pair,comparison,unit,ours,theirs,ratio\n".to_owned();
    for row in measured(set, state).iter().flat_map(|group| &group.rows) {
        let kept = state.rows.get(row.name).map_or(&[][..], |kept| &kept.pairs);
        for (place, (ours, theirs)) in kept.iter().enumerate() {
            let (number, name, unit, ratio) = (place + 1, row.name, row.unit, ours / theirs);
            // Writing to a string never fails.
            let _ = writeln!(text, "{number},\"{name}\",{unit},{ours},{theirs},{ratio}");
        }
    }
    text
}

fn summary(set: &Set, state: &state::State) -> String {
    let (day, load) = &state.begun;
    let mut text = format!(
        "# wirespeed beside its peers: {}, {day}\n\nInterleaved pairs, those of a group in turn; load average at the start \
         {load}.\n\n",
        set.name
    );
    let known = state.identity.iter().filter(|(_, value)| !value.is_empty());
    for (name, value) in known {
        let _ = writeln!(text, "- {name}: {value}");
    }
    text.push_str(
        "\nMade by `cargo xtask peers`; every command and output is in raw.txt.xz, every pair in pairs.csv.\n",
    );
    for group in measured(set, state) {
        let _ = write!(
            text,
            "\n## {}\n\n| comparison | pairs | ours, median | theirs, median | ratio, median | interval | spread, ours / theirs \
             | aim | |\n|---|---|---|---|---|---|---|---|---|\n",
            group.name
        );
        for comparison in &group.rows {
            match state.rows.get(comparison.name) {
                Some(kept) => text.push_str(&row(comparison, &kept.pairs)),
                None => {
                    let _ = writeln!(text, "| {} | 0 | | | | | | | not measured |", comparison.name);
                }
            }
        }
    }
    text.push_str(&derived::table(set.derived, |name| {
        state.rows.get(name).map(|kept| &kept.pairs)
    }));
    for (place, note) in state.notes.iter().enumerate() {
        let _ = write!(text, "{}- {note}", if place == 0 { "\n" } else { "" });
        text.push('\n');
    }
    text
}

fn row(comparison: &Comparison, pairs: &[(f64, f64)]) -> String {
    let of = |pick: fn(&(f64, f64)) -> f64| pairs.iter().map(pick).collect::<Vec<_>>();
    let median = |values: &[f64]| summarize(values, LEVEL).map_or(f64::NAN, |summary| summary.median);
    let (ours, theirs, ratios) = (of(|p| p.0), of(|p| p.1), of(|p| p.0 / p.1));
    let ratio = median(&ratios);
    let interval =
        summarize(&ratios, LEVEL).map_or_else(|| TOO_FEW.to_owned(), |summary| interval(&summary, ""));
    // How far apart launches are: p90 - p10 of the median.
    let spread = |values: &[f64]| {
        let ratio = spread_ratio(values);
        ratio.map_or(TOO_FEW.to_owned(), |ratio| format!("{:.1} %", ratio * 100.0))
    };
    let (bound, met) = match comparison.better {
        Better::Lower => ("at most", ratio <= comparison.aim),
        Better::Higher => ("at least", ratio >= comparison.aim),
    };
    format!(
        "| {} | {} | {} | {} | {ratio:.3} | {interval} | {} / {} | {bound} {} | {} |\n",
        comparison.name,
        pairs.len(),
        with_unit(median(&ours), comparison.unit),
        with_unit(median(&theirs), comparison.unit),
        spread(&ours),
        spread(&theirs),
        significant(comparison.aim, 3),
        if met { "met" } else { "missed" },
    )
}
