//! Tests on put, get and atomics: picks the loop for role, operation and checking once, runs its phases, gives the
//! outcome. The phases are those of [`super::messages`]; a source ends each by a word in the target's memory.

use super::attached::Attached;
use super::meter::{Meter, batch_for};
use super::operation::{
    Any, Atomic, Get, Operation, PutBcopy, PutShort, PutZcopy, is_marked, prepare_for_gets,
};
use super::payload::Checks;
use super::phases::{self, Prelude};
use super::pingpong::SETTLE_ROUND_TRIPS;
use super::rank::{Finished, Rank};
use super::region::{Layout, PHASES, end_phase};
use super::rma_loops::{
    AddArrival, AnyArrival, Arrival, PutArrival, Train, Volley, hot_return, hot_serve, hot_train, hot_volley,
};
use crate::measure::MeasureError;
use crate::transport::bootstrap::Bootstrap;
use crate::transport::port::{Facts, LinkError, OneSidedPort};
use crate::transport::registry::Report;
use crate::transport::{Needs, OneSided, OneSidedRunner};
use core::sync::atomic::Ordering;
use wirespeed_schema::case::{Case, Role};
use wirespeed_schema::outcome::{Count, Outcome, SampleKind, StopReason};
use wirespeed_schema::test::{Layout as DataLayout, PingPong, Rma, Test};

const FIRST: usize = 0;
const WARMUP: usize = 1;
const SETTLE: usize = 2;
const MEASURED: usize = PHASES - 1;

/// Run a test on put, get and atomics as one rank of the group.
pub fn one_sided<T: OneSided>(
    case: &Case,
    bootstrap: &dyn Bootstrap,
    report: Report,
) -> Result<Outcome, MeasureError> {
    let options = T::parse(&case.options).map_err(|e| MeasureError::Usage(e.to_string()))?;
    let rank = Rank::begin(case, bootstrap)?;
    let layout = Layout::new(case.test.size_bytes() as usize, case.test.window(), case.check);
    let needs = Needs {
        buffer_bytes: layout.data_bytes().max(64),
        region_bytes: layout.region_bytes(),
        fetch_slots: usize::try_from(case.test.window()).unwrap_or(usize::MAX),
        message_bytes: layout.size.max(64),
        window_msgs: case.test.window(),
        ..Needs::default()
    };
    let (finished, facts) = T::open(
        &rank.connect(needs),
        &options,
        Run {
            rank: &rank,
            layout,
            report,
        },
    )??;
    Ok(rank.finish(finished, facts))
}

struct Run<'a, 'r> {
    rank: &'a Rank<'a>,
    layout: Layout,
    report: Report<'r>,
}

impl OneSidedRunner for Run<'_, '_> {
    type Output = Result<(Finished, Facts), MeasureError>;

    fn run<P: OneSidedPort>(self, port: P) -> Self::Output {
        self.rank.connected();
        let mut link = Attached::new(port, self.rank.waiter());
        // A slow port's loops have the branch on checking in them, others are compiled with and without.
        let finished = match P::SLOW || self.rank.case.check {
            true => self.with::<P, true>(&mut link),
            false => self.with::<P, false>(&mut link),
        }?;
        Ok((finished, link.port.facts()))
    }
}

