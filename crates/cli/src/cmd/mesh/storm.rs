//! Traffic of other ranks beside the pairs that are measured: it begins before the first of them and ends after the last. It
//! must never share a rank with what is measured.

use crate::errors::Failure;
use crate::group::{GroupRun, Groups};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use wirespeed_control::StopFlag;
use wirespeed_mesh::Pair;
use wirespeed_schema::case::{Case, RankSpec, Stop, TransportOptions};
use wirespeed_schema::plan::PlannedCase;

/// Between two reports of a stream, which are the slices in which its share is seen.
pub const SLICE_NS: u64 = 100_000_000;
/// How long a storm may take to move its first bytes.
const START: Duration = Duration::from_secs(30);
/// No storm lasts longer.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// A storm that can run beside a case.
#[derive(Debug, Clone)]
pub struct Storm {
    /// As it was asked for.
    pub load: String,
    /// Its streams, by number of host.
    pub streams: Vec<Pair>,
    /// Options of the transport that the ends of each have of their own.
    pub options: Vec<[TransportOptions; 2]>,
    /// The case of one stream.
    pub case: Case,
}

/// What one run of a storm moved: a stream a row.
#[derive(Debug, Default)]
pub struct Moved {
    /// Bytes a second over the whole run.
    pub rates: Vec<f64>,
    /// Bytes a second in each slice.
    pub slices: Vec<Vec<f64>>,
}

impl Storm {
    /// The host of each of its ranks: senders and receivers in turn.
    pub fn seats(&self) -> Vec<usize> {
        self.streams
            .iter()
            .flat_map(|pair| [pair.from, pair.to])
            .collect()
    }

