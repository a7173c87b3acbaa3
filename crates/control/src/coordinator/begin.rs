//! How a run begins: every server is reached and given the case, and ranks of this machine start when all have begun. It must
//! never keep a turn on one server while it waits for another that somebody may hold who waits for this one.

use super::drive::{Attempt, Drive};
use super::event::{GroupEvent, Incoming};
use super::servers::{Far, Stage};
use crate::error::ControlError;
use crate::launch::local::Heard;
use crate::session::group::Failure;
use crate::stop::StopFlag;
use std::collections::VecDeque;
use std::time::Instant;
use wirespeed_schema::circle::CasePart;
use wirespeed_schema::message::{CancelCause, Refusal, RefusalCode, SessionMessage};

/// How servers are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asking {
    /// All at once. Whoever has to queue gives all turns back.
    Together,
    /// One after the other, in the order of all clients, waiting for each turn.
    InTurn,
}

/// A server that will not run its ranks, and why.
pub(super) struct NoStart {
    number: usize,
    /// What the caller is told of the run.
    failure: Failure,
    /// What is said of its ranks.
    reason: String,
}

impl Drive<'_> {
    /// Let every server begin its ranks, then start those of this machine.
    pub(super) fn begin(&mut self, stop: &StopFlag) -> Result<Attempt, ControlError> {
        self.reach(stop)?;
        let mut to_ask = self.to_ask();
        let mut queued = false;
        loop {
            if queued || self.is_failing() {
                self.leave_queues();
                to_ask.clear();
            }
            while (self.asking == Asking::Together || !self.is_waiting())
                && let Some((number, case)) = to_ask.pop_front()
            {
                self.ask(number, case);
            }
            if !self.is_waiting() {
                break;
            }
            if stop.is_requested() {
                self.group.servers.close_run();
                return Err(ControlError::Interrupted);
            }
            self.await_servers(stop);
            let in_queue = |far: &Far| far.stage == Stage::Queued;
            queued |= self.asking == Asking::Together && self.group.servers.iter().any(in_queue);
        }
        if queued || self.is_failing() {
            let attempt = match self.is_failing() {
                true => Attempt::Final,
                false => Attempt::Queued,
            };
            self.let_go();
            return Ok(attempt);
        }
        if let Err(error) = self.start_local(stop) {
            // The servers' ranks wait for ranks that will not come: leaving ends them.
            self.group.servers.close_run();
            return Err(error);
        }
        (self.events)(GroupEvent::Started);
        Ok(Attempt::Final)
    }

    /// The servers of the run in their turn, each with what its ranks must know of the case.
    fn to_ask(&self) -> VecDeque<(usize, CasePart)> {
        let numbers = self.group.servers.in_turn();
        let of_server = |number: &usize| self.group.servers.ranks_of(*number);
        let ranks: Vec<&[u32]> = numbers.iter().map(of_server).collect();
        let parts = CasePart::for_each(self.case, &ranks);
        numbers.into_iter().zip(parts).collect()
    }

    /// Have a session with every server of the run.
    fn reach(&mut self, stop: &StopFlag) -> Result<(), ControlError> {
        let wanted = |far: &Far| !far.ranks.is_empty();
        for (number, error) in self.group.connect(wanted, self.events, stop) {
            if matches!(error, ControlError::Interrupted) {
                return Err(error);
            }
            self.will_not_start(number, &error);
        }
        for number in self.group.servers.out_of_reach() {
            let refusal = Refusal {
                code: RefusalCode::Other,
                reason: "it was found on loopback, where other machines cannot reach it".into(),
                remedy: "name it by an address that the others reach, and let it listen there".into(),
            };
            self.will_not_start(number, &ControlError::Refused(refusal));
        }
        Ok(())
    }

    /// Give a server what its ranks must know of the case.
    fn ask(&mut self, number: usize, case: CasePart) {
        let (run, options) = (self.group.runs, &self.group.options);
        let (fresh, together, turn) = (options.fresh, options.together, options.turn);
        let Some(far) = self.group.servers.get(number) else {
            return;
        };
        if !far.is_open() {
            return;
        }
        self.started = Instant::now();
        far.stage = Stage::Asked;
        far.send(&SessionMessage::Start {
            run,
            ranks: far.ranks.clone(),
            case,
            fresh,
            together,
            turn,
        });
    }

    fn is_waiting(&self) -> bool {
        self.group.servers.iter().any(|far| far.is_waited_for())
    }

    /// The run will not come about.
    fn is_failing(&self) -> bool {
        !self.not_started.is_empty() || self.machine.is_ending()
    }

    /// Sleep until something comes of the servers, or one counts as silent.
    fn await_servers(&mut self, stop: &StopFlag) {
        let silent_at = self.group.servers.silent_at().unwrap_or_else(Instant::now);
        let wait = silent_at.saturating_duration_since(Instant::now());
        match self.wait(wait) {
            // The caller asks the flag.
            Ok(Incoming::Stop) => {}
            // A process of an earlier run: another takes its place.
            Ok(Incoming::Local(generation, seat, Heard::Closed(why))) => {
                if generation == self.group.generation
                    && let Some(set) = &mut self.group.local
                    && let Some(rank) = set.of_seat(seat)
                {
                    let _ = set.reason_of_end(rank, &why);
                }
            }
            Ok(Incoming::Local(..)) => {}
            Ok(incoming) => self.incoming(incoming, stop),
            Err(_) => {}
        }
        for number in self.group.servers.silent() {
            self.server_closed(number, "it fell silent");
        }
        self.act();
    }

    /// A place in a queue is given back with its session; the next run connects again.
    fn leave_queues(&mut self) {
        for far in self.group.servers.iter_mut() {
            if far.stage == Stage::Queued {
                far.close();
                far.stage = Stage::Idle;
            }
        }
    }

    /// A server refuses, or cannot be reached: the ranks that it would run are lost.
    pub(super) fn will_not_start(&mut self, number: usize, error: &ControlError) {
        let several = self.group.servers.of_run().count() > 1;
        let Some(far) = self.group.servers.get(number) else {
            return;
        };
        far.stage = Stage::Idle;
        let reason = match error {
            ControlError::Refused(refusal) => format!("{}: {}", far.name(), refusal.reason),
            other => other.to_string(),
        };
        let message = match several {
            true => reason.clone(),
            // There is no doubt which.
            false => error.to_string(),
        };
        let failure = Failure::with_remedy(error.class(), message, error.remedy());
        self.not_started.push(NoStart {
            number,
            failure,
            reason,
        });
    }

    /// End what has begun of a run that will not come about. The sessions stay.
    fn let_go(&mut self) {
        let now = self.group.now();
        let several = self.group.servers.of_run().count() > 1;
        for NoStart {
            number,
            failure,
            reason,
        } in std::mem::take(&mut self.not_started)
        {
            self.machine.note(failure);
            let ranks = self.group.servers.get(number).map(|far| far.ranks.clone());
            for rank in ranks.unwrap_or_default() {
                match several {
                    true => self.lost(rank, &reason),
                    // Where there is but one, the failure says it all.
                    false => self.machine.gone(now, rank, &reason),
                }
            }
        }
        let begun = |stage: Stage| matches!(stage, Stage::Begun | Stage::Done);
        let servers = self.group.servers.iter();
        let waiting = servers.filter(|far| !begun(far.stage)).flat_map(|far| &far.ranks);
        let never: Vec<u32> = waiting.chain(&self.local).copied().collect();
        for rank in never {
            self.machine.absent(now, rank);
        }
        self.machine.cancel(now, CancelCause::Interrupted);
    }

    /// What a server says while it is waited for.
    pub(super) fn server_answers(&mut self, number: usize, message: SessionMessage) {
        let run = self.group.runs;
        let Some(far) = self.group.servers.get(number) else {
            return;
        };
        match message {
            SessionMessage::Started { run: theirs } if theirs == run => far.stage = Stage::Begun,
            SessionMessage::Queued {
                sessions_ahead: ahead,
                wait_ns_min,
            } => {
                far.stage = Stage::Queued;
                self.started = Instant::now();
                if self.asking == Asking::InTurn {
                    let server = far.address().to_owned();
                    (self.events)(GroupEvent::Queued {
                        server,
                        ahead,
                        wait_ns_min,
                    });
                }
            }
            SessionMessage::Refused(refusal) | SessionMessage::Stopping(refusal) => {
                self.will_not_start(number, &ControlError::Refused(refusal));
            }
            _ => {}
        }
    }

    /// A server that was asked is gone.
    pub(super) fn lost_before_start(&mut self, number: usize, why: &str) {
        let name = self.group.servers.get(number).map(|far| far.name());
        let error = ControlError::lost(name.unwrap_or_default(), why);
        self.will_not_start(number, &error);
    }
}
