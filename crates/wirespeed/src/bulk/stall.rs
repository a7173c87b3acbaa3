//! Which connections have stalled: nothing moved over them for a given time in which others made progress. A slow
//! connection has not stalled, and neither has any where nothing moves at all: that is the link's own time limit to say.

use std::time::{Duration, Instant};

/// Looks at all connections are this part of the longest silence apart, at least.
const LOOKS: u32 = 8;

struct Seen {
    moved_bytes: u64,
    since: Instant,
}

/// What was seen of every connection.
pub(super) struct Stalls {
    longest: Duration,
    looked: Instant,
    seen: Vec<Seen>,
}

impl Stalls {
    /// Nothing has moved yet over any of `count` connections.
    pub fn new(count: usize, longest: Duration, now: Instant) -> Self {
        let seen = (0..count).map(|_| Seen {
            moved_bytes: 0,
            since: now,
        });
        Stalls {
            longest,
            looked: now,
            seen: seen.collect(),
        }
    }

    /// Look at every connection, unless that was done just now. Those that have stalled.
    pub fn look(&mut self, now: Instant, moved_bytes: impl Fn(usize) -> u64) -> Vec<usize> {
        if now.saturating_duration_since(self.looked) < self.longest / LOOKS {
            return Vec::new();
        }
        self.looked = now;
        for (worker, seen) in self.seen.iter_mut().enumerate() {
            let moved_bytes = moved_bytes(worker);
            if seen.moved_bytes != moved_bytes {
                *seen = Seen {
                    moved_bytes,
                    since: now,
                };
            }
        }
        let latest = self.seen.iter().map(|seen| seen.since).max().unwrap_or(now);
        let silent = |seen: &Seen| latest.saturating_duration_since(seen.since) >= self.longest;
        let stalled = self.seen.iter().enumerate().filter(|(_, seen)| silent(seen));
        stalled.map(|(worker, _)| worker).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_silence_in_which_others_move_is_a_stall() {
        let began = Instant::now();
        let at = |ms| began + Duration::from_millis(ms);
        let mut stalls = Stalls::new(3, Duration::from_millis(800), began);
        assert_eq!(stalls.look(at(100), |_| 5), [0usize; 0]);
        // Nothing moves anywhere.
        assert_eq!(stalls.look(at(5000), |_| 5), [0usize; 0]);
        // Two go on, one byte at a time.
        assert_eq!(stalls.look(at(5100), |w| 5 + u64::from(w > 0)), [0]);
        assert_eq!(
            stalls.look(at(5150), |_| 0),
            [0usize; 0],
            "too early to look again"
        );
        assert_eq!(
            stalls.look(at(5300), |w| [6, 6, 7][w]),
            [0usize; 0],
            "it moves again"
        );
        assert_eq!(
            stalls.look(at(5850), |w| [6, 6, 8][w]),
            [0usize; 0],
            "not for long"
        );
        assert_eq!(stalls.look(at(5950), |w| [6, 6, 9][w]), [1]);
        assert_eq!(stalls.look(at(6150), |w| [6, 6, 10][w]), [0, 1]);
    }
}
