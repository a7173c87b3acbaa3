//! Ping-pong over a medium that loses messages: a request without a reply in time is given up and the next one sent.
//!
//! A reply that comes later still counts, with its true round-trip time: leaving it out would hide the slowest.

use super::attend::{Attend, faults_of, progress};
use super::ending::{Ending, send_control};
use super::header::{Kind, decode, encode};
use super::patience::Patience;
use super::sequence::Tracker;
use crate::clock::Clock;
use crate::engine::header::number;
use crate::engine::meter::{Meter, Tally};
use crate::engine::payload::{Asked, Check, Sender};
use crate::engine::phases::{Body, Left, Phase, SETTLE_ROUND_TRIPS};
use crate::engine::series::Series;
use crate::engine::wired::Wired;
use crate::transport::port::{LinkError, MessagePort, OnMessage, Post};
use wirespeed_schema::outcome::{Count, SampleKind};

/// Requests whose sending times are kept for late replies.
const TIMED: u64 = 64;

/// The requester's view.
pub struct Replies {
    size: usize,
    checks: Asked,
    phase: u64,
    sent: u64,
    sent_at: [u64; TIMED as usize],
    /// One bit for each of the last requests whose reply has come and was not looked at yet.
    landed: u64,
    tracker: Tracker,
    bytes: u64,
    corrupt: u64,
    /// Replies that the peer has sent in this phase, once it closed it.
    closed: Option<u64>,
    /// Requests without a reply in time.
    pub timeouts: u64,
    /// Replies that came after their request was given up.
    pub late: u64,
    /// Time from giving a request up to its late reply, summed: later requests were under way meanwhile.
    pub late_ticks: u64,
}

impl Replies {
    /// For payloads of `size` bytes.
    pub fn new(size: usize, checks: Asked) -> Self {
        Replies {
            size,
            checks,
            phase: 0,
            sent: 0,
            sent_at: [0; TIMED as usize],
            landed: 0,
            tracker: Tracker::new(),
            bytes: 0,
            corrupt: 0,
            closed: None,
            timeouts: 0,
            late: 0,
            late_ticks: 0,
        }
    }

    /// The next phase begins.
    pub fn restart(&mut self) {
        self.phase += 1;
        self.tracker.clear();
        (self.sent, self.landed, self.bytes, self.corrupt) = (0, 0, 0, 0);
        (self.closed, self.timeouts, self.late, self.late_ticks) = (None, 0, 0, 0);
    }

    fn tally(&self) -> Tally {
        Tally {
            sent: Count::of(self.sent, self.size),
            received: Count {
                messages: self.tracker.received,
                bytes: self.bytes,
            },
            faults: faults_of(&self.tracker, self.closed.unwrap_or(0), self.corrupt),
            ..Tally::default()
        }
    }

    /// Record what has landed at `now`; whether that of request `awaited` is among it. Others were given up.
    #[inline(always)]
    fn take_landed(&mut self, series: &mut Series, patience: &mut Patience, now: u64, awaited: u64) -> bool {
        let slot = (awaited % TIMED) as usize;
        if self.landed & !(1 << slot) != 0 {
            self.cold_take_late(series, patience, now, !(1 << slot));
        }
        if self.landed == 0 {
            return false;
        }
        self.landed = 0;
        let ticks = now.saturating_sub(self.sent_at[slot]);
        series.record(ticks);
        patience.answered(ticks);
        true
    }

    /// Record the replies in `slots` that have landed at `now`, whose requests were given up.
    #[cold]
    #[inline(never)]
    fn cold_take_late(&mut self, series: &mut Series, patience: &mut Patience, now: u64, slots: u64) {
        let mut left = self.landed & slots;
        self.landed &= !slots;
        while left != 0 {
            let slot = left.trailing_zeros() as usize;
            let ticks = now.saturating_sub(self.sent_at[slot]);
            series.record(ticks);
            patience.answered(ticks);
            self.late += 1;
            self.late_ticks += now.saturating_sub(self.sent_at[(slot + 1) % TIMED as usize]);
            left &= left - 1;
        }
    }

    /// The newest request has no reply at `now`: it is given up, and the next one's time begins.
    #[inline(always)]
    fn give_up(&mut self, now: u64) {
        self.timeouts += 1;
        self.sent_at[(self.sent % TIMED) as usize] = now;
    }
}

impl OnMessage for Replies {
    #[inline(always)]
    fn message(&mut self, _: usize, header: u64, payload: &[u8]) {
        match decode(self.phase, header) {
            (0, Kind::Data(sequence)) if sequence < self.sent => {
                if !self.tracker.note(sequence) {
                    return;
                }
                if self.checks.find_wrong(number(header), self.size, payload) {
                    self.corrupt += 1;
                }
                self.bytes += payload.len() as u64;
                // Older ones have no sending time any more.
                match self.sent - sequence < TIMED {
                    true => self.landed |= 1 << (sequence % TIMED),
                    false => self.late += 1,
                }
            }
            (0, Kind::Closed(replied)) => self.closed = Some(replied),
            _ => {}
        }
    }
}

