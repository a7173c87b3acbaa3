//! Operations that may finish in any order, counted in the order in which they were posted.
//!
//! It must never forget one: an operation is counted once all before it are.

use std::cell::Cell;

/// Most operations under way; a port says busy beyond.
const UNDER_WAY_MAX: u64 = 1 << 16;

/// A ring of operations under way. Numbers are places in turn; an operation that finishes at once, with none before it
/// under way, takes no place at all.
pub struct Order {
    finished: Box<[Cell<bool>]>,
    /// Oldest operation under way, and the next one to be posted.
    first: Cell<u64>,
    next: Cell<u64>,
    completed: Cell<u64>,
}

impl Order {
    /// For `under_way` operations at once.
    pub fn new(under_way: u64) -> Self {
        let places = under_way.clamp(1, UNDER_WAY_MAX).next_power_of_two();
        Order {
            finished: (0..places).map(|_| Cell::new(false)).collect(),
            first: Cell::new(0),
            next: Cell::new(0),
            completed: Cell::new(0),
        }
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.finished.len()
    }

    /// The place of operation `number`.
    #[inline(always)]
    pub fn place(&self, number: u64) -> usize {
        (number & (self.finished.len() as u64 - 1)) as usize
    }

    /// The number of the operation to be posted now; `None` when there are too many.
    #[inline(always)]
    pub fn next(&self) -> Option<u64> {
        let number = self.next.get();
        if number - self.first.get() == self.finished.len() as u64 {
            return None;
        }
        self.finished[self.place(number)].set(false);
        Some(number)
    }

    /// It was posted and will finish later (or has meanwhile).
    #[inline(always)]
    pub fn begin(&self, number: u64) {
        self.next.set(number + 1);
        self.advance();
    }

    /// It was posted and is finished.
    #[inline(always)]
    pub fn at_once(&self, number: u64) {
        if self.first.get() == number {
            self.completed.set(self.completed.get() + 1);
        } else {
            self.finished[self.place(number)].set(true);
            self.next.set(number + 1);
        }
    }

    /// An operation under way is finished.
    #[inline(always)]
    pub fn finish(&self, number: u64) {
        self.finished[self.place(number)].set(true);
        self.advance();
    }

    #[inline(always)]
    fn advance(&self) {
        let (mut first, next) = (self.first.get(), self.next.get());
        let before = first;
        while first < next && self.finished[self.place(first)].get() {
            first += 1;
        }
        self.first.set(first);
        self.completed.set(self.completed.get() + first - before);
    }

    /// Operations completed so far.
    #[inline(always)]
    pub fn completed(&self) -> u64 {
        self.completed.get()
    }

    /// Operations posted so far.
    #[inline(always)]
    pub fn posted(&self) -> u64 {
        self.completed.get() + self.next.get() - self.first.get()
    }

    /// Whether none is under way.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.first.get() == self.next.get()
    }
}
