//! `tag_lat` and `tag_bw`: a ping-pong, and a stream whose receiver acknowledges each half of a window.
//!
//! The source announces each round (how many messages, and whether they end the phase); the sink posts the receives of what
//! comes first, then says that it is ready. So no message of a stream is unexpected. All of that stays outside every sample.
//! Messages are numbered through all phases, and each is checked by its number.

use super::super::batch::Batch;
use super::super::meter::{Meter, batch_for};
use super::super::payload::{self, Check};
use super::super::rank::Rank;
use super::super::series::Series;
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

    /// Send message `number`, and post the receive of the next one where there is `more`. A library's own tests post it behind
    /// the send, because a lone request is cheaper to wait for than two.
    #[inline(always)]
    fn send_then_receive<P: TaggedPort>(
        &mut self,
        group: &mut Group<P>,
        number: u64,
        more: bool,
    ) -> Result<(), LinkError> {
        if P::RECEIVES_AHEAD && more {
            self.receive(group, 0)?;
        }
        self.send(group, number, 0)?;
        if !P::RECEIVES_AHEAD {
            group.wait_all()?;
            if more {
                self.receive(group, 0)?;
            }
        }
        Ok(())
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

    /// Post the receives of `messages` messages, from the place `first` on.
    #[inline(always)]
    fn receive_half<P: TaggedPort>(
        &self,
        group: &mut Group<P>,
        first: usize,
        messages: u64,
    ) -> Result<(), LinkError> {
        for index in first..first + messages as usize {
            self.receive(group, index)?;
        }
        Ok(())
    }

    /// Post the receives of the halves that the source sends first. Once a round: no part of the loops' code.
    #[inline(never)]
    fn receive_first<P: TaggedPort>(
        &self,
        group: &mut Group<P>,
        (count, most): (u64, u64),
    ) -> Result<(), LinkError> {
        let mut halves = Halves::of(count, most);
        for _ in 0..halves.ahead() {
            halves.swap_with(group);
            let (first, messages) = halves.begin();
            self.receive_half(group, first, messages)?;
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
        match (self.window, self.source) {
            (None, true) => hot_tagged_request(self, group, series, clock, count),
            (None, false) => hot_tagged_answer(self, group, count),
            (Some(window), true) => hot_send_windows(self, group, series, clock, (count, window)),
            (Some(window), false) => hot_receive_windows(self, group, series, clock, (count, window)),
        }
    }

    fn batch(&self, rank: &Rank, op_ticks: f64) -> u64 {
        let batch = batch_for(op_ticks, &rank.timebase);
        match self.window {
            None => batch,
            Some(window) => batch.div_ceil(window).saturating_mul(window),
        }
    }
}

/// `count` round trips: a message, and the wait for its answer.
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
        ends.send_then_receive(group, ends.next, true)?;
        group.wait_all()?;
        ends.arrived(group, ends.next, 0);
        ends.next += 1;
        ends.count_sent(group, 1);
        batch.one(series, clock);
    }
    Ok(())
}

/// Answer `count` messages.
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
        ends.send_then_receive(group, ends.next, answered + 1 < count)?;
        ends.next += 1;
        ends.count_sent(group, 1);
    }
    group.wait_all()
}

/// `count` messages in halves of a window, each acknowledged: the next half but one waits for that, so that a stream never runs
/// dry while an acknowledgement is on its way. A sample a half, or a batch of them.
#[inline(never)]
fn hot_send_windows<P: TaggedPort, C: Check>(
    ends: &mut Matched<C>,
    group: &mut Group<P>,
    series: &mut Series,
    clock: Clock,
    (count, most): (u64, u64),
) -> Result<(), LinkError> {
    let mut halves = Halves::of(count, most);
    let mut batch = Batch::begin(series, clock.now());
    loop {
        halves.turn(group)?;
        let done = halves.finish();
        if done > 0 {
            ends.count_sent(group, done);
            batch.several(done, halves.are_done(), series, clock);
        }
        if halves.are_done() {
            return Ok(());
        }
        let (first, messages) = halves.begin();
        if messages > 0 {
            group.post_recv(PEER, ACK, 0, 0)?;
        }
        for index in first..first + messages as usize {
            ends.send(group, ends.next, index)?;
            ends.next += 1;
        }
    }
}

