//! Ping-pong of active messages: a requester with one message under way, and an answerer that returns it.
//!
//! One clock read a round trip: a sample runs from the end of the one before, so it holds the send, the wait, the
//! recording (see the harness floor) and nothing else. The requester alone decides when a phase ends; its last message
//! says so.

use super::header;
use super::meter::{Meter, Series, Tally};
use super::payload::{Checks, Sender};
use super::wired::Wired;
use crate::transport::port::{LinkError, MessagePort, OnMessage, Post};
use wirespeed_schema::outcome::StopReason;

/// Round trips after a barrier that are not recorded: the other side may still be leaving it.
pub const SETTLE_ROUND_TRIPS: u64 = 16;

/// Takes the one message that is under way and checks it against what is expected.
pub struct Arrival<const CHECK: bool> {
    size: usize,
    checks: Checks<CHECK>,
    expected: u64,
    header: u64,
    arrived: bool,
    /// What arrived so far.
    pub tally: Tally,
}

impl<const CHECK: bool> Arrival<CHECK> {
    /// For payloads of `size` bytes.
    pub fn new(size: usize, checks: Checks<CHECK>) -> Self {
        Arrival {
            size,
            checks,
            expected: 0,
            header: 0,
            arrived: false,
            tally: Tally::default(),
        }
    }

    /// A new phase begins: numbers restart, counts too.
    pub fn restart(&mut self) {
        *self = Self::new(self.size, self.checks);
    }
}

impl<const CHECK: bool> OnMessage for Arrival<CHECK> {
    #[inline(always)]
    fn message(&mut self, _: usize, header: u64, payload: &[u8]) {
        let number = header::number(header);
        if number != self.expected || self.arrived {
            self.tally.faults.reordered_messages += 1;
        }
        if self.checks.find_wrong(number, self.size, payload) {
            self.tally.faults.corrupt_messages += 1;
        }
        self.tally.received.messages += 1;
        self.tally.received.bytes += payload.len() as u64;
        self.expected = number + 1;
        self.header = header;
        self.arrived = true;
    }
}

/// `count` round trips with `peer`, a sample every `batch` of them. `last`: the final one ends the phase.
#[inline(never)]
pub fn hot_request<P: MessagePort, S: Sender, const CHECK: bool>(
    link: &mut Wired<P>,
    sender: &mut S,
    arrival: &mut Arrival<CHECK>,
    series: &mut Series,
    clock: crate::clock::Clock,
    (count, last): (u64, bool),
) -> Result<(), LinkError> {
    let batch = series.batch_ops;
    let first = arrival.expected;
    let mut in_batch = 0;
    let mut start = clock.now();
    for sequence in first..first + count {
        let out = header::data(sequence, last && sequence + 1 == first + count);
        arrival.arrived = false;
        while link.port.hearing(arrival, |port| sender.post(port, 0, out))? == Post::Busy {
            link.make_room(arrival)?;
        }
        while !arrival.arrived {
            link.port.wait(arrival)?;
        }
        in_batch += 1;
        if in_batch == batch {
            let now = clock.now();
            series.record(now - start);
            start = now;
            in_batch = 0;
        }
    }
    Ok(())
}

/// Return every message until the last one of a phase.
#[inline(never)]
pub fn hot_answer<P: MessagePort, S: Sender, const CHECK: bool>(
    link: &mut Wired<P>,
    sender: &mut S,
    arrival: &mut Arrival<CHECK>,
) -> Result<(), LinkError> {
    loop {
        while !arrival.arrived {
            link.port.wait(arrival)?;
        }
        arrival.arrived = false;
        let header = arrival.header;
        while sender.post(&mut link.port, 0, header)? == Post::Busy {
            link.make_room(arrival)?;
        }
        if header::is_last(header) {
            return Ok(());
        }
    }
}

/// The requester's phases: first message, warm-up, settling, measurement.
pub struct Requester<S, const CHECK: bool> {
    /// Hands messages over.
    pub sender: S,
    /// Takes answers.
    pub arrival: Arrival<CHECK>,
}

impl<S: Sender, const CHECK: bool> Requester<S, CHECK> {
    /// One phase of `count` round trips that ends the phase; nothing of it is kept but its series.
    pub fn phase<P: MessagePort>(
        &mut self,
        link: &mut Wired<P>,
        series: &mut Series,
        clock: crate::clock::Clock,
        count: u64,
    ) -> Result<(), LinkError> {
        self.arrival.restart();
        hot_request(
            link,
            &mut self.sender,
            &mut self.arrival,
            series,
            clock,
            (count, true),
        )
    }

    /// A part of a phase: `count` more round trips; `last` ends it.
    pub fn round<P: MessagePort>(
        &mut self,
        link: &mut Wired<P>,
        series: &mut Series,
        clock: crate::clock::Clock,
        (count, last): (u64, bool),
    ) -> Result<(), LinkError> {
        hot_request(
            link,
            &mut self.sender,
            &mut self.arrival,
            series,
            clock,
            (count, last),
        )
    }

    /// The measured phase, in segments, until the stop condition.
    pub fn measure<P: MessagePort>(
        &mut self,
        link: &mut Wired<P>,
        series: &mut Series,
        meter: &mut Meter,
        op_ticks: f64,
    ) -> Result<StopReason, LinkError> {
        self.arrival.restart();
        let mut op_ticks = op_ticks;
        let mut done = 0;
        loop {
            let (count, last) = meter.next_segment(done, op_ticks, series.batch_ops);
            let result = hot_request(
                link,
                &mut self.sender,
                &mut self.arrival,
                series,
                meter.clock,
                (count, last),
            );
            // Counts are kept also when the link broke: what was answered was measured.
            meter.tally = self.arrival.tally;
            meter.tally.sent = self.arrival.tally.received;
            result?;
            done += count;
            meter.between_segments(Some(series));
            if last {
                return Ok(meter.stop_reason());
            }
            op_ticks = meter.elapsed_ticks() as f64 / done as f64;
        }
    }
}
