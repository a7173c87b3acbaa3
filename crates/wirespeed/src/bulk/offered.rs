//! Requests at a given rate: which is due next, and when. An open loop: a request is due whether or not earlier ones are
//! done, so its time counts from then. The resource is asked for round and round; nothing is taken over, because a
//! request that is sent twice would be load that nobody offered.

use super::port::Block;
use super::schedule::{Supply, Work};
use crate::clock::Timebase;
use crate::record::Recorder;
use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeMap, VecDeque};
use std::sync::OnceLock;
use std::time::Duration;
use wirespeed_schema::HistogramData;

/// How long an idle worker sleeps before it looks again.
const LOOK: Duration = Duration::from_millis(20);

/// A rate of requests, and for how long it is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Between two requests; at least 1 ns.
    pub interval_ns: u64,
    /// From the first request to the end of the offer.
    pub duration: Duration,
}

impl Pace {
    /// When request `number` is due, in ns from the first one on; `None` after the end.
    fn after_ns(&self, number: u64) -> Option<u64> {
        let after_ns = number.checked_mul(self.interval_ns.max(1))?;
        (Duration::from_nanos(after_ns) < self.duration).then_some(after_ns)
    }
}

/// What became of the requests.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    /// Requests that were answered.
    pub count: u64,
    /// From the first answer's end to the last one's.
    pub spread: Duration,
    /// From when a request was sent to its last payload byte.
    pub service: HistogramData,
    /// From when it was due, whenever it was sent, to the same.
    pub response: HistogramData,
}

/// What one worker records of its requests, in ticks.
pub(super) struct Times {
    service: Recorder,
    response: Recorder,
}

impl Times {
    pub fn new() -> Self {
        Times {
            service: Recorder::new(0),
            response: Recorder::new(0),
        }
    }

    pub fn record(&mut self, (due, sent): (u64, u64), ended: u64) {
        self.service.record(ended.saturating_sub(sent));
        self.response.record(ended.saturating_sub(due));
    }

    /// What all workers recorded.
    pub fn of_all(all: impl Iterator<Item = Times>, spread: Duration, ns_per_tick: f64) -> Answers {
        let mut sum = Times::new();
        for mut times in all {
            sum.service.merge(&mut times.service);
            sum.response.merge(&mut times.response);
        }
        Answers {
            count: sum.response.count(),
            spread,
            service: sum.service.to_data(ns_per_tick),
            response: sum.response.to_data(ns_per_tick),
        }
    }
}

#[derive(Default)]
struct Inner {
    taken: u64,
    done: u64,
    again: VecDeque<Block>,
    attempts: BTreeMap<u64, u32>,
    stopped: bool,
}

/// All requests of an offer.
pub(super) struct Requests {
    timebase: Timebase,
    pace: Pace,
    block_bytes: u64,
    total_bytes: u64,
    attempts_max: u32,
    /// When the first was due, in ticks.
    began: OnceLock<u64>,
    inner: Mutex<Inner>,
    changed: Condvar,
}

