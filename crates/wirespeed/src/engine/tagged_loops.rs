//! Loops on matched messages: a ping-pong, and windows of messages that the receiver acknowledges.
//!
//! The source announces each segment by a control message (number of messages, and whether it ends the phase); the sink
//! posts the receives of what comes first, then says that it is ready. So both ends agree on the stop, and no message
//! of a segment is unexpected. Control stays outside every sample.

use super::batch::Batch;
use super::header;
use super::meter::{Meter, Series, Tally, batch_for};
use super::payload::{self, Check};
use crate::clock::{Clock, Timebase};
use crate::transport::port::{LinkError, Request, TaggedPort};
use crate::transport::waiter::Waiter;
use wirespeed_schema::outcome::SampleKind;

const CONTROL: u64 = 1;
const READY: u64 = 2;
const DATA: u64 = 3;
const ACK: u64 = 4;

/// The only peer.
const PEER: usize = 0;
/// Where the control message lies; data begin after its cache line.
const CONTROL_AT: usize = 0;
const CONTROL_BYTES: usize = 8;
const LINE: usize = 64;

/// Requests beside those of a window.
pub const EXTRA_REQUESTS: usize = 4;

/// Where things lie in the port's buffer.
#[derive(Clone, Copy)]
pub struct Places {
    size: usize,
    window: u64,
    /// Places for data, used in turn; all messages of a window share one unless payloads are checked.
    slots: usize,
}

impl Places {
    /// For messages of `size` bytes in windows of `window`.
    pub fn new(size: usize, window: u64, check: bool) -> Self {
        Places {
            size,
            window: window.max(1),
            // A ping-pong sends from one place and receives into another.
            slots: if check { (window as usize).max(2) } else { 2 },
        }
    }

    /// Length of the whole buffer; saturates.
    pub fn bytes(&self) -> usize {
        self.slots.saturating_mul(self.stride()).saturating_add(LINE)
    }

    fn stride(&self) -> usize {
        self.size.saturating_add(LINE - 1) & !(LINE - 1)
    }

    #[inline(always)]
    fn slot(&self, index: usize) -> usize {
        LINE + index * self.stride()
    }
}

/// A tagged port in use.
pub struct Matched<P, C> {
    /// The port.
    pub port: P,
    /// What went through in this phase.
    pub tally: Tally,
    waiter: Waiter,
    places: Places,
    checks: C,
    requests: Vec<Request>,
    scratch: Vec<u8>,
    /// Number of the next message; runs through all phases.
    next: u64,
}

impl<P: TaggedPort, C: Check> Matched<P, C> {
    /// `port`, whose buffer holds `places`.
    pub fn new(port: P, waiter: Waiter, places: Places, checks: C) -> Self {
        let mut scratch = vec![0; places.size];
        payload::fill(0, &mut scratch);
        for slot in 0..places.slots {
            port.buffer().write(places.slot(slot), &scratch);
        }
        let requests = places.window as usize + EXTRA_REQUESTS;
        Matched {
            port,
            tally: Tally::default(),
            waiter,
            places,
            checks,
            requests: Vec::with_capacity(requests),
            scratch,
            next: 0,
        }
    }

    /// Push out every send so far.
    pub fn drain(&mut self) -> Result<(), LinkError> {
        while !self.port.flush()? {
            self.waiter.idle()?;
        }
        Ok(())
    }

    /// Source: the next segment has `count` messages; `last`: it ends the phase. Returns when the sink is ready.
    pub fn announce(&mut self, count: u64, last: bool) -> Result<(), LinkError> {
        let control = header::data(count, last).to_le_bytes();
        self.port.buffer().write(CONTROL_AT, &control);
        let ready = self.port.post_recv(PEER, READY, 0, 0)?;
        let sent = self.port.post_send(PEER, CONTROL, CONTROL_AT, CONTROL_BYTES)?;
        self.requests.extend([ready, sent]);
        self.wait_all()
    }

    /// Sink: wait for the next segment's announcement.
    pub fn announced(&mut self) -> Result<(u64, bool), LinkError> {
        let request = self.port.post_recv(PEER, CONTROL, CONTROL_AT, CONTROL_BYTES)?;
        self.note(request)?;
        self.wait_all()?;
        let mut control = [0; CONTROL_BYTES];
        self.port.buffer().read(CONTROL_AT, &mut control);
        let control = u64::from_le_bytes(control);
        match header::number(control) {
            0 => Err(LinkError::Corrupt("a segment without messages")),
            count => Ok((count, header::is_last(control))),
        }
    }

