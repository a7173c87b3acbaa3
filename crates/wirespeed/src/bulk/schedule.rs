//! Which block is whose: one that failed elsewhere, or the next in order. A block is asked for again only after the
//! connection that had it has ended. One lock, taken a few times a block; nobody holds it while bytes move.

use super::port::Block;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::time::Duration;

/// How long an idle worker sleeps before it looks again.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    /// A worker has asked for it, or is about to.
    Held,
    Done,
}

struct Inner {
    states: Vec<State>,
    attempts: Vec<u32>,
    next: usize,
    again: VecDeque<usize>,
    /// Blocks that nobody holds and that are not done.
    free: usize,
    /// Blocks that each worker holds.
    held: Vec<usize>,
    done: usize,
    /// No work goes out any more: there is a reason that no retry will cure, or the user wished so.
    stopped: bool,
}

impl Inner {
    /// Whether `worker` may take a further block. Asking ahead must leave every other worker as many as this one has
    /// already: else the first ones take all of a small resource, and the others stay idle.
    fn may_take(&self, worker: usize) -> bool {
        let own = self.held[worker];
        let owed: usize = self.held.iter().map(|held| own.saturating_sub(*held)).sum();
        self.free > owed
    }
}

/// Where workers get their blocks from.
pub(super) trait Supply: Sync {
    /// Work for `worker`; `idle`: it has nothing outstanding.
    fn take(&self, worker: usize, idle: bool) -> Work;
    /// When `block` is to be asked for, in ticks, where it is not at once.
    fn due(&self, block: Block) -> Option<u64>;
    /// A block that this worker had is where it belongs.
    fn done(&self, worker: usize, block: Block);
    /// A block that this worker had failed; `running`: while its bytes came. False: it failed too often.
    fn failed(&self, worker: usize, block: Block, running: bool) -> bool;
    /// Blocks that `worker` has and that another could fetch in its place.
    fn held(&self, worker: usize) -> usize;
    /// Whether there is nothing more to do.
    fn is_over(&self) -> bool;
    /// Nobody is to begin anything more.
    fn stop(&self);
    /// Sleep until something changed, or for a moment.
    fn wait(&self);
    /// Blocks that are done, and of how many.
    fn counts(&self) -> (u64, u64);
}

/// All blocks of a transfer.
pub(super) struct Schedule {
    inner: Mutex<Inner>,
    changed: Condvar,
    block_bytes: u64,
    total_bytes: u64,
    attempts_max: u32,
}

/// What a worker without work is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Post this.
    Post(Block),
    /// Nothing now; complete what is outstanding, or ask again.
    Nothing,
    /// The transfer is over.
    Over,
}

impl Schedule {
    /// Blocks of `block_bytes` over `total_bytes` for so many workers; those of `already` are done.
    pub fn new(
        (total_bytes, block_bytes): (u64, u64),
        workers: usize,
        attempts_max: u32,
        already: &[u64],
    ) -> Self {
        let count = total_bytes.div_ceil(block_bytes) as usize;
        let mut states = vec![State::Free; count];
        let mut done = 0;
        for &index in already {
            if let Some(state @ State::Free) = usize::try_from(index).ok().and_then(|i| states.get_mut(i)) {
                *state = State::Done;
                done += 1;
            }
        }
        Schedule {
            inner: Mutex::new(Inner {
                attempts: vec![0; count],
                states,
                next: 0,
                again: VecDeque::new(),
                free: count - done,
                held: vec![0; workers],
                done,
                stopped: false,
            }),
            changed: Condvar::new(),
            block_bytes,
            total_bytes,
            attempts_max,
        }
    }

    fn block(&self, index: usize) -> Block {
        let offset_bytes = index as u64 * self.block_bytes;
        Block {
            index: index as u64,
            offset_bytes,
            size_bytes: self.block_bytes.min(self.total_bytes - offset_bytes),
        }
    }
}

