//! The tests as steps that can run side by side: an executable each, and each end-to-end test by itself. What there is is
//! read from what cargo built; which of them take long is written down here, so that none of those begins last.

use super::step::Step;
use super::summary::Shards;
use crate::command;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package whose tests start programs, wait for them, and are a process each.
const END_TO_END: &str = "wirespeed-tests";
/// How the names of those begin that want every CPU: ranks that spin though others wait for their CPU, and tests that name CPUs.
const ALONE: [&str; 18] = [
    "conformance",
    "wirespeed",
    "cli",
    "ucx::ucp",
    "ucx::uct",
    "docs::commands::",
    "program::doctor::",
    "program::experiments::nonsense",
    "program::interference::",
    "program::networks::two_machines_measure",
    "program::server::every_host_transport",
    "program::transports::",
    "program::usage::",
    "program::workers::",
    "perftest::sides::",
    "perftest::ucx_roads::threads_of_an_end",
    "mpi::tests_run::every_other_test",
    "mpi::tests_run::persistent_requests",
];
/// How the names of those begin that mostly wait, for ends, silences and launchers: less than a third of their time is a CPU's.
const WAITING: [&str; 12] = [
    "byteio::crowd::",
    "byteio::results::the_pairs_of_2009",
    "byteio::waits::",
    "mpi::msgrate::what_makes_no_sense",
    "perftest::bad_input::",
    "perftest::ucx_roads::a_rank_that_is_killed",
    "perftest::ucx_roads::an_end_that_is_killed",
    "program::daemons::",
    "program::deaths::",
    "program::full_disk::",
    "program::networks::a_cut_cable",
    "slurm::",
];
/// How the names of those end that take longest, in this order; the rest follows as cargo built it.
const LONGEST: [&str; 8] = [
    "whoever_vanishes_from_a_session_is_a_failure_of_its_run",
    "an_end_that_is_stopped_is_given_up_on_every_road",
    "every_test_over_ucp",
    "every_test_in_every_layout_over_every_device",
    "streams_carry_every_size_in_pieces_or_not",
    "tables_of_every_kind_of_test_are_the_same",
    "csv_is_the_same",
    "cases_are_measured_without_and_with_load",
];
/// Time for one of them, in seconds.
const LIMIT_S: u64 = 600;

/// An executable of tests, as cargo tells of it.
struct Built {
    package: String,
    /// The target, where its code is not the package's own.
    target: Option<String>,
    program: PathBuf,
    /// Where cargo would run it.
    folder: PathBuf,
}

/// Every test of the workspace, longest first. Builds what is not built.
pub fn all(root: &Path) -> Result<Shards> {
    let mut build = Command::new(command::cargo());
    build.current_dir(root).args([
        "test",
        "--workspace",
        "--locked",
        "--no-run",
        "--quiet",
        "--message-format=json",
    ]);
    let messages = command::capture(&mut build)?;
    let built: Vec<Built> = messages.lines().filter_map(built).collect();
    if built.is_empty() {
        bail!("cargo built no tests");
    }
    let doctests = Step::cargo(
        "doctests",
        &["test", "--workspace", "--doc", "--locked", "--quiet"],
    );
    let mut shards = Shards::default();
    shards.beside.push(doctests.within_s(LIMIT_S));
    for one in &built {
        let steps = match one.package == END_TO_END {
            true => tests(one)?.iter().map(|test| one.step(Some(test))).collect(),
            false => vec![one.step(None)],
        };
        for step in steps {
            let is_one_of = |names: &[&str]| names.iter().any(|name| step.name().starts_with(name));
            match (is_one_of(&ALONE), is_one_of(&WAITING)) {
                (true, _) => shards.alone.push(step),
                (_, true) => shards.waiting.push(step),
                _ => shards.beside.push(step),
            }
        }
    }
    let fits = |name: &str, fit: fn(&str, &str) -> bool| {
        let all = [&shards.alone, &shards.waiting, &shards.beside];
        let mut names = all.into_iter().flatten().map(Step::name);
        names.any(|shard| fit(shard, name))
    };
    let stale = ALONE
        .iter()
        .chain(&WAITING)
        .filter(|name| !fits(name, |shard, name| shard.starts_with(name)));
    let stale = stale.chain(
        LONGEST
            .iter()
            .filter(|name| !fits(name, |shard, name| shard.ends_with(name))),
    );
    if let Some(name) = stale.copied().next() {
        bail!("no test is called {name}: take it out of the lists in xtask/src/ladder/shards.rs");
    }
    let place = |step: &Step| LONGEST.iter().position(|long| step.name().ends_with(long));
    shards
        .beside
        .sort_by_key(|step| place(step).unwrap_or(LONGEST.len()));
    Ok(shards)
}

/// The executable that a line of cargo's messages tells of, where it is one with tests.
fn built(line: &str) -> Option<Built> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_test = message["profile"]["test"] == true;
    let program = message["executable"].as_str().filter(|_| is_test)?;
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    // `path+file:///FOLDER#NAME@VERSION`, without the name where the folder has it.
    let (_, id) = message["package_id"].as_str()?.split_once('#')?;
    let package = id.split_once('@').map(|(name, _)| name);
    let target = message["target"]["name"].as_str()?;
    let is_own = message["target"]["kind"][0] == "test";
    Some(Built {
        package: package.or(folder.file_name()?.to_str())?.to_owned(),
        target: is_own.then(|| target.to_owned()),
        program: program.into(),
        folder: folder.to_owned(),
    })
}

impl Built {
    /// The step that runs one test, or all that there are.
    fn step(&self, test: Option<&str>) -> Step {
        let program = self.program.display().to_string();
        let mut words = vec![program.as_str(), "--quiet"];
        let short = self.package.trim_start_matches("wirespeed-");
        let (mut name, mut again) = (short.to_owned(), format!("cargo test -p {}", self.package));
        if let Some(target) = &self.target {
            name = match test {
                Some(_) => target.clone(),
                None => format!("{short}::{target}"),
            };
            again = format!("{again} --test {target}");
        }
        if let Some(test) = test {
            words.extend(["--exact", test]);
            name = format!("{name}::{test}");
            again = format!("{again} {test}");
        }
        Step::new(&name, &words)
            .from(&self.folder)
            .with("CARGO_MANIFEST_DIR", &self.folder.display().to_string())
            .with("RUST_BACKTRACE", "0")
            .repeated_by(&again)
            .within_s(LIMIT_S)
    }
}

/// The names of all tests of an executable that are not left to the longer ladder.
fn tests(one: &Built) -> Result<Vec<String>> {
    let listed = |more: &[&str]| {
        let mut list = Command::new(&one.program);
        list.current_dir(&one.folder)
            .args(["--list", "--format=terse"])
            .args(more);
        let listing = command::capture(&mut list)
            .with_context(|| format!("cannot list the tests of {}", one.program.display()))?;
        let names = listing.lines().filter_map(|line| line.strip_suffix(": test"));
        anyhow::Ok(names.map(str::to_owned).collect::<Vec<_>>())
    };
    let left_out = listed(&["--ignored"])?;
    let mut all = listed(&[])?;
    all.retain(|test| !left_out.contains(test));
    Ok(all)
}
