//! Which sequence numbers have come: loss, reordering and duplicates in constant memory.

/// Sequence numbers behind the highest one that are remembered.
pub const REMEMBERED: u64 = 1 << 16;
/// Twice what is remembered: the word that `next` is in is cleared as a whole, a power of two makes the ring cheap.
const WORDS: usize = (REMEMBERED / 32) as usize;

/// Bookkeeping of one phase's sequence numbers, from 0. A message that comes more than [`REMEMBERED`] behind the
/// highest one cannot be told from a duplicate: it is counted as stale, and its number stays lost.
pub struct Tracker {
    /// One bit a number, in a ring: set when it has come.
    seen: Box<[u64; WORDS]>,
    /// The highest number that has come, plus one.
    pub next: u64,
    /// Numbers that have come, each counted once.
    pub received: u64,
    /// Of these, those that came after a higher one.
    pub reordered: u64,
    /// Messages whose number had come before.
    pub duplicates: u64,
    /// Messages too far behind to be known.
    pub stale: u64,
}

impl Tracker {
    /// Nothing has come.
    pub fn new() -> Self {
        Tracker {
            seen: Box::new([0; WORDS]),
            next: 0,
            received: 0,
            reordered: 0,
            duplicates: 0,
            stale: 0,
        }
    }

    /// Forget everything, without allocating.
    pub fn clear(&mut self) {
        self.seen.fill(0);
        (
            self.next,
            self.received,
            self.reordered,
            self.duplicates,
            self.stale,
        ) = (0, 0, 0, 0, 0);
    }

    /// Note that `number` came; true when it is the first of its number.
    #[inline(always)]
    pub fn note(&mut self, number: u64) -> bool {
        if number == self.next {
            *self.word(number) |= bit(number);
            if number % 64 == 63 {
                // The next word holds numbers of one window ago.
                *self.word(number + 1) = 0;
            }
            self.next += 1;
            self.received += 1;
            return true;
        }
        self.out_of_order(number)
    }

    /// Numbers below `total` that have not come.
    pub fn lost(&self, total: u64) -> u64 {
        total.saturating_sub(self.received)
    }

    #[cold]
    #[inline(never)]
    fn out_of_order(&mut self, number: u64) -> bool {
        if number > self.next {
            self.skip_to(number);
            return self.note(number);
        }
        if self.next - number > REMEMBERED {
            self.stale += 1;
            return false;
        }
        let word = self.word(number);
        if *word & bit(number) != 0 {
            self.duplicates += 1;
            return false;
        }
        *word |= bit(number);
        self.received += 1;
        self.reordered += 1;
        true
    }

    /// Nothing between `next` and `number` has come: clear the words that are entered on the way.
    fn skip_to(&mut self, number: u64) {
        let (from, to) = (self.next / 64 + 1, number / 64);
        if to.saturating_sub(from) >= WORDS as u64 {
            self.seen.fill(0);
        } else {
            (from..=to).for_each(|word| self.seen[word as usize % WORDS] = 0);
        }
        self.next = number;
    }

    #[inline(always)]
    fn word(&mut self, number: u64) -> &mut u64 {
        &mut self.seen[(number / 64) as usize % WORDS]
    }
}

#[inline(always)]
fn bit(number: u64) -> u64 {
    1 << (number % 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// The same counts with all the memory in the world.
    fn naive(numbers: &[u64]) -> (u64, u64, u64, u64) {
        let (mut seen, mut next) = (HashSet::new(), 0);
        let (mut reordered, mut duplicates, mut stale) = (0, 0, 0);
        for &n in numbers {
            if n < next && next - n > REMEMBERED {
                stale += 1;
            } else if !seen.insert(n) {
                duplicates += 1;
            } else if n < next {
                reordered += 1;
            }
            next = next.max(n + 1);
        }
        (seen.len() as u64, reordered, duplicates, stale)
    }

    fn counted(numbers: &[u64]) -> (u64, u64, u64, u64) {
        let mut tracker = Tracker::new();
        numbers.iter().for_each(|&n| {
            tracker.note(n);
        });
        (
            tracker.received,
            tracker.reordered,
            tracker.duplicates,
            tracker.stale,
        )
    }

    proptest! {
        #[test]
        fn counts_as_the_naive_model(numbers in prop::collection::vec(0u64..400, 0..600)) {
            prop_assert_eq!(counted(&numbers), naive(&numbers));
        }

        #[test]
        fn counts_across_the_window(steps in prop::collection::vec((0u64..3, 0u64..70_000), 0..300)) {
            let mut next = 0u64;
            let numbers: Vec<u64> = steps.iter().map(|&(kind, amount)| {
                let n = match kind {
                    0 => next,
                    1 => next + amount,
                    _ => next.saturating_sub(amount),
                };
                next = next.max(n + 1);
                n
            }).collect();
            prop_assert_eq!(counted(&numbers), naive(&numbers));
        }

        #[test]
        fn sent_is_received_and_lost(kept in prop::collection::vec(any::<bool>(), 0..500)) {
            let mut tracker = Tracker::new();
            let came = kept.iter().enumerate().filter(|(_, k)| **k).map(|(n, _)| n as u64);
            came.for_each(|n| { tracker.note(n); });
            let total = kept.len() as u64;
            prop_assert_eq!(tracker.received + tracker.lost(total), total);
            prop_assert_eq!((tracker.reordered, tracker.duplicates), (0, 0));
        }
    }

    #[test]
    fn a_word_that_is_entered_again_forgets_the_window_before() {
        let mut tracker = Tracker::new();
        let late = WORDS as u64 * 64 + 5;
        assert!((0..late).all(|number| tracker.note(number)));
        assert!(tracker.note(late + 1) && tracker.note(late));
        assert_eq!((tracker.duplicates, tracker.reordered), (0, 1));
    }

    #[test]
    fn what_is_remembered_ends_at_its_bound() {
        let with_gap_at = |gap: u64| {
            let mut tracker = Tracker::new();
            (0..=REMEMBERED)
                .filter(|number| *number != gap)
                .for_each(|number| assert!(tracker.note(number)));
            tracker
        };
        let (mut last, mut beyond) = (with_gap_at(1), with_gap_at(0));
        assert!(last.note(1), "as far behind as is remembered");
        assert!(!beyond.note(0), "one further");
        assert_eq!((last.stale, beyond.stale), (0, 1));
    }

    #[test]
    fn a_long_run_in_order_is_all_received() {
        let mut tracker = Tracker::new();
        for n in 0..3 * REMEMBERED {
            assert!(tracker.note(n));
            assert!(!tracker.note(n), "{n} came twice");
        }
        assert_eq!(
            (tracker.received, tracker.duplicates),
            (3 * REMEMBERED, 3 * REMEMBERED)
        );
        tracker.clear();
        assert!(tracker.note(0));
    }
}
