//! The engine: workers that keep `depth` blocks outstanding each, until every block is done or the transfer fails.
//!
//! The clock starts before the first request byte and stops after the last payload byte is in user space. A worker that
//! fails gives its blocks back and connects again; one that cannot ends, and the others go on. A connection that stalls
//! while others move is cut as soon as a worker has nothing else to do, so that its blocks can be taken over and their
//! bytes stop; no block is ever asked for over two connections.

use super::offered::{Answers, Pace, Requests, Times};
use super::port::{Block, BlockDigest, BulkError, BulkPort, Connector, NoDigest};
use super::schedule::{Schedule, Supply, Work};
use super::stall::Stalls;
use super::target::{Destination, Window};
use super::wire::Wire;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Pause before the first attempt to connect again; doubled at each further one.
const PAUSE: Duration = Duration::from_millis(50);
/// Failures in a row after which a worker ends.
const FAILURES_MAX: u32 = 5;
/// A sleep may end so much late: the last part of a wait for a moment is spent awake.
const SLEEP_LATE: Duration = Duration::from_micros(100);
/// How long a worker that waits for a moment sleeps before it looks whether to stop.
const LOOK: Duration = Duration::from_millis(50);

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
    /// Time from a request (or the end of the answer before) to the first byte of its answer.
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
    /// Blocks taken over from connections that had stalled.
    pub taken_over: u64,
    /// Each worker.
    pub workers: Vec<Worker>,
    /// What became of requests that were offered at a rate.
    pub answers: Option<Answers>,
    /// Why it is not whole.
    pub error: Option<String>,
}

impl BulkOutcome {
    /// Whether every block is done.
    pub fn is_whole(&self) -> bool {
        self.blocks_done == self.blocks && self.error.is_none()
    }
}

/// First request and last payload byte over all workers, and the error that ends all.
#[derive(Default)]
struct Span {
    first: Option<Instant>,
    /// End of the first block.
    first_done: Option<Instant>,
    last: Option<Instant>,
    error: Option<String>,
}

struct Run<'a, C, H, S> {
    plan: BulkPlan,
    connector: &'a C,
    destination: &'a Destination,
    hooks: &'a H,
    schedule: S,
    /// Whether each block is timed from when it was due.
    timed: bool,
    span: Mutex<Span>,
    connected: Barrier,
    wires: Vec<Arc<Wire>>,
    stalls: Mutex<Stalls>,
    taken_over: AtomicU64,
}

/// Move every block that is not in `already`. It returns when all are done, or when nothing more can be done.
pub fn run<D: BlockDigest, C: Connector, H: Hooks>(
    plan: BulkPlan,
    connector: &C,
    destination: &Destination,
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
    let run = Run::new(plan, connector, destination, hooks, schedule);
    run.go::<D>()
}

/// Ask for blocks of the whole, round and round, at a given rate for a given time, and drop what comes. The outcome has
/// [`Answers`]; its blocks are the requests.
pub fn offer<C: Connector, H: Hooks>(plan: BulkPlan, pace: Pace, connector: &C, hooks: &H) -> BulkOutcome {
    let block_bytes = plan.block_bytes.max(1);
    let schedule = Requests::new(pace, plan.total_bytes, block_bytes, plan.attempts_max.max(1));
    let run = Run {
        timed: true,
        ..Run::new(plan, connector, &Destination::Discard, hooks, schedule)
    };
    run.go::<NoDigest>()
}

impl<'a, C: Connector, H: Hooks, S: Supply> Run<'a, C, H, S> {
    fn new(
        plan: BulkPlan,
        connector: &'a C,
        destination: &'a Destination,
        hooks: &'a H,
        schedule: S,
    ) -> Self {
        Run {
            plan,
            connector,
            destination,
            hooks,
            schedule,
            timed: false,
            span: Mutex::new(Span::default()),
            connected: Barrier::new(plan.threads.max(1) + 1),
            wires: (0..plan.threads.max(1)).map(|_| Arc::default()).collect(),
            stalls: Mutex::new(Stalls::new(plan.threads.max(1), plan.stall, Instant::now())),
            taken_over: AtomicU64::new(0),
        }
    }

