//! The one loop over cases. An experiment is arms x cases x loads, measured round by round in an order of its own until a
//! rule says stop; every verb that measures is words in, an experiment, and a view of what it found.
//!
//! Here are the order, the repetitions, the goal, the budget, progress, events, failures and the user's wish to end. How a
//! case is measured once is a [`Runner`]'s. Nothing here may know a verb, a test or a transport.

mod asked;
mod budget;
mod cell;
mod found;
pub mod loads;
mod medium;
mod order;
mod points;
mod runner;
#[cfg(test)]
mod tests;

pub use asked::{How, fill, pin};
pub use budget::Budget;
pub use cell::Prepared;
pub use found::Found;
pub use order::fresh_seed;
pub use points::Points;
pub use runner::{Measured, OnSeen, PairSeen, Ranks, Runner, Seen, Visit};

use crate::errors::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::terminal::{self, Stream};
use crate::watch::Watch;
use budget::Rest;
use cell::Cell;
use order::Order;
use std::time::{Duration, Instant};
use wirespeed_control::StopFlag;
use wirespeed_report::{UNREACHED, render};
use wirespeed_schema::Case;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::run::{Event, Repetition};

/// Why a case did not run under a goal.
const GOAL_TIME: &str = "the time of the goal was used up before it ran";
const GOAL_TIME_REMEDY: &str = "give more --until-time, or fewer cases";
/// Why a case was left out where the budget was used up.
const NO_TIME: &str = "the budget left no time for it";
/// Why one half of a pair did not run.
const HALF_LOST: &str = "its counterpart in the other arm failed";
const HALF_LOST_REMEDY: &str = "see why that one failed";

/// What is compared with each other: one case, in every arm and under every load.
struct Subject {
    /// Its cells in the order of its last round.
    cells: Vec<usize>,
    /// Rounds that it has had.
    rounds: u32,
}

/// When a number of rounds ends before all of them are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// With the goal of each case, which is published then: nothing comes after.
    Here,
    /// With the goal of each case.
    WithTheGoal,
    /// Never.
    WithTheCount,
}

/// An experiment in progress.
pub struct Experiment<'a> {
    runner: &'a mut dyn Runner,
    output: &'a mut Output,
    stop: StopFlag,
    how: How,
    order: Order,
    cells: Vec<Cell>,
    subjects: Vec<Subject>,
    /// When the first run began, later by the time spent in queues: a goal's time is none of what came before, nor that.
    began: Option<Instant>,
    /// The far end refused a case.
    refused: bool,
    /// Why nothing further can be measured.
    failure: Option<Failure>,
    /// The line about what was measured so far.
    progress: Option<Progress>,
}

impl<'a> Experiment<'a> {
    /// Nothing to measure yet.
    pub fn new(how: How, runner: &'a mut dyn Runner, output: &'a mut Output, stop: &StopFlag) -> Self {
        if let Some(shown) = how.live.clone() {
            output.watch_with(Watch::open(how.color).map(|watch| watch.showing(shown)));
        }
        Experiment {
            runner,
            output,
            stop: stop.clone(),
            order: Order::new(how.seed),
            how,
            cells: Vec::new(),
            subjects: Vec::new(),
            began: None,
            refused: false,
            failure: None,
            progress: None,
        }
    }

    /// Measure `arms`: as many cases in each, the i-th of which are compared with each other. Cells are numbered arm by arm,
    /// a case's loads behind it. Errors where a load cannot be put beside a case.
    pub fn with(mut self, arms: Vec<Vec<Prepared>>) -> Result<Self, Failure> {
        for (arm, cases) in arms.into_iter().enumerate() {
            for (number, prepared) in cases.into_iter().enumerate() {
                self.put(prepared, arm, number)?;
            }
        }
        Ok(self)
    }

    /// One more case, chosen while the measurement goes on; its number.
    pub fn add(&mut self, prepared: Prepared) -> Result<usize, Failure> {
        let subject = self.subjects.len();
        self.put(prepared, 0, subject)?;
        Ok(subject)
    }

