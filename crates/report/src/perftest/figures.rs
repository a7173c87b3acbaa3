//! The original's figures of a test: percentile, average since the last report, overall; of time, bandwidth and rate.
//!
//! Formulas of UCX's src/tools/perf/lib/libperf.c (`ucx_perf_calc_result`), with the exceptions that docs/metrics.md
//! names: the percentile is over the whole run, and a loopback is not halved.

use super::{Generation, Original};
use wirespeed_schema::case::{Case, Role};
use wirespeed_schema::outcome::{Count, Interval, Outcome, SampleKind};

/// Time, bandwidth and rate of one stretch of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// Mean time of an operation, in µs; of a ping-pong one way.
    pub latency_us: f64,
    /// Payload in MiB (2^20 bytes) per second, in the form of the original; of a ping-pong both ways.
    pub bandwidth_mib_per_s: f64,
    /// Messages per second; of a ping-pong both ways.
    pub rate_msg_per_s: f64,
}

/// One line of the original's table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// Operations.
    pub iterations: u64,
    /// The percentile in µs; absent where there are no samples for it.
    pub percentile_us: Option<f64>,
    /// Since the last report; absent with several threads, as in the original.
    pub average: Option<Stretch>,
    /// Since the start.
    pub overall: Stretch,
}

/// Messages that travel in one iteration.
fn messages_per_iteration(case: &Case) -> f64 {
    // A rank that is its own peer sends one message an iteration, and gets that one.
    if case.test.is_round_trip() && case.ranks.len() > 1 {
        2.0
    } else {
        1.0
    }
}

fn stretch(case: &Case, generation: Generation, count: Count, ns: u64) -> Stretch {
    let messages = messages_per_iteration(case);
    // In 2015 only times took account of the way back.
    let both_ways = match generation {
        Generation::Today => messages,
        Generation::Y2015 => 1.0,
    };
    let seconds = ns.max(1) as f64 / 1e9;
    Stretch {
        latency_us: seconds * 1e6 / count.messages.max(1) as f64 / messages,
        bandwidth_mib_per_s: count.bytes as f64 / seconds * both_ways / (1u64 << 20) as f64,
        rate_msg_per_s: count.messages as f64 / seconds * both_ways,
    }
}

/// What a rank did, as the original counts it.
fn work(original: &Original, case: &Case, sent: Count, received: Count) -> Count {
    let messages = match case.test.is_both_ways() {
        true => sent.messages.saturating_add(received.messages),
        false => sent.messages,
    };
    Count {
        messages,
        bytes: messages.saturating_mul(original.size_bytes(case)),
    }
}

/// The lines of a test while it runs: one rank's slices of time, added up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    done: Count,
}

impl Progress {
    /// The figures after `interval`, or nothing when it is the rest that ends the run and not a whole interval.
    pub fn after(
        &mut self,
        original: &Original,
        case: &Case,
        generation: Generation,
        rank: f64,
        interval: &Interval,
    ) -> Option<Figures> {
        let work = work(original, case, interval.sent, interval.received);
        self.done.messages = self.done.messages.saturating_add(work.messages);
        self.done.bytes = self.done.bytes.saturating_add(work.bytes);
        if interval.duration_ns < case.report_interval_ns {
            return None;
        }
        let end_ns = interval.start_ns.saturating_add(interval.duration_ns);
        // Slices of time carry their median alone.
        let median = interval.p50_ns.filter(|_| rank == 50.0);
        Some(Figures {
            iterations: self.done.messages,
            percentile_us: median.map(|ns| ns.get() / 1e3 / messages_per_iteration(case)),
            average: Some(stretch(case, generation, work, interval.duration_ns)),
            overall: stretch(case, generation, self.done, end_ns),
        })
    }
}

impl Figures {
    /// The final line of a test from what its ranks saw; nothing when no rank that starts operations delivered.
    pub fn of(
        original: &Original,
        case: &Case,
        generation: Generation,
        rank: f64,
        outcomes: &[Outcome],
    ) -> Option<Figures> {
        let sources: Vec<&Outcome> = outcomes.iter().filter(|o| o.role == Role::Source).collect();
        let first = *sources.first()?;
        let overall_of = |outcome: &Outcome| {
            let done = work(original, case, outcome.sent, outcome.received);
            (done, stretch(case, generation, done, outcome.elapsed_ns))
        };
        let (done, overall) = overall_of(first);
        if sources.len() > 1 {
            return Some(Figures {
                iterations: done.messages,
                percentile_us: None,
                average: None,
                overall: over_threads(sources.iter().map(|outcome| overall_of(outcome).1)),
            });
        }
        let last = first.intervals.last().map(|interval| {
            let work = work(original, case, interval.sent, interval.received);
            stretch(case, generation, work, interval.duration_ns)
        });
        // A run that ended within its first interval has one average.
        let average = last.filter(|_| first.intervals.len() > 1).unwrap_or(overall);
        let percentile_ns = histogram(original, first)
            .and_then(|samples| samples.histogram.quantile_ns((rank / 100.0).clamp(0.0, 1.0)));
        Some(Figures {
            iterations: done.messages,
            percentile_us: percentile_ns.map(|ns| ns / 1e3 / messages_per_iteration(case)),
            average: Some(average),
            overall,
        })
    }
}

/// Rates and bandwidths add up over threads, times are averaged.
fn over_threads(threads: impl Iterator<Item = Stretch>) -> Stretch {
    let (mut sum, mut count) = (
        Stretch {
            latency_us: 0.0,
            bandwidth_mib_per_s: 0.0,
            rate_msg_per_s: 0.0,
        },
        0u32,
    );
    for thread in threads {
        sum.latency_us += thread.latency_us;
        sum.bandwidth_mib_per_s += thread.bandwidth_mib_per_s;
        sum.rate_msg_per_s += thread.rate_msg_per_s;
        count += 1;
    }
    sum.latency_us /= f64::from(count.max(1));
    sum
}

/// The samples behind the percentile: of a test whose column is titled latency, times to completion where there are
/// some; else the gaps between posts.
fn histogram<'a>(
    original: &Original,
    outcome: &'a Outcome,
) -> Option<&'a wirespeed_schema::outcome::Samples> {
    let kinds = match original.latency {
        true => [
            SampleKind::RoundTrip,
            SampleKind::Completion,
            SampleKind::SendInterval,
        ],
        false => [
            SampleKind::SendInterval,
            SampleKind::Completion,
            SampleKind::Acknowledged,
        ],
    };
    kinds.iter().find_map(|kind| outcome.samples_of(*kind))
}
