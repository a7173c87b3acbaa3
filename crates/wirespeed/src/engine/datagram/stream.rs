//! The sending side of a stream over a medium that loses messages; with `BOTH`, the receiving side of the other
//! direction too.
//!
//! The receiver acknowledges the highest sequence number that has come: what is below is delivered or will never be
//! waited for. When no acknowledgement comes in time, the sender writes everything in flight off and goes on.

use super::Attend;
use super::ending::send_control;
use super::header::{Kind, encode};
use super::patience::Patience;
use super::traffic::Traffic;
use crate::clock::{Clock, Timebase};
use crate::engine::meter::{Meter, Series};
use crate::engine::payload::Sender;
use crate::engine::wired::Wired;
use crate::transport::port::{LinkError, MessagePort, Post};
use std::time::Duration;
use wirespeed_schema::outcome::StopReason;

/// A paced sender sleeps when the next message is due later than this, else it spins.
const SLEEP_NS_MIN: u64 = 100_000;
/// Longest sleep at once: the peer and the cancel flag want attention.
const SLEEP_NS_MAX: u64 = 1_000_000;

/// The sending half: how far it got, and its timing.
pub struct Outgoing {
    window: u64,
    sent: u64,
    /// Messages below this are not waited for any more.
    written_off: u64,
    /// How often everything in flight was written off.
    pub stalls: u64,
    /// How long it waits.
    pub patience: Patience,
    /// A message whose acknowledgement is timed: the number that covers it (0 for none) and when it was sent.
    probe: (u64, u64),
    /// Time of batches of sends.
    pub intervals: Series,
    /// Time from a send to the acknowledgement that covers it.
    pub acknowledged: Series,
    /// Ticks between two sends when paced, else 0.
    pace_ticks: f64,
    paced_from: u64,
    ns_per_tick: f64,
}

impl Outgoing {
    /// For a window of `window` messages, paced to one every `pace_ticks` if above 0.
    pub fn new(
        window: u64,
        (pace_ticks, timebase): (f64, &Timebase),
        (intervals, acknowledged): (Series, Series),
        patience: Patience,
    ) -> Self {
        Outgoing {
            window,
            sent: 0,
            written_off: 0,
            stalls: 0,
            patience,
            probe: (0, 0),
            intervals,
            acknowledged,
            pace_ticks,
            paced_from: timebase.clock.now(),
            ns_per_tick: timebase.ns_per_tick(),
        }
    }

    fn restart(&mut self, clock: Clock) {
        (self.sent, self.written_off, self.stalls, self.probe) = (0, 0, 0, (0, 0));
        self.paced_from = clock.now();
    }

    #[inline(always)]
    fn has_credit(&self, credited: u64) -> bool {
        self.sent - credited.min(self.sent).max(self.written_off) < self.window
    }

    #[inline(always)]
    fn note_credit(&mut self, credited: u64, now: u64) {
        if self.probe.0 != 0 && credited >= self.probe.0 {
            let ticks = now.saturating_sub(self.probe.1);
            self.acknowledged.record(ticks);
            self.patience.answered(ticks);
            self.probe.0 = 0;
        }
    }
}

/// Wait until the window has room, or write off what is in flight.
#[inline(never)]
fn await_credit<P: MessagePort, const CHECK: bool, const BOTH: bool>(
    link: &mut Wired<P>,
    traffic: &mut Traffic<CHECK>,
    out: &mut Outgoing,
    clock: Clock,
) -> Result<(), LinkError> {
    let mut since = clock.now();
    let mut credited = traffic.credited;
    let timeout = out.patience.timeout_ticks();
    while !out.has_credit(traffic.credited) {
        link.port.wait(traffic)?;
        let now = clock.now();
        out.note_credit(traffic.credited, now);
        if BOTH {
            traffic.attend(&mut link.port)?;
        }
        if traffic.credited != credited {
            (credited, since) = (traffic.credited, now);
            out.patience.heard();
        } else if now.saturating_sub(since) >= timeout {
            out.patience.missed(timeout)?;
            out.stalls += 1;
            out.written_off = out.sent;
            out.probe.0 = 0;
        }
    }
    Ok(())
}

/// Send `count` messages as fast as window and pace allow. `BOTH`: acknowledge the peer's messages too.
#[inline(never)]
pub fn hot_send<P: MessagePort, S: Sender, const CHECK: bool, const BOTH: bool>(
    link: &mut Wired<P>,
    sender: &mut S,
    traffic: &mut Traffic<CHECK>,
    out: &mut Outgoing,
    (clock, count): (Clock, u64),
) -> Result<(), LinkError> {
    let batch = out.intervals.batch_ops;
    let target = out.sent + count;
    let mut in_batch = 0;
    let mut start = clock.now();
    while out.sent < target {
        if !out.has_credit(traffic.credited) {
            await_credit::<P, CHECK, BOTH>(link, traffic, out, clock)?;
        }
        if out.pace_ticks > 0.0 {
            pace::<P, CHECK, BOTH>(link, traffic, out, clock)?;
        }
        let bits = encode(traffic.ending.phase, Kind::Data(out.sent));
        if sender.post(&mut link.port, 0, bits)? == Post::Busy {
            link.make_room(traffic)?;
            continue;
        }
        out.sent += 1;
        in_batch += 1;
        if in_batch == batch {
            let now = clock.now();
            out.intervals.record(now - start);
            start = now;
            in_batch = 0;
            if out.probe.0 == 0 {
                out.probe = (out.sent, now);
            }
            if BOTH {
                link.port.poll(traffic)?;
                out.note_credit(traffic.credited, now);
                traffic.attend(&mut link.port)?;
            }
        }
    }
    Ok(())
}

