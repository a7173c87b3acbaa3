//! Streams of active messages under credit flow control, one way or both ways at once.
//!
//! The sender keeps at most `window` messages unacknowledged. The receiver acknowledges cumulatively, with a header and
//! no payload, when half a window is new (4096 messages at most), and at the last message. The sender's clock stops at the final
//! acknowledgement, so its time covers delivery; the receiver's runs from first to last arrival.

use super::flow::{ACK_EVERY_MAX, Flow};
use super::header;
use super::meter::{Meter, Series, Tally};
use super::payload::Sender;
use super::wired::Wired;
use crate::clock::Clock;
use crate::transport::port::{LinkError, MessagePort, Post};
use wirespeed_schema::outcome::{Count, StopReason};

/// One message in flight whose acknowledgement is timed.
#[derive(Clone, Copy, Default)]
struct Stamp {
    /// Acknowledged count that covers it; 0 when none is under way.
    covers: u64,
    ticks: u64,
}

/// The sending half: how far it got, and its timing.
pub struct Outgoing {
    window: u64,
    sent: u64,
    /// Most messages that were unacknowledged when a batch was done; looked for while windows are huge.
    pub backlog_max: u64,
    looked: u64,
    stamp: Stamp,
    /// Time of batches of sends.
    pub intervals: Series,
    /// Time from a send to the acknowledgement that covers it.
    pub acknowledged: Series,
    /// When paced: time from the moment at which each message was due to the acknowledgement that covers it. A sender
    /// that falls behind its schedule cannot hide it.
    pub responses: Option<Series>,
    /// Messages whose response is recorded.
    answered: u64,
    /// Ticks between two sends when paced, else 0.
    pace_ticks: f64,
    paced_from: u64,
}

impl Outgoing {
    /// For a window of `window` messages, paced to one every `pace_ticks` if above 0: then with `responses`.
    pub fn new(
        window: u64,
        (pace_ticks, responses): (f64, Option<Series>),
        intervals: Series,
        acknowledged: Series,
    ) -> Self {
        Outgoing {
            window,
            sent: 0,
            backlog_max: 0,
            looked: 0,
            stamp: Stamp::default(),
            intervals,
            acknowledged,
            responses,
            answered: 0,
            pace_ticks,
            paced_from: 0,
        }
    }

    fn restart(&mut self, clock: Clock) {
        (self.sent, self.stamp, self.answered) = (0, Stamp::default(), 0);
        self.paced_from = clock.now();
        (self.backlog_max, self.looked) = (0, 0);
    }

    #[inline(always)]
    fn note_acknowledgement(&mut self, peer_received: u64, clock: Clock) {
        if self.stamp.covers != 0 && peer_received >= self.stamp.covers {
            self.acknowledged.record(clock.now() - self.stamp.ticks);
            self.stamp.covers = 0;
        }
        if peer_received > self.answered {
            self.note_responses(peer_received, clock);
        }
    }

    /// When message `number` is due.
    #[inline(always)]
    fn due(&self, number: u64) -> u64 {
        self.paced_from + (number as f64 * self.pace_ticks) as u64
    }

    #[inline(always)]
    fn note_responses(&mut self, peer_received: u64, clock: Clock) {
        let first = self.answered;
        self.answered = peer_received;
        if self.responses.is_none() {
            return;
        }
        let now = clock.now();
        for number in first..peer_received {
            let due = self.due(number);
            if let Some(responses) = &mut self.responses {
                responses.record(now.saturating_sub(due));
            }
        }
    }
}

/// Acknowledge what is due; `poll` while there is no room.
#[inline(always)]
fn acknowledge<P: MessagePort, const CHECK: bool>(
    link: &mut Wired<P>,
    flow: &mut Flow<CHECK>,
) -> Result<(), LinkError> {
    while flow.ack_due() {
        let received = flow.received;
        let word = header::ack(received);
        match link.port.hearing(flow, |port| port.send_short(0, word, &[]))? {
            Post::Done => flow.acknowledged = received,
            Post::Busy => link.make_room(flow)?,
        }
    }
    Ok(())
}

