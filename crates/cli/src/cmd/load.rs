//! `wirespeed load`: latency against offered load, in an open loop.

use super::ended;
use super::probe::{Prober, plan_of};
use crate::args::{ColorChoice, LoadArgs};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::order::fresh_seed;
use crate::output::Output;
use wirespeed::Registry;
use wirespeed_report::curve::section::{self, LoadSection};
use wirespeed_report::render;
use wirespeed_report::stats::Random;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units;

/// A rate that no transport carries: the window alone limits.
const UNLIMITED_PER_S: u64 = 1_000_000_000;
/// The highest rate that is offered, as a part of the most that was carried.
const HIGHEST_SHARE: f64 = 1.05;

/// Measure response times against offered rates.
pub fn load(registry: &Registry, arguments: &LoadArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let bound_ns = arguments.p99.as_deref().map(bound).transpose()?;
    let mut words = arguments.words.clone();
    if !words
        .first()
        .is_some_and(|word| ["am_bw", "rate", "bandwidth"].contains(&word.as_str()))
    {
        words.insert(0, "am_bw".to_owned());
    }
    let (plan, run) = plan_of(&words)?;
    if !run.case.pace.is_empty() {
        return Err(Failure::usage("--pace is what varies", "leave --pace out"));
    }
    let mut output = Output::open(&arguments.output, color, render::load)?;
    let mut draft = Draft::begin(Some(plan.clone()), arguments.output.include_host_name);
    let mut prober = Prober::new(
        registry,
        (plan, &run),
        "pace",
        &mut output,
        (&arguments.output, color),
    )?;
    let mut most_per_s: f64 = 0.0;
    for _ in 0..arguments.trials {
        let rate = prober
            .measure(UNLIMITED_PER_S)?
            .and_then(|r| r.metrics.get("rate_msg_per_s"));
        most_per_s = most_per_s.max(rate.map_or(0.0, |metric| metric.value.get()));
    }
    let seed = arguments.seed.unwrap_or_else(fresh_seed);
    let mut random = Random::new(seed);
    if most_per_s >= 1.0 {
        let points = f64::from(arguments.points);
        let rates: Vec<u64> = (1..=arguments.points)
            .map(|number| {
                (most_per_s * HIGHEST_SHARE * f64::from(number) / points)
                    .round()
                    .max(1.0) as u64
            })
            .collect();
        for _ in 0..arguments.trials {
            let mut round = rates.clone();
            random.shuffle(&mut round);
            for rate in round {
                prober.measure(rate)?;
            }
        }
    }
    let finished = prober.finish()?;
    let results: Vec<CaseResult> = finished.results.into_iter().map(|(_, result)| result).collect();
    let section = LoadSection::new(&results, most_per_s, bound_ns, seed);
    draft.section(section::LOAD, section.to_value());
    let run = draft.finish(results, finished.stopped);
    output.finish(&run)?;
    Ok(ended(&run, arguments.output.strict))
}

fn bound(text: &str) -> Result<f64, Failure> {
    match units::parse_duration_ns(text) {
        Ok(ns) if ns > 0 => Ok(ns as f64),
        _ => Err(Failure::usage(
            format!("--p99: {text:?} is no time"),
            "give a duration with its unit, such as 50us or 2ms",
        )),
    }
}
