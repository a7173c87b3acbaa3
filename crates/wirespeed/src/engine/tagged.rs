//! Tests on matched messages: picks the loop for role and checking once, runs its phases, gives the outcome. The phases
//! are those of [`super::messages`]; a source announces each segment to its sink.

use super::meter::Meter;
use super::payload::Checks;
use super::phases::{self, Prelude};
use super::pingpong::SETTLE_ROUND_TRIPS;
use super::rank::{Finished, Rank};
use super::tagged_loops::{EXTRA_REQUESTS, Matched, Pattern, Places, RoundTrips, Windows};
use crate::measure::MeasureError;
use crate::transport::bootstrap::Bootstrap;
use crate::transport::port::{Facts, LinkError, TaggedPort};
use crate::transport::registry::Report;
use crate::transport::{Needs, Tagged, TaggedRunner};
use wirespeed_schema::case::{Case, Role};
use wirespeed_schema::outcome::{Outcome, StopReason};
use wirespeed_schema::test::Test;

/// Most messages of a window: each is a request that the port keeps.
const WINDOW_MAX: u64 = 1 << 20;

/// Run a test on tagged messages as one rank of the group.
pub fn tagged<T: Tagged>(
    case: &Case,
    bootstrap: &dyn Bootstrap,
    report: Report,
) -> Result<Outcome, MeasureError> {
    if case.test.is_posted() {
        return super::posted::posted::<T>(case, bootstrap, report);
    }
    let options = T::parse(&case.options).map_err(|e| MeasureError::Usage(e.to_string()))?;
    if case.test.window() > WINDOW_MAX {
        return Err(MeasureError::Usage(format!(
            "{} takes windows of at most {WINDOW_MAX} messages",
            case.test.name()
        )));
    }
    let size = case.test.size_bytes() as usize;
    let places = Places::new(size, case.test.window(), case.check);
    let rank = Rank::begin(case, bootstrap)?;
    if rank.is_own_peer() {
        return Err(MeasureError::Usage(format!(
            "{} needs two ranks: a rank cannot wait for its own answer",
            case.test.name()
        )));
    }
    let needs = Needs {
        message_bytes: size,
        window_msgs: case.test.window(),
        buffer_bytes: places.bytes(),
        requests_max: case.test.window() as usize + EXTRA_REQUESTS,
        ..Needs::default()
    };
    let run = Run {
        rank: &rank,
        places,
        report,
    };
    let (finished, facts) = T::open(&rank.connect(needs), &options, run)??;
    Ok(rank.finish(finished, facts))
}

struct Run<'a, 'r> {
    rank: &'a Rank<'a>,
    places: Places,
    report: Report<'r>,
}

impl TaggedRunner for Run<'_, '_> {
    type Output = Result<(Finished, Facts), MeasureError>;

    fn run<P: TaggedPort>(self, port: P) -> Self::Output {
        self.rank.connected();
        match (&self.rank.case.test, P::SLOW || self.rank.case.check) {
            (Test::TagLat(_), false) => self.with::<P, RoundTrips, false>(port),
            (Test::TagLat(_), true) => self.with::<P, RoundTrips, true>(port),
            (Test::TagBw(_), false) => self.with::<P, Windows, false>(port),
            (Test::TagBw(_), true) => self.with::<P, Windows, true>(port),
            (test, _) => Err(MeasureError::Usage(format!(
                "{} is not a test on tagged messages",
                test.name()
            ))),
        }
    }
}

impl Run<'_, '_> {
    fn with<P: TaggedPort, T: Pattern, const CHECK: bool>(
        self,
        port: P,
    ) -> Result<(Finished, Facts), MeasureError> {
        let Run { rank, places, report } = self;
        let meter = Meter::new(rank.case, rank.spec.cpu, &rank.timebase, &rank.cancel, report);
        let mut link = Matched::new(port, rank.waiter(), places, Checks::<CHECK>::new(rank.case.check));
        let finished = match rank.spec.role {
            Role::Source => source::<P, T, CHECK>(rank, &mut link, meter),
            Role::Sink => sink::<P, T, CHECK>(rank, &mut link, meter),
            Role::Idle => idle(rank, &mut link, meter),
            role => {
                let name = rank.case.test.name();
                return Err(MeasureError::Usage(format!("{name} has no role {role:?}")));
            }
        };
        Ok((finished, link.port.facts()))
    }
}

fn meet<P: TaggedPort, const CHECK: bool>(
    rank: &Rank,
    link: &mut Matched<P, CHECK>,
) -> Result<(), LinkError> {
    phases::meet(rank, || link.port.flush().map(drop))
}

