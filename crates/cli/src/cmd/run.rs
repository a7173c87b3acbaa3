//! `wirespeed run`: one test, a sweep, or a plan file.

use super::dry_run;
use super::front::Front;
use crate::args::{ColorChoice, RunArgs};
use crate::errors::{Ended, Failure};
use crate::experiment::{How, Prepared, Ranks};
use crate::group::{Groups, Reach};
use crate::{request, same};
use wirespeed::Machine;
use wirespeed::{MeasureError, Registry};
use wirespeed_schema::Case;
use wirespeed_schema::plan::{PlannedCase, expand};

/// Measure what the arguments ask for.
pub fn run(registry: &Registry, arguments: &RunArgs, color: ColorChoice) -> Result<Ended, Failure> {
    same::plan_apart(arguments, &arguments.output.output)?;
    let mut plan = request::plan(arguments)?;
    let how = How::of(&arguments.experiment, (&mut plan, 1), (&arguments.output, color))?;
    let reach = Reach::of(&arguments.far)?;
    let machine = crate::job::machine(registry);
    let cases = expand(&plan, &machine).map_err(|e| request::named(arguments, e.into()))?;
    let cases = prepare(registry, &machine, cases)?;
    if arguments.experiment.dry_run {
        return dry_run::show(&plan, how.listed(cases)?, arguments.output.json);
    }
    let mut ranks = Ranks::new(Groups::new(registry, reach));
    let front = Front::open((&arguments.output, color), Some(plan))?;
    front.measure(how, &mut ranks, vec![cases])
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
            Some(Err(MeasureError::Unsupported(why))) if !alone => {
                Some((without_label(&planned.case, &why), remedy))
            }
            Some(Err(why)) => return Err(Failure::usage(why.to_string(), remedy)),
            None => {
                return Err(Failure::usage(
                    format!("there is no transport {transport:?}"),
                    "see `wirespeed list`",
                ));
            }
        };
        prepared.push(Prepared {
            skip,
            ..Prepared::planned(planned)
        });
    }
    Ok(prepared)
}

/// A reason that stands beside its case needs not repeat the case's name.
pub fn without_label(case: &Case, why: &str) -> String {
    let label = format!("{}: ", case.label());
    why.strip_prefix(&label).unwrap_or(why).to_owned()
}