    /// Sink: say that the first receives of the segment are posted.
    fn ready(&mut self) -> Result<(), LinkError> {
        let request = self.port.post_send(PEER, READY, 0, 0)?;
        self.note(request)
    }

    /// Remember `request` until the next wait. The list has its room from the start: the loops have no code to grow it.
    #[inline(always)]
    fn note(&mut self, request: Request) -> Result<(), LinkError> {
        if self.requests.len() == self.requests.capacity() {
            return Err(LinkError::Exhausted("requests of one window"));
        }
        self.requests.push(request);
        Ok(())
    }

    #[inline(always)]
    fn wait_all(&mut self) -> Result<(), LinkError> {
        self.port.wait_all(&mut self.requests)
    }

    /// Post the sending of message `number` from place `slot`.
    #[inline(always)]
    fn send(&mut self, number: u64, slot: usize) -> Result<(), LinkError> {
        let offset = self.places.slot(slot);
        if self.checks.on() {
            payload::fill(number, &mut self.scratch);
            self.port.buffer().write(offset, &self.scratch);
        }
        let request = self.port.post_send(PEER, DATA, offset, self.places.size)?;
        self.note(request)
    }

    /// Post the receive of a message into place `slot`.
    #[inline(always)]
    fn receive(&mut self, slot: usize) -> Result<(), LinkError> {
        let request = self
            .port
            .post_recv(PEER, DATA, self.places.slot(slot), self.places.size)?;
        self.note(request)
    }

    /// Message `number` has arrived in place `slot`.
    #[inline(always)]
    fn arrived(&mut self, number: u64, slot: usize) {
        if self.checks.on() {
            self.port.buffer().read(self.places.slot(slot), &mut self.scratch);
            if !payload::matches(number, self.places.size, &self.scratch) {
                self.tally.faults.corrupt_messages += 1;
            }
        }
        self.tally.received.messages += 1;
        self.tally.received.bytes += self.places.size as u64;
    }

    #[inline(always)]
    fn count_sent(&mut self, messages: u64) {
        self.tally.sent.messages += messages;
        self.tally.sent.bytes += messages * self.places.size as u64;
    }

    /// Place of the `index`-th message of a window.
    #[inline(always)]
    fn place(&self, index: u64) -> usize {
        if self.checks.on() { index as usize } else { 0 }
    }
}

/// The two ends of a test: one segment of it each.
pub trait Pattern {
    /// The source's series.
    fn sent(meter: &Meter) -> Series;
    /// The sink's series, where it takes samples.
    fn received(meter: &Meter) -> Option<Series>;
    /// Messages that a sample of the source covers.
    fn batch(op_ticks: f64, window: u64, timebase: &Timebase) -> u64;
    /// `count` messages of the source.
    fn source<P: TaggedPort, C: Check>(
        link: &mut Matched<P, C>,
        series: &mut Series,
        clock: Clock,
        count: u64,
    ) -> Result<(), LinkError>;
    /// `count` messages of the sink; the announcement has come.
    fn sink<P: TaggedPort, C: Check>(
        link: &mut Matched<P, C>,
        series: Option<&mut Series>,
        clock: Clock,
        count: u64,
    ) -> Result<(), LinkError>;
}

/// `tag_lat`.
pub struct RoundTrips;

/// `tag_bw`.
pub struct Windows;

const OUT: usize = 0;
const BACK: usize = 1;

impl Pattern for RoundTrips {
    fn sent(meter: &Meter) -> Series {
        meter.series(SampleKind::RoundTrip)
    }

    fn received(_: &Meter) -> Option<Series> {
        None
    }

    fn batch(op_ticks: f64, _: u64, timebase: &Timebase) -> u64 {
        batch_for(op_ticks, timebase)
    }

    fn source<P: TaggedPort, C: Check>(
        link: &mut Matched<P, C>,
        series: &mut Series,
        clock: Clock,
        count: u64,
    ) -> Result<(), LinkError> {
        hot_tagged_request(link, series, clock, count)
    }

    fn sink<P: TaggedPort, C: Check>(
        link: &mut Matched<P, C>,
        _: Option<&mut Series>,
        _: Clock,
        count: u64,
    ) -> Result<(), LinkError> {
        hot_tagged_answer(link, count)
    }
}

