//! From a transport to published figures: the engine, the assembly, the document as bytes and back.

use crate::port::{Medium, Simulated, prepare};
use wirespeed::clock::virtual_time::VirtualTime;
use wirespeed::transport::registry::Entry;
use wirespeed::{Registry, ThreadBootstrap, measure};
use wirespeed_report::render::{JsonForm, json};
use wirespeed_report::{Limits, case_result, read_run, repetition};
use wirespeed_schema::case::{Case, RankSpec, Role, Stop};
use wirespeed_schema::outcome::Outcome;
use wirespeed_schema::run::{CaseResult, Repetition, Run, Tool};
use wirespeed_schema::test::{Layout, PingPong, Stream, Test};

/// A ping-pong of `count` messages.
pub fn ping_pong(size_bytes: u64, count: u64) -> Case {
    case(Test::AmLat(PingPong::new(size_bytes, Layout::Short)), count)
}

/// A stream of `count` messages.
pub fn stream(size_bytes: u64, window_msgs: u64, pace_msg_per_s: Option<u64>, count: u64) -> Case {
    let stream = Stream::new(size_bytes, Layout::Short, window_msgs).with_pace(pace_msg_per_s);
    case(Test::AmBw(stream), count)
}

fn case(test: Test, count: u64) -> Case {
    Case::new(test, "simulated")
        .with_ranks(vec![RankSpec::new(Role::Source).with_peer(0)])
        .with_stop(Stop::Iterations { count })
        .with_warmup(0, 0)
}

/// What the rank saw of one run over `transport`, in virtual time.
pub fn outcome(case: &Case, medium: Medium) -> Result<Outcome, String> {
    let registry = Registry::empty().with(Entry::of_messages::<Simulated>());
    let bootstrap = ThreadBootstrap::group(1).remove(0);
    let _time = VirtualTime::begin();
    prepare(medium);
    let mut outcome = measure(case, &registry, &bootstrap, &mut |_| ()).map_err(|e| e.to_string())?;
    // Of the machine nothing may enter: the same build gives the same answer everywhere.
    outcome.disturbance = Default::default();
    outcome.error.clone().map_or(Ok(outcome), Err)
}

/// One run with its figures.
pub fn run_once(case: &Case, medium: Medium, index: u32) -> Result<Repetition, String> {
    Ok(repetition(case, index, vec![outcome(case, medium)?], 0, 0))
}

/// The case as a reader of the published JSON document sees it.
pub fn published(case: &Case, repetitions: Vec<Repetition>) -> Result<CaseResult, String> {
    let result = case_result(case.clone(), repetitions, &Limits::default());
    let mut run = Run::of(Tool::default(), String::new());
    run.cases.push(result);
    let text = json(&run, JsonForm::Pretty).map_err(|e| e.to_string())?;
    let mut back = read_run(text.as_bytes()).map_err(|e| e.to_string())?;
    back.cases
        .pop()
        .ok_or_else(|| "the document lost its case".to_owned())
}

/// One run over `transport`, published.
pub fn one(case: &Case, medium: Medium) -> Result<CaseResult, String> {
    published(case, vec![run_once(case, medium, 0)?])
}

/// A figure of a result; not a number where it has none.
pub fn figure(result: &CaseResult, tag: &str) -> f64 {
    result
        .metrics
        .get(tag)
        .map_or(f64::NAN, |metric| metric.value.get())
}
