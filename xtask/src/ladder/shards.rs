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
/// How the names of those begin that want every CPU: they name CPUs, compare what is seen with what was recorded on some, or
/// hold ports to their contract while both ends really run at once.
const ALONE: [&str; 13] = [
    "cli",
    "conformance::builtin",
    "wirespeed::unit",
    "docs::recordings::",
    "program::doctor::",
    "program::interference::",
    "program::usage::",
    "program::workers::",
    "perftest::sides::both_ends_have",
    "perftest::sides::every_transport_of_ours",
    "perftest::ucx_roads::threads_of_an_end",
    "mpi::tests_run::every_other_test",
    "mpi::tests_run::persistent_requests",
];
/// How the names of those begin that mostly wait, for ends, silences and launchers: less than a third of their time is a CPU's.
const WAITING: [&str; 38] = [
    "byteio::crowd::",
    "byteio::failures::a_full_disk_of",
    "byteio::failures::a_killed_service",
    "byteio::lies",
    "byteio::plans::a_plan_sweeps",
    "byteio::registry",
    "byteio::results::the_pairs_of_2009",
    "byteio::spellings",
    "byteio::stalls",
    "byteio::transfers",
    "byteio::waits::",
    "byteio::wire::the_default_shape",
    "control::groups",
    "docs::commands::every_documented_command_works_part_3",
    "hosts::a_host_that_falls_silent",
    "interop::our_client_talks_to_streams",
    "mpi::deaths::a_killed_rank",
    "mpi::deaths::a_library_that_hangs",
    "mpi::msgrate::what_makes_no_sense",
    "mpi::threads::every_thread_level",
    "perftest::bad_input::",
    "perftest::ucx_roads::a_rank_that_is_killed",
    "perftest::ucx_roads::an_end_that_is_killed",
    "perftest::ucx_roads::an_end_that_is_stopped",
    "program::daemons::",
    "program::deaths::",
    "program::full_disk::",
    "program::launchers::a_host_that_gets_no_computation",
    "program::networks::a_cut_cable",
    "program::pages::",
    "program::session_figures::an_idle",
    "program::session_figures::every_session_of",
    "program::sessions::a_computation_that_dies",
    "program::sessions::throttling",
    "program::sessions::under_the_original_name",
    "program::spellings::",
    "slurm::",
    "wirespeed::bulk",
];
/// How the names of those end that take longest, in this order; the rest follows as cargo built it.
const LONGEST: [&str; 22] = [
    "a_host_that_is_slow_on_one_rail_is_named_there_alone",
    "the_host_behind_a_slow_link_of_its_own_is_named",
    "every_verb_is_readable_wherever_it_is_read",
    "nothing_one_and_only_failures_are_a_sentence_each",
    "every_documented_command_works_part_2",
    "ucx::uct",
    "every_documented_command_works_part_4",
    "capi::c",
    "report::report",
    "every_documented_command_works_part_1",
    "ucx::ucp",
    "wirespeed::posted",
    "a_batch_with_and_without_threads_runs_in_one_job",
    "cases_are_measured_without_and_with_load",
    "tables_of_every_kind_of_test_are_the_same",
    "wirespeed::matrix",
    "csv_is_the_same",
    "every_test_in_every_layout_over_every_device",
    "every_test_over_ucp",
    "the_server_and_a_loopback_show_the_same_box",
    "a_killed_rank_ends_the_job_and_leaves_a_partial_result",
    "data_and_definitions_are_right_over_every_library",
];
/// Time for one of them, in seconds: more than a test waits for anything, so that it says itself what it waited for.
const LIMIT_S: u64 = 660;

/// An executable of tests, as cargo tells of it.
struct Built {
    package: String,
    /// The target, where its code is not the package's own.
    target: Option<String>,
    program: PathBuf,
    /// Where cargo would run it.
    folder: PathBuf,
}

/// Names the program that end-to-end tests start in place of the one that cargo built with them.
const UNDER_TEST: &str = "WIRESPEED_UNDER_TEST";

/// Every test of the workspace.
pub struct Tests {
    /// Of the crates.
    pub units: Shards,
    /// Of the program.
    pub end_to_end: Shards,
}

/// Every test of the workspace, longest first; those of the program start `program` where there is one. Builds the tests that
/// are not built.
pub fn all(root: &Path, program: Option<&Path>) -> Result<Tests> {
    let built = built_tests(root)?;
    let doctests = Step::cargo(
        "doctests",
        &["test", "--workspace", "--doc", "--locked", "--quiet"],
    );
    let (mut units, mut end_to_end) = (vec![doctests.within_s(LIMIT_S)], Vec::new());
    for one in &built {
        if one.package != END_TO_END {
            units.push(one.step(None));
            continue;
        }
        for test in tests(one)? {
            let step = one.step(Some(&test));
            end_to_end.push(match program {
                Some(program) => step.with_shown(UNDER_TEST, &program.display().to_string()),
                None => step,
            });
        }
    }
    if let Some(name) = stale(units.iter().chain(&end_to_end).map(Step::name)) {
        bail!("no test is called {name}: take it out of the lists in xtask/src/ladder/shards.rs");
    }
    Ok(Tests {
        units: grouped(units),
        end_to_end: grouped(end_to_end),
    })
}

/// What cargo built with tests in it.
fn built_tests(root: &Path) -> Result<Vec<Built>> {
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
    Ok(built)
}

/// The steps by how they run, those that take longest first.
fn grouped(steps: Vec<Step>) -> Shards {
    let mut shards = Shards::default();
    for step in steps {
        let is_one_of = |names: &[&str]| names.iter().any(|name| step.name().starts_with(name));
        match (is_one_of(&ALONE), is_one_of(&WAITING)) {
            (true, _) => shards.alone.push(step),
            (_, true) => shards.waiting.push(step),
            _ => shards.beside.push(step),
        }
    }
    let place = |step: &Step| LONGEST.iter().position(|long| step.name().ends_with(long));
    shards
        .beside
        .sort_by_key(|step| place(step).unwrap_or(LONGEST.len()));
    shards
}

/// A name of the lists above that no test has.
fn stale<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'static str> {
    let names: Vec<&str> = names.collect();
    let begins = |name: &&&str| !names.iter().any(|test| test.starts_with(**name));
    let ends = |name: &&&str| !names.iter().any(|test| test.ends_with(**name));
    let mut stale = ALONE.iter().chain(&WAITING).filter(begins);
    stale.next().or(LONGEST.iter().find(ends)).copied()
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
        let again = format!("cargo test -p {}", self.package);
        let (mut name, mut again) = (format!("{short}::unit"), again);
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
