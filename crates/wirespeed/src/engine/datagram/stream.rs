//! Streams over a medium that loses messages, one way or both ways at once.
//!
//! The receiver acknowledges the highest sequence number that has come: what is below is delivered or will never be
//! waited for. When no acknowledgement comes in time, the sender writes everything in flight off and goes on.

use super::ending::{Ending, send_control};
use super::header::{Kind, encode};
use super::patience::Patience;
use super::sequence::Tracker;
use super::{Attend, faults_of};
use crate::clock::{Clock, Timebase};
use crate::engine::header::number;
use crate::engine::meter::{Meter, Series, Tally};
use crate::engine::payload::{self, Sender};
use crate::engine::wired::Wired;
use crate::transport::port::{LinkError, MessagePort, OnMessage, Post};
use std::time::Duration;
use wirespeed_schema::outcome::{Count, StopReason};

/// A paced sender sleeps when the next message is due later than this, else it spins.
const SLEEP_NS_MIN: u64 = 100_000;
/// Longest sleep at once: the peer and the cancel flag want attention.
const SLEEP_NS_MAX: u64 = 1_000_000;
/// A receiver that hears nothing for so long acknowledges what it has.
const IDLE_ACK_NS: u64 = 1_000_000;
/// A receiver that hears nothing for so long returns, so that interval reports go on.
const IDLE_RETURN_NS: u64 = 20_000_000;

/// What has come of one phase.
struct Arrivals {
    tracker: Tracker,
    bytes: u64,
    corrupt: u64,
}

impl Arrivals {
    fn new() -> Self {
        Arrivals {
            tracker: Tracker::new(),
            bytes: 0,
            corrupt: 0,
        }
    }

    fn clear(&mut self) {
        self.tracker.clear();
        (self.bytes, self.corrupt) = (0, 0);
    }
}

/// Both directions' state that messages change.
pub struct Traffic<const CHECK: bool> {
    size: usize,
    ack_every: u64,
    ending: Ending,
    now: Arrivals,
    /// The peer of a bidirectional stream may begin the next phase while this rank ends this one.
    early: Arrivals,
    /// What the last acknowledgement said.
    acknowledged: u64,
    /// Highest sequence number that the peer has said to have, plus one.
    credited: u64,
    /// Messages that the peer has counted in this phase, once it closed it.
    pub peer_received: Option<u64>,
}

impl<const CHECK: bool> Traffic<CHECK> {
    /// For payloads of `size` bytes and a window of `window` messages.
    pub fn new(size: usize, window: u64) -> Self {
        Traffic {
            size,
            ack_every: (window / 4).max(1),
            ending: Ending::default(),
            now: Arrivals::new(),
            early: Arrivals::new(),
            acknowledged: 0,
            credited: 0,
            peer_received: None,
        }
    }

    fn restart(&mut self) {
        self.ending.restart();
        self.now.clear();
        std::mem::swap(&mut self.now, &mut self.early);
        (self.acknowledged, self.credited, self.peer_received) = (0, 0, None);
    }

    /// Different messages that have come in this phase.
    pub fn received(&self) -> u64 {
        self.now.tracker.received
    }

    fn tally(&self, sent: u64) -> Tally {
        Tally {
            sent: Count {
                messages: sent,
                bytes: sent.saturating_mul(self.size as u64),
            },
            received: Count {
                messages: self.now.tracker.received,
                bytes: self.now.bytes,
            },
            faults: faults_of(
                &self.now.tracker,
                self.ending.total.unwrap_or(0),
                self.now.corrupt,
            ),
        }
    }

    #[inline(always)]
    fn is_ack_due(&self) -> bool {
        self.now.tracker.next - self.acknowledged >= self.ack_every
    }

    /// Acknowledge if there is room; the next one says as much and more.
    #[inline(always)]
    fn acknowledge<P: MessagePort>(&mut self, port: &mut P) -> Result<(), LinkError> {
        let next = self.now.tracker.next;
        if port.send_short(0, encode(self.ending.phase, Kind::Ack(next)), &[])? == Post::Done {
            self.acknowledged = next;
        }
        Ok(())
    }
}

