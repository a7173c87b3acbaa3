//! The one operation in flight whose completion is timed, and when a sender looks for it that nothing holds up. It must never
//! read the clock in a loop that has nothing to time.

use crate::clock::Timebase;

/// One look in so many times as long: what is seen late is late by no more than that, and looking costs next to nothing.
const SHARE_OF_LOOKS: u64 = 64;
/// A look that was disturbed says nothing of the next.
const LOOK_NS_MAX: u64 = 1_000_000;

/// An operation in flight that is timed, if any.
#[derive(Clone, Copy, Default)]
pub struct Timed {
    /// Completed operations that include it; 0 when none is timed.
    covers: u64,
    ticks: u64,
}

impl Timed {
    /// Whether one is timed.
    #[inline(always)]
    pub fn is_on(self) -> bool {
        self.covers != 0
    }

    /// Operation `number` is about to be handed over: it is timed from `now` on, unless another one is.
    #[inline(always)]
    pub fn begin(&mut self, number: u64, now: impl FnOnce() -> u64) {
        if !self.is_on() {
            (self.covers, self.ticks) = (number + 1, now());
        }
    }

    /// `count` operations are completed: its time, if it is among them.
    #[inline(always)]
    pub fn end(&mut self, count: u64, now: impl FnOnce() -> u64) -> Option<u64> {
        if !self.is_on() || count < self.covers {
            return None;
        }
        self.covers = 0;
        Some(now().saturating_sub(self.ticks))
    }

    /// What is in flight is not waited for any more.
    #[inline(always)]
    pub fn give_up(&mut self) {
        self.covers = 0;
    }
}

/// When a sender looks for what comes back although it need not wait.
pub struct Looks {
    next: u64,
    gap_ticks_max: u64,
}

impl Looks {
    /// The first is due at once.
    pub fn new(timebase: &Timebase) -> Self {
        Looks {
            next: 0,
            gap_ticks_max: timebase.to_ticks(LOOK_NS_MAX),
        }
    }

    /// Whether it is time.
    #[inline(always)]
    pub fn is_due(&self, now: u64) -> bool {
        now >= self.next
    }

    /// A look took from `before` to `after`.
    #[inline(always)]
    pub fn looked(&mut self, before: u64, after: u64) {
        let gap = after.saturating_sub(before).saturating_mul(SHARE_OF_LOOKS);
        self.next = after + gap.min(self.gap_ticks_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_operation_at_a_time_is_timed_from_its_hand_over() {
        let mut timed = Timed::default();
        assert_eq!(timed.end(9, || unreachable!("nothing is timed")), None);
        timed.begin(4, || 100);
        timed.begin(5, || unreachable!("another one is timed"));
        assert_eq!(timed.end(4, || unreachable!("it is not among them")), None);
        assert_eq!(timed.end(5, || 130), Some(30));
        assert!(!timed.is_on());
        timed.begin(0, || 7);
        timed.give_up();
        assert_eq!(timed.end(1, || 8), None);
    }

    #[test]
    fn looks_take_a_small_share_of_the_time_whatever_one_costs() {
        let timebase = Timebase::start();
        let mut looks = Looks::new(&timebase);
        assert!(looks.is_due(0));
        looks.looked(1000, 1010);
        assert!(!looks.is_due(1010 + 639) && looks.is_due(1010 + 640));
        let most = timebase.to_ticks(LOOK_NS_MAX);
        looks.looked(0, most);
        assert!(!looks.is_due(2 * most - 1) && looks.is_due(2 * most));
    }
}
