//! The loops of a ping-pong, and the message that is under way. Nothing here knows phases.

use crate::clock::Clock;
use crate::engine::batch::Batch;
use crate::engine::header;
use crate::engine::meter::Tally;
use crate::engine::payload::{Check, Sender};
use crate::engine::series::Series;
use crate::engine::wired::Wired;
use crate::transport::port::{LinkError, MessagePort, OnMessage, Post};

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
