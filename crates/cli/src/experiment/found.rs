//! What an experiment found, and the document that it goes into.

use super::{Experiment, cell::Cell};
use crate::document::Draft;
use crate::errors::Failure;
use std::borrow::Cow;
use wirespeed_report::interference::{self, Arms, Interference};
use wirespeed_schema::Run;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::run::{CaseResult, Status};
use wirespeed_schema::section::Order;

/// What an experiment found.
pub struct Found {
    /// By the order in which cells were added; those that an interruption left unmeasured are absent.
    pub results: Vec<CaseResult>,
    /// For each of the results, the subject that it belongs to.
    pub subjects: Vec<usize>,
    /// For each of the results, the cell that it is of.
    pub cells: Vec<usize>,
    /// What loads did, where there are any.
    pub interference: Option<Interference>,
    /// Why it ended before its time, where not by the user's wish.
    pub failure: Option<Failure>,
    /// Whether the user ended it.
    pub stopped: bool,
    refused: bool,
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
        let interference = how
            .has_loads()
            .then(|| Interference::judged(&arms(&cells), how.seed, rounds));
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
        let known = owners.into_iter().zip(cells).enumerate();
        let known = known.filter_map(|(number, (subject, cell))| Some((subject, number, cell.result?)));
        let (subjects, cells, results) = known.collect();
        Found {
            results,
            subjects,
            cells,
            interference,
            failure,
            stopped: stop.is_requested(),
            refused,
            order: order.map(|within| (how.seed, within)),
        }
    }

    /// Nothing, because of `failure`.
    pub fn nothing(failure: Failure) -> Found {
        Found {
            results: Vec::new(),
            subjects: Vec::new(),
            cells: Vec::new(),
            interference: None,
            failure: Some(failure),
            stopped: false,
            refused: false,
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
        interference::without_load(&self.results, self.interference.is_some())
    }

    /// The document, with what every experiment tells of itself.
    pub fn into_run(self, mut draft: Draft) -> Run {
        if let Some((seed, within)) = self.order {
            let within = within.to_owned();
            draft.put(&Order { seed, within });
        }
        if let Some(found) = &self.interference {
            draft.put(found);
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

/// Every case without load that was measured, and with each.
fn arms(cells: &[Cell]) -> Vec<Arms> {
    let without = cells.iter().enumerate().filter(|(_, cell)| cell.loaded.is_none());
    let with = |off: usize| {
        let loaded = cells.iter().filter_map(move |cell| match &cell.loaded {
            Some((loaded, without)) if *without == off => Some((loaded.clone(), cell.result.clone()?)),
            _ => None,
        });
        loaded.collect()
    };
    let arms = without.filter_map(|(number, cell)| {
        Some(Arms {
            off: cell.result.clone()?,
            on: with(number),
        })
    });
    arms.collect()
}
