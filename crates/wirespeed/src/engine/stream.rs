//! Streams of active messages under credit flow control, one way or both ways at once.
//!
//! The sender keeps at most `window` messages unacknowledged. The receiver acknowledges cumulatively, with a header and
//! no payload, when half a window is new (4096 messages at most), and at the last message. The sender's clock stops at the final
//! acknowledgement, so its time covers delivery; the receiver's runs from first to last arrival.

use super::batch::{Arrivals, Batch};
use super::flow::Flow;
use super::header;
use super::meter::{Meter, Tally};
use super::payload::{Check, Sender};
use super::phases::{Body, Left, Phase};
use super::rank::Rank;
use super::schedule::Schedule;
use super::series::Series;
use super::timed::{Looks, Timed};
use super::wired::Wired;
use crate::clock::Clock;
use crate::transport::port::{LinkError, MessagePort, Post};
use wirespeed_schema::outcome::{Count, SampleKind};
use wirespeed_schema::test::Stream;

/// The sending half: how far it got, and its timing.
pub struct Outgoing {
    window: u64,
    /// The peer sends as well: its messages are acknowledged meanwhile.
    both: bool,
    sent: u64,
    /// Most messages that were unacknowledged when a batch was done, or before a pause.
    pub backlog_max: u64,
    looks: Looks,
    timed: Timed,
    /// Time of batches of sends.
    pub intervals: Series,
    /// Time from a send to the acknowledgement that covers it.
    pub acknowledged: Series,
    pace: Schedule,
}

impl Outgoing {
    /// Of a rank that sends `stream`; with `both`, its peer does as well.
    pub fn new(rank: &Rank, meter: &Meter, stream: &Stream, both: bool) -> Self {
        Outgoing {
            window: stream.window_msgs,
            both,
            sent: 0,
            backlog_max: 0,
            looks: Looks::new(meter.timebase),
            timed: Timed::default(),
            intervals: meter.series(SampleKind::SendInterval),
            acknowledged: meter.series(SampleKind::Acknowledged),
            pace: Schedule::new(rank.interval_ticks(stream), meter),
        }
    }

    fn restart(&mut self, phase: Phase, clock: Clock) {
        (self.sent, self.timed) = (0, Timed::default());
        self.pace.restart(phase, clock.now());
        self.backlog_max = 0;
        self.intervals.clear();
        self.acknowledged.clear();
    }

    #[inline(always)]
    fn has_room(&self, peer_received: u64) -> bool {
        self.sent - peer_received < self.window
    }

    #[inline(always)]
    fn note_backlog(&mut self, peer_received: u64) {
        self.backlog_max = self.backlog_max.max(self.sent - peer_received);
    }

    #[inline(always)]
    fn note_acknowledgement(&mut self, peer_received: u64, clock: Clock) {
        if let Some(ticks) = self.timed.end(peer_received, || clock.now()) {
            self.acknowledged.record(ticks);
        }
        if self.pace.is_on() {
            self.pace.note_answers(peer_received, clock.now());
        }
    }
}

/// Acknowledge what is due.
#[inline(always)]
fn acknowledge<P: MessagePort, C: Check>(link: &mut Wired<P>, flow: &mut Flow<C>) -> Result<(), LinkError> {
    match flow.ack_due() {
        true => acknowledge_now(link, flow),
        false => Ok(()),
    }
}

