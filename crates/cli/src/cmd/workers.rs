//! `wirespeed workers`: a master and its workers. Words become a plan of `hub_lat`; tables, log and figures are made of
//! what it gave.

use super::front::Front;
use super::run::prepare;
use super::{dry_run, ended};
use crate::args::{ColorChoice, WorkersArgs};
use crate::errors::{Ended, Failure, exit};
use crate::experiment::{How, Ranks};
use crate::file;
use crate::group::{Groups, Reach};
use crate::job;
use crate::remedies::beside_quotes;
use crate::request::{add_options, add_port};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wirespeed::Registry;
use wirespeed_report::workers::{WorkersSection, bandwidth_chart, log_csv, log_lines, tests_chart};
use wirespeed_schema::case::GroupKind;
use wirespeed_schema::plan::{Plan, Surroundings, Template, expand, split_axis};
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units;

/// Bytes of the integers that payloads are counted in.
const INT_BYTES: u64 = 4;
const WORKERS: u64 = 5;
const WORKERS_MAX: u64 = 1023;
const PAYLOAD: &str = "1000";
const TESTS: &str = "100";
const GRID_PAYLOADS: &str = "10,100,250,1000,10000,100000,1000000,10000000";
const GRID_TESTS: &str = "2,10,20,50,100,1000";
const GRID_FIGURES: &str = "workers-figures";
const TRANSPORT: &str = "tcp";
const TRANSPORT_OF_JOBS: &str = "mpi";
/// Round trips that a log keeps of a cell at most: what a rank may tell of a run, with room to spare.
const LOG_MAX: u64 = 500_000;

/// Measure master and workers.
pub fn workers(registry: &Registry, arguments: &WorkersArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let machine = job::machine(registry);
    let mut plan = plan(arguments, &machine)?;
    let how = How::of(&arguments.experiment, (&mut plan, 1), (&arguments.output, color))?;
    let reach = Reach::of(&arguments.far)?;
    let cases = expand(&plan, &machine).map_err(|e| as_typed(e.into()))?;
    let cases = prepare(registry, &machine, cases)?;
    if arguments.experiment.dry_run {
        return dry_run::show(&plan, how.listed(cases)?, arguments.output.json);
    }
    let files = Files::open(arguments)?;
    let mut ranks = Ranks::new(Groups::new(registry, reach));
    let mut front = Front::open((&arguments.output, color), Some(plan))?;
    let found = front.run(how, &mut ranks, vec![cases])?;
    let mut section = WorkersSection::new(&found.undisturbed());
    if let Some(job) = job::current().filter(|_| arguments.output.include_host_name) {
        section.name_nodes(&job.section().nodes);
    }
    front.draft.put(&section);
    let run = found.into_run(front.draft);
    // The result first: a launcher that ends the job gives its ranks a second, and the log may be long.
    let published = front.output.finish(&run);
    files.write(&run.cases, &section).map_err(Failure::documented)?;
    published?;
    Ok(ended(&run, arguments.output.strict))
}

/// What goes to files beside the result.
struct Files {
    log: Option<PathBuf>,
    figures: Option<PathBuf>,
}

impl Files {
    /// Find out before anything is measured whether they can be written; what is there stays whole until then.
    fn open(arguments: &WorkersArgs) -> Result<Self, Failure> {
        let log = arguments.log.clone();
        if let Some(path) = &log {
            file::check(path)?;
        }
        let default = arguments.grid.then(|| PathBuf::from(GRID_FIGURES));
        let figures = arguments.figures.clone().or(default);
        if let Some(directory) = &figures {
            std::fs::create_dir_all(directory).map_err(|e| Failure::file("create", directory, &e))?;
            for path in figure_paths(directory) {
                file::check(&path)?;
            }
        }
        Ok(Files { log, figures })
    }

    fn write(&self, results: &[CaseResult], section: &WorkersSection) -> Result<(), Failure> {
        if let Some(path) = &self.log {
            let text = match path.extension().is_some_and(|ending| ending == "csv") {
                true => log_csv(results)
                    .map_err(|e| Failure::failed(e.to_string(), "write a log without .csv"))?,
                false => log_lines(results),
            };
            file::write(path, text)?;
        }
        if let Some(directory) = &self.figures {
            let [bandwidth, tests] = figure_paths(directory);
            file::write(&bandwidth, bandwidth_chart(section).standalone())?;
            file::write(&tests, tests_chart(section).standalone())?;
        }
        Ok(())
    }
}

