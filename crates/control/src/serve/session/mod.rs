//! One client's session: its turn, its ranks in processes of their own, and messages between the two. It ends when the
//! client leaves, dies or falls silent, or when the daemon stops; whatever it held is free soon after.

mod begin;
mod ending;
mod place;
mod ranks;

use super::door::Known;
use super::slots::{SessionId, Turn};
use super::{LogEvent, Shared};
use crate::launch::local::{Heard, RankSet};
use crate::session::heart::{Beat, Heart};
use crate::thread::spawn;
use crate::watch::Watch;
use crate::wire::{Packet, ReceiveError, Receiver, Sender};
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;
use wirespeed_schema::case::Case;
use wirespeed_schema::message::SessionMessage;

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