impl<const CHECK: bool> OnMessage for Traffic<CHECK> {
    #[inline(always)]
    fn message(&mut self, _: usize, header: u64, payload: &[u8]) {
        let (ahead, kind) = self.ending.take(header);
        match (ahead, kind) {
            (0 | 1, Kind::Data(sequence)) => {
                let arrivals = if ahead == 0 {
                    &mut self.now
                } else {
                    &mut self.early
                };
                let is_over = ahead == 0 && self.ending.closed.is_some();
                if is_over || !arrivals.tracker.note(sequence) {
                    return;
                }
                if CHECK && !payload::matches(number(header), self.size, payload) {
                    arrivals.corrupt += 1;
                }
                arrivals.bytes += payload.len() as u64;
            }
            (0, Kind::Ack(next)) => self.credited = self.credited.max(next),
            (0, Kind::Closed(received)) => self.peer_received = Some(received),
            _ => {}
        }
    }
}

impl<const CHECK: bool> Attend for Traffic<CHECK> {
    #[inline(always)]
    fn attend<P: MessagePort>(&mut self, port: &mut P) -> Result<(), LinkError> {
        if self.is_ack_due() {
            self.acknowledge(port)?;
        }
        if self.ending.is_asked() {
            self.ending.answer(port, self.now.tracker.received)?;
        }
        Ok(())
    }
}

/// The sending half: how far it got, and its timing.
pub struct Outgoing {
    window: u64,
    sent: u64,
    /// Messages below this are not waited for any more.
    written_off: u64,
    /// How often everything in flight was written off.
    pub stalls: u64,
    /// How long it waits.
    pub patience: Patience,
    /// A message whose acknowledgement is timed: the number that covers it (0 for none) and when it was sent.
    probe: (u64, u64),
    /// Time of batches of sends.
    pub intervals: Series,
    /// Time from a send to the acknowledgement that covers it.
    pub acknowledged: Series,
    /// Ticks between two sends when paced, else 0.
    pace_ticks: f64,
    paced_from: u64,
    ns_per_tick: f64,
}

impl Outgoing {
    /// For a window of `window` messages, paced to one every `pace_ticks` if above 0.
    pub fn new(
        window: u64,
        (pace_ticks, timebase): (f64, &Timebase),
        (intervals, acknowledged): (Series, Series),
        patience: Patience,
    ) -> Self {
        Outgoing {
            window,
            sent: 0,
            written_off: 0,
            stalls: 0,
            patience,
            probe: (0, 0),
            intervals,
            acknowledged,
            pace_ticks,
            paced_from: timebase.clock.now(),
            ns_per_tick: timebase.ns_per_tick(),
        }
    }

    fn restart(&mut self, clock: Clock) {
        (self.sent, self.written_off, self.stalls, self.probe) = (0, 0, 0, (0, 0));
        self.paced_from = clock.now();
    }

    #[inline(always)]
    fn has_credit(&self, credited: u64) -> bool {
        self.sent - credited.min(self.sent).max(self.written_off) < self.window
    }

    #[inline(always)]
    fn note_credit(&mut self, credited: u64, now: u64) {
        if self.probe.0 != 0 && credited >= self.probe.0 {
            let ticks = now.saturating_sub(self.probe.1);
            self.acknowledged.record(ticks);
            self.patience.answered(ticks);
            self.probe.0 = 0;
        }
    }
}

