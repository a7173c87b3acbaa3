//! One run over control channels: the loop between the state machine and what arrives from ranks and server.

use super::{Group, GroupEvent, GroupResult, GroupSpec, Incoming, default_remote_ranks};
use crate::client::ServerHeard;
use crate::error::ControlError;
use crate::job::{JobError, JobRanks, LauncherProcess};
use crate::launch::local::{Heard, RankSet};
use crate::launch::seam::Launch;
use crate::launch::together::Together;
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

struct Drive<'a> {
    group: &'a mut Group,
    machine: GroupMachine,
    remote: Vec<u32>,
    started: Instant,
    setup: Option<Duration>,
    overlapping_sessions: Option<u32>,
    events: Events<'a>,
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
    group.runs += 1;
    let (remote, local) = place(group, case)?;
    let mut started = Instant::now();
    if !remote.is_empty() {
        group.connect(events, stop)?;
        started = start_remote(group, case, &remote, events, stop)?;
    }
    if let Err(error) = start_local(group, case, &local, stop) {
        // The server's ranks wait for ranks that will not come: leaving ends them.
        group.server = None;
        return Err(error);
    }
    events(GroupEvent::Started);
    let drive = Drive {
        machine: GroupMachine::new(group.runs, case.ranks.len(), group.options.timing),
        group,
        remote,
        started,
        setup: None,
        overlapping_sessions: None,
        events,
    };
    let result = drive.drive(stop);
    drop(subscription);
    Ok(result)
}

/// The ranks of the server and those of this machine.
fn place(group: &Group, case: &Case) -> Result<(Vec<u32>, Vec<u32>), ControlError> {
    let GroupSpec::Hosts(hosts) = &group.spec else {
        return Ok((Vec::new(), (0..case.ranks.len() as u32).collect()));
    };
    let remote = hosts
        .remote_ranks
        .clone()
        .unwrap_or_else(|| default_remote_ranks(case));
    let local = (0..case.ranks.len() as u32)
        .filter(|r| !remote.contains(r))
        .collect();
    if remote.is_empty() || remote.iter().any(|r| *r as usize >= case.ranks.len()) {
        return Err(ControlError::Refused(Refusal {
            code: RefusalCode::Other,
            reason: format!("{} has no rank for the server", case.label()),
            remedy: "give the case at least two ranks, or run it without --to".into(),
        }));
    }
    Ok((remote, local))
}

/// Hand the case to the server and wait for its turn. Returns when the ranks began to start.
fn start_remote(
    group: &mut Group,
    case: &Case,
    remote: &[u32],
    events: Events,
    stop: &StopFlag,
) -> Result<Instant, ControlError> {
    let run = group.runs;
    let mut started = Instant::now();
    let start = SessionMessage::Start {
        run,
        ranks: remote.to_vec(),
        case: Box::new(case.clone()),
        fresh: group.options.fresh,
        together: group.options.together,
    };
    let lost = |why: String| ControlError::lost("the server", why);
    let Some(server) = &group.server else {
        return Err(lost("not connected".into()));
    };
    let sent = server.send(&start);
    let result = sent.map_err(|e| lost(e.to_string())).and_then(|()| {
        loop {
            if stop.is_requested() {
                return Err(ControlError::Interrupted);
            }
            let silent_at = server.silent_at();
            let wait = silent_at.saturating_duration_since(Instant::now());
            match group.incoming.recv_timeout(wait) {
                Ok(Incoming::Server(connection, _)) if connection != group.connections => {}
                Ok(Incoming::Server(_, ServerHeard::Closed(why))) => return Err(lost(why)),
                Ok(Incoming::Server(_, ServerHeard::Message(message))) => match message {
                    SessionMessage::Started { run: theirs } if theirs == run => return Ok(started),
                    SessionMessage::Refused(refusal) | SessionMessage::Stopping(refusal) => {
                        return Err(ControlError::Refused(refusal));
                    }
                    SessionMessage::Queued {
                        sessions_ahead,
                        wait_ns_min,
                    } => {
                        started = Instant::now();
                        let ahead = sessions_ahead;
                        events(GroupEvent::Queued { ahead, wait_ns_min });
                    }
                    _ => {}
                },
                Ok(_) => {}
                Err(_) if Instant::now() >= server.silent_at() => return Err(lost("it fell silent".into())),
                Err(_) => {}
            }
        }
    });
    // A refused case leaves the session as it was; anything else ends it.
    if matches!(result, Err(ref e) if !matches!(e, ControlError::Refused(_))) {
        group.server = None;
    }
    result
}

