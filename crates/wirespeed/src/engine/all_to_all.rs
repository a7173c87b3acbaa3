//! `am_alltoall`: every rank streams to every other one at once, with credits of its own for each.
//!
//! Pairs take turns: one message to each that has credits, then a look at what came. Behind the last message to a peer goes a
//! marked header that says how many there were, and is no message itself: a rank is done when it has everybody's and
//! everybody's last acknowledgement. Over a relay all pairs share one connection, and headers carry the member's number.

use super::batch::Batch;
use super::flow::ACK_EVERY_MAX;
use super::header;
use super::meter::{Meter, Tally};
use super::payload::{Check, Sender};
use super::phases::{Body, Left, Phase};
use super::rank::Rank;
use super::schedule::{Schedule, ack_every};
use super::series::Series;
use super::timed::Timed;
use super::wired::Wired;
use crate::clock::Clock;
use crate::error::MeasureError;
use crate::transport::port::{LinkError, MessagePort, OnMessage, Post};
use wirespeed_schema::case::Role;
use wirespeed_schema::outcome::{Count, Faults, SampleKind};
use wirespeed_schema::test::Stream;

/// Most ranks that the address in a header can tell apart.
const MEMBERS_MAX: usize = 1 << 14;

/// Both directions between this rank and one other.
#[derive(Clone, Copy, Default)]
struct Pair {
    /// Slot of the port that leads there.
    slot: usize,
    /// Number of the other one in the group, for a relay.
    member: usize,
    sent: u64,
    peer_received: u64,
    received: u64,
    expected: u64,
    acknowledged: u64,
    /// Most messages that were unacknowledged when an acknowledgement came.
    backlog_max: u64,
    last_sent: bool,
    last_seen: bool,
}

/// Everything that messages change.
struct Mesh<C> {
    size: usize,
    checks: C,
    window: u64,
    ack_every: u64,
    pairs: Vec<Pair>,
    /// Pair of each slot (direct) or member (over a relay).
    pair_of: Vec<usize>,
    routed: bool,
    /// This rank's number in the group.
    own_member: usize,
    received: Count,
    faults: Faults,
    /// A send found no room since it was last waited for.
    is_short_of_room: bool,
}

impl<C: Check> Mesh<C> {
    /// The pairs of this rank. Compiled once for all ports.
    #[inline(never)]
    fn new(rank: &Rank, stream: &Stream, checks: C) -> Result<Self, MeasureError> {
        let me = rank.bootstrap.rank();
        let routed = rank.spec.peer.is_some();
        let numbered = (0u32..).zip(&rank.case.ranks);
        let members: Vec<u32> = numbered
            .filter(|(_, r)| r.role == Role::Source)
            .map(|(n, _)| n)
            .collect();
        if members.len() < 2 || members.len() > MEMBERS_MAX {
            return Err(MeasureError::Usage(format!(
                "am_alltoall is between 2 to {MEMBERS_MAX} sources"
            )));
        }
        let mut pair_of = vec![usize::MAX; members.len()];
        let mut pairs = Vec::with_capacity(members.len() - 1);
        for (member, _) in members.iter().enumerate().filter(|(_, r)| **r != me) {
            let pair = pairs.len();
            pair_of[if routed { member } else { pair }] = pair;
            pairs.push(Pair {
                slot: if routed { 0 } else { pair },
                member,
                ..Pair::default()
            });
        }
        Ok(Mesh {
            size: stream.size_bytes as usize,
            checks,
            window: stream.window_msgs,
            ack_every: ack_every(stream, (stream.window_msgs / 2).clamp(1, ACK_EVERY_MAX)),
            pairs,
            pair_of,
            routed,
            own_member: members.iter().position(|rank| *rank == me).unwrap_or(0),
            received: Count::default(),
            faults: Faults::default(),
            is_short_of_room: false,
        })
    }

    /// A new phase begins.
    fn restart(&mut self) {
        for pair in &mut self.pairs {
            *pair = Pair {
                slot: pair.slot,
                member: pair.member,
                ..Pair::default()
            };
        }
        (self.received, self.faults) = (Count::default(), Faults::default());
    }

    #[inline(always)]
    fn header(&self, pair: &Pair, header: u64) -> u64 {
        if self.routed {
            header::addressed(header, pair.member)
        } else {
            header
        }
    }

    fn is_over(&self) -> bool {
        self.pairs
            .iter()
            .all(|p| p.last_sent && p.last_seen && p.acknowledged == p.received && p.peer_received == p.sent)
    }

    fn tally(&self) -> Tally {
        let messages = self.pairs.iter().map(|pair| pair.sent).sum::<u64>();
        let missing = |p: &Pair| p.expected.saturating_sub(p.received);
        let mut faults = self.faults;
        faults.lost_messages = self.pairs.iter().map(missing).sum();
        Tally {
            sent: Count::of(messages, self.size),
            received: self.received,
            faults,
            ..Tally::default()
        }
    }
}