impl Attend for Replies {
    fn attend<P: MessagePort>(&mut self, _: &mut P) -> Result<(), LinkError> {
        Ok(())
    }
}

/// `count` requests, each answered or given up before the next.
#[inline(never)]
pub fn hot_request<P: MessagePort, S: Sender>(
    link: &mut Wired<P>,
    sender: &mut S,
    replies: &mut Replies,
    series: &mut Series,
    patience: &mut Patience,
    (clock, count): (Clock, u64),
) -> Result<(), LinkError> {
    let mut start = clock.now();
    for _ in 0..count {
        let sequence = replies.sent;
        replies.sent_at[(sequence % TIMED) as usize] = start;
        let bits = encode(replies.phase, Kind::Data(sequence));
        while sender.post(&mut link.port, 0, bits)? == Post::Busy {
            link.make_room(replies)?;
        }
        replies.sent = sequence + 1;
        let timeout = patience.timeout_ticks();
        start = loop {
            link.port.wait(replies)?;
            let now = clock.now();
            if replies.landed != 0 && replies.take_landed(series, patience, now, sequence) {
                break now;
            }
            if now.saturating_sub(start) >= timeout {
                replies.give_up(now);
                patience.missed(timeout)?;
                break now;
            }
        };
    }
    Ok(())
}

/// The rank that sends requests.
pub struct Requester<P, S> {
    link: Wired<P>,
    sender: S,
    replies: Replies,
    patience: Patience,
    series: Series,
    clock: Clock,
    ns_per_tick: f64,
}

impl<P: MessagePort, S: Sender> Requester<P, S> {
    /// Of requests from `sender`, whose answers `replies` takes.
    pub fn new(link: Wired<P>, sender: S, replies: Replies, meter: &Meter) -> Self {
        Requester {
            link,
            sender,
            replies,
            patience: Patience::new(meter.timebase),
            series: meter.series(SampleKind::RoundTrip),
            clock: meter.clock,
            ns_per_tick: meter.timebase.ns_per_tick(),
        }
    }
}

impl<P: MessagePort, S: Sender> Body for Requester<P, S> {
    fn leads(&self) -> bool {
        true
    }

    fn progress(&mut self) -> Result<(), LinkError> {
        progress(&mut self.link, &mut self.replies)
    }

    fn begin(&mut self, phase: Phase) -> Result<(), LinkError> {
        if phase != Phase::First {
            self.replies.restart();
        }
        self.series.clear();
        Ok(())
    }

    fn step(&mut self, count: u64, last: bool) -> Result<bool, LinkError> {
        let Requester {
            link,
            sender,
            replies,
            patience,
            series,
            clock,
            ..
        } = self;
        hot_request(link, sender, replies, series, patience, (*clock, count))?;
        Ok(last)
    }

    /// Both sides know then what was lost.
    fn close(&mut self, _: Phase) -> Result<(), LinkError> {
        let Requester {
            link,
            replies,
            patience,
            series,
            clock,
            ..
        } = self;
        let bits = encode(replies.phase, Kind::Last(replies.sent));
        loop {
            send_control(link, replies, bits)?;
            let (start, timeout) = (clock.now(), patience.timeout_ticks());
            loop {
                link.port.wait(replies)?;
                let now = clock.now();
                if replies.landed != 0 {
                    replies.cold_take_late(series, patience, now, u64::MAX);
                }
                if replies.closed.is_some() {
                    patience.heard();
                    return Ok(());
                }
                if now.saturating_sub(start) >= timeout {
                    patience.missed(timeout)?;
                    break;
                }
            }
        }
    }

    fn settling(&self) -> u64 {
        SETTLE_ROUND_TRIPS
    }

    fn done(&self) -> u64 {
        self.replies.sent
    }

    fn tally(&self) -> Tally {
        self.replies.tally()
    }

    fn series(&mut self) -> Option<&mut Series> {
        Some(&mut self.series)
    }

    fn finish(self: Box<Self>) -> Left {
        let mut left = Left::new(vec![self.series], self.link.port.facts());
        left.note("reply_timeouts", self.replies.timeouts);
        left.note("late_replies", self.replies.late);
        let late_ns = self.replies.late_ticks as f64 * self.ns_per_tick;
        left.note("late_replies_ns", late_ns.ceil() as u64);
        left
    }
}

/// Requests taken in one poll that can be answered; more are dropped, as a full socket buffer would.
const WAITING_MAX: usize = 64;

