//! A train of one-sided operations, and the target that they go to. The source says in the target's memory when a phase
//! has ended, once everything of it has taken effect.

use super::attached::Attached;
use super::batch::Batch;
use super::meter::{Meter, Tally};
use super::operation::{Operation, is_marked, prepare_for_gets};
use super::payload::Check;
use super::phases::{Body, Left, Phase};
use super::rank::Rank;
use super::region::{Layout, end_phase};
use super::series::Series;
use super::timed::Timed;
use crate::clock::Clock;
use crate::sync::SharedBytes;
use crate::transport::port::{LinkError, OneSidedPort, Post, Width};
use core::sync::atomic::Ordering;
use wirespeed_schema::outcome::{Count, Faults, SampleKind};

/// The origin of a train of operations.
pub struct Train<O: Operation> {
    /// What is posted.
    operation: O,
    /// Operations that may be uncompleted at once.
    outstanding: u64,
    /// Number of the next operation; runs through all phases.
    next: u64,
    verified: u64,
    /// Fetched values and data that were wrong.
    wrong: u64,
    checks: O::Checks,
    timed: Timed,
    kind: SampleKind,
    /// Time of batches; the completion time itself when only one operation may be outstanding.
    intervals: Series,
    /// Time from post to completion of sampled operations, when several may be outstanding.
    completions: Series,
}

impl<O: Operation> Train<O> {
    /// At most as many operations at once as the case's window.
    pub fn new(rank: &Rank, meter: &Meter, layout: Layout, (operation, checks): (O, O::Checks)) -> Self {
        let outstanding = match checks.on() {
            true => rank.case.test.window().min(layout.slots as u64),
            false => rank.case.test.window(),
        };
        let kind = match operation.counted() && outstanding == 1 {
            true => SampleKind::Completion,
            false => SampleKind::SendInterval,
        };
        Train {
            operation,
            outstanding,
            next: 0,
            verified: 0,
            wrong: 0,
            checks,
            timed: Timed::default(),
            kind,
            intervals: meter.series(kind),
            completions: meter.series(SampleKind::Completion),
        }
    }

    /// Wait until at most `most` of `posted` operations are uncompleted.
    #[inline(always)]
    fn settle<P: OneSidedPort>(
        &mut self,
        link: &mut Attached<P>,
        (posted, most): (u64, u64),
        clock: Clock,
    ) -> Result<(), LinkError> {
        if !self.operation.counted() {
            return Ok(());
        }
        while posted - link.port.completed() > most {
            link.port.wait()?;
        }
        if let Some(ticks) = self.timed.end(link.port.completed(), || clock.now()) {
            self.completions.record(ticks);
        }
        if self.checks.on() {
            self.verify(&link.port);
        }
        Ok(())
    }

    /// As `settle`, where the loop stands still anyway: no part of its code.
    #[inline(never)]
    fn settle_apart<P: OneSidedPort>(
        &mut self,
        link: &mut Attached<P>,
        counts: (u64, u64),
        clock: Clock,
    ) -> Result<(), LinkError> {
        self.settle(link, counts, clock)
    }

    #[cold]
    #[inline(never)]
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
pub fn hot_train<P: OneSidedPort, O: Operation>(
    link: &mut Attached<P>,
    train: &mut Train<O>,
    clock: Clock,
    (count, last): (u64, bool),
) -> Result<(), LinkError> {
    // A number of the loop's own, of which no call has the address: it lies in a register.
    let mut next = train.next;
    let ended = post_all(link, train, &mut next, clock, count);
    train.next = next;
    ended?;
    if last {
        link.drain()?;
        train.settle_apart(link, (next, 0), clock)?;
    }
    Ok(())
}

/// Post `count` operations from number `next` on, which says afterwards how far that went.
#[inline(always)]
fn post_all<P: OneSidedPort, O: Operation>(
    link: &mut Attached<P>,
    train: &mut Train<O>,
    next: &mut u64,
    clock: Clock,
    count: u64,
) -> Result<(), LinkError> {
    let (target, most) = (*next + count, train.outstanding - 1);
    let stamped = train.operation.counted() && train.outstanding > 1;
    let began = clock.now();
    if stamped {
        train.timed.begin(*next, || began);
    }
    let mut batch = Batch::begin(&train.intervals, began);
    while *next < target {
        let first = *next;
        let end = target.min(first + batch.left());
        while *next < end {
            while train.operation.post(&mut link.port, *next)? == Post::Busy {
                link.give_way()?;
                // What has completed makes room, and is verified before its place is used again.
                train.settle_apart(link, (*next, u64::MAX), clock)?;
            }
            *next += 1;
            train.settle(link, (*next, most), clock)?;
        }
        // What another step posts is timed from there.
        if let Some(now) = batch.some(end - first, &mut train.intervals, clock)
            && stamped
            && end < target
        {
            train.timed.begin(end, || now);
        }
    }
    Ok(())
}

/// Serve as a target until the source ends `phase`; returns the number of the operation after its last.
#[inline(never)]
pub fn hot_serve<P: OneSidedPort>(
    link: &mut Attached<P>,
    (layout, phase): (Layout, Phase),
) -> Result<u64, LinkError> {
    loop {
        if let Some(operations) = layout.ended_at(link.port.region(), phase) {
            return Ok(operations);
        }
        link.port.wait()?;
    }
}

/// The rank that the operations come from.
pub struct Origin<P, O: Operation> {
    link: Attached<P>,
    train: Train<O>,
    layout: Layout,
    clock: Clock,
    /// Number of the phase's first operation.
    first: u64,
    /// What to check at the end where the memory is this rank's own: nobody else looks at it.
    own: Option<Kept>,
}

impl<P, O: Operation> Origin<P, O> {
    /// The source's end.
    pub fn new(link: Attached<P>, train: Train<O>, layout: Layout, clock: Clock) -> Self {
        Origin {
            link,
            train,
            layout,
            clock,
            first: 0,
            own: None,
        }
    }

