//! The sending side of a stream over a medium that loses messages; where its peer sends as well, the receiving side of
//! the other direction too.
//!
//! The receiver acknowledges the highest sequence number that has come: what is below is delivered or will never be
//! waited for. When no acknowledgement comes in time, the sender writes everything in flight off and goes on.

use super::attend::{Attend, progress};
use super::ending::send_control;
use super::header::{Kind, encode};
use super::patience::Patience;
use super::traffic::Traffic;
use crate::clock::Clock;
use crate::engine::batch::Batch;
use crate::engine::meter::{Meter, Tally};
use crate::engine::payload::Sender;
use crate::engine::phases::{Body, Left, Phase};
use crate::engine::rank::Rank;
use crate::engine::schedule::Schedule;
use crate::engine::series::Series;
use crate::engine::timed::{Looks, Timed};
use crate::engine::wired::Wired;
use crate::transport::port::{LinkError, MessagePort, Post};
use std::time::Duration;
use wirespeed_schema::outcome::SampleKind;
use wirespeed_schema::test::Stream;

/// A paced sender sleeps when the next message is due later than this, else it spins.
const SLEEP_NS_MIN: u64 = 100_000;
/// Longest sleep at once: the peer and the cancel flag want attention.
const SLEEP_NS_MAX: u64 = 1_000_000;

/// The sending half: how far it got, and its timing.
pub struct Outgoing {
    window: u64,
    /// The peer sends as well: its messages are acknowledged meanwhile.
    both: bool,
    sent: u64,
    /// Messages below this are not waited for any more.
    written_off: u64,
    /// How often everything in flight was written off.
    pub stalls: u64,
    /// How long it waits.
    pub patience: Patience,
    timed: Timed,
    looks: Looks,
    /// Time of batches of sends.
    pub intervals: Series,
    /// Time from a send to the acknowledgement that covers it.
    pub acknowledged: Series,
    pace: Schedule,
    began: u64,
    /// When the phase's last message was known to be delivered.
    delivered: Option<u64>,
    clock: Clock,
    ns_per_tick: f64,
}

impl Outgoing {
    /// Of a rank that sends `stream`; with `both`, its peer does as well.
    pub fn new(rank: &Rank, meter: &Meter, stream: &Stream, both: bool) -> Self {
        Outgoing {
            window: stream.window_msgs,
            both,
            sent: 0,
            written_off: 0,
            stalls: 0,
            patience: Patience::new(&rank.timebase),
            timed: Timed::default(),
            looks: Looks::new(meter.timebase),
            intervals: meter.series(SampleKind::SendInterval),
            acknowledged: meter.series(SampleKind::Acknowledged),
            pace: Schedule::new(rank.interval_ticks(stream), meter),
            began: 0,
            delivered: None,
            clock: meter.clock,
            ns_per_tick: rank.timebase.ns_per_tick(),
        }
    }

    fn restart(&mut self, phase: Phase) {
        (self.sent, self.written_off, self.stalls) = (0, 0, 0);
        self.timed.give_up();
        (self.began, self.delivered) = (self.clock.now(), None);
        self.pace.restart(phase, self.began);
        self.intervals.clear();
        self.acknowledged.clear();
    }

    #[inline(always)]
    fn has_credit(&self, credited: u64) -> bool {
        self.sent - credited.min(self.sent).max(self.written_off) < self.window
    }

    #[inline(always)]
    fn note_credit(&mut self, credited: u64, now: u64) {
        if let Some(ticks) = self.timed.end(credited, || now) {
            self.acknowledged.record(ticks);
            self.patience.answered(ticks);
        }
        if self.pace.is_on() {
            self.pace.note_answers(credited.min(self.sent), now);
        }
    }
}

/// Wait until the window has room, or write off what is in flight. What goes next is then handed over: time its acknowledgement,
/// unless another one is timed.
#[inline(never)]
fn await_credit<P: MessagePort>(
    link: &mut Wired<P>,
    traffic: &mut Traffic,
    out: &mut Outgoing,
) -> Result<(), LinkError> {
    let (clock, both) = (out.clock, out.both);
    let mut since = clock.now();
    let mut credited = traffic.credited;
    let timeout = out.patience.timeout_ticks();
    while !out.has_credit(traffic.credited) {
        link.port.wait(traffic)?;
        let now = clock.now();
        out.note_credit(traffic.credited, now);
        if both {
            traffic.attend(&mut link.port)?;
        }
        if traffic.credited != credited {
            (credited, since) = (traffic.credited, now);
            out.patience.heard();
        } else if now.saturating_sub(since) >= timeout {
            out.patience.missed(timeout)?;
            out.stalls += 1;
            out.written_off = out.sent;
            out.timed.give_up();
        }
    }
    out.timed.begin(out.sent, || clock.now());
    Ok(())
}