/// Have a process ready for each of `ranks` and give it the case.
fn start_local(group: &mut Group, case: &Case, ranks: &[u32], stop: &StopFlag) -> Result<(), ControlError> {
    let now = group.now();
    let timing = group.options.timing;
    let serves = group.local.as_ref().is_some_and(|set| set.serves(ranks));
    match group.spec.clone() {
        GroupSpec::Job(job) => job_ranks(group, &job, ranks.len())?,
        _ if serves && !group.options.fresh => {}
        spec => {
            group.local = None;
            group.generation += 1;
            let hear = hearing(group);
            let program = &group.options.program;
            group.local = Some(match spec {
                GroupSpec::Launched(launcher) => {
                    let refused = |e: JobError| ControlError::Job(e);
                    let count = ranks.len() as u32;
                    let command = launcher.0.command(count).map_err(refused)?;
                    let program = program.clone();
                    let (process, arrived) = LauncherProcess::start(&command, &program, count, timing, stop)?;
                    RankSet::adopt(arrived, Some(process), timing, now, hear)?
                }
                GroupSpec::Started(starter) => RankSet::start(&*starter, ranks, timing, stop, now, hear)?,
                _ => {
                    let together = Together::new(program, ranks.len() as u32);
                    let own: &dyn Launch = if group.options.together {
                        &together
                    } else {
                        program
                    };
                    RankSet::start(own, ranks, timing, stop, now, hear)?
                }
            });
        }
    }
    let bind_address = match &group.server {
        Some(server) => server.local_address(),
        None => group.options.bind_address,
    };
    let Some(set) = &mut group.local else {
        return Ok(());
    };
    set.begin_run(timing, now);
    for &rank in ranks {
        set.send(
            rank,
            &RankMessage::Prepare {
                run: group.runs,
                rank,
                case: Box::new(case.clone()),
                bind_address: set.address(rank).unwrap_or(bind_address),
            },
        );
    }
    Ok(())
}

/// Passes on what local ranks of this generation say.
fn hearing(group: &Group) -> impl Fn(u32, Heard) + Clone + Send + 'static {
    let (generation, tx) = (group.generation, group.sender.clone());
    move |rank, heard| {
        // Nobody listens any more when the group is gone.
        let _ = tx.send(Incoming::Local(generation, rank, heard));
    }
}

/// The ranks of a job are the same for all cases, and cannot be had again.
fn job_ranks(group: &mut Group, job: &JobRanks, wanted: usize) -> Result<(), ControlError> {
    if group.local.is_none() {
        let (timing, now) = (group.options.timing, group.now());
        let set = RankSet::adopt(job.take()?, None, timing, now, hearing(group))?;
        group.local = Some(set);
    }
    let Some(set) = &group.local else {
        return Ok(());
    };
    if let Some(rank) = set.gone() {
        return Err(ControlError::lost(
            format!("rank {rank}"),
            "the job goes on without it",
        ));
    }
    if set.len() != wanted {
        return Err(ControlError::Job(JobError::new(
            format!("the job has {} ranks, the case {wanted}", set.len()),
            "start as many ranks as the case needs, or name a role for each: --roles source,sink,idle",
        )));
    }
    Ok(())
}

