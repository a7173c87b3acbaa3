//! `wirespeed perftest`: the front end of ucx_perftest. Its command line and batch files become a plan, the plan's cases
//! run as those of every verb do, and the results are written in the original's form.
//!
//! There is no loop, clock or statistic here, and nothing that a test means is decided outside `case` and `ucx`.

mod batch;
mod case;
mod live;
mod numbers;
mod options;
mod server;
#[cfg(test)]
mod tests;
mod tests_asked;
mod ucx;
mod unplanned;

use crate::args::{Cli, ColorChoice, Format, PerftestArgs};
use crate::cmd::front::Front;
use crate::cmd::{dry_run, ended};
use crate::document::Draft;
use crate::errors::{Ended, Failure, exit};
use crate::experiment::{Found, How, Ranks};
use crate::group::{Family, Groups, Reach};
use crate::output::{self, Output};
use crate::request::add_port;
use crate::stderr;
use case::{Common, Place};
use clap::{CommandFactory as _, FromArgMatches as _};
use live::{Classic, LiveTest};
use std::ffi::OsString;
use std::time::Duration;
use tests_asked::TestsAsked;
#[cfg(feature = "mpi")]
pub use tests_asked::threads_most;
use wirespeed::Registry;
use wirespeed_control::Identity;
use wirespeed_report::perftest::{Form, PerftestLine, PerftestSection, Progress};
use wirespeed_schema::Run;
use wirespeed_schema::plan::host_fault;
use wirespeed_schema::run::{CaseResult, CaseStatus, Status};

/// Most tests of one run.
const TESTS_MAX: usize = wirespeed_schema::plan::CASES_MAX;

/// A server that was started at the same time gets this long to listen.
const PATIENCE: Duration = Duration::from_secs(3);

/// What a loopback's figures are of.
const LOOPBACK: &str = "note: with -l two threads exchange messages between their CPUs;\n  ucx_perftest's -l is one thread that talks to itself";

fn too_many() -> Failure {
    Failure::usage(
        format!("there are more than {TESTS_MAX} tests"),
        "use fewer or shorter batch files and ranges",
    )
}

/// Be the server, or run what the arguments ask for.
pub fn perftest(registry: &Registry, arguments: &PerftestArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let has_tests = arguments.test.test.is_some() || !arguments.batch.is_empty();
    let loopback = arguments.loopback_only || arguments.test.loopback && has_tests;
    // `-o FILE` as in other verbs: the file is the word where the server stands. A host may be called `name.md`.
    if let Some(word) = arguments.server.as_ref().filter(|_| arguments.test.one_sided)
        && crate::output::has_form(word.as_ref())
        && !word.ends_with(".md")
    {
        return Err(Failure::usage(
            format!("{word:?} is no server"),
            format!(
                "in perftest -o is the original's: write --output {}",
                crate::file::shown(word.as_ref())
            ),
        ));
    }
    if arguments.launched == Some(1) && !crate::job::is_in_job() {
        let failure = Failure::usage(
            "-P 1: no launcher started this process",
            "start it with one, mpirun -n 2, or leave -P out",
        );
        refuse(registry, arguments, &failure);
        return Err(failure);
    }
    if let Some(job) = crate::job::current().filter(|_| !loopback) {
        let ranks = job.section().ranks.len() as u64;
        return client(registry, arguments, color, Place::Job(ranks));
    }
    match (&arguments.server, loopback) {
        (Some(host), _) if arguments.test.loopback => {
            let failure = Failure::usage(
                format!("-l means that there is no server, and {host:?} is named as one"),
                "leave -l out, or the server",
            );
            refuse(registry, arguments, &failure);
            Err(failure)
        }
        (None, true) if arguments.forever => Err(Failure::usage(
            "--forever is for a server, and a loopback has none",
            "leave --forever out, or -l and the tests",
        )),
        (None, false) if arguments.experiment.dry_run => client(registry, arguments, color, Place::Here),
        (None, false) => server::serve(arguments),
        (None, true) => client(registry, arguments, color, Place::Loopback),
        (Some(host), _) => {
            let to = add_port(host, arguments.port);
            if let Some(why) = host_fault(&to) {
                return Err(Failure::usage(
                    format!("{host:?}: {why}"),
                    "name the machine where `wirespeed perftest` waits: HOST or HOST:PORT",
                ));
            }
            client(registry, arguments, color, Place::Server(to))
        }
    }
}