impl<C: Check> OnMessage for Mesh<C> {
    #[inline(always)]
    fn message(&mut self, slot: usize, header: u64, payload: &[u8]) {
        let (from, number) = if self.routed {
            (header::address(header), header::sequence(header))
        } else {
            (slot, header::number(header))
        };
        let pair = self.pair_of.get(from).and_then(|pair| self.pairs.get_mut(*pair));
        let Some(pair) = pair else {
            self.faults.reordered_messages += 1;
            return;
        };
        if header::is_ack(header) {
            pair.backlog_max = pair.backlog_max.max(pair.sent.saturating_sub(pair.peer_received));
            pair.peer_received = pair.peer_received.max(number);
            return;
        }
        if header::is_last(header) {
            (pair.last_seen, pair.expected) = (true, pair.expected.max(number));
            return;
        }
        self.faults.reordered_messages += u64::from(number < pair.expected);
        // The sender filled it by the header that it wrote, with our address.
        let filled_by = match self.routed {
            true => header::number(header::addressed(number, self.own_member)),
            false => number,
        };
        if self.checks.find_wrong(filled_by, self.size, payload) {
            self.faults.corrupt_messages += 1;
        }
        pair.received += 1;
        pair.expected = pair.expected.max(number + 1);
        self.received.messages += 1;
        self.received.bytes += payload.len() as u64;
    }
}

/// The timing of what is sent.
struct Timing {
    intervals: Series,
    acknowledged: Series,
    /// A message to the pair of this number.
    timed: (usize, Timed),
    pace: Schedule,
    sent: u64,
    /// When the interval began that the next message ends.
    since: u64,
}

impl Timing {
    fn new(rank: &Rank, meter: &Meter, stream: &Stream) -> Self {
        Timing {
            intervals: meter.series(SampleKind::SendInterval),
            acknowledged: meter.series(SampleKind::Acknowledged),
            timed: Default::default(),
            pace: Schedule::new(rank.interval_ticks(stream), meter),
            sent: 0,
            since: 0,
        }
    }

    /// Whether the next message may go, or the last one's interval is over: at once, or at its place in the schedule.
    #[inline(always)]
    fn is_due(&self, clock: Clock) -> bool {
        !self.pace.is_on() || clock.now() >= self.pace.due(self.sent)
    }

    fn restart(&mut self) {
        (self.sent, self.timed) = (0, Default::default());
        self.intervals.clear();
        self.acknowledged.clear();
    }
}

/// Acknowledge what is due to everybody.
#[inline(never)]
fn acknowledge<P: MessagePort, C: Check>(link: &mut Wired<P>, mesh: &mut Mesh<C>) -> Result<(), LinkError> {
    for at in 0..mesh.pairs.len() {
        let pair = mesh.pairs[at];
        let fresh = pair.received - pair.acknowledged;
        if fresh < mesh.ack_every && !(pair.last_seen && fresh > 0) {
            continue;
        }
        let word = mesh.header(&pair, header::ack(pair.received));
        match link.port.send_short(pair.slot, word, &[])? {
            Post::Done => mesh.pairs[at].acknowledged = pair.received,
            // Its receiver is behind; the next round tries again.
            Post::Busy => mesh.is_short_of_room = true,
        }
    }
    Ok(())
}

#[inline(always)]
fn note_acknowledgement<C>(mesh: &Mesh<C>, timing: &mut Timing, clock: Clock) {
    let (pair, timed) = &mut timing.timed;
    if let Some(ticks) = timed.end(mesh.pairs[*pair].peer_received, || clock.now()) {
        timing.acknowledged.record(ticks);
    }
}

/// Tell everybody who does not know yet how many messages there were; whether anything was sent.
#[inline(never)]
fn close<P: MessagePort, C: Check>(link: &mut Wired<P>, mesh: &mut Mesh<C>) -> Result<bool, LinkError> {
    let mut moved = false;
    for at in 0..mesh.pairs.len() {
        let pair = mesh.pairs[at];
        if pair.last_sent {
            continue;
        }
        let word = mesh.header(&pair, header::data(pair.sent, true));
        let is_done = link.port.send_short(pair.slot, word, &[])? == Post::Done;
        mesh.pairs[at].last_sent = is_done;
        mesh.is_short_of_room |= !is_done;
        moved |= is_done;
    }
    Ok(moved)
}

/// Nothing was sent: wait for what comes, or for room where a send found none, for only what comes wakes a sleeper. Where the
/// loop stands still: no part of its code.
#[inline(never)]
fn wait_apart<P: MessagePort, C: Check>(link: &mut Wired<P>, mesh: &mut Mesh<C>) -> Result<(), LinkError> {
    match mesh.is_short_of_room {
        true => link.make_room(mesh),
        false => link.port.wait(mesh).map(drop),
    }
}

