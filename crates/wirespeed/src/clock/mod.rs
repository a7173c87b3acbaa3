//! The clock of the loops: ticks, read in a few nanoseconds, turned into time only after the run.
//!
//! On x86-64 with an invariant time-stamp counter a tick is a TSC tick, on aarch64 one of the virtual counter, else a
//! nanosecond of CLOCK_MONOTONIC. Reads are not fenced: a read may move by a few nanoseconds against its neighbours,
//! which no sample above the clock's step can show. No other module may read a counter.

mod counter;
mod timebase;

pub use timebase::{Anchor, Timebase};

/// A source of ticks. Copy it into the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    counter: bool,
}

impl Clock {
    /// The hardware counter where it is trustworthy, else the operating system's clock.
    pub fn best() -> Self {
        Clock {
            counter: counter::is_invariant(),
        }
    }

    /// CLOCK_MONOTONIC, in nanoseconds.
    pub fn os() -> Self {
        Clock { counter: false }
    }

    /// Ticks since some moment.
    #[inline(always)]
    pub fn now(self) -> u64 {
        if self.counter {
            counter::read()
        } else {
            monotonic_ns()
        }
    }

    /// The name in results.
    pub fn source(self) -> &'static str {
        if self.counter {
            counter::NAME
        } else {
            "clock_monotonic"
        }
    }
}

/// CLOCK_MONOTONIC in nanoseconds: for anchors, and the fallback clock.
#[cold]
#[inline(never)]
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    (now.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(now.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_do_not_run_backwards() {
        for clock in [Clock::best(), Clock::os()] {
            let mut last = clock.now();
            for _ in 0..10_000 {
                let now = clock.now();
                assert!(now >= last, "{}", clock.source());
                last = now;
            }
        }
    }
}