impl Run<'_, '_> {
    fn with<P: OneSidedPort, const CHECK: bool>(
        self,
        link: &mut Attached<P>,
    ) -> Result<Finished, MeasureError> {
        let layout = self.layout;
        let test = &self.rank.case.test;
        let operation = chosen::<P, CHECK>(test, layout, Checks::new(self.rank.case.check))?;
        let is_volley = matches!(test, Test::PutLat(_) | Test::AddLat(_));
        if P::SLOW {
            return Ok(match (is_volley, &operation) {
                (false, _) => self.train::<P, _, CHECK>(link, operation),
                (true, Any::Add(add)) => {
                    let arrival = AnyArrival::Add(AddArrival(add.width()));
                    self.volley::<P, _, _, CHECK>(link, operation, arrival)
                }
                (true, _) => {
                    let arrival = AnyArrival::Put(PutArrival(layout));
                    self.volley::<P, _, _, CHECK>(link, operation, arrival)
                }
            });
        }
        let puts = PutArrival(layout);
        Ok(match (is_volley, operation) {
            (true, Any::PutShort(put)) => self.volley::<P, _, _, CHECK>(link, put, puts),
            (true, Any::PutBcopy(put)) => self.volley::<P, _, _, CHECK>(link, put, puts),
            (true, Any::PutZcopy(put)) if P::ZCOPY => self.volley::<P, _, _, CHECK>(link, put, puts),
            (true, Any::Add(add)) => {
                let arrival = AddArrival(add.width());
                self.volley::<P, _, _, CHECK>(link, add, arrival)
            }
            (_, Any::PutShort(put)) => self.train::<P, _, CHECK>(link, put),
            (_, Any::PutBcopy(put)) => self.train::<P, _, CHECK>(link, put),
            (_, Any::PutZcopy(put)) if P::ZCOPY => self.train::<P, _, CHECK>(link, put),
            (_, Any::GetBcopy(get)) => self.train::<P, _, CHECK>(link, get),
            (_, Any::GetZcopy(get)) if P::ZCOPY => self.train::<P, _, CHECK>(link, get),
            (_, Any::Add(atomic)) => self.train::<P, _, CHECK>(link, atomic),
            (_, Any::Fadd(atomic)) => self.train::<P, _, CHECK>(link, atomic),
            (_, Any::Swap(atomic)) => self.train::<P, _, CHECK>(link, atomic),
            (_, Any::Cswap(atomic)) => self.train::<P, _, CHECK>(link, atomic),
            (_, Any::PutZcopy(_) | Any::GetZcopy(_)) => return Err(no_zcopy()),
        })
    }

    fn volley<P: OneSidedPort, O: Operation, A: Arrival, const CHECK: bool>(
        self,
        link: &mut Attached<P>,
        operation: O,
        arrival: A,
    ) -> Finished {
        let Run { rank, layout, report } = self;
        let meter = Meter::new(rank.case, rank.spec.cpu, &rank.timebase, &rank.cancel, report);
        let volley = Volley {
            operation,
            arrival,
            next: 0,
            wrong: 0,
            checks: Checks::new(rank.case.check),
            scratch: vec![0; layout.size],
        };
        match rank.spec.role {
            Role::Source => volley_source::<P, O, A, CHECK>(rank, link, meter, layout, volley),
            Role::Sink => volley_sink::<P, O, A, CHECK>(rank, link, meter, layout, volley),
            _ => idle(rank, link, meter),
        }
    }

    fn train<P: OneSidedPort, O: Operation, const CHECK: bool>(
        self,
        link: &mut Attached<P>,
        operation: O,
    ) -> Finished {
        let Run { rank, layout, report } = self;
        let meter = Meter::new(rank.case, rank.spec.cpu, &rank.timebase, &rank.cancel, report);
        // In a loopback the source is its own target.
        if rank.spec.role == Role::Sink || rank.case.ranks.len() == 1 {
            expose(rank, link, layout);
        }
        match rank.spec.role {
            Role::Source => train_source::<P, O, CHECK>(rank, link, meter, layout, operation),
            Role::Sink => train_sink::<P, CHECK>(rank, link, meter, layout),
            _ => idle(rank, link, meter),
        }
    }
}

