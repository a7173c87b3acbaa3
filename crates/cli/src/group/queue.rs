//! What happens to a group while somebody waits for it: the time in servers' queues, and what the user is told.

use crate::stderr;
use std::time::{Duration, Instant};
use wirespeed_control::coordinator::GroupEvent;
use wirespeed_schema::units::format_ns;

/// The time for which servers keep a run waiting, since they measure others first.
#[derive(Debug, Default)]
pub struct Queue {
    since: Option<Instant>,
    waited: Duration,
}

impl Queue {
    /// Every server says of itself that it keeps the run waiting, and says so again when the queue moves.
    pub fn hear(&mut self, event: &GroupEvent) {
        match event {
            GroupEvent::Queued { .. } => drop(self.since.get_or_insert_with(Instant::now)),
            GroupEvent::Started => self.waited = self.left(),
            _ => {}
        }
    }

    /// All of it, when there is none to be in any more.
    pub fn left(&mut self) -> Duration {
        let last = self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.waited + last
    }
}

/// Things that a waiting user wants to know, on stderr.
pub fn tell(event: &GroupEvent) {
    let line = match event {
        GroupEvent::Queued {
            ahead, wait_ns_min, ..
        } => {
            let wait = wait_ns_min.map(|ns| format!(", at least {}", format_ns(ns as f64)));
            let wait = wait.unwrap_or_default();
            format!("queued: {ahead} ahead{wait}")
        }
        GroupEvent::Stopping => "stopping: this case ends in order; Ctrl-C aborts".to_owned(),
        GroupEvent::RankLost { rank, reason } => format!("rank {rank} is gone: {reason}"),
        _ => return,
    };
    stderr::say(&line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_a_queue_ends_with_the_start_of_the_run() {
        let queued = || GroupEvent::Queued {
            server: "a".to_owned(),
            ahead: 1,
            wait_ns_min: None,
        };
        let step = Duration::from_millis(20);
        let mut queue = Queue::default();
        queue.hear(&GroupEvent::Started);
        assert_eq!(queue.left(), Duration::ZERO, "there was none");
        queue.hear(&queued());
        std::thread::sleep(step);
        queue.hear(&queued());
        queue.hear(&GroupEvent::Started);
        let waited = queue.left();
        assert!(waited >= step);
        std::thread::sleep(step);
        assert_eq!(queue.left(), waited, "measuring is no waiting");
        queue.hear(&queued());
        std::thread::sleep(step);
        assert!(
            queue.left() >= waited + step,
            "a run that never started waited too"
        );
    }
}
