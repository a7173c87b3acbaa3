//! One transfer: its workers, the time from the first request byte to the last payload byte in user space, and what came
//! of it. What a worker does is in `walk`.
//!
//! A connection that stalls while others move is cut as soon as a worker has nothing else to do, so that its blocks can be
//! taken over and their bytes stop; no block is ever asked for over two connections. Whoever waits for the workers looks for
//! such connections: a worker may be busy with one block for longer than the longest silence.

use super::course::{Course, Moved, Slices, together};
use super::offered::{Answers, Pace, Requests, Times};
use super::port::{Block, BlockDigest, BulkError, Connector, NoDigest};
use super::schedule::{Schedule, Supply};
use super::stall::Stalls;
use super::target::Destination;
use super::walk::{Walk, Walked};
use super::wire::Wire;
use crate::clock::{Clock, Timebase};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use wirespeed_schema::host::Disturbance;
use wirespeed_schema::outcome::Interval;

/// What to move, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkPlan {
    /// Bytes of the whole.
    pub total_bytes: u64,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Connections.
    pub threads: usize,
    /// Blocks outstanding on each.
    pub depth: usize,
    /// Attempts at one block.
    pub attempts_max: u32,
    /// Whether blocks are written to the far end; then none comes from there.
    pub writes: bool,
    /// Longest silence of a connection while others move.
    pub stall: Duration,
}

/// What the caller wants to know while it runs.
pub trait Hooks: Sync {
    /// A block is where it belongs. An error ends the transfer.
    fn done(&self, block: Block, digest: &[u8]) -> Result<(), BulkError>;
    /// Whether to stop.
    fn stop(&self) -> bool;
}

/// What one worker did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worker {
    /// Payload bytes that it brought home.
    pub bytes: u64,
    /// Blocks that it brought home.
    pub blocks: u64,
    /// Time to connect, all attempts.
    pub connect: Duration,
    /// Time in handing requests over.
    pub request: Duration,
    /// Time in which nothing was left to hand over, up to the first byte of an answer.
    pub first_byte: Duration,
    /// Time from first bytes to last bytes, storing and digesting left out.
    pub stream: Duration,
    /// Time in storing.
    pub store: Duration,
    /// Time in digesting.
    pub verify: Duration,
    /// Time without anything outstanding.
    pub idle: Duration,
    /// Failures after which it tried again.
    pub retries: u64,
    /// Time lost to those, from the failure to the next connection.
    pub retrying: Duration,
    /// The first failure.
    pub failure: Option<String>,
    /// Bytes read from its connections.
    pub read_bytes: u64,
    /// Bytes written to them.
    pub written_bytes: u64,
    /// Those of both that brought no block home, because the connection ended first.
    pub repeated_bytes: u64,
}

/// How a transfer went.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BulkOutcome {
    /// Payload bytes moved in this run.
    pub bytes: u64,
    /// Blocks that are done, those of an earlier run included.
    pub blocks_done: u64,
    /// Blocks of the whole.
    pub blocks: u64,
    /// From the first request byte to the last payload byte.
    pub elapsed: Duration,
    /// From the start until every worker was connected or had given up.
    pub connect: Duration,
    /// From the first request byte to the end of the first block; nothing where none came.
    pub first_block: Option<Duration>,
    /// Blocks taken over from connections that had stalled.
    pub taken_over: u64,
    /// What disturbed the workers, all together.
    pub disturbance: Disturbance,
    /// Slices of time, where they were asked for.
    pub intervals: Vec<Interval>,
    /// Each worker.
    pub workers: Vec<Worker>,
    /// What became of requests that were offered at a rate.
    pub answers: Option<Answers>,
    /// Why it is not whole.
    pub error: Option<BulkError>,
}

impl BulkOutcome {
    /// Whether every block is done.
    pub fn is_whole(&self) -> bool {
        self.blocks_done == self.blocks && self.error.is_none()
    }
}

/// First request and last payload byte over all workers in ticks, and the error that ends all.
#[derive(Default)]
pub(super) struct Span {
    pub first: Option<u64>,
    /// End of the first block.
    pub first_done: Option<u64>,
    pub last: Option<u64>,
    /// What the last worker to give up could not get past.
    pub last_failure: Option<BulkError>,
    pub error: Option<BulkError>,
}

/// A transfer that goes on, as its workers see it.
pub(super) struct Run<'a, C, H, S> {
    pub plan: BulkPlan,
    pub timebase: Timebase,
    pub clock: Clock,
    /// The CPU that all workers run on, where it is one.
    pub cpu: Option<u32>,
    pub connector: &'a C,
    pub destination: &'a Destination,
    pub hooks: &'a H,
    pub schedule: S,
    /// Whether each block is timed from when it was due.
    pub timed: bool,
    pub span: Mutex<Span>,
    pub connected: Barrier,
    pub wires: Vec<Arc<Wire>>,
    pub moved: Moved,
    /// Workers that wait for blocks.
    idle: AtomicUsize,
}

/// Move every block that is not in `already`. It returns when all are done, or when nothing more can be done.
pub fn run<D: BlockDigest, C: Connector, H: Hooks>(
    course: &mut Course,
    plan: BulkPlan,
    (connector, destination): (&C, &Destination),
    hooks: &H,
    already: &[u64],
) -> BulkOutcome {
    let block_bytes = plan.block_bytes.max(1);
    let schedule = Schedule::new(
        (plan.total_bytes, block_bytes),
        plan.threads.max(1),
        plan.attempts_max.max(1),
        already,
    );
    let run = Run::new(course, plan, (connector, destination), hooks, schedule);
    run.go::<D>(course)
}