    /// The operations go to memory of its own, which `own` tells of.
    #[must_use]
    pub fn with_own(mut self, own: Option<Kept>) -> Self {
        self.own = own;
        self
    }
}

impl<P: OneSidedPort, O: Operation> Body for Origin<P, O> {
    fn leads(&self) -> bool {
        true
    }

    fn progress(&mut self) -> Result<(), LinkError> {
        self.link.port.poll()
    }

    fn begin(&mut self, _: Phase) -> Result<(), LinkError> {
        self.first = self.train.next;
        self.train.timed.give_up();
        self.train.intervals.clear();
        self.train.completions.clear();
        Ok(())
    }

    /// Where operations complete at once, nothing but the look would notice that the run was cancelled.
    fn step(&mut self, count: u64, last: bool) -> Result<bool, LinkError> {
        hot_train(&mut self.link, &mut self.train, self.clock, (count, last))?;
        self.link.look()?;
        Ok(last)
    }

    fn close(&mut self, phase: Phase) -> Result<(), LinkError> {
        end_phase(&mut self.link, self.layout, phase, self.train.next)?;
        self.link.drain()?;
        if let Some(own) = self.own.filter(|_| phase == Phase::Measured) {
            self.train.wrong += wrong_places(own, self.layout, self.link.port.region(), self.train.next);
        }
        Ok(())
    }

    fn arm(&mut self, meter: &Meter, op_ticks: f64) {
        self.train.intervals = meter.batches(self.train.kind, op_ticks);
    }

    fn done(&self) -> u64 {
        self.train.next - self.first
    }

    fn tally(&self) -> Tally {
        Tally {
            sent: Count::of(self.done(), self.layout.size),
            faults: Faults::corrupt(self.train.wrong),
            ..Tally::default()
        }
    }

    fn series(&mut self) -> Option<&mut Series> {
        Some(&mut self.train.intervals)
    }

    fn finish(self: Box<Self>) -> Left {
        let Train {
            intervals,
            completions,
            ..
        } = self.train;
        Left::new(vec![intervals, completions], self.link.port.facts())
    }
}

/// What a target's memory tells of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It is fetched from, and never changes.
    Fetched,
    /// The latest puts.
    Puts,
    /// A word that every operation takes one further.
    Word(Width),
}

impl Kept {
    /// What a target has ready before anybody comes.
    pub fn expose<P: OneSidedPort>(self, link: &Attached<P>, layout: Layout) {
        if self == Kept::Fetched {
            prepare_for_gets(layout, link.port.region());
        }
    }
}

/// The rank whose memory they go to.
pub struct Target<'a, P> {
    link: Attached<P>,
    rank: &'a Rank<'a>,
    layout: Layout,
    kept: Kept,
    phase: Phase,
    /// Operations up to the end of the phase before, and to the end of this one.
    first: u64,
    operations: u64,
    wrong: u64,
}

impl<'a, P> Target<'a, P> {
    /// The sink's end.
    pub fn new(rank: &'a Rank, link: Attached<P>, layout: Layout, kept: Kept) -> Self {
        Target {
            link,
            rank,
            layout,
            kept,
            phase: Phase::First,
            first: 0,
            operations: 0,
            wrong: 0,
        }
    }
}

impl<P: OneSidedPort> Body for Target<'_, P> {
    fn progress(&mut self) -> Result<(), LinkError> {
        self.link.port.poll()
    }

    fn begin(&mut self, phase: Phase) -> Result<(), LinkError> {
        (self.phase, self.first) = (phase, self.operations);
        Ok(())
    }

    fn step(&mut self, _: u64, _: bool) -> Result<bool, LinkError> {
        self.operations = hot_serve(&mut self.link, (self.layout, self.phase))?;
        Ok(true)
    }

    fn close(&mut self, phase: Phase) -> Result<(), LinkError> {
        if phase == Phase::Measured && self.rank.case.check {
            self.wrong = wrong_places(self.kept, self.layout, self.link.port.region(), self.operations);
        }
        self.link.drain()
    }

    fn done(&self) -> u64 {
        self.operations.saturating_sub(self.first)
    }

    fn tally(&self) -> Tally {
        Tally {
            received: Count::of(self.done(), self.layout.size),
            faults: Faults::corrupt(self.wrong),
            ..Tally::default()
        }
    }

    fn finish(self: Box<Self>) -> Left {
        Left::new(Vec::new(), self.link.port.facts())
    }
}

/// Places of the target's region that do not hold what `operations` operations must have left there.
fn wrong_places(kept: Kept, layout: Layout, region: &SharedBytes, operations: u64) -> u64 {
    match kept {
        Kept::Puts => {
            let mut data = vec![0; layout.size];
            let oldest = operations.saturating_sub(layout.slots as u64);
            let wrong = (oldest..operations).filter(|&number| {
                region.read(layout.slot(number), &mut data);
                !is_marked(number, &data)
            });
            wrong.count() as u64
        }
        Kept::Word(width) => {
            let right = match width {
                Width::W4 => region.u32_at(0).load(Ordering::Acquire) == operations as u32,
                Width::W8 => region.u64_at(0).load(Ordering::Acquire) == operations,
            };
            u64::from(!right)
        }
        Kept::Fetched => 0,
    }
}
