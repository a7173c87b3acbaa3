//! `wirespeed run`: one test, a sweep, or a plan file.

use super::{dry_run, ended};
use crate::args::{ColorChoice, RunArgs};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::group::{Groups, Reach};
use crate::interference;
use crate::order::fresh_seed;
use crate::output::{Output, Table};
use crate::request;
use crate::session::{Prepared, Repeating, Session};
use crate::watch::Watch;
use serde_json::json;
use wirespeed::Machine;
use wirespeed::{MeasureError, Registry};
use wirespeed_report::{Goal, render};
use wirespeed_schema::Case;
use wirespeed_schema::plan::{Plan, PlannedCase, expand};
use wirespeed_schema::run::Status;

/// Measure what the arguments ask for.
pub fn run(registry: &Registry, arguments: &RunArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let mut plan = request::plan(arguments)?;
    let reach = Reach::of(&arguments.group)?;
    let machine = crate::job::machine(registry);
    let cases = expand(&plan, &machine).map_err(|e| request::named(arguments, e.into()))?;
    let cases = prepare(registry, &machine, cases)?;
    let seed = arguments.seed.unwrap_or_else(fresh_seed);
    let what = What::of(arguments, cases, &mut plan, seed)?;
    if arguments.dry_run {
        let cases = match what {
            What::Cases(cases, _) => cases,
            What::Interference(arms) => arms.into_cases(),
        };
        return dry_run::show(&plan, &cases, arguments.output.json);
    }
    let stop = crate::cmd::stop_on_signals()?;
    let mut output = Output::open(&arguments.output, color, what.table())?;
    let watch = match arguments.live {
        true => Watch::open(what.runs(plan.repeats).into_iter(), color),
        false => None,
    };
    let quiet = arguments.output.quiet || watch.is_some();
    output.watch_with(watch);
    let mut draft = Draft::begin(Some(plan.clone()), arguments.output.include_host_name);
    if plan.repeats > 1 {
        draft.section("order", json!({ "seed": seed, "within": what.within() }));
    }
    let mut session = Session::new(
        Groups::new(registry, reach),
        &mut output,
        stop.clone(),
        (color, quiet),
    );
    let results = match &what {
        What::Cases(cases, how) => session.run(cases, how)?,
        What::Interference(arms) => {
            let (results, found) = arms.measure(&mut session, plan.repeats, seed)?;
            draft.section(wirespeed_report::interference::NAME, found.to_value());
            results
        }
    };
    let refused = session.refused;
    let mut run = draft.finish(results, stop.is_requested());
    if refused && run.status == Status::Failed {
        run.status = Status::Refused;
    }
    output.finish(&run)?;
    Ok(ended(&run, arguments.output.strict))
}

/// What is measured: each case by itself, or without and with load in turn.
enum What {
    Cases(Vec<Prepared>, Repeating),
    Interference(interference::Plan),
}

impl What {
    /// What the arguments say about `cases`; rounds of interference become the plan's repetitions.
    fn of(arguments: &RunArgs, cases: Vec<Prepared>, plan: &mut Plan, seed: u64) -> Result<Self, Failure> {
        let loads = interference::parse(&arguments.interference)?;
        if loads.is_empty() {
            let goal = plan.until.as_ref().map(|until| Goal::new(until, plan.repeats));
            let how = Repeating {
                repeats: plan.repeats,
                seed,
                goal: goal.transpose()?,
            };
            return Ok(What::Cases(cases, how));
        }
        if plan.until.is_some() {
            return Err(Failure::usage(
                "the plan repeats until a goal is reached, --interference a number of times",
                "take `until` out of the plan, or leave --interference out",
            ));
        }
        if arguments.repeats.is_none() && plan.repeats == 1 {
            plan.repeats = interference::ROUNDS;
        }
        Ok(What::Interference(interference::Plan::new(cases, &loads)?))
    }

    fn table(&self) -> Table {
        match self {
            What::Cases(..) => render::table,
            What::Interference(_) => render::interference,
        }
    }

    /// Every planned run, in no order.
    fn runs(&self, repeats: u32) -> Vec<&Case> {
        let once: Vec<&Case> = match self {
            What::Cases(cases, _) => {
                let runnable = cases.iter().filter(|case| case.skip.is_none());
                runnable.map(|case| &case.planned.case).collect()
            }
            What::Interference(arms) => arms.cases().collect(),
        };
        (0..repeats).flat_map(|_| once.iter().copied()).collect()
    }

    /// What the seed has put in order.
    fn within(&self) -> &'static str {
        match self {
            What::Cases(..) => "repetition",
            What::Interference(_) => "block of two rounds",
        }
    }
}

/// Ask the transports before anything is opened. Options that make no sense end the program; a case that a transport
/// cannot do is skipped with its reason among others, and an error alone.
pub fn prepare(
    registry: &Registry,
    machine: &Machine,
    cases: Vec<PlannedCase>,
) -> Result<Vec<Prepared>, Failure> {
    let alone = cases.len() == 1;
    let mut prepared = Vec::with_capacity(cases.len());
    for planned in cases {
        let transport = &planned.case.transport;
        let check = registry.find(transport).map(|entry| (entry.check)(&planned.case));
        let check = match machine.job_obstacle(&planned.case) {
            Some(why) => Some(Err(MeasureError::Unsupported(format!(
                "{}: {why}",
                planned.case.label()
            )))),
            None => check,
        };
        let remedy = format!("see `wirespeed list {transport}`");
        let skip = match check {
            Some(Ok(())) => None,
            Some(Err(MeasureError::Unsupported(why))) if !alone => Some(without_label(&planned.case, &why)),
            Some(Err(why)) => return Err(Failure::usage(why.to_string(), remedy)),
            None => {
                return Err(Failure::usage(
                    format!("there is no transport {transport:?}"),
                    "see `wirespeed list`",
                ));
            }
        };
        prepared.push(Prepared { planned, skip });
    }
    Ok(prepared)
}

/// A reason that stands beside its case needs not repeat the case's name.
fn without_label(case: &Case, why: &str) -> String {
    let label = format!("{}: ", case.label());
    why.strip_prefix(&label).unwrap_or(why).to_owned()
}