fn figure_paths(directory: &Path) -> [PathBuf; 2] {
    ["figure3.svg", "figure4.svg"].map(|name| directory.join(name))
}

/// The plan that the words ask for: `hub_lat`, one template a transport, because some have threads for ranks.
fn plan(arguments: &WorkersArgs, around: &dyn Surroundings) -> Result<Plan, Failure> {
    let default = if job::current().is_some() {
        TRANSPORT_OF_JOBS
    } else {
        TRANSPORT
    };
    let vias = match arguments.case.of("via") {
        [] => vec![default.to_owned()],
        given => given.to_vec(),
    };
    let mut templates = Vec::new();
    for text in &vias {
        for via in split_axis("via", text)? {
            templates.push(template(arguments, &via, around)?);
        }
    }
    Ok(Plan::of(templates))
}

fn template(arguments: &WorkersArgs, via: &str, around: &dyn Surroundings) -> Result<Template, Failure> {
    let mut template = Template::default();
    let mut add = |key: &str, texts: &[String]| template.add(key, texts).map_err(|e| as_typed(e.into()));
    let word = |text: &str| vec![text.to_owned()];
    let or = |given: &[String], default: &str| match given.is_empty() {
        true => word(default),
        false => given.to_vec(),
    };
    add("test", &word("hub_lat"))?;
    add("via", &word(via))?;
    let (group, found) = around.default_group(via, &BTreeMap::new());
    let started = (group == GroupKind::Job && job::current().is_some()).then_some(found as u64);
    let workers = workers_asked(arguments, started)?;
    match (group, started) {
        _ if !arguments.case.of("to").is_empty() => {
            add(
                "roles",
                &word(&format!("hub{}", ",worker".repeat(workers as usize))),
            )?;
            add("to", &word(&far_host(arguments)?))?;
        }
        // The launcher has started as many as there are.
        (_, Some(_)) => {}
        (GroupKind::Threads, None) => add("threads", &word(&(workers + 1).to_string()))?,
        (_, None) => add("procs", &word(&(workers + 1).to_string()))?,
    }
    let (payloads, tests) = match arguments.grid {
        true => (GRID_PAYLOADS, GRID_TESTS),
        false => (PAYLOAD, TESTS),
    };
    if arguments.case.of("size").is_empty() {
        add("size", &bytes_of_integers(&or(&arguments.payload, payloads))?)?;
    }
    let tests = or(arguments.case.of("iters"), tests);
    add("iters", &tests)?;
    if arguments.log.is_some() {
        add("raw", &word(&logged(&tests, workers)?.to_string()))?;
    }
    if arguments.one_way {
        add("reply", &word("0"))?;
    }
    for (parameter, texts) in arguments.case.given() {
        match parameter.key {
            // Filled in above.
            "via" | "to" | "iters" => {}
            key => add(key, texts)?,
        }
    }
    add_options(&mut template, &arguments.transport)?;
    Ok(template)
}

/// Where the workers are, with its port.
fn far_host(arguments: &WorkersArgs) -> Result<String, Failure> {
    let host = arguments.case.of("to").join(",");
    if host.contains(',') {
        return Err(Failure::usage(
            format!("--to {host} names more than one host"),
            "measure one host after the other, or all of them in a job of srun or mpirun",
        ));
    }
    Ok(match arguments.far.port {
        Some(port) => add_port(&host, port),
        None => host,
    })
}

/// Round trips of the cell with most of them, as far as samples can be kept; texts that are no counts are refused later.
fn logged(tests: &[String], workers: u64) -> Result<u64, Failure> {
    let counts = tests
        .iter()
        .filter_map(|text| units::expand_counts(text).ok())
        .flatten();
    let most = counts.filter_map(|text| units::parse_count(&text).ok()).max();
    match most.unwrap_or(0).saturating_mul(workers) {
        count @ ..=LOG_MAX => Ok(count),
        count => Err(Failure::usage(
            format!("--log keeps at most {LOG_MAX} round trips of a cell, not {count}"),
            "leave --log out, or give fewer tests with -n",
        )),
    }
}

