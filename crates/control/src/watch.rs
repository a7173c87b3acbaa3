//! The clock of one end of control. It stands still while the end does: a suspended machine, a stopped process. What the
//! other ends said meanwhile has not been read yet, so that time is no silence of theirs. It must never measure anything.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Waking up later than meant by less than this is a busy machine, whose time goes on.
const STOOD_STILL: Duration = Duration::from_millis(500);

/// Time since it was made, less the time in which its end stood still.
#[derive(Debug)]
pub struct Watch {
    origin: Instant,
    look_every: Duration,
    still_ns: AtomicU64,
}

impl Watch {
    /// Of an end that takes so much `silence` of others. It wakes four times in it, so that standing still shows.
    pub fn new(silence: Duration) -> Self {
        Watch {
            origin: Instant::now(),
            look_every: silence / 4,
            still_ns: AtomicU64::new(0),
        }
    }

    /// Time by this clock.
    pub fn now(&self) -> Duration {
        self.origin.elapsed().saturating_sub(self.still())
    }

    /// How long its end has stood still.
    pub fn still(&self) -> Duration {
        Duration::from_nanos(self.still_ns.load(Ordering::Acquire))
    }

    /// What `wait` gives, which sleeps for at most what it is told, `time` or less: if it comes back much later, its end
    /// stood still for the rest.
    pub fn wait<T>(&self, time: Duration, wait: impl FnOnce(Duration) -> T) -> T {
        let time = time.min(self.look_every);
        self.aside(time, || wait(time))
    }

    /// What `act` gives, which is to take no longer than `time`: for what it takes beyond, nobody is heard, and nobody is silent.
    pub fn aside<T>(&self, time: Duration, act: impl FnOnce() -> T) -> T {
        let began = self.origin.elapsed();
        let result = act();
        let late = self.origin.elapsed().saturating_sub(began.saturating_add(time));
        if late > STOOD_STILL {
            self.still_ns.fetch_add(late.as_nanos() as u64, Ordering::AcqRel);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_overslept_is_not_counted() {
        let watch = Watch::new(Duration::from_secs(10));
        watch.wait(Duration::from_millis(5), std::thread::sleep);
        assert_eq!(watch.still(), Duration::ZERO);
        let before = watch.now();
        watch.wait(Duration::ZERO, |_| std::thread::sleep(2 * STOOD_STILL));
        assert!(watch.still() >= 2 * STOOD_STILL);
        assert!(watch.now() - before < STOOD_STILL);
        watch.wait(Duration::from_secs(3600), |time| {
            assert!(time < Duration::from_secs(3))
        });
    }
}
