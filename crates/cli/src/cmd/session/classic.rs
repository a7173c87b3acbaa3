//! The original's line for every report: `Time: 5.00s Msgs: 38876 Rate: 7775.15msg/s (128.61µs) 0.01MB/s TOTALS: ...`.
//! Its MB are MiB, and its µs the inverse of the rate, not a latency; counted at the receiver.

use crate::output::Live;
use std::collections::{BTreeMap, VecDeque};
use wirespeed_schema::order::map_of;
use wirespeed_schema::run::{CaseResult, Event};

/// A last report shorter than this part of the others is left out: it is what a run took too long.
const REST: f64 = 0.1;

/// What was received since the case began.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Totals {
    seconds: f64,
    messages: u64,
    bytes: u64,
}

/// A line for every report of those who receive: what all of them have received together.
pub struct Lines {
    every_ns: u64,
    totals: Totals,
    /// Slices of each receiver that the others have not reported yet.
    waiting: BTreeMap<u32, VecDeque<Totals>>,
}

impl Lines {
    /// Of `ranks`, whose reports come every `every_ns`.
    pub fn of(ranks: &[u32], every_ns: u64) -> Self {
        Lines {
            every_ns,
            totals: Totals::default(),
            waiting: map_of(ranks.iter().map(|rank| (*rank, VecDeque::new()))),
        }
    }

    /// The next slice of all, once each has reported it: messages add up, time does not.
    fn slice_of_all(&mut self) -> Option<Totals> {
        if self.waiting.values().any(VecDeque::is_empty) {
            return None;
        }
        let slices = self.waiting.values_mut().filter_map(VecDeque::pop_front);
        slices.reduce(|a, b| Totals {
            seconds: a.seconds.max(b.seconds),
            messages: a.messages + b.messages,
            bytes: a.bytes + b.bytes,
        })
    }
}

impl Live for Lines {
    fn event(&mut self, event: &Event) -> String {
        match event {
            Event::CaseStarted { .. } => {
                self.totals = Totals::default();
                self.waiting.values_mut().for_each(VecDeque::clear);
                return String::new();
            }
            Event::Interval { rank, interval, .. } => {
                let slice = Totals {
                    seconds: interval.duration_ns as f64 / 1e9,
                    messages: interval.received.messages,
                    bytes: interval.received.bytes,
                };
                match self.waiting.get_mut(rank) {
                    Some(waiting) => waiting.push_back(slice),
                    None => return String::new(),
                }
            }
            _ => return String::new(),
        }
        let Some(slice) = self.slice_of_all() else {
            return String::new();
        };
        let totals = &mut self.totals;
        totals.seconds += slice.seconds;
        totals.messages += slice.messages;
        totals.bytes += slice.bytes;
        let short = slice.seconds * 1e9 < self.every_ns as f64 * REST;
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
    use wirespeed_schema::outcome::{Count, Interval};

    fn reported(rank: u32, messages: u64, seconds: f64) -> Event {
        let received = Count {
            messages,
            bytes: messages,
        };
        Event::Interval {
            case: 0,
            repetition: 0,
            rank,
            interval: Interval {
                start_ns: 0,
                duration_ns: (seconds * 1e9) as u64,
                sent: Count::default(),
                received,
                p50_ns: None,
                p99_ns: None,
                max_ns: None,
            },
        }
    }

    #[test]
    fn what_several_receive_adds_up() {
        let mut lines = Lines::of(&[1, 2], 1_000_000_000);
        assert_eq!(lines.event(&reported(1, 10, 1.0)), "");
        assert_eq!(
            lines.event(&reported(7, 10, 1.0)),
            "",
            "it receives nothing that counts"
        );
        let line = lines.event(&reported(2, 30, 1.0));
        assert!(
            line.starts_with("Time: 1.00s Msgs: 40 Rate: 40.00msg/s"),
            "{line}"
        );
        assert_eq!(lines.event(&reported(2, 1, 1.0)), "");
        assert!(
            lines
                .event(&reported(1, 1, 1.0))
                .contains("TOTALS: Time: 2.00s Msgs: 42")
        );
    }

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