/// Wait until the window has room, or write off what is in flight.
#[inline(never)]
fn await_credit<P: MessagePort, const CHECK: bool, const BOTH: bool>(
    link: &mut Wired<P>,
    traffic: &mut Traffic<CHECK>,
    out: &mut Outgoing,
    clock: Clock,
) -> Result<(), LinkError> {
    let mut since = clock.now();
    let mut credited = traffic.credited;
    let timeout = out.patience.timeout_ticks();
    while !out.has_credit(traffic.credited) {
        link.port.wait(traffic)?;
        let now = clock.now();
        out.note_credit(traffic.credited, now);
        if BOTH {
            traffic.attend(&mut link.port)?;
        }
        if traffic.credited != credited {
            (credited, since) = (traffic.credited, now);
            out.patience.heard();
        } else if now.saturating_sub(since) >= timeout {
            out.patience.missed(timeout)?;
            out.stalls += 1;
            out.written_off = out.sent;
            out.probe.0 = 0;
        }
    }
    Ok(())
}

/// Send `count` messages as fast as window and pace allow. `BOTH`: acknowledge the peer's messages too.
#[inline(never)]
pub fn hot_send<P: MessagePort, S: Sender, const CHECK: bool, const BOTH: bool>(
    link: &mut Wired<P>,
    sender: &mut S,
    traffic: &mut Traffic<CHECK>,
    out: &mut Outgoing,
    (clock, count): (Clock, u64),
) -> Result<(), LinkError> {
    let batch = out.intervals.batch_ops;
    let target = out.sent + count;
    let mut in_batch = 0;
    let mut start = clock.now();
    while out.sent < target {
        if !out.has_credit(traffic.credited) {
            await_credit::<P, CHECK, BOTH>(link, traffic, out, clock)?;
        }
        if out.pace_ticks > 0.0 {
            pace::<P, CHECK, BOTH>(link, traffic, out, clock)?;
        }
        let bits = encode(traffic.ending.phase, Kind::Data(out.sent));
        if sender.post(&mut link.port, 0, bits)? == Post::Busy {
            link.make_room(traffic)?;
            continue;
        }
        out.sent += 1;
        in_batch += 1;
        if in_batch == batch {
            let now = clock.now();
            out.intervals.record(now - start);
            start = now;
            in_batch = 0;
            if out.probe.0 == 0 {
                out.probe = (out.sent, now);
            }
            if BOTH {
                link.port.poll(traffic)?;
                out.note_credit(traffic.credited, now);
                traffic.attend(&mut link.port)?;
            }
        }
    }
    Ok(())
}

/// Hold the next send until its place in the absolute schedule start + i / rate; a late one goes at once.
#[inline(never)]
fn pace<P: MessagePort, const CHECK: bool, const BOTH: bool>(
    link: &mut Wired<P>,
    traffic: &mut Traffic<CHECK>,
    out: &mut Outgoing,
    clock: Clock,
) -> Result<(), LinkError> {
    let due = out.paced_from + (out.sent as f64 * out.pace_ticks) as u64;
    loop {
        let now = clock.now();
        if now >= due {
            return Ok(());
        }
        link.make_room(traffic)?;
        out.note_credit(traffic.credited, now);
        if BOTH {
            traffic.attend(&mut link.port)?;
        }
        let left_ns = (due.saturating_sub(clock.now()) as f64 * out.ns_per_tick) as u64;
        if left_ns > SLEEP_NS_MIN {
            // Timers fire some 50 us late: the rest is spun.
            std::thread::sleep(Duration::from_nanos((left_ns - SLEEP_NS_MIN).min(SLEEP_NS_MAX)));
            link.look()?;
        }
    }
}

/// The receiving half's timing.
pub struct Incoming {
    /// Mean time a message over batches of arrivals.
    pub intervals: Series,
    first_arrival: Option<u64>,
    last_arrival: u64,
    marked: u64,
    marked_at: u64,
    silent_since: Option<u64>,
    silence_ticks: u64,
    idle_ack_ticks: u64,
    idle_return_ticks: u64,
}

impl Incoming {
    /// With its series (of means). A source that says nothing for `silence_ticks` is gone.
    pub fn new(intervals: Series, timebase: &Timebase, silence_ticks: u64) -> Self {
        Incoming {
            intervals,
            first_arrival: None,
            last_arrival: 0,
            marked: 0,
            marked_at: 0,
            silent_since: None,
            silence_ticks,
            idle_ack_ticks: timebase.to_ticks(IDLE_ACK_NS),
            idle_return_ticks: timebase.to_ticks(IDLE_RETURN_NS),
        }
    }

