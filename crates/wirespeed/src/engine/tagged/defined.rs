//! The loops of well-known MPI benchmarks as their definitions have them: which call waits for which, what is
//! acknowledged, and where the clock is read. A source and a sink each run one end; the clock reads are part of the
//! definitions, so that one set of samples gives both the originals' figures and ours.

use super::super::batch::Batch;
use super::super::series::Series;
use super::group::Group;
use super::places::Places;
use crate::clock::Clock;
use crate::transport::port::{LinkError, TaggedPort};
use wirespeed_schema::test::Test;

/// Messages of one end of a pair.
pub struct Pair {
    /// Slot of the other end.
    pub peer: usize,
    /// Messages of a window.
    pub window: usize,
    /// Where they lie.
    pub places: Places,
}

impl Pair {
    #[inline(always)]
    fn post_sends<P: TaggedPort>(&self, group: &mut Group<P>) -> Result<(), LinkError> {
        for index in 0..self.window {
            group.send(self.peer, self.places.outgoing(index), self.places.size)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn post_receives<P: TaggedPort>(&self, group: &mut Group<P>) -> Result<(), LinkError> {
        for index in 0..self.window {
            group.receive(self.peer, self.places.incoming(index), self.places.size)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn send_one<P: TaggedPort>(&self, group: &mut Group<P>) -> Result<(), LinkError> {
        group.send(self.peer, self.places.outgoing(0), self.places.size)?;
        group.wait_all()
    }

    #[inline(always)]
    fn receive_one<P: TaggedPort>(&self, group: &mut Group<P>) -> Result<(), LinkError> {
        group.receive(self.peer, self.places.incoming(0), self.places.size)?;
        group.wait_all()
    }
}

/// What a benchmark's definition says of a test. Looked at once a round or once a window: its loops are compiled once a
/// port.
#[derive(Clone, Copy, Default)]
pub struct Definition {
    /// All pairs meet before each iteration.
    pub in_step: bool,
    /// Messages go both ways at once.
    pub both: bool,
    /// One message goes there and back.
    pub ping_pong: bool,
    /// The clock is read once around all iterations.
    pub around: bool,
}

impl Definition {
    /// That of `test`, if it has one.
    pub fn of(test: &Test) -> Option<Self> {
        let is_multi = matches!(test, Test::OsuMultiLat(_) | Test::OsuMbwMr(_));
        let is_imb = matches!(
            test,
            Test::ImbPingpong(_) | Test::ImbUniband(_) | Test::ImbBiband(_)
        );
        test.defined().map(|_| Definition {
            in_step: is_multi,
            both: test.is_both_ways(),
            ping_pong: test.is_round_trip(),
            around: is_imb,
        })
    }

    /// `count` iterations of one end; ticks that they took.
    pub fn run<P: TaggedPort>(
        self,
        pair: &Pair,
        group: &mut Group<P>,
        series: &mut Series,
        clock: Clock,
        (count, source): (u64, bool),
    ) -> Result<u64, LinkError> {
        match (self.ping_pong, source) {
            (true, false) => hot_pong(pair, group, clock, count),
            (true, true) => hot_ping(pair, group, series, clock, (count, self.around)),
            (false, _) => hot_windows(pair, group, series, clock, (count, self, source)),
        }
    }
}

/// Send, wait, receive, wait. The clock is read before and after each round trip; where the definition has it `around` all
/// iterations, once a batch.
#[inline(never)]
fn hot_ping<P: TaggedPort>(
    pair: &Pair,
    group: &mut Group<P>,
    series: &mut Series,
    clock: Clock,
    (count, around): (u64, bool),
) -> Result<u64, LinkError> {
    let begin = clock.now();
    let mut batch = Batch::begin(series, begin);
    let (mut start, mut total) = (begin, 0);
    for _ in 0..count {
        if !around {
            start = clock.now();
        }
        pair.send_one(group)?;
        pair.receive_one(group)?;
        if around {
            batch.one(series, clock);
        } else {
            let ticks = clock.now() - start;
            series.record(ticks);
            total += ticks;
        }
    }
    Ok(if around { clock.now() - begin } else { total })
}

/// Receive, wait, send, wait.
#[inline(never)]
fn hot_pong<P: TaggedPort>(
    pair: &Pair,
    group: &mut Group<P>,
    clock: Clock,
    count: u64,
) -> Result<u64, LinkError> {
    let start = clock.now();
    for _ in 0..count {
        pair.receive_one(group)?;
        pair.send_one(group)?;
    }
    Ok(clock.now() - start)
}

/// `count` windows. One way: sends and the wait for the acknowledgement at the source, receives and the acknowledgement
/// at the sink. Both ways: receives and sends, one wait; IMB acknowledges these too.
#[inline(never)]
fn hot_windows<P: TaggedPort>(
    pair: &Pair,
    group: &mut Group<P>,
    series: &mut Series,
    clock: Clock,
    (count, definition, source): (u64, Definition, bool),
) -> Result<u64, LinkError> {
    let Definition { both, around, .. } = definition;
    let begin = clock.now();
    let (mut start, mut total) = (begin, 0);
    for _ in 0..count {
        if !around {
            start = clock.now();
        }
        if both || !source {
            pair.post_receives(group)?;
        }
        if both || source {
            pair.post_sends(group)?;
        }
        group.wait_all()?;
        if !both || around {
            if source {
                group.acknowledged(pair.peer)?;
            } else {
                group.acknowledge(pair.peer)?;
            }
            group.wait_apart()?;
        }
        let now = clock.now();
        series.record(now - start);
        total += now - start;
        start = now;
    }
    Ok(total)
}
