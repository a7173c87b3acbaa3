//! One run of a group, as its coordinator sees it: rounds, interval reports, orderly stop, cancel, and the end of every
//! rank. Whatever happens, the run ends in bounded time with what every rank could still deliver.

use super::Timing;
use super::meeting::{Brought, Complete, Meeting};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use wirespeed::MeasureError;
use wirespeed_schema::case::Role;
use wirespeed_schema::message::{CancelCause, FailureClass, OutcomeReport, RankMessage};
use wirespeed_schema::outcome::{Interval, Outcome, StopReason};

/// What the coordinator is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Say this to a rank.
    Send {
        /// The rank.
        rank: u32,
        /// What.
        message: RankMessage,
    },
    /// A rank reports a slice of time.
    Interval {
        /// The rank.
        rank: u32,
        /// The slice.
        interval: Interval,
    },
    /// The ranks have passed their first barrier: set-up is over.
    FirstBarrier,
    /// A rank is given up: end its process.
    Abandon {
        /// The rank.
        rank: u32,
    },
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind.
    pub class: FailureClass,
    /// One line of cause.
    #[serde(rename = "error")]
    pub message: String,
    /// One line of remedy, where one is known.
    pub remedy: Option<String>,
}

impl Failure {
    /// A failure with the remedy that its class has, if any.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Failure {
            class,
            message: message.into(),
            remedy: (class == FailureClass::Memory).then(|| MeasureError::ASK_FOR_LESS.to_owned()),
        }
    }

    /// A failure with what was advised, or else with the remedy that its class has.
    pub(crate) fn advised(class: FailureClass, message: impl Into<String>, remedy: Option<String>) -> Self {
        let known = Failure::new(class, message);
        Failure {
            remedy: remedy.or(known.remedy),
            ..known
        }
    }

    /// A failure that something can be done about.
    pub fn with_remedy(class: FailureClass, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Failure {
            class,
            message: message.into(),
            remedy: Some(remedy.into()),
        }
    }

    /// As the far end stated it, safe for a terminal.
    #[must_use]
    pub fn cleaned(self) -> Self {
        Failure {
            class: self.class,
            message: super::clean(&self.message),
            remedy: self.remedy.map(|remedy| super::clean(&remedy)),
        }
    }
}

/// A rank that broke the run by itself, and not because another did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blamed {
    /// The rank.
    pub rank: u32,
    /// What it said, or how it ended.
    pub reason: String,
    /// Its process or connection is gone, or its server does not run it.
    pub gone: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    Stopping { until: Duration },
    Cancelled { until: Duration },
}

/// Times of grace that a cancelled run has at most, whatever still comes.
const PATIENCE: u32 = 5;

/// The run. Feed it; perform the actions; until [`GroupMachine::is_over`].
#[derive(Debug)]
pub struct GroupMachine {
    run: u64,
    timing: Timing,
    phase: Phase,
    /// When a cancelled run ends, whatever still comes.
    given_up: Duration,
    meeting: Meeting,
    setup_done: bool,
    ended: Vec<bool>,
    /// Ranks that have not ended.
    running: usize,
    /// A rank has ended for which the others would wait.
    is_missed: bool,
    outcomes: Vec<Option<Outcome>>,
    causes: Vec<Failure>,
    consequences: Vec<Failure>,
    blamed: Vec<Blamed>,
    actions: Vec<Action>,
}

