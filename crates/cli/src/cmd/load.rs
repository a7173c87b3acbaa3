//! `wirespeed load`: latency against offered load, in an open loop.

use super::ended;
use super::probe::{Prober, plan_of};
use crate::args::{ColorChoice, LoadArgs, OpenLoopArgs};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::open_loop::{Asked, Rates};
use crate::output::Output;
use std::time::Duration;
use wirespeed::Registry;
use wirespeed_report::curve::section;
use wirespeed_report::render;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::parse_duration_ns;

/// What one run takes where the words do not say.
const EACH: Duration = Duration::from_secs(1);

/// Measure response times against offered rates.
pub fn load(registry: &Registry, arguments: &LoadArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let asked = asked(arguments)?;
    let mut words = arguments.words.clone();
    if !words
        .first()
        .is_some_and(|word| ["am_bw", "rate", "bandwidth"].contains(&word.as_str()))
    {
        words.insert(0, "am_bw".to_owned());
    }
    let (plan, run) = plan_of(&words)?;
    if !run.case.pace.is_empty() {
        return Err(Failure::usage(
            "--pace is what varies",
            "leave --pace out; --offered before the -- names rates",
        ));
    }
    let mut output = Output::open(&arguments.output, color, render::load)?;
    let mut draft = Draft::begin(Some(plan.clone()), arguments.output.include_host_name);
    let duration = run.case.duration.first().map(|text| parse_duration_ns(text));
    let each = duration.and_then(Result::ok).map_or(EACH, Duration::from_nanos);
    let mut prober = Prober::new(
        registry,
        (plan, &run),
        "pace",
        &mut output,
        (&arguments.output, color),
    )?;
    let most_per_s = asked.offer((each, arguments.output.quiet), |rate| {
        let run = prober.measure(rate as u64)?;
        let carried = run.and_then(|run| run.metrics.get("rate_msg_per_s"));
        Ok(carried.map(|metric| metric.value.get()))
    })?;
    let finished = prober.finish()?;
    let results: Vec<CaseResult> = finished.results.into_iter().map(|(_, result)| result).collect();
    draft.section(section::LOAD, asked.section(&results, most_per_s));
    let run = draft.finish(results, finished.stopped);
    output.finish(&run)?;
    Ok(ended(&run, arguments.output.strict))
}

fn asked(arguments: &LoadArgs) -> Result<Asked, Failure> {
    let words = OpenLoopArgs {
        offered: None,
        points: arguments.points,
        p99: arguments.p99.clone(),
        seed: arguments.seed,
    };
    Asked::new(&arguments.offered, &words, arguments.trials, Rates::Whole)
}