/// The workers; in a job whose launcher has `started` so many ranks, all of them but the first.
fn workers_asked(arguments: &WorkersArgs, started: Option<u64>) -> Result<u64, Failure> {
    if started == Some(1) {
        return Err(Failure::usage(
            "the job has one rank, which is the master: there are no workers",
            "start more ranks, such as mpirun -n 6",
        ));
    }
    let Some(text) = &arguments.workers else {
        return Ok(started.map_or(WORKERS, |ranks| ranks - 1));
    };
    match (units::parse_count(text), started) {
        (Ok(count), Some(ranks)) if count != ranks - 1 => Err(Failure::usage(
            format!(
                "--workers {count} contradicts the job, which has {}",
                units::counted(ranks, "rank")
            ),
            "leave --workers out: the launcher says how many there are",
        )),
        (Ok(count @ 1..=WORKERS_MAX), _) => Ok(count),
        _ => Err(Failure::usage(
            format!("--workers {text} is not a number of workers"),
            format!("give a number from 1 to {WORKERS_MAX}, such as {WORKERS}"),
        )),
    }
}

/// Counts of integers, lists and ranges of them, as sizes in bytes.
fn bytes_of_integers(texts: &[String]) -> Result<Vec<String>, Failure> {
    let remedy = "give counts of 4-byte integers such as 1000, a list 10,100, or a range 10..1000000:x10";
    let refused =
        |text: &str| Failure::usage(format!("--payload {text} is not a number of integers"), remedy);
    let mut sizes = Vec::new();
    for text in texts {
        for count in units::expand_counts(text).map_err(|_| refused(text))? {
            let count = units::parse_count(&count).map_err(|_| refused(&count))?;
            let bytes = count.checked_mul(INT_BYTES).ok_or_else(|| refused(text))?;
            sizes.push(bytes.to_string());
        }
    }
    Ok(sizes)
}

/// Errors of the plan name the options as they are typed here.
fn as_typed(failure: Failure) -> Failure {
    if failure.code != exit::USAGE {
        return failure;
    }
    let named = |text: &str| {
        let names = [
            ("or use --duration", ""),
            ("--iters", "--tests"),
            ("--procs", "--workers"),
        ];
        let mut renamed = |text: &str| {
            names
                .iter()
                .fold(text.to_owned(), |text, (plan, ours)| text.replace(plan, ours))
        };
        let text = beside_quotes(text, &mut renamed);
        text.trim_end_matches([',', ' ']).to_owned()
    };
    Failure::with(failure.code, named(&failure.cause), named(&failure.remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Verb};
    use clap::Parser;

    fn parse(words: &[&str]) -> Result<Plan, Failure> {
        let argv = ["wirespeed", "workers"].iter().chain(words);
        match Cli::try_parse_from(argv)?.verb {
            Verb::Workers(arguments) => plan(&arguments, &wirespeed::Machine::new(&Registry::builtin())),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn payloads_are_counted_in_integers() {
        let plan = parse(&["-p", "10..1000:x10,250", "-n", "2,10", "-w", "3", "--one-way"]).unwrap();
        let axes = &plan.templates[0].axes;
        assert_eq!(axes["size"], ["40", "400", "4000", "1000"]);
        assert_eq!(axes["iters"], ["2", "10"]);
        assert_eq!(axes["procs"], ["4"]);
        assert_eq!(axes["reply"], ["0"]);
        assert!(!axes.contains_key("raw"));
    }

    #[test]
    fn the_grid_is_the_whole_one_unless_a_list_is_given() {
        let axes = parse(&["--grid"]).unwrap().templates[0].axes.clone();
        assert_eq!((axes["size"].len(), axes["iters"].len()), (8, 6));
        assert_eq!(axes["size"][7], "40000000");
        let axes = parse(&["--grid", "-n", "2"]).unwrap().templates[0].axes.clone();
        assert_eq!(axes["iters"], ["2"]);
    }

    #[test]
    fn a_log_keeps_every_round_trip() {
        let axes = parse(&["--log", "trips.csv"]).unwrap().templates[0].axes.clone();
        assert_eq!(axes["raw"], ["500"]);
    }

    #[test]
    fn nonsense_is_refused_in_the_words_of_this_verb() {
        for (words, cause) in [
            (
                &["--log", "trips.log", "-n", "1000000"][..],
                "--log keeps at most 500000 round trips of a cell, not 5000000",
            ),
            (&["-w", "0"][..], "--workers 0 is not a number of workers"),
            (&["-w", "-3"], "--workers -3 is not a number of workers"),
            (&["-p", "-5"], "--payload -5 is not a number of integers"),
            (&["-p", "1e30"], "--payload 1e30 is not a number of integers"),
            (
                &["-p", "5000000000G"],
                "--payload 5000000000G is not a number of integers",
            ),
        ] {
            let failure = parse(words).unwrap_err();
            assert_eq!(failure.code, 2, "{words:?}");
            assert!(failure.cause.starts_with(cause), "{words:?}: {}", failure.cause);
        }
    }
}
