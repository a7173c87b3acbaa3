//! Loops on one-sided operations: a ping-pong of puts or additions, a train of operations, and a target that serves.

use super::attached::Attached;
use super::meter::Series;
use super::payload::Checks;
use super::operation::{Operation, is_marked, mark};
use super::region::{Layout, end_phase};
use crate::clock::Clock;
use crate::sync::SharedBytes;
use crate::transport::port::{LinkError, OneSidedPort, Post, Width};
use core::sync::atomic::Ordering;

/// How a rank of a ping-pong notices that operation `number` of its peer has arrived in its own region.
pub trait Arrival: Copy {
    /// Whether it has.
    fn arrived(self, region: &SharedBytes, number: u64) -> bool;
    /// Whether what arrived is right, in full; `scratch` has room for one operation's data.
    fn is_right(self, region: &SharedBytes, number: u64, scratch: &mut [u8]) -> bool;
}

/// A put: its last byte carries the mark.
#[derive(Clone, Copy)]
pub struct PutArrival(pub Layout);

impl Arrival for PutArrival {
    #[inline(always)]
    fn arrived(self, region: &SharedBytes, number: u64) -> bool {
        region.load_u8(self.0.slot(number) + self.0.size - 1) == mark(number)
    }

    fn is_right(self, region: &SharedBytes, number: u64, scratch: &mut [u8]) -> bool {
        region.read(self.0.slot(number), scratch);
        is_marked(number, scratch)
    }
}

/// An addition: the word has grown by one.
#[derive(Clone, Copy)]
pub struct AddArrival(pub Width);

impl Arrival for AddArrival {
    #[inline(always)]
    fn arrived(self, region: &SharedBytes, number: u64) -> bool {
        match self.0 {
            Width::W4 => region.u32_at(0).load(Ordering::Acquire) == (number as u32).wrapping_add(1),
            Width::W8 => region.u64_at(0).load(Ordering::Acquire) == number.wrapping_add(1),
        }
    }

    fn is_right(self, region: &SharedBytes, number: u64, _: &mut [u8]) -> bool {
        self.arrived(region, number)
    }
}

/// Either of them, for ports whose operations are slow.
#[derive(Clone, Copy)]
pub enum AnyArrival {
    /// A put.
    Put(PutArrival),
    /// An addition.
    Add(AddArrival),
}

impl Arrival for AnyArrival {
    #[inline(always)]
    fn arrived(self, region: &SharedBytes, number: u64) -> bool {
        match self {
            AnyArrival::Put(arrival) => arrival.arrived(region, number),
            AnyArrival::Add(arrival) => arrival.arrived(region, number),
        }
    }

    fn is_right(self, region: &SharedBytes, number: u64, scratch: &mut [u8]) -> bool {
        match self {
            AnyArrival::Put(arrival) => arrival.is_right(region, number, scratch),
            AnyArrival::Add(arrival) => arrival.is_right(region, number, scratch),
        }
    }
}

/// Both halves of a one-sided ping-pong.
pub struct Volley<O, A, const CHECK: bool> {
    /// What is posted.
    pub operation: O,
    /// How the other's is noticed.
    pub arrival: A,
    /// Number of the next operation; runs through all phases.
    pub next: u64,
    /// Arrivals that were wrong.
    pub wrong: u64,
    /// Whether they are looked for.
    pub checks: Checks<CHECK>,
    /// Room for one operation's data, to check it.
    pub scratch: Vec<u8>,
}

impl<O: Operation, A: Arrival, const CHECK: bool> Volley<O, A, CHECK> {
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
        if self.checks.on()
            && !self
                .arrival
                .is_right(link.port.region(), self.next, &mut self.scratch)
        {
            self.wrong += 1;
        }
        Ok(())
    }
}

