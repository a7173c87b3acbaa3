//! The phases of every test, written once: the very first operation (timed apart), the warm-up, a barrier, a few
//! operations to settle in-band (a barrier over a control channel leaves ranks up to a millisecond apart), the measured
//! phase, and a last barrier so that nobody closes while a peer still waits.
//!
//! A test is a [`Body`]: the driver sees its loops as steps of many operations, so that this file is compiled once for
//! all ports and tests. It must never be called from within a sample.

#[cfg(test)]
mod tests;

use super::meter::{Meter, Tally};
use super::rank::{Finished, Rank};
use super::series::Series;
use crate::transport::port::{Facts, LinkError};
use wirespeed_schema::outcome::{PeerSamples, StopReason};

/// Ranks have left a barrier within this time; what settles them need not take longer.
const SETTLE_NS: f64 = 4e6;
/// The longest round of a warm-up: the wish to stop is heard between rounds.
const ROUND_NS: u64 = 100_000_000;
/// Operations of [`Phase::Settle`] of most tests: round trips after a barrier, which the other side may still be leaving.
pub const SETTLE_ROUND_TRIPS: u64 = 16;

/// A part of a test that ends by agreement of the ranks. All ranks of a test go through the same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The very first operation.
    First,
    /// The case's warm-up.
    WarmUp,
    /// What comes between a barrier and the measured phase.
    Settle,
    /// What is reported.
    Measured,
}

/// One rank's part in a test, with the port that it goes through.
///
/// Some ranks lead: they decide how many operations a phase has, and say which is the last. The others follow.
pub trait Body {
    /// Whether this rank leads.
    fn leads(&self) -> bool {
        false
    }

    /// Called while ranks meet: a peer that is ahead may need this rank's port to move.
    fn progress(&mut self) -> Result<(), LinkError>;

    /// A phase begins: numbers, counts and samples restart.
    fn begin(&mut self, phase: Phase) -> Result<(), LinkError>;

    /// A leader does `count` operations more, and ends the phase with the last of them if `last`. A follower does what it
    /// is led to, and returns after about `count` operations for the reports. True when the phase is over.
    fn step(&mut self, count: u64, last: bool) -> Result<bool, LinkError>;

    /// After the last step of a phase, what is no part of its time: agreeing on the end, pushing out what is left.
    fn close(&mut self, phase: Phase) -> Result<(), LinkError> {
        let _ = phase;
        Ok(())
    }

    /// Most operations of [`Phase::Settle`]: fewer where one takes long. 0 on every rank of a test that has no such phase.
    fn settling(&self) -> u64 {
        1
    }

    /// Whether the test has no warm-up where the case has none. Others do at least one operation: it tells how many of them
    /// a sample must cover.
    fn starts_cold(&self) -> bool {
        false
    }

    /// The warm-up is over, and one operation takes `op_ticks`: take new series.
    fn arm(&mut self, meter: &Meter, op_ticks: f64) {
        let _ = (meter, op_ticks);
    }

    /// Operations of this phase so far.
    fn done(&self) -> u64;

    /// Counts of this phase so far.
    fn tally(&self) -> Tally;

    /// The series that interval reports show.
    fn series(&mut self) -> Option<&mut Series> {
        None
    }

    /// Time of this phase so far, where that is not the time since it began.
    fn elapsed_ticks(&self) -> Option<u64> {
        None
    }

    /// Time of the first operation, of which the leader's clock saw `wall_ticks`; none on a rank that only answers.
    fn first_ticks(&self, wall_ticks: u64) -> Option<u64> {
        self.leads().then_some(wall_ticks)
    }

    /// Close the port and hand over what is left.
    fn finish(self: Box<Self>) -> Left;
}

/// What a test leaves beside its counts.
#[derive(Default)]
pub struct Left {
    /// Its series.
    pub series: Vec<Series>,
    /// Samples by peer, where the test tells peers apart.
    pub peers: Vec<PeerSamples>,
    /// Facts of the port and of the loop.
    pub facts: Facts,
}

impl Left {
    /// `series`, and the facts of a port.
    pub fn new(series: Vec<Series>, facts: Facts) -> Self {
        Left {
            series,
            facts,
            peers: Vec::new(),
        }
    }

    /// Add a fact.
    pub fn note(&mut self, name: &str, value: u64) {
        self.facts.insert(name.to_owned(), value.to_string());
    }
}

/// Take a rank through all phases of its test.
pub fn drive(rank: &Rank, mut meter: Meter, mut body: Box<dyn Body + '_>) -> Finished {
    let mut went = Went::default();
    let end = went.through(rank, &mut meter, &mut *body);
    let left = body.finish();
    let mut measured = meter.finish(left.series);
    measured.peers = left.peers;
    Finished {
        measured,
        elapsed_ticks: went.elapsed_ticks,
        warmup_operations: went.warmup_operations,
        first_operation_ticks: went.first_operation_ticks,
        end,
        facts: left.facts,
    }
}

/// A rank that has no part in a test keeps the others company at their three barriers. It has no peers, so its port has nothing
/// to progress, and it sleeps.
pub fn idle(rank: &Rank, meter: Meter, facts: Facts) -> Finished {
    let end = (0..3)
        .try_for_each(|_| rank.barrier_asleep())
        .map(|()| StopReason::Completed);
    nothing(meter, facts, end)
}

/// What a rank without a part has to show.
pub fn nothing(meter: Meter, facts: Facts, end: Result<StopReason, LinkError>) -> Finished {
    Finished {
        measured: meter.finish(Vec::new()),
        elapsed_ticks: 0,
        warmup_operations: 0,
        first_operation_ticks: None,
        end,
        facts,
    }
}