/// The answerer's view.
pub struct Requests {
    size: usize,
    checks: Asked,
    /// The end of the phase.
    pub ending: Ending,
    tracker: Tracker,
    waiting: [u64; WAITING_MAX],
    waiting_len: usize,
    replied: u64,
    bytes: u64,
    corrupt: u64,
}

impl Requests {
    /// For payloads of `size` bytes.
    pub fn new(size: usize, checks: Asked) -> Self {
        Requests {
            size,
            checks,
            ending: Ending::default(),
            tracker: Tracker::new(),
            waiting: [0; WAITING_MAX],
            waiting_len: 0,
            replied: 0,
            bytes: 0,
            corrupt: 0,
        }
    }

    /// The next phase begins.
    pub fn restart(&mut self) {
        self.ending.restart();
        self.tracker.clear();
        (self.waiting_len, self.replied, self.bytes, self.corrupt) = (0, 0, 0, 0);
    }

    /// What was received and answered.
    pub fn tally(&self) -> Tally {
        Tally {
            sent: Count::of(self.replied, self.size),
            received: Count {
                messages: self.tracker.received,
                bytes: self.bytes,
            },
            faults: faults_of(&self.tracker, self.ending.total.unwrap_or(0), self.corrupt),
            ..Tally::default()
        }
    }
}

impl OnMessage for Requests {
    #[inline(always)]
    fn message(&mut self, _: usize, header: u64, payload: &[u8]) {
        let (0, Kind::Data(sequence)) = self.ending.take(header) else {
            return;
        };
        if self.ending.closed.is_some() || !self.tracker.note(sequence) {
            return;
        }
        if self.checks.find_wrong(number(header), self.size, payload) {
            self.corrupt += 1;
        }
        self.bytes += payload.len() as u64;
        if let Some(slot) = self.waiting.get_mut(self.waiting_len) {
            *slot = header;
            self.waiting_len += 1;
        }
    }
}

impl Attend for Requests {
    fn attend<P: MessagePort>(&mut self, port: &mut P) -> Result<(), LinkError> {
        if self.ending.is_asked() {
            self.ending.answer(port, self.replied)?;
        }
        Ok(())
    }
}

/// Answer every request once until the phase is closed. A source that says nothing for `silence_ticks` is gone.
#[inline(never)]
pub fn hot_answer<P: MessagePort, S: Sender>(
    link: &mut Wired<P>,
    sender: &mut S,
    requests: &mut Requests,
    (clock, silence_ticks): (Clock, u64),
) -> Result<(), LinkError> {
    let mut silent_since = None;
    while requests.ending.closed.is_none() {
        link.port.wait(requests)?;
        if requests.waiting_len == 0 && !requests.ending.is_asked() {
            let now = clock.now();
            if now.saturating_sub(*silent_since.get_or_insert(now)) >= silence_ticks {
                return Err(LinkError::TimedOut);
            }
            continue;
        }
        silent_since = None;
        let mut next = 0;
        while next < requests.waiting_len {
            match sender.post(&mut link.port, 0, requests.waiting[next])? {
                Post::Done => next += 1,
                Post::Busy => link.make_room(requests)?,
            }
        }
        requests.replied += next as u64;
        requests.waiting_len = 0;
        requests.attend(&mut link.port)?;
    }
    Ok(())
}

/// The rank that answers requests.
pub struct Answerer<P, S> {
    link: Wired<P>,
    sender: S,
    requests: Requests,
    clock: Clock,
    silence_ticks: u64,
}

impl<P, S> Answerer<P, S> {
    /// Answers what `requests` takes with messages from `sender`.
    pub fn new(link: Wired<P>, sender: S, requests: Requests, meter: &Meter) -> Self {
        Answerer {
            link,
            sender,
            requests,
            clock: meter.clock,
            silence_ticks: Patience::new(meter.timebase).silence_ticks(0.0),
        }
    }
}

impl<P: MessagePort, S: Sender> Body for Answerer<P, S> {
    fn progress(&mut self) -> Result<(), LinkError> {
        progress(&mut self.link, &mut self.requests)
    }

    fn begin(&mut self, phase: Phase) -> Result<(), LinkError> {
        if phase != Phase::First {
            self.requests.restart();
        }
        Ok(())
    }

    fn step(&mut self, _: u64, _: bool) -> Result<bool, LinkError> {
        let limits = (self.clock, self.silence_ticks);
        hot_answer(&mut self.link, &mut self.sender, &mut self.requests, limits)?;
        Ok(true)
    }

    fn done(&self) -> u64 {
        self.requests.tracker.received
    }

    fn tally(&self) -> Tally {
        self.requests.tally()
    }

    fn finish(self: Box<Self>) -> Left {
        Left::new(Vec::new(), self.link.port.facts())
    }
}