/// `count` round trips; `ends`: the phase that the last of them ends.
#[inline(never)]
pub fn hot_volley<P: OneSidedPort, O: Operation, A: Arrival, const CHECK: bool>(
    link: &mut Attached<P>,
    volley: &mut Volley<O, A, CHECK>,
    series: &mut Series,
    clock: Clock,
    count: u64,
    ends: Option<(Layout, usize)>,
) -> Result<(), LinkError> {
    let batch = series.batch_ops;
    let target = volley.next + count;
    let mut in_batch = 0;
    let mut start = clock.now();
    while volley.next < target {
        if let (Some((layout, phase)), true) = (ends, volley.next + 1 == target) {
            end_phase(link, layout, phase, target)?;
        }
        volley.post(link)?;
        volley.receive(link)?;
        volley.next += 1;
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

/// Return every operation until the source ends `phase`.
#[inline(never)]
pub fn hot_return<P: OneSidedPort, O: Operation, A: Arrival, const CHECK: bool>(
    link: &mut Attached<P>,
    volley: &mut Volley<O, A, CHECK>,
    layout: Layout,
    phase: usize,
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

/// An operation in flight whose completion is timed.
#[derive(Clone, Copy, Default)]
struct Stamp {
    covers: u64,
    ticks: u64,
}

/// The origin of a train of operations.
pub struct Train<O, const CHECK: bool> {
    /// What is posted.
    pub operation: O,
    /// Operations that may be uncompleted at once.
    pub outstanding: u64,
    /// Number of the next operation; runs through all phases.
    pub next: u64,
    verified: u64,
    /// Fetched values and data that were wrong.
    pub wrong: u64,
    checks: Checks<CHECK>,
    stamp: Stamp,
    /// Time of batches; the completion time itself when only one operation may be outstanding.
    pub intervals: Series,
    /// Time from post to completion of sampled operations, when several may be outstanding.
    pub completions: Series,
}

impl<O: Operation, const CHECK: bool> Train<O, CHECK> {
    /// At most `outstanding` operations at once.
    pub fn new(
        operation: O,
        (outstanding, checks): (u64, Checks<CHECK>),
        intervals: Series,
        completions: Series,
    ) -> Self {
        let stamp = Stamp::default();
        Train {
            operation,
            outstanding,
            next: 0,
            verified: 0,
            wrong: 0,
            checks,
            stamp,
            intervals,
            completions,
        }
    }

    /// Wait until at most `most` operations are uncompleted.
    #[inline(always)]
    fn settle<P: OneSidedPort>(
        &mut self,
        link: &mut Attached<P>,
        most: u64,
        clock: Clock,
    ) -> Result<(), LinkError> {
        if !self.operation.counted() {
            return Ok(());
        }
        while self.next - link.port.completed() > most {
            link.port.wait()?;
        }
        if self.stamp.covers != 0 && link.port.completed() >= self.stamp.covers {
            self.completions.record(clock.now() - self.stamp.ticks);
            self.stamp.covers = 0;
        }
        if self.checks.on() {
            self.verify(&link.port);
        }
        Ok(())
    }

    fn verify<P: OneSidedPort>(&mut self, port: &P) {
        while self.verified < port.completed() {
            if !self.operation.verify(port, self.verified) {
                self.wrong += 1;
            }
            self.verified += 1;
        }
    }
}

/// Post `count` operations. `last`: wait until all have taken effect at the target.
#[inline(never)]
pub fn hot_train<P: OneSidedPort, O: Operation, const CHECK: bool>(
    link: &mut Attached<P>,
    train: &mut Train<O, CHECK>,
    clock: Clock,
    (count, last): (u64, bool),
) -> Result<(), LinkError> {
    let batch = train.intervals.batch_ops;
    let target = train.next + count;
    let stamped = train.operation.counted() && train.outstanding > 1;
    let mut in_batch = 0;
    let mut start = clock.now();
    while train.next < target {
        while train.operation.post(&mut link.port, train.next)? == Post::Busy {
            link.give_way()?;
            // What has completed makes room, and is verified before its place is used again.
            train.settle(link, u64::MAX, clock)?;
        }
        train.next += 1;
        train.settle(link, train.outstanding - 1, clock)?;
        in_batch += 1;
        if in_batch == batch {
            let now = clock.now();
            train.intervals.record(now - start);
            start = now;
            in_batch = 0;
            if stamped && train.stamp.covers == 0 {
                train.stamp = Stamp {
                    covers: train.next,
                    ticks: now,
                };
            }
        }
    }
    if last {
        link.drain()?;
        train.settle(link, 0, clock)?;
    }
    Ok(())
}

/// Serve as a target until the source ends `phase`; returns the number of the operation after its last.
#[inline(never)]
pub fn hot_serve<P: OneSidedPort>(
    link: &mut Attached<P>,
    layout: Layout,
    phase: usize,
) -> Result<u64, LinkError> {
    loop {
        if let Some(operations) = layout.ended_at(link.port.region(), phase) {
            return Ok(operations);
        }
        link.port.wait()?;
    }
}
