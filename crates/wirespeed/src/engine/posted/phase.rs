//! The phases of a posted test: the first iteration, warm-up, the measured phase. The root of the tree decides how many
//! iterations a round has; everybody follows.

use super::super::meter::{Meter, Series};
use super::super::phases::{self, Prelude};
use super::super::rank::{Finished, Rank};
use super::group::Group;
use crate::clock::Clock;
use crate::transport::port::{LinkError, TaggedPort};
use wirespeed_schema::outcome::{SampleKind, StopReason};

/// First round of the warm-up; rounds double.
const WARMUP_FIRST_ROUND: u64 = 16;

/// A test as one rank takes part in it.
pub trait Body<P: TaggedPort> {
    /// Every iteration begins with a meeting of all ranks.
    fn in_step(&self) -> bool;

    /// Before the first round of a phase; ticks that belong to the measured time.
    fn begin(&mut self, group: &mut Group<P>, clock: Clock) -> Result<u64, LinkError>;

    /// Before the meeting of every round: memory and caches.
    fn prepare(&mut self, group: &mut Group<P>, round: u64);

    /// `count` iterations; ticks that they took. `last`: they end the phase.
    fn round(
        &mut self,
        group: &mut Group<P>,
        series: &mut Series,
        clock: Clock,
        part: (u64, bool),
    ) -> Result<u64, LinkError>;

    /// After every round: counts, and the check of what arrived.
    fn settle(&mut self, group: &mut Group<P>, round: u64, count: u64);

    /// Iterations that a sample covers, when one takes `op_ticks`.
    fn batch(&self, rank: &Rank, op_ticks: f64) -> u64;
}

/// How long a phase lasts.
enum Length<'p, 'm> {
    /// One iteration.
    Once,
    /// The case's warm-up, which began so many ticks ago.
    WarmUp { began: u64, round: u64 },
    /// The case's stop condition.
    Measured(&'p mut Meter<'m>),
}

/// What went through in a phase.
#[derive(Default)]
struct Passed {
    iterations: u64,
    ticks: u64,
    began: u64,
}

impl Length<'_, '_> {
    /// Iterations of the next round, and whether they are the last.
    fn decide(&mut self, rank: &Rank, passed: &Passed, in_step: bool, batch: u64) -> (u64, bool) {
        let clock = rank.timebase.clock;
        let done = passed.iterations;
        match self {
            Length::Once => (1, true),
            Length::WarmUp { began, round } => {
                let left = rank.case.warmup_iterations.saturating_sub(done).max(1);
                let over = clock.now() - *began >= rank.timebase.to_ticks(rank.case.warmup_ns_max);
                if over || rank.cancel.stop_requested() {
                    return (1, true);
                }
                let count = if in_step { 1 } else { (*round).min(left) };
                *round = round.saturating_mul(2);
                (count, count == left)
            }
            Length::Measured(meter) => {
                // What passes between iterations counts for the end of a run, not for its samples.
                let wall_ticks = (clock.now() - passed.began) as f64 / done.max(1) as f64;
                let op_ticks = if done == 0 { 1.0 } else { wall_ticks };
                match meter.next_segment(done, op_ticks, batch) {
                    (count, _) if done == 0 && count > batch => (batch, false),
                    (count, _) if in_step && count > 1 => (1, false),
                    other => other,
                }
            }
        }
    }
}

/// The series of a phase.
struct Samples {
    /// Of this rank.
    own: Series,
    /// At the root, where every iteration begins with a meeting: the slowest rank of each iteration.
    group: Option<Series>,
}

