//! Ping-pong of active messages: a requester with one message under way, and an answerer that returns it.
//!
//! One clock read a round trip: a sample runs from the end of the one before, so it holds the send, the wait, the
//! recording (see the harness floor) and nothing else. The requester alone decides when a phase ends; its last message
//! says so.

pub mod loops;

pub use loops::Arrival;

use super::meter::{Meter, Tally};
use super::payload::Sender;
use super::phases::{Body, Left, Phase, SETTLE_ROUND_TRIPS};
use super::series::Series;
use super::wired::Wired;
use crate::clock::Clock;
use crate::transport::port::{LinkError, MessagePort};
use loops::{hot_answer, hot_request};
use wirespeed_schema::outcome::{Count, SampleKind};

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