impl Supply for Schedule {
    fn take(&self, worker: usize, _: bool) -> Work {
        let mut inner = self.inner.lock();
        if inner.stopped || inner.done == inner.states.len() {
            return Work::Over;
        }
        if !inner.may_take(worker) {
            return Work::Nothing;
        }
        while inner.next < inner.states.len() && inner.states[inner.next] != State::Free {
            inner.next += 1;
        }
        let index = match inner.again.pop_front() {
            Some(index) => index,
            None if inner.next < inner.states.len() => inner.next,
            None => return Work::Nothing,
        };
        inner.states[index] = State::Held;
        inner.free -= 1;
        inner.held[worker] += 1;
        Work::Post(self.block(index))
    }

    fn due(&self, _: Block) -> Option<u64> {
        None
    }

    fn done(&self, worker: usize, block: Block) {
        let mut inner = self.inner.lock();
        inner.states[block.index as usize] = State::Done;
        inner.held[worker] -= 1;
        inner.done += 1;
        self.changed.notify_all();
    }

    fn failed(&self, worker: usize, block: Block, running: bool) -> bool {
        let mut inner = self.inner.lock();
        let index = block.index as usize;
        inner.states[index] = State::Free;
        inner.free += 1;
        inner.held[worker] -= 1;
        inner.again.push_back(index);
        // Only the block whose bytes were coming is to blame; those behind it on the connection are not.
        inner.attempts[index] += u32::from(running);
        let enough = inner.attempts[index] < self.attempts_max;
        self.changed.notify_all();
        enough
    }

    fn held(&self, worker: usize) -> usize {
        self.inner.lock().held[worker]
    }

    fn is_over(&self) -> bool {
        let inner = self.inner.lock();
        inner.stopped || inner.done == inner.states.len()
    }

    fn stop(&self) {
        self.inner.lock().stopped = true;
        self.changed.notify_all();
    }

    fn wait(&self) {
        let mut inner = self.inner.lock();
        if !inner.stopped && inner.done < inner.states.len() {
            self.changed.wait_for(&mut inner, LOOK);
        }
    }

    fn counts(&self) -> (u64, u64) {
        let inner = self.inner.lock();
        (inner.done as u64, inner.states.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(work: Work) -> u64 {
        match work {
            Work::Post(block) => block.index,
            other => panic!("{other:?}"),
        }
    }

    fn block(index: u64) -> Block {
        Block {
            index,
            offset_bytes: index * 10,
            size_bytes: if index == 3 { 5 } else { 10 },
        }
    }

    #[test]
    fn order_then_failures_and_nothing_twice() {
        let schedule = Schedule::new((35, 10), 3, 2, &[1]);
        assert_eq!(index(schedule.take(0, true)), 0);
        assert_eq!(schedule.take(0, false), Work::Nothing, "the others have none");
        assert_eq!(index(schedule.take(1, true)), 2);
        assert_eq!(schedule.take(2, true), Work::Post(block(3)));
        assert_eq!(schedule.take(1, false), Work::Nothing);
        schedule.done(2, block(3));
        assert_eq!(schedule.take(2, true), Work::Nothing, "all are on their way");
        assert!(schedule.failed(1, block(2), true));
        assert_eq!(schedule.take(0, false), Work::Nothing, "others have less");
        assert_eq!(index(schedule.take(2, true)), 2);
        assert!(!schedule.failed(2, block(2), true));
        assert_eq!(index(schedule.take(1, true)), 2);
        schedule.done(1, block(2));
        schedule.done(0, block(0));
        assert_eq!(schedule.take(0, true), Work::Over);
        assert_eq!((schedule.counts(), schedule.held(0)), ((4, 4), 0));
    }

    #[test]
    fn nothing_to_do_is_over_at_once() {
        assert_eq!(Schedule::new((0, 10), 1, 1, &[]).take(0, true), Work::Over);
    }
}
