//! `tag_lat` and `tag_bw`: a ping-pong, and windows of messages that the receiver acknowledges.
//!
//! The source announces each round (how many messages, and whether they end the phase); the sink posts the receives of what
//! comes first, then says that it is ready. So no message of a round is unexpected. All of that stays outside every sample.
//! Messages are numbered through all phases, and each is checked by its number.

use super::super::batch::Batch;
use super::super::meter::{Meter, Series, batch_for};
use super::super::payload::{self, Check};
use super::super::rank::Rank;
use super::group::Group;
use super::phase::{Iterations, Meeting};
use super::places::Places;
use crate::clock::Clock;
use crate::transport::port::{LinkError, TaggedPort};
use wirespeed_schema::outcome::SampleKind;

/// The only peer.
const PEER: usize = 0;

const READY: u64 = 2;
const DATA: u64 = 3;
const ACK: u64 = 4;

/// One end of a test on matched messages.
pub struct Matched<C> {
    /// Whether it is the end that sends first.
    source: bool,
    /// Most messages before a wait; none for a ping-pong.
    window: Option<u64>,
    places: Places,
    checks: C,
    scratch: Vec<u8>,
    /// Number of the next message; runs through all phases.
    next: u64,
}

impl<C: Check> Matched<C> {
    /// Messages at `places` in windows or, without, in a ping-pong.
    pub fn new(source: bool, window: Option<u64>, places: Places, checks: C) -> Self {
        Matched {
            source,
            window: window.map(|window| window.max(1)),
            places,
            checks,
            scratch: vec![0; places.size],
            next: 0,
        }
    }

    /// Post the sending of message `number` from the `index`-th place.
    #[inline(always)]
    fn send<P: TaggedPort>(
        &mut self,
        group: &mut Group<P>,
        number: u64,
        index: usize,
    ) -> Result<(), LinkError> {
        let offset = self.places.outgoing(index);
        if self.checks.on() {
            payload::fill(number, &mut self.scratch);
            group.port.buffer().write(offset, &self.scratch);
        }
        group.post_send(PEER, DATA, offset, self.places.size)
    }

    /// Post the receive of a message into the `index`-th place.
    #[inline(always)]
    fn receive<P: TaggedPort>(&self, group: &mut Group<P>, index: usize) -> Result<(), LinkError> {
        group.post_recv(PEER, DATA, self.places.incoming(index), self.places.size)
    }

    /// Message `number` has arrived in the `index`-th place.
    #[inline(always)]
    fn arrived<P: TaggedPort>(&mut self, group: &mut Group<P>, number: u64, index: usize) {
        if self.checks.on() {
            let offset = self.places.incoming(index);
            group.port.buffer().read(offset, &mut self.scratch);
            if !payload::matches(number, self.places.size, &self.scratch) {
                group.tally.faults.corrupt_messages += 1;
            }
        }
        group.tally.received.messages += 1;
        group.tally.received.bytes += self.places.size as u64;
    }

    #[inline(always)]
    fn count_sent<P>(&self, group: &mut Group<P>, messages: u64) {
        group.tally.sent.messages += messages;
        group.tally.sent.bytes += messages * self.places.size as u64;
    }

    /// Post the receives of `window` messages.
    #[inline(always)]
    fn receive_window<P: TaggedPort>(&self, group: &mut Group<P>, window: u64) -> Result<(), LinkError> {
        for index in 0..window as usize {
            self.receive(group, index)?;
        }
        Ok(())
    }

    /// Say that the first receives of the round are posted. Once a round: no part of the loops' code.
    #[inline(never)]
    fn ready<P: TaggedPort>(&self, group: &mut Group<P>) -> Result<(), LinkError> {
        group.post_send(PEER, READY, 0, 0)
    }
}

impl<P: TaggedPort, C: Check> Iterations<P> for Matched<C> {
    fn meeting(&self) -> Meeting {
        Meeting::Announced
    }

    fn series(&self, meter: &Meter) -> Series {
        match (self.window, self.source) {
            (None, _) => meter.series(SampleKind::RoundTrip),
            (Some(_), true) => meter.series_of_means(SampleKind::SendInterval),
            (Some(_), false) => meter.series_of_means(SampleKind::ReceiveInterval),
        }
    }