    fn go<D: BlockDigest>(self) -> BulkOutcome {
        let began = Instant::now();
        let (walks, connect) = std::thread::scope(|scope| {
            let run = &self;
            let threads: Vec<_> = (0..self.plan.threads.max(1))
                .map(|worker| scope.spawn(move || Walk::<D, C, H, S>::new(run, worker).walk()))
                .collect();
            run.connected.wait();
            let connect = began.elapsed();
            // A worker's panic is a defect; its blocks are not done, and the outcome says so.
            let walks: Vec<_> = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_default())
                .collect();
            (walks, connect)
        });
        let (workers, times): (Vec<Worker>, Vec<Option<Times>>) = walks.into_iter().unzip();
        let (blocks_done, blocks) = self.schedule.counts();
        let span = self.span.into_inner().unwrap_or_else(PoisonError::into_inner);
        let first_failure = || workers.iter().find_map(|w| w.failure.clone());
        // An offer that was stopped is not whole, though all that was asked for came.
        let cut = self.timed && self.hooks.stop();
        let error = match blocks_done == blocks && !cut {
            true => span.error,
            false => span.error.or_else(first_failure).or(Some("stopped".to_owned())),
        };
        let between = |first: Option<Instant>| match (first, span.last) {
            (Some(first), Some(last)) => last.saturating_duration_since(first),
            _ => Duration::ZERO,
        };
        BulkOutcome {
            bytes: workers.iter().map(|w| w.bytes).sum(),
            blocks_done,
            blocks,
            elapsed: between(span.first),
            connect,
            taken_over: self.taken_over.into_inner(),
            answers: self
                .timed
                .then(|| Times::of_all(times.into_iter().flatten(), between(span.first_done))),
            workers,
            error,
        }
    }

    /// Look for connections that have stalled. With `idle` hands to take their blocks, they are cut.
    fn look_for_stalls(&self, idle: bool) {
        // Somebody else is looking.
        let Ok(mut stalls) = self.stalls.try_lock() else {
            return;
        };
        for worker in stalls.look(Instant::now(), |worker| self.wires[worker].moved_bytes()) {
            let blocks = self.schedule.held(worker);
            if idle && blocks > 0 && self.wires[worker].cut() {
                self.taken_over.fetch_add(blocks as u64, Ordering::Relaxed);
            }
        }
    }
}

/// What a worker has asked for.
struct Posted {
    block: Block,
    at: Instant,
    /// Bytes that had passed over its connections before.
    wire_bytes: u64,
}

/// One worker at work.
struct Walk<'a, D, C: Connector, H, S> {
    run: &'a Run<'a, C, H, S>,
    worker: usize,
    port: Option<C::Port>,
    posted: VecDeque<Posted>,
    /// The oldest is being completed.
    running: bool,
    /// Bytes that had passed over its connections when the last block was home, or the connection made.
    home_bytes: u64,
    window: Window<'a, D>,
    /// When the last answer ended.
    free_since: Instant,
    failures: u32,
    seen: Worker,
    times: Option<Times>,
}

impl<'a, D: BlockDigest, C: Connector, H: Hooks, S: Supply> Walk<'a, D, C, H, S> {
    fn new(run: &'a Run<'a, C, H, S>, worker: usize) -> Self {
        Walk {
            run,
            worker,
            port: None,
            posted: VecDeque::with_capacity(run.plan.depth.max(1)),
            running: false,
            home_bytes: 0,
            window: Window::new(run.destination),
            free_since: Instant::now(),
            failures: 0,
            seen: Worker::default(),
            times: run.timed.then(Times::new),
        }
    }

    fn walk(mut self) -> (Worker, Option<Times>) {
        let first = self.connect();
        self.run.connected.wait();
        self.free_since = Instant::now();
        let mut goes_on = match first {
            Ok(()) => true,
            Err(error) => self.recover(&error),
        };
        while goes_on {
            if self.run.hooks.stop() {
                self.run.schedule.stop();
            }
            goes_on = match self.step() {
                Ok(goes_on) => goes_on,
                Err(error) => self.recover(&error),
            };
        }
        let wire = &self.run.wires[self.worker];
        (self.seen.read_bytes, self.seen.written_bytes) = (wire.read_bytes(), wire.written_bytes());
        if let Some(port) = self.port.take() {
            self.run.connector.retire(self.worker, port);
        }
        wire.detach();
        self.seen.store = self.window.store;
        self.seen.verify = self.window.verify;
        let taken = self.seen.store + self.seen.verify;
        self.seen.stream = self.seen.stream.saturating_sub(taken);
        (self.seen, self.times)
    }

    fn connect(&mut self) -> Result<(), BulkError> {
        let began = Instant::now();
        let wire = &self.run.wires[self.worker];
        let port = self.run.connector.connect(self.worker, wire);
        self.seen.connect += began.elapsed();
        self.home_bytes = wire.total_bytes();
        self.port = Some(port?);
        Ok(())
    }

    /// Post up to the depth, then complete one. False when there is nothing more to do.
    fn step(&mut self) -> Result<bool, BulkError> {
        let depth = self.run.plan.depth.max(1);
        while self.posted.len() < depth {
            match self.run.schedule.take(self.worker, self.posted.is_empty()) {
                Work::Post(block) => self.post(block)?,
                Work::Nothing => break,
                // What is still outstanding is of no use any more.
                Work::Over => return Ok(false),
            }
        }
        let idle = self.posted.is_empty();
        self.run.look_for_stalls(idle);
        match idle {
            true => self.run.schedule.wait(),
            false => self.complete()?,
        }
        Ok(true)
    }

    /// Sleep until `due`. False: it is over before.
    fn hold(&self, due: Instant) -> bool {
        loop {
            let left = due.saturating_duration_since(Instant::now());
            match left {
                Duration::ZERO => return true,
                left if left <= SLEEP_LATE => std::thread::yield_now(),
                left => {
                    if self.run.hooks.stop() {
                        self.run.schedule.stop();
                    }
                    if self.run.schedule.is_over() {
                        return false;
                    }
                    std::thread::sleep((left - SLEEP_LATE).min(LOOK));
                }
            }
        }
    }

