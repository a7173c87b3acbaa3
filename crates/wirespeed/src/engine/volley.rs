//! Ping-pong of one-sided operations: each rank puts into the other's memory, or adds to a word there, and polls its own.
//!
//! The source says in the target's memory which operation is the last of a phase, just before it.

use super::attached::Attached;
use super::batch::Batch;
use super::meter::{Meter, Tally};
use super::operation::{Operation, is_marked, mark};
use super::payload::Check;
use super::phases::{Body, Left, Phase, SETTLE_ROUND_TRIPS};
use super::region::{Layout, end_phase};
use super::series::Series;
use crate::clock::Clock;
use crate::sync::SharedBytes;
use crate::transport::port::{LinkError, OneSidedPort, Post, Width};
use core::sync::atomic::Ordering;
use wirespeed_schema::outcome::{Count, Faults, SampleKind};

/// How a rank of a ping-pong notices that an operation of its peer has arrived in its own region.
#[derive(Clone, Copy)]
pub enum Arrival {
    /// A put: its last byte carries the mark.
    Put(Layout),
    /// An addition: the word has grown by one.
    Add(Width),
}

impl Arrival {
    /// Whether operation `number` has.
    #[inline(always)]
    fn arrived(self, region: &SharedBytes, number: u64) -> bool {
        match self {
            Arrival::Put(layout) => region.load_u8(layout.slot(number) + layout.size - 1) == mark(number),
            Arrival::Add(Width::W4) => {
                region.u32_at(0).load(Ordering::Acquire) == (number as u32).wrapping_add(1)
            }
            Arrival::Add(Width::W8) => region.u64_at(0).load(Ordering::Acquire) == number.wrapping_add(1),
        }
    }

    /// Whether what arrived is right, in full; `scratch` has room for one operation's data.
    fn is_right(self, region: &SharedBytes, number: u64, scratch: &mut [u8]) -> bool {
        match self {
            Arrival::Put(layout) => {
                region.read(layout.slot(number), scratch);
                is_marked(number, scratch)
            }
            Arrival::Add(_) => self.arrived(region, number),
        }
    }
}

/// Both halves of a one-sided ping-pong.
pub struct Volley<O: Operation> {
    /// What is posted.
    pub operation: O,
    /// How the other's is noticed.
    pub arrival: Arrival,
    /// Number of the next operation; runs through all phases.
    pub next: u64,
    /// Arrivals that were wrong.
    pub wrong: u64,
    /// Whether they are looked for.
    pub checks: O::Checks,
    /// Room for one operation's data, to check it.
    pub scratch: Vec<u8>,
}

impl<O: Operation> Volley<O> {
    #[inline(always)]
    fn post<P: OneSidedPort>(&mut self, link: &mut Attached<P>) -> Result<(), LinkError> {
        while self.operation.post(&mut link.port, self.next)? == Post::Busy {
            link.give_way()?;
        }
        while self.operation.counted() && link.port.completed() <= self.next {
            link.give_way()?;
        }
        Ok(())
    }

    #[inline(always)]
    fn receive<P: OneSidedPort>(&mut self, link: &mut Attached<P>) -> Result<(), LinkError> {
        while !self.arrival.arrived(link.port.region(), self.next) {
            link.port.wait()?;
        }
        if self.checks.on() {
            self.look(link.port.region());
        }
        Ok(())
    }
}

impl<O: Operation> Volley<O> {
    /// Count the last arrival if it was wrong.
    #[cold]
    #[inline(never)]
    fn look(&mut self, region: &SharedBytes) {
        if !self.arrival.is_right(region, self.next, &mut self.scratch) {
            self.wrong += 1;
        }
    }
}

/// `count` round trips; `ends`: the phase that the last of them ends.
#[inline(never)]
pub fn hot_volley<P: OneSidedPort, O: Operation>(
    link: &mut Attached<P>,
    volley: &mut Volley<O>,
    series: &mut Series,
    clock: Clock,
    count: u64,
    ends: Option<(Layout, Phase)>,
) -> Result<(), LinkError> {
    let target = volley.next + count;
    let mut batch = Batch::begin(series, clock.now());
    while volley.next < target {
        if let (Some((layout, phase)), true) = (ends, volley.next + 1 == target) {
            end_phase(link, layout, phase, target)?;
        }
        volley.post(link)?;
        volley.receive(link)?;
        volley.next += 1;
        batch.one(series, clock);
    }
    Ok(())
}

