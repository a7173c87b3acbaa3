//! The loops of well-known MPI benchmarks as their definitions have them: which call waits for which, what is
//! acknowledged, and where the clock is read. A source and a sink each run one end; the clock reads are part of the
//! definitions, so that one set of samples gives both the originals' figures and ours.

use super::super::meter::Series;
use super::group::Group;
use super::places::Places;
use crate::clock::Clock;
use crate::transport::port::{LinkError, TaggedPort};

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

/// Both ends of a definition: `count` iterations; ticks that they took.
pub trait Ends {
    /// All pairs meet before each iteration.
    const IN_STEP: bool = false;
    /// Messages go both ways at once.
    const BOTH: bool = false;
    /// One message goes there and back.
    const PING_PONG: bool = false;
    /// The clock is read once around all iterations.
    const AROUND: bool = false;

    /// The end that sends first.
    fn source<P: TaggedPort>(
        pair: &Pair,
        group: &mut Group<P>,
        series: &mut Series,
        clock: Clock,
        count: u64,
    ) -> Result<u64, LinkError>;

    /// The end that answers.
    fn sink<P: TaggedPort>(
        pair: &Pair,
        group: &mut Group<P>,
        series: &mut Series,
        clock: Clock,
        count: u64,
    ) -> Result<u64, LinkError>;
}

/// `osu_latency`.
pub type OsuLatency = PingPong<false, false>;
/// `osu_multi_lat`.
pub type OsuMultiLat = PingPong<true, false>;
/// `imb_pingpong`.
pub type ImbPingpong = PingPong<false, true>;
/// `osu_bw`.
pub type OsuBw = Windows<false, false, false>;
/// `osu_mbw_mr`.
pub type OsuMbwMr = Windows<true, false, false>;
/// `osu_bibw`.
pub type OsuBibw = Windows<false, true, false>;
/// `imb_uniband`.
pub type ImbUniband = Windows<false, false, true>;
/// `imb_biband`.
pub type ImbBiband = Windows<false, true, true>;

/// Blocking ping-pong.
pub struct PingPong<const IN_STEP: bool, const AROUND: bool>;

impl<const IN_STEP: bool, const AROUND: bool> Ends for PingPong<IN_STEP, AROUND> {
    const IN_STEP: bool = IN_STEP;
    const PING_PONG: bool = true;
    const AROUND: bool = AROUND;

    fn source<P: TaggedPort>(
        pair: &Pair,
        group: &mut Group<P>,
        series: &mut Series,
        clock: Clock,
        count: u64,
    ) -> Result<u64, LinkError> {
        match AROUND {
            true => hot_imb_ping(pair, group, series, clock, count),
            false => hot_osu_ping(pair, group, series, clock, count),
        }
    }

    fn sink<P: TaggedPort>(
        pair: &Pair,
        group: &mut Group<P>,
        _: &mut Series,
        clock: Clock,
        count: u64,
    ) -> Result<u64, LinkError> {
        hot_pong(pair, group, clock, count)
    }
}

/// Send, wait, receive, wait; the clock is read before and after each round trip.
#[inline(never)]
fn hot_osu_ping<P: TaggedPort>(
    pair: &Pair,
    group: &mut Group<P>,
    series: &mut Series,
    clock: Clock,
    count: u64,
) -> Result<u64, LinkError> {
    let mut total = 0;
    for _ in 0..count {
        let start = clock.now();
        pair.send_one(group)?;
        pair.receive_one(group)?;
        let ticks = clock.now() - start;
        series.record(ticks);
        total += ticks;
    }
    Ok(total)
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

/// Send, wait, receive, wait; the clock is read once a batch.
#[inline(never)]
fn hot_imb_ping<P: TaggedPort>(
    pair: &Pair,
    group: &mut Group<P>,
    series: &mut Series,
    clock: Clock,
    count: u64,
) -> Result<u64, LinkError> {
    let batch = series.batch_ops;
    let begin = clock.now();
    let (mut start, mut in_batch) = (begin, 0);
    for _ in 0..count {
        pair.send_one(group)?;
        pair.receive_one(group)?;
        in_batch += 1;
        if in_batch == batch {
            let now = clock.now();
            series.record(now - start);
            (start, in_batch) = (now, 0);
        }
    }
    Ok(clock.now() - begin)
}

/// Windows: one way with an acknowledgement, or both ways at once, which has one with `AROUND` alone.
pub struct Windows<const IN_STEP: bool, const BOTH: bool, const AROUND: bool>;

impl<const IN_STEP: bool, const BOTH: bool, const AROUND: bool> Ends for Windows<IN_STEP, BOTH, AROUND> {
    const IN_STEP: bool = IN_STEP;
    const BOTH: bool = BOTH;
    const AROUND: bool = AROUND;

    fn source<P: TaggedPort>(
        pair: &Pair,
        group: &mut Group<P>,
        series: &mut Series,
        clock: Clock,
        count: u64,
    ) -> Result<u64, LinkError> {
        let shape = Shape {
            source: true,
            both: BOTH,
            around: AROUND,
        };
        hot_windows(pair, group, series, clock, (count, shape))
    }

    fn sink<P: TaggedPort>(
        pair: &Pair,
        group: &mut Group<P>,
        series: &mut Series,
        clock: Clock,
        count: u64,
    ) -> Result<u64, LinkError> {
        let shape = Shape {
            source: false,
            both: BOTH,
            around: AROUND,
        };
        hot_windows(pair, group, series, clock, (count, shape))
    }
}

/// Which end of which windows. Looked at once a window, so that the loop is compiled once a port.
#[derive(Clone, Copy)]
struct Shape {
    source: bool,
    both: bool,
    around: bool,
}

/// `count` windows. One way: sends and the wait for the acknowledgement at the source, receives and the acknowledgement
/// at the sink. Both ways: receives and sends, one wait; IMB acknowledges these too.
#[inline(never)]
fn hot_windows<P: TaggedPort>(
    pair: &Pair,
    group: &mut Group<P>,
    series: &mut Series,
    clock: Clock,
    (count, shape): (u64, Shape),
) -> Result<u64, LinkError> {
    let Shape { source, both, around } = shape;
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
            group.wait_all()?;
        }
        let now = clock.now();
        series.record(now - start);
        total += now - start;
        start = now;
    }
    Ok(total)
}