/// Send `count` messages as fast as window and pace allow.
#[inline(never)]
pub fn hot_send<P: MessagePort, S: Sender>(
    link: &mut Wired<P>,
    sender: &mut S,
    traffic: &mut Traffic,
    out: &mut Outgoing,
    count: u64,
) -> Result<(), LinkError> {
    let (clock, both) = (out.clock, out.both);
    let target = out.sent + count;
    let mut batch = Batch::begin(&out.intervals, clock.now());
    if !out.timed.is_on() {
        await_credit(link, traffic, out)?;
    }
    while out.sent < target {
        if !out.has_credit(traffic.credited) {
            await_credit(link, traffic, out)?;
        }
        let bits = encode(traffic.ending.phase, Kind::Data(out.sent));
        if sender.post(&mut link.port, 0, bits)? == Post::Busy {
            link.make_room(traffic)?;
            continue;
        }
        out.sent += 1;
        if out.pace.is_on() {
            pace(link, traffic, out)?;
        }
        if let Some(now) = batch.one(&mut out.intervals, clock) {
            let look = out.looks.is_due(now);
            if both || look {
                link.port.poll(traffic)?;
                let seen = clock.now();
                out.note_credit(traffic.credited, seen);
                out.looks.looked(now, seen);
            }
            if both {
                traffic.attend(&mut link.port)?;
            }
            if !out.timed.is_on() && out.sent < target {
                await_credit(link, traffic, out)?;
            }
        }
    }
    Ok(())
}

/// Hold what comes next until its place in the schedule: the next send, or the end of the last one's interval.
#[inline(never)]
fn pace<P: MessagePort>(
    link: &mut Wired<P>,
    traffic: &mut Traffic,
    out: &mut Outgoing,
) -> Result<(), LinkError> {
    let (clock, both) = (out.clock, out.both);
    let due = out.pace.due(out.sent);
    loop {
        let now = clock.now();
        if now >= due {
            return Ok(());
        }
        link.make_room(traffic)?;
        out.note_credit(traffic.credited, now);
        if both {
            traffic.attend(&mut link.port)?;
        }
        let left_ns = (due.saturating_sub(clock.now()) as f64 * out.ns_per_tick) as u64;
        // Not while an acknowledgement is timed, or the peer waits for one: it would be seen on waking.
        if left_ns > SLEEP_NS_MIN && !out.timed.is_on() && !both {
            // Timers fire some 50 us late: the rest is spun.
            std::thread::sleep(Duration::from_nanos((left_ns - SLEEP_NS_MIN).min(SLEEP_NS_MAX)));
            link.look()?;
        }
    }
}

/// The rank that sends.
pub struct Source<P, S> {
    link: Wired<P>,
    sender: S,
    traffic: Traffic,
    out: Outgoing,
}

impl<P: MessagePort, S: Sender> Source<P, S> {
    /// Messages from `sender` go out as `out` says, what comes back goes through `traffic`.
    pub fn new(link: Wired<P>, sender: S, traffic: Traffic, out: Outgoing) -> Self {
        Source {
            link,
            sender,
            traffic,
            out,
        }
    }

    /// End the phase: both ends know then what was lost. Where the peer sends as well, its direction must have ended too.
    /// Returns when the last message was known to be delivered: at the answer, unless something had to be repeated;
    /// then at the last acknowledgement that came before.
    fn agree_on_end(&mut self) -> Result<u64, LinkError> {
        let Source {
            link, traffic, out, ..
        } = self;
        let clock = out.clock;
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
                if is_closed && (!out.both || traffic.ending.closed.is_some()) {
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
}

impl<P: MessagePort, S: Sender> Body for Source<P, S> {
    fn leads(&self) -> bool {
        true
    }

    fn progress(&mut self) -> Result<(), LinkError> {
        progress(&mut self.link, &mut self.traffic)
    }

    fn begin(&mut self, phase: Phase) -> Result<(), LinkError> {
        if phase != Phase::First {
            self.traffic.restart();
        }
        self.out.restart(phase);
        Ok(())
    }

    fn step(&mut self, count: u64, last: bool) -> Result<bool, LinkError> {
        hot_send(
            &mut self.link,
            &mut self.sender,
            &mut self.traffic,
            &mut self.out,
            count,
        )?;
        if last {
            self.out.delivered = Some(self.agree_on_end()?);
        } else {
            // The port may never have been waited for.
            self.link.look()?;
        }
        Ok(last)
    }

    fn arm(&mut self, meter: &Meter, op_ticks: f64) {
        self.out.intervals = meter.batches(SampleKind::SendInterval, op_ticks);
    }

    fn done(&self) -> u64 {
        self.out.sent
    }

    fn tally(&self) -> Tally {
        self.traffic.tally(self.out.sent)
    }

    fn series(&mut self) -> Option<&mut Series> {
        Some(&mut self.out.intervals)
    }

    fn elapsed_ticks(&self) -> Option<u64> {
        let delivered = self.out.delivered?;
        Some(delivered.saturating_sub(self.out.began))
    }

    fn finish(self: Box<Self>) -> Left {
        let (out, facts) = (self.out, self.link.port.facts());
        let mut series = vec![out.intervals, out.acknowledged];
        series.extend(out.pace.responses());
        let mut left = Left::new(series, facts);
        left.note("window_stalls", out.stalls);
        if let Some(delivered) = self.traffic.peer_received {
            left.note("delivered_messages", delivered);
        }
        left
    }
}
