//! One cell of an experiment: a case in an arm, all of its runs so far, and the result that they make.

use super::asked::How;
use super::loads::loaded;
use super::runner::Measured;
use crate::errors::{Failure, exit};
use std::time::Instant;
use wirespeed_report::interference::{Loaded, under_load};
use wirespeed_report::{Limits, Runs};
use wirespeed_schema::case::{Case, Stop};
use wirespeed_schema::order::InOrder;
use wirespeed_schema::plan::PlannedCase;
use wirespeed_schema::run::{CaseResult, CaseStatus, Remark, Repetition};

/// What two arms are called.
const ARMS: [&str; 2] = ["A", "B"];

/// A case, and the reason why it cannot run where that is known beforehand.
pub struct Prepared {
    /// The case.
    pub planned: PlannedCase,
    /// Why the transport cannot do it here, and what can be done.
    pub skip: Option<(String, String)>,
    /// Why it cannot run, where that is a failure.
    pub failure: Option<Failure>,
}

impl Prepared {
    /// A case that can run.
    pub fn of(case: Case) -> Self {
        Prepared::planned(PlannedCase { case, template: 0 })
    }

    /// A case of a plan that can run.
    pub fn planned(planned: PlannedCase) -> Self {
        Prepared {
            planned,
            skip: None,
            failure: None,
        }
    }
}

/// A case and what is known of it.
pub struct Cell {
    /// The case, as it is planned or as it turned out.
    pub planned: PlannedCase,
    /// When it was to stop, where a budget made it shorter.
    asked_stop: Option<Stop>,
    /// Which of the arms it belongs to.
    pub arm: usize,
    /// The load, and the cell without it.
    pub loaded: Option<(Loaded, usize)>,
    /// Why it does not run, and what can be done.
    pub skip: Option<(String, String)>,
    /// What its medium carries at most, once that was found out.
    pub limits: Option<Limits>,
    runs: Runs,
    /// Why it is not run any more.
    pub failure: Option<Failure>,
    /// What was published of it.
    pub result: Option<CaseResult>,
}

impl Cell {
    /// `prepared`, with every load of `how` behind it where it can run. The first is to be cell number `number`.
    pub fn all_of(
        prepared: Prepared,
        (arm, number): (usize, usize),
        how: &How,
    ) -> Result<Vec<Cell>, Failure> {
        let Prepared {
            planned,
            skip,
            failure,
        } = prepared;
        let cell = |planned: PlannedCase, loaded| Cell {
            planned,
            asked_stop: None,
            arm,
            loaded,
            skip: None,
            limits: None,
            runs: Runs::default(),
            failure: None,
            result: None,
        };
        let mut cells = Vec::new();
        for load in how.loads.iter().filter(|_| skip.is_none() && failure.is_none()) {
            let (words, planned) = loaded(&planned, load)?;
            cells.push(cell(planned, Some((words, number))));
        }
        for storm in how.storms.iter().filter(|_| skip.is_none() && failure.is_none()) {
            cells.push(cell(planned.clone(), Some((storm.clone(), number))));
        }
        let off = Cell {
            skip,
            failure,
            ..cell(planned, None)
        };
        cells.insert(0, off);
        Ok(cells)
    }

    /// The case as it was asked for, whatever a budget made of it.
    pub fn asked(&self) -> Case {
        let mut case = self.planned.case.clone();
        case.stop = self.asked_stop.unwrap_or(case.stop);
        case
    }

    /// Run it as `case`, which fits into a budget.
    pub fn fit(&mut self, case: Case) {
        self.asked_stop.get_or_insert(self.planned.case.stop);
        self.planned.case = case;
    }

    /// Its runs that count: those that came to their end, or all where none did.
    pub fn runs(&self) -> &[Repetition] {
        self.runs.counting()
    }

    /// Whether there is something to publish.
    pub fn is_known(&self) -> bool {
        self.skip.is_some() || self.failure.is_some() || !self.runs.is_empty()
    }