/// Words that cannot be parsed are refused as others are: the server that they name, if they do, is told.
pub fn refuse_words(registry: &Registry, argv: &[OsString], failure: &Failure) {
    let matches = Cli::command().ignore_errors(true).try_get_matches_from(argv);
    let verb = matches.ok().and_then(|mut matches| matches.remove_subcommand());
    if let Some((verb, words)) = verb
        && verb == "perftest"
        && let Ok(arguments) = PerftestArgs::from_arg_matches(&words)
    {
        refuse(registry, &arguments, failure);
    }
}

/// The server that is named, if one is, need not wait; a dry run has none that does.
fn refuse(registry: &Registry, arguments: &PerftestArgs, failure: &Failure) {
    let is_dry = arguments.experiment.dry_run;
    if let Some(host) = arguments.server.as_ref().filter(|_| !is_dry) {
        let to = add_port(host, arguments.port);
        Groups::new(registry, reach(arguments)).refuse(&to, failure);
    }
}

/// The end that measures and prints. A server that waits for it is told when there is nothing to measure.
fn client(
    registry: &Registry,
    arguments: &PerftestArgs,
    color: ColorChoice,
    place: Place,
) -> Result<Ended, Failure> {
    let loopback = matches!(place, Place::Loopback);
    let is_far = matches!(place, Place::Server(_));
    let refuse = |failure: &Failure| {
        if is_far {
            refuse(registry, arguments, failure);
        }
    };
    let common = Common {
        registry,
        place,
        generation: arguments.generation,
        cpus: numbers::cpus_asked(&arguments.experiment.cpus),
        intervals: !arguments.final_only,
    };
    if arguments.experiment.dry_run {
        return dry(arguments, color, &common);
    }
    let ready = ready(arguments, color, &common, loopback).inspect_err(refuse)?;
    let measures = ready
        .asked
        .prepared
        .iter()
        .any(|prepared| prepared.skip.is_none());
    let ended = measured(ready, arguments, registry)?;
    if let (false, Some(failure)) = (measures, &ended.failure) {
        refuse(failure);
    }
    Ok(ended)
}

/// Show what would be run.
fn dry(arguments: &PerftestArgs, color: ColorChoice, common: &Common) -> Result<Ended, Failure> {
    let outputs = &arguments.output;
    let mut asked = tests_asked::all(arguments, common)?;
    let how = How::of(&arguments.experiment, (&mut asked.plan, 1), (outputs, color))?;
    complain(&asked.lines);
    let ended = foreseen(&asked);
    dry_run::show(&asked.plan, how.listed(asked.prepared)?, outputs.json)?;
    Ok(ended)
}

/// Everything is checked, and nothing connected.
struct Ready {
    asked: TestsAsked,
    percentile_rank: f64,
    how: How,
    front: Front,
}

fn ready(
    arguments: &PerftestArgs,
    color: ColorChoice,
    common: &Common,
    loopback: bool,
) -> Result<Ready, Failure> {
    Identity::check(arguments.identity.as_deref())?;
    let percentile_rank = numbers::percentile_rank(&arguments.test)?;
    let mut asked = tests_asked::all(arguments, common)?;
    let outputs = &arguments.output;
    let how = How::of(&arguments.experiment, (&mut asked.plan, 1), (outputs, color))?;
    let mut front = Front::open((outputs, color), Some(asked.plan.clone()))?;
    if front.output.shows_table() && arguments.format == Format::Classic {
        if !how.loads.is_empty() {
            return Err(Failure::usage(
                "--interference compares in a table of its own, which the original's form lacks",
                "add --format table",
            ));
        }
        let shown = (percentile_rank, loopback, how.repeats > 1);
        show_classic(&mut front.output, arguments, &asked, shown)?;
    }
    complain(&asked.lines);
    Ok(Ready {
        asked,
        percentile_rank,
        how,
        front,
    })
}

fn measured(ready: Ready, arguments: &PerftestArgs, registry: &Registry) -> Result<Ended, Failure> {
    let (asked, mut front) = (ready.asked, ready.front);
    let mut ranks = Ranks::new(Groups::new(registry, reach(arguments)));
    let found = front.run(ready.how, &mut ranks, vec![asked.prepared])?;
    let section = PerftestSection {
        generation: arguments.generation.into(),
        percentile_rank: ready.percentile_rank,
        lines: placed(&asked.lines, &found),
    };
    let run = finish(front.draft, section, found)?;
    front.output.finish(&run)?;
    Ok(ending(&run, arguments.output.strict))
}

