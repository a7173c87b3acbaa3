//! Operations that may finish in any order, counted in the order in which they were posted.
//!
//! It must never forget one: an operation is counted once all before it are.

use std::cell::Cell;

/// Most operations under way; a port says busy beyond.
const UNDER_WAY_MAX: u64 = 1 << 16;

/// A ring of operations under way. Numbers are places in turn; an operation that finishes at once, with none before it
/// under way, takes no place at all.
pub struct Order {
    /// Of each place, whether its operation is finished and not counted yet; so of none that is free. What finishes at once
    /// writes nothing here.
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

    /// The operation under way at `place` is finished.
    #[inline(always)]
    pub fn finish(&self, place: usize) {
        self.finished[place].set(true);
        self.advance();
    }

    #[inline(always)]
    fn advance(&self) {
        let (mut first, next) = (self.first.get(), self.next.get());
        let before = first;
        while first < next && self.finished[self.place(first)].replace(false) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Places are used again and again: what finished there before, early or at once, counts for nobody after it.
    #[test]
    fn a_place_that_is_used_again_is_not_finished() {
        let order = Order::new(4);
        for round in 0..7 {
            let begun: Vec<u64> = (0..4).map(|_| begin(&order)).collect();
            assert_eq!(order.next(), None, "round {round}");
            for &number in begun.iter().rev() {
                assert_eq!(order.completed(), round * 6);
                order.finish(order.place(number));
            }
            assert_eq!((order.completed(), order.is_empty()), (round * 6 + 4, true));
            // At once behind one under way, and with none.
            let first = begin(&order);
            order.at_once(order.next().unwrap());
            assert_eq!(order.completed(), round * 6 + 4);
            order.finish(order.place(first));
            assert_eq!(
                (order.completed(), order.posted()),
                (round * 6 + 6, round * 6 + 6)
            );
        }
        // Within the call that posts it.
        let number = order.next().unwrap();
        order.finish(order.place(number));
        order.begin(number);
        assert_eq!((order.completed(), order.is_empty()), (43, true));
    }

    fn begin(order: &Order) -> u64 {
        let number = order.next().unwrap();
        order.begin(number);
        number
    }
}
