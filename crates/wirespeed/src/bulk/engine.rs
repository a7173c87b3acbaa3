//! The engine: workers that keep `depth` blocks outstanding each, until every block is done or the transfer fails.
//!
//! The clock starts before the first request byte and stops after the last payload byte is in user space. A worker that
//! fails gives its blocks back and connects again; one that cannot ends, and the others go on.

use super::offered::{Answers, Pace, Requests, Times};
use super::port::{Block, BlockDigest, BulkError, BulkPort, Connector, NoDigest};
use super::schedule::{Has, Schedule, Supply, Work};
use super::target::{Destination, Window};
use std::collections::VecDeque;
use std::sync::{Barrier, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Pause before the first attempt to connect again; doubled at each further one.
const PAUSE: Duration = Duration::from_millis(50);
/// Failures in a row after which a worker ends.
const FAILURES_MAX: u32 = 5;
/// How long a worker that has brought nothing home yet waits before it steals.
const PATIENCE: Duration = Duration::from_secs(1);
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
    /// Blocks taken over from slower connections.
    pub steals: u64,
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
    let schedule = Schedule::new(plan.total_bytes, block_bytes, plan.attempts_max.max(1), already);
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
        let (blocks_done, blocks, steals) = self.schedule.counts();
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
            steals,
            answers: self
                .timed
                .then(|| Times::of_all(times.into_iter().flatten(), between(span.first_done))),
            workers,
            error,
        }
    }
}

/// One worker at work.
struct Walk<'a, D, C: Connector, H, S> {
    run: &'a Run<'a, C, H, S>,
    worker: usize,
    port: Option<C::Port>,
    posted: VecDeque<(Block, Instant)>,
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
        if let Some(port) = self.port.take() {
            self.run.connector.retire(self.worker, port);
        }
        self.seen.store = self.window.store;
        self.seen.verify = self.window.verify;
        let taken = self.seen.store + self.seen.verify;
        self.seen.stream = self.seen.stream.saturating_sub(taken);
        (self.seen, self.times)
    }

    fn connect(&mut self) -> Result<(), BulkError> {
        let began = Instant::now();
        let port = self.run.connector.connect(self.worker);
        self.seen.connect += began.elapsed();
        self.port = Some(port?);
        Ok(())
    }

    /// Post up to the depth, then complete one. False when there is nothing more to do.
    fn step(&mut self) -> Result<bool, BulkError> {
        let depth = self.run.plan.depth.max(1);
        while self.posted.len() < depth {
            let has = match (
                self.posted.is_empty(),
                self.free_since.elapsed() >= self.patience(),
            ) {
                (false, _) => Has::Outstanding,
                (true, false) => Has::Nothing,
                (true, true) => Has::Patience,
            };
            match self.run.schedule.take(self.worker, has) {
                Work::Post(block) => self.post(block)?,
                Work::Nothing => break,
                // What is still outstanding was stolen, or is of no use any more.
                Work::Over => return Ok(false),
            }
        }
        match self.posted.is_empty() {
            true => self
                .run
                .schedule
                .wait(self.patience().saturating_sub(self.free_since.elapsed())),
            false => self.complete()?,
        }
        Ok(true)
    }

    /// How long an idle worker leaves the others to their blocks: as long as a block takes. A block fetched twice over
    /// one bottleneck would make the tail longer; one that waits behind a slow connection is worth it.
    fn patience(&self) -> Duration {
        let busy = self.seen.request + self.seen.first_byte + self.seen.stream;
        match u32::try_from(self.seen.blocks) {
            Ok(blocks @ 1..) => busy / blocks,
            _ => PATIENCE,
        }
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
        self.posted.push_back((block, began));
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
        let (Some(&(block, posted)), Some(port)) = (self.posted.front(), self.port.as_mut()) else {
            return Err(BulkError::passing("not connected"));
        };
        let keep = self.run.schedule.begin(self.worker, block);
        let began = posted.max(self.free_since);
        let expected = if self.run.plan.writes { 0 } else { block.size_bytes };
        self.window.begin(block, expected, keep);
        let completed = port.complete(block, &mut self.window).and_then(|()| match keep {
            true => self.window.finish().map(Some),
            false => Ok(None),
        });
        let ended = Instant::now();
        let digest = completed.inspect_err(|error| self.give_back(keep, error))?;
        self.posted.pop_front();
        self.free_since = ended;
        let first = self.window.first_byte.unwrap_or(ended);
        self.seen.first_byte += first.saturating_duration_since(began);
        self.seen.stream += ended.saturating_duration_since(first);
        self.failures = 0;
        if let Some(digest) = digest {
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
            self.run.schedule.done(block);
        }
        Ok(())
    }

    /// The front block failed while its bytes were coming: it alone has used up an attempt.
    fn give_back(&mut self, running: bool, error: &BulkError) {
        if let Some((block, _)) = self.posted.pop_front()
            && running
            && !self.run.schedule.failed(self.worker, block, true)
        {
            self.fail(&BulkError::lasting(format!(
                "block {} failed {} times: {error}",
                block.index, self.run.plan.attempts_max
            )));
        }
    }

    /// After an error: give the rest back, connect again. False when this worker is to end.
    fn recover(&mut self, error: &BulkError) -> bool {
        let began = Instant::now();
        self.port = None;
        for (block, _) in self.posted.drain(..) {
            self.run.schedule.failed(self.worker, block, false);
        }
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
