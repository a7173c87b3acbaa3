//! What an experiment found, and the document that it goes into.

use super::Experiment;
use crate::document::Draft;
use crate::errors::Failure;
use std::borrow::Cow;
use std::collections::BTreeMap;
use wirespeed_report::interference::{self, Arms, Interference, Loaded, Under};
use wirespeed_report::is_unreached;
use wirespeed_schema::Run;
use wirespeed_schema::order::{InOrder, map_of};
use wirespeed_schema::run::{CaseResult, Repetition, Status};
use wirespeed_schema::section::Order;

/// What an experiment found.
pub struct Found {
    /// One a cell, measured or not, by the order in which they were added; none where the run could not begin.
    pub results: Vec<CaseResult>,
    /// For each of the results, the subject that it belongs to.
    pub subjects: Vec<usize>,
    /// For each of the results, the cell that it is of.
    pub cells: Vec<usize>,
    /// Why it ended before its time, where not by the user's wish.
    pub failure: Option<Failure>,
    /// Whether the user ended it.
    pub stopped: bool,
    /// For cells under a load the runs without it and with it that are to be compared, where a verb has others than the results'.
    pub alike: BTreeMap<usize, [Vec<Repetition>; 2]>,
    refused: bool,
    /// Of each cell under a load, the load and the cell without it.
    loads: BTreeMap<usize, (Loaded, usize)>,
    /// Seed and rounds, where loads are compared with none.
    compared: Option<(u64, u32)>,
    /// Seed, and what is in random order, where more than one thing is.
    order: Option<(u64, &'static str)>,
}

impl Found {
    pub(super) fn of(experiment: Experiment) -> Found {
        let Experiment {
            cells,
            subjects,
            how,
            stop,
            failure,
            refused,
            ..
        } = experiment;
        let rounds = subjects.iter().map(|subject| subject.rounds).max().unwrap_or(0);
        let compared = subjects.iter().any(|subject| subject.cells.len() > 1);
        let order = match (compared, how.repeats > 1) {
            (true, _) => Some("block of two rounds"),
            (false, true) => Some("repetition"),
            (false, false) => None,
        };
        let mut owners = vec![0; cells.len()];
        for (number, subject) in subjects.iter().enumerate() {
            subject.cells.iter().for_each(|cell| owners[*cell] = number);
        }
        let loaded = cells.iter().enumerate();
        let loads = map_of(loaded.filter_map(|(number, cell)| Some((number, cell.loaded.clone()?))));
        let known = owners.into_iter().zip(cells).enumerate();
        let known = known.filter_map(|(number, (subject, cell))| Some((subject, number, cell.result?)));
        let (subjects, cells, results) = known.collect();
        Found {
            results,
            subjects,
            cells,
            failure,
            stopped: stop.is_requested(),
            alike: BTreeMap::new(),
            refused,
            loads,
            compared: how.has_loads().then_some((how.seed, rounds)),
            order: order.map(|within| (how.seed, within)),
        }
    }

    /// Nothing, because of `failure`.
    pub fn nothing(failure: Failure) -> Found {
        Found {
            results: Vec::new(),
            subjects: Vec::new(),
            cells: Vec::new(),
            failure: Some(failure),
            stopped: false,
            alike: BTreeMap::new(),
            refused: false,
            loads: BTreeMap::new(),
            compared: None,
            order: None,
        }
    }

    /// The results by rising `key` of their subjects.
    #[must_use]
    pub fn sorted_by(mut self, key: impl Fn(usize) -> f64) -> Self {
        let of = self.subjects.into_iter().zip(self.cells);
        let mut all: Vec<_> = of.zip(self.results).collect();
        all.order_by(|((a, _), _), ((b, _), _)| key(*a).total_cmp(&key(*b)));
        let (of, results): (Vec<_>, _) = all.into_iter().unzip();
        self.results = results;
        (self.subjects, self.cells) = of.into_iter().unzip();
        self
    }

    /// The results without load.
    pub fn undisturbed(&self) -> Cow<'_, [CaseResult]> {
        interference::without_load(&self.results, self.compared.is_some())
    }

    /// The place of the result that a subject has without load.
    pub fn without_load(&self, subject: usize) -> Option<usize> {
        let of = self.subjects.iter().zip(&self.cells);
        let mut of = of.map(|(of, cell)| *of == subject && !self.loads.contains_key(cell));
        of.position(|is_it| is_it)
    }