    /// Do `body` while the storm runs over `groups`, which has a rank for each of its seats. An error where the storm did not
    /// begin or did not last: then what `body` gave was measured without it.
    pub fn around<T>(
        &self,
        mut groups: Groups,
        stop: &StopFlag,
        body: impl FnOnce() -> T,
    ) -> Result<(T, Moved), Failure> {
        let planned = PlannedCase {
            case: self.whole(),
            template: 0,
        };
        let end = StopFlag::new();
        let (tell, hear) = mpsc::channel();
        std::thread::scope(|scope| {
            let of_storm = end.clone();
            let running = scope.spawn(move || {
                let mut on_interval = |_: u32, _: &_| {
                    // Nobody listens any more once it has begun.
                    let _ = tell.send(());
                };
                groups.run(&planned, &of_storm, &mut on_interval)
            });
            let began = Instant::now();
            let blows = loop {
                match hear.recv_timeout(Duration::from_millis(50)) {
                    Ok(()) => break true,
                    Err(RecvTimeoutError::Disconnected) => break false,
                    Err(RecvTimeoutError::Timeout) if stop.is_requested() || began.elapsed() > START => {
                        break false;
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            };
            let given = blows.then(body);
            let lasted = !running.is_finished();
            end.request();
            let run = running.join();
            let failed = |why: String| {
                Failure::failed(
                    format!("{}: {why}", self.load),
                    "give the storm fewer hosts, or look at what its ranks say",
                )
            };
            let run = run.map_err(|_| failed("its thread failed".to_owned()))?;
            let why = match (given, lasted, self.moved(&run), run.failure) {
                (Some(given), true, Ok(moved), _) => return Ok((given, moved)),
                (Some(_), true, Err(why), _) => why,
                (_, _, _, Some(failure)) => failure.cause,
                _ => "it did not begin in time".to_owned(),
            };
            Err(failed(why))
        })
    }

    /// The case of all streams: a source and a sink for each, until it is ended.
    fn whole(&self) -> Case {
        let of = |stream: usize| {
            let rank = |at: usize| 2 * stream as u32 + at as u32;
            [0, 1].map(|at| {
                RankSpec::new(self.case.ranks[at].role)
                    .with_peer(rank(1 - at))
                    .with_options(self.options[stream][at].clone())
            })
        };
        let ranks = (0..self.streams.len()).flat_map(of).collect();
        self.case
            .clone()
            .with_ranks(ranks)
            .with_stop(Stop::Duration {
                duration_ns: LONGEST_NS,
            })
            .with_report_interval_ns(SLICE_NS)
    }

    /// What each stream's sender moved. An error where a rank broke off by itself, or a sender says nothing: that the storm was
    /// ended is no failure.
    fn moved(&self, run: &GroupRun) -> Result<Moved, String> {
        if let Some(rank) = run.blamed.first() {
            return Err(rank.reason.clone());
        }
        let per_s = |bytes: u64, ns: u64| bytes as f64 * 1e9 / ns.max(1) as f64;
        let mut moved = Moved::default();
        for rank in (0..self.streams.len() as u32).map(|stream| 2 * stream) {
            let Some(sender) = run.outcomes.iter().find(|outcome| outcome.rank == rank) else {
                let cause = run.failure.as_ref().map(|failure| failure.cause.clone());
                return Err(cause.unwrap_or_else(|| "a sender delivered nothing".to_owned()));
            };
            moved.rates.push(per_s(sender.sent.bytes, sender.elapsed_ns));
            let slices = sender.intervals.iter();
            let slices = slices.map(|slice| per_s(slice.sent.bytes, slice.duration_ns));
            moved.slices.push(slices.collect());
        }
        Ok(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::outcome;
    use super::*;
    use wirespeed_control::Blamed;
    use wirespeed_schema::case::Role;
    use wirespeed_schema::test::{Layout, Stream, Test};

    fn storm() -> Storm {
        Storm {
            load: "incast".to_owned(),
            streams: vec![Pair { from: 1, to: 0 }, Pair { from: 2, to: 0 }],
            options: [("a", "0"), ("b", "0")]
                .map(|ends| {
                    [ends.0, ends.1]
                        .map(|value| TransportOptions::from([("device".to_owned(), value.to_owned())]))
                })
                .to_vec(),
            case: Case::new(Test::AmBw(Stream::new(4096, Layout::Short, 16)), "tcp"),
        }
    }

    #[test]
    fn each_stream_has_two_ranks_of_its_own() {
        let storm = storm();
        assert_eq!(storm.seats(), [1, 0, 2, 0]);
        let case = storm.whole();
        let devices: Vec<&str> = case
            .ranks
            .iter()
            .map(|rank| rank.options["device"].as_str())
            .collect();
        assert_eq!(devices, ["a", "0", "b", "0"]);
        let told: Vec<(Role, Option<u32>)> = case.ranks.iter().map(|rank| (rank.role, rank.peer)).collect();
        let (source, sink) = (Role::Source, Role::Sink);
        assert_eq!(
            told,
            [
                (source, Some(1)),
                (sink, Some(0)),
                (source, Some(3)),
                (sink, Some(2))
            ]
        );
    }

    #[test]
    fn a_storm_that_lost_a_rank_is_none_and_one_that_was_ended_is() {
        let ran = |ranks: &[u32], blamed: Vec<Blamed>| GroupRun {
            outcomes: ranks.iter().copied().map(outcome).collect(),
            failure: Some(Failure::interrupted("")),
            blamed,
            queued: Duration::ZERO,
            setup_ns: 0,
            overlapping_sessions: 0,
        };
        let moved = storm().moved(&ran(&[0, 2], Vec::new())).unwrap();
        assert_eq!((moved.rates.len(), moved.slices.len()), (2, 2));
        assert_eq!(moved.rates, [4096.0, 4096.0]);
        assert!(storm().moved(&ran(&[0], Vec::new())).is_err());
        let lost = Blamed {
            rank: 3,
            gone: true,
            reason: "killed".to_owned(),
        };
        assert_eq!(storm().moved(&ran(&[0, 2], vec![lost])).unwrap_err(), "killed");
    }
}