/// The operation of `test`.
fn chosen<P: OneSidedPort, const CHECK: bool>(
    test: &Test,
    layout: Layout,
    checks: Checks<CHECK>,
) -> Result<Any<CHECK>, MeasureError> {
    Ok(match test {
        Test::PutLat(PingPong { layout: data, .. }) | Test::PutBw(Rma { layout: data, .. }) => match data {
            DataLayout::Short => Any::PutShort(PutShort::new(layout, checks)),
            DataLayout::Bcopy => Any::PutBcopy(PutBcopy::new(layout, checks)),
            DataLayout::Zcopy if P::ZCOPY => Any::PutZcopy(PutZcopy::new(layout, checks)),
            DataLayout::Zcopy => return Err(no_zcopy()),
            DataLayout::Shortiov => return Err(no_shortiov()),
        },
        Test::Get(Rma { layout: data, .. }) | Test::GetBw(Rma { layout: data, .. }) => match data {
            DataLayout::Zcopy if P::ZCOPY => Any::GetZcopy(Get::new(layout)),
            DataLayout::Zcopy => return Err(no_zcopy()),
            _ => Any::GetBcopy(Get::new(layout)),
        },
        Test::AddLat(p) => Any::Add(Atomic::new(p.size_bytes, 1)),
        Test::AddMr(p) => Any::Add(Atomic::new(p.size_bytes, 1)),
        Test::Fadd(p) => Any::Fadd(Atomic::new(p.size_bytes, p.outstanding_ops)),
        Test::Swap(p) => Any::Swap(Atomic::new(p.size_bytes, p.outstanding_ops)),
        Test::Cswap(p) => Any::Cswap(Atomic::new(p.size_bytes, p.outstanding_ops)),
        test => {
            return Err(MeasureError::Usage(format!(
                "{} is not a one-sided test",
                test.name()
            )));
        }
    })
}

fn no_shortiov() -> MeasureError {
    MeasureError::Unsupported("only messages have the layout shortiov".to_owned())
}

fn no_zcopy() -> MeasureError {
    MeasureError::Unsupported("this port has no zcopy".to_owned())
}

/// Meet the other ranks, serving them meanwhile.
fn meet<P: OneSidedPort>(rank: &Rank, link: &mut Attached<P>) -> Result<(), LinkError> {
    phases::meet(rank, || link.port.poll())
}

fn idle<P: OneSidedPort>(rank: &Rank, link: &mut Attached<P>, meter: Meter) -> Finished {
    let end = (0..3)
        .try_for_each(|_| meet(rank, link))
        .map(|()| StopReason::Completed);
    Prelude::default().finished(end, 0, meter.finish(Vec::new()))
}

fn count(operations: u64, size: usize) -> Count {
    Count {
        messages: operations,
        bytes: operations.saturating_mul(size as u64),
    }
}

fn volley_source<P: OneSidedPort, O: Operation, A: Arrival, const CHECK: bool>(
    rank: &Rank,
    link: &mut Attached<P>,
    mut meter: Meter,
    layout: Layout,
    mut volley: Volley<O, A, CHECK>,
) -> Finished {
    let clock = meter.clock;
    let mut prelude = Prelude::default();
    let mut series = meter.series(SampleKind::RoundTrip);
    let mut elapsed_ticks = 0;
    let mut run = || -> Result<StopReason, LinkError> {
        let mut ignored = meter.series(SampleKind::RoundTrip);
        meet(rank, link)?;
        let before = clock.now();
        hot_volley(link, &mut volley, &mut ignored, clock, 1, Some((layout, FIRST)))?;
        prelude.first_operation_ticks = Some(clock.now() - before);
        prelude.warm_up(rank, |count, last| {
            hot_volley(
                link,
                &mut volley,
                &mut ignored,
                clock,
                count,
                last.then_some((layout, WARMUP)),
            )
        })?;
        series.batch_ops = batch_for(prelude.op_ticks, &rank.timebase);
        let armed = meter.arm();
        meet(rank, link)?;
        hot_volley(
            link,
            &mut volley,
            &mut ignored,
            clock,
            SETTLE_ROUND_TRIPS,
            Some((layout, SETTLE)),
        )?;
        let (first, mut op_ticks) = (volley.next, prelude.op_ticks);
        meter.start(armed);
        let result = loop {
            let done = volley.next - first;
            let (segment, last) = meter.next_segment(done, op_ticks, series.batch_ops);
            let ends = last.then_some((layout, MEASURED));
            let result = hot_volley(link, &mut volley, &mut series, clock, segment, ends);
            let done = volley.next - first;
            meter.tally.sent = count(done, layout.size);
            meter.tally.received = count(done, layout.size);
            meter.tally.faults.corrupt_messages = volley.wrong;
            if result.is_err() || last {
                break result;
            }
            meter.between_segments(Some(&mut series));
            op_ticks = meter.elapsed_ticks() as f64 / done.max(1) as f64;
        };
        elapsed_ticks = meter.stop();
        result?;
        link.drain()?;
        meet(rank, link)?;
        Ok(meter.stop_reason())
    };
    let end = run();
    prelude.finished(end, elapsed_ticks, meter.finish(vec![series]))
}