    fn restart(&mut self) {
        (self.first_arrival, self.last_arrival, self.marked, self.marked_at) = (None, 0, 0, 0);
        self.silent_since = None;
    }

    /// Ticks from the first to the last arrival.
    pub fn elapsed_ticks(&self) -> u64 {
        self.first_arrival
            .map_or(0, |first| self.last_arrival.saturating_sub(first))
    }

    #[inline(always)]
    fn mark(&mut self, received: u64, now: u64) {
        if self.first_arrival.is_some() {
            let fresh = received - self.marked;
            self.intervals.record_mean(now - self.marked_at, fresh);
        } else {
            self.first_arrival = Some(now);
        }
        (self.marked, self.marked_at, self.last_arrival) = (received, now, now);
    }
}

/// Receive until `until` different messages of the phase have come, it is closed, or nothing comes for a while.
#[inline(never)]
pub fn hot_receive<P: MessagePort, const CHECK: bool>(
    link: &mut Wired<P>,
    traffic: &mut Traffic<CHECK>,
    incoming: &mut Incoming,
    (clock, until): (Clock, u64),
) -> Result<(), LinkError> {
    let batch = incoming.intervals.batch_ops;
    while traffic.received() < until && traffic.ending.closed.is_none() {
        if link.port.wait(traffic)? == 0 {
            let now = clock.now();
            let silent_ticks = now.saturating_sub(*incoming.silent_since.get_or_insert(now));
            if silent_ticks < incoming.idle_ack_ticks {
                continue;
            }
            if traffic.now.tracker.next > traffic.acknowledged {
                traffic.acknowledge(&mut link.port)?;
            }
            if silent_ticks >= incoming.silence_ticks {
                return Err(LinkError::TimedOut);
            }
            if silent_ticks >= incoming.idle_return_ticks {
                return Ok(());
            }
            continue;
        }
        incoming.silent_since = None;
        let received = traffic.received();
        if received - incoming.marked >= batch {
            incoming.mark(received, clock.now());
        }
        traffic.attend(&mut link.port)?;
    }
    if traffic.ending.closed.is_some() && traffic.received() > incoming.marked {
        incoming.mark(traffic.received(), clock.now());
    }
    Ok(())
}

/// A sender's phases.
pub struct Source<S, const CHECK: bool> {
    /// Hands messages over.
    pub sender: S,
    /// What comes back.
    pub traffic: Traffic<CHECK>,
    /// How far it got.
    pub out: Outgoing,
}

impl<S: Sender, const CHECK: bool> Source<S, CHECK> {
    /// The next phase begins.
    pub fn restart(&mut self, clock: Clock) {
        self.traffic.restart();
        self.out.restart(clock);
    }

    /// A part of a phase: `count` more messages; `last` ends it.
    pub fn round<P: MessagePort, const BOTH: bool>(
        &mut self,
        link: &mut Wired<P>,
        clock: Clock,
        (count, last): (u64, bool),
    ) -> Result<(), LinkError> {
        let Source { sender, traffic, out } = self;
        hot_send::<P, S, CHECK, BOTH>(link, sender, traffic, out, (clock, count))?;
        if last {
            self.close::<P, BOTH>(link, clock)?;
        }
        Ok(())
    }

