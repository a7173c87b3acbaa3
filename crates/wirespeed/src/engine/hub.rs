//! `hub_lat`: a hub exchanges messages with every worker, one after the other or all at once.
//!
//! An iteration is a round: one message to each worker and its answer. A sample is the round trip with one worker; the
//! outcome has them for all workers together and for each, with the very first one apart, so that a slow worker and a
//! cold start stand out. Workers run the answering half of the ping-pong. With all at once each answer is stamped as it arrives: those samples hold a clock read, and
//! are never batched.

use super::header;
use super::messages::meet;
use super::meter::{Meter, Series, Tally, batch_for};
use super::payload::{Checks, Sender};
use super::phases::Prelude;
use super::pingpong::SETTLE_ROUND_TRIPS;
use super::rank::{Finished, Rank};
use super::wired::Wired;
use crate::clock::{Clock, Timebase};
use crate::measure::MeasureError;
use crate::record::Recorder;
use crate::transport::port::{LinkError, MessagePort, OnMessage, Post};
use wirespeed_schema::Finite;
use wirespeed_schema::outcome::{Count, PeerSamples, SampleKind, StopReason};

/// Rounds after a barrier that are not recorded end after so long: ranks leave a barrier within a millisecond.
const SETTLE_NS: f64 = 4e6;

/// One worker as the hub sees it.
struct Worker {
    /// Number of the next message to it.
    next: u64,
    waiting: bool,
    sent_at: u64,
    arrived_at: u64,
    /// The very first round trip with it, in ticks.
    first_ticks: Option<u64>,
    samples: Recorder,
}

/// Takes answers.
struct Answers<const CHECK: bool> {
    size: usize,
    checks: Checks<CHECK>,
    /// All at once: note when each arrives.
    each: bool,
    clock: Clock,
    workers: Vec<Worker>,
    /// Workers that have not answered.
    outstanding: usize,
    tally: Tally,
}

impl<const CHECK: bool> OnMessage for Answers<CHECK> {
    #[inline(always)]
    fn message(&mut self, peer: usize, header: u64, payload: &[u8]) {
        let worker = &mut self.workers[peer];
        let number = header::number(header);
        if number != worker.next || !worker.waiting {
            self.tally.faults.reordered_messages += 1;
            return;
        }
        if self.checks.find_wrong(number, self.size, payload) {
            self.tally.faults.corrupt_messages += 1;
        }
        self.tally.received.messages += 1;
        self.tally.received.bytes += payload.len() as u64;
        worker.waiting = false;
        worker.next += 1;
        self.outstanding -= 1;
        if self.each {
            worker.arrived_at = self.clock.now();
        }
    }
}

impl<const CHECK: bool> Answers<CHECK> {
    /// A new phase begins.
    fn restart(&mut self) {
        self.workers.iter_mut().for_each(|worker| worker.next = 0);
        self.tally = Tally::default();
    }
}

/// Send one message to `worker`; `last` ends its phase.
#[inline(always)]
fn send<P: MessagePort, S: Sender, const CHECK: bool>(
    link: &mut Wired<P>,
    sender: &mut S,
    answers: &mut Answers<CHECK>,
    worker: usize,
    last: bool,
) -> Result<(), LinkError> {
    let header = header::data(answers.workers[worker].next, last);
    answers.workers[worker].waiting = true;
    answers.outstanding += 1;
    while sender.post(&mut link.port, worker, header)? == Post::Busy {
        link.make_room(answers)?;
    }
    Ok(())
}