    fn post(&mut self, block: Block) -> Result<(), BulkError> {
        if self.run.schedule.due(block).is_some_and(|due| !self.hold(due)) {
            return Ok(());
        }
        let began = Instant::now();
        if self.posted.is_empty() {
            self.seen.idle += began - self.free_since;
        }
        self.posted.push_back(Posted {
            block,
            at: began,
            wire_bytes: self.run.wires[self.worker].total_bytes(),
        });
        let mut span = self.run.span.lock().unwrap_or_else(PoisonError::into_inner);
        span.first = Some(span.first.map_or(began, |first| first.min(began)));
        drop(span);
        let Some(port) = self.port.as_mut() else {
            return Err(BulkError::passing("not connected"));
        };
        let posted = port.post(block);
        self.seen.request += began.elapsed();
        posted
    }

    fn complete(&mut self) -> Result<(), BulkError> {
        let (Some(front), Some(port)) = (self.posted.front(), self.port.as_mut()) else {
            return Err(BulkError::passing("not connected"));
        };
        let (block, posted) = (front.block, front.at);
        self.running = true;
        let began = posted.max(self.free_since);
        let expected = if self.run.plan.writes { 0 } else { block.size_bytes };
        self.window.begin(block, expected);
        port.complete(block, &mut self.window)?;
        let digest = self.window.finish()?;
        let ended = Instant::now();
        self.running = false;
        self.posted.pop_front();
        self.home_bytes = self.run.wires[self.worker].total_bytes();
        self.free_since = ended;
        let first = self.window.first_byte.unwrap_or(ended);
        self.seen.first_byte += first.saturating_duration_since(began);
        self.seen.stream += ended.saturating_duration_since(first);
        self.failures = 0;
        self.seen.bytes += block.size_bytes;
        self.seen.blocks += 1;
        let mut span = self.run.span.lock().unwrap_or_else(PoisonError::into_inner);
        span.last = Some(span.last.map_or(ended, |last| last.max(ended)));
        span.first_done.get_or_insert(ended);
        drop(span);
        if let (Some(times), Some(due)) = (&mut self.times, self.run.schedule.due(block)) {
            times.record((due, posted), ended);
        }
        if let Err(error) = self.run.hooks.done(block, &digest) {
            self.fail(&error);
        }
        self.run.schedule.done(self.worker, block);
        Ok(())
    }

    /// Bytes of what was outstanding when the connection failed: they will pass again.
    fn count_repeated(&mut self) {
        let Some(front) = self.posted.front() else {
            return;
        };
        let from = match self.run.plan.writes {
            true => front.wire_bytes,
            false => self.home_bytes,
        };
        let passed = self.run.wires[self.worker].total_bytes();
        self.seen.repeated_bytes += passed.saturating_sub(from);
    }

    /// Give everything outstanding back. Only the block that failed while its bytes were coming has used up an attempt.
    fn give_back(&mut self, error: &BulkError) {
        let mut running = std::mem::take(&mut self.running);
        for posted in std::mem::take(&mut self.posted) {
            let block = posted.block;
            let enough = self.run.schedule.failed(self.worker, block, running);
            if running && !enough {
                self.fail(&BulkError::lasting(format!(
                    "block {} failed {} times: {error}",
                    block.index, self.run.plan.attempts_max
                )));
            }
            running = false;
        }
    }

    /// After an error: give the rest back, connect again. False when this worker is to end.
    fn recover(&mut self, error: &BulkError) -> bool {
        let began = Instant::now();
        self.port = None;
        let wire = &self.run.wires[self.worker];
        wire.detach();
        let stalled = wire
            .was_cut()
            .then(|| BulkError::passing("it stalled while other connections went on, and was closed"));
        let error = stalled.as_ref().unwrap_or(error);
        // Another connection may have answered in time: the block has used up no attempt.
        self.running &= stalled.is_none();
        self.count_repeated();
        self.give_back(error);
        self.seen.failure.get_or_insert_with(|| error.why.clone());
        if !error.retry {
            self.fail(error);
            return false;
        }
        loop {
            self.failures += 1;
            if self.failures > FAILURES_MAX || self.run.hooks.stop() {
                return false;
            }
            if self.run.schedule.is_over() {
                return false;
            }
            std::thread::sleep(PAUSE * 2u32.pow(self.failures - 1));
            self.seen.retries += 1;
            match self.connect() {
                Ok(()) => {
                    self.seen.retrying += began.elapsed();
                    self.free_since = Instant::now();
                    return true;
                }
                Err(error) if error.retry => {}
                Err(error) => {
                    self.fail(&error);
                    return false;
                }
            }
        }
    }

    /// Nothing will make this transfer whole.
    fn fail(&self, error: &BulkError) {
        let mut span = self.run.span.lock().unwrap_or_else(PoisonError::into_inner);
        span.error.get_or_insert_with(|| error.why.clone());
        drop(span);
        self.run.schedule.stop();
    }
}