    /// What loads did, where there are any, by the results as they are now: a verb may have found wrong data in one.
    pub(super) fn interference(&self) -> Option<Interference> {
        let (seed, rounds) = self.compared?;
        // What the end of the run kept from being measured is said of the run, not of each load.
        let reached = self.cells.iter().copied().zip(&self.results);
        let reached = reached.filter(|(_, result)| !is_unreached(result));
        let by_cell: BTreeMap<usize, &CaseResult> = map_of(reached);
        let with = |off: usize| {
            let loaded = by_cell.iter().filter_map(|(cell, result)| {
                let (loaded, without) = self.loads.get(cell)?;
                (*without == off).then(|| Under {
                    loaded: loaded.clone(),
                    result: (*result).clone(),
                    alike: self.alike.get(cell).cloned(),
                })
            });
            loaded.collect()
        };
        let without = by_cell.iter().filter(|(cell, _)| !self.loads.contains_key(cell));
        let arms = without.map(|(cell, result)| Arms {
            off: (*result).clone(),
            on: with(*cell),
        });
        Some(Interference::judged(&arms.collect::<Vec<_>>(), seed, rounds))
    }

    /// The document, with what every experiment tells of itself.
    pub fn into_run(self, mut draft: Draft) -> Run {
        if let Some((seed, within)) = self.order {
            let within = within.to_owned();
            draft.put(&Order { seed, within });
        }
        if let Some(found) = self.interference() {
            draft.put(&found);
        }
        let mut run = match (&self.failure, self.results.is_empty()) {
            (Some(failure), true) => return draft.fail(failure.status(), failure.cause.clone()),
            _ => draft.finish(self.results, self.stopped),
        };
        if self.refused && run.status == Status::Failed {
            run.status = Status::Refused;
        }
        if let (Some(failure), Status::Ok | Status::Failed) = (&self.failure, run.status) {
            // Every case may have been measured, and what they share failed all the same.
            run.status = failure.status();
            run.error.get_or_insert_with(|| failure.cause.clone());
        }
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::case::Case;
    use wirespeed_schema::run::{CaseStatus, Metric, Repetition};
    use wirespeed_schema::test::{Layout, Stream, Test};

    fn result() -> CaseResult {
        let case = Case::new(Test::AmBw(Stream::new(4096, Layout::Short, 16)), "tcp");
        let repetition = |index: u32| Repetition {
            index,
            outcomes: Vec::new(),
            metrics: map_of(Metric::of(1e9, 100).map(|metric| ("bandwidth_bytes_per_s".to_owned(), metric))),
            setup_ns: 0,
            overlapping_sessions: 0,
        };
        CaseResult {
            status: CaseStatus::Ok,
            repetitions: (0..4).map(repetition).collect(),
            ..wirespeed_report::failed_case(case, "", None)
        }
    }

    /// Two cases with a load each, in cells 0 to 3, of which those of `cells` have results.
    fn found(cells: &[usize]) -> Found {
        let loaded = |off: usize| (off + 1, (Loaded::default(), off));
        Found {
            results: cells.iter().map(|_| result()).collect(),
            subjects: cells.iter().map(|cell| cell / 2).collect(),
            cells: cells.to_vec(),
            loads: map_of([0, 2].map(loaded)),
            compared: Some((7, 4)),
            ..Found::nothing(Failure::failed("", ""))
        }
    }

    #[test]
    fn a_result_whose_data_turn_out_wrong_is_compared_with_nothing() {
        let mut found = found(&[0, 1, 2, 3]);
        let counts = |found: &Found| {
            let told = found.interference().unwrap();
            (told.rows.len(), told.missing.len())
        };
        assert_eq!(counts(&found), (2, 0));
        found.results[1].status = CaseStatus::WrongData;
        assert_eq!(counts(&found), (1, 1));
    }

    #[test]
    fn what_a_verb_has_of_the_same_on_both_sides_is_compared_instead() {
        let mut found = found(&[0, 1, 2, 3]);
        let ratios = |found: &Found| -> Vec<f64> {
            let rows = found.interference().unwrap().rows;
            rows.iter().map(|row| row.row.ratio.get().round()).collect()
        };
        assert_eq!(ratios(&found), [1.0, 1.0]);
        let mut twice = result().repetitions;
        for metric in twice.iter_mut().flat_map(|run| run.metrics.values_mut()) {
            *metric = Metric::of(2.0 * metric.value.get(), metric.samples).unwrap();
        }
        found.alike.insert(3, [result().repetitions, twice]);
        assert_eq!(ratios(&found), [1.0, 2.0]);
        found.alike.insert(3, Default::default());
        assert_eq!(
            ratios(&found),
            [1.0],
            "of nothing that both have there is no ratio"
        );
    }

    #[test]
    fn the_result_without_load_is_none_where_only_that_with_it_ran() {
        let found = found(&[1, 2, 3]);
        assert_eq!([0, 1].map(|subject| found.without_load(subject)), [None, Some(1)]);
        assert_eq!(found.interference().unwrap().rows.len(), 1);
    }
}
