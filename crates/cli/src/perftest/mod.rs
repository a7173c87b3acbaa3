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
mod tests_asked;
mod ucx;
mod unplanned;

use crate::args::{self, ColorChoice, Format, PerftestArgs};
use crate::cmd::front::Front;
use crate::cmd::{dry_run, ended};
use crate::document::Draft;
use crate::errors::{Ended, Failure, exit};
use crate::experiment::{Found, How, Ranks};
use crate::group::{Family, Groups, Reach};
use crate::output::{self, Output};
use crate::request::add_port;
use case::{Common, Place};
use live::{Classic, LiveTest};
use std::time::Duration;
use tests_asked::TestsAsked;
use wirespeed::Registry;
use wirespeed_report::perftest::{Form, Generation, PerftestLine, PerftestSection, Progress};
use wirespeed_schema::Run;
use wirespeed_schema::run::Status;

/// Most tests of one run.
const TESTS_MAX: usize = wirespeed_schema::plan::CASES_MAX;

/// A server that was started at the same time gets so long to listen.
const PATIENCE: Duration = Duration::from_secs(3);

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
    if let Some(job) = crate::job::current().filter(|_| !loopback) {
        let ranks = job.section().ranks.len() as u64;
        return client(registry, arguments, color, Place::Job(ranks));
    }
    match (&arguments.server, loopback) {
        (Some(_), _) if arguments.test.loopback => Err(Failure::usage(
            "-l means that there is no server, and one is named",
            "leave -l out, or the server",
        )),
        (None, false) if arguments.experiment.dry_run => client(registry, arguments, color, Place::Here),
        (None, false) => server::serve(arguments),
        (None, true) => client(registry, arguments, color, Place::Loopback),
        (Some(host), _) => {
            let to = add_port(host, arguments.port);
            client(registry, arguments, color, Place::Server(to))
        }
    }
}

fn generation(arguments: &PerftestArgs) -> Generation {
    match arguments.generation {
        args::Generation::Today => Generation::Today,
        args::Generation::Y2015 => Generation::Y2015,
    }
}

/// The end that measures and prints.
fn client(
    registry: &Registry,
    arguments: &PerftestArgs,
    color: ColorChoice,
    place: Place,
) -> Result<Ended, Failure> {
    let loopback = matches!(place, Place::Loopback);
    let common = Common {
        registry,
        place,
        generation: arguments.generation,
        cpus: numbers::cpus_asked(&arguments.experiment.cpus),
        intervals: !arguments.final_only,
    };
    let percentile_rank = numbers::percentile_rank(&arguments.test)?;
    let mut asked = tests_asked::all(arguments, &common)?;
    let outputs = &arguments.output;
    let mut how = How::of(&arguments.experiment, (&mut asked.plan, 1), (outputs, color))?;
    // The original shows its own lines as they come.
    how.shows_its_own();
    if arguments.experiment.dry_run {
        complain(&asked.lines);
        return dry_run::show(&asked.plan, how.listed(asked.prepared)?, outputs.json);
    }
    let mut front = Front::open((outputs, color), Some(asked.plan.clone()))?;
    if front.output.shows_table() && arguments.format == Format::Classic {
        if !how.loads.is_empty() {
            return Err(Failure::usage(
                "--interference compares in a table of its own, which the original's form lacks",
                "add --format table",
            ));
        }
        show_classic(&mut front.output, arguments, &asked, percentile_rank, loopback)?;
    }
    complain(&asked.lines);
    let mut ranks = Ranks::new(Groups::new(registry, reach(arguments)));
    let found = front.run(how, &mut ranks, vec![asked.prepared])?;
    let section = PerftestSection {
        generation: generation(arguments),
        percentile_rank,
        lines: placed(&asked.lines, &found),
    };
    let run = finish(front.draft, section, found)?;
    front.output.finish(&run)?;
    Ok(ending(&run, outputs.strict))
}

/// Titles now, lines as the tests run.
fn show_classic(
    output: &mut Output,
    arguments: &PerftestArgs,
    asked: &TestsAsked,
    percentile_rank: f64,
    loopback: bool,
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
            generation: generation(arguments),
            csv: arguments.classic_csv,
            final_only: arguments.final_only,
            numeric: arguments.numeric,
            percentile_rank,
        },
        tests: tests.collect(),
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
        silence: None,
        patience: PATIENCE,
        server_command: Some("wirespeed perftest"),
        service: None,
    }
}

/// What is known to be no case, before the first one runs.
fn complain(lines: &[PerftestLine]) {
    use std::io::Write as _;
    for line in lines {
        let what = match (&line.failed, &line.skipped) {
            (Some(why), _) => why.clone(),
            (_, Some(why)) => format!("skipped: {why}"),
            _ => continue,
        };
        // Nobody is left to be told that stderr is gone.
        let _ = writeln!(std::io::stderr(), "{}: {what}", line.label());
    }
}

/// The lines with the places of their results; those that an interruption left unmeasured have none.
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
    let unplanned = section.lines.iter().find_map(|line| {
        let why = line.failed.as_ref()?;
        Some(format!("{}: {why}", line.label()))
    });
    draft.put(&section);
    let mut run = found.into_run(draft);
    if let (Some(why), Status::Ok) = (unplanned, run.status) {
        run.status = Status::Failed;
        run.error = Some(why);
    }
    Ok(run)
}

/// As any run ends; when nothing could run at all, that is said.
fn ending(run: &Run, strict: bool) -> Ended {
    match (&run.error, run.cases.is_empty()) {
        (None, true) if run.status == Status::Ok => Ended::badly(Failure::with(
            exit::FAILED,
            "no test can run here",
            "the lines above give the reason of each; see `wirespeed list`",
        )),
        (Some(why), _) => Ended::badly(Failure::with(
            run.status.exit_code(),
            why.clone(),
            "correct that line; the others are in the result",
        )),
        _ => ended(run, strict),
    }
}
