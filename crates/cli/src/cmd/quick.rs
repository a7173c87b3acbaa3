//! `wirespeed quick`: every road of this machine, side by side, within a budget of wall time.

use super::ended;
use crate::args::{ColorChoice, OutputArgs, QuickArgs};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::file;
use crate::group::{Groups, Reach};
use crate::order::Step;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wirespeed::Machine;
use wirespeed::Registry;
use wirespeed::transport::Support;
use wirespeed_report::render;
use wirespeed_report::render::{QuickRoad, QuickSection};
use wirespeed_schema::case::{Case, Stop};
use wirespeed_schema::plan::{Plan, PlannedCase, Template, expand, nearest};
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units;

/// The transport of the harness floor; no road.
const FLOOR: &str = "null";
/// Where the result goes when nobody says.
const DEFAULT_FILE: &str = "wirespeed-quick.json";
/// Sizes for the plot beside those of the headline.
const SWEEP_SIZES: [&str; 5] = ["64", "512", "4K", "32K", "1M"];
const HEADLINE_TIME: &str = "300ms";
const SWEEP_TIME: &str = "120ms";
const WARMUP_TIME: &str = "30ms";
/// A case is not shortened below this: it would say nothing.
const SHORTEST: Duration = Duration::from_millis(20);
/// What a case costs beside its own time, before the first one tells.
const OVERHEAD_GUESS: Duration = Duration::from_millis(150);

/// Measure every road.
pub fn quick(registry: &Registry, arguments: &QuickArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let budget = budget(&arguments.budget)?;
    let began = Instant::now();
    let machine = crate::job::machine(registry);
    let roads = roads(registry, &machine, &arguments.via)?;
    let plan = plan(registry, &roads);
    let cases: Vec<PlannedCase> = expand(&plan, &machine)?
        .into_iter()
        .filter(|planned| wirespeed_schema::plan::Surroundings::can_run(&machine, &planned.case))
        .collect();
    let stop = crate::cmd::stop_on_signals()?;
    let (destinations, written) = destinations(&arguments.output);
    let mut output = Output::open(&destinations, color, render::quick)?;
    let mut draft = Draft::begin(Some(plan), arguments.output.include_host_name);
    draft.section(QuickSection::NAME, section(roads, written.as_deref())?);
    let mut session = Session::new(
        Groups::new(registry, Reach::default()),
        &mut output,
        stop.clone(),
        (color, arguments.output.quiet),
    );
    let results = measure(&mut session, &cases, began + budget)?;
    let run = draft.finish(results, stop.is_requested());
    output.finish(&run)?;
    Ok(ended(&run, arguments.output.strict))
}

fn budget(text: &str) -> Result<Duration, Failure> {
    match units::parse_duration_ns(text) {
        Ok(ns @ 1_000_000_000..=3_600_000_000_000) => Ok(Duration::from_nanos(ns)),
        _ => Err(Failure::usage(
            format!("--budget {text} makes no sense"),
            "give a duration from 1s to 1h, such as 25s",
        )),
    }
}

/// The roads in the registry's order: every transport with messages but the floor. What cannot run here is named with
/// its reason.
fn roads(registry: &Registry, machine: &Machine, only: &[String]) -> Result<Vec<QuickRoad>, Failure> {
    let all: Vec<&str> = registry
        .entries()
        .iter()
        .filter(|e| e.name != FLOOR && !matches!(e.messages, Support::Lacks(_)))
        .map(|e| e.name)
        .collect();
    if let Some(stranger) = only.iter().find(|name| !all.contains(&name.as_str())) {
        let remedy = match nearest(stranger, &all) {
            Some(name) => format!("did you mean {name:?}?"),
            None => format!("choose from: {}", all.join(", ")),
        };
        return Err(Failure::usage(format!("there is no road {stranger:?}"), remedy));
    }
    let wanted = |name: &str| only.is_empty() || only.iter().any(|o| o == name);
    let entries = registry.entries().iter();
    Ok(entries
        .filter(|e| all.contains(&e.name) && wanted(e.name))
        .map(|e| QuickRoad {
            transport: e.name.to_owned(),
            title: e.summary.to_owned(),
            unavailable: machine.available(e.name).err(),
        })
        .collect())
}