/// Hold the next send until its place in the absolute schedule start + i / rate; a late one goes at once.
#[inline(never)]
fn pace<P: MessagePort, const CHECK: bool, const BOTH: bool>(
    link: &mut Wired<P>,
    traffic: &mut Traffic<CHECK>,
    out: &mut Outgoing,
    clock: Clock,
) -> Result<(), LinkError> {
    let due = out.paced_from + (out.sent as f64 * out.pace_ticks) as u64;
    loop {
        let now = clock.now();
        if now >= due {
            return Ok(());
        }
        link.make_room(traffic)?;
        out.note_credit(traffic.credited, now);
        if BOTH {
            traffic.attend(&mut link.port)?;
        }
        let left_ns = (due.saturating_sub(clock.now()) as f64 * out.ns_per_tick) as u64;
        if left_ns > SLEEP_NS_MIN {
            // Timers fire some 50 us late: the rest is spun.
            std::thread::sleep(Duration::from_nanos((left_ns - SLEEP_NS_MIN).min(SLEEP_NS_MAX)));
            link.look()?;
        }
    }
}

/// A sender's phases.
pub struct Source<S, const CHECK: bool> {
    /// Hands messages over.
    pub sender: S,
    /// What comes back.
    pub traffic: Traffic<CHECK>,
    /// How far it got.
    pub out: Outgoing,
}

impl<S: Sender, const CHECK: bool> Source<S, CHECK> {
    /// The next phase begins.
    pub fn restart(&mut self, clock: Clock) {
        self.traffic.restart();
        self.out.restart(clock);
    }

    /// A part of a phase: `count` more messages; `last` ends it.
    pub fn round<P: MessagePort, const BOTH: bool>(
        &mut self,
        link: &mut Wired<P>,
        clock: Clock,
        (count, last): (u64, bool),
    ) -> Result<(), LinkError> {
        let Source { sender, traffic, out } = self;
        hot_send::<P, S, CHECK, BOTH>(link, sender, traffic, out, (clock, count))?;
        if last {
            self.close::<P, BOTH>(link, clock)?;
        }
        Ok(())
    }

    /// End the phase: both ends know then what was lost. With `BOTH` the peer's direction must have ended as well.
    /// Returns when the last message was known to be delivered: at the answer, unless something had to be repeated;
    /// then at the last acknowledgement that came before.
    fn close<P: MessagePort, const BOTH: bool>(
        &mut self,
        link: &mut Wired<P>,
        clock: Clock,
    ) -> Result<u64, LinkError> {
        let Source { traffic, out, .. } = self;
        let bits = encode(traffic.ending.phase, Kind::Last(out.sent));
        let mut delivered = clock.now();
        let mut is_repeated = false;
        let mut is_closed = false;
        loop {
            if !is_closed {
                send_control(link, traffic, bits)?;
            }
            let (start, timeout) = (clock.now(), out.patience.timeout_ticks());
            let mut heard = (traffic.credited, traffic.received());
            loop {
                link.port.wait(traffic)?;
                let now = clock.now();
                out.note_credit(traffic.credited, now);
                traffic.attend(&mut link.port)?;
                let hearing = (traffic.credited, traffic.received());
                if hearing != heard {
                    if hearing.0 != heard.0 {
                        delivered = now;
                    }
                    heard = hearing;
                    out.patience.heard();
                }
                if !is_closed && traffic.peer_received.is_some() {
                    is_closed = true;
                    out.patience.heard();
                    if !is_repeated {
                        delivered = now;
                    }
                }
                if is_closed && (!BOTH || traffic.ending.closed.is_some()) {
                    return Ok(delivered);
                }
                if now.saturating_sub(start) >= timeout {
                    out.patience.missed(timeout)?;
                    break;
                }
            }
            is_repeated = true;
        }
    }

    /// The measured phase, in segments, until the stop condition; returns with its ticks.
    pub fn measure<P: MessagePort, const BOTH: bool>(
        &mut self,
        link: &mut Wired<P>,
        meter: &mut Meter,
        op_ticks: f64,
    ) -> Result<(StopReason, u64), LinkError> {
        self.restart(meter.clock);
        let started = meter.clock.now();
        let mut op_ticks = op_ticks;
        loop {
            let (count, last) = meter.next_segment(self.out.sent, op_ticks, self.out.intervals.batch_ops);
            let sent = self.round::<P, BOTH>(link, meter.clock, (count, false));
            meter.tally = self.traffic.tally(self.out.sent);
            sent?;
            if last {
                let closed = self.close::<P, BOTH>(link, meter.clock);
                meter.tally = self.traffic.tally(self.out.sent);
                return Ok((meter.stop_reason(), closed?.saturating_sub(started)));
            }
            // The port may never have been waited for.
            link.look()?;
            meter.between_segments(Some(&mut self.out.intervals));
            op_ticks = meter.elapsed_ticks() as f64 / self.out.sent as f64;
        }
    }
}
