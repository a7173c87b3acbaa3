//! Runs the cases of a plan, repetition by repetition, and collects what they gave. A case that fails is recorded, and
//! the others go on.

use crate::args::ColorChoice;
use crate::errors::{Failure, exit};
use crate::group::Groups;
use crate::medium::Medium;
use crate::order::{Step, fresh_seed, schedule};
use crate::output::Output;
use crate::progress::Progress;
use crate::terminal::{self, Stream};
use std::time::Instant;
use wirespeed_control::StopFlag;
use wirespeed_report::Goal;
use wirespeed_report::render::Style;
use wirespeed_schema::case::Case;
use wirespeed_schema::outcome::Interval;
use wirespeed_schema::plan::PlannedCase;
use wirespeed_schema::run::{CaseResult, CaseStatus, Event, Repetition};

/// A case, and the reason why it cannot run where that is known beforehand.
pub struct Prepared {
    /// The case.
    pub planned: PlannedCase,
    /// Why the transport cannot do it here.
    pub skip: Option<String>,
}

/// What is known of a case so far.
#[derive(Default)]
struct Collected {
    repetitions: Vec<Repetition>,
    failure: Option<Failure>,
    result: Option<CaseResult>,
}

/// What one repetition gave: often one of the two, both when a part of the ranks was seen.
pub struct Measured {
    /// What the ranks saw.
    pub repetition: Option<Repetition>,
    /// Why it did not end well.
    pub failure: Option<Failure>,
}

/// How often cases are run.
pub struct Repeating {
    /// So often, or at most so often where there is a goal.
    pub repeats: u32,
    /// Seed of the order.
    pub seed: u64,
    /// When a case is known well enough.
    pub goal: Option<Goal>,
}

impl Repeating {
    /// Every case so often, in an order of its own.
    pub fn times(repeats: u32) -> Self {
        Repeating {
            repeats,
            seed: fresh_seed(),
            goal: None,
        }
    }

    /// Whether a case needs no more repetitions.
    fn has_ended(&self, slot: &Collected, began: Instant, last: bool) -> bool {
        let look = |goal: &Goal| goal.look(&slot.repetitions, elapsed_ns(began), false).is_some();
        last || slot.failure.is_some() || self.goal.as_ref().is_some_and(look)
    }
}

/// A run in progress.
pub struct Session<'a> {
    /// Starts the ranks.
    pub groups: Groups<'a>,
    /// Where results go.
    pub output: &'a mut Output,
    /// The user's wish to end.
    pub stop: StopFlag,
    /// How progress lines may look.
    pub style: Style,
    /// No progress at all.
    pub quiet: bool,
    /// Set when the far end refused a case.
    pub refused: bool,
    /// What is known of the media.
    pub medium: Medium,
}

impl<'a> Session<'a> {
    /// A session over `groups`, with nothing run yet and nothing known of the media.
    pub fn new(
        groups: Groups<'a>,
        output: &'a mut Output,
        stop: StopFlag,
        (color, quiet): (ColorChoice, bool),
    ) -> Self {
        Session {
            groups,
            output,
            stop,
            style: terminal::style(Stream::Stderr, color),
            quiet,
            refused: false,
            medium: Medium::default(),
        }
    }
}