/// `count` round trips: post the receive, post the send, wait for both. A sample every `batch` of them.
#[inline(never)]
fn hot_tagged_request<P: TaggedPort, C: Check>(
    link: &mut Matched<P, C>,
    series: &mut Series,
    clock: Clock,
    count: u64,
) -> Result<(), LinkError> {
    let mut batch = Batch::begin(series, clock.now());
    for _ in 0..count {
        link.receive(BACK)?;
        link.send(link.next, OUT)?;
        link.wait_all()?;
        link.arrived(link.next, BACK);
        link.next += 1;
        link.count_sent(1);
        batch.one(series, clock);
    }
    Ok(())
}

/// Answer `count` messages. The next receive is posted before the answer goes, so that no request is unexpected.
#[inline(never)]
fn hot_tagged_answer<P: TaggedPort, C: Check>(link: &mut Matched<P, C>, count: u64) -> Result<(), LinkError> {
    link.receive(BACK)?;
    link.ready()?;
    for answered in 0..count {
        link.wait_all()?;
        link.arrived(link.next, BACK);
        if answered + 1 < count {
            link.receive(BACK)?;
        }
        link.send(link.next, OUT)?;
        link.next += 1;
        link.count_sent(1);
    }
    link.wait_all()
}

impl Pattern for Windows {
    fn sent(meter: &Meter) -> Series {
        meter.series_of_means(SampleKind::SendInterval)
    }

    fn received(meter: &Meter) -> Option<Series> {
        Some(meter.series_of_means(SampleKind::ReceiveInterval))
    }

    fn batch(op_ticks: f64, window: u64, timebase: &Timebase) -> u64 {
        batch_for(op_ticks, timebase)
            .div_ceil(window)
            .saturating_mul(window)
    }

    fn source<P: TaggedPort, C: Check>(
        link: &mut Matched<P, C>,
        series: &mut Series,
        clock: Clock,
        count: u64,
    ) -> Result<(), LinkError> {
        hot_send_windows(link, series, clock, count)
    }

    fn sink<P: TaggedPort, C: Check>(
        link: &mut Matched<P, C>,
        series: Option<&mut Series>,
        clock: Clock,
        count: u64,
    ) -> Result<(), LinkError> {
        match series {
            Some(series) => hot_receive_windows(link, series, clock, count),
            None => Err(LinkError::Unsupported("windows without a series")),
        }
    }
}

/// `count` messages in windows, each acknowledged before the next. A sample a window, or a batch of them.
#[inline(never)]
fn hot_send_windows<P: TaggedPort, C: Check>(
    link: &mut Matched<P, C>,
    series: &mut Series,
    clock: Clock,
    count: u64,
) -> Result<(), LinkError> {
    let mut left = count;
    let mut batch = Batch::begin(series, clock.now());
    while left > 0 {
        let window = left.min(link.places.window);
        let acknowledged = link.port.post_recv(PEER, ACK, 0, 0)?;
        link.note(acknowledged)?;
        for index in 0..window {
            link.send(link.next + index, link.place(index))?;
        }
        link.wait_all()?;
        link.next += window;
        link.count_sent(window);
        left -= window;
        batch.several(window, left == 0, series, clock);
    }
    Ok(())
}

/// Receive `count` messages in windows. The receives of the next window are posted before this one is acknowledged.
#[inline(never)]
fn hot_receive_windows<P: TaggedPort, C: Check>(
    link: &mut Matched<P, C>,
    series: &mut Series,
    clock: Clock,
    count: u64,
) -> Result<(), LinkError> {
    let mut left = count;
    let mut window = post_window(link, left)?;
    link.ready()?;
    let mut batch = Batch::begin(series, clock.now());
    loop {
        link.wait_all()?;
        for index in 0..window {
            link.arrived(link.next + index, link.place(index));
        }
        link.next += window;
        left -= window;
        batch.several(window, left == 0, series, clock);
        window = post_window(link, left)?;
        let acknowledgement = link.port.post_send(PEER, ACK, 0, 0)?;
        link.note(acknowledgement)?;
        if left == 0 {
            return link.wait_all();
        }
    }
}

/// Post the receives of a window, of at most `left` messages; returns how many.
#[inline(always)]
fn post_window<P: TaggedPort, C: Check>(link: &mut Matched<P, C>, left: u64) -> Result<u64, LinkError> {
    let window = left.min(link.places.window);
    for index in 0..window {
        link.receive(link.place(index))?;
    }
    Ok(window)
}