    /// Whether it runs no more.
    pub fn has_ended(&self) -> bool {
        self.skip.is_some() || self.failure.is_some() || self.result.is_some()
    }

    /// Whether it is known well enough after measuring since `began`.
    pub fn has_reached(&self, how: &How, began: Instant) -> bool {
        let look = |goal: &wirespeed_report::Goal| goal.look(&self.runs, elapsed_ns(began), false);
        how.goal.as_ref().is_some_and(|goal| look(goal).is_some())
    }

    /// Keep what a run gave. Whether the far end refused.
    pub fn keep(&mut self, measured: Measured, is_stopped: bool) -> bool {
        if let Some(case) = measured.case {
            self.planned.case = case;
        }
        if measured.repetition.is_none() && measured.failure.is_none() {
            // Nothing was measured, which unsays no failure of an earlier run.
            return false;
        }
        if let Some(run) = measured.repetition {
            self.runs.keep(&self.planned.case, run, measured.broke_off);
        }
        let refused = measured.failure.as_ref().is_some_and(|f| f.code == exit::REFUSED);
        // What an interruption breaks off is no failure of the case.
        self.failure = measured.failure.filter(|_| !is_stopped);
        refused
    }

    /// Make the result of the runs that there are; a failure of a later one makes it partial. `None` where nothing is known,
    /// or the result is made already.
    pub fn settle(&mut self, how: &How, began: Instant, remarks: Vec<Remark>) -> Option<&CaseResult> {
        if self.result.is_some() || !self.is_known() {
            return None;
        }
        let mut result = self.assemble(how, began, remarks);
        result.arm = how.paired.then(|| ARMS[self.arm.min(1)].to_owned());
        result.under = self.loaded.as_ref().map(|(loaded, _)| loaded.load.clone());
        crate::remedies::told(&mut result.remarks);
        result.remedy = result.remedy.as_deref().map(crate::remedies::in_own_words);
        self.result = Some(result);
        self.result.as_ref()
    }

    /// Make the result of a cell of which nothing is known when the run ends. It never began, so nobody waits to hear of it.
    /// Why it did not, and what can be done, is `left`.
    pub fn cut(&mut self, left: (&str, &str), how: &How, began: Instant) {
        if self.result.is_none() {
            self.skip = Some((left.0.to_owned(), left.1.to_owned()));
            self.settle(how, began, Vec::new());
        }
    }

    fn assemble(&mut self, how: &How, began: Instant, remarks: Vec<Remark>) -> CaseResult {
        let case = self.planned.case.clone();
        if let Some((reason, remedy)) = &self.skip {
            return wirespeed_report::skipped_case(case, reason, Some(remedy.clone()));
        }
        if let (Some(failure), true) = (&self.failure, self.runs.is_empty()) {
            return wirespeed_report::failed_case(case, &failure.cause, Some(failure.remedy.clone()));
        }
        let goal = how.goal.as_ref();
        let convergence = goal.and_then(|goal| goal.look(&self.runs, elapsed_ns(began), true));
        let limits = self.limits.take().unwrap_or_default();
        let mut result = wirespeed_report::result_of(case, std::mem::take(&mut self.runs), &limits);
        if let Some(failure) = &self.failure {
            if result.status == CaseStatus::Ok {
                result.status = CaseStatus::Partial;
            }
            // A rank only knows that it was ended; the group knows why.
            if result.status == CaseStatus::Partial {
                result.error = None;
                result.remedy = None;
            }
            result.error.get_or_insert_with(|| failure.cause.clone());
            result.remedy.get_or_insert_with(|| failure.remedy.clone());
        }
        result.remarks.extend(remarks);
        result
            .remarks
            .order_by_key(|remark| std::cmp::Reverse(remark.severity));
        if self.loaded.is_some() {
            result = under_load(result);
        }
        match convergence {
            Some(convergence) => wirespeed_report::with_convergence(result, convergence),
            None => result,
        }
    }
}

fn elapsed_ns(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
