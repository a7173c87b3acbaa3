//! The receiving side of a stream over a medium that loses messages.

use super::patience::Patience;
use super::traffic::Traffic;
use super::{Attend, progress};
use crate::clock::Clock;
use crate::engine::meter::{Meter, Series, Tally};
use crate::engine::phases::{Body, Left, Phase};
use crate::engine::rank::Rank;
use crate::engine::wired::Wired;
use crate::transport::port::{LinkError, MessagePort};
use wirespeed_schema::outcome::SampleKind;
use wirespeed_schema::test::Stream;

/// A receiver that hears nothing for so long acknowledges what it has.
const IDLE_ACK_NS: u64 = 1_000_000;
/// A receiver that hears nothing for so long returns, so that interval reports go on.
const IDLE_RETURN_NS: u64 = 20_000_000;

/// The receiving half's timing.
pub struct Incoming {
    /// Mean time a message over batches of arrivals.
    pub intervals: Series,
    first_arrival: Option<u64>,
    last_arrival: u64,
    marked: u64,
    marked_at: u64,
    silent_since: Option<u64>,
    /// A source that says nothing for so long is gone.
    silence_ticks: u64,
    idle_ack_ticks: u64,
    idle_return_ticks: u64,
    clock: Clock,
}

impl Incoming {
    /// Of a rank that receives `stream`.
    pub fn new(rank: &Rank, meter: &Meter, stream: &Stream) -> Self {
        let timebase = meter.timebase;
        Incoming {
            intervals: meter.series_of_means(SampleKind::ReceiveInterval),
            first_arrival: None,
            last_arrival: 0,
            marked: 0,
            marked_at: 0,
            silent_since: None,
            silence_ticks: Patience::new(timebase).silence_ticks(rank.pace_ticks(stream)),
            idle_ack_ticks: timebase.to_ticks(IDLE_ACK_NS),
            idle_return_ticks: timebase.to_ticks(IDLE_RETURN_NS),
            clock: meter.clock,
        }
    }

    fn restart(&mut self) {
        (self.first_arrival, self.last_arrival, self.marked, self.marked_at) = (None, 0, 0, 0);
        self.silent_since = None;
        self.intervals.clear();
    }

    /// Ticks from the first to the last arrival.
    pub fn elapsed_ticks(&self) -> u64 {
        self.first_arrival
            .map_or(0, |first| self.last_arrival.saturating_sub(first))
    }

    #[inline(always)]
    fn mark(&mut self, received: u64, now: u64) {
        if self.first_arrival.is_some() {
            let fresh = received - self.marked;
            self.intervals.record_mean(now - self.marked_at, fresh);
        } else {
            self.first_arrival = Some(now);
        }
        (self.marked, self.marked_at, self.last_arrival) = (received, now, now);
    }
}

/// Receive until `until` different messages of the phase have come, it is closed, or nothing comes for a while.
#[inline(never)]
pub fn hot_receive<P: MessagePort>(
    link: &mut Wired<P>,
    traffic: &mut Traffic,
    incoming: &mut Incoming,
    until: u64,
) -> Result<(), LinkError> {
    let clock = incoming.clock;
    let batch = incoming.intervals.batch_ops;
    while traffic.received() < until && traffic.ending.closed.is_none() {
        if link.port.wait(traffic)? == 0 {
            let now = clock.now();
            let silent_ticks = now.saturating_sub(*incoming.silent_since.get_or_insert(now));
            if silent_ticks < incoming.idle_ack_ticks {
                continue;
            }
            if traffic.next() > traffic.acknowledged {
                traffic.acknowledge(&mut link.port)?;
            }
            if silent_ticks >= incoming.silence_ticks {
                return Err(LinkError::TimedOut);
            }
            if silent_ticks >= incoming.idle_return_ticks {
                return Ok(());
            }
            continue;
        }
        incoming.silent_since = None;
        let received = traffic.received();
        if received - incoming.marked >= batch {
            incoming.mark(received, clock.now());
        }
        traffic.attend(&mut link.port)?;
    }
    if traffic.ending.closed.is_some() && traffic.received() > incoming.marked {
        incoming.mark(traffic.received(), clock.now());
    }
    Ok(())
}

/// The rank that receives.
pub struct Sink<P> {
    link: Wired<P>,
    traffic: Traffic,
    incoming: Incoming,
}

impl<P> Sink<P> {
    /// What comes goes through `traffic`, and is timed by `incoming`.
    pub fn new(link: Wired<P>, traffic: Traffic, incoming: Incoming) -> Self {
        Sink {
            link,
            traffic,
            incoming,
        }
    }
}

impl<P: MessagePort> Body for Sink<P> {
    fn progress(&mut self) -> Result<(), LinkError> {
        progress(&mut self.link, &mut self.traffic)
    }

    fn begin(&mut self, phase: Phase) -> Result<(), LinkError> {
        if phase != Phase::First {
            self.traffic.restart();
        }
        self.incoming.restart();
        Ok(())
    }

    fn step(&mut self, count: u64, _: bool) -> Result<bool, LinkError> {
        let until = self.traffic.received().saturating_add(count);
        hot_receive(&mut self.link, &mut self.traffic, &mut self.incoming, until)?;
        Ok(self.traffic.ending.closed.is_some())
    }

    fn arm(&mut self, meter: &Meter, op_ticks: f64) {
        self.incoming.intervals = meter.batches_of_means(SampleKind::ReceiveInterval, op_ticks);
    }

    fn done(&self) -> u64 {
        self.traffic.received()
    }

    fn tally(&self) -> Tally {
        self.traffic.tally(0)
    }

    fn series(&mut self) -> Option<&mut Series> {
        Some(&mut self.incoming.intervals)
    }

    fn elapsed_ticks(&self) -> Option<u64> {
        Some(self.incoming.elapsed_ticks())
    }

    fn finish(self: Box<Self>) -> Left {
        Left::new(vec![self.incoming.intervals], self.link.port.facts())
    }
}
