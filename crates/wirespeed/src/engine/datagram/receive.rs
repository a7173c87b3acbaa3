//! The receiving side of a stream over a medium that loses messages.

use super::attend::{Attend, progress};
use super::patience::Patience;
use super::traffic::Traffic;
use crate::clock::Clock;
use crate::engine::batch::Arrivals;
use crate::engine::meter::{Meter, Tally};
use crate::engine::phases::{Body, Left, Phase};
use crate::engine::rank::Rank;
use crate::engine::series::Series;
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
    /// Messages of the phase when nothing more was there, for the first time since the last of them, and that moment.
    quiet: (u64, u64),
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
            quiet: (0, 0),
            silence_ticks: Patience::new(timebase).silence_ticks(rank.interval_ticks(stream)),
            idle_ack_ticks: timebase.to_ticks(IDLE_ACK_NS),
            idle_return_ticks: timebase.to_ticks(IDLE_RETURN_NS),
            clock: meter.clock,
        }
    }

    fn restart(&mut self) {
        self.arrivals.restart();
        (self.silent_since, self.quiet) = (None, (0, 0));
    }

    #[inline(always)]
    fn note_quiet(&mut self, received: u64, now: u64) {
        if received > self.quiet.0 {
            self.quiet = (received, now);
        }
    }

    /// The phase is over with `received` messages. What says so may come long after the last of them, where messages are lost.
    fn end(&mut self, received: u64) {
        if received > self.arrivals.marked() {
            let now = match self.quiet.0 == received {
                true => self.quiet.1,
                false => self.clock.now(),
            };
            self.arrivals.mark(received, now);
        }
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
            incoming.note_quiet(traffic.received(), now);
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
    if traffic.ending.closed.is_some() {
        incoming.end(traffic.received());
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
        Tally {
            received_before_msgs: self.incoming.arrivals.before(),
            ..self.traffic.tally(0)
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::example::case;
    use crate::transport::bootstrap::{Bootstrap, ThreadBootstrap};
    use wirespeed_schema::test::{Layout, Test};

    /// Where messages are lost, the word that a phase is over may be lost too, and come long after the last of them.
    #[test]
    fn a_receivers_time_ends_with_the_last_message() {
        let stream = Stream::new(24, Layout::Short, 64);
        let case = case(Test::AmBw(stream.clone()), 100);
        let bootstrap = ThreadBootstrap::group(2).remove(0);
        let rank = Rank::begin(&case, &bootstrap as &dyn Bootstrap).unwrap();
        let mut report = |_: &wirespeed_schema::outcome::Interval| ();
        let meter = rank.meter(&mut report);
        let mut incoming = Incoming::new(&rank, &meter, &stream);
        let now = meter.clock.now();
        incoming.arrivals.mark(3, now);
        for late in [500, 900, 20_000] {
            incoming.note_quiet(10, now + late);
        }
        incoming.end(10);
        assert_eq!(
            (incoming.arrivals.before(), incoming.arrivals.elapsed_ticks()),
            (3, 500)
        );
        incoming.restart();
        incoming.arrivals.mark(1, now);
        incoming.note_quiet(9, now + 500);
        incoming.end(10);
        assert!(
            incoming.arrivals.elapsed_ticks() != 500,
            "one more came behind the silence"
        );
    }
}
