//! Figures of pairs: those of one pair from what its two ranks saw, of a cycle over all pairs, and of two cycles over those pairs
//! that both have. It must never judge one.

use crate::experiment::Visit;
use std::collections::{BTreeMap, BTreeSet};
use wirespeed_mesh::{Lack, Pair};
use wirespeed_report::stats::median;
use wirespeed_schema::Outcome;
use wirespeed_schema::case::Case;
use wirespeed_schema::order::map_of;
use wirespeed_schema::run::{Metric, Repetition};

/// Figures of one pair by tag, and the samples behind each.
pub type Figures = BTreeMap<String, (f64, u64)>;
/// Figures of many pairs by tag, and the samples behind each.
pub type All = BTreeMap<String, Vec<(Pair, f64, u64)>>;

/// The figures of a pair, as those of a run between these two ranks alone. Wrong data are told whatever else failed.
pub fn figures(case: &Case, ends: [Outcome; 2]) -> Result<Figures, Lack> {
    let error = ends.iter().find_map(|end| end.error.clone());
    let ranks = ends.each_ref().map(|end| case.ranks[end.rank as usize].clone());
    let [from, to] = ranks;
    let alone = case.clone().with_ranks(vec![from.with_peer(1), to.with_peer(0)]);
    let numbered = (0..).zip(ends).map(|(rank, end)| Outcome { rank, ..end });
    let repetition = wirespeed_report::repetition(&alone, 0, numbered.collect(), 0, 0);
    let broken = wirespeed_report::broken_law(&alone, &repetition);
    match (broken, error) {
        (Some(broken), _) if broken.is_wrong_data => return Err(Lack::WrongData(broken.why)),
        (_, Some(error)) => return Err(Lack::Failed(error)),
        (Some(broken), None) => return Err(Lack::NoFigure(broken.why)),
        (None, None) => {}
    }
    let metrics = repetition.metrics.into_iter();
    let of_pair = metrics.filter(|(tag, _)| tag != "setup_ns");
    Ok(map_of(of_pair.map(|(tag, metric)| {
        (tag, (metric.value.get(), metric.samples))
    })))
}

/// A cycle as one run: of each figure the median over pairs, which rests on no more samples than the pair with fewest has.
pub fn repetition(index: u32, figures: &All) -> Repetition {
    let metric = |(tag, pairs): (&String, &Vec<(Pair, f64, u64)>)| {
        let samples = pairs.iter().map(|(_, _, samples)| *samples).min().unwrap_or(0);
        let mut values: Vec<f64> = pairs.iter().map(|(_, value, _)| *value).collect();
        Some((tag.clone(), Metric::of(median(&mut values), samples)?))
    };
    Repetition {
        index,
        outcomes: Vec::new(),
        metrics: map_of(figures.iter().filter_map(metric)),
        setup_ns: 0,
        overlapping_sessions: 0,
    }
}

/// The cycles of one case that are run one right after the other, without a load and under each, in whatever order. What a load
/// does to a mesh is told over the pairs that have a figure with it and without: those that give none under it are often the slowest.
#[derive(Debug, Default)]
pub struct Block {
    /// Its case, and its number.
    number: (usize, u32),
    without: Option<All>,
    /// Those of cells under a load until that without is there.
    under: Vec<(usize, All)>,
}

impl Block {
    /// What `visit` gave; the cells under a load that can be compared now, each with the run without it and its own.
    pub fn add(&mut self, visit: Visit, figures: All) -> Vec<(usize, [Repetition; 2])> {
        let number = (visit.subject, visit.round);
        if self.number != number {
            *self = Block {
                number,
                ..Block::default()
            };
        }
        match visit.load {
            None => self.without = Some(figures),
            Some(_) => self.under.push((visit.cell, figures)),
        }
        let Some(without) = &self.without else {
            return Vec::new();
        };
        let run = |of: &All, beside: &All| repetition(visit.round, &shared(of, beside));
        let under = self.under.drain(..);
        under
            .map(|(cell, under)| (cell, [run(without, &under), run(&under, without)]))
            .collect()
    }
}

