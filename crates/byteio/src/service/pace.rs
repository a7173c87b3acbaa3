//! How fast the other end of a connection is. What the service itself takes its time for does not count.

use crate::http::progress::{Seen, Wait};
use crate::sys::Sent;
use std::time::{Duration, Instant};

/// Below this the other end is slow, in bytes per second of waiting for it.
pub(super) const SLOW_BYTES_PER_S: f64 = 16.0 * 1024.0;
/// What everybody is taken to have moved already: for a second nobody is slow, and of several that move nothing the one that
/// does so for longest is the slowest.
const CREDIT_BYTES: f64 = SLOW_BYTES_PER_S;
/// The pace is that of the present window and the one before, in time of waiting. Kernels announce room in lumps, which must
/// not look like stops.
const WINDOW: Duration = Duration::from_secs(4);

/// What had been moved after so long a wait.
#[derive(Debug, Clone, Copy)]
struct Mark {
    waited: Duration,
    bytes: u64,
}

/// The other end's pace of late.
#[derive(Debug)]
pub(super) struct Pace {
    /// Where the window before this one began, and where this one did.
    marks: Option<(Mark, Mark)>,
    bytes_per_s: f64,
}

impl Default for Pace {
    fn default() -> Self {
        Pace {
            marks: None,
            bytes_per_s: f64::INFINITY,
        }
    }
}

impl Pace {
    /// Look once more. `sent`: what the kernel says of what was sent, for a call that sends much may take long.
    pub fn look(&mut self, seen: &Seen, sent: Sent, now: Instant) {
        if matches!(seen.wait, Some((Wait::Room, _))) && !sent.is_owed {
            // Nothing is under way: the call waits for the disk.
            *self = Pace::default();
            return;
        }
        let mark = Mark {
            waited: seen.waited_until(now),
            bytes: seen.received_bytes + sent.acknowledged_bytes,
        };
        let (from, turn) = *self.marks.get_or_insert((mark, mark));
        let waited = mark.waited.saturating_sub(from.waited);
        let bytes = mark.bytes.saturating_sub(from.bytes);
        self.bytes_per_s = (bytes as f64 + CREDIT_BYTES) / waited.as_secs_f64();
        if mark.waited.saturating_sub(turn.waited) >= WINDOW {
            self.marks = Some((turn, mark));
        }
    }

    /// Bytes per second of waiting, if they are few.
    pub fn slow(&self) -> Option<f64> {
        Some(self.bytes_per_s).filter(|pace| *pace < SLOW_BYTES_PER_S)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::progress::Progress;

    const SECOND: Duration = Duration::from_secs(1);
    const NONE: Sent = Sent {
        acknowledged_bytes: 0,
        is_owed: true,
    };

    /// The second in which a connection that reads so many bytes after a wait each second is slow first.
    fn slow_after(bytes: &[usize], waited: Duration) -> Option<usize> {
        let (progress, mut pace, mut now) = (Progress::default(), Pace::default(), Instant::now());
        pace.look(&progress.seen(), NONE, now);
        let mut read = |bytes: usize| {
            progress.begins(Wait::Rest, now);
            progress.ends(bytes, waited);
            now += SECOND;
            pace.look(&progress.seen(), NONE, now);
            pace.slow().is_some()
        };
        bytes.iter().position(|bytes| read(*bytes)).map(|at| at + 1)
    }

    #[test]
    fn the_slow_are_told_from_the_steady_and_from_those_who_wait_for_the_service() {
        assert_eq!(slow_after(&[1; 20], SECOND), Some(2));
        assert_eq!(slow_after(&[14_000; 20], SECOND), Some(7));
        assert_eq!(slow_after(&[17_000; 20], SECOND), None);
        // In lumps; and for a moment a second, because everything else is the service's own work.
        assert_eq!(slow_after(&[68_000, 0, 0, 0].repeat(5), SECOND), None);
        assert_eq!(slow_after(&[100; 20], SECOND / 1000), None);
        // Who was fast once is not fast for ever.
        let mut stops = [1; 20];
        stops[0] = 1_000_000;
        assert_eq!(slow_after(&stops, SECOND), Some(9));
    }

    #[test]
    fn a_wait_in_course_counts_unless_it_is_for_a_message_or_the_disk() {
        let slow = |wait, is_owed, acknowledged_bytes_per_s| {
            let (progress, mut pace, now) = (Progress::default(), Pace::default(), Instant::now());
            progress.begins(wait, now);
            for seconds in 0..10 {
                let acknowledged_bytes = acknowledged_bytes_per_s * u64::from(seconds);
                let sent = Sent {
                    acknowledged_bytes,
                    is_owed,
                };
                pace.look(&progress.seen(), sent, now + SECOND * seconds);
            }
            pace.slow().is_some()
        };
        assert!(slow(Wait::Rest, false, 0) && slow(Wait::Room, true, 0));
        assert!(!slow(Wait::Room, false, 0) && !slow(Wait::Message, false, 0));
        // What is acknowledged counts while one call sends it.
        assert!(slow(Wait::Room, true, 10_000) && !slow(Wait::Room, true, 17_000));
    }
}
