//! One worker: it keeps `depth` blocks outstanding over its connection until there is nothing more to do. One that fails
//! gives its blocks back and connects again; one that cannot ends, and the others go on.
//!
//! It must never hold another worker up.

use super::engine::{Hooks, Run, Worker};
use super::offered::Times;
use super::port::{Block, BlockDigest, BulkError, BulkPort, Connector};
use super::schedule::{Supply, Work};
use super::target::Window;
use crate::clock::Timebase;
use crate::host::Probe;
use std::collections::VecDeque;
use std::time::Duration;
use wirespeed_schema::host::Disturbance;
use wirespeed_schema::units::often;

/// Pause before the first attempt to connect again; doubled at each further one.
const PAUSE: Duration = Duration::from_millis(50);
/// Failures in a row after which a worker ends.
const FAILURES_MAX: u32 = 5;
/// A sleep may end so much late: the last part of a wait for a moment is spent awake.
const SLEEP_LATE: Duration = Duration::from_micros(100);
/// How long a worker that waits for a moment sleeps before it looks whether to stop.
const LOOK: Duration = Duration::from_millis(50);

/// Where a worker's time went, in ticks; [`Worker`] has the same in time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ticks {
    connect: u64,
    request: u64,
    first_byte: u64,
    stream: u64,
    store: u64,
    verify: u64,
    idle: u64,
    retrying: u64,
    /// From the moment at which all were connected to its end.
    pub observed: u64,
}

impl Ticks {
    /// `seen` with its times.
    pub fn into_times(self, seen: Worker, timebase: &Timebase) -> Worker {
        let time = |ticks| Duration::from_nanos(timebase.to_ns(ticks));
        Worker {
            connect: time(self.connect),
            request: time(self.request),
            first_byte: time(self.first_byte),
            stream: time(self.stream.saturating_sub(self.store + self.verify)),
            store: time(self.store),
            verify: time(self.verify),
            idle: time(self.idle),
            retrying: time(self.retrying),
            ..seen
        }
    }
}

/// What a worker brings home.
#[derive(Default)]
pub(super) struct Walked {
    /// Its counts; its times are in ticks.
    pub seen: Worker,
    pub ticks: Ticks,
    pub times: Option<Times>,
    pub disturbance: Disturbance,
}

/// What a worker has asked for.
struct Posted {
    block: Block,
    /// In ticks.
    at: u64,
    /// Bytes that had passed over its connections before.
    wire_bytes: u64,
}

/// One worker at work.
pub(super) struct Walk<'a, D, C: Connector, H, S> {
    run: &'a Run<'a, C, H, S>,
    worker: usize,
    port: Option<C::Port>,
    posted: VecDeque<Posted>,
    /// The oldest is being completed.
    running: bool,
    /// Bytes that had passed over its connections when the last block was home, or the connection made.
    home_bytes: u64,
    window: Window<'a, D>,
    /// When the last answer ended, in ticks.
    free_since: u64,
    failures: u32,
    seen: Worker,
    ticks: Ticks,
    times: Option<Times>,
}

impl<'a, D: BlockDigest, C: Connector, H: Hooks, S: Supply> Walk<'a, D, C, H, S> {
    pub fn new(run: &'a Run<'a, C, H, S>, worker: usize) -> Self {
        Walk {
            run,
            worker,
            port: None,
            posted: VecDeque::with_capacity(run.plan.depth.max(1)),
            running: false,
            home_bytes: 0,
            window: Window::new(run.destination, run.clock),
            free_since: run.clock.now(),
            failures: 0,
            seen: Worker::default(),
            ticks: Ticks::default(),
            times: run.timed.then(Times::new),
        }
    }

    /// Work until there is nothing more to do.
    pub fn walk(mut self) -> Walked {
        let first = self.connect();
        let mut probe = Probe::start(self.run.cpu);
        self.run.connected.wait();
        // What the others took to connect is no part of the transfer.
        probe.restart_files();
        probe.restart_usage();
        let all_connected = self.now();
        self.free_since = all_connected;
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
        self.ticks.observed = self.since(all_connected);
        let disturbance = probe.finish();
        let wire = &self.run.wires[self.worker];
        (self.seen.read_bytes, self.seen.written_bytes) = (wire.read_bytes(), wire.written_bytes());
        if let Some(port) = self.port.take() {
            self.run.connector.retire(self.worker, port);
        }
        wire.detach();
        (self.ticks.store, self.ticks.verify) = (self.window.store_ticks, self.window.verify_ticks);
        Walked {
            seen: self.seen,
            ticks: self.ticks,
            times: self.times,
            disturbance,
        }
    }