/// Ask for blocks of the whole, round and round, at a given rate for a given time, and drop what comes. The outcome has
/// [`Answers`]; its blocks are the requests.
pub fn offer<C: Connector, H: Hooks>(
    course: &mut Course,
    plan: BulkPlan,
    pace: Pace,
    connector: &C,
    hooks: &H,
) -> BulkOutcome {
    let shape = (plan.total_bytes, plan.block_bytes.max(1));
    let schedule = Requests::new(*course.timebase, pace, shape, plan.attempts_max.max(1));
    let run = Run {
        timed: true,
        ..Run::new(course, plan, (connector, &Destination::Discard), hooks, schedule)
    };
    run.go::<NoDigest>(course)
}

impl<'a, C: Connector, H: Hooks, S: Supply> Run<'a, C, H, S> {
    fn new(
        course: &Course,
        plan: BulkPlan,
        (connector, destination): (&'a C, &'a Destination),
        hooks: &'a H,
        schedule: S,
    ) -> Self {
        Run {
            plan,
            timebase: *course.timebase,
            clock: course.clock(),
            cpu: course.cpu,
            connector,
            destination,
            hooks,
            schedule,
            timed: false,
            span: Mutex::default(),
            connected: Barrier::new(plan.threads.max(1) + 1),
            wires: (0..plan.threads.max(1)).map(|_| Arc::default()).collect(),
            moved: Moved::default(),
            idle: AtomicUsize::new(0),
        }
    }

    fn go<D: BlockDigest>(self, course: &mut Course) -> BulkOutcome {
        let began = self.clock.now();
        let (walked, connect, intervals, taken_over) = std::thread::scope(|scope| {
            let (run, waiting) = (&self, std::thread::current());
            let threads: Vec<_> = (0..self.plan.threads.max(1))
                .map(|worker| {
                    let waiting = waiting.clone();
                    scope.spawn(move || {
                        let walked = Walk::<D, C, H, S>::new(run, worker).walk();
                        waiting.unpark();
                        walked
                    })
                })
                .collect();
            run.connected.wait();
            let connect = run.clock.now().saturating_sub(began);
            let mut slices = Slices::begin(course, run.plan.writes);
            let mut stalls = Stalls::new(run.wires.len(), run.plan.stall, Instant::now());
            let mut taken_over = 0;
            while !threads.iter().all(|thread| thread.is_finished()) {
                std::thread::park_timeout(slices.wait().min(stalls.wait()));
                slices.look(&run.moved);
                taken_over += run.cut_stalled(&mut stalls);
            }
            let intervals = slices.finish(&run.moved);
            // A worker's panic is a defect; its blocks are not done, and the outcome says so.
            let walked: Vec<Walked> = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_default())
                .collect();
            (walked, connect, intervals, taken_over)
        });
        // The rate of the clock now covers the transfer itself.
        let mut timebase = *course.timebase;
        timebase.recalibrate();
        let mut outcome = self.outcome(walked, &timebase);
        (outcome.connect, outcome.intervals) = (in_time(&timebase, connect), intervals);
        outcome.taken_over = taken_over;
        outcome
    }

    /// What the workers brought.
    fn outcome(self, walked: Vec<Walked>, timebase: &Timebase) -> BulkOutcome {
        let (mut workers, mut times, mut disturbances) = (Vec::new(), Vec::new(), Vec::new());
        for mut walked in walked {
            walked.disturbance.observed_ns = timebase.to_ns(walked.ticks.observed);
            workers.push(walked.ticks.into_times(walked.seen, timebase));
            times.extend(walked.times);
            disturbances.push(walked.disturbance);
        }
        let (blocks_done, blocks) = self.schedule.counts();
        let span = self.span.into_inner();
        let stopped = || Some(BulkError::lasting("stopped"));
        // An offer that was stopped is not whole, though all that was asked for came.
        let cut = self.timed && self.hooks.stop();
        let error = match blocks_done == blocks && !cut {
            true => span.error,
            false => span.error.or(span.last_failure).or_else(stopped),
        };
        let between = |first: Option<u64>, last: Option<u64>| {
            let ticks = last?.saturating_sub(first?);
            Some(in_time(timebase, ticks))
        };
        let spread = between(span.first_done, span.last).unwrap_or_default();
        let answers = || Times::of_all(times.into_iter(), spread, timebase.ns_per_tick());
        BulkOutcome {
            bytes: workers.iter().map(|w| w.bytes).sum(),
            blocks_done,
            blocks,
            elapsed: between(span.first, span.last).unwrap_or_default(),
            first_block: between(span.first, span.first_done),
            answers: self.timed.then(answers),
            disturbance: together(disturbances.into_iter()),
            workers,
            error,
            ..BulkOutcome::default()
        }
    }

    /// Cut connections that have stalled, where a worker is there to take their blocks; how many blocks these are.
    fn cut_stalled(&self, stalls: &mut Stalls) -> u64 {
        let seen = |worker: usize| (self.wires[worker].moved_bytes(), self.schedule.held(worker) > 0);
        let mut blocks = 0;
        for worker in stalls.look(Instant::now(), seen) {
            let held = self.schedule.held(worker);
            if self.idle.load(Ordering::Relaxed) > 0 && held > 0 && self.wires[worker].cut() {
                blocks += held as u64;
            }
        }
        blocks
    }

    /// A worker without anything outstanding waits for blocks.
    pub fn rest(&self) {
        self.idle.fetch_add(1, Ordering::Relaxed);
        self.schedule.wait();
        self.idle.fetch_sub(1, Ordering::Relaxed);
    }
}

fn in_time(timebase: &Timebase, ticks: u64) -> Duration {
    Duration::from_nanos(timebase.to_ns(ticks))
}
