//! `wirespeed sweep --over loggp`: windows of one and of several messages over sizes, all in random order, for LogGP.

use super::ended;
use super::run::prepare;
use crate::args::{ColorChoice, SweepArgs};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::group::{Groups, Reach};
use crate::order::fresh_seed;
use crate::output::Output;
use crate::session::{Repeating, Session};
use wirespeed::Registry;
use wirespeed_report::curve::section::{self, SweepSection};
use wirespeed_report::render;
use wirespeed_schema::plan::expand;
use wirespeed_schema::run::Status;

/// The test whose iteration is PRTT: a window of messages one way, then a short answer.
const TEST: &str = "osu_bw";
/// Sizes where the words give none.
const SIZES: &str = "8..64K:x4";
/// One message, and several: the more, the less noise is in their difference.
const WINDOWS: &str = "1,16";

/// Measure the windows of every size.
pub fn loggp(registry: &Registry, arguments: &SweepArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let mut words = arguments.words.clone();
    if words.first().is_none_or(|word| word.starts_with('-')) {
        words.insert(0, TEST.to_owned());
    }
    if words.first().is_some_and(|word| word != TEST) {
        let cause = format!("LogGP is measured with {TEST}, not with {}", words[0]);
        return Err(Failure::usage(
            cause,
            "leave the test out: wirespeed sweep --over loggp -- --via tcp",
        ));
    }
    let (mut plan, run) = super::probe::plan_of(&words)?;
    plan.repeats = arguments.repeats;
    for template in &mut plan.templates {
        for (key, values) in [("size", SIZES), ("window", WINDOWS)] {
            if !template.axes.contains_key(key) {
                template
                    .axes
                    .insert(key.to_owned(), wirespeed_schema::plan::split_axis(key, values)?);
            }
        }
    }
    let reach = Reach::of(&run.group)?;
    let machine = crate::job::machine(registry);
    let cases = prepare(registry, &machine, expand(&plan, &machine)?)?;
    let stop = super::stop_on_signals()?;
    let mut output = Output::open(&arguments.output, color, render::sweep)?;
    let seed = fresh_seed();
    let mut draft = Draft::begin(Some(plan), arguments.output.include_host_name);
    let section = SweepSection {
        over: "loggp".to_owned(),
        seed,
        probes: Vec::new(),
    };
    draft.section(section::SWEEP, section.to_value());
    let mut session = Session::new(
        Groups::new(registry, reach),
        &mut output,
        stop.clone(),
        (color, arguments.output.quiet),
    );
    let how = Repeating {
        repeats: arguments.repeats,
        seed,
        goal: None,
    };
    let results = session.run(&cases, &how)?;
    let refused = session.refused;
    let mut run = draft.finish(results, stop.is_requested());
    if refused && run.status == Status::Failed {
        run.status = Status::Refused;
    }
    output.finish(&run)?;
    Ok(ended(&run, arguments.output.strict))
}