/// What `figures` has of the pairs that `other` has a figure of, too.
fn shared(figures: &All, other: &All) -> All {
    let of_tag = |(tag, pairs): (&String, &Vec<(Pair, f64, u64)>)| {
        let there: BTreeSet<Pair> = other.get(tag)?.iter().map(|(pair, ..)| *pair).collect();
        let both = pairs.iter().filter(|(pair, ..)| there.contains(pair));
        Some((tag.clone(), both.copied().collect()))
    };
    map_of(figures.iter().filter_map(of_tag))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use wirespeed_schema::case::{RankSpec, Role};
    use wirespeed_schema::test::{Layout, Stream, Test};

    /// What a rank tells that moved one message of 4096 bytes in a second.
    pub fn outcome(rank: u32) -> Outcome {
        let text = format!(
            r#"{{"rank": {rank}, "role": "source", "stop": "completed", "elapsed_ns": 1000000000,
                "sent": {{"messages": 1, "bytes": 4096}}, "received": {{"messages": 0, "bytes": 0}},
                "warmup_operations": 0, "samples": [], "idle": "spin", "disturbance": {{}}, "clock": {{"source": "",
                "cost_ns": 0, "step_ns": 0, "ticks_per_ns": 0, "calibration_error_ppm": 0}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    /// Figures of pairs with these numbers.
    fn all(values: &[(usize, f64)]) -> All {
        let pair = |(number, value): &(usize, f64)| {
            let pair = Pair {
                from: *number,
                to: number + 1,
            };
            (pair, *value, 100)
        };
        map_of([("rtt_p50_ns".to_owned(), values.iter().map(pair).collect())])
    }

    #[test]
    fn a_load_is_told_over_the_pairs_that_have_figures_with_it_and_without() {
        let visit = |cell: usize, load: Option<&'static str>, round: u32| Visit {
            cell,
            subject: 0,
            load,
            arm: 0,
            round,
        };
        // The slow pair 3 dies under the load, and pair 4 lives under it alone.
        let without = all(&[(0, 10.0), (1, 12.0), (2, 14.0), (3, 90.0)]);
        let under = all(&[(0, 20.0), (1, 24.0), (2, 28.0), (4, 1.0)]);
        let medians = |found: Vec<(usize, [Repetition; 2])>| -> Vec<(usize, [f64; 2])> {
            let median = |run: &Repetition| run.metrics["rtt_p50_ns"].value.get();
            let found = found.iter();
            found
                .map(|(cell, runs)| (*cell, runs.each_ref().map(median)))
                .collect()
        };
        let mut block = Block::default();
        assert!(block.add(visit(1, Some("incast"), 0), under.clone()).is_empty());
        let found = medians(block.add(visit(0, None, 0), without.clone()));
        assert_eq!(found, [(1, [12.0, 24.0])]);
        let found = medians(block.add(visit(2, Some("outcast"), 0), under.clone()));
        assert_eq!(found, [(2, [12.0, 24.0])], "after that without");
        assert!(
            block.add(visit(1, Some("incast"), 1), under).is_empty(),
            "another block"
        );
    }

    #[test]
    fn wrong_data_are_told_whatever_else_failed() {
        let ranks = [Role::Source, Role::Sink].map(RankSpec::new).to_vec();
        let case = Case::new(Test::AmBw(Stream::new(4096, Layout::Short, 16)), "tcp").with_ranks(ranks);
        let lack = |change: fn(&mut Outcome)| {
            let mut ends = [0, 1].map(outcome);
            change(&mut ends[1]);
            figures(&case, ends).unwrap_err()
        };
        let broken = lack(|end| end.error = Some("its peer is gone".to_owned()));
        assert_eq!(broken, Lack::Failed("its peer is gone".to_owned()));
        let wrong = lack(|end| {
            end.error = Some("its peer is gone".to_owned());
            end.faults.corrupt_messages = 2;
        });
        assert!(
            matches!(&wrong, Lack::WrongData(why) if why.starts_with("2 messages")),
            "{wrong:?}"
        );
    }
}
