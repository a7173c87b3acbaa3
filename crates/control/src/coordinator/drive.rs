//! One run over control channels: the loop between the state machine and what arrives from ranks and servers.

use super::Group;
use super::begin::{Asking, NoStart};
use super::event::{GroupEvent, GroupResult, Incoming};
use super::servers::{Far, Stage};
use crate::client::ServerHeard;
use crate::error::ControlError;
use crate::launch::local::Heard;
use crate::session::group::{Action, Failure, GroupMachine};
use crate::stop::{StopFlag, StopLevel};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};
use wirespeed_schema::case::Case;
use wirespeed_schema::message::{
    CancelCause, FailureClass, RankMessage, Refusal, RefusalCode, SessionMessage,
};

/// Longest sleep when nothing is due: the channel wakes the coordinator before.
const NOTHING_DUE: Duration = Duration::from_secs(3600);

type Events<'a> = &'a mut dyn FnMut(GroupEvent);

/// What an attempt to run a case comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    /// It ran, or failed for good.
    Final,
    /// A server measures others first, and the turns on others were given back.
    Queued,
}

pub(super) struct Drive<'a> {
    pub(super) group: &'a mut Group,
    pub(super) case: &'a Case,
    pub(super) asking: Asking,
    pub(super) machine: GroupMachine,
    /// Ranks of this machine.
    pub(super) local: Vec<u32>,
    /// They have the case.
    pub(super) local_begun: bool,
    /// Servers that will not run their ranks.
    pub(super) not_started: Vec<NoStart>,
    pub(super) started: Instant,
    setup: Option<Duration>,
    overlapping_sessions: u32,
    pub(super) events: Events<'a>,
}

/// Run `case`.
pub(super) fn run(
    group: &mut Group,
    case: &Case,
    events: Events,
    stop: &StopFlag,
) -> Result<GroupResult, ControlError> {
    let waker = group.sender.clone();
    let subscription = stop.subscribe(move || {
        let _ = waker.send(Incoming::Stop);
    });
    let local = group.servers.seat(case)?;
    let asking = match group.servers.of_run().count() {
        0 | 1 => Asking::InTurn,
        _ => Asking::Together,
    };
    let (attempt, mut result) = Drive::new(group, case, local.clone(), asking, events).run(stop)?;
    if attempt == Attempt::Queued && result.blamed.is_empty() {
        (_, result) = Drive::new(group, case, local, Asking::InTurn, events).run(stop)?;
    }
    drop(subscription);
    Ok(result)
}

impl<'a> Drive<'a> {
    fn new(
        group: &'a mut Group,
        case: &'a Case,
        local: Vec<u32>,
        asking: Asking,
        events: Events<'a>,
    ) -> Self {
        group.runs += 1;
        group.servers.iter_mut().for_each(|far| far.stage = Stage::Idle);
        Drive {
            machine: GroupMachine::new(group.runs, case.ranks.len(), group.options.timing),
            group,
            case,
            asking,
            local,
            local_begun: false,
            not_started: Vec::new(),
            started: Instant::now(),
            setup: None,
            overlapping_sessions: 0,
            events,
        }
    }

    /// From the first word to a server to the last word of one.
    fn run(mut self, stop: &StopFlag) -> Result<(Attempt, GroupResult), ControlError> {
        let attempt = self.begin(stop)?;
        Ok((attempt, self.drive(stop)))
    }