    /// The cells of a case in an arm, as a part of its subject, which may be a new one.
    fn put(&mut self, prepared: Prepared, arm: usize, subject: usize) -> Result<(), Failure> {
        let first = self.cells.len();
        self.cells
            .extend(Cell::all_of(prepared, (arm, first), &self.how)?);
        let cells = first..self.cells.len();
        match self.subjects.get_mut(subject) {
            Some(subject) => subject.cells.extend(cells),
            None => self.subjects.push(Subject {
                cells: cells.collect(),
                rounds: 0,
            }),
        }
        Ok(())
    }

    /// Measure everything as often as asked, and end. The error is one of output: no measurement can raise it.
    pub fn run(mut self) -> Result<Found, Failure> {
        for number in 0..self.cells.len() {
            if self.cells[number].skip.is_some() {
                self.settle(number)?;
            }
        }
        let all: Vec<usize> = (0..self.subjects.len()).collect();
        self.go(&all, self.how.repeats, Ends::Here)?;
        self.finish()
    }

    /// Measure these cases as often as asked; more may follow. The error is one of output.
    pub fn measure(&mut self, subjects: &[usize]) -> Result<(), Failure> {
        self.go(subjects, self.how.repeats, Ends::WithTheGoal)
    }

    /// Measure these cases in `count` more rounds, whatever is known of them. The error is one of output.
    pub fn rounds(&mut self, subjects: &[usize], count: u32) -> Result<(), Failure> {
        self.go(subjects, count, Ends::WithTheCount)
    }

    /// All runs of a case without load so far; none of one that failed.
    pub fn repetitions(&self, subject: usize) -> &[Repetition] {
        let well = self.off(subject).filter(|cell| cell.failure.is_none());
        well.map_or(&[], |cell| cell.runs())
    }

    /// The same, with the runs before one that failed.
    pub fn good_runs(&self, subject: usize) -> impl Iterator<Item = &Repetition> {
        let runs = self.off(subject).map_or(&[][..], |cell| cell.runs());
        let is_good = |run: &&Repetition| run.outcomes.iter().all(|outcome| outcome.error.is_none());
        runs.iter().filter(is_good)
    }

    fn off(&self, subject: usize) -> Option<&Cell> {
        let mut cells = self.subjects[subject].cells.iter();
        let off = cells.find(|cell| self.cells[**cell].loaded.is_none());
        off.map(|cell| &self.cells[*cell])
    }

    /// Whether nothing further will be measured.
    pub fn is_over(&self) -> bool {
        self.stop.is_requested() || self.failure.is_some()
    }

    /// The loop.
    fn go(&mut self, subjects: &[usize], count: u32, ends: Ends) -> Result<(), Failure> {
        let (mut rest, mut progress) = self.expect(subjects, count);
        let shuffled = count > 1
            || subjects
                .iter()
                .any(|subject| self.subjects[*subject].cells.len() > 1);
        let mut round = subjects.to_vec();
        for number in 0..count {
            let has_more =
                subjects.is_empty() || subjects.iter().any(|subject| !self.has_ended(*subject, ends));
            if self.is_over() || !has_more {
                break;
            }
            if shuffled {
                self.order.round(&mut round);
            }
            self.failure = self.runner.begin(number).err();
            for &subject in &round {
                let ended = self.has_ended(subject, ends);
                self.block(subject, ended, &mut rest, &mut progress)?;
                if ends == Ends::Here {
                    self.publish(subject, number + 1 == count, &progress)?;
                }
            }
            let ended = self.runner.end().err();
            self.failure = self.failure.take().or(ended);
        }
        progress.finish();
        // More may follow, and is counted with what was.
        self.progress = Some(progress);
        Ok(())
    }

    /// What `count` rounds ask for, told to those who show it.
    fn expect(&mut self, subjects: &[usize], count: u32) -> (Rest, Progress) {
        let once = || subjects.iter().flat_map(|subject| &self.subjects[*subject].cells);
        let cells = (0..count).flat_map(|_| once()).map(|cell| &self.cells[*cell]);
        let runs: Vec<Case> = cells
            .filter(|cell| cell.skip.is_none())
            .map(Cell::asked)
            .collect();
        // Tells how much is to come.
        self.output.expect(runs.iter());
        let quiet = self.how.quiet || self.how.live.is_some();
        let progress = Progress::after(self.progress.take(), runs.iter(), quiet);
        let progress = match &self.how.budget {
            Some(budget) => progress.ending_by(budget.deadline),
            None => progress,
        };
        (Rest::of(runs.iter()), progress)
    }