impl Drive<'_> {
    fn drive(mut self, stop: &StopFlag) -> GroupResult {
        while !self.machine.is_over() {
            let next = self.due();
            self.act();
            if self.machine.is_over() {
                break;
            }
            let wait = next.map_or(NOTHING_DUE, |n| n.saturating_sub(self.group.now()));
            match self.group.incoming.recv_timeout(wait) {
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
            overlapping_sessions: self.overlapping_sessions.unwrap_or(0),
        }
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
        if let Some(server) = self.group.server.as_ref().filter(|_| !self.remote.is_empty()) {
            let left = server.silent_at().saturating_duration_since(Instant::now());
            earlier(now + left);
            if left.is_zero() {
                self.server_closed("it fell silent");
            }
        }
        for rank in silent {
            if let Some(set) = &mut self.group.local {
                set.kill(rank);
            }
            self.lost(rank, "it fell silent");
        }
        next
    }

    fn incoming(&mut self, incoming: Incoming, stop: &StopFlag) {
        let now = self.group.now();
        match incoming {
            Incoming::Stop => {
                (self.events)(GroupEvent::Stopping);
                self.machine.stop(now);
                if stop.level() == StopLevel::Immediate {
                    self.machine.cancel(now, CancelCause::Interrupted);
                }
            }
            Incoming::Local(generation, rank, heard) if generation == self.group.generation => {
                if let Some(set) = &mut self.group.local {
                    set.heard(rank, now);
                }
                match heard {
                    Heard::Message(message) => self.machine.message(now, rank, message),
                    Heard::Outcome(report) => self.machine.outcome(now, rank, *report),
                    Heard::Closed(why) => self.local_closed(rank, &why),
                }
            }
            Incoming::Local(..) => {}
            Incoming::Server(connection, heard) if connection == self.group.connections => {
                self.server_heard(heard);
            }
            Incoming::Server(..) => {}
        }
    }

    fn server_heard(&mut self, heard: ServerHeard) {
        match heard {
            ServerHeard::Message(message) => self.server_says(message),
            ServerHeard::Outcome(report) if self.remote.contains(&report.rank) => {
                self.machine.outcome(self.group.now(), report.rank, *report);
            }
            ServerHeard::Outcome(_) => {}
            ServerHeard::Closed(why) => self.server_closed(&why),
        }
    }

    fn server_says(&mut self, message: SessionMessage) {
        let now = self.group.now();
        match message {
            SessionMessage::Rank { rank, message } if self.remote.contains(&rank) => {
                if let RankMessage::Gone { reason } = &message {
                    (self.events)(GroupEvent::RankLost { rank, reason });
                }
                self.machine.message(now, rank, message);
            }
            SessionMessage::Stopping(refusal) => {
                self.machine.note(Failure {
                    class: FailureClass::Refused,
                    message: refusal.reason,
                    remedy: Some(refusal.remedy),
                });
                self.machine.stop(now);
            }
            SessionMessage::Done {
                run,
                overlapping_sessions,
            } if run == self.group.runs => self.overlapping_sessions = Some(overlapping_sessions),
            _ => {}
        }
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

    fn server_closed(&mut self, why: &str) {
        self.group.server = None;
        for rank in self.remote.clone() {
            if !self.machine.has_ended(rank) {
                self.lost(rank, &format!("the server is lost: {why}"));
            }
        }
    }

    fn lost(&mut self, rank: u32, reason: &str) {
        (self.events)(GroupEvent::RankLost { rank, reason });
        self.machine.gone(self.group.now(), rank, reason);
    }

    /// Perform what the machine wants.
    fn act(&mut self) {
        for action in self.machine.take_actions() {
            match action {
                Action::Send { rank, message } => self.send(rank, message),
                Action::Interval { rank, interval } => (self.events)(GroupEvent::Interval {
                    rank,
                    interval: &interval,
                }),
                Action::FirstBarrier => self.setup = Some(self.started.elapsed()),
                Action::Abandon { rank } => {
                    if let Some(set) = &mut self.group.local {
                        set.kill(rank);
                    }
                    if self.remote.contains(&rank) {
                        // The server ends what is left of the session's ranks.
                        self.group.server = None;
                    }
                }
            }
        }
    }

    fn send(&mut self, rank: u32, message: RankMessage) {
        match (&self.group.local, &self.group.server) {
            (Some(set), _) if set.has(rank) => set.send(rank, &message),
            // A failed send closes the connection, which the reader reports.
            (_, Some(server)) => drop(server.send(&SessionMessage::Rank { rank, message })),
            _ => {}
        }
    }

    /// The server's last word on the run; a server that does not say it leaves the session unusable.
    fn wait_for_done(&mut self, stop: &StopFlag) {
        let deadline = Instant::now() + self.group.options.timing.grace;
        while !self.remote.is_empty() && self.group.server.is_some() && self.overlapping_sessions.is_none() {
            let wait = deadline.saturating_duration_since(Instant::now());
            match self.group.incoming.recv_timeout(wait) {
                Ok(incoming) => self.incoming(incoming, stop),
                Err(_) => self.group.server = None,
            }
        }
    }
}
