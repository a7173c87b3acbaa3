//! Intervals of headlines by the bootstrap, beside those from the order of runs or samples: they keep what is alike within
//! a run together, and also exist for rates and trimmed means, which no order statistic bounds.

use super::Metrics;
use crate::stats::{self, LEVEL};
use crate::tags::HEADLINES;
use crate::thresholds::INTERVAL_RUNS_MIN;
use std::collections::BTreeMap;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::outcome::{Outcome, SampleKind, Samples};
use wirespeed_schema::run::{Repetition, Resampled, Resampling};

/// Draws of each interval: its ends then lie within some hundredths of its width, also far out, for few runs.
const DRAWS: u32 = 2000;
/// Seed of the draws.
const SEED: u64 = 20_260_102;
/// Values within a run that are worth drawing blocks from.
const WITHIN_MIN: usize = 32;
/// Values drawn from, of all runs together; more are joined to medians of neighbours first.
const VALUES_MAX: usize = 2000;

/// Intervals of the headlines in `metrics` and of their trimmed means, by tag.
///
/// Six runs and more: runs are drawn, and within each drawn run blocks of its raw samples or, without those, of its slices
/// of time. One run: blocks within it. The values within a run are scaled so that their statistic is the run's published
/// figure, so that interval and figure are about the same thing.
pub(super) fn figures(repetitions: &[Repetition], metrics: &Metrics) -> BTreeMap<String, Resampled> {
    let mut found = BTreeMap::new();
    for (headline, trimmed, _) in HEADLINES {
        let published: Vec<f64> = repetitions
            .iter()
            .filter_map(|run| run.figure(headline))
            .collect();
        if !metrics.contains_key(headline) || published.len() < repetitions.len() {
            continue;
        }
        let statistic = Statistic::of(headline);
        found.extend(interval(repetitions, &published, statistic).map(|one| (headline.to_owned(), one)));
        if metrics.contains_key(trimmed) && published.len() >= INTERVAL_RUNS_MIN {
            let runs: Vec<Vec<f64>> = published.iter().map(|value| vec![*value]).collect();
            let mean = |values: &mut [f64]| stats::trimmed_mean(values).unwrap_or(f64::NAN);
            let drawn = stats::nested(&runs, how(), mean);
            found.extend(drawn.and_then(|one| Some((trimmed.to_owned(), resampled(one, Resampling::Runs)?))));
        }
    }
    found
}

/// What a headline is within a run.
#[derive(Clone, Copy, PartialEq)]
enum Statistic {
    /// The median of samples.
    Median,
    /// The mean of rates.
    Mean,
}

impl Statistic {
    fn of(tag: &str) -> Statistic {
        match tag.ends_with("_per_s") {
            true => Statistic::Mean,
            false => Statistic::Median,
        }
    }

    fn take(self, values: &mut [f64]) -> f64 {
        match self {
            Statistic::Median => stats::median(values),
            Statistic::Mean => values.iter().sum::<f64>() / values.len() as f64,
        }
    }
}

fn how() -> stats::Resampling {
    stats::Resampling {
        resamples: DRAWS,
        seed: SEED,
        level: LEVEL,
    }
}

fn interval(repetitions: &[Repetition], published: &[f64], statistic: Statistic) -> Option<Resampled> {
    let several = published.len() >= INTERVAL_RUNS_MIN;
    if published.len() > 1 && !several {
        return None;
    }
    let most = VALUES_MAX / published.len().max(1);
    let inside = |values: fn(&Repetition, Statistic) -> Option<Vec<f64>>| -> Option<Vec<Vec<f64>>> {
        let runs = repetitions.iter().zip(published);
        runs.map(|(repetition, value)| scaled(values(repetition, statistic)?, *value, statistic, most))
            .collect()
    };
    let (runs, method) = match (inside(raw), inside(slices), several) {
        (Some(runs), _, true) => (runs, Resampling::RunsThenBlocksOfSamples),
        (None, Some(runs), true) => (runs, Resampling::RunsThenBlocksOfSlices),
        (None, None, true) => (
            published.iter().map(|value| vec![*value]).collect(),
            Resampling::Runs,
        ),
        (Some(runs), _, false) => (runs, Resampling::BlocksOfSamples),
        (None, Some(runs), false) => (runs, Resampling::BlocksOfSlices),
        (None, None, false) => return None,
    };
    let median = |values: &mut [f64]| stats::summarize(values, LEVEL).map_or(f64::NAN, |over| over.median);
    let drawn = stats::nested_over_runs(&runs, how(), |values| statistic.take(values), median)?;
    resampled(drawn, method)
}

fn resampled(drawn: stats::bootstrap::Interval, method: Resampling) -> Option<Resampled> {
    Some(Resampled {
        method,
        lower: Finite::maybe(drawn.lower)?,
        upper: Finite::maybe(drawn.upper)?,
        level: Finite::maybe(LEVEL)?,
        draws_count: DRAWS,
        seed_sequence: SEED,
    })
}

/// Values of a run, joined to at most `most`, and scaled so that their statistic is `published`. `None` for too few.
fn scaled(values: Vec<f64>, published: f64, statistic: Statistic, most: usize) -> Option<Vec<f64>> {
    if values.len() < WITHIN_MIN || most < WITHIN_MIN {
        return None;
    }
    let mut joined: Vec<f64> = values
        .chunks(values.len().div_ceil(most))
        .map(|chunk| statistic.take(&mut chunk.to_vec()))
        .collect();
    let factor = published / statistic.take(&mut joined.clone());
    joined.iter_mut().for_each(|value| *value *= factor);
    joined.iter().all(|value| value.is_finite()).then_some(joined)
}

/// Raw samples of the one rank that has some; none for rates, which are no samples.
fn raw(repetition: &Repetition, statistic: Statistic) -> Option<Vec<f64>> {
    let timed = |samples: &&Samples| {
        matches!(samples.kind, SampleKind::RoundTrip | SampleKind::Completion) && !samples.raw_ns.is_empty()
    };
    let mut with = repetition
        .outcomes
        .iter()
        .flat_map(|outcome| &outcome.samples)
        .filter(timed);
    let samples = with.next().filter(|_| statistic == Statistic::Median)?;
    with.next()
        .is_none()
        .then(|| samples.raw_ns.iter().map(|value| value.get()).collect())
}

/// Slices of time: medians of the one rank that has some, or the rates at the receiving one of two ranks.
fn slices(repetition: &Repetition, statistic: Statistic) -> Option<Vec<f64>> {
    let values = |outcome: &Outcome| -> Vec<f64> {
        let whole = outcome.intervals.iter().filter(|slice| slice.duration_ns > 0);
        let value = |slice: &wirespeed_schema::outcome::Interval| match statistic {
            Statistic::Median => slice.p50_ns.map(Finite::get),
            Statistic::Mean => {
                let moved = slice.sent.messages.max(slice.received.messages);
                Some(moved as f64 / slice.duration_ns as f64)
            }
        };
        whole.filter_map(value).collect()
    };
    let mut with = repetition
        .outcomes
        .iter()
        .map(values)
        .filter(|values| !values.is_empty());
    match (statistic, repetition.outcomes.len()) {
        (Statistic::Median, _) => {
            let first = with.next()?;
            with.next().is_none().then_some(first)
        }
        // Of source and sink the sink comes last; what it receives is what is delivered.
        (Statistic::Mean, 0..=2) => with.next_back(),
        (Statistic::Mean, _) => None,
    }
}