    /// The sink may be ready as soon as it has heard of the round.
    fn prepare(&mut self, group: &mut Group<P>, _: u64) -> Result<(), LinkError> {
        match self.source {
            true => group.post_recv(PEER, READY, 0, 0),
            false => Ok(()),
        }
    }

    fn round(
        &mut self,
        group: &mut Group<P>,
        series: &mut Series,
        clock: Clock,
        (count, _): (u64, bool),
    ) -> Result<(), LinkError> {
        if self.source {
            group.wait_all()?;
        }
        let began = clock.now();
        let result = match (self.window, self.source) {
            (None, true) => hot_tagged_request(self, group, series, clock, count),
            (None, false) => hot_tagged_answer(self, group, count),
            (Some(window), true) => hot_send_windows(self, group, series, clock, (count, window)),
            (Some(window), false) => hot_receive_windows(self, group, series, clock, (count, window)),
        };
        group.ticks += clock.now() - began;
        result
    }

    fn batch(&self, rank: &Rank, op_ticks: f64) -> u64 {
        let batch = batch_for(op_ticks, &rank.timebase);
        match self.window {
            None => batch,
            Some(window) => batch.div_ceil(window).saturating_mul(window),
        }
    }
}

/// `count` round trips: post the receive, post the send, wait for both.
#[inline(never)]
fn hot_tagged_request<P: TaggedPort, C: Check>(
    ends: &mut Matched<C>,
    group: &mut Group<P>,
    series: &mut Series,
    clock: Clock,
    count: u64,
) -> Result<(), LinkError> {
    let mut batch = Batch::begin(series, clock.now());
    for _ in 0..count {
        ends.receive(group, 0)?;
        ends.send(group, ends.next, 0)?;
        group.wait_all()?;
        ends.arrived(group, ends.next, 0);
        ends.next += 1;
        ends.count_sent(group, 1);
        batch.one(series, clock);
    }
    Ok(())
}

/// Answer `count` messages. The next receive is posted before the answer goes, so that no request is unexpected.
#[inline(never)]
fn hot_tagged_answer<P: TaggedPort, C: Check>(
    ends: &mut Matched<C>,
    group: &mut Group<P>,
    count: u64,
) -> Result<(), LinkError> {
    ends.receive(group, 0)?;
    ends.ready(group)?;
    for answered in 0..count {
        group.wait_all()?;
        ends.arrived(group, ends.next, 0);
        if answered + 1 < count {
            ends.receive(group, 0)?;
        }
        ends.send(group, ends.next, 0)?;
        ends.next += 1;
        ends.count_sent(group, 1);
    }
    group.wait_all()
}

/// `count` messages in windows, each acknowledged before the next. A sample a window, or a batch of them.
#[inline(never)]
fn hot_send_windows<P: TaggedPort, C: Check>(
    ends: &mut Matched<C>,
    group: &mut Group<P>,
    series: &mut Series,
    clock: Clock,
    (count, most): (u64, u64),
) -> Result<(), LinkError> {
    let mut left = count;
    let mut batch = Batch::begin(series, clock.now());
    while left > 0 {
        let window = left.min(most);
        group.post_recv(PEER, ACK, 0, 0)?;
        for index in 0..window {
            ends.send(group, ends.next + index, index as usize)?;
        }
        group.wait_all()?;
        ends.next += window;
        ends.count_sent(group, window);
        left -= window;
        batch.several(window, left == 0, series, clock);
    }
    Ok(())
}

/// Receive `count` messages in windows. The receives of the next window are posted before this one is acknowledged.
#[inline(never)]
fn hot_receive_windows<P: TaggedPort, C: Check>(
    ends: &mut Matched<C>,
    group: &mut Group<P>,
    series: &mut Series,
    clock: Clock,
    (count, most): (u64, u64),
) -> Result<(), LinkError> {
    let mut left = count;
    let mut window = left.min(most);
    ends.receive_window(group, window)?;
    ends.ready(group)?;
    let mut batch = Batch::begin(series, clock.now());
    loop {
        group.wait_all()?;
        for index in 0..window {
            ends.arrived(group, ends.next + index, index as usize);
        }
        ends.next += window;
        left -= window;
        batch.several(window, left == 0, series, clock);
        window = left.min(most);
        ends.receive_window(group, window)?;
        group.post_send(PEER, ACK, 0, 0)?;
        if left == 0 {
            return group.wait_all();
        }
    }
}