/// Send `count` messages as fast as window and pace allow. `last`: the final one ends the phase, and the call returns
/// when everything is acknowledged. `BOTH`: acknowledge the peer's messages too.
#[inline(never)]
pub fn hot_send<P: MessagePort, S: Sender, const CHECK: bool, const BOTH: bool>(
    link: &mut Wired<P>,
    sender: &mut S,
    flow: &mut Flow<CHECK>,
    out: &mut Outgoing,
    clock: Clock,
    (count, last): (u64, bool),
) -> Result<(), LinkError> {
    let batch = out.intervals.batch_ops;
    let target = out.sent + count;
    let mut in_batch = 0;
    let mut start = clock.now();
    while out.sent < target {
        while out.sent - flow.peer_received >= out.window {
            link.port.wait(flow)?;
            out.note_acknowledgement(flow.peer_received, clock);
            if BOTH {
                acknowledge(link, flow)?;
            }
        }
        if out.pace_ticks > 0.0 {
            pace::<P, CHECK, BOTH>(link, flow, out, clock)?;
        }
        let message = header::data(out.sent, last && out.sent + 1 == target);
        let post = link.port.hearing(flow, |port| sender.post(port, 0, message))?;
        if post == Post::Busy {
            link.make_room(flow)?;
            out.note_acknowledgement(flow.peer_received, clock);
            if BOTH {
                acknowledge(link, flow)?;
            }
            continue;
        }
        out.sent += 1;
        in_batch += 1;
        if in_batch == batch {
            let now = clock.now();
            out.intervals.record(now - start);
            start = now;
            in_batch = 0;
            if out.stamp.covers == 0 {
                out.stamp = Stamp {
                    covers: out.sent,
                    ticks: now,
                };
            }
            // Where the window never holds the sender up, nothing else would see acknowledgements in time.
            let look = out.sent - out.looked >= ACK_EVERY_MAX;
            if BOTH || look {
                out.looked = out.sent;
                link.port.poll(flow)?;
                out.note_acknowledgement(flow.peer_received, clock);
            }
            if BOTH {
                acknowledge(link, flow)?;
            }
            out.backlog_max = out.backlog_max.max(out.sent - flow.peer_received);
        }
    }
    while last && flow.peer_received < target {
        link.port.wait(flow)?;
        out.note_acknowledgement(flow.peer_received, clock);
        if BOTH {
            acknowledge(link, flow)?;
        }
    }
    Ok(())
}

/// Hold the next send until its place in the absolute schedule start + i / rate; a late one goes at once.
#[inline(never)]
fn pace<P: MessagePort, const CHECK: bool, const BOTH: bool>(
    link: &mut Wired<P>,
    flow: &mut Flow<CHECK>,
    out: &mut Outgoing,
    clock: Clock,
) -> Result<(), LinkError> {
    let due = out.due(out.sent);
    while clock.now() < due {
        link.port.poll(flow)?;
        out.note_acknowledgement(flow.peer_received, clock);
        if BOTH {
            acknowledge(link, flow)?;
        }
    }
    Ok(())
}

/// The receiving half's timing.
pub struct Incoming {
    /// Mean time a message over batches of arrivals.
    pub intervals: Series,
    first_arrival: Option<u64>,
    last_arrival: u64,
    marked: u64,
    marked_at: u64,
}

impl Incoming {
    /// With its series (of means).
    pub fn new(intervals: Series) -> Self {
        Incoming {
            intervals,
            first_arrival: None,
            last_arrival: 0,
            marked: 0,
            marked_at: 0,
        }
    }

    fn restart(&mut self) {
        (self.first_arrival, self.last_arrival, self.marked, self.marked_at) = (None, 0, 0, 0);
    }

    /// Ticks from the first to the last arrival.
    pub fn elapsed_ticks(&self) -> u64 {
        self.first_arrival
            .map_or(0, |first| self.last_arrival.saturating_sub(first))
    }
}

/// Receive until `until` messages of the phase have arrived, or its last one; acknowledge as due.
#[inline(never)]
pub fn hot_receive<P: MessagePort, const CHECK: bool>(
    link: &mut Wired<P>,
    flow: &mut Flow<CHECK>,
    incoming: &mut Incoming,
    clock: Clock,
    until: u64,
) -> Result<(), LinkError> {
    let batch = incoming.intervals.batch_ops;
    while flow.received < until && !flow.last_seen {
        if link.port.wait(flow)? == 0 {
            continue;
        }
        if flow.received - incoming.marked >= batch || flow.last_seen {
            let now = clock.now();
            if incoming.first_arrival.is_some() {
                incoming
                    .intervals
                    .record_mean(now - incoming.marked_at, flow.received - incoming.marked);
            } else {
                incoming.first_arrival = Some(now);
            }
            (incoming.marked, incoming.marked_at, incoming.last_arrival) = (flow.received, now, now);
        }
        acknowledge(link, flow)?;
    }
    Ok(())
}

/// A sender's phases.
pub struct Source<S, const CHECK: bool> {
    /// Hands messages over.
    pub sender: S,
    /// What comes back.
    pub flow: Flow<CHECK>,
    /// How far it got.
    pub out: Outgoing,
}

