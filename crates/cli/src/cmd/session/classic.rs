//! The original's line for every report: `Time: 5.00s Msgs: 38876 Rate: 7775.15msg/s (128.61µs) 0.01MB/s TOTALS: ...`.
//! Its MB are MiB, and its µs the inverse of the rate, not a latency; counted at the receiver.

use crate::output::Live;
use wirespeed_schema::run::{CaseResult, Event};

/// A last report shorter than this part of the others is left out: it is what a run took too long.
const REST: f64 = 0.1;

/// What one rank has received since the case began.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Totals {
    seconds: f64,
    messages: u64,
    bytes: u64,
}

/// A line for every report of one rank.
pub struct Lines {
    rank: u32,
    every_ns: u64,
    totals: Totals,
}

impl Lines {
    /// Of `rank`, whose reports come every `every_ns`.
    pub fn of(rank: u32, every_ns: u64) -> Self {
        Lines {
            rank,
            every_ns,
            totals: Totals::default(),
        }
    }
}

impl Live for Lines {
    fn event(&mut self, event: &Event) -> String {
        let interval = match event {
            Event::CaseStarted { .. } => {
                self.totals = Totals::default();
                return String::new();
            }
            Event::Interval { rank, interval, .. } if *rank == self.rank => interval,
            _ => return String::new(),
        };
        let slice = Totals {
            seconds: interval.duration_ns as f64 / 1e9,
            messages: interval.received.messages,
            bytes: interval.received.bytes,
        };
        let totals = &mut self.totals;
        totals.seconds += slice.seconds;
        totals.messages += slice.messages;
        totals.bytes += slice.bytes;
        let short = (interval.duration_ns as f64) < self.every_ns as f64 * REST;
        if short && *totals != slice {
            return String::new();
        }
        format!("{} TOTALS: {}\n", words(slice), words(*totals))
    }

    fn finished(&mut self, _: usize, _: &CaseResult) -> String {
        String::new()
    }
}

fn words(totals: Totals) -> String {
    let Totals {
        seconds,
        messages,
        bytes,
    } = totals;
    let rate = messages as f64 / seconds;
    let mib = bytes as f64 / 1_048_576.0 / seconds;
    format!(
        "Time: {seconds:.2}s Msgs: {messages} Rate: {rate:.2}msg/s ({:.2}µs) {mib:.2}MB/s",
        1e6 / rate
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_the_seeds() {
        let totals = Totals {
            seconds: 5.0,
            messages: 38_876,
            bytes: 38_876,
        };
        let expected = "Time: 5.00s Msgs: 38876 Rate: 7775.20msg/s (128.61µs) 0.01MB/s";
        assert_eq!(words(totals), expected);
        let nothing = Totals {
            seconds: 5.0,
            ..Totals::default()
        };
        assert!(words(nothing).contains("(infµs)"));
    }
}
