//! Figures of the tests on posted sends and receives. Two kinds from the same samples: rates from the median iteration,
//! which a disturbed iteration does not move, and the originals' figures by their own formulas (`classic_`), which are
//! means over all iterations.

use super::{Metrics, are_all_there, insert, rounded_level};
use crate::stats::{self, LEVEL};
use wirespeed_schema::case::{GroupKind, Role};
use wirespeed_schema::finite::Finite;
use wirespeed_schema::outcome::SampleKind;
use wirespeed_schema::posted::Pattern;
use wirespeed_schema::run::Metric;
use wirespeed_schema::{Case, HistogramData, Outcome, Test};

/// Publish the figures of a posted test.
pub(super) fn add(metrics: &mut Metrics, case: &Case, outcomes: &[Outcome]) {
    // Who accounts for no message is not missed.
    let is_one_way = !case.test.is_both_ways() && case.test.msgrate().is_none();
    let accounting = is_one_way.then_some(Role::Source);
    if !case.test.is_round_trip() && are_all_there(case, outcomes, accounting) {
        add_rates(metrics, case, outcomes);
    }
    let by_longest = matches!(
        case.test,
        Test::ImbPingpong(_) | Test::ImbUniband(_) | Test::ImbBiband(_)
    );
    if are_all_there(case, outcomes, accounting.filter(|_| !by_longest)) {
        add_classic(metrics, case, outcomes);
    }
}

/// Messages that `outcome` accounts for in the rate: those that it received where only receivers know that they came,
/// else those that it sent.
fn accounted(case: &Case, outcome: &Outcome) -> u64 {
    match case.test.msgrate() {
        Some(test) if test.pattern == Pattern::Single => outcome.received.messages,
        _ => outcome.sent.messages,
    }
}

/// A rate with the ends of its interval, as it is added up.
#[derive(Default)]
struct Sum {
    value: f64,
    lower: f64,
    upper: f64,
    /// The least of the parts' levels; `None` once a part has no interval.
    level: Option<f64>,
    samples: u64,
}

impl Sum {
    fn new() -> Self {
        Sum {
            level: Some(1.0),
            ..Sum::default()
        }
    }

    /// Add `messages` an iteration, over the median of `times`. False where there is none.
    fn add(&mut self, messages: f64, times: &HistogramData) -> bool {
        let median = times.quantile_ns(0.5).filter(|ns| *ns > 0.0);
        let (Some(median), true) = (median, messages > 0.0 && times.check().is_ok()) else {
            return false;
        };
        let each = messages * 1e9;
        self.value += each / median;
        match stats::quantile(times, 0.5, LEVEL) {
            Ok(estimate) if estimate.lower_ns > 0.0 => {
                self.lower += each / estimate.upper_ns;
                self.upper += each / estimate.lower_ns;
                self.level = self.level.map(|level| level.min(estimate.level));
            }
            _ => self.level = None,
        }
        self.samples = self.samples.saturating_add(times.count);
        true
    }

    /// The sum times `factor`.
    fn metric(&self, factor: f64) -> Option<Metric> {
        let end = |end: f64| self.level.and_then(|_| Finite::maybe(end * factor));
        Some(Metric {
            value: Finite::maybe(self.value * factor)?,
            lower: end(self.lower),
            upper: end(self.upper),
            level: self.level.and_then(rounded_level),
            samples: self.samples,
            derived: false,
        })
    }
}

/// Where all ranks enter an iteration together: its messages / the median of the slowest rank's times, so that no rate
/// comes out that ranks reach only by turns. Elsewhere pairs are on their own: the sum of the senders' rates.
fn add_rates(metrics: &mut Metrics, case: &Case, outcomes: &[Outcome]) {
    let mut own = Vec::new();
    let (mut by_rank, mut messages) = (Sum::new(), 0.0);
    for outcome in outcomes {
        let Some(taken) = outcome.samples_of(SampleKind::Iteration) else {
            continue;
        };
        let each = accounted(case, outcome) as f64 / taken.histogram.count.max(1) as f64;
        let before = by_rank.value;
        if by_rank.add(each, &taken.histogram) {
            own.push(by_rank.value - before);
            messages += each;
        }
    }
    let slowest = outcomes
        .iter()
        .find_map(|o| o.samples_of(SampleKind::SlowestIteration));
    let mut together = Sum::new();
    let sum = match slowest {
        Some(slowest) if together.add(messages, &slowest.histogram) => together,
        _ => by_rank,
    };
    if own.is_empty() {
        return;
    }
    let least = own.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = own.iter().copied().fold(0.0, f64::max);
    insert(metrics, "slowest_rank_rate_msg_per_s", least, sum.samples);
    insert(metrics, "fastest_rank_rate_msg_per_s", greatest, sum.samples);
    for (tag, factor) in [
        ("rate_msg_per_s", 1.0),
        ("bandwidth_bytes_per_s", case.test.size_bytes() as f64),
        ("rank_rate_msg_per_s", 1.0 / own.len() as f64),
        ("node_rate_msg_per_s", 1.0 / nodes(case, outcomes) as f64),
    ] {
        if let Some(mut metric) = sum.metric(factor) {
            metric.derived = tag != "rate_msg_per_s";
            metrics.insert(tag.to_owned(), metric);
        }
    }
}

