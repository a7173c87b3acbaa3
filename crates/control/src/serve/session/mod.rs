//! One client's session: its turn, its ranks in processes of their own, and messages between the two. It ends when the
//! client leaves, dies or falls silent, or when the daemon stops; whatever it held is free soon after.

mod ending;
mod place;

use super::door::{Known, stopping};
use super::slots::{SessionId, Turn};
use super::{LogEvent, Shared, limits};
use crate::address::is_of_this_machine;
use crate::launch::local::{Heard, RankSet};
use crate::launch::seam::Launch;
use crate::launch::together::Together;
use crate::session::heart::{Beat, Heart};
use crate::thread::spawn;
use crate::watch::Watch;
use crate::wire::{Packet, ReceiveError, Receiver, Sender};
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;
use wirespeed_schema::case::{Case, Stop};
use wirespeed_schema::circle::CasePart;
use wirespeed_schema::message::{OutcomeReport, RankMessage, Refusal, RefusalCode, SessionMessage};
use wirespeed_schema::outcome::StopReason;

/// Messages of a client that may wait to be handled; then its reader waits.
const BACKLOG_MESSAGES: usize = 64;

/// How long the ranks of a client that is gone have to end.
const ORPHAN_GRACE: Duration = Duration::from_secs(1);

enum Event {
    Client(SessionMessage),
    ClientGone(String),
    /// Of a process of generation `.0`.
    Rank(u64, u32, Heard),
    Turn(Turn),
    Stop,
}

/// How far the end of a run has been forced.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Forced {
    No,
    Stopped,
    Cancelled,
    Killed,
}

struct Request {
    run: u64,
    ranks: Vec<u32>,
    case: Box<Case>,
    fresh: bool,
    together: bool,
    turn: Option<u64>,
}

struct Active {
    run: u64,
    running: BTreeSet<u32>,
    /// The ranks have met those of other machines. Until then their client may wait for a turn elsewhere.
    have_met: bool,
    forced: Forced,
    /// When the next degree of force is due.
    until: Duration,
}

struct Session<'a> {
    shared: &'a Shared,
    id: SessionId,
    client: SocketAddr,
    local_address: IpAddr,
    sender: Sender,
    events: mpsc::Sender<Event>,
    watch: Arc<Watch>,
    heart: Heart,
    holds_slot: bool,
    idle_since: Duration,
    waiting: Option<Request>,
    active: Option<Active>,
    ranks: Option<RankSet>,
    generation: u64,
    /// No new case; the session ends with the active one.
    leaving: bool,
}

/// Serve one client to the end of its session.
pub(super) fn run(shared: &Arc<Shared>, id: SessionId, client: SocketAddr, known: Known) {
    let (events, incoming) = mpsc::channel();
    let waker = events.clone();
    let _subscription = shared.stop.subscribe(move || {
        let _ = waker.send(Event::Stop);
    });
    let (handled, backlog) = mpsc::sync_channel(BACKLOG_MESSAGES);
    let reader = {
        let (events, receiver) = (events.clone(), known.receiver);
        spawn(format!("client {id} in"), move || {
            listen(receiver, &events, &handled)
        })
    };
    let lease = shared.options.timing.lease;
    let mut session = Session {
        shared,
        id,
        client,
        local_address: known.local_address,
        sender: known.sender.clone(),
        events,
        watch: Arc::new(Watch::new(shared.options.timing.silence)),
        heart: Heart::new(lease, Duration::ZERO),
        holds_slot: false,
        idle_since: Duration::ZERO,
        waiting: None,
        active: None,
        ranks: None,
        generation: 0,
        leaving: reader.is_err(),
    };
    while !session.is_over() {
        let wait = session.due();
        // When nothing came, what is due is done above.
        if let Ok(event) = session.watch.wait(wait, |time| incoming.recv_timeout(time)) {
            let of_client = matches!(event, Event::Client(_));
            session.handle(event);
            if of_client {
                // One more may come.
                let _ = backlog.try_recv();
            }
        }
    }
    drop(session);
    let _ = known.sender.message(&SessionMessage::Bye);
    known.sender.close();
    drop((incoming, backlog));
    if let Ok(reader) = reader {
        let _ = reader.join();
    }
    shared.log(Some(client), "left");
}