fn volley_sink<P: OneSidedPort, O: Operation, A: Arrival, const CHECK: bool>(
    rank: &Rank,
    link: &mut Attached<P>,
    mut meter: Meter,
    layout: Layout,
    mut volley: Volley<O, A, CHECK>,
) -> Finished {
    let mut prelude = Prelude::default();
    let mut elapsed_ticks = 0;
    let mut run = || -> Result<StopReason, LinkError> {
        meet(rank, link)?;
        hot_return(link, &mut volley, layout, FIRST)?;
        hot_return(link, &mut volley, layout, WARMUP)?;
        prelude.warmup_operations = volley.next - 1;
        link.drain()?;
        let armed = meter.arm();
        meet(rank, link)?;
        hot_return(link, &mut volley, layout, SETTLE)?;
        let first = volley.next;
        meter.start(armed);
        let result = hot_return(link, &mut volley, layout, MEASURED);
        elapsed_ticks = meter.stop();
        meter.tally.sent = count(volley.next - first, layout.size);
        meter.tally.received = meter.tally.sent;
        meter.tally.faults.corrupt_messages = volley.wrong;
        result?;
        link.drain()?;
        meet(rank, link)?;
        Ok(meter.stop_reason())
    };
    let end = run();
    prelude.finished(end, elapsed_ticks, meter.finish(Vec::new()))
}

fn train_source<P: OneSidedPort, O: Operation, const CHECK: bool>(
    rank: &Rank,
    link: &mut Attached<P>,
    mut meter: Meter,
    layout: Layout,
    operation: O,
) -> Finished {
    let clock = meter.clock;
    let asked = rank.case.test.window();
    let checks = Checks::<CHECK>::new(rank.case.check);
    let outstanding = if checks.on() {
        asked.min(layout.slots as u64)
    } else {
        asked
    };
    let main_kind = match operation.counted() && outstanding == 1 {
        true => SampleKind::Completion,
        false => SampleKind::SendInterval,
    };
    let mut prelude = Prelude::default();
    let (intervals, completions) = (meter.series(main_kind), meter.series(SampleKind::Completion));
    let mut train = Train::new(operation, (outstanding, checks), intervals, completions);
    let mut elapsed_ticks = 0;
    let mut run = |train: &mut Train<O, CHECK>| -> Result<StopReason, LinkError> {
        meet(rank, link)?;
        let before = clock.now();
        hot_train(link, train, clock, (1, true))?;
        prelude.first_operation_ticks = Some(clock.now() - before);
        end_phase(link, layout, FIRST, train.next)?;
        prelude.warm_up(rank, |count, last| hot_train(link, train, clock, (count, last)))?;
        end_phase(link, layout, WARMUP, train.next)?;
        link.drain()?;
        let armed = meter.arm();
        meet(rank, link)?;
        hot_train(link, train, clock, (1, true))?;
        end_phase(link, layout, SETTLE, train.next)?;
        link.drain()?;
        (train.intervals, train.completions) =
            (meter.series(main_kind), meter.series(SampleKind::Completion));
        train.intervals.batch_ops = batch_for(prelude.op_ticks, &rank.timebase);
        let (first, mut op_ticks) = (train.next, prelude.op_ticks);
        meter.start(armed);
        let result = loop {
            let done = train.next - first;
            let (segment, last) = meter.next_segment(done, op_ticks, train.intervals.batch_ops);
            // Where operations complete at once, nothing else would notice that the run was cancelled.
            let result = hot_train(link, train, clock, (segment, last)).and_then(|()| link.look());
            let done = train.next - first;
            meter.tally.sent = count(done, layout.size);
            meter.tally.faults.corrupt_messages = train.wrong;
            if result.is_err() || last {
                break result;
            }
            meter.between_segments(Some(&mut train.intervals));
            op_ticks = meter.elapsed_ticks() as f64 / done.max(1) as f64;
        };
        elapsed_ticks = meter.stop();
        result?;
        end_phase(link, layout, MEASURED, train.next)?;
        link.drain()?;
        meet(rank, link)?;
        Ok(meter.stop_reason())
    };
    let end = run(&mut train);
    prelude.finished(
        end,
        elapsed_ticks,
        meter.finish(vec![train.intervals, train.completions]),
    )
}