impl Session<'_> {
    /// Run everything, each case as often as `how` says; results in the plan's order. Cases that an interruption left unmeasured are absent. The error is
    /// one of output: no measurement can raise it.
    pub fn run(&mut self, cases: &[Prepared], how: &Repeating) -> Result<Vec<CaseResult>, Failure> {
        let began = Instant::now();
        let mut collected: Vec<Collected> = cases.iter().map(|_| Collected::default()).collect();
        let runnable = |step: &Step| cases[step.case].skip.is_none();
        for (number, case) in cases.iter().enumerate() {
            if let Some(reason) = &case.skip {
                let result = skipped(case.planned.case.clone(), reason);
                self.settle(number, &mut collected[number], result)?;
            }
        }
        let steps: Vec<Step> = schedule(cases.len(), how.repeats, how.seed)
            .into_iter()
            .filter(runnable)
            .collect();
        let runs = steps.iter().map(|step| &cases[step.case].planned.case);
        let mut progress = Progress::new(runs, self.quiet);
        for step in steps {
            let slot = &mut collected[step.case];
            let planned = &cases[step.case].planned;
            if self.stop.is_requested() {
                break;
            }
            if slot.failure.is_none() && slot.result.is_none() {
                progress.start(&planned.case);
                let measured = self.measure(step, cases.len(), planned)?;
                slot.repetitions.extend(measured.repetition);
                slot.failure = measured.failure;
            }
            progress.end();
            let last = step.repetition + 1 == how.repeats;
            let ended = how.has_ended(slot, began, last);
            let known = slot.failure.is_some() || !slot.repetitions.is_empty();
            if ended && known && slot.result.is_none() {
                let result = self.result_of(&planned.case, slot, how, began);
                progress.line(&wirespeed_report::render::case_line(&result, &self.style));
                self.settle(step.case, slot, result)?;
            }
        }
        progress.finish();
        // Whatever an interruption left half done is a result too.
        for (number, slot) in collected.iter_mut().enumerate() {
            if slot.result.is_none() && !slot.repetitions.is_empty() {
                let result = self.result_of(&cases[number].planned.case, slot, how, began);
                self.settle(number, slot, result)?;
            }
        }
        Ok(collected.into_iter().filter_map(|slot| slot.result).collect())
    }

    /// One repetition of one case, with its events. The error is one of output.
    pub fn measure(&mut self, step: Step, cases: usize, planned: &PlannedCase) -> Result<Measured, Failure> {
        let number = step.case as u32;
        let case = &planned.case;
        self.output.event(&Event::CaseStarted {
            case: number,
            cases: cases as u32,
            label: case.label(),
            repetition: step.repetition,
        })?;
        let mut broken = None;
        let output = &mut *self.output;
        let mut on_interval = |rank: u32, interval: &Interval| {
            let event = Event::Interval {
                case: number,
                repetition: step.repetition,
                rank,
                interval: interval.clone(),
            };
            if let Err(failure) = output.event(&event) {
                broken.get_or_insert(failure);
            }
        };
        let run = self.groups.run(planned, &self.stop, &mut on_interval);
        if let Some(failure) = broken {
            return Err(failure);
        }
        self.refused |= run.failure.as_ref().is_some_and(|f| f.code == exit::REFUSED);
        let seen = !run.outcomes.is_empty();
        let repetition = seen.then(|| {
            let (index, outcomes) = (step.repetition, run.outcomes);
            wirespeed_report::repetition(case, index, outcomes, run.setup_ns, run.overlapping_sessions)
        });
        // What an interruption breaks off is no failure of the case.
        let failure = run.failure.filter(|_| !self.stop.is_requested());
        Ok(Measured { repetition, failure })
    }

    /// A case is done: tell whoever listens.
    pub fn announce(&mut self, number: usize, result: &CaseResult) -> Result<(), Failure> {
        self.output.case_finished(number, result)
    }

    fn settle(&mut self, number: usize, slot: &mut Collected, result: CaseResult) -> Result<(), Failure> {
        self.announce(number, &result)?;
        slot.result = Some(result);
        Ok(())
    }

    fn result_of(
        &mut self,
        case: &Case,
        slot: &mut Collected,
        how: &Repeating,
        began: Instant,
    ) -> CaseResult {
        let goal = how.goal.as_ref();
        let convergence = goal.and_then(|goal| goal.look(&slot.repetitions, elapsed_ns(began), true));
        let repetitions = std::mem::take(&mut slot.repetitions);
        let result = self.assemble(case.clone(), repetitions, slot.failure.as_ref());
        match convergence {
            Some(convergence) => wirespeed_report::with_convergence(result, convergence),
            None => result,
        }
    }

    /// The result of the repetitions that there are; a failure of a later one makes it partial.
    pub fn assemble(
        &mut self,
        case: Case,
        repetitions: Vec<Repetition>,
        failure: Option<&Failure>,
    ) -> CaseResult {
        let failure = match (failure, repetitions.is_empty()) {
            (Some(failure), true) => {
                return wirespeed_report::failed_case(case, &failure.cause, Some(failure.remedy.clone()));
            }
            (failure, _) => failure,
        };
        let limits = self.medium.limits(self.groups.registry(), &case);
        let mut result = wirespeed_report::case_result(case, repetitions, &limits);
        if let Some(failure) = failure {
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
        result
    }
}

/// A case that cannot run here, and what it means.
pub fn skipped(case: Case, reason: &str) -> CaseResult {
    let remedy = format!("see `wirespeed list {}`", case.transport);
    wirespeed_report::skipped_case(case, reason, Some(remedy))
}

fn elapsed_ns(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
