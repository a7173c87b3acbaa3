//! `hub_lat`: a hub exchanges messages with every worker, one after the other or all at once.
//!
//! An iteration is a round: one message to each worker and its answer. A sample is the round trip with one worker; the
//! outcome has them for all workers together and for each, with the very first one apart, so that a slow worker and a
//! cold start stand out. Workers run the answering half of the ping-pong. With all at once each answer is stamped as it arrives: those samples hold a clock read, and
//! are never batched.

use super::header;
use super::meter::{Meter, Tally};
use super::payload::{Check, Sender};
use super::phases::{Body, Left, Phase, SETTLE_ROUND_TRIPS};
use super::rank::Rank;
use super::series::Series;
use super::wired::Wired;
use crate::clock::Clock;
use crate::error::MeasureError;
use crate::record::Recorder;
use crate::transport::port::{LinkError, MessagePort, OnMessage, Post};
use wirespeed_schema::Finite;
use wirespeed_schema::outcome::{Count, PeerSamples, SampleKind};

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

impl Worker {
    /// So many that have not been sent anything.
    fn idle(count: usize) -> Vec<Worker> {
        let worker = |_| Worker {
            next: 0,
            waiting: false,
            sent_at: 0,
            arrived_at: 0,
            first_ticks: None,
            samples: Recorder::new(0),
        };
        (0..count).map(worker).collect()
    }
}

/// Takes answers.
struct Answers<C> {
    size: usize,
    checks: C,
    /// All at once: note when each arrives.
    each: bool,
    clock: Clock,
    workers: Vec<Worker>,
    /// Workers that have not answered.
    outstanding: usize,
    /// Rounds that are done.
    rounds: u64,
    tally: Tally,
}

impl<C: Check> OnMessage for Answers<C> {
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

impl<C> Answers<C> {
    /// A new phase begins.
    fn restart(&mut self) {
        for worker in &mut self.workers {
            worker.next = 0;
            worker.samples.clear();
        }
        (self.rounds, self.tally) = (0, Tally::default());
    }
}

/// Send one message to `worker`; `last` ends its phase.
#[inline(always)]
fn send<P: MessagePort, S: Sender>(
    link: &mut Wired<P>,
    sender: &mut S,
    answers: &mut Answers<S::Checks>,
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
fn hot_sequential<P: MessagePort, S: Sender>(
    link: &mut Wired<P>,
    sender: &mut S,
    answers: &mut Answers<S::Checks>,
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
fn hot_fan_out<P: MessagePort, S: Sender>(
    link: &mut Wired<P>,
    sender: &mut S,
    answers: &mut Answers<S::Checks>,
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

/// The rank that exchanges messages with every worker.
pub struct Hub<'a, P, S: Sender> {
    link: Wired<P>,
    sender: S,
    answers: Answers<S::Checks>,
    series: Series,
    request_bytes: usize,
    rank: &'a Rank<'a>,
}

impl<'a, P: MessagePort, S: Sender> Hub<'a, P, S> {
    /// A hub of all peers, none of which has been sent anything.
    pub fn new(
        rank: &'a Rank,
        meter: &Meter,
        link: Wired<P>,
        (sender, checks): (S, S::Checks),
        test: &wirespeed_schema::test::Hub,
    ) -> Result<Self, MeasureError> {
        if rank.peers.is_empty() {
            return Err(MeasureError::Usage("a hub needs at least one worker".into()));
        }
        let answers = Answers {
            size: test.reply() as usize,
            checks,
            each: test.fan_out,
            clock: meter.clock,
            workers: Worker::idle(rank.peers.len()),
            outstanding: 0,
            rounds: 0,
            tally: Tally::default(),
        };
        Ok(Hub {
            link,
            sender,
            answers,
            series: meter.series(SampleKind::RoundTrip),
            request_bytes: test.size_bytes as usize,
            rank,
        })
    }
}

/// What each worker needed, in batches of `batch_ops`; those that never answered are left out.
fn by_worker(rank: &Rank, workers: &mut [Worker], batch_ops: u64) -> Vec<PeerSamples> {
    let timebase = rank.timebase.recalibrated();
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
    let all = rank.peers.iter().zip(workers).map(of_one);
    all.filter(|peer| !peer.samples.is_empty() || peer.first_ns.is_some())
        .collect()
}

impl<P: MessagePort, S: Sender> Body for Hub<'_, P, S> {
    fn leads(&self) -> bool {
        true
    }

    fn progress(&mut self) -> Result<(), LinkError> {
        self.link.port.flush().map(drop)
    }

    fn begin(&mut self, _: Phase) -> Result<(), LinkError> {
        self.answers.restart();
        self.series.clear();
        Ok(())
    }

    fn step(&mut self, count: u64, last: bool) -> Result<bool, LinkError> {
        let Hub {
            link,
            sender,
            answers,
            series,
            ..
        } = self;
        let clock = answers.clock;
        if answers.each {
            hot_fan_out(link, sender, answers, series, clock, (count, last))?;
        } else {
            hot_sequential(link, sender, answers, series, clock, (count, last))?;
        }
        answers.rounds += count;
        Ok(last)
    }

    fn close(&mut self, phase: Phase) -> Result<(), LinkError> {
        if phase == Phase::First {
            for worker in &mut self.answers.workers {
                worker.first_ticks = worker.samples.median_ticks();
            }
        }
        self.link.drain()
    }

    fn settling(&self) -> u64 {
        SETTLE_ROUND_TRIPS
    }

    fn arm(&mut self, meter: &Meter, op_ticks: f64) {
        self.series = match self.answers.each {
            true => meter.series(SampleKind::RoundTrip),
            false => {
                let trip_ticks = op_ticks / self.rank.peers.len() as f64;
                meter.batches(SampleKind::RoundTrip, trip_ticks)
            }
        };
    }

    fn done(&self) -> u64 {
        self.answers.rounds
    }

    fn tally(&self) -> Tally {
        let answered = self.answers.tally.received.messages;
        Tally {
            sent: Count::of(answered, self.request_bytes),
            ..self.answers.tally
        }
    }

    fn series(&mut self) -> Option<&mut Series> {
        Some(&mut self.series)
    }

    fn finish(mut self: Box<Self>) -> Left {
        let peers = by_worker(self.rank, &mut self.answers.workers, self.series.batch_ops);
        let facts = self.link.port.facts();
        Left {
            series: vec![self.series],
            peers,
            facts,
        }
    }
}
