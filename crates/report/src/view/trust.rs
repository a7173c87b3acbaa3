//! The instrument in one line: what one read of the clock costs, the noise, the samples, the runs.

use super::cases::Kind;
use crate::figures::count;
use crate::wording::percent;
use wirespeed_schema::host::Noise;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::format_ns;
use wirespeed_schema::{Outcome, Run};

/// `timer 11 ns · step 1 ns · harness 24 ns · noise 0.3 % before, 0.1 % after · 1 M samples · 7 runs`: the worst of all
/// cases.
pub fn trust_line(run: &Run) -> Option<String> {
    let results = run.cases.as_slice();
    let outcomes: Vec<_> = results
        .iter()
        .flat_map(|r| &r.repetitions)
        .flat_map(|r| &r.outcomes)
        .collect();
    // Nought: nobody said.
    let worst = |values: Vec<f64>| values.into_iter().reduce(f64::max).filter(|value| *value > 0.0);
    let mut parts = Vec::new();
    if let Some(cost) = worst(
        outcomes
            .iter()
            .map(|outcome| outcome.clock.cost_ns.get())
            .collect(),
    ) {
        parts.push(format!("timer {}", format_ns(cost)));
    }
    if let Some(step) = worst(
        outcomes
            .iter()
            .map(|outcome| outcome.clock.step_ns.get())
            .collect(),
    ) {
        parts.push(format!("step {}", format_ns(step)));
    }
    let floors = outcomes.iter().filter_map(|outcome| outcome.floor.as_ref());
    if let Some(floor) = worst(floors.map(|floor| floor.loop_ns.get()).collect()) {
        parts.push(format!("harness {}", format_ns(floor)));
    }
    parts.extend(noise_part(&outcomes));
    parts.extend(samples_part(results));
    let runs = || {
        results
            .iter()
            .filter(|r| !r.metrics.is_empty())
            .map(|r| r.repetitions.len())
    };
    let (fewest, most) = (runs().min()?, runs().max()?);
    parts.extend(match (fewest, most) {
        // The file of another tool tells of none.
        (_, 0) => None,
        (_, 1) if moves_once(&run.command) => Some("1 run".to_owned()),
        (_, 1) => Some("1 run (--repeats 6 for an interval over runs)".to_owned()),
        (fewest, most) if fewest == most => Some(format!("{most} runs")),
        (fewest, most) => Some(format!("{fewest} to {most} runs")),
    });
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Whether the command moves a file for its own sake: it has no repetitions to ask for.
fn moves_once(command: &[String]) -> bool {
    let mut words = command.iter().skip_while(|word| *word != "byteio");
    let verb = words.find(|word| matches!(word.as_str(), "get" | "put" | "bench"));
    verb.is_some_and(|verb| verb != "bench")
}

/// The noisiest scans before and after the runs.
fn noise_part(outcomes: &[&Outcome]) -> Option<String> {
    let lost = |of: fn(&Outcome) -> &Option<Noise>| {
        let scans = outcomes.iter().filter_map(|outcome| of(outcome).as_ref());
        scans.map(|noise| noise.lost_ratio.get()).reduce(f64::max)
    };
    match (lost(|o| &o.noise), lost(|o| &o.noise_after)) {
        (Some(before), Some(after)) => Some(format!(
            "noise {} before, {} after",
            percent(before.max(0.0)),
            percent(after.max(0.0))
        )),
        (one, other) => Some(format!("noise {}", percent(one.or(other)?.max(0.0)))),
    }
}

/// The fewest and the most samples of a headline; neighbouring ones that resemble each other tell less than as many independent ones.
fn samples_part(results: &[CaseResult]) -> Option<String> {
    // A transfer is one figure, whatever its size.
    let sampled = results.iter().filter(|r| Kind::of(&r.case.test) != Kind::Bulk);
    let headlines = sampled.filter_map(|r| r.metrics.get(Kind::of(&r.case.test).headline()));
    let samples = headlines.map(|metric| metric.samples);
    let (samples, most) = (samples.clone().min()?, samples.max()?);
    let shares = results
        .iter()
        .filter_map(|r| r.metrics.get("effective_samples_ratio"));
    let worth = shares
        .map(|share| share.value.get())
        .reduce(f64::min)
        .filter(|share| *share < 1.0);
    let worth = worth.map(|share| format!(", worth {}", count((samples as f64 * share).max(1.0) as u64)));
    let range = match most > samples {
        true => format!(" to {}", count(most)),
        false => String::new(),
    };
    let name = if most == 1 { "sample" } else { "samples" };
    Some(format!(
        "{}{range} {name}{}",
        count(samples),
        worth.unwrap_or_default()
    ))
}
