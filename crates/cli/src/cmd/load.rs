//! `wirespeed load`: latency against offered load, in an open loop.

use super::dry_run;
use super::front::Front;
use super::probe::{plan_of, prepared};
use crate::args::{ColorChoice, LoadArgs, OpenLoopArgs};
use crate::behind::{PACE, RATES_ARE_OFFERED};
use crate::errors::{Ended, Failure};
use crate::experiment::{How, Points, Ranks};
use crate::group::{Groups, Reach};
use crate::open_loop::{Asked, Rates, TRIALS};
use wirespeed::Registry;
use wirespeed_schema::plan::canonical_test;

/// The stream whose messages are offered.
const STREAM: &str = "am_bw";

/// Measure response times against offered rates.
pub fn load(registry: &Registry, arguments: &LoadArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let asked = asked(arguments)?;
    let (mut plan, run) = plan_of(&of_a_stream(&arguments.words)?)?;
    if !run.case.of(PACE).is_empty() {
        return Err(Failure::usage("--pace is what varies", RATES_ARE_OFFERED));
    }
    let how = How::of(
        &arguments.experiment,
        (&mut plan, TRIALS),
        (&arguments.output, color),
    )?;
    let machine = crate::job::machine(registry);
    let at = |rate: f64| prepared((registry, &machine), &plan, (PACE, rate));
    if arguments.experiment.dry_run {
        let cases: Result<_, Failure> = asked.known().into_iter().map(at).collect();
        return dry_run::show_about(&plan, how.listed(cases?)?, arguments.output.json, &asked.about());
    }
    let seed = how.seed;
    let mut ranks = Ranks::new(Groups::new(registry, Reach::of(&run.far)?));
    let mut front = Front::open((&arguments.output, color), Some(plan.clone()))?;
    let mut points = Points::new(front.experiment(how, &mut ranks), at);
    asked.offer(&mut points)?;
    let found = points.finish()?;
    front.draft.put(&asked.section(&found.undisturbed(), seed));
    front.publish(found)
}

/// The words for `wirespeed run` with the stream that they need not name.
fn of_a_stream(words: &[String]) -> Result<Vec<String>, Failure> {
    match words.first().filter(|word| !word.starts_with('-')) {
        Some(test) if canonical_test(test).is_ok_and(|name| name == STREAM) => Ok(words.to_vec()),
        Some(test) => Err(Failure::usage(
            format!("{test:?}: what is offered are the messages of {STREAM}, not those of another test"),
            "leave the test out: `wirespeed load -- --via tcp`; `wirespeed sweep` takes every test",
        )),
        None => Ok(std::iter::once(STREAM.to_owned())
            .chain(words.iter().cloned())
            .collect()),
    }
}

fn asked(arguments: &LoadArgs) -> Result<Asked, Failure> {
    let words = OpenLoopArgs {
        offered: None,
        points: arguments.points,
        p99: arguments.p99.clone(),
    };
    Asked::new(&arguments.offered, &words, Rates::Whole)
}