/// The client's reader: sleeps in a read, and waits while too much is unhandled.
fn listen(mut receiver: Receiver, events: &mpsc::Sender<Event>, handled: &mpsc::SyncSender<()>) {
    loop {
        let event = match receiver.receive::<SessionMessage>(None) {
            Ok(Packet::Message(message)) => Event::Client(message),
            Ok(Packet::Outcome(_)) => Event::ClientGone("it sent an outcome".into()),
            Err(ReceiveError::TimedOut) => continue,
            Err(error) => Event::ClientGone(error.to_string()),
        };
        if matches!(event, Event::ClientGone(_)) {
            // Nobody listens any more when the session is over.
            let _ = events.send(event);
            return;
        }
        if handled.send(()).is_err() || events.send(event).is_err() {
            return;
        }
    }
}

impl Session<'_> {
    fn now(&self) -> Duration {
        self.watch.now()
    }

    fn is_over(&self) -> bool {
        self.leaving && self.active.is_none()
    }

    /// Do what is due; how long nothing will be.
    fn due(&mut self) -> Duration {
        let now = self.now();
        let timing = self.shared.options.timing;
        let others_wait = self.holds_slot && self.shared.slots.others_wait();
        let silence = if others_wait { timing.lease } else { timing.silence };
        self.heart.set_silence(silence);
        let mut next = now + timing.lease;
        match self.heart.poll(now) {
            Beat::Silent if !self.leaving => self.client_gone("it fell silent"),
            Beat::Ping => self.say(&SessionMessage::Ping),
            Beat::Wait(until) => next = next.min(until),
            Beat::Silent => {}
        }
        if others_wait && self.active.is_none() && now >= self.idle_since + timing.lease {
            self.give_slot_back();
        }
        let silent = match &mut self.ranks {
            Some(set) if self.active.is_some() => {
                let (silent, beat) = set.tick(now);
                next = beat.map_or(next, |beat| next.min(beat));
                silent
            }
            _ => Vec::new(),
        };
        for rank in silent {
            if let Some(set) = &mut self.ranks {
                set.kill(rank);
            }
            self.rank_gone(rank, "it fell silent".into());
        }
        if self.active.as_ref().is_some_and(|active| now >= active.until) {
            self.force_further();
        }
        if let Some(active) = &self.active {
            next = next.min(active.until);
        }
        next.saturating_sub(self.now())
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Client(message) => self.client_says(message),
            Event::ClientGone(why) => self.client_gone(&why),
            Event::Rank(generation, rank, heard) if generation == self.generation => {
                self.rank_says(rank, heard);
            }
            Event::Rank(..) => {}
            Event::Turn(Turn::Yours) => {
                self.holds_slot = true;
                match self.waiting.take() {
                    Some(request) => self.begin(request),
                    None => self.give_slot_back(),
                }
            }
            Event::Turn(Turn::Ahead { ahead, wait_ns_min }) => {
                if self.waiting.is_some() {
                    let sessions_ahead = ahead;
                    self.say(&SessionMessage::Queued {
                        sessions_ahead,
                        wait_ns_min,
                    });
                }
            }
            Event::Stop => self.daemon_stops(),
        }
    }

    fn client_says(&mut self, message: SessionMessage) {
        self.heart.heard(self.now());
        match message {
            SessionMessage::Start {
                run,
                ranks,
                case,
                fresh,
                together,
                turn,
            } => {
                let Some(case) = case.into_case() else {
                    return self.client_gone("it sent a case that contradicts itself");
                };
                self.ask(Request {
                    run,
                    ranks,
                    case,
                    fresh,
                    together,
                    turn,
                });
            }
            SessionMessage::Rank { rank, message } => self.pass_on(rank, &message),
            SessionMessage::Refused(refusal) => {
                self.log_event(LogEvent::Failed, format!("refuses its test: {}", refusal.reason));
            }
            SessionMessage::Bye => self.client_gone("it said goodbye"),
            SessionMessage::Ping => self.say(&SessionMessage::Pong),
            _ => {}
        }
    }

    /// The client asks for a case to be run.
    fn ask(&mut self, request: Request) {
        if self.active.is_some() || self.waiting.is_some() {
            return self.client_gone("it sent a case out of turn");
        }
        if self.leaving || self.shared.stop.is_requested() {
            return self.say(&SessionMessage::Refused(stopping()));
        }
        if let Err(refusal) = limits::check(
            &request.case,
            &request.ranks,
            is_of_this_machine(self.client.ip()),
            &self.shared.options.limits,
        ) {
            let text = format!("refused {}: {}", request.case.label(), refusal.reason);
            self.log_event(LogEvent::Failed, text);
            return self.say(&SessionMessage::Refused(refusal));
        }
        if self.holds_slot {
            return self.begin(request);
        }
        let turn = request.turn;
        self.waiting = Some(request);
        let events = self.events.clone();
        self.shared.slots.ask(self.id, turn, move |turn| {
            let _ = events.send(Event::Turn(turn));
        });
    }

    /// It is the client's turn: its ranks get the case.
    fn begin(&mut self, request: Request) {
        let run = request.run;
        // Meanwhile neither the client nor a rank is heard, and none is silent.
        let watch = self.watch.clone();
        let started = watch.aside(Duration::ZERO, || self.start_ranks(&request));
        let now = self.now();
        self.heart.heard(now);
        if let Err(refusal) = started {
            let text = format!("cannot run {}: {}", request.case.label(), refusal.reason);
            self.log_event(LogEvent::Failed, text);
            self.idle_since = now;
            return self.say(&SessionMessage::Refused(refusal));
        }
        let planned = match request.case.stop {
            Stop::Duration { duration_ns } => Some(Duration::from_nanos(duration_ns)),
            Stop::Iterations { .. } => None,
        };
        let text = format!("runs {}", request.case.label());
        self.log_event(LogEvent::Runs(request.case.clone()), text);
        self.shared.slots.run_begins(self.id, planned);
        self.active = Some(Active {
            run,
            running: request.ranks.iter().copied().collect(),
            have_met: false,
            forced: Forced::No,
            until: self.limit_from(now),
        });
        // First, so that the client knows of the run before its ranks speak.
        self.say(&SessionMessage::Started { run });
        let Some(set) = &mut self.ranks else {
            return;
        };
        set.begin_run(self.shared.options.timing, now);
        let alone = self.shared.options.limits.clients_max <= 1;
        let case = if let Some(cpus) = &self.shared.options.cpus {
            place::pinned(&request.case, &request.ranks, cpus)
        } else if alone {
            let cpus = wirespeed::host::default_cpus(request.case.ranks.len());
            place::placed(&request.case, &request.ranks, cpus)
        } else {
            request.case.clone()
        };
        // They share this machine.
        let part = CasePart::for_each(&case, &[&request.ranks]).remove(0);
        for &rank in &request.ranks {
            set.send(
                rank,
                &RankMessage::Prepare {
                    run,
                    rank,
                    case: part.clone(),
                    bind_address: self.local_address,
                },
            );
        }
    }

    /// When a run, or the wait before it, that begins `now` takes too long.
    fn limit_from(&self, now: Duration) -> Duration {
        let options = &self.shared.options;
        now.saturating_add(Duration::from_nanos(options.limits.duration_ns_max))
            .saturating_add(options.timing.start)
    }

    fn start_ranks(&mut self, request: &Request) -> Result<(), Refusal> {
        let serves = self.ranks.as_ref().is_some_and(|set| set.serves(&request.ranks));
        if serves && !request.fresh {
            return Ok(());
        }
        self.ranks = None;
        self.generation += 1;
        let (generation, events) = (self.generation, self.events.clone());
        let hear = move |rank, heard| {
            let _ = events.send(Event::Rank(generation, rank, heard));
        };
        let (options, stop) = (&self.shared.options, &self.shared.stop);
        let now = self.now();
        let together = Together::new(&options.program, request.ranks.len() as u32);
        let program: &dyn Launch = if request.together {
            &together
        } else {
            &options.program
        };
        let started = RankSet::start(program, &request.ranks, options.timing, stop, now, hear);
        self.ranks = Some(started.map_err(|error| Refusal {
            code: RefusalCode::Other,
            reason: format!("the server cannot start its ranks: {error}"),
            remedy: error.remedy(),
        })?);
        Ok(())
    }

    /// Pass on what a client may say to a rank.
    fn pass_on(&mut self, rank: u32, message: &RankMessage) {
        let until = self.limit_from(self.now());
        let Some(active) = &mut self.active else {
            return;
        };
        let run = match message {
            RankMessage::Exchanged { run, .. }
            | RankMessage::Released { run, .. }
            | RankMessage::StopRequest { run }
            | RankMessage::Cancel { run, .. } => *run,
            _ => return,
        };
        if run != active.run || !active.running.contains(&rank) {
            return;
        }
        let meets = matches!(
            message,
            RankMessage::Exchanged { .. } | RankMessage::Released { .. }
        );
        if meets && !std::mem::replace(&mut active.have_met, true) && active.forced == Forced::No {
            active.until = until;
        }
        if matches!(message, RankMessage::Cancel { .. }) && active.forced < Forced::Cancelled {
            active.forced = Forced::Cancelled;
            active.until = self.watch.now() + self.shared.options.timing.grace;
        }
        if let Some(set) = &self.ranks {
            set.send(rank, message);
        }
    }

    fn rank_says(&mut self, rank: u32, heard: Heard) {
        let now = self.now();
        if let Some(set) = &mut self.ranks {
            set.heard(rank, now);
        }
        match heard {
            Heard::Message(RankMessage::Pong | RankMessage::Hello(_) | RankMessage::Unknown) => {}
            Heard::Message(message) => {
                let last = matches!(message, RankMessage::Failed { .. });
                if let RankMessage::Failed { error, .. } = &message {
                    self.log_event(LogEvent::Failed, format!("rank {rank} failed: {error}"));
                }
                self.say(&SessionMessage::Rank { rank, message });
                if last {
                    self.rank_ended(rank);
                }
            }
            Heard::Outcome(report) if report.rank == rank => {
                self.log_early_end(&report);
                self.send_outcome(&report);
                self.rank_ended(rank);
            }
            Heard::Outcome(_) => self.rank_gone(rank, "it reported for another rank".into()),
            Heard::Closed(why) => {
                let reason = match &mut self.ranks {
                    Some(set) => set.reason_of_end(rank, &why),
                    None => why,
                };
                self.rank_gone(rank, reason);
            }
        }
    }

    /// A rank may notice that its peer is gone before the client's end is heard of.
    fn log_early_end(&self, report: &OutcomeReport) {
        if matches!(report.outcome.stop, StopReason::PeerLost | StopReason::Failed) {
            let why = report.outcome.error.as_deref().unwrap_or("it ended early");
            self.log_event(LogEvent::Failed, format!("rank {}: {why}", report.rank));
        }
    }

    fn send_outcome(&mut self, report: &OutcomeReport) {
        // A long one on a slow path takes its time, in which nobody is heard.
        let (watch, sender) = (self.watch.clone(), self.sender.clone());
        if watch.aside(Duration::ZERO, || sender.outcome(report)).is_err() {
            self.client_gone("it does not take its outcome");
        }
    }

    fn rank_gone(&mut self, rank: u32, reason: String) {
        let running = self
            .active
            .as_ref()
            .is_some_and(|active| active.running.contains(&rank));
        if running {
            let text = format!("rank {rank} went away: {reason}");
            self.log_event(LogEvent::Failed, text);
            let message = RankMessage::Gone { reason };
            self.say(&SessionMessage::Rank { rank, message });
            self.rank_ended(rank);
        }
    }

    fn rank_ended(&mut self, rank: u32) {
        let Some(active) = &mut self.active else {
            return;
        };
        active.running.remove(&rank);
        if !active.running.is_empty() {
            return;
        }
        let run = active.run;
        self.active = None;
        self.idle_since = self.now();
        let overlapping_sessions = self.shared.slots.run_ends(self.id);
        self.say(&SessionMessage::Done {
            run,
            overlapping_sessions,
        });
    }

    fn give_slot_back(&mut self) {
        self.holds_slot = false;
        self.shared.slots.release(self.id);
    }

    fn say(&mut self, message: &SessionMessage) {
        // A client that is gone is noticed by its reader; one that does not read is cut off here.
        if self.sender.message(message).is_err() {
            self.sender.close();
        }
    }

    fn log_event(&self, event: LogEvent, text: String) {
        self.shared.log_event(Some(self.client), event, text);
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // Processes first: the next client must not be measured beside them.
        self.ranks = None;
        self.shared.slots.release(self.id);
    }
}