/// The floor, then for each road latency, rate and bandwidth, then the sizes between for the plot.
fn plan(registry: &Registry, roads: &[QuickRoad]) -> Plan {
    let there: Vec<String> = roads
        .iter()
        .filter(|road| road.unavailable.is_none())
        .map(|road| road.transport.clone())
        .collect();
    let template = |via: &[String], tests: &[&str], time: &str, sizes: &[&str]| {
        let words = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
        let mut axes = std::collections::BTreeMap::from([
            ("via".to_owned(), via.to_vec()),
            ("test".to_owned(), words(tests)),
            ("duration".to_owned(), words(&[time])),
            ("warmup".to_owned(), words(&[WARMUP_TIME])),
        ]);
        if !sizes.is_empty() {
            axes.insert("size".to_owned(), words(sizes));
        }
        Template {
            axes,
            ..Template::default()
        }
    };
    let mut templates = Vec::new();
    if registry.find(FLOOR).is_some() {
        templates.push(template(&[FLOOR.to_owned()], &["latency"], SWEEP_TIME, &[]));
    }
    if !there.is_empty() {
        templates.push(template(
            &there,
            &["latency", "rate", "bandwidth"],
            HEADLINE_TIME,
            &[],
        ));
        templates.push(template(&there, &["am_bw"], SWEEP_TIME, &SWEEP_SIZES));
    }
    Plan {
        repeats: 1,
        until: None,
        templates,
    }
}

/// Where the result goes, and the file that people are told of.
fn destinations(asked: &OutputArgs) -> (OutputArgs, Option<PathBuf>) {
    let mut destinations = asked.clone();
    let to_program = asked.json || asked.ndjson || asked.csv;
    if asked.output.is_empty() && !to_program {
        let path = PathBuf::from(DEFAULT_FILE);
        match file::check(&path) {
            Ok(()) => destinations.output.push(path),
            Err(failure) => {
                // The answer matters more than the file; nobody asked for it.
                let _ = writeln!(std::io::stderr(), "note: {}", failure.cause);
            }
        }
        // The default file does not take the table's place.
        destinations.quiet = false;
    }
    let written = destinations.output.first().cloned();
    (destinations, written)
}

fn section(roads: Vec<QuickRoad>, written: Option<&Path>) -> Result<serde_json::Value, Failure> {
    let first = roads.iter().find(|road| road.unavailable.is_none());
    let via = first
        .map_or("TRANSPORT", |road| road.transport.as_str())
        .to_owned();
    let mut next = Vec::new();
    if let Some(path) = written {
        next.push(format!("The whole result is in {}.", path.display()));
    }
    next.extend([
        format!("Next: wirespeed run latency --via {via} --repeats 10   how sure is that?"),
        "      wirespeed list                               what can each transport do?".to_owned(),
        "      wirespeed run --help                         sizes, windows, sweeps, two machines".to_owned(),
    ]);
    serde_json::to_value(QuickSection { roads, next })
        .map_err(|e| Failure::failed(e.to_string(), "this is a defect of wirespeed; please report it"))
}