impl<S: Sender, const CHECK: bool> Source<S, CHECK> {
    /// One phase of `count` messages. With `BOTH`, it ends when the peer's last message has come as well.
    pub fn phase<P: MessagePort, const BOTH: bool>(
        &mut self,
        link: &mut Wired<P>,
        clock: Clock,
        count: u64,
    ) -> Result<(), LinkError> {
        self.restart(clock);
        self.round::<P, BOTH>(link, clock, (count, true))
    }

    /// A new phase begins.
    pub fn restart(&mut self, clock: Clock) {
        self.flow.restart();
        self.out.restart(clock);
    }

    /// A part of a phase: `count` more messages; `last` ends it.
    pub fn round<P: MessagePort, const BOTH: bool>(
        &mut self,
        link: &mut Wired<P>,
        clock: Clock,
        (count, last): (u64, bool),
    ) -> Result<(), LinkError> {
        let Source { sender, flow, out } = self;
        hot_send::<P, S, CHECK, BOTH>(link, sender, flow, out, clock, (count, last))?;
        if last {
            self.await_peer::<P, BOTH>(link)
        } else {
            Ok(())
        }
    }

    /// The measured phase, in segments, until the stop condition; returns with the time of the final acknowledgement.
    pub fn measure<P: MessagePort, const BOTH: bool>(
        &mut self,
        link: &mut Wired<P>,
        meter: &mut Meter,
        op_ticks: f64,
    ) -> Result<(StopReason, u64), LinkError> {
        self.restart(meter.clock);
        let mut op_ticks = op_ticks;
        loop {
            let (count, last) = meter.next_segment(self.out.sent, op_ticks, self.out.intervals.batch_ops);
            let clock = meter.clock;
            let sent = hot_send::<P, S, CHECK, BOTH>(
                link,
                &mut self.sender,
                &mut self.flow,
                &mut self.out,
                clock,
                (count, last),
            );
            meter.tally = self.tally();
            sent?;
            if last {
                let elapsed = meter.elapsed_ticks();
                self.await_peer::<P, BOTH>(link)?;
                meter.tally = self.tally();
                return Ok((meter.stop_reason(), elapsed));
            }
            meter.between_segments(Some(&mut self.out.intervals));
            op_ticks = meter.elapsed_ticks() as f64 / self.out.sent as f64;
        }
    }

    fn tally(&self) -> Tally {
        let bytes = self.out.sent.saturating_mul(self.flow.size as u64);
        self.flow.tally(Count {
            messages: self.out.sent,
            bytes,
        })
    }

    fn await_peer<P: MessagePort, const BOTH: bool>(&mut self, link: &mut Wired<P>) -> Result<(), LinkError> {
        while BOTH && !self.flow.last_seen {
            link.port.wait(&mut self.flow)?;
            acknowledge(link, &mut self.flow)?;
        }
        if BOTH {
            acknowledge(link, &mut self.flow)?;
        }
        Ok(())
    }
}

/// A receiver's phases.
pub struct Sink<const CHECK: bool> {
    /// What comes.
    pub flow: Flow<CHECK>,
    /// Its timing.
    pub incoming: Incoming,
}

impl<const CHECK: bool> Sink<CHECK> {
    /// One phase, to its last message.
    pub fn phase<P: MessagePort>(&mut self, link: &mut Wired<P>, clock: Clock) -> Result<(), LinkError> {
        self.flow.restart();
        self.incoming.restart();
        hot_receive(link, &mut self.flow, &mut self.incoming, clock, u64::MAX)?;
        acknowledge(link, &mut self.flow)
    }

    /// The measured phase, to its last message, pausing now and then for interval reports.
    pub fn measure<P: MessagePort>(
        &mut self,
        link: &mut Wired<P>,
        meter: &mut Meter,
        op_ticks: f64,
    ) -> Result<(), LinkError> {
        self.flow.restart();
        self.incoming.restart();
        let mut op_ticks = op_ticks;
        while !self.flow.last_seen {
            let (count, _) =
                meter.next_segment(self.flow.received, op_ticks, self.incoming.intervals.batch_ops);
            let until = self.flow.received + count;
            let result = hot_receive(link, &mut self.flow, &mut self.incoming, meter.clock, until);
            meter.tally = self.flow.tally(Count::default());
            result?;
            if self.flow.last_seen {
                break;
            }
            meter.between_segments(Some(&mut self.incoming.intervals));
            op_ticks = (meter.elapsed_ticks() as f64 / self.flow.received.max(1) as f64).max(0.1);
        }
        acknowledge(link, &mut self.flow)
    }
}