/// Titles now, lines as the tests run.
fn show_classic(
    output: &mut Output,
    arguments: &PerftestArgs,
    asked: &TestsAsked,
    (percentile_rank, loopback, repeated): (f64, bool, bool),
) -> Result<(), Failure> {
    let names = asked
        .lines
        .iter()
        .filter(|line| line.case.is_some())
        .map(|line| line.name.clone());
    let parts = asked
        .prepared
        .iter()
        .zip(&asked.originals)
        .zip(&asked.ranks)
        .zip(names);
    let tests = parts.map(|(((prepared, original), rank), name)| LiveTest {
        name,
        original,
        case: prepared.planned.case.clone(),
        rank: *rank,
    });
    let classic = Classic {
        form: Form {
            generation: arguments.generation.into(),
            csv: arguments.classic_csv,
            final_only: arguments.final_only,
            numeric: arguments.numeric,
            percentile_rank,
        },
        tests: tests.collect(),
        repeated,
        extra: arguments.extra || arguments.test.wakeup,
        batch: asked.lines.len() > 1 || !arguments.batch.is_empty(),
        progress: Progress::default(),
    };
    let named = asked
        .lines
        .iter()
        .map(|line| line.name.len())
        .max()
        .unwrap_or_default();
    let mut columns = tests_asked::file_names(&arguments.batch);
    if columns.len() < named {
        columns.push("test".to_owned());
    }
    if loopback && classic.tests.iter().any(|test| test.case.ranks.len() > 1) {
        server::tell(LOOPBACK);
    }
    output::print(&classic.header(&columns, loopback))?;
    output.show_live(Box::new(classic));
    Ok(())
}

fn reach(arguments: &PerftestArgs) -> Reach {
    Reach {
        identity: arguments.identity.clone(),
        family: arguments.ipv6.then_some(Family::V6),
        fresh: false,
        together: true,
        patience: PATIENCE,
        server_command: Some("wirespeed perftest"),
        ..Reach::default()
    }
}

/// What is known to be no case, before the first one runs.
fn complain(lines: &[PerftestLine]) {
    for line in lines {
        let what = match (&line.failed, &line.skipped) {
            (Some(why), _) => why.clone(),
            (_, Some(why)) => format!("skipped: {why}"),
            _ => continue,
        };
        stderr::say(&format!("{}: {what}", line.label()));
    }
}

/// The lines with the places of their results; where the run could not begin they have none.
fn placed(lines: &[PerftestLine], found: &Found) -> Vec<PerftestLine> {
    let place = |index: usize| found.subjects.iter().position(|subject| *subject == index);
    let lines = lines.iter().cloned();
    lines
        .map(|line| PerftestLine {
            case: line.case.and_then(place),
            ..line
        })
        .collect()
}

fn finish(mut draft: Draft, section: PerftestSection, found: Found) -> Result<Run, Failure> {
    let unplanned = unreadable(&section.lines);
    draft.put(&section);
    let mut run = found.into_run(draft);
    if let (Some(why), Status::Ok) = (unplanned, run.status) {
        run.status = Status::Failed;
        run.error = Some(why);
    }
    Ok(run)
}

/// How a run of these tests would end by what is known of them.
fn foreseen(asked: &TestsAsked) -> Ended {
    match unreadable(&asked.lines) {
        Some(why) => Ended::badly(line_failed(exit::FAILED, why)),
        None if asked.prepared.iter().all(|prepared| prepared.skip.is_some()) => nothing_runs(),
        None => Ended::OK,
    }
}

/// The first line that cannot be read, with its reason.
fn unreadable(lines: &[PerftestLine]) -> Option<String> {
    lines.iter().find_map(|line| {
        let why = line.failed.as_ref()?;
        Some(format!("{}: {why}", line.label()))
    })
}

fn line_failed(code: u8, why: String) -> Failure {
    Failure::with(code, why, "correct that line; the others are in the result")
}

fn nothing_runs() -> Ended {
    Ended::badly(Failure::failed(
        "no test can run here",
        "the lines above give the reason of each; see `wirespeed list`",
    ))
}

/// As any run ends; when nothing could run at all, that is said.
fn ending(run: &Run, strict: bool) -> Ended {
    let skipped = |result: &CaseResult| result.status == CaseStatus::Skipped;
    match &run.error {
        Some(why) => Ended::badly(line_failed(run.status.exit_code(), why.clone())),
        None if run.status != Status::Interrupted && run.cases.iter().all(skipped) => nothing_runs(),
        None => ended(run, strict),
    }
}