    fn now(&self) -> u64 {
        self.run.clock.now()
    }

    fn since(&self, began: u64) -> u64 {
        self.now().saturating_sub(began)
    }

    fn connect(&mut self) -> Result<(), BulkError> {
        let began = self.now();
        let wire = &self.run.wires[self.worker];
        let port = self.run.connector.connect(self.worker, wire);
        self.ticks.connect += self.since(began);
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
        match self.posted.is_empty() {
            true => self.run.rest(),
            false => self.complete()?,
        }
        Ok(true)
    }

    /// Sleep until `due`, in ticks. False: it is over before.
    fn hold(&self, due: u64) -> bool {
        loop {
            let left = due.saturating_sub(self.now());
            match Duration::from_nanos(self.run.timebase.to_ns(left)) {
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
        let began = self.now();
        if self.posted.is_empty() {
            self.ticks.idle += began.saturating_sub(self.free_since);
        }
        self.posted.push_back(Posted {
            block,
            at: began,
            wire_bytes: self.run.wires[self.worker].total_bytes(),
        });
        let mut span = self.run.span.lock();
        span.first = Some(span.first.map_or(began, |first| first.min(began)));
        drop(span);
        let Some(port) = self.port.as_mut() else {
            return Err(BulkError::passing("not connected"));
        };
        let posted = port.post(block);
        self.ticks.request += self.since(began);
        posted
    }

    fn complete(&mut self) -> Result<(), BulkError> {
        let (Some(front), Some(port)) = (self.posted.front(), self.port.as_mut()) else {
            return Err(BulkError::passing("not connected"));
        };
        let (block, posted) = (front.block, front.at);
        self.running = true;
        // What handing requests over took is counted there.
        let began = self.run.clock.now();
        let expected = if self.run.plan.writes { 0 } else { block.size_bytes };
        self.window.begin(block, expected);
        port.complete(block, &mut self.window)?;
        let digest = self.window.finish()?;
        let ended = self.now();
        self.running = false;
        self.posted.pop_front();
        self.home_bytes = self.run.wires[self.worker].total_bytes();
        self.free_since = ended;
        let first = self.window.first_byte.unwrap_or(ended);
        self.ticks.first_byte += first.saturating_sub(began);
        self.ticks.stream += ended.saturating_sub(first);
        self.failures = 0;
        self.seen.bytes += block.size_bytes;
        self.seen.blocks += 1;
        self.run.moved.add(block.size_bytes);
        let mut span = self.run.span.lock();
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
                let times = often(u64::from(self.run.plan.attempts_max));
                self.fail(&BulkError {
                    why: format!("block {} failed {times}: {error}", block.index),
                    retry: false,
                    ..error.clone()
                });
            }
            running = false;
        }
    }

    /// After an error: give the rest back, connect again. False when this worker is to end.
    fn recover(&mut self, error: &BulkError) -> bool {
        let began = self.now();
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
        let mut last = error.clone();
        loop {
            self.failures += 1;
            if self.failures > FAILURES_MAX || self.run.hooks.stop() {
                // Others may go on; if none does, this is why.
                self.run.span.lock().last_failure = Some(last);
                return false;
            }
            if self.run.schedule.is_over() {
                return false;
            }
            std::thread::sleep(PAUSE * 2u32.pow(self.failures - 1));
            self.seen.retries += 1;
            match self.connect() {
                Ok(()) => {
                    self.free_since = self.now();
                    self.ticks.retrying += self.free_since.saturating_sub(began);
                    return true;
                }
                Err(error) if error.retry => last = error,
                Err(error) => {
                    self.fail(&error);
                    return false;
                }
            }
        }
    }

    /// Nothing will make this transfer whole.
    fn fail(&self, error: &BulkError) {
        let mut span = self.run.span.lock();
        span.error.get_or_insert_with(|| error.clone());
        drop(span);
        self.run.schedule.stop();
    }
}