impl Requests {
    /// Blocks of `block_bytes` over `total_bytes`, round and round.
    pub fn new(
        timebase: Timebase,
        pace: Pace,
        (total_bytes, block_bytes): (u64, u64),
        attempts_max: u32,
    ) -> Self {
        Requests {
            timebase,
            pace,
            block_bytes,
            total_bytes,
            attempts_max,
            began: OnceLock::new(),
            inner: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn block(&self, number: u64) -> Block {
        let blocks = self.total_bytes.div_ceil(self.block_bytes).max(1);
        let offset_bytes = number % blocks * self.block_bytes;
        Block {
            index: number,
            offset_bytes,
            size_bytes: self.block_bytes.min(self.total_bytes - offset_bytes),
        }
    }

    /// When the next request is due, in ticks; `None` when no further one is.
    fn next_due(&self, inner: &Inner) -> Option<u64> {
        let began = *self.began.get_or_init(|| self.now());
        let due = began + self.timebase.to_ticks(self.pace.after_ns(inner.taken)?);
        let elapsed_ns = self.timebase.to_ns(self.now().saturating_sub(began));
        (Duration::from_nanos(elapsed_ns) < self.pace.duration && self.total_bytes > 0).then_some(due)
    }

    fn now(&self) -> u64 {
        self.timebase.clock.now()
    }

    fn has_ended(&self, inner: &Inner) -> bool {
        inner.stopped || (self.next_due(inner).is_none() && inner.done == inner.taken)
    }
}

impl Supply for Requests {
    /// A worker without anything outstanding takes the next request also before it is due, and waits for that moment.
    fn take(&self, _: usize, idle: bool) -> Work {
        let mut inner = self.inner.lock();
        if self.has_ended(&inner) {
            return Work::Over;
        }
        if let Some(block) = inner.again.pop_front() {
            return Work::Post(block);
        }
        match self.next_due(&inner) {
            Some(due) if idle || due <= self.now() => {
                inner.taken += 1;
                Work::Post(self.block(inner.taken - 1))
            }
            _ => Work::Nothing,
        }
    }

    fn due(&self, block: Block) -> Option<u64> {
        let after_ns = block.index.saturating_mul(self.pace.interval_ns);
        Some(*self.began.get()? + self.timebase.to_ticks(after_ns))
    }

    fn done(&self, _: usize, _: Block) {
        self.inner.lock().done += 1;
        self.changed.notify_all();
    }

    fn failed(&self, _: usize, block: Block, running: bool) -> bool {
        let mut inner = self.inner.lock();
        inner.again.push_back(block);
        let attempts = inner.attempts.entry(block.index).or_default();
        *attempts += u32::from(running);
        let enough = *attempts < self.attempts_max;
        self.changed.notify_all();
        enough
    }

    /// Nothing is asked for a second time to be faster: that would be load that nobody offered.
    fn held(&self, _: usize) -> usize {
        0
    }

    fn is_over(&self) -> bool {
        self.has_ended(&self.inner.lock())
    }

    fn stop(&self) {
        self.inner.lock().stopped = true;
        self.changed.notify_all();
    }

    fn wait(&self) {
        let mut inner = self.inner.lock();
        if !self.has_ended(&inner) {
            self.changed.wait_for(&mut inner, LOOK);
        }
    }

    fn counts(&self) -> (u64, u64) {
        let inner = self.inner.lock();
        (inner.done, inner.taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(interval: Duration, duration: Duration) -> Requests {
        let pace = Pace {
            interval_ns: interval.as_nanos() as u64,
            duration,
        };
        Requests::new(Timebase::start(), pace, (25, 10), 2)
    }

    fn block(work: Work) -> Block {
        match work {
            Work::Post(block) => block,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_resource_goes_round_and_only_the_idle_wait_for_what_is_not_due() {
        let offered = requests(Duration::from_secs(10), Duration::from_secs(35));
        let taken: Vec<Block> = (0..4).map(|w| block(offered.take(w, true))).collect();
        let places: Vec<_> = taken.iter().map(|b| (b.offset_bytes, b.size_bytes)).collect();
        assert_eq!(places, [(0, 10), (10, 10), (20, 5), (0, 10)]);
        let first = offered.due(taken[0]).unwrap();
        let between = offered.due(taken[3]).unwrap() - first;
        assert_eq!(between, offered.timebase.to_ticks(30_000_000_000));
        assert_eq!(offered.take(4, true), Work::Nothing, "the offer ends before");
        taken.iter().for_each(|b| offered.done(0, *b));
        assert_eq!(offered.take(4, true), Work::Over);
        assert_eq!(offered.counts(), (4, 4));
        let early = requests(Duration::from_secs(10), Duration::from_secs(60));
        block(early.take(0, false));
        assert_eq!(early.take(0, false), Work::Nothing, "not due yet");
    }

    #[test]
    fn what_failed_comes_again_with_the_moment_at_which_it_was_due() {
        let offered = requests(Duration::from_secs(10), Duration::from_secs(15));
        let first = block(offered.take(0, true));
        let due = offered.due(first);
        assert!(offered.failed(0, first, true));
        assert_eq!(block(offered.take(1, false)), first);
        assert_eq!(offered.due(first), due);
        assert!(!offered.failed(1, first, true), "twice is enough");
        offered.stop();
        assert_eq!(offered.take(0, true), Work::Over);
    }

    #[test]
    fn an_empty_resource_offers_nothing() {
        let pace = Pace {
            interval_ns: 1,
            duration: Duration::from_secs(1),
        };
        let empty = Requests::new(Timebase::start(), pace, (0, 10), 1);
        assert_eq!(empty.take(0, true), Work::Over);
    }
}