/// Nodes that the ranks are on: in a job as found, elsewhere as the group says.
fn nodes(case: &Case, outcomes: &[Outcome]) -> usize {
    let mut named: Vec<&String> = outcomes
        .iter()
        .filter_map(|o| o.transport_facts.get("node"))
        .collect();
    named.sort_unstable();
    named.dedup();
    match case.group {
        GroupKind::Hosts => 2,
        _ => named.len().max(1),
    }
}

/// Iterations and time of a rank as the originals count them. Without a warm-up the first iteration is one of them, as
/// it is in SMB's msgrate.
fn counted(outcome: &Outcome) -> (f64, f64) {
    let samples = outcome.samples.first();
    let iterations = samples.map_or(0, |s| s.histogram.count.saturating_mul(s.batch_ops.max(1))) as f64;
    let elapsed = outcome.elapsed_ns as f64;
    match outcome.first_operation_ns {
        Some(first) if outcome.warmup_operations == 0 => (iterations + 1.0, elapsed + first.get()),
        _ => (iterations, elapsed),
    }
}

/// The original's own figure, from the means that it prints.
fn add_classic(metrics: &mut Metrics, case: &Case, outcomes: &[Outcome]) {
    if case.test.msgrate().is_some() {
        return add_smb(metrics, outcomes);
    }
    let ends = |role: Role| outcomes.iter().filter(move |outcome| outcome.role == role);
    let size = case.test.size_bytes() as f64;
    let window = case.test.window() as f64;
    // Iterations are the sources'; a ping-pong's sink takes no samples.
    let Some(iterations) = ends(Role::Source).map(whole_iterations(case)).reduce(f64::max) else {
        return;
    };
    let pairs = ends(Role::Source).count() as f64;
    let mean_ns = ends(Role::Source).map(|o| o.elapsed_ns as f64).sum::<f64>() / pairs;
    let longest_ns = outcomes.iter().map(|o| o.elapsed_ns as f64).fold(0.0, f64::max);
    let samples = (iterations * pairs) as u64;
    let mut latency = |ns: f64| insert(metrics, "classic_latency_ns", ns / iterations / 2.0, samples);
    let messages = iterations * window;
    let (count, ns) = match &case.test {
        Test::OsuLatency(_) | Test::OsuMultiLat(_) => return latency(mean_ns),
        Test::ImbPingpong(_) => return latency(longest_ns),
        Test::OsuBw(_) => (messages, mean_ns),
        Test::OsuBibw(_) => (2.0 * messages, mean_ns),
        Test::OsuMbwMr(_) => (pairs * messages, mean_ns),
        Test::ImbUniband(_) => (pairs * messages, longest_ns),
        Test::ImbBiband(_) => (2.0 * pairs * messages, longest_ns),
        _ => return,
    };
    if ns > 0.0 {
        insert(metrics, "classic_rate_msg_per_s", count * 1e9 / ns, samples);
        insert(
            metrics,
            "classic_bandwidth_bytes_per_s",
            count * size * 1e9 / ns,
            samples,
        );
    }
}

/// Iterations of a source, from its messages: batches may leave the last ones without a sample.
fn whole_iterations(case: &Case) -> impl Fn(&Outcome) -> f64 {
    let window = case.test.window().max(1) as f64;
    move |outcome| outcome.sent.messages as f64 / window
}

/// SMB msgrate: messages of a rank over the mean of the ranks' times. Sends and receives both count, except in the
/// single direction. Ranks that take no part do not count.
fn add_smb(metrics: &mut Metrics, outcomes: &[Outcome]) {
    let taking_part: Vec<&Outcome> = outcomes
        .iter()
        .filter(|o| o.sent.messages > 0 || o.received.messages > 0)
        .collect();
    let (mut messages, mut ns, mut samples) = (0.0, 0.0, 0u64);
    for outcome in &taking_part {
        let (iterations, elapsed) = counted(outcome);
        let measured = outcome.samples.first().map_or(0, |s| s.histogram.count);
        let through = outcome.sent.messages as f64 + outcome.received.messages as f64;
        messages += through / measured.max(1) as f64 * iterations;
        ns += elapsed;
        samples = samples.saturating_add(measured);
    }
    if ns > 0.0 && !taking_part.is_empty() {
        insert(metrics, "classic_rate_msg_per_s", messages * 1e9 / ns, samples);
    }
}