/// Send `count` messages in turns; with `last`, say so to every peer and return when all is received and acknowledged.
#[inline(never)]
fn hot_exchange<P: MessagePort, S: Sender>(
    link: &mut Wired<P>,
    sender: &mut S,
    mesh: &mut Mesh<S::Checks>,
    timing: &mut Timing,
    clock: Clock,
    (count, last): (u64, bool),
) -> Result<(), LinkError> {
    let target = timing.sent + count;
    let since = match timing.pace.is_on() {
        true => timing.since,
        false => clock.now(),
    };
    let mut batch = Batch::begin(&timing.intervals, since);
    // The first message of a batch may be timed, and each one of a paced stream.
    let mut begins = true;
    loop {
        let ending = timing.sent >= target;
        if ending && (!last || mesh.is_over()) && timing.is_due(clock) {
            return Ok(());
        }
        let mut moved = ending && last && close(link, mesh)?;
        for at in 0..mesh.pairs.len() {
            let pair = mesh.pairs[at];
            let has_credit = pair.sent - pair.peer_received < mesh.window;
            if timing.sent >= target || !has_credit || !timing.is_due(clock) {
                continue;
            }
            let timed = begins && !timing.timed.1.is_on();
            if timed {
                timing.timed.0 = at;
                timing.timed.1.begin(pair.sent, || clock.now());
            }
            let word = mesh.header(&pair, header::data(pair.sent, false));
            if sender.post(&mut link.port, pair.slot, word)? == Post::Busy {
                mesh.is_short_of_room = true;
                // Another one may go before it.
                if timed {
                    timing.timed.1.give_up();
                }
                continue;
            }
            moved = true;
            mesh.pairs[at].sent += 1;
            timing.sent += 1;
            let now = batch.one(&mut timing.intervals, clock);
            begins = now.is_some() || timing.pace.is_on();
            timing.since = now.unwrap_or(timing.since);
        }
        if moved || timing.pace.is_on() {
            if link.port.poll(mesh)? == 0 && !moved {
                link.give_way()?;
            }
        } else {
            wait_apart(link, mesh)?;
        }
        mesh.is_short_of_room = false;
        note_acknowledgement(mesh, timing, clock);
        acknowledge(link, mesh)?;
    }
}

/// One of the ranks that all send to each other.
pub struct Member<P, S: Sender> {
    link: Wired<P>,
    sender: S,
    mesh: Mesh<S::Checks>,
    timing: Timing,
    clock: Clock,
    phase: Phase,
}

impl<P: MessagePort, S: Sender> Member<P, S> {
    /// Of the ranks that exchange `stream`.
    pub fn new(
        rank: &Rank,
        meter: &Meter,
        link: Wired<P>,
        (sender, checks): (S, S::Checks),
        stream: &Stream,
    ) -> Result<Self, MeasureError> {
        Ok(Member {
            link,
            sender,
            mesh: Mesh::new(rank, stream, checks)?,
            timing: Timing::new(rank, meter, stream),
            clock: meter.clock,
            phase: Phase::First,
        })
    }
}

impl<P: MessagePort, S: Sender> Body for Member<P, S> {
    fn leads(&self) -> bool {
        true
    }

    fn progress(&mut self) -> Result<(), LinkError> {
        self.link.port.flush().map(drop)
    }

    /// The first message and the warm-up are one phase on the wire: without a barrier between them, a peer that has
    /// ended the first may send what belongs to the next while this rank still waits for a third one.
    fn begin(&mut self, phase: Phase) -> Result<(), LinkError> {
        self.phase = phase;
        if phase != Phase::WarmUp {
            self.mesh.restart();
            self.timing.restart();
        }
        let now = self.clock.now();
        self.timing.pace.restart(phase, now);
        self.timing.since = now;
        Ok(())
    }

    fn step(&mut self, count: u64, last: bool) -> Result<bool, LinkError> {
        let ends = last && self.phase != Phase::First;
        let Member {
            link,
            sender,
            mesh,
            timing,
            clock,
            ..
        } = self;
        hot_exchange(link, sender, mesh, timing, *clock, (count, ends))?;
        // The port may never have been waited for; at the end it was.
        if !ends {
            link.look()?;
        }
        Ok(last)
    }

    fn settling(&self) -> u64 {
        0
    }

    fn close(&mut self, _: Phase) -> Result<(), LinkError> {
        self.link.drain()
    }

    fn arm(&mut self, meter: &Meter, op_ticks: f64) {
        self.timing.intervals = meter.batches(SampleKind::SendInterval, op_ticks);
    }

    fn done(&self) -> u64 {
        self.timing.sent
    }

    fn tally(&self) -> Tally {
        self.mesh.tally()
    }

    fn series(&mut self) -> Option<&mut Series> {
        Some(&mut self.timing.intervals)
    }

    fn finish(self: Box<Self>) -> Left {
        let series = vec![self.timing.intervals, self.timing.acknowledged];
        let backlog_max = self.mesh.pairs.iter().map(|pair| pair.backlog_max).max();
        let mut left = Left::new(series, self.link.port.facts());
        left.note("unacknowledged_max_msgs", backlog_max.unwrap_or(0));
        left
    }
}