    /// Since when a goal's time counts.
    fn since(&self) -> Instant {
        self.began.unwrap_or_else(Instant::now)
    }

    /// Whether a cell has reached its goal, or that has no time left. The first run is always measured.
    fn has_reached(&self, cell: &Cell) -> bool {
        self.began.is_some_and(|began| cell.has_reached(&self.how, began))
    }

    /// Whether a subject runs no more: all of it failed or is known well enough, or a half of a pair is lost.
    fn has_ended(&self, subject: usize, ends: Ends) -> bool {
        let cells = || self.subjects[subject].cells.iter().map(|cell| &self.cells[*cell]);
        let lost = self.how.paired && cells().any(|cell| cell.failure.is_some());
        let reached = |cell: &Cell| ends != Ends::WithTheCount && self.has_reached(cell);
        lost || cells().all(|cell| cell.has_ended() || reached(cell))
    }

    /// Every cell of a subject once, one right after the other, unless it has ended.
    fn block(
        &mut self,
        subject: usize,
        ended: bool,
        rest: &mut Rest,
        progress: &mut Progress,
    ) -> Result<(), Failure> {
        let mut cells = std::mem::take(&mut self.subjects[subject].cells);
        let round = self.subjects[subject].rounds;
        self.order.block(&mut cells, round);
        for &number in &cells {
            let cell = &self.cells[number];
            if cell.skip.is_some() {
                continue;
            }
            let (case, asked) = (cell.planned.case.clone(), cell.asked());
            let broken = |cell: &usize| self.cells[*cell].failure.is_some();
            let lost = self.how.paired && cells.iter().any(broken);
            if !ended && !lost && !self.is_over() && !cell.has_ended() {
                progress.start(&case);
                self.visit((subject, number), round, *rest, progress)?;
            }
            progress.end();
            *rest = rest.without(&asked);
        }
        self.subjects[subject].cells = cells;
        self.subjects[subject].rounds = round + 1;
        Ok(())
    }

    /// One run of one cell, within the budget.
    fn visit(
        &mut self,
        (subject, number): (usize, usize),
        round: u32,
        rest: Rest,
        progress: &mut Progress,
    ) -> Result<(), Failure> {
        if let Some(budget) = &self.how.budget {
            let cell = &mut self.cells[number];
            let ran = !cell.runs().is_empty();
            match budget.fit(&cell.asked(), rest) {
                // All runs of a case are as long as its first.
                Some(_) if ran && budget.has_time(&cell.planned.case) => {}
                Some(case) if !ran => cell.fit(case),
                Some(_) => return Ok(()),
                // What ran already is its result.
                None if ran => return Ok(()),
                None => {
                    cell.skip = Some((NO_TIME.to_owned(), budget.remedy.to_owned()));
                    return Ok(());
                }
            }
        }
        let began = Instant::now();
        self.began.get_or_insert(began);
        let queued = self.once((subject, number), round, progress)?;
        self.began = self.began.map(|began| began + queued);
        if let Some(budget) = &mut self.how.budget {
            let took = began.elapsed().saturating_sub(queued);
            budget.took(&self.cells[number].planned.case, took);
        }
        Ok(())
    }

