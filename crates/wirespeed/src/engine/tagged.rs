//! Tests on matched messages: opens the port with the sizes that the case needs, and the two ends' bodies. A source
//! announces each segment to its sink.

use super::meter::{Meter, Series, Tally};
use super::payload::{Asked, Check, Never};
use super::phases::{Body, Left, Phase, drive, idle};
use super::pingpong::SETTLE_ROUND_TRIPS;
use super::rank::{Finished, Rank};
use super::tagged_loops::{EXTRA_REQUESTS, Matched, Pattern, Places, RoundTrips, Windows};
use crate::engine::report::Report;
use crate::error::MeasureError;
use crate::transport::bootstrap::Bootstrap;
use crate::transport::port::{LinkError, TaggedPort};
use crate::transport::{Needs, Tagged, TaggedRunner};
use std::marker::PhantomData;
use wirespeed_schema::case::{Case, Role};
use wirespeed_schema::outcome::Outcome;
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
    let finished = T::open(&rank.connect(needs), &options, run)??;
    Ok(rank.finish(finished))
}

struct Run<'a, 'r> {
    rank: &'a Rank<'a>,
    places: Places,
    report: Report<'r>,
}

impl TaggedRunner for Run<'_, '_> {
    type Output = Result<Finished, MeasureError>;

    fn run<P: TaggedPort>(self, mut port: P) -> Self::Output {
        let Run { rank, places, report } = self;
        rank.connected();
        let meter = rank.meter(report);
        if rank.spec.role == Role::Idle {
            let facts = port.facts();
            return Ok(idle(rank, meter, || port.flush().map(drop), facts));
        }
        // A slow port's loops decide about the check as they run, others are compiled with and without.
        let body = match P::SLOW || rank.case.check {
            true => picked(rank, &meter, port, places, Asked(rank.case.check)),
            false => picked(rank, &meter, port, places, Never),
        }?;
        Ok(drive(rank, meter, body))
    }
}

/// The rank's part in the case's test.
fn picked<'a, P: TaggedPort + 'a, C: Check + 'a>(
    rank: &'a Rank,
    meter: &Meter,
    port: P,
    places: Places,
    checks: C,
) -> Result<Box<dyn Body + 'a>, MeasureError> {
    let link = Matched::new(port, rank.waiter(), places, checks);
    match &rank.case.test {
        Test::TagLat(_) => body::<P, C, RoundTrips>(rank, meter, link),
        Test::TagBw(_) => body::<P, C, Windows>(rank, meter, link),
        test => Err(MeasureError::Usage(format!(
            "{} is not a test on tagged messages",
            test.name()
        ))),
    }
}

fn body<'a, P: TaggedPort + 'a, C: Check + 'a, T: Pattern + 'a>(
    rank: &'a Rank,
    meter: &Meter,
    link: Matched<P, C>,
) -> Result<Box<dyn Body + 'a>, MeasureError> {
    match rank.spec.role {
        Role::Source => Ok(Box::new(Source::<P, C, T>::new(rank, meter, link))),
        Role::Sink => Ok(Box::new(Sink::<P, C, T>::new(rank, meter, link))),
        _ => Err(rank.has_no_part()),
    }
}

/// The rank that announces segments.
struct Source<'a, P, C, T> {
    rank: &'a Rank<'a>,
    link: Matched<P, C>,
    series: Series,
    /// Time of segments; that of announcements is not the messages'.
    ticks: u64,
    pattern: PhantomData<T>,
}

impl<'a, P, C, T: Pattern> Source<'a, P, C, T> {
    fn new(rank: &'a Rank, meter: &Meter, link: Matched<P, C>) -> Self {
        Source {
            rank,
            link,
            series: T::sent(meter),
            ticks: 0,
            pattern: PhantomData,
        }
    }
}

impl<P: TaggedPort, C: Check, T: Pattern> Body for Source<'_, P, C, T> {
    fn leads(&self) -> bool {
        true
    }

    fn progress(&mut self) -> Result<(), LinkError> {
        self.link.port.flush().map(drop)
    }

    fn begin(&mut self, _: Phase) -> Result<(), LinkError> {
        (self.link.tally, self.ticks) = (Tally::default(), 0);
        self.series.clear();
        Ok(())
    }

    fn step(&mut self, count: u64, last: bool) -> Result<bool, LinkError> {
        let clock = self.rank.timebase.clock;
        self.link.announce(count, last)?;
        let began = clock.now();
        let result = T::source(&mut self.link, &mut self.series, clock, count);
        self.ticks += clock.now() - began;
        result.map(|()| last)
    }

    fn close(&mut self, _: Phase) -> Result<(), LinkError> {
        self.link.drain()
    }

    fn settling(&self, _: f64) -> u64 {
        SETTLE_ROUND_TRIPS
    }

    fn arm(&mut self, meter: &Meter, op_ticks: f64) {
        let batch = T::batch(op_ticks, self.rank.case.test.window(), meter.timebase);
        self.series = T::sent(meter).in_batches(batch);
    }

    fn done(&self) -> u64 {
        self.link.tally.sent.messages
    }

    fn tally(&self) -> Tally {
        self.link.tally
    }

    fn series(&mut self) -> Option<&mut Series> {
        Some(&mut self.series)
    }

    fn elapsed_ticks(&self) -> Option<u64> {
        Some(self.ticks)
    }

    fn finish(self: Box<Self>) -> Left {
        Left::new(vec![self.series], self.link.port.facts())
    }
}

/// The rank that waits for announcements.
struct Sink<'a, P, C, T> {
    rank: &'a Rank<'a>,
    link: Matched<P, C>,
    series: Option<Series>,
    ticks: u64,
    pattern: PhantomData<T>,
}

impl<'a, P, C, T: Pattern> Sink<'a, P, C, T> {
    fn new(rank: &'a Rank, meter: &Meter, link: Matched<P, C>) -> Self {
        Sink {
            rank,
            link,
            series: T::received(meter),
            ticks: 0,
            pattern: PhantomData,
        }
    }
}

impl<P: TaggedPort, C: Check, T: Pattern> Body for Sink<'_, P, C, T> {
    fn progress(&mut self) -> Result<(), LinkError> {
        self.link.port.flush().map(drop)
    }

    fn begin(&mut self, _: Phase) -> Result<(), LinkError> {
        (self.link.tally, self.ticks) = (Tally::default(), 0);
        self.series.iter_mut().for_each(Series::clear);
        Ok(())
    }

    fn step(&mut self, _: u64, _: bool) -> Result<bool, LinkError> {
        let clock = self.rank.timebase.clock;
        let (count, last) = self.link.announced()?;
        let began = clock.now();
        let result = T::sink(&mut self.link, self.series.as_mut(), clock, count);
        self.ticks += clock.now() - began;
        result.map(|()| last)
    }

    fn close(&mut self, _: Phase) -> Result<(), LinkError> {
        self.link.drain()
    }

    fn arm(&mut self, meter: &Meter, op_ticks: f64) {
        let batch = T::batch(op_ticks, self.rank.case.test.window(), meter.timebase);
        self.series = T::received(meter).map(|series| series.in_batches(batch));
    }

    fn done(&self) -> u64 {
        self.link.tally.received.messages
    }

    fn tally(&self) -> Tally {
        self.link.tally
    }

    fn series(&mut self) -> Option<&mut Series> {
        self.series.as_mut()
    }

    fn elapsed_ticks(&self) -> Option<u64> {
        Some(self.ticks)
    }

    fn finish(self: Box<Self>) -> Left {
        Left::new(self.series.into_iter().collect(), self.link.port.facts())
    }
}
