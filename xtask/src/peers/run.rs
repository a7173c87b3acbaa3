//! The one runner of all sets: group by group, round by round, each round kept before the next begins. Which rows are next is
//! the schedule's to say, where figures come from that of the sides.

use super::groups::{Group, Set};
use super::launch::Context;
use super::report::Report;
use super::schedule::{Bounds, FAILURES_MAX, Next, Progress, next};
use super::slurm::Slurm;
use super::state::{self, State, Store};
use super::table::Comparison;
use super::{archive, before, facts, mpi, tools};
use anyhow::{Result, bail};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What the command line asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Pairs a row; the set says otherwise.
    pub pairs: Option<usize>,
    /// Text that the names of rows contain.
    pub rows: String,
    /// Names of groups; none means all.
    pub groups: Vec<String>,
    /// Time for each group.
    pub budget: Option<Duration>,
    /// Go on from what is kept.
    pub is_resumed: bool,
}

/// A run of a set.
struct Run<'a> {
    root: &'a Path,
    set: &'a Set,
    context: Context,
    report: Report,
    store: Store,
    /// What cannot be used here, with the reason.
    missing: BTreeMap<&'static str, String>,
}

/// Measure what is wanted of a set, and archive it under docs/runs/.
pub fn run(root: &Path, set: &Set, wanted: &Wanted) -> Result<()> {
    let groups = chosen(set, wanted)?;
    let binary = root.join("target/release/wirespeed");
    if !binary.is_file() {
        bail!("no target/release/wirespeed; run `make build` first");
    }
    let cores = tools::two_cores()?;
    let needs: BTreeSet<_> = groups
        .iter()
        .flat_map(|group| &group.rows)
        .flat_map(needs)
        .collect();
    let identity = || facts::identity(root, &binary, cores, &needs);
    let kept = state::folder(root, set.name);
    // Refused before anything is installed.
    let resumed = match wanted.is_resumed {
        true => Store::resume(&kept, set.name, &identity())?,
        false => None,
    };
    let mut missing = tools::prepare(root, &needs)?;
    let store = match resumed {
        Some(store) => store,
        None => begin_anew(&kept, set, identity())?,
    };
    let built = root.join(mpi::BUILT);
    let slurm = (needs.contains("srun") && !missing.contains_key("srun")).then(|| Slurm::start(root, &built));
    let slurm = slurm.and_then(|started| {
        let failed = |error| missing.insert("srun", format!("{error:#}"));
        started.map_err(failed).ok()
    });
    let context = Context {
        binary,
        before: root.join(before::BEFORE),
        built,
        cores,
        launched: RefCell::default(),
        slurm,
    };
    let mut run = Run {
        root,
        set,
        context,
        report: Report::new(root),
        store,
        missing,
    };
    let bounds = Bounds {
        pairs: wanted.pairs.unwrap_or(set.pairs).max(1),
        budget: wanted.budget,
    };
    for group in &groups {
        run.group(group, &bounds)?;
    }
    run.archived()
}

/// A state without figures; says what is dropped for it.
fn begin_anew(kept: &Path, set: &Set, identity: state::Identity) -> Result<Store> {
    // What cannot be read is dropped like all else.
    let before = state::read(kept, set.name).ok().flatten();
    if let Some(archive) = before.and_then(|before| before.archive) {
        println!("measuring anew: --resume can no longer go on from what is in {archive}");
    }
    Store::begin(kept, set.name, (facts::today(), facts::load()), identity)
}

/// The groups and rows that are wanted; an error names those that there are.
pub fn chosen(set: &Set, wanted: &Wanted) -> Result<Vec<Group>> {
    let mut groups = (set.groups)();
    if let Some(unknown) = (wanted.groups.iter()).find(|name| groups.iter().all(|group| group.name != *name))
    {
        let names: Vec<&str> = groups.iter().map(|group| group.name).collect();
        bail!("no group {unknown:?}; there are: {}", names.join(", "));
    }
    groups.retain(|group| wanted.groups.is_empty() || wanted.groups.iter().any(|name| group.name == name));
    let names: Vec<&str> = groups.iter().flat_map(|g| &g.rows).map(|row| row.name).collect();
    for group in &mut groups {
        group.rows.retain(|row| row.name.contains(&wanted.rows));
    }
    groups.retain(|group| !group.rows.is_empty());
    if groups.is_empty() {
        bail!(
            "no row contains {:?}; there are:\n{}",
            wanted.rows,
            names.join("\n")
        );
    }
    Ok(groups)
}

/// What both sides of a row need.
pub fn needs(row: &Comparison) -> Vec<&'static str> {
    [row.ours.needs(), row.theirs.needs()].concat()
}