/// What a target has ready before anybody comes.
fn expose<P: OneSidedPort>(rank: &Rank, link: &Attached<P>, layout: Layout) {
    if matches!(rank.case.test, Test::Get(_) | Test::GetBw(_)) {
        prepare_for_gets(layout, link.port.region());
    }
}

fn train_sink<P: OneSidedPort, const CHECK: bool>(
    rank: &Rank,
    link: &mut Attached<P>,
    mut meter: Meter,
    layout: Layout,
) -> Finished {
    let mut prelude = Prelude::default();
    let mut elapsed_ticks = 0;
    let mut run = || -> Result<StopReason, LinkError> {
        meet(rank, link)?;
        hot_serve(link, layout, FIRST)?;
        prelude.warmup_operations = hot_serve(link, layout, WARMUP)?.saturating_sub(1);
        link.drain()?;
        let armed = meter.arm();
        meet(rank, link)?;
        let first = hot_serve(link, layout, SETTLE)?;
        meter.start(armed);
        let result = hot_serve(link, layout, MEASURED);
        elapsed_ticks = meter.stop();
        let operations = result?;
        meter.tally.received = count(operations.saturating_sub(first), layout.size);
        if Checks::<CHECK>::new(rank.case.check).on() {
            meter.tally.faults.corrupt_messages =
                wrong_places(&rank.case.test, layout, &link.port, operations);
        }
        meet(rank, link)?;
        Ok(meter.stop_reason())
    };
    let end = run();
    prelude.finished(end, elapsed_ticks, meter.finish(Vec::new()))
}

/// Places of the target's region that do not hold what `operations` operations must have left there.
fn wrong_places<P: OneSidedPort>(test: &Test, layout: Layout, port: &P, operations: u64) -> u64 {
    let region = port.region();
    match test {
        Test::PutBw(_) => {
            let mut data = vec![0; layout.size];
            let oldest = operations.saturating_sub(layout.slots as u64);
            let wrong = (oldest..operations).filter(|&number| {
                region.read(layout.slot(number), &mut data);
                !is_marked(number, &data)
            });
            wrong.count() as u64
        }
        Test::AddMr(p) | Test::Fadd(p) | Test::Swap(p) | Test::Cswap(p) => {
            let right = if p.size_bytes == 4 {
                region.u32_at(0).load(Ordering::Acquire) == operations as u32
            } else {
                region.u64_at(0).load(Ordering::Acquire) == operations
            };
            u64::from(!right)
        }
        _ => 0,
    }
}
