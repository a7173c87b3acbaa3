//! The receiving side of a stream over a medium that loses messages.

use super::patience::Patience;
use super::traffic::Traffic;
use super::{Attend, progress};
use crate::clock::Clock;
use crate::engine::batch::Arrivals;
use crate::engine::meter::{Meter, Series, Tally};
use crate::engine::phases::{Body, Left, Phase};
use crate::engine::rank::Rank;
use crate::engine::wired::Wired;
use crate::transport::port::{LinkError, MessagePort};
use wirespeed_schema::test::Stream;

/// A receiver that hears nothing for so long acknowledges what it has.
const IDLE_ACK_NS: u64 = 1_000_000;
/// A receiver that hears nothing for so long returns, so that interval reports go on.
const IDLE_RETURN_NS: u64 = 20_000_000;

/// The receiving half's timing.
pub struct Incoming {
    arrivals: Arrivals,
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
            arrivals: Arrivals::new(meter),
            silent_since: None,
            silence_ticks: Patience::new(timebase).silence_ticks(rank.interval_ticks(stream)),
            idle_ack_ticks: timebase.to_ticks(IDLE_ACK_NS),
            idle_return_ticks: timebase.to_ticks(IDLE_RETURN_NS),
            clock: meter.clock,
        }
    }

    fn restart(&mut self) {
        self.arrivals.restart();
        self.silent_since = None;
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
        if incoming.arrivals.is_full(received) {
            incoming.arrivals.mark(received, clock.now());
        }
        traffic.attend(&mut link.port)?;
    }
    if traffic.ending.closed.is_some() && traffic.received() > incoming.arrivals.marked() {
        incoming.arrivals.mark(traffic.received(), clock.now());
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
        self.incoming.arrivals.arm(meter, op_ticks);
    }

    fn done(&self) -> u64 {
        self.traffic.received()
    }

    fn tally(&self) -> Tally {
        self.traffic.tally(0)
    }

    fn series(&mut self) -> Option<&mut Series> {
        Some(&mut self.incoming.arrivals.intervals)
    }

    fn elapsed_ticks(&self) -> Option<u64> {
        Some(self.incoming.arrivals.elapsed_ticks())
    }

    fn finish(self: Box<Self>) -> Left {
        Left::new(vec![self.incoming.arrivals.intervals], self.link.port.facts())
    }
}