impl GroupMachine {
    /// Run number `run` of `size` ranks, all of which have been told to prepare.
    pub fn new(run: u64, size: usize, timing: Timing) -> Self {
        GroupMachine {
            run,
            timing,
            phase: Phase::Running,
            given_up: Duration::ZERO,
            meeting: Meeting::new(size),
            setup_done: false,
            ended: vec![false; size],
            running: size,
            is_missed: false,
            outcomes: vec![None; size],
            causes: Vec::new(),
            consequences: Vec::new(),
            blamed: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// What to do since the last call.
    pub fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// Every rank has ended, one way or the other.
    pub fn is_over(&self) -> bool {
        self.running == 0
    }

    /// Whether `rank` has ended.
    pub fn has_ended(&self, rank: u32) -> bool {
        self.ended.get(rank as usize).copied().unwrap_or(true)
    }

    /// Somebody has asked for the end, or a failure has.
    pub fn is_ending(&self) -> bool {
        self.phase != Phase::Running
    }

    /// When [`GroupMachine::tick`] is due.
    pub fn next_deadline(&self) -> Option<Duration> {
        match self.phase {
            Phase::Running => None,
            Phase::Stopping { until } | Phase::Cancelled { until } => Some(until),
        }
    }

    /// What every rank saw, and why the run failed if it did: the first cause, else the first consequence.
    pub fn finish(self) -> (Vec<Option<Outcome>>, Option<Failure>) {
        let failure = self.causes.into_iter().chain(self.consequences).next();
        (self.outcomes, failure)
    }

    /// The ranks that broke the run by themselves so far, in the order in which that was seen.
    pub fn blamed(&self) -> &[Blamed] {
        &self.blamed
    }

    /// A rank says something.
    pub fn message(&mut self, now: Duration, rank: u32, message: RankMessage) {
        if self.has_ended(rank) {
            return;
        }
        match message {
            RankMessage::Exchange {
                run,
                round,
                blob,
                color,
            } if run == self.run => {
                self.arrive(now, rank, round, Brought::Blob(blob, color));
            }
            RankMessage::Barrier { run, round } if run == self.run => {
                self.arrive(now, rank, round, Brought::Barrier);
            }
            RankMessage::Interval { run, interval } if run == self.run => {
                self.actions.push(Action::Interval { rank, interval });
            }
            RankMessage::Failed {
                run,
                class,
                error,
                remedy,
            } if run == self.run => {
                let error = super::clean(&error);
                let remedy = remedy.map(|remedy| super::clean(&remedy));
                let failure = Failure::advised(class, format!("rank {rank}: {error}"), remedy);
                if class == FailureClass::PeerLost {
                    self.consequences.push(failure);
                } else {
                    self.causes.push(failure);
                    self.blame(rank, error, false);
                }
                self.end(now, rank, true);
            }
            RankMessage::Gone { reason } => self.gone(now, rank, &reason),
            // Of an earlier run, or of a later protocol.
            _ => {}
        }
    }

    /// A rank delivers its outcome. One without a part may do so while the others measure, who meet without it.
    pub fn outcome(&mut self, now: Duration, rank: u32, report: OutcomeReport) {
        if self.has_ended(rank) || report.run != self.run {
            return;
        }
        let outcome = report.outcome;
        let error = outcome.error.as_ref().map(|e| super::clean(e));
        if let Some(error) = &error {
            let remedy = outcome.remedy().map(super::clean);
            let failure = Failure::advised(FailureClass::Failed, format!("rank {rank}: {error}"), remedy);
            if outcome.stop == StopReason::Failed {
                self.causes.push(failure);
                self.blame(rank, error.clone(), false);
            } else {
                self.consequences.push(failure);
            }
        }
        let has_left = outcome.role == Role::Idle && error.is_none();
        self.outcomes[rank as usize] = Some(outcome);
        if has_left {
            self.set_ended(rank);
            let complete = self.meeting.excuse(rank);
            return self.met(now, complete);
        }
        self.end(now, rank, error.is_some());
    }

    /// A rank's process or connection is gone, or it broke the protocol.
    pub fn gone(&mut self, now: Duration, rank: u32, reason: &str) {
        if self.has_ended(rank) {
            return;
        }
        let reason = super::clean(reason);
        let text = format!("rank {rank} went away: {reason}");
        self.causes.push(Failure::new(FailureClass::Failed, text));
        self.blame(rank, reason, true);
        self.end(now, rank, true);
    }

    /// A rank was never there, because others failed before its turn came.
    pub fn absent(&mut self, now: Duration, rank: u32) {
        if !self.has_ended(rank) {
            self.end(now, rank, false);
        }
    }

    /// The run has a failure that is not a rank's; it does not end by this alone.
    pub fn note(&mut self, failure: Failure) {
        self.causes.push(failure);
    }

    /// The user asks to stop: in order at first, at once the second time.
    pub fn stop(&mut self, now: Duration) {
        match self.phase {
            Phase::Running => {
                self.phase = Phase::Stopping {
                    until: now + self.timing.orderly,
                };
                self.tell_all(&RankMessage::StopRequest { run: self.run });
            }
            Phase::Stopping { .. } => self.cancel(now, CancelCause::Interrupted),
            // Nobody waits for parts any more.
            Phase::Cancelled { until } => {
                self.given_up = self.given_up.min(now + self.timing.grace);
                self.phase = Phase::Cancelled {
                    until: until.min(self.given_up),
                };
            }
        }
    }

    /// End the run at once.
    pub fn cancel(&mut self, now: Duration, cause: CancelCause) {
        if matches!(self.phase, Phase::Cancelled { .. }) {
            return;
        }
        self.phase = Phase::Cancelled {
            until: now + self.timing.grace,
        };
        self.given_up = now + self.timing.grace * PATIENCE;
        self.tell_all(&RankMessage::Cancel { run: self.run, cause });
    }

    /// A part of an outcome has come: its end is worth waiting for, within bounds.
    pub fn part(&mut self, now: Duration) {
        if let Phase::Cancelled { until } = &mut self.phase {
            *until = (*until).max((now + self.timing.grace).min(self.given_up));
        }
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Duration) {
        match self.phase {
            Phase::Stopping { until } if now >= until => self.cancel(now, CancelCause::Interrupted),
            Phase::Cancelled { until } if now >= until => {
                for rank in self.ranks_running() {
                    let text = format!("rank {rank} did not end after it was cancelled");
                    self.consequences.push(Failure::new(FailureClass::Failed, text));
                    self.blame(rank, "it did not end after it was cancelled".to_owned(), true);
                    self.set_ended(rank);
                    self.is_missed = true;
                    self.actions.push(Action::Abandon { rank });
                }
            }
            _ => {}
        }
    }

    fn arrive(&mut self, now: Duration, rank: u32, round: u64, brought: Brought) {
        match self.meeting.arrive(rank, round, brought) {
            Ok(complete) => self.met(now, complete),
            Err(error) => {
                self.causes.push(Failure::new(
                    FailureClass::Failed,
                    format!("the ranks do not do the same: {error}"),
                ));
                self.cancel(now, CancelCause::PeerLost);
            }
        }
    }

    /// A round is complete, or goes on.
    fn met(&mut self, now: Duration, complete: Option<Complete>) {
        let run = self.run;
        match complete {
            None => self.check_waiting(now),
            Some(Complete::Exchanged { round, circles }) => {
                for blobs in circles {
                    for rank in blobs.iter().map(|(rank, _)| *rank) {
                        if self.has_ended(rank) {
                            continue;
                        }
                        let blobs = blobs.clone();
                        let message = RankMessage::Exchanged { run, round, blobs };
                        self.actions.push(Action::Send { rank, message });
                    }
                }
            }
            Some(Complete::Released { round }) => {
                self.tell_all(&RankMessage::Released { run, round });
                if !std::mem::replace(&mut self.setup_done, true) {
                    self.actions.push(Action::FirstBarrier);
                }
            }
        }
    }

    fn blame(&mut self, rank: u32, reason: String, gone: bool) {
        self.blamed.push(Blamed { rank, reason, gone });
    }

    fn set_ended(&mut self, rank: u32) {
        if !std::mem::replace(&mut self.ended[rank as usize], true) {
            self.running -= 1;
        }
    }

    fn end(&mut self, now: Duration, rank: u32, failed: bool) {
        self.set_ended(rank);
        self.is_missed = true;
        if failed {
            self.cancel(now, CancelCause::PeerLost);
        } else {
            self.check_waiting(now);
        }
    }

    /// A round that waits for a rank that has ended will never complete.
    fn check_waiting(&mut self, now: Duration) {
        if self.meeting.is_waiting() && self.is_missed && !self.is_over() {
            let text = "a rank ended while others wait for it";
            self.consequences.push(Failure::new(FailureClass::Failed, text));
            self.cancel(now, CancelCause::PeerLost);
        }
    }

    fn ranks_running(&self) -> Vec<u32> {
        let ranks = self.ended.iter().zip(0u32..);
        ranks
            .filter(|(ended, _)| !**ended)
            .map(|(_, rank)| rank)
            .collect()
    }

    fn tell_all(&mut self, message: &RankMessage) {
        for rank in self.ranks_running() {
            self.actions.push(Action::Send {
                rank,
                message: message.clone(),
            });
        }
    }
}

#[cfg(test)]
mod tests;
