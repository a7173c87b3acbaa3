//! Which connections have stalled: nothing moved over them for a given time in which others made progress. A slow
//! connection has not stalled, and neither has any where nothing moves at all: that is the link's own time limit to say.
//!
//! A process that was stopped, a suspended machine or a far end that stood still is nobody's stall: whoever moves first
//! afterwards must not make the others look silent. Nor is one silent that had nothing to move.

use std::time::{Duration, Instant};

/// Looks at all connections are this part of the longest silence apart, at least.
const LOOKS: u32 = 8;
/// Whoever looks sleeps at least so long in between.
const WAIT_MIN: Duration = Duration::from_millis(1);
/// Of the time since something last moved, at most this part of the longest silence counts.
const COUNTED: u32 = 4;

struct Seen {
    moved_bytes: u64,
    /// Time without a byte in which others moved.
    silent: Duration,
}

/// What was seen of every connection.
pub(super) struct Stalls {
    longest: Duration,
    looked: Instant,
    /// The last look at which anything had moved.
    moved: Instant,
    seen: Vec<Seen>,
}

impl Stalls {
    /// Nothing has moved yet over any of `count` connections.
    pub fn new(count: usize, longest: Duration, now: Instant) -> Self {
        let seen = (0..count).map(|_| Seen {
            moved_bytes: 0,
            silent: Duration::ZERO,
        });
        Stalls {
            longest,
            looked: now,
            moved: now,
            seen: seen.collect(),
        }
    }

    /// How long nobody need look.
    pub fn wait(&self) -> Duration {
        (self.longest / LOOKS).max(WAIT_MIN)
    }

    /// Look at every connection, unless that was done just now: what `seen` says it has moved in all, and whether it has
    /// anything to move. Those that have stalled.
    pub fn look(&mut self, now: Instant, seen: impl Fn(usize) -> (u64, bool)) -> Vec<usize> {
        if now.saturating_duration_since(self.looked) < self.longest / LOOKS {
            return Vec::new();
        }
        self.looked = now;
        let mut counted = Duration::ZERO;
        let found: Vec<(u64, bool)> = (0..self.seen.len()).map(seen).collect();
        let mut both = self.seen.iter().zip(&found);
        if both.any(|(seen, (moved_bytes, _))| seen.moved_bytes != *moved_bytes) {
            counted = now
                .saturating_duration_since(self.moved)
                .min(self.longest / COUNTED);
            self.moved = now;
        }
        for (seen, (moved_bytes, is_busy)) in self.seen.iter_mut().zip(found) {
            seen.silent = match seen.moved_bytes == moved_bytes && is_busy {
                true => seen.silent + counted,
                false => Duration::ZERO,
            };
            seen.moved_bytes = moved_bytes;
        }
        let stalled = self.seen.iter().enumerate();
        let stalled = stalled.filter(|(_, seen)| seen.silent >= self.longest);
        stalled.map(|(worker, _)| worker).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: [usize; 0] = [];

    /// Three connections, one of which stalls when nothing moves over it for 800 ms.
    struct Three {
        began: Instant,
        stalls: Stalls,
    }

    impl Three {
        fn new() -> Self {
            let began = Instant::now();
            let stalls = Stalls::new(3, Duration::from_millis(800), began);
            Three { began, stalls }
        }

        /// Those that are stalled after so long, with so many bytes moved over each.
        fn at(&mut self, ms: u64, moved_bytes: [u64; 3]) -> Vec<usize> {
            let now = self.began + Duration::from_millis(ms);
            self.stalls.look(now, |worker| (moved_bytes[worker], true))
        }
    }

    #[test]
    fn only_a_silence_in_which_others_move_is_a_stall() {
        let mut three = Three::new();
        assert_eq!(three.at(100, [5, 5, 5]), NOBODY);
        assert_eq!(three.at(300, [5, 5, 5]), NOBODY, "nothing moves anywhere");
        // Two go on, one byte at a time.
        assert_eq!(three.at(400, [5, 6, 6]), NOBODY);
        assert_eq!(three.at(600, [5, 7, 7]), NOBODY);
        assert_eq!(three.at(800, [5, 8, 8]), NOBODY);
        assert_eq!(three.at(1000, [5, 9, 9]), [0]);
        assert_eq!(three.at(1050, [0, 0, 0]), NOBODY, "too early to look again");
        assert_eq!(three.at(1200, [6, 9, 10]), NOBODY, "it moves again");
        assert_eq!(three.at(1400, [6, 9, 11]), NOBODY);
        assert_eq!(three.at(1600, [6, 9, 12]), NOBODY);
        assert_eq!(three.at(1800, [6, 9, 13]), [1]);
        assert_eq!(three.at(2000, [6, 9, 14]), [0, 1]);
    }

    /// Whether this process stood still and nobody looked, or the far end did and every look saw nothing.
    #[test]
    fn a_standstill_is_nobodys_silence() {
        for looks in [false, true] {
            let mut three = Three::new();
            assert_eq!(three.at(100, [5, 5, 5]), NOBODY);
            for ms in (200..60_000).step_by(100).filter(|_| looks) {
                assert_eq!(three.at(ms, [5, 5, 5]), NOBODY);
            }
            assert_eq!(three.at(60_000, [5, 5, 6]), NOBODY, "one is back first");
            assert_eq!(three.at(60_300, [5, 6, 7]), NOBODY);
            assert_eq!(three.at(60_600, [5, 7, 8]), NOBODY);
            // The one that stays away is known by what others do from then on.
            assert_eq!(three.at(60_900, [5, 8, 9]), [0]);
        }
    }

    /// One that takes over what another gave back may have had nothing to do for long.
    #[test]
    fn a_rest_is_no_silence() {
        let mut three = Three::new();
        for step in 1..20 {
            let now = three.began + Duration::from_millis(200 * step);
            let seen = |worker| [(9, false), (step, true), (step, true)][worker];
            assert_eq!(three.stalls.look(now, seen), NOBODY);
        }
        assert_eq!(three.at(4000, [9, 20, 20]), NOBODY);
    }
}
