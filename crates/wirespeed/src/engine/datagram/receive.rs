//! The receiving side of a stream over a medium that loses messages.

use super::Attend;
use super::traffic::Traffic;
use crate::clock::{Clock, Timebase};
use crate::engine::meter::{Meter, Series};
use crate::engine::wired::Wired;
use crate::transport::port::{LinkError, MessagePort};

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
    silence_ticks: u64,
    idle_ack_ticks: u64,
    idle_return_ticks: u64,
}

impl Incoming {
    /// With its series (of means). A source that says nothing for `silence_ticks` is gone.
    pub fn new(intervals: Series, timebase: &Timebase, silence_ticks: u64) -> Self {
        Incoming {
            intervals,
            first_arrival: None,
            last_arrival: 0,
            marked: 0,
            marked_at: 0,
            silent_since: None,
            silence_ticks,
            idle_ack_ticks: timebase.to_ticks(IDLE_ACK_NS),
            idle_return_ticks: timebase.to_ticks(IDLE_RETURN_NS),
        }
    }

    fn restart(&mut self) {
        (self.first_arrival, self.last_arrival, self.marked, self.marked_at) = (None, 0, 0, 0);
        self.silent_since = None;
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
pub fn hot_receive<P: MessagePort, const CHECK: bool>(
    link: &mut Wired<P>,
    traffic: &mut Traffic<CHECK>,
    incoming: &mut Incoming,
    (clock, until): (Clock, u64),
) -> Result<(), LinkError> {
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

/// A receiver's phases.
pub struct Sink<const CHECK: bool> {
    /// What comes.
    pub traffic: Traffic<CHECK>,
    /// Its timing.
    pub incoming: Incoming,
}

impl<const CHECK: bool> Sink<CHECK> {
    /// The next phase begins.
    pub fn restart(&mut self) {
        self.traffic.restart();
        self.incoming.restart();
    }

    /// One phase, to its end.
    pub fn phase<P: MessagePort>(&mut self, link: &mut Wired<P>, clock: Clock) -> Result<(), LinkError> {
        while self.traffic.ending.closed.is_none() {
            hot_receive(link, &mut self.traffic, &mut self.incoming, (clock, u64::MAX))?;
        }
        Ok(())
    }

    /// The measured phase, to its end, pausing now and then for interval reports.
    pub fn measure<P: MessagePort>(
        &mut self,
        link: &mut Wired<P>,
        meter: &mut Meter,
        op_ticks: f64,
    ) -> Result<(), LinkError> {
        self.restart();
        let mut op_ticks = op_ticks;
        while self.traffic.ending.closed.is_none() {
            let received = self.traffic.received();
            let (count, _) = meter.next_segment(received, op_ticks, self.incoming.intervals.batch_ops);
            let until = received.saturating_add(count);
            let result = hot_receive(link, &mut self.traffic, &mut self.incoming, (meter.clock, until));
            meter.tally = self.traffic.tally(0);
            result?;
            if self.traffic.ending.closed.is_some() {
                break;
            }
            meter.between_segments(Some(&mut self.incoming.intervals));
            op_ticks = (meter.elapsed_ticks() as f64 / self.traffic.received().max(1) as f64).max(0.1);
        }
        Ok(())
    }
}