/// `rounds` rounds, one worker after the other; with a batch above 1, so many round trips with each in turn.
#[inline(never)]
fn hot_sequential<P: MessagePort, S: Sender, const CHECK: bool>(
    link: &mut Wired<P>,
    sender: &mut S,
    answers: &mut Answers<CHECK>,
    series: &mut Series,
    clock: Clock,
    (rounds, last): (u64, bool),
) -> Result<(), LinkError> {
    let batch = series.batch_ops;
    let mut left = rounds;
    while left > 0 {
        let turns = left.min(batch);
        left -= turns;
        for worker in 0..answers.workers.len() {
            let start = clock.now();
            for turn in 1..=turns {
                send(link, sender, answers, worker, last && left == 0 && turn == turns)?;
                while answers.outstanding > 0 {
                    link.port.wait(answers)?;
                }
            }
            let ticks = clock.now() - start;
            if turns == batch {
                series.record(ticks);
                answers.workers[worker].samples.record(ticks);
            }
        }
    }
    Ok(())
}

/// `rounds` rounds with a message to every worker outstanding at once.
#[inline(never)]
fn hot_fan_out<P: MessagePort, S: Sender, const CHECK: bool>(
    link: &mut Wired<P>,
    sender: &mut S,
    answers: &mut Answers<CHECK>,
    series: &mut Series,
    clock: Clock,
    (rounds, last): (u64, bool),
) -> Result<(), LinkError> {
    for round in 1..=rounds {
        for worker in 0..answers.workers.len() {
            answers.workers[worker].sent_at = clock.now();
            send(link, sender, answers, worker, last && round == rounds)?;
        }
        while answers.outstanding > 0 {
            link.port.wait(answers)?;
        }
        for worker in &mut answers.workers {
            let ticks = worker.arrived_at - worker.sent_at;
            series.record(ticks);
            worker.samples.record(ticks);
        }
    }
    Ok(())
}

struct Hub<S, const CHECK: bool> {
    request_bytes: u64,
    sender: S,
    answers: Answers<CHECK>,
}

impl<S: Sender, const CHECK: bool> Hub<S, CHECK> {
    /// A hub of all peers, none of which has been sent anything.
    fn new(rank: &Rank, sender: S, test: &wirespeed_schema::test::Hub, clock: Clock) -> Self {
        let worker = |_| Worker {
            next: 0,
            waiting: false,
            sent_at: 0,
            arrived_at: 0,
            first_ticks: None,
            samples: Recorder::new(0),
        };
        let answers = Answers {
            size: test.reply() as usize,
            checks: Checks::new(rank.case.check),
            each: test.fan_out,
            clock,
            workers: (0..rank.peers.len()).map(worker).collect(),
            outstanding: 0,
            tally: Tally::default(),
        };
        Hub {
            request_bytes: test.size_bytes,
            sender,
            answers,
        }
    }

    /// What each worker needed; those that never answered are left out.
    fn by_worker(&mut self, peers: &[u32], timebase: &Timebase, batch_ops: u64) -> Vec<PeerSamples> {
        let ns_per_tick = timebase.ns_per_tick();
        let scale = ns_per_tick / batch_ops as f64;
        let step_ns = timebase.step.ticks * scale;
        let of_one = |(&peer, worker): (&u32, &mut Worker)| PeerSamples {
            peer,
            samples: worker.samples.to_data(scale).with_step_ns(step_ns),
            first_ns: worker
                .first_ticks
                .and_then(|ticks| Finite::maybe(ticks as f64 * ns_per_tick)),
        };
        let all = peers.iter().zip(&mut self.answers.workers).map(of_one);
        all.filter(|peer| !peer.samples.is_empty() || peer.first_ns.is_some())
            .collect()
    }

    fn rounds<P: MessagePort>(
        &mut self,
        link: &mut Wired<P>,
        series: &mut Series,
        part: (u64, bool),
    ) -> Result<(), LinkError> {
        let Hub { sender, answers, .. } = self;
        let clock = answers.clock;
        if answers.each {
            hot_fan_out(link, sender, answers, series, clock, part)
        } else {
            hot_sequential(link, sender, answers, series, clock, part)
        }
    }

    fn phase<P: MessagePort>(
        &mut self,
        link: &mut Wired<P>,
        series: &mut Series,
        rounds: u64,
    ) -> Result<(), LinkError> {
        self.answers.restart();
        self.rounds(link, series, (rounds, true))
    }

