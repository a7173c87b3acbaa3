//! Which block is whose: the next in order, one that failed elsewhere, or, at the tail, one that waits behind another on
//! a slow connection. One lock, taken a few times a block; nobody holds it while bytes move.

use super::port::Block;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long an idle worker sleeps before it looks again, should a wake-up be lost.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    /// Posted by this worker, nothing of it has come yet.
    Posted(usize),
    /// This worker takes its bytes in.
    Running,
    Done,
}

struct Inner {
    states: Vec<State>,
    attempts: Vec<u32>,
    next: usize,
    again: VecDeque<usize>,
    done: usize,
    steals: u64,
    /// Whoever waits gives up: a reason that no retry will cure, or the user's wish.
    stopped: bool,
}

/// What a worker that asks for work has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Has {
    /// Something is outstanding.
    Outstanding,
    /// Nothing.
    Nothing,
    /// Nothing, for so long that it may take over what others have.
    Patience,
}

/// Where workers get their blocks from.
pub(super) trait Supply: Sync {
    /// Work for `worker`.
    fn take(&self, worker: usize, has: Has) -> Work;
    /// When `block` is to be asked for, where it is not at once.
    fn due(&self, block: Block) -> Option<Instant>;
    /// The bytes of a posted block are about to come. False: it was stolen, and they are to be dropped.
    fn begin(&self, worker: usize, block: Block) -> bool;
    /// A block is where it belongs.
    fn done(&self, block: Block);
    /// A block that this worker had failed. False: it failed too often.
    fn failed(&self, worker: usize, block: Block, running: bool) -> bool;
    /// Whether there is nothing more to do.
    fn is_over(&self) -> bool;
    /// Nobody is to begin anything more.
    fn stop(&self);
    /// Sleep until something changed, or for `longest`.
    fn wait(&self, longest: Duration);
    /// Blocks that are done, of how many, and how many were stolen.
    fn counts(&self) -> (u64, u64, u64);
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
    /// Blocks of `block_bytes` over `total_bytes`; those of `already` are done.
    pub fn new(total_bytes: u64, block_bytes: u64, attempts_max: u32, already: &[u64]) -> Self {
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
                done,
                steals: 0,
                stopped: false,
            }),
            changed: Condvar::new(),
            block_bytes,
            total_bytes,
            attempts_max,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn take(&self, worker: usize, has: Has) -> Work {
        let mut inner = self.lock();
        if inner.stopped || inner.done == inner.states.len() {
            return Work::Over;
        }
        while inner.next < inner.states.len() && inner.states[inner.next] != State::Free {
            inner.next += 1;
        }
        let index = match inner.again.pop_front() {
            Some(index) => index,
            None if inner.next < inner.states.len() => inner.next,
            // The last posted is the one that would wait longest.
            None if has == Has::Patience => {
                let waits = |s: &State| matches!(s, State::Posted(other) if *other != worker);
                match inner.states.iter().rposition(waits) {
                    Some(index) => {
                        inner.steals += 1;
                        index
                    }
                    None => return Work::Nothing,
                }
            }
            None => return Work::Nothing,
        };
        inner.states[index] = State::Posted(worker);
        Work::Post(self.block(index))
    }

    fn due(&self, _: Block) -> Option<Instant> {
        None
    }

    fn begin(&self, worker: usize, block: Block) -> bool {
        let mut inner = self.lock();
        let state = &mut inner.states[block.index as usize];
        let ours = *state == State::Posted(worker);
        if ours {
            *state = State::Running;
        }
        ours
    }

    fn done(&self, block: Block) {
        let mut inner = self.lock();
        inner.states[block.index as usize] = State::Done;
        inner.done += 1;
        self.changed.notify_all();
    }

    fn failed(&self, worker: usize, block: Block, running: bool) -> bool {
        let mut inner = self.lock();
        let index = block.index as usize;
        if !running && inner.states[index] != State::Posted(worker) {
            return true;
        }
        inner.states[index] = State::Free;
        inner.again.push_back(index);
        // Only the block whose bytes were coming is to blame; those behind it on the connection are not.
        inner.attempts[index] += u32::from(running);
        let enough = inner.attempts[index] < self.attempts_max;
        self.changed.notify_all();
        enough
    }

    fn is_over(&self) -> bool {
        let inner = self.lock();
        inner.stopped || inner.done == inner.states.len()
    }

    fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    fn wait(&self, longest: Duration) {
        let inner = self.lock();
        if !inner.stopped && inner.done < inner.states.len() {
            let waited = self.changed.wait_timeout(inner, longest.clamp(LOOK / 50, LOOK));
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn counts(&self) -> (u64, u64, u64) {
        let inner = self.lock();
        (inner.done as u64, inner.states.len() as u64, inner.steals)
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

    #[test]
    fn order_then_failures_then_stealing() {
        let schedule = Schedule::new(35, 10, 2, &[1]);
        assert_eq!(index(schedule.take(0, Has::Patience)), 0);
        assert_eq!(index(schedule.take(0, Has::Outstanding)), 2);
        let last = schedule.take(1, Has::Patience);
        assert_eq!(
            last,
            Work::Post(Block {
                index: 3,
                offset_bytes: 30,
                size_bytes: 5
            })
        );
        let block = |index| Block {
            index,
            offset_bytes: index * 10,
            size_bytes: 10,
        };
        assert!(schedule.begin(1, block(3)));
        schedule.done(block(3));
        assert_eq!(schedule.take(1, Has::Outstanding), Work::Nothing);
        assert!(schedule.begin(0, block(0)));
        // Block 2 waits behind block 0 on worker 0.
        assert_eq!(index(schedule.take(1, Has::Patience)), 2);
        assert!(!schedule.begin(0, block(2)));
        assert!(schedule.begin(1, block(2)));
        assert_eq!(schedule.take(2, Has::Patience), Work::Nothing);
        assert!(schedule.failed(1, block(2), true));
        assert_eq!(index(schedule.take(2, Has::Patience)), 2);
        assert!(schedule.begin(2, block(2)));
        assert!(!schedule.failed(2, block(2), true));
        assert_eq!(index(schedule.take(1, Has::Patience)), 2);
        assert!(schedule.begin(1, block(2)));
        schedule.done(block(2));
        schedule.done(block(0));
        assert_eq!(schedule.take(0, Has::Patience), Work::Over);
        assert_eq!(schedule.counts(), (4, 4, 1));
    }

    #[test]
    fn nothing_to_do_is_over_at_once() {
        assert_eq!(Schedule::new(0, 10, 1, &[]).take(0, Has::Patience), Work::Over);
    }
}