fn idle<P: TaggedPort, const CHECK: bool>(
    rank: &Rank,
    link: &mut Matched<P, CHECK>,
    meter: Meter,
) -> Finished {
    let end = (0..3)
        .try_for_each(|_| meet(rank, link))
        .map(|()| StopReason::Completed);
    Prelude::default().finished(end, 0, meter.finish(Vec::new()))
}

fn source<P: TaggedPort, T: Pattern, const CHECK: bool>(
    rank: &Rank,
    link: &mut Matched<P, CHECK>,
    mut meter: Meter,
) -> Finished {
    let clock = meter.clock;
    let mut prelude = Prelude::default();
    let mut series = T::sent(&meter);
    let mut elapsed_ticks = 0;
    let mut run = || -> Result<StopReason, LinkError> {
        let mut ignored = T::sent(&meter);
        let mut segment = |link: &mut Matched<P, CHECK>, count, last| {
            link.announce(count, last)?;
            T::source(link, &mut ignored, clock, count)
        };
        meet(rank, link)?;
        let before = clock.now();
        segment(link, 1, true)?;
        prelude.first_operation_ticks = Some(clock.now() - before);
        prelude.warm_up(rank, |count, last| segment(link, count, last))?;
        let armed = meter.arm();
        meet(rank, link)?;
        segment(link, SETTLE_ROUND_TRIPS, true)?;
        series.batch_ops = T::batch(prelude.op_ticks, rank.case.test.window(), &rank.timebase);
        let mut op_ticks = prelude.op_ticks;
        link.tally = Default::default();
        meter.start(armed);
        let result = loop {
            let done = link.tally.sent.messages;
            let (count, last) = meter.next_segment(done, op_ticks, series.batch_ops);
            if let Err(error) = link.announce(count, last) {
                break Err(error);
            }
            // The time of announcements is not the messages'.
            let before = clock.now();
            let result = T::source(link, &mut series, clock, count);
            elapsed_ticks += clock.now() - before;
            meter.tally = link.tally;
            if result.is_err() || last {
                break result;
            }
            meter.between_segments(Some(&mut series));
            op_ticks = elapsed_ticks as f64 / meter.tally.sent.messages.max(1) as f64;
        };
        meter.stop();
        result?;
        link.drain()?;
        meet(rank, link)?;
        Ok(meter.stop_reason())
    };
    let end = run();
    prelude.finished(end, elapsed_ticks, meter.finish(vec![series]))
}

fn sink<P: TaggedPort, T: Pattern, const CHECK: bool>(
    rank: &Rank,
    link: &mut Matched<P, CHECK>,
    mut meter: Meter,
) -> Finished {
    let clock = meter.clock;
    let mut prelude = Prelude::default();
    let mut series = T::received(&meter);
    let mut elapsed_ticks = 0;
    let mut run = || -> Result<StopReason, LinkError> {
        let mut ignored = T::received(&meter);
        let mut phase = |link: &mut Matched<P, CHECK>| -> Result<(), LinkError> {
            link.tally = Default::default();
            loop {
                let (count, last) = link.announced()?;
                T::sink(link, ignored.as_mut(), clock, count)?;
                if last {
                    return link.drain();
                }
            }
        };
        meet(rank, link)?;
        phase(link)?;
        let before = clock.now();
        phase(link)?;
        prelude.warmup_operations = link.tally.received.messages;
        prelude.op_ticks = (clock.now() - before) as f64 / prelude.warmup_operations.max(1) as f64;
        let armed = meter.arm();
        meet(rank, link)?;
        phase(link)?;
        if let Some(series) = &mut series {
            series.batch_ops = T::batch(prelude.op_ticks, rank.case.test.window(), &rank.timebase);
        }
        link.tally = Default::default();
        meter.start(armed);
        let result = loop {
            let (count, last) = match link.announced() {
                Ok(segment) => segment,
                Err(error) => break Err(error),
            };
            let before = clock.now();
            let result = T::sink(link, series.as_mut(), clock, count);
            elapsed_ticks += clock.now() - before;
            meter.tally = link.tally;
            if result.is_err() || last {
                break result;
            }
            meter.between_segments(series.as_mut());
        };
        meter.stop();
        result?;
        link.drain()?;
        meet(rank, link)?;
        Ok(meter.stop_reason())
    };
    let end = run();
    prelude.finished(end, elapsed_ticks, meter.finish(series.into_iter().collect()))
}
