//! `wirespeed quick`: every transport of this machine, side by side, within a budget of wall time.

use super::dry_run;
use super::front::Front;
use crate::args::{ColorChoice, OutputArgs, QuickArgs};
use crate::errors::{Ended, Failure};
use crate::experiment::{Budget, How, Prepared, Ranks};
use crate::file;
use crate::group::{Groups, Reach};
use crate::stderr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wirespeed::Machine;
use wirespeed::Registry;
use wirespeed::transport::Support;
use wirespeed_report::view::{QuickSection, QuickTransport};
use wirespeed_schema::plan::{Plan, PlanError, Template, expand};
use wirespeed_schema::units;

/// The transport of the harness floor; no transport.
const FLOOR: &str = "null";
/// Where the result goes when nobody says.
const DEFAULT_FILE: &str = "wirespeed-quick.json";
/// Sizes for the plot beside those of the headline.
const SWEEP_SIZES: [&str; 5] = ["64", "512", "4K", "32K", "1M"];
const HEADLINE_TIME: &str = "300ms";
const SWEEP_TIME: &str = "120ms";
const WARMUP_TIME: &str = "30ms";

/// Measure every transport.
pub fn quick(registry: &Registry, arguments: &QuickArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let budget = budget(&arguments.budget)?;
    let began = Instant::now();
    let machine = crate::job::machine(registry);
    let transports = transports(registry, &machine, &arguments.via)?;
    let mut plan = plan(registry, &transports);
    let mut how = How::of(&arguments.experiment, (&mut plan, 1), (&arguments.output, color))?;
    let remedy = "give more time with --budget, or fewer transports with --via";
    how.budget = Some(Budget::until(began + budget, remedy));
    let cases: Vec<Prepared> = expand(&plan, &machine)?
        .into_iter()
        .filter(|planned| wirespeed_schema::plan::Surroundings::can_run(&machine, &planned.case))
        .map(Prepared::planned)
        .collect();
    if arguments.experiment.dry_run {
        return dry_run::show(&plan, how.listed(cases)?, arguments.output.json);
    }
    let (destinations, written) = destinations(&arguments.output);
    let mut ranks = Ranks::new(Groups::new(registry, Reach::default()));
    let mut front = Front::open((&destinations, color), Some(plan))?;
    let section = section(transports, written.as_deref());
    front.draft.put(&section);
    front.measure(how, &mut ranks, vec![cases])
}

fn budget(text: &str) -> Result<Duration, Failure> {
    match units::parse_duration_ns(text) {
        Ok(ns @ 1_000_000_000..=3_600_000_000_000) => Ok(Duration::from_nanos(ns)),
        _ => Err(Failure::usage(
            format!("invalid --budget {text}"),
            "give a duration from 1s to 1h, such as 25s",
        )),
    }
}

/// The transports in the registry's order: every transport with messages but the floor. What cannot run here is named with
/// its reason.
fn transports(
    registry: &Registry,
    machine: &Machine,
    only: &[String],
) -> Result<Vec<QuickTransport>, Failure> {
    let all: Vec<&str> = registry
        .entries()
        .iter()
        .filter(|e| e.name != FLOOR && !matches!(e.messages, Support::Lacks(_)))
        .map(|e| e.name)
        .collect();
    if let Some(stranger) = only.iter().find(|name| !all.contains(&name.as_str())) {
        return Err(PlanError::unknown("transport", stranger, &all).into());
    }
    let wanted = |name: &str| only.is_empty() || only.iter().any(|o| o == name);
    let entries = registry.entries().iter();
    Ok(entries
        .filter(|e| all.contains(&e.name) && wanted(e.name))
        .map(|e| QuickTransport {
            transport: e.name.to_owned(),
            title: e.summary.to_owned(),
            unavailable: machine.available(e.name).err(),
        })
        .collect())
}

/// The floor, then for each transport latency, rate and bandwidth, then the sizes between for the plot.
fn plan(registry: &Registry, transports: &[QuickTransport]) -> Plan {
    let there: Vec<String> = transports
        .iter()
        .filter(|row| row.unavailable.is_none())
        .map(|row| row.transport.clone())
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
        templates.push(template(&there, &["bandwidth"], SWEEP_TIME, &SWEEP_SIZES));
    }
    Plan::of(templates)
}

/// Where the result goes, and the file that people are told of.
fn destinations(asked: &OutputArgs) -> (OutputArgs, Option<PathBuf>) {
    let mut destinations = asked.clone();
    if !asked.is_given() {
        let path = PathBuf::from(DEFAULT_FILE);
        match file::check(&path) {
            Ok(()) => destinations.output.push(path),
            Err(failure) => {
                // The answer matters more than the file; nobody asked for it.
                stderr::say(&format!("note: {}", failure.cause));
            }
        }
        // The default file does not take the table's place.
        destinations.quiet = false;
    }
    let written = destinations.output.iter().find(|path| is_json(path));
    let written = written.or(destinations.output.first()).cloned();
    (destinations, written)
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "json")
}

fn section(transports: Vec<QuickTransport>, written: Option<&Path>) -> QuickSection {
    let mut next = Vec::new();
    if let Some(path) = written {
        let shown = file::shown(path);
        next.push(match is_json(path) {
            true => format!("Plots, and all remarks with remedies: wirespeed report {shown}"),
            false => format!("The whole result is in {shown}."),
        });
    }
    QuickSection { transports, next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_of_the_file_that_is_read_back() {
        let told = |names: &[&str]| {
            let asked = OutputArgs {
                output: names.iter().map(PathBuf::from).collect(),
                ..OutputArgs::default()
            };
            destinations(&asked).1
        };
        assert_eq!(told(&["a.csv", "b.json"]), Some("b.json".into()));
        assert_eq!(told(&["a.csv", "b.md"]), Some("a.csv".into()));
    }

    #[test]
    fn strange_roads_and_budgets_are_refused() {
        let registry = Registry::builtin();
        let machine = Machine::new(&registry);
        assert!(transports(&registry, &machine, &["elephant".to_owned()]).is_err());
        assert!(transports(&registry, &machine, &[FLOOR.to_owned()]).is_err());
        for bad in ["0s", "25", "-1s", "2h", "soon"] {
            assert!(budget(bad).is_err(), "{bad}");
        }
    }
}