/// Acknowledge until nothing is due; `poll` while there is no room. Once for half a window: no part of the loops' code.
#[inline(never)]
fn acknowledge_now<P: MessagePort, C: Check>(
    link: &mut Wired<P>,
    flow: &mut Flow<C>,
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

/// Wait until the window has room. What goes next is then handed over: time its acknowledgement, unless another one is timed.
#[inline(never)]
fn await_room<P: MessagePort, C: Check>(
    link: &mut Wired<P>,
    flow: &mut Flow<C>,
    out: &mut Outgoing,
    clock: Clock,
) -> Result<(), LinkError> {
    while !out.has_room(flow.peer_received) {
        link.port.wait(flow)?;
        out.note_acknowledgement(flow.peer_received, clock);
        if out.both {
            acknowledge(link, flow)?;
        }
    }
    out.timed.begin(out.sent, || clock.now());
    Ok(())
}

/// Send `count` messages as fast as window and pace allow. `last`: the final one ends the phase, and the call returns
/// when everything is acknowledged.
#[inline(never)]
pub fn hot_send<P: MessagePort, S: Sender>(
    link: &mut Wired<P>,
    sender: &mut S,
    flow: &mut Flow<S::Checks>,
    out: &mut Outgoing,
    clock: Clock,
    (count, last): (u64, bool),
) -> Result<(), LinkError> {
    let both = out.both;
    let target = out.sent + count;
    let mut batch = Batch::begin(&out.intervals, clock.now());
    if !out.timed.is_on() {
        await_room(link, flow, out, clock)?;
    }
    while out.sent < target {
        if !out.has_room(flow.peer_received) {
            await_room(link, flow, out, clock)?;
        }
        let message = header::data(out.sent, last && out.sent + 1 == target);
        let post = link.port.hearing(flow, |port| sender.post(port, 0, message))?;
        if post == Post::Busy {
            link.make_room(flow)?;
            out.note_acknowledgement(flow.peer_received, clock);
            if both {
                acknowledge(link, flow)?;
            }
            continue;
        }
        out.sent += 1;
        if out.pace.is_on() {
            pace(link, flow, out, clock)?;
        }
        if let Some(now) = batch.one(&mut out.intervals, clock) {
            // Where the window never holds the sender up, nothing else would see acknowledgements in time.
            let look = out.looks.is_due(now);
            if both || look {
                link.port.poll(flow)?;
                out.note_acknowledgement(flow.peer_received, clock);
            }
            if look {
                out.looks.looked(now, clock.now());
            }
            if both {
                acknowledge(link, flow)?;
            }
            out.note_backlog(flow.peer_received);
            if !out.timed.is_on() && out.sent < target {
                await_room(link, flow, out, clock)?;
            }
        }
    }
    match last {
        true => await_acknowledgement(link, flow, out, clock),
        false => Ok(()),
    }
}

/// Wait until the peer has everything. Once a phase: no part of the loop's code.
#[inline(never)]
fn await_acknowledgement<P: MessagePort, C: Check>(
    link: &mut Wired<P>,
    flow: &mut Flow<C>,
    out: &mut Outgoing,
    clock: Clock,
) -> Result<(), LinkError> {
    while flow.peer_received < out.sent {
        link.port.wait(flow)?;
        out.note_acknowledgement(flow.peer_received, clock);
        if out.both {
            acknowledge(link, flow)?;
        }
    }
    Ok(())
}

/// Hold what comes next until its place in the schedule: the next send, or the end of the last one's interval.
#[inline(never)]
fn pace<P: MessagePort, C: Check>(
    link: &mut Wired<P>,
    flow: &mut Flow<C>,
    out: &mut Outgoing,
    clock: Clock,
) -> Result<(), LinkError> {
    out.note_backlog(flow.peer_received);
    let (due, both) = (out.pace.due(out.sent), out.both);
    while clock.now() < due {
        // Whoever shares the CPU gets it meanwhile, and a cancel is heard.
        if link.port.poll(flow)? == 0 {
            link.give_way()?;
        }
        out.note_acknowledgement(flow.peer_received, clock);
        if both {
            acknowledge(link, flow)?;
        }
    }
    Ok(())
}

/// Receive until `until` messages of the phase have arrived, or its last one; acknowledge as due.
#[inline(never)]
pub fn hot_receive<P: MessagePort, C: Check>(
    link: &mut Wired<P>,
    flow: &mut Flow<C>,
    arrivals: &mut Arrivals,
    clock: Clock,
    until: u64,
) -> Result<(), LinkError> {
    while flow.received < until && !flow.last_seen {
        if link.port.wait(flow)? == 0 {
            continue;
        }
        if arrivals.is_full(flow.received) || flow.last_seen {
            arrivals.mark(flow.received, clock.now());
        }
        acknowledge(link, flow)?;
    }
    Ok(())
}

/// The rank that sends.
pub struct Source<P, S: Sender> {
    link: Wired<P>,
    sender: S,
    flow: Flow<S::Checks>,
    out: Outgoing,
    clock: Clock,
}

impl<P, S: Sender> Source<P, S> {
    /// Messages from `sender` go out as `out` says, what comes back goes through `flow`.
    pub fn new(link: Wired<P>, sender: S, flow: Flow<S::Checks>, out: Outgoing, clock: Clock) -> Self {
        Source {
            link,
            sender,
            flow,
            out,
            clock,
        }
    }
}

impl<P: MessagePort, S: Sender> Body for Source<P, S> {
    fn leads(&self) -> bool {
        true
    }

    fn progress(&mut self) -> Result<(), LinkError> {
        self.link.port.flush().map(drop)
    }

    fn begin(&mut self, phase: Phase) -> Result<(), LinkError> {
        self.flow.restart();
        self.out.restart(phase, self.clock);
        Ok(())
    }

    fn step(&mut self, count: u64, last: bool) -> Result<bool, LinkError> {
        let Source {
            link,
            sender,
            flow,
            out,
            clock,
        } = self;
        hot_send(link, sender, flow, out, *clock, (count, last))?;
        // The port may never have been waited for; at the end it was.
        if !last {
            link.look()?;
        }
        Ok(last)
    }

    /// What both ranks send ends when the peer's last message has come as well.
    fn close(&mut self, _: Phase) -> Result<(), LinkError> {
        let Source { link, flow, out, .. } = self;
        if out.both {
            await_last(link, flow)?;
        }
        link.drain()
    }

    fn arm(&mut self, meter: &Meter, op_ticks: f64) {
        self.out.intervals = meter.batches(SampleKind::SendInterval, op_ticks);
    }

    fn done(&self) -> u64 {
        self.out.sent
    }

    fn tally(&self) -> Tally {
        self.flow.tally(Count::of(self.out.sent, self.flow.size))
    }

    fn series(&mut self) -> Option<&mut Series> {
        Some(&mut self.out.intervals)
    }

    fn finish(self: Box<Self>) -> Left {
        let (out, facts) = (self.out, self.link.port.facts());
        let mut series = vec![out.intervals, out.acknowledged];
        series.extend(out.pace.responses());
        let mut left = Left::new(series, facts);
        left.note("unacknowledged_max_msgs", out.backlog_max);
        left
    }
}

/// Wait for the peer's last message of the phase, and acknowledge it.
fn await_last<P: MessagePort, C: Check>(link: &mut Wired<P>, flow: &mut Flow<C>) -> Result<(), LinkError> {
    while !flow.last_seen {
        link.port.wait(flow)?;
        acknowledge(link, flow)?;
    }
    acknowledge(link, flow)
}

/// The rank that receives.
pub struct Sink<P, C> {
    link: Wired<P>,
    flow: Flow<C>,
    arrivals: Arrivals,
    clock: Clock,
}

impl<P, C> Sink<P, C> {
    /// What comes goes through `flow`, and is timed by `arrivals`.
    pub fn new(link: Wired<P>, flow: Flow<C>, arrivals: Arrivals, clock: Clock) -> Self {
        Sink {
            link,
            flow,
            arrivals,
            clock,
        }
    }
}

impl<P: MessagePort, C: Check> Body for Sink<P, C> {
    fn progress(&mut self) -> Result<(), LinkError> {
        self.link.port.flush().map(drop)
    }

    fn begin(&mut self, _: Phase) -> Result<(), LinkError> {
        self.flow.restart();
        self.arrivals.restart();
        Ok(())
    }

    fn step(&mut self, count: u64, _: bool) -> Result<bool, LinkError> {
        let until = self.flow.received.saturating_add(count);
        hot_receive(
            &mut self.link,
            &mut self.flow,
            &mut self.arrivals,
            self.clock,
            until,
        )?;
        Ok(self.flow.last_seen)
    }

    fn close(&mut self, _: Phase) -> Result<(), LinkError> {
        acknowledge(&mut self.link, &mut self.flow)?;
        self.link.drain()
    }

    fn arm(&mut self, meter: &Meter, op_ticks: f64) {
        self.arrivals.arm(meter, op_ticks);
    }

    fn done(&self) -> u64 {
        self.flow.received
    }

    fn tally(&self) -> Tally {
        Tally {
            received_before_msgs: self.arrivals.before(),
            ..self.flow.tally(Count::default())
        }
    }

    fn series(&mut self) -> Option<&mut Series> {
        Some(&mut self.arrivals.intervals)
    }

    fn elapsed_ticks(&self) -> Option<u64> {
        Some(self.arrivals.elapsed_ticks())
    }

    fn finish(self: Box<Self>) -> Left {
        Left::new(vec![self.arrivals.intervals], self.link.port.facts())
    }
}
