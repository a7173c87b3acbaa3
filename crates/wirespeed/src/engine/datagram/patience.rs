//! How long to wait for an answer that may never come, and when to give the peer up.

use crate::clock::Timebase;
use crate::transport::port::LinkError;

/// Shortest wait before an answer counts as missing.
const TIMEOUT_NS_MIN: u64 = 20_000_000;
/// The wait as long as no answer has ever come: everything is cold.
const TIMEOUT_NS_FIRST: u64 = 200_000_000;
/// Longest wait.
const TIMEOUT_NS_MAX: u64 = 1_000_000_000;
/// The wait in multiples of the smoothed answer time.
const ANSWER_TIMES: f64 = 8.0;
/// Weight of a new answer time (RFC 6298, 2.3).
const WEIGHT: f64 = 1.0 / 8.0;
/// Missing answers in a row are given so much time in all.
const SILENCE_NS_MAX: u64 = 5_000_000_000;

/// The waiting of one rank.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    smoothed_ticks: f64,
    min_ticks: u64,
    first_ticks: u64,
    max_ticks: u64,
    silence_ticks: u64,
    waited_ticks: u64,
}

impl Patience {
    /// No answer yet.
    pub fn new(timebase: &Timebase) -> Self {
        Patience {
            smoothed_ticks: 0.0,
            min_ticks: timebase.to_ticks(TIMEOUT_NS_MIN),
            first_ticks: timebase.to_ticks(TIMEOUT_NS_FIRST),
            max_ticks: timebase.to_ticks(TIMEOUT_NS_MAX),
            silence_ticks: timebase.to_ticks(SILENCE_NS_MAX),
            waited_ticks: 0,
        }
    }

    /// Ticks to wait for an answer.
    #[inline(always)]
    pub fn timeout_ticks(&self) -> u64 {
        if self.smoothed_ticks == 0.0 {
            self.first_ticks
        } else {
            ((self.smoothed_ticks * ANSWER_TIMES) as u64).clamp(self.min_ticks, self.max_ticks)
        }
    }

    /// An answer came after `ticks`.
    #[inline(always)]
    pub fn answered(&mut self, ticks: u64) {
        let ticks = ticks.max(1) as f64;
        if self.smoothed_ticks == 0.0 {
            self.smoothed_ticks = ticks;
        } else {
            self.smoothed_ticks += (ticks - self.smoothed_ticks) * WEIGHT;
        }
        self.waited_ticks = 0;
    }

    /// Something came, at least.
    #[inline(always)]
    pub fn heard(&mut self) {
        self.waited_ticks = 0;
    }

    /// `ticks` went by without an answer: an error when that has gone on for too long.
    #[cold]
    pub fn missed(&mut self, ticks: u64) -> Result<(), LinkError> {
        self.waited_ticks = self.waited_ticks.saturating_add(ticks);
        if self.waited_ticks >= self.silence_ticks {
            return Err(LinkError::TimedOut);
        }
        Ok(())
    }

    /// Ticks of silence after which a peer that only receives gives up; longer when messages are `pace_ticks` apart.
    pub fn silence_ticks(&self, pace_ticks: f64) -> u64 {
        self.silence_ticks.saturating_add((4.0 * pace_ticks) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_follow_the_answers_within_bounds() {
        let timebase = Timebase::start();
        let ns = |ticks| timebase.to_ns(ticks).div_ceil(1_000_000);
        let mut patience = Patience::new(&timebase);
        assert_eq!(ns(patience.timeout_ticks()), 200);
        patience.answered(timebase.to_ticks(10_000));
        assert_eq!(ns(patience.timeout_ticks()), 20);
        (0..100).for_each(|_| patience.answered(timebase.to_ticks(10_000_000)));
        assert!((75..=81).contains(&ns(patience.timeout_ticks())));
        (0..100).for_each(|_| patience.answered(timebase.to_ticks(10_000_000_000)));
        assert_eq!(ns(patience.timeout_ticks()), 1000);
    }

    #[test]
    fn silence_ends_in_an_error_and_an_answer_forgives() {
        let timebase = Timebase::start();
        let mut patience = Patience::new(&timebase);
        let second = timebase.to_ticks(1_000_000_000);
        (0..4).for_each(|_| patience.missed(second).unwrap());
        patience.heard();
        (0..4).for_each(|_| patience.missed(second).unwrap());
        assert_eq!(
            patience.missed(timebase.to_ticks(1_100_000_000)),
            Err(LinkError::TimedOut)
        );
    }
}
