//! A case's figures from its repetitions': the repetition is the unit, its figures are the values.

use super::{Metrics, flows, insert, latency, rounded_level};
use crate::stats::{self, LEVEL};
use crate::tags::{self, OverRuns, Tag};
use wirespeed_schema::finite::Finite;
use wirespeed_schema::run::{Metric, Repetition, Withheld};

/// Figures over `repetitions`, and quantiles that some repetition had too few samples for.
///
/// One repetition: its own figures with their intervals, which cover variation within the run alone. More: see
/// [`OverRuns`]; the interval is then over runs, and below six runs the smallest and largest value without a level.
pub(super) fn figures(repetitions: &[Repetition]) -> (Metrics, Vec<Withheld>) {
    let withheld = withheld(repetitions);
    let [only] = repetitions else {
        return (several(repetitions, &withheld), withheld);
    };
    (only.metrics.clone(), withheld)
}

fn several(repetitions: &[Repetition], withheld: &[Withheld]) -> Metrics {
    let mut metrics = Metrics::new();
    for tag in tags::ALL {
        let found: Vec<&Metric> = repetitions
            .iter()
            .filter_map(|r| r.metrics.get(tag.name))
            .collect();
        // A quantile that one run lacks would be the median of the longer runs only.
        if found.is_empty() || withheld.iter().any(|other| is_withheld(tag.name, &other.tag)) {
            continue;
        }
        if let Some(metric) = over_runs(tag, &found) {
            metrics.insert(tag.name.to_owned(), metric);
        }
    }
    flows::add_pooled(
        &mut metrics,
        repetitions.iter().flat_map(|repetition| &repetition.outcomes),
    );
    for (headline, trimmed, spread) in tags::HEADLINES {
        let values: Vec<f64> = repetitions
            .iter()
            .filter_map(|run| run.figure(headline))
            .collect();
        let runs = values.len() as u64;
        if !metrics.contains_key(headline) {
            continue;
        }
        if let Some(mean) = stats::trimmed_mean(&values) {
            insert(&mut metrics, trimmed, mean, runs);
        }
        if let Some(ratio) = between_runs_ratio(&values) {
            insert(&mut metrics, spread, ratio, runs);
        }
    }
    metrics
}

/// A one-way figure is withheld with the round-trip figure that it is half of.
fn is_withheld(tag: &str, withheld: &str) -> bool {
    tag == withheld
        || tag
            .strip_prefix("one_way_")
            .is_some_and(|part| withheld.strip_prefix("rtt_") == Some(part))
}

fn over_runs(tag: &Tag, found: &[&Metric]) -> Option<Metric> {
    let values: Vec<f64> = found.iter().map(|metric| metric.value.get()).collect();
    let bare = |value: f64| {
        Some(Metric {
            value: Finite::maybe(value)?,
            lower: None,
            upper: None,
            level: None,
            samples: found
                .iter()
                .fold(0u64, |sum, metric| sum.saturating_add(metric.samples)),
            derived: found.iter().all(|metric| metric.derived),
        })
    };
    match tag.over_runs {
        OverRuns::Least => bare(values.iter().copied().fold(f64::INFINITY, f64::min)),
        OverRuns::Greatest => bare(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        // Without outcomes the mean of the ratios stands in until the pooled ratio replaces it.
        OverRuns::Pooled => bare(values.iter().map(|value| value / values.len() as f64).sum()),
        OverRuns::CaseOnly => None,
        OverRuns::Median => {
            let summary = stats::summarize(&values, LEVEL)?;
            let mut metric = bare(summary.median)?;
            if tag.interval && summary.runs > 1 {
                metric.lower = Finite::maybe(summary.lower);
                metric.upper = Finite::maybe(summary.upper);
                metric.level = summary.level.and_then(rounded_level);
            }
            Some(metric)
        }
    }
}

/// (largest - smallest) / median; `None` below two runs or where the median is not above 0.
fn between_runs_ratio(values: &[f64]) -> Option<f64> {
    let summary = stats::summarize(values, LEVEL)?;
    if summary.runs < 2 || summary.median <= 0.0 {
        return None;
    }
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some((greatest - least) / summary.median)
}

/// What some repetition withheld, each tag once, with the fewest samples that a repetition had.
fn withheld(repetitions: &[Repetition]) -> Vec<Withheld> {
    let mut all: Vec<Withheld> = Vec::new();
    for withheld in repetitions
        .iter()
        .flat_map(|repetition| latency::withheld(&repetition.metrics))
    {
        match all.iter_mut().find(|other| other.tag == withheld.tag) {
            Some(known) => known.samples = known.samples.min(withheld.samples),
            None => all.push(withheld),
        }
    }
    all
}