/// One phase: rounds until the root says that one is the last.
fn phase<P: TaggedPort>(
    rank: &Rank,
    group: &mut Group<P>,
    body: &mut dyn Body<P>,
    samples: &mut Samples,
    mut length: Length,
    rounds: &mut u64,
) -> Result<Passed, (Passed, LinkError)> {
    let clock = rank.timebase.clock;
    let mut passed = Passed::default();
    let mut run = |passed: &mut Passed| -> Result<(), LinkError> {
        passed.ticks += body.begin(group, clock)?;
        passed.began = clock.now();
        let mut ticks = 0;
        let note = |series: &mut Option<Series>, longest_ns: u64| {
            if let Some(series) = series {
                series.record(rank.timebase.to_ticks(longest_ns));
            }
        };
        loop {
            body.prepare(group, *rounds);
            let (in_step, batch) = (body.in_step(), samples.own.batch_ops);
            let part = group.agree(rank.timebase.to_ns(ticks), &mut |longest_ns| {
                if passed.iterations > 0 {
                    note(&mut samples.group, longest_ns);
                }
                length.decide(rank, passed, in_step, batch)
            })?;
            let result = body.round(group, &mut samples.own, clock, part);
            ticks = *result.as_ref().unwrap_or(&0);
            passed.ticks += ticks;
            result?;
            passed.iterations += part.0;
            body.settle(group, *rounds, part.0);
            *rounds += 1;
            if let Length::Measured(meter) = &mut length {
                meter.tally = group.tally;
                meter.between_segments(Some(&mut samples.own));
            }
            if part.1 {
                let longest_ns = group.gather(rank.timebase.to_ns(ticks))?;
                note(&mut samples.group, longest_ns);
                return group.drain();
            }
        }
    };
    match run(&mut passed) {
        Ok(()) => Ok(passed),
        Err(error) => Err((passed, error)),
    }
}

/// A rank that takes no part.
pub fn idle<P: TaggedPort>(rank: &Rank, group: &mut Group<P>, meter: Meter) -> Finished {
    let end = (0..3)
        .try_for_each(|_| phases::meet(rank, || group.port.flush().map(drop)))
        .map(|()| StopReason::Completed);
    Prelude::default().finished(end, 0, meter.finish(Vec::new()))
}

/// Take a rank through all phases, with samples of `kind`. Compiled once a port: a body's loops are behind one call a
/// round, outside of every sample.
pub fn phases<P: TaggedPort>(
    rank: &Rank,
    group: &mut Group<P>,
    body: &mut dyn Body<P>,
    mut meter: Meter,
    kind: SampleKind,
) -> Finished {
    let slowest = group.is_root() && body.in_step() && kind == SampleKind::Iteration;
    let new_samples = |meter: &Meter| Samples {
        own: meter.series(kind),
        group: slowest.then(|| meter.series(SampleKind::SlowestIteration)),
    };
    let (mut samples, mut ignored) = (new_samples(&meter), new_samples(&meter));
    let mut prelude = Prelude::default();
    let mut elapsed_ticks = 0;
    let mut rounds = 0;
    let mut run = || -> Result<StopReason, LinkError> {
        phases::meet(rank, || group.port.flush().map(drop))?;
        let first = phase(rank, group, body, &mut ignored, Length::Once, &mut rounds).map_err(|e| e.1)?;
        prelude.first_operation_ticks = Some(first.ticks);
        prelude.op_ticks = first.ticks as f64;
        if rank.case.warmup_iterations > 0 && rank.case.warmup_ns_max > 0 {
            let length = Length::WarmUp {
                began: meter.clock.now(),
                round: WARMUP_FIRST_ROUND,
            };
            let warm = phase(rank, group, body, &mut ignored, length, &mut rounds).map_err(|e| e.1)?;
            prelude.warmup_operations = warm.iterations;
            prelude.op_ticks = warm.ticks as f64 / warm.iterations.max(1) as f64;
        }
        samples.own.batch_ops = body.batch(rank, prelude.op_ticks);
        let armed = meter.arm();
        phases::meet(rank, || group.port.flush().map(drop))?;
        group.tally = Default::default();
        meter.start(armed);
        let length = Length::Measured(&mut meter);
        let result = phase(rank, group, body, &mut samples, length, &mut rounds);
        meter.stop();
        let passed = result.map_err(|(passed, error)| {
            elapsed_ticks = passed.ticks;
            error
        })?;
        elapsed_ticks = passed.ticks;
        phases::meet(rank, || group.port.flush().map(drop))?;
        Ok(meter.stop_reason())
    };
    let end = run();
    prelude.finished(
        end,
        elapsed_ticks,
        meter.finish(std::iter::once(samples.own).chain(samples.group).collect()),
    )
}