    /// End the phase: both ends know then what was lost. With `BOTH` the peer's direction must have ended as well.
    /// Returns when the last message was known to be delivered: at the answer, unless something had to be repeated;
    /// then at the last acknowledgement that came before.
    fn close<P: MessagePort, const BOTH: bool>(
        &mut self,
        link: &mut Wired<P>,
        clock: Clock,
    ) -> Result<u64, LinkError> {
        let Source { traffic, out, .. } = self;
        let bits = encode(traffic.ending.phase, Kind::Last(out.sent));
        let mut delivered = clock.now();
        let mut is_repeated = false;
        let mut is_closed = false;
        loop {
            if !is_closed {
                send_control(link, traffic, bits)?;
            }
            let (start, timeout) = (clock.now(), out.patience.timeout_ticks());
            let mut heard = (traffic.credited, traffic.now.tracker.received);
            loop {
                link.port.wait(traffic)?;
                let now = clock.now();
                out.note_credit(traffic.credited, now);
                traffic.attend(&mut link.port)?;
                let hearing = (traffic.credited, traffic.now.tracker.received);
                if hearing != heard {
                    if hearing.0 != heard.0 {
                        delivered = now;
                    }
                    heard = hearing;
                    out.patience.heard();
                }
                if !is_closed && traffic.peer_received.is_some() {
                    is_closed = true;
                    out.patience.heard();
                    if !is_repeated {
                        delivered = now;
                    }
                }
                if is_closed && (!BOTH || traffic.ending.closed.is_some()) {
                    return Ok(delivered);
                }
                if now.saturating_sub(start) >= timeout {
                    out.patience.missed(timeout)?;
                    break;
                }
            }
            is_repeated = true;
        }
    }

    /// The measured phase, in segments, until the stop condition; returns with its ticks.
    pub fn measure<P: MessagePort, const BOTH: bool>(
        &mut self,
        link: &mut Wired<P>,
        meter: &mut Meter,
        op_ticks: f64,
    ) -> Result<(StopReason, u64), LinkError> {
        self.restart(meter.clock);
        let started = meter.clock.now();
        let mut op_ticks = op_ticks;
        loop {
            let (count, last) = meter.next_segment(self.out.sent, op_ticks, self.out.intervals.batch_ops);
            let sent = self.round::<P, BOTH>(link, meter.clock, (count, false));
            meter.tally = self.traffic.tally(self.out.sent);
            sent?;
            if last {
                let closed = self.close::<P, BOTH>(link, meter.clock);
                meter.tally = self.traffic.tally(self.out.sent);
                return Ok((meter.stop_reason(), closed?.saturating_sub(started)));
            }
            // The port may never have been waited for.
            link.look()?;
            meter.between_segments(Some(&mut self.out.intervals));
            op_ticks = meter.elapsed_ticks() as f64 / self.out.sent as f64;
        }
    }
}

/// A receiver's phases.
pub struct Sink<const CHECK: bool> {
    /// What comes.
    pub traffic: Traffic<CHECK>,
    /// Its timing.
    pub incoming: Incoming,
}

impl<const CHECK: bool> Sink<CHECK> {
    /// The next phase begins.
    pub fn restart(&mut self) {
        self.traffic.restart();
        self.incoming.restart();
    }

    /// One phase, to its end.
    pub fn phase<P: MessagePort>(&mut self, link: &mut Wired<P>, clock: Clock) -> Result<(), LinkError> {
        while self.traffic.ending.closed.is_none() {
            hot_receive(link, &mut self.traffic, &mut self.incoming, (clock, u64::MAX))?;
        }
        Ok(())
    }

    /// The measured phase, to its end, pausing now and then for interval reports.
    pub fn measure<P: MessagePort>(
        &mut self,
        link: &mut Wired<P>,
        meter: &mut Meter,
        op_ticks: f64,
    ) -> Result<(), LinkError> {
        self.restart();
        let mut op_ticks = op_ticks;
        while self.traffic.ending.closed.is_none() {
            let received = self.traffic.received();
            let (count, _) = meter.next_segment(received, op_ticks, self.incoming.intervals.batch_ops);
            let until = received.saturating_add(count);
            let result = hot_receive(link, &mut self.traffic, &mut self.incoming, (meter.clock, until));
            meter.tally = self.traffic.tally(0);
            result?;
            if self.traffic.ending.closed.is_some() {
                break;
            }
            meter.between_segments(Some(&mut self.incoming.intervals));
            op_ticks = (meter.elapsed_ticks() as f64 / self.traffic.received().max(1) as f64).max(0.1);
        }
        Ok(())
    }
}
