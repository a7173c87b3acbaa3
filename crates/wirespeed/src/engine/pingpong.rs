//! Ping-pong of active messages: a requester with one message under way, and an answerer that returns it.
//!
//! One clock read a round trip: a sample runs from the end of the one before, so it holds the send, the wait, the
//! recording (see the harness floor) and nothing else. The requester alone decides when a phase ends; its last message
//! says so.

use super::batch::Batch;
use super::header;
use super::meter::{Meter, Series, Tally};
use super::payload::{Check, Sender};
use super::phases::{Body, Left, Phase, SETTLE_ROUND_TRIPS};
use super::wired::Wired;
use crate::clock::Clock;
use crate::transport::port::{LinkError, MessagePort, OnMessage, Post};
use wirespeed_schema::outcome::{Count, SampleKind};

/// Takes the one message that is under way and checks it against what is expected.
pub struct Arrival<C> {
    size: usize,
    checks: C,
    expected: u64,
    header: u64,
    arrived: bool,
    /// What arrived so far.
    pub tally: Tally,
}

impl<C: Check> Arrival<C> {
    /// For payloads of `size` bytes.
    pub fn new(size: usize, checks: C) -> Self {
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

impl<C: Check> OnMessage for Arrival<C> {
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
pub fn hot_request<P: MessagePort, S: Sender>(
    link: &mut Wired<P>,
    sender: &mut S,
    arrival: &mut Arrival<S::Checks>,
    series: &mut Series,
    clock: Clock,
    (count, last): (u64, bool),
) -> Result<(), LinkError> {
    let first = arrival.expected;
    let mut batch = Batch::begin(series, clock.now());
    for sequence in first..first + count {
        let out = header::data(sequence, last && sequence + 1 == first + count);
        arrival.arrived = false;
        while link.port.hearing(arrival, |port| sender.post(port, 0, out))? == Post::Busy {
            link.make_room(arrival)?;
        }
        while !arrival.arrived {
            link.port.wait(arrival)?;
        }
        batch.one(series, clock);
    }
    Ok(())
}

/// Return every message until the last one of a phase.
#[inline(never)]
pub fn hot_answer<P: MessagePort, S: Sender>(
    link: &mut Wired<P>,
    sender: &mut S,
    arrival: &mut Arrival<S::Checks>,
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

/// The rank that begins each round trip.
pub struct Requester<P, S: Sender> {
    link: Wired<P>,
    sender: S,
    arrival: Arrival<S::Checks>,
    series: Series,
    clock: Clock,
}

impl<P, S: Sender> Requester<P, S> {
    /// Of messages from `sender`, whose answers `arrival` takes.
    pub fn new(link: Wired<P>, sender: S, arrival: Arrival<S::Checks>, meter: &Meter) -> Self {
        Requester {
            link,
            sender,
            arrival,
            series: meter.series(SampleKind::RoundTrip),
            clock: meter.clock,
        }
    }
}

impl<P: MessagePort, S: Sender> Body for Requester<P, S> {
    fn leads(&self) -> bool {
        true
    }

    fn progress(&mut self) -> Result<(), LinkError> {
        self.link.port.flush().map(drop)
    }

    fn begin(&mut self, _: Phase) -> Result<(), LinkError> {
        self.arrival.restart();
        self.series.clear();
        Ok(())
    }

    fn step(&mut self, count: u64, last: bool) -> Result<bool, LinkError> {
        let Requester {
            link,
            sender,
            arrival,
            series,
            clock,
        } = self;
        hot_request(link, sender, arrival, series, *clock, (count, last))?;
        Ok(last)
    }

    fn close(&mut self, _: Phase) -> Result<(), LinkError> {
        self.link.drain()
    }

    fn settling(&self) -> u64 {
        SETTLE_ROUND_TRIPS
    }

    fn arm(&mut self, meter: &Meter, op_ticks: f64) {
        self.series = meter.batches(SampleKind::RoundTrip, op_ticks);
    }

    fn done(&self) -> u64 {
        self.arrival.tally.received.messages
    }

    fn tally(&self) -> Tally {
        Tally {
            sent: self.arrival.tally.received,
            ..self.arrival.tally
        }
    }

    fn series(&mut self) -> Option<&mut Series> {
        Some(&mut self.series)
    }

    fn finish(self: Box<Self>) -> Left {
        Left::new(vec![self.series], self.link.port.facts())
    }
}

/// The rank that returns every message.
pub struct Answerer<P, S: Sender> {
    link: Wired<P>,
    sender: S,
    arrival: Arrival<S::Checks>,
    answer_bytes: usize,
}

impl<P, S: Sender> Answerer<P, S> {
    /// Returns what `arrival` takes, as `answer_bytes` from `sender`.
    pub fn new(link: Wired<P>, sender: S, arrival: Arrival<S::Checks>, answer_bytes: usize) -> Self {
        Answerer {
            link,
            sender,
            arrival,
            answer_bytes,
        }
    }
}

impl<P: MessagePort, S: Sender> Body for Answerer<P, S> {
    fn progress(&mut self) -> Result<(), LinkError> {
        self.link.port.flush().map(drop)
    }

    fn begin(&mut self, _: Phase) -> Result<(), LinkError> {
        self.arrival.restart();
        Ok(())
    }

    fn step(&mut self, _: u64, _: bool) -> Result<bool, LinkError> {
        hot_answer(&mut self.link, &mut self.sender, &mut self.arrival)?;
        Ok(true)
    }

    fn close(&mut self, _: Phase) -> Result<(), LinkError> {
        self.link.drain()
    }

    fn done(&self) -> u64 {
        self.arrival.tally.received.messages
    }

    fn tally(&self) -> Tally {
        Tally {
            sent: Count::of(self.done(), self.answer_bytes),
            ..self.arrival.tally
        }
    }

    fn finish(self: Box<Self>) -> Left {
        Left::new(Vec::new(), self.link.port.facts())
    }
}