/// Meet the other ranks, calling `progress` meanwhile.
///
/// A peer that has left the last barrier closes its port, perhaps while this rank still makes progress in it. So a
/// closed peer is no failure of a meeting in which everybody arrived; before the last one, the next operation tells.
fn meet(rank: &Rank, progress: &mut dyn FnMut() -> Result<(), LinkError>) -> Result<(), LinkError> {
    let mut failed = None;
    rank.barrier(&mut || {
        if failed.is_none() {
            failed = progress().err();
        }
    })?;
    match failed {
        None | Some(LinkError::Closed) => Ok(()),
        Some(error) => Err(error),
    }
}

/// How the phases went.
#[derive(Default)]
struct Went {
    warmup_operations: u64,
    first_operation_ticks: Option<u64>,
    /// Ticks that one operation takes, from the quickest round of the warm-up: a round may be preempted.
    op_ticks: f64,
    elapsed_ticks: u64,
}

impl Went {
    fn through(
        &mut self,
        rank: &Rank,
        meter: &mut Meter,
        body: &mut dyn Body,
    ) -> Result<StopReason, LinkError> {
        meet(rank, &mut || body.progress())?;
        let wall_ticks = phase(rank, body, Phase::First, 1)?;
        self.first_operation_ticks = body.first_ticks(wall_ticks);
        self.warm_up(rank, body)?;
        body.arm(meter, self.op_ticks);
        let armed = meter.arm();
        meet(rank, &mut || body.progress())?;
        meter.watch();
        let most = body.settling();
        if most > 0 {
            let op_ns = (self.op_ticks * rank.timebase.ns_per_tick()).max(1.0);
            phase(
                rank,
                body,
                Phase::Settle,
                ((SETTLE_NS / op_ns) as u64).clamp(1, most),
            )?;
        }
        body.begin(Phase::Measured)?;
        meter.start(armed);
        let measured = measure(meter, body, self.op_ticks);
        let wall_ticks = meter.stop();
        meter.counted_to_the_end(body.tally());
        let closed = measured.and_then(|()| body.close(Phase::Measured));
        meter.tally = body.tally();
        self.elapsed_ticks = body.elapsed_ticks().unwrap_or(wall_ticks);
        closed?;
        meet(rank, &mut || body.progress())?;
        Ok(meter.stop_reason())
    }

    fn warm_up(&mut self, rank: &Rank, body: &mut dyn Body) -> Result<(), LinkError> {
        let none = rank.case.warmup_iterations == 0 || rank.case.warmup_ns_max == 0;
        if none && body.starts_cold() {
            self.op_ticks = self.first_operation_ticks.unwrap_or(0) as f64;
            return Ok(());
        }
        body.begin(Phase::WarmUp)?;
        if body.leads() {
            self.lead_warm_up(rank, body)?;
        } else {
            let began = rank.timebase.clock.now();
            while !body.step(u64::MAX, true)? {}
            let wall_ticks = rank.timebase.clock.now() - began;
            self.warmup_operations = body.done();
            // The time of a single arrival is none.
            let timed = body.elapsed_ticks().filter(|ticks| *ticks > 0);
            let ticks = timed.unwrap_or(wall_ticks) as f64;
            self.op_ticks = ticks / self.warmup_operations.max(1) as f64;
        }
        body.close(Phase::WarmUp)
    }

    /// Rounds of 1, 2, 4 .. operations, of [`ROUND_NS`] or one operation at most, until the warm-up's count or time is reached.
    fn lead_warm_up(&mut self, rank: &Rank, body: &mut dyn Body) -> Result<(), LinkError> {
        let clock = rank.timebase.clock;
        let limit_ticks = rank.timebase.to_ticks(rank.case.warmup_ns_max);
        let round_ticks = rank.timebase.to_ticks(ROUND_NS) as f64;
        let started = clock.now();
        let mut count = 1;
        loop {
            let left = rank.case.warmup_iterations.saturating_sub(self.warmup_operations);
            let last = left <= count || rank.cancel.stop_requested();
            let count_now = count.min(left).max(1);
            let before = clock.now();
            body.step(count_now, last)?;
            let now = clock.now();
            let op_ticks = (now - before) as f64 / count_now as f64;
            self.op_ticks = match self.op_ticks > 0.0 {
                true => self.op_ticks.min(op_ticks),
                false => op_ticks,
            };
            self.warmup_operations += count_now;
            if last {
                return Ok(());
            }
            if now - started >= limit_ticks {
                self.warmup_operations += 1;
                return body.step(1, true).map(drop);
            }
            count = (count * 2).min((round_ticks / op_ticks.max(1e-3)) as u64).max(1);
        }
    }
}

/// A whole phase of `count` operations; ticks of its steps.
fn phase(rank: &Rank, body: &mut dyn Body, phase: Phase, count: u64) -> Result<u64, LinkError> {
    let clock = rank.timebase.clock;
    body.begin(phase)?;
    let began = clock.now();
    while !body.step(count, true)? {}
    let ticks = clock.now() - began;
    body.close(phase)?;
    Ok(ticks)
}

/// The measured phase, in segments, until the stop condition or its leader's end. Counts are kept also when the link
/// breaks: what was done was measured.
fn measure(meter: &mut Meter, body: &mut dyn Body, op_ticks: f64) -> Result<(), LinkError> {
    let mut op_ticks = op_ticks;
    loop {
        let batch_ops = body.series().map_or(1, |series| series.batch_ops);
        let (count, last) = meter.next_segment(body.done(), op_ticks, batch_ops);
        let step = body.step(count, last);
        meter.tally = body.tally();
        if step? {
            return Ok(());
        }
        meter.between_segments(body.series());
        op_ticks = meter.elapsed_ticks() as f64 / body.done().max(1) as f64;
    }
}