/// Every case once, each as long as the rest of the budget allows.
fn measure(
    session: &mut Session,
    cases: &[PlannedCase],
    deadline: Instant,
) -> Result<Vec<CaseResult>, Failure> {
    let mut progress = Progress::new(cases.iter().map(|c| &c.case), session.quiet);
    let mut results = Vec::with_capacity(cases.len());
    let mut pace = Pace::default();
    for (number, planned) in cases.iter().enumerate() {
        if session.stop.is_requested() {
            break;
        }
        let Some(planned) = pace.fit(planned, &cases[number..], deadline) else {
            let result = out_of_time(planned.case.clone());
            session.announce(number, &result)?;
            results.push(result);
            continue;
        };
        progress.start(&planned.case);
        let step = Step {
            repetition: 0,
            case: number,
        };
        let began = Instant::now();
        let measured = session.measure(step, cases.len(), &planned)?;
        pace.took(&planned.case, began.elapsed());
        progress.end();
        if measured.repetition.is_some() || measured.failure.is_some() {
            let repetitions = measured.repetition.into_iter().collect();
            let result = session.assemble(planned.case, repetitions, measured.failure.as_ref());
            session.announce(number, &result)?;
            results.push(result);
        }
    }
    progress.finish();
    Ok(results)
}

/// A case for which the budget left no time: it is not measured, and that is said.
fn out_of_time(case: Case) -> CaseResult {
    let remedy = "give more time with --budget, or fewer roads with --via";
    wirespeed_report::skipped_case(case, "the budget left no time for it", Some(remedy.to_owned()))
}

/// How much a case costs beside its own time, from those that ran.
#[derive(Default)]
struct Pace {
    overhead: Duration,
    runs: u32,
}

impl Pace {
    /// The case, shortened so that those after it still fit; `None` when there is no time left for anything.
    fn fit(&self, planned: &PlannedCase, rest: &[PlannedCase], deadline: Instant) -> Option<PlannedCase> {
        let left = deadline.saturating_duration_since(Instant::now());
        let overhead = match self.runs {
            0 => OVERHEAD_GUESS,
            runs => self.overhead / runs,
        };
        let for_overhead = overhead * u32::try_from(rest.len()).unwrap_or(u32::MAX);
        let wanted: Duration = rest.iter().map(|planned| asked(&planned.case)).sum();
        let factor = left.saturating_sub(for_overhead).as_secs_f64() / wanted.as_secs_f64().max(1e-9);
        let mut planned = planned.clone();
        let fitted = asked(&planned.case).mul_f64(factor.min(1.0)).max(SHORTEST);
        if fitted > left {
            return None;
        }
        planned.case.stop = Stop::Duration {
            duration_ns: fitted.as_nanos() as u64,
        };
        Some(planned)
    }

    /// `case` took so long in all.
    fn took(&mut self, case: &Case, wall: Duration) {
        self.overhead += wall.saturating_sub(asked(case));
        self.runs += 1;
    }
}

/// The time that a case asks for itself.
fn asked(case: &Case) -> Duration {
    match case.stop {
        Stop::Duration { duration_ns } => Duration::from_nanos(duration_ns),
        Stop::Iterations { .. } => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floor_cases() -> Vec<PlannedCase> {
        let registry = Registry::builtin();
        let plan = plan(&registry, &[]);
        expand(&plan, &Machine::new(&registry)).unwrap()
    }

    #[test]
    fn cases_shrink_with_the_budget() {
        let cases = floor_cases();
        let plenty = Instant::now() + Duration::from_secs(60);
        let fitted = Pace::default().fit(&cases[0], &cases, plenty).unwrap();
        assert_eq!(fitted, cases[0]);
        let slow = Pace {
            overhead: Duration::from_secs(100),
            runs: 2,
        };
        let fitted = slow
            .fit(&cases[0], &cases, plenty - Duration::from_secs(15))
            .unwrap();
        assert_eq!(asked(&fitted.case), SHORTEST);
        assert!(slow.fit(&cases[0], &cases, Instant::now()).is_none());
    }

    #[test]
    fn strange_roads_and_budgets_are_refused() {
        let registry = Registry::builtin();
        let machine = Machine::new(&registry);
        assert!(roads(&registry, &machine, &["elephant".to_owned()]).is_err());
        assert!(roads(&registry, &machine, &[FLOOR.to_owned()]).is_err());
        for bad in ["0s", "25", "-1s", "2h", "soon"] {
            assert!(budget(bad).is_err(), "{bad}");
        }
    }
}