    /// One run of one cell, with its events: how long of it was spent in queues. The error is one of output.
    fn once(
        &mut self,
        (subject, number): (usize, usize),
        round: u32,
        progress: &mut Progress,
    ) -> Result<Duration, Failure> {
        let cells = self.cells.len() as u32;
        let cell = &mut self.cells[number];
        if cell.limits.is_none() {
            cell.limits = Some(self.runner.limits(&cell.planned.case));
        }
        self.output.event(&Event::CaseStarted {
            case: number as u32,
            cases: cells,
            label: cell.planned.case.label(),
            repetition: round,
        })?;
        let mut broken = None;
        let output = &mut *self.output;
        let case = &cell.planned.case;
        let mut on_seen = |seen: Seen| {
            if let Seen::Interval(rank, interval) = seen {
                progress.hear(case, rank, interval);
            }
            let event = event_of(number as u32, round, seen);
            if let Err(failure) = output.event(&event) {
                broken.get_or_insert(failure);
            }
        };
        let visit = Visit {
            cell: number,
            subject,
            load: cell.loaded.as_ref().map(|(loaded, _)| loaded.load.as_str()),
            arm: cell.arm,
            round,
        };
        let measured = self
            .runner
            .measure(visit, &cell.planned, &self.stop, &mut on_seen);
        if let Some(failure) = broken {
            return Err(failure);
        }
        if measured.is_last {
            self.failure.clone_from(&measured.failure);
        }
        let queued = measured.queued;
        self.refused |= cell.keep(measured, self.stop.is_requested());
        Ok(queued)
    }

    /// Publish what has ended: a cell that failed, and all of a subject that runs no more.
    fn publish(&mut self, subject: usize, is_last: bool, progress: &Progress) -> Result<(), Failure> {
        let ended = is_last || self.has_ended(subject, Ends::Here);
        let mut cells = self.subjects[subject].cells.clone();
        cells.sort_unstable();
        for number in cells {
            if (ended || self.cells[number].has_ended())
                && let Some(line) = self.settle(number)?
                && !self.output.is_live()
            {
                progress.line(&line);
            }
        }
        Ok(())
    }

    /// Make the result of a cell, and tell whoever listens; its line, where it is new. The error is one of output.
    fn settle(&mut self, number: usize) -> Result<Option<String>, Failure> {
        let remarks = self.runner.remarks(number);
        let since = self.since();
        let Some(result) = self.cells[number].settle(&self.how, since, remarks) else {
            return Ok(None);
        };
        self.output.case_finished(number, result)?;
        // The answer counts these; a line each would push it off the screen.
        let is_told = result.error.as_deref() != Some(NO_TIME);
        let style = terminal::style(Stream::Stderr, self.how.color);
        Ok(is_told.then(|| render::case_line(result, &style)))
    }

    /// Publish whatever was left half done, which is a result too, and say what was found.
    pub fn finish(mut self) -> Result<Found, Failure> {
        // A goal whose time was used up before a case ran says so of it.
        let is_over = self.is_over();
        let any_failed = self.cells.iter().any(|cell| cell.failure.is_some());
        // A run that could not begin has one failure, and no list of cases.
        let any_known = self
            .cells
            .iter()
            .any(|cell| cell.result.is_some() || cell.is_known());
        // One half of a pair that failed ends the other, which has a result all the same: the arms are read side by side.
        let left = match self.stop.is_requested() || (self.failure.is_some() && any_known) {
            true => Some((UNREACHED, "run again")),
            false => (self.how.paired && any_failed).then_some((HALF_LOST, HALF_LOST_REMEDY)),
        };
        for number in 0..self.cells.len() {
            let is_late = !is_over && !self.cells[number].is_known() && self.has_reached(&self.cells[number]);
            if is_late && !(self.how.paired && any_failed) {
                self.cells[number].skip = Some((GOAL_TIME.to_owned(), GOAL_TIME_REMEDY.to_owned()));
            }
            self.settle(number)?;
            if let Some(why) = left {
                let since = self.since();
                self.cells[number].cut(why, &self.how, since);
            }
        }
        Ok(Found::of(self))
    }
}

/// What was seen of a case, as whoever listens hears it.
fn event_of(case: u32, repetition: u32, seen: Seen) -> Event {
    match seen {
        Seen::Interval(rank, interval) => Event::Interval {
            case,
            repetition,
            rank,
            interval: interval.clone(),
        },
        Seen::Pair(pair) => Event::PairMeasured {
            case,
            repetition,
            from: pair.from.clone(),
            to: pair.to.clone(),
            tag: pair.tag.to_owned(),
            value: pair
                .measured
                .as_ref()
                .ok()
                .and_then(|value| Finite::maybe(*value)),
            failed: pair.measured.as_ref().err().cloned(),
        },
    }
}