    fn drive(mut self, stop: &StopFlag) -> GroupResult {
        while !self.machine.is_over() {
            let next = self.due();
            self.act();
            if self.machine.is_over() {
                break;
            }
            let wait = next.map_or(NOTHING_DUE, |n| n.saturating_sub(self.group.now()));
            match self.wait(wait) {
                Ok(incoming) => self.incoming(incoming, stop),
                Err(RecvTimeoutError::Timeout) => self.machine.tick(self.group.now()),
                // The group holds a sender itself.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.act();
        }
        self.wait_for_done(stop);
        let setup = self.setup.unwrap_or_else(|| self.started.elapsed());
        let blamed = self.machine.blamed().to_vec();
        let (outcomes, error) = self.machine.finish();
        GroupResult {
            outcomes,
            error,
            blamed,
            setup_ns: setup.as_nanos() as u64,
            overlapping_sessions: self.overlapping_sessions,
        }
    }

    /// Sleep until something comes, for at most `time`.
    pub(super) fn wait(&mut self, time: Duration) -> Result<Incoming, RecvTimeoutError> {
        let (watch, incoming) = (&self.group.watch, &self.group.incoming);
        let still = watch.still();
        let come = watch.wait(time, |time| incoming.recv_timeout(time));
        self.group.servers.forgive(watch.still() - still);
        come
    }

    /// Do what is due now; the time at which to come again.
    fn due(&mut self) -> Option<Duration> {
        let now = self.group.now();
        self.machine.tick(now);
        let mut next = self.machine.next_deadline();
        let mut earlier = |time: Duration| next = Some(next.map_or(time, |n: Duration| n.min(time)));
        let mut silent = Vec::new();
        if let Some(set) = &mut self.group.local {
            let (ranks, beat) = set.tick(now);
            silent = ranks;
            beat.into_iter().for_each(&mut earlier);
        }
        if let Some(at) = self.group.servers.silent_at() {
            earlier(now + at.saturating_duration_since(Instant::now()));
        }
        for number in self.group.servers.silent() {
            self.server_closed(number, "it fell silent");
        }
        for rank in silent {
            if let Some(set) = &mut self.group.local {
                set.kill(rank);
            }
            self.lost(rank, "it fell silent");
        }
        next
    }

    pub(super) fn incoming(&mut self, incoming: Incoming, stop: &StopFlag) {
        let now = self.group.now();
        match incoming {
            Incoming::Stop => {
                (self.events)(GroupEvent::Stopping);
                self.machine.stop(now);
                if stop.level() == StopLevel::Immediate {
                    self.machine.cancel(now, CancelCause::Interrupted);
                }
            }
            Incoming::Local(generation, seat, heard) if generation == self.group.generation => {
                let Some(set) = &mut self.group.local else {
                    return;
                };
                let Some(rank) = set.of_seat(seat) else {
                    return;
                };
                set.heard(rank, now);
                match heard {
                    Heard::Message(message) => self.machine.message(now, rank, message),
                    Heard::Outcome(report) => self.machine.outcome(now, rank, *report),
                    Heard::Closed(why) => self.local_closed(rank, &why),
                }
            }
            Incoming::Local(..) => {}
            Incoming::Server(connection, heard) => {
                if let Some(number) = self.group.servers.at(connection) {
                    self.server_heard(number, heard);
                }
            }
        }
    }

    fn server_heard(&mut self, number: usize, heard: ServerHeard) {
        match heard {
            ServerHeard::Message(message) => match self.group.servers.get(number) {
                Some(far) if far.is_waited_for() => self.server_answers(number, message),
                _ => self.server_says(number, message),
            },
            ServerHeard::Outcome(report) if self.group.servers.of_rank(report.rank) == Some(number) => {
                self.machine.outcome(self.group.now(), report.rank, *report);
            }
            ServerHeard::Outcome(_) => {}
            ServerHeard::Part => self.machine.part(self.group.now()),
            ServerHeard::Closed(why) => self.server_closed(number, &why),
        }
    }

    /// What a server whose ranks have begun says.
    fn server_says(&mut self, number: usize, message: SessionMessage) {
        let (now, run) = (self.group.now(), self.group.runs);
        let Some(far) = self
            .group
            .servers
            .get(number)
            .filter(|far| far.stage == Stage::Begun)
        else {
            return;
        };
        match message {
            SessionMessage::Rank { rank, message } if far.ranks.contains(&rank) => {
                if let RankMessage::Gone { reason } = &message {
                    let reason = reason.clone();
                    (self.events)(GroupEvent::RankLost { rank, reason });
                }
                self.machine.message(now, rank, message);
            }
            SessionMessage::Stopping(refusal) => self.server_stops(number, refusal),
            SessionMessage::Done {
                run: theirs,
                overlapping_sessions,
            } if theirs == run => {
                far.stage = Stage::Done;
                self.overlapping_sessions = self.overlapping_sessions.max(overlapping_sessions);
            }
            _ => {}
        }
    }

    /// A server ends the run in order. One that is stopped has not refused what it had begun.
    fn server_stops(&mut self, number: usize, refusal: Refusal) {
        let now = self.group.now();
        self.machine.note(Failure {
            class: match refusal.code {
                RefusalCode::Stopping => FailureClass::Failed,
                _ => FailureClass::Refused,
            },
            message: self.group.servers.said_by(number, &refusal.reason),
            remedy: Some(refusal.remedy),
        });
        self.machine.stop(now);
    }

    fn local_closed(&mut self, rank: u32, why: &str) {
        let reason = match &mut self.group.local {
            Some(set) => set.reason_of_end(rank, why),
            None => why.to_owned(),
        };
        if !self.machine.has_ended(rank) {
            self.lost(rank, &reason);
        }
    }

    /// A session has ended: the ranks of the run that the server has are lost, those of other servers are not.
    pub(super) fn server_closed(&mut self, number: usize, why: &str) {
        let Some(far) = self.group.servers.get(number) else {
            return;
        };
        far.close();
        if far.is_waited_for() {
            return self.lost_before_start(number, why);
        }
        let reason = format!("{} is lost: {why}", far.name());
        let ranks = match std::mem::replace(&mut far.stage, Stage::Done) {
            Stage::Begun => far.ranks.clone(),
            _ => Vec::new(),
        };
        for rank in ranks {
            if !self.machine.has_ended(rank) {
                self.lost(rank, &reason);
            }
        }
    }

    pub(super) fn lost(&mut self, rank: u32, reason: &str) {
        let told = reason.to_owned();
        (self.events)(GroupEvent::RankLost { rank, reason: told });
        self.machine.gone(self.group.now(), rank, reason);
    }

    /// Perform what the machine wants.
    pub(super) fn act(&mut self) {
        for action in self.machine.take_actions() {
            match action {
                Action::Send { rank, message } => self.send(rank, message),
                Action::Interval { rank, interval } => {
                    let interval = Box::new(interval);
                    (self.events)(GroupEvent::Interval { rank, interval });
                }
                Action::FirstBarrier => self.setup = Some(self.started.elapsed()),
                Action::Abandon { rank } => {
                    if let Some(set) = &mut self.group.local {
                        set.kill(rank);
                    }
                    if let Some(number) = self.group.servers.of_rank(rank) {
                        // The server ends what is left of the session's ranks.
                        self.server_closed(number, "one of its ranks did not end");
                    }
                }
            }
        }
    }

    fn send(&mut self, rank: u32, message: RankMessage) {
        match (self.group.servers.of_rank(rank), &self.group.local) {
            (Some(number), _) => self.group.servers.say(number, rank, message),
            (None, Some(set)) if self.local_begun => set.send(rank, &message),
            (None, _) => {}
        }
    }

    /// The servers' last words on the run; one that does not say it leaves its session unusable.
    fn wait_for_done(&mut self, stop: &StopFlag) {
        let deadline = Instant::now() + self.group.options.timing.grace;
        let is_open = |(_, far): (usize, &Far)| far.stage == Stage::Begun && far.session().is_some();
        while self.group.servers.of_run().any(is_open) {
            let wait = deadline.saturating_duration_since(Instant::now());
            match self.wait(wait) {
                Ok(incoming) => self.incoming(incoming, stop),
                Err(_) => self.group.servers.close_unfinished(),
            }
        }
    }
}
