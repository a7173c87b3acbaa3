//! How long tests wait, in one place. Every wait has an end, and none decides on a loaded machine: the limits are far above
//! what they stand for, and only time in which this machine lets us look counts.

use std::time::{Duration, Instant};

/// What is said to happen within a second or a few.
pub const SOON: Duration = Duration::from_secs(60);
/// What is said to happen when ten seconds of silence are over.
pub const SILENT: Duration = Duration::from_secs(120);
/// What ends by itself, however much it has to do: a run, a job that waits in a queue, daemons that settle.
pub const PATIENCE: Duration = Duration::from_secs(400);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);
/// What a look may count for at most: a machine that was stopped, or that ran others only, has not let us wait.
const LOOK_MAX: Duration = Duration::from_millis(60);

/// A limit that is being waited for.
#[derive(Debug)]
pub struct Deadline {
    left: Duration,
    looked: Instant,
}

impl Deadline {
    /// So long from now.
    pub fn within(patience: Duration) -> Self {
        Deadline {
            left: patience,
            looked: Instant::now(),
        }
    }

    /// Wait until the next look; whether there is one.
    pub fn look(&mut self) -> bool {
        std::thread::sleep(LOOK);
        let now = Instant::now();
        let counts = now.duration_since(self.looked).min(LOOK_MAX);
        self.looked = now;
        self.left = self.left.saturating_sub(counts);
        !self.left.is_zero()
    }

    /// Leave at most `rest` of it.
    pub fn shorten(&mut self, rest: Duration) {
        self.left = self.left.min(rest);
    }
}

/// Wait until `is_reached`; whether it was, within `patience`.
pub fn reached(patience: Duration, mut is_reached: impl FnMut() -> bool) -> bool {
    let mut deadline = Deadline::within(patience);
    loop {
        if is_reached() {
            return true;
        }
        if !deadline.look() {
            return is_reached();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_either_way() {
        let mut looks = 0;
        assert!(reached(PATIENCE, || {
            looks += 1;
            looks == 3
        }));
        assert!(!reached(LOOK * 2, || false));
        let mut deadline = Deadline::within(PATIENCE);
        deadline.shorten(LOOK);
        assert!(!deadline.look());
    }
}