/// Receive `count` messages in halves of a window. The receives of the next half but one are posted before a half is
/// acknowledged, so that none of its messages is unexpected.
#[inline(never)]
fn hot_receive_windows<P: TaggedPort, C: Check>(
    ends: &mut Matched<C>,
    group: &mut Group<P>,
    series: &mut Series,
    clock: Clock,
    (count, most): (u64, u64),
) -> Result<(), LinkError> {
    ends.receive_first(group, (count, most))?;
    let mut halves = Halves::begun(count, most);
    ends.ready(group)?;
    let mut batch = Batch::begin(series, clock.now());
    while !halves.are_done() {
        halves.turn(group)?;
        let at = halves.place();
        let done = halves.finish();
        for index in 0..done {
            ends.arrived(group, ends.next + index, at + index as usize);
        }
        ends.next += done;
        batch.several(done, halves.are_done(), series, clock);
        let (first, messages) = halves.begin();
        ends.receive_half(group, first, messages)?;
        group.post_send(PEER, ACK, 0, 0)?;
    }
    for _ in 0..halves.ahead() {
        halves.swap_with(group);
        group.wait_apart()?;
    }
    Ok(())
}

/// A window in two halves that take turns, or a whole one of a single message: how many messages of each are under way.
struct Halves {
    /// Messages of a half, at most.
    most: u64,
    /// Whether there are two.
    two: bool,
    /// Messages of the half whose turn it is, and of the other.
    under_way: [u64; 2],
    /// Whether the turn is the second half's.
    second: bool,
    /// Messages that no half had yet.
    left: u64,
    /// Messages that are not done.
    undone: u64,
}

impl Halves {
    #[inline(always)]
    fn of(count: u64, window: u64) -> Self {
        Halves {
            most: (window / 2).max(1),
            two: window > 1,
            under_way: [0; 2],
            second: false,
            left: count,
            undone: count,
        }
    }

    /// Halves that may be under way.
    #[inline(always)]
    fn ahead(&self) -> u32 {
        1 + u32::from(self.two)
    }

    /// After the first halves were posted. The loop's own, of which nothing else has the address: it lies in registers.
    #[inline(always)]
    fn begun(count: u64, window: u64) -> Self {
        let mut halves = Halves::of(count, window);
        for _ in 0..halves.ahead() {
            halves.swap();
            halves.begin();
        }
        halves
    }

    /// On to the other half.
    #[inline(always)]
    fn swap(&mut self) {
        if self.two {
            self.under_way.swap(0, 1);
            self.second = !self.second;
        }
    }

    /// On to the other half, and what was posted with it.
    #[inline(always)]
    fn swap_with<P: TaggedPort>(&mut self, group: &mut Group<P>) {
        if self.two {
            group.turn();
        }
        self.swap();
    }

    /// On to the other half, when all that was posted with it is done.
    #[inline(always)]
    fn turn<P: TaggedPort>(&mut self, group: &mut Group<P>) -> Result<(), LinkError> {
        self.swap_with(group);
        group.wait_all()
    }

    /// Where the messages of this half begin.
    #[inline(always)]
    fn place(&self) -> usize {
        if self.second { self.most as usize } else { 0 }
    }

    /// This half is done: the number of its messages.
    #[inline(always)]
    fn finish(&mut self) -> u64 {
        let done = std::mem::take(&mut self.under_way[0]);
        self.undone -= done;
        done
    }

    #[inline(always)]
    fn are_done(&self) -> bool {
        self.undone == 0
    }

    /// Take the next messages for this half: the place of the first, and how many there are.
    #[inline(always)]
    fn begin(&mut self) -> (usize, u64) {
        let messages = self.left.min(self.most);
        self.left -= messages;
        self.under_way[0] = messages;
        (self.place(), messages)
    }
}
