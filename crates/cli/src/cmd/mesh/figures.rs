//! Figures of pairs: those of one pair from what its two ranks saw, and of a cycle over all pairs. It must never judge one.

use std::collections::BTreeMap;
use wirespeed_report::stats::median;
use wirespeed_schema::Outcome;
use wirespeed_schema::case::Case;
use wirespeed_schema::order::map_of;
use wirespeed_schema::run::{Metric, Repetition};

/// Figures of one pair by tag, and the samples behind each.
pub type Figures = BTreeMap<String, (f64, u64)>;
/// Figures of many pairs.
pub type All = BTreeMap<String, Vec<(f64, u64)>>;

/// The figures of a pair, as those of a run between these two ranks alone.
pub fn figures(case: &Case, ends: [Outcome; 2]) -> Result<Figures, String> {
    if let Some(error) = ends.iter().find_map(|end| end.error.clone()) {
        return Err(error);
    }
    let ranks = ends.each_ref().map(|end| case.ranks[end.rank as usize].clone());
    let [from, to] = ranks;
    let alone = case.clone().with_ranks(vec![from.with_peer(1), to.with_peer(0)]);
    let numbered = (0..).zip(ends).map(|(rank, end)| Outcome { rank, ..end });
    let repetition = wirespeed_report::repetition(&alone, 0, numbered.collect(), 0, 0);
    if let Some(why) = wirespeed_report::broken_law(&alone, &repetition) {
        return Err(why);
    }
    let metrics = repetition.metrics.into_iter();
    let of_pair = metrics.filter(|(tag, _)| tag != "setup_ns");
    Ok(map_of(of_pair.map(|(tag, metric)| {
        (tag, (metric.value.get(), metric.samples))
    })))
}

/// A cycle as one run: of each figure the median over pairs, which rests on no more samples than the pair with fewest has.
pub fn repetition(index: u32, figures: All) -> Repetition {
    let metric = |(tag, pairs): (String, Vec<(f64, u64)>)| {
        let samples = pairs.iter().map(|(_, samples)| *samples).min().unwrap_or(0);
        let mut values: Vec<f64> = pairs.iter().map(|(value, _)| *value).collect();
        Some((tag, Metric::of(median(&mut values), samples)?))
    };
    Repetition {
        index,
        outcomes: Vec::new(),
        metrics: map_of(figures.into_iter().filter_map(metric)),
        setup_ns: 0,
        overlapping_sessions: 0,
    }
}