/// How long a pair of this row takes: as it took, or as its group says.
pub fn expected(group: &Group, row: &Comparison, state: Option<&State>) -> Duration {
    let kept = state.and_then(|state| state.rows.get(row.name));
    let took_s = kept.map_or(group.pair_s, |kept| kept.took_s / kept.pairs.len().max(1) as f64);
    Duration::try_from_secs_f64(took_s).unwrap_or_default()
}

impl Run<'_> {
    /// Rounds of a group until its bounds.
    fn group(&mut self, group: &Group, bounds: &Bounds) -> Result<()> {
        let rows: Vec<&Comparison> = group.rows.iter().filter(|row| self.is_able(row)).collect();
        let mut failures = vec![0; rows.len()];
        let begin = Instant::now();
        loop {
            let state = &self.store.state;
            let progress = rows.iter().zip(&failures).map(|(row, failures)| Progress {
                pairs: state.rows.get(row.name).map_or(0, |kept| kept.pairs.len()),
                expected: expected(group, row, Some(state)),
                failures: *failures,
            });
            match next(&progress.collect::<Vec<_>>(), bounds, begin.elapsed()) {
                Next::Round(members) => self.round(group, &rows, &members, &mut failures)?,
                Next::Finished => return Ok(()),
                Next::OutOfTime(needs) => {
                    let needs_s = needs.as_secs_f64().ceil();
                    println!(
                        "{}: the budget is used up: the next round takes about {needs_s:.0} s; --resume goes on",
                        group.name
                    );
                    return Ok(());
                }
            }
        }
    }

    /// Whether what a row needs is here; remarks the reason where it is not.
    fn is_able(&mut self, row: &Comparison) -> bool {
        let reason = needs(row).into_iter().find_map(|need| self.missing.get(need));
        if let Some(reason) = reason {
            self.report.note(&format!("skipped: {}: {reason}", row.name));
        }
        reason.is_none()
    }

    /// One pair of each member, kept when all are measured.
    fn round(
        &mut self,
        group: &Group,
        rows: &[&Comparison],
        members: &[usize],
        failures: &mut [usize],
    ) -> Result<()> {
        self.context.launched.borrow_mut().clear();
        let mut measured = Vec::new();
        for &member in members {
            let row = rows[member];
            let number = self
                .store
                .state
                .rows
                .get(row.name)
                .map_or(0, |kept| kept.pairs.len());
            let begin = Instant::now();
            match pair(row, number, &self.context, &mut self.report) {
                Ok(figures) => {
                    self.report.pair(number + 1, row, figures);
                    measured.push((row.name, figures, begin.elapsed()));
                }
                Err(error) => {
                    failures[member] += 1;
                    let out = match failures[member] {
                        FAILURES_MAX => "; left out until the next command",
                        _ => "",
                    };
                    let name = row.name;
                    self.report
                        .note(&format!("failed: {name} (pair {}): {error:#}{out}", number + 1));
                }
            }
        }
        for (name, figures, took) in measured {
            let row = self.store.state.rows.entry(name.to_owned()).or_default();
            row.pairs.push(figures);
            row.took_s += took.as_secs_f64();
        }
        println!("{}: round kept", group.name);
        self.keep().map(drop)
    }

    /// Keep what was said and measured, and write the archive.
    fn keep(&mut self) -> Result<Option<(String, PathBuf)>> {
        let (raw, notes) = self.report.taken();
        let state = &mut self.store.state;
        let new = |note: &String| !state.notes.contains(note);
        let notes: Vec<String> = notes.into_iter().filter(new).collect();
        state.notes.extend(notes);
        let folder = match state.rows.is_empty() {
            true => None,
            false => Some(archive::folder(self.root, self.set, state)?),
        };
        self.store.keep(&raw)?;
        let written = |folder: PathBuf| {
            let summary = archive::write(self.set, &self.store, &folder)?;
            Ok((summary, folder))
        };
        folder.map(written).transpose()
    }

    fn archived(mut self) -> Result<()> {
        match self.keep()? {
            Some((summary, folder)) => println!("\n{summary}\nwritten to {}", folder.display()),
            None => bail!(
                "no round was measured: give a longer --budget, or see what is missing by `cargo xtask peers list`"
            ),
        }
        Ok(())
    }
}

/// Both sides of a row, one after the other; who goes first alternates.
fn pair(row: &Comparison, number: usize, context: &Context, report: &mut Report) -> Result<(f64, f64)> {
    let (ours, theirs) = if number.is_multiple_of(2) {
        let theirs = row.theirs.run(context, report)?;
        (row.ours.run(context, report)?, theirs)
    } else {
        let ours = row.ours.run(context, report)?;
        (ours, row.theirs.run(context, report)?)
    };
    if !(ours.is_finite() && theirs.is_finite()) {
        bail!("{ours} / {theirs} is no pair of figures");
    }
    Ok((ours, theirs))
}