    /// The first round of all; the trip with each worker is kept.
    fn first<P: MessagePort>(&mut self, link: &mut Wired<P>, ignored: &mut Series) -> Result<(), LinkError> {
        let result = self.phase(link, ignored, 1);
        for worker in &mut self.answers.workers {
            // Without a sample there was no answer.
            worker.first_ticks = worker.samples.median_ticks();
            worker.samples.clear();
        }
        result
    }

    /// The measured phase, in segments, until the stop condition.
    fn measure<P: MessagePort>(
        &mut self,
        link: &mut Wired<P>,
        series: &mut Series,
        meter: &mut Meter,
        round_ticks: f64,
    ) -> Result<StopReason, LinkError> {
        self.answers.restart();
        for worker in &mut self.answers.workers {
            worker.samples.clear();
        }
        let mut round_ticks = round_ticks;
        let mut done = 0;
        loop {
            let (rounds, last) = meter.next_segment(done, round_ticks, series.batch_ops);
            let result = self.rounds(link, series, (rounds, last));
            meter.tally = self.answers.tally;
            meter.tally.sent = Count {
                messages: self.answers.tally.received.messages,
                bytes: self.answers.tally.received.messages * self.request_bytes,
            };
            result?;
            done += rounds;
            meter.between_segments(Some(series));
            if last {
                return Ok(meter.stop_reason());
            }
            round_ticks = meter.elapsed_ticks() as f64 / done as f64;
        }
    }
}

/// Rounds that outlast the ranks' leaving of a barrier; one where a round takes long.
fn settle_rounds(round_ticks: f64, timebase: &Timebase) -> u64 {
    let round_ns = (round_ticks * timebase.ns_per_tick()).max(1.0);
    ((SETTLE_NS / round_ns) as u64).clamp(1, SETTLE_ROUND_TRIPS)
}

/// The hub's part in a measurement.
pub fn hub<P: MessagePort, S: Sender, const CHECK: bool>(
    rank: &Rank,
    link: &mut Wired<P>,
    mut meter: Meter,
    sender: S,
    test: &wirespeed_schema::test::Hub,
) -> Result<Finished, MeasureError> {
    let fan_out = test.fan_out;
    if rank.peers.is_empty() {
        return Err(MeasureError::Usage("a hub needs at least one worker".into()));
    }
    let clock = meter.clock;
    let mut hub = Hub::<S, CHECK>::new(rank, sender, test, clock);
    let mut prelude = Prelude::default();
    let mut series = meter.series(SampleKind::RoundTrip);
    let mut elapsed_ticks = 0;
    let mut run = |hub: &mut Hub<S, CHECK>| -> Result<StopReason, LinkError> {
        let mut ignored = meter.series(SampleKind::RoundTrip);
        meet(rank, link)?;
        let before = clock.now();
        hub.first(link, &mut ignored)?;
        prelude.first_operation_ticks = Some(clock.now() - before);
        hub.answers.restart();
        prelude.warm_up(rank, |count, last| hub.rounds(link, &mut ignored, (count, last)))?;
        link.drain()?;
        if !fan_out {
            let trip_ticks = prelude.op_ticks / rank.peers.len() as f64;
            series.batch_ops = batch_for(trip_ticks, &rank.timebase);
        }
        let armed = meter.arm();
        meet(rank, link)?;
        hub.phase(
            link,
            &mut ignored,
            settle_rounds(prelude.op_ticks, &rank.timebase),
        )?;
        meter.start(armed);
        let result = hub.measure(link, &mut series, &mut meter, prelude.op_ticks);
        elapsed_ticks = meter.stop();
        let stop = result?;
        link.drain()?;
        meet(rank, link)?;
        Ok(stop)
    };
    let end = run(&mut hub);
    let by_worker = hub.by_worker(&rank.peers, &rank.timebase, series.batch_ops);
    let mut measured = meter.finish(vec![series]);
    measured.peers = by_worker;
    Ok(prelude.finished(end, elapsed_ticks, measured))
}