/// Return every operation until the source ends `phase`.
#[inline(never)]
pub fn hot_return<P: OneSidedPort, O: Operation>(
    link: &mut Attached<P>,
    volley: &mut Volley<O>,
    (layout, phase): (Layout, Phase),
) -> Result<(), LinkError> {
    loop {
        volley.receive(link)?;
        volley.post(link)?;
        volley.next += 1;
        if layout.ended_at(link.port.region(), phase) == Some(volley.next) {
            return Ok(());
        }
    }
}

/// Where a rank of a ping-pong is in its test.
pub struct Ends<P, O: Operation> {
    link: Attached<P>,
    volley: Volley<O>,
    layout: Layout,
    phase: Phase,
    /// Number of the phase's first operation.
    first: u64,
}

impl<P: OneSidedPort, O: Operation> Ends<P, O> {
    /// One end of `volley`, whose data lie as `layout` says.
    pub fn new(link: Attached<P>, volley: Volley<O>, layout: Layout) -> Self {
        Ends {
            link,
            volley,
            layout,
            phase: Phase::First,
            first: 0,
        }
    }

    fn begin(&mut self, phase: Phase) {
        (self.phase, self.first) = (phase, self.volley.next);
    }

    fn done(&self) -> u64 {
        self.volley.next - self.first
    }

    fn tally(&self) -> Tally {
        let both = Count::of(self.done(), self.layout.size);
        Tally {
            sent: both,
            received: both,
            faults: Faults::corrupt(self.volley.wrong),
            ..Tally::default()
        }
    }
}

/// The rank that begins each round trip.
pub struct Striker<P, O: Operation> {
    ends: Ends<P, O>,
    series: Series,
    clock: Clock,
}

impl<P, O: Operation> Striker<P, O> {
    /// The source's end.
    pub fn new(ends: Ends<P, O>, meter: &Meter) -> Self {
        Striker {
            ends,
            series: meter.series(SampleKind::RoundTrip),
            clock: meter.clock,
        }
    }
}

impl<P: OneSidedPort, O: Operation> Body for Striker<P, O> {
    fn leads(&self) -> bool {
        true
    }

    fn progress(&mut self) -> Result<(), LinkError> {
        self.ends.link.port.poll()
    }

    fn begin(&mut self, phase: Phase) -> Result<(), LinkError> {
        self.ends.begin(phase);
        self.series.clear();
        Ok(())
    }

    fn step(&mut self, count: u64, last: bool) -> Result<bool, LinkError> {
        let Ends {
            link,
            volley,
            layout,
            phase,
            ..
        } = &mut self.ends;
        let ends = last.then_some((*layout, *phase));
        hot_volley(link, volley, &mut self.series, self.clock, count, ends)?;
        Ok(last)
    }

    fn close(&mut self, _: Phase) -> Result<(), LinkError> {
        self.ends.link.drain()
    }

    fn settling(&self) -> u64 {
        SETTLE_ROUND_TRIPS
    }

    fn arm(&mut self, meter: &Meter, op_ticks: f64) {
        self.series = meter.batches(SampleKind::RoundTrip, op_ticks);
    }

    fn done(&self) -> u64 {
        self.ends.done()
    }

    fn tally(&self) -> Tally {
        self.ends.tally()
    }

    fn series(&mut self) -> Option<&mut Series> {
        Some(&mut self.series)
    }

    fn finish(self: Box<Self>) -> Left {
        Left::new(vec![self.series], self.ends.link.port.facts())
    }
}

/// The rank that returns every operation.
pub struct Returner<P, O: Operation>(pub Ends<P, O>);

impl<P: OneSidedPort, O: Operation> Body for Returner<P, O> {
    fn progress(&mut self) -> Result<(), LinkError> {
        self.0.link.port.poll()
    }

    fn begin(&mut self, phase: Phase) -> Result<(), LinkError> {
        self.0.begin(phase);
        Ok(())
    }

    fn step(&mut self, _: u64, _: bool) -> Result<bool, LinkError> {
        let Ends {
            link,
            volley,
            layout,
            phase,
            ..
        } = &mut self.0;
        hot_return(link, volley, (*layout, *phase))?;
        Ok(true)
    }

    fn close(&mut self, _: Phase) -> Result<(), LinkError> {
        self.0.link.drain()
    }

    fn done(&self) -> u64 {
        self.0.done()
    }

    fn tally(&self) -> Tally {
        self.0.tally()
    }

    fn finish(self: Box<Self>) -> Left {
        Left::new(Vec::new(), self.0.link.port.facts())
    }
}