#[cfg(test)]
mod tests {
    use super::super::groups::SETS;
    use super::super::side::Side;
    use super::super::table::at_most;
    use super::*;

    const NONE: &str = "/nowhere/wirespeed";

    fn rows() -> Vec<Group> {
        // What starts a program that is not there fails.
        let broken = Side::Ours {
            arguments: "calibrate",
            tag: "a_ns",
        };
        vec![Group {
            name: "some",
            pair_s: 0.5,
            rows: vec![
                at_most("first", "ns", Side::Number(2.0), 4.0),
                at_most("broken", "ns", broken, 1.0),
                at_most("second", "ns", Side::Number(3.0), 4.0),
            ],
        }]
    }

    static SET: Set = Set {
        groups: rows,
        ..SETS[0]
    };

    fn run_in(root: &Path, store: Store) -> Run<'_> {
        Run {
            root,
            set: &SET,
            context: Context {
                binary: NONE.into(),
                before: NONE.into(),
                built: root.to_owned(),
                cores: [0, 1],
                slurm: None,
                launched: RefCell::default(),
            },
            report: Report::new(root),
            store,
            missing: BTreeMap::new(),
        }
    }

    fn bounds(pairs: usize, budget: Option<Duration>) -> Bounds {
        Bounds { pairs, budget }
    }

    fn begin(root: &Path) -> Store {
        let begun = ("2026-01-02".to_owned(), "0.1".to_owned());
        Store::begin(&state::folder(root, SET.name), SET.name, begun, BTreeMap::new()).unwrap()
    }

    fn resume(root: &Path) -> Store {
        let folder = state::folder(root, SET.name);
        Store::resume(&folder, SET.name, &BTreeMap::new())
            .unwrap()
            .unwrap()
    }

    #[test]
    fn a_later_command_goes_on_and_a_row_that_fails_costs_only_itself() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let group = &rows()[0];
        let mut first = run_in(root, begin(root));
        first.group(group, &bounds(2, None)).unwrap();
        // Whatever ends it here takes nothing away.
        drop(first);
        let mut second = run_in(root, resume(root));
        second.group(group, &bounds(5, None)).unwrap();
        let archive = root.join(second.store.state.archive.clone().unwrap());
        second.archived().unwrap();
        let read = |name: &str| std::fs::read_to_string(archive.join(name)).unwrap();
        let summary = read("README.md");
        assert!(
            summary.contains("| first | 5 | 2 ns | 4 ns | 0.500 |"),
            "{summary}"
        );
        assert!(summary.contains("| broken | 0 |") && summary.contains("not measured"));
        assert!(summary.contains("- failed: broken (pair 1): "), "{summary}");
        assert!(summary.contains("; left out until the next command"), "{summary}");
        let pairs = read("pairs.csv");
        assert_eq!(pairs.lines().count(), 1 + 5 + 5);
        assert!(pairs.contains("\n5,\"second\",ns,3,4,0.75"), "{pairs}");
        assert!(archive.join("raw.txt.xz").is_file());
        // One archive of both commands, and none beside it.
        assert_eq!(std::fs::read_dir(root.join("docs/runs")).unwrap().count(), 1);
    }

    #[test]
    fn without_time_nothing_is_measured_and_what_there_is_stays() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let none = bounds(9, Some(Duration::ZERO));
        let mut empty = run_in(root, begin(root));
        empty.group(&rows()[0], &none).unwrap();
        assert!(empty.archived().is_err());
        assert!(!root.join("docs/runs").exists());
        let mut some = run_in(root, begin(root));
        some.group(&rows()[0], &bounds(1, None)).unwrap();
        some.group(&rows()[0], &none).unwrap();
        assert_eq!(some.store.state.rows["second"].pairs, [(3.0, 4.0)]);
    }

    #[test]
    fn what_is_missing_here_is_named_and_not_tried() {
        let root = tempfile::tempdir().unwrap();
        let row = Comparison {
            theirs: Side::Iperf3 {
                size_bytes: 1,
                congestion: "cubic",
                seconds: 1,
            },
            ..rows()[0].rows[0].clone()
        };
        let mut run = run_in(root.path(), begin(root.path()));
        run.missing.insert("iperf3", "no iperf3".to_owned());
        assert!(!run.is_able(&row) && run.is_able(&rows()[0].rows[0]));
        assert_eq!(run.report.taken().1, ["skipped: first: no iperf3"]);
    }
}
