//! Figures from histograms: round trips, completions, acknowledgements, intervals between messages.

use super::merged::merged_samples;
use super::{Metrics, insert, rounded_level};
use crate::curve::rate_offered_per_s;
use crate::stats::{self, LEVEL};
use wirespeed_schema::finite::Finite;
use wirespeed_schema::outcome::SampleKind;
use wirespeed_schema::run::{Metric, Withheld};
use wirespeed_schema::{Case, HistogramData, Outcome};

/// The figures of one kind of sample.
struct Family {
    kind: SampleKind,
    prefix: &'static str,
    quantiles: &'static [(&'static str, f64)],
    /// Tags beside the quantiles and the maximum.
    moments: &'static [Moment],
}

#[derive(Clone, Copy, PartialEq)]
enum Moment {
    Min,
    Mean,
    Sd,
}

const LATENCY: &[(&str, f64)] = &[
    ("p50", 0.5),
    ("p90", 0.9),
    ("p99", 0.99),
    ("p999", 0.999),
    ("p9999", 0.9999),
];

const FAMILIES: &[Family] = &[
    Family {
        kind: SampleKind::RoundTrip,
        prefix: "rtt",
        quantiles: LATENCY,
        moments: &[Moment::Min, Moment::Mean, Moment::Sd],
    },
    Family {
        kind: SampleKind::Completion,
        prefix: "completion",
        quantiles: LATENCY,
        moments: &[Moment::Min, Moment::Mean, Moment::Sd],
    },
    Family {
        kind: SampleKind::Acknowledged,
        prefix: "ack",
        quantiles: &[("p50", 0.5), ("p90", 0.9), ("p99", 0.99)],
        moments: &[Moment::Mean],
    },
    Family {
        kind: SampleKind::Response,
        prefix: "response",
        quantiles: &[("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)],
        moments: &[Moment::Mean],
    },
    Family {
        kind: SampleKind::SendInterval,
        prefix: "send_interval",
        quantiles: &[("p50", 0.5), ("p99", 0.99)],
        moments: &[],
    },
    Family {
        kind: SampleKind::ReceiveInterval,
        prefix: "receive_interval",
        quantiles: &[("p50", 0.5), ("p99", 0.99)],
        moments: &[],
    },
    Family {
        kind: SampleKind::Iteration,
        prefix: "iteration",
        quantiles: &[("p50", 0.5), ("p90", 0.9)],
        moments: &[Moment::Min, Moment::Mean],
    },
    Family {
        kind: SampleKind::SlowestIteration,
        prefix: "slowest_iteration",
        quantiles: &[("p50", 0.5), ("p90", 0.9)],
        moments: &[Moment::Min, Moment::Mean],
    },
];

/// Kinds of sample whose spread within a run is published, the first that there is.
const SPREAD_OF: [SampleKind; 6] = [
    SampleKind::SlowestIteration,
    SampleKind::Iteration,
    SampleKind::RoundTrip,
    SampleKind::Completion,
    SampleKind::SendInterval,
    SampleKind::Acknowledged,
];

/// Publish the figures of every kind of sample that `outcomes` hold.
pub(super) fn add(metrics: &mut Metrics, case: &Case, outcomes: &[Outcome]) {
    // Where nothing was offered, nothing was due.
    let is_offered = rate_offered_per_s(&case.test).is_some();
    let families = FAMILIES
        .iter()
        .filter(|family| is_offered || family.kind != SampleKind::Response);
    for family in families {
        if let Some(histogram) = merged_samples(outcomes, family.kind) {
            add_family(metrics, family, &histogram);
        }
    }
    // Half of a round trip to many workers at once, or with another payload back, is nobody's way.
    if !case
        .test
        .hub()
        .is_some_and(|hub| hub.fan_out || !hub.is_symmetric())
    {
        add_one_way(metrics);
    }
    let spread = SPREAD_OF.iter().find_map(|&kind| merged_samples(outcomes, kind));
    if let Some((ratio, samples)) = spread.and_then(|data| Some((stats::spread_ratio(&data)?, data.count))) {
        insert(metrics, "within_run_spread_ratio", ratio, samples);
    }
    add_effective(metrics, outcomes);
    let first = outcomes.iter().filter_map(|outcome| outcome.first_operation_ns);
    if let Some(first) = first.map(Finite::get).reduce(f64::max) {
        insert(metrics, "first_operation_ns", first, 1);
    }
    let connect = outcomes.iter().filter_map(|outcome| outcome.connect_ns);
    if let Some(connect) = connect.map(Finite::get).reduce(f64::max) {
        insert(metrics, "connect_ns", connect, 1);
    }
}

/// How many independent samples one raw sample is worth, of the rank whose samples are worth least.
fn add_effective(metrics: &mut Metrics, outcomes: &[Outcome]) {
    let kind = SPREAD_OF
        .iter()
        .find(|&&kind| merged_samples(outcomes, kind).is_some());
    let samples = outcomes.iter().flat_map(|outcome| &outcome.samples);
    let raw = samples.filter(|samples| Some(&samples.kind) == kind && !samples.raw_ns.is_empty());
    let ratios = raw.filter_map(|samples| {
        let values: Vec<f64> = samples.raw_ns.iter().map(|value| value.get()).collect();
        Some((
            stats::effective_samples(&values)? / values.len() as f64,
            values.len() as u64,
        ))
    });
    if let Some((ratio, samples)) = ratios.min_by(|a, b| a.0.total_cmp(&b.0)) {
        insert(metrics, "effective_samples_ratio", ratio, samples);
    }
}

fn add_family(metrics: &mut Metrics, family: &Family, histogram: &HistogramData) {
    let tag = |part: &str| format!("{}_{part}_ns", family.prefix);
    let samples = histogram.count;
    for &(name, p) in family.quantiles {
        let Ok(estimate) = stats::quantile(histogram, p, LEVEL) else {
            continue;
        };
        let Some(value) = Finite::maybe(estimate.value_ns) else {
            continue;
        };
        let metric = Metric {
            value,
            lower: Finite::maybe(estimate.lower_ns),
            upper: Finite::maybe(estimate.upper_ns),
            level: rounded_level(estimate.level),
            samples,
            derived: false,
        };
        metrics.insert(tag(name), metric);
    }
    insert(metrics, &tag("max"), histogram.max_ns.get(), samples);
    for moment in family.moments {
        let (name, value) = match moment {
            Moment::Min => ("min", Some(histogram.min_ns.get())),
            Moment::Mean => ("mean", Some(histogram.mean_ns())),
            Moment::Sd => ("sd", stats::sd_ns(histogram)),
        };
        if let Some(value) = value {
            insert(metrics, &tag(name), value, samples);
        }
    }
}

/// One-way figures: half of each round-trip figure, marked as derived.
fn add_one_way(metrics: &mut Metrics) {
    let half = |value: Finite| Finite::maybe(value.get() / 2.0).unwrap_or_default();
    for part in ["p50", "p90", "p99", "p999", "p9999", "min", "max", "mean"] {
        if let Some(rtt) = metrics.get(&format!("rtt_{part}_ns")) {
            let metric = Metric {
                value: half(rtt.value),
                lower: rtt.lower.map(half),
                upper: rtt.upper.map(half),
                derived: true,
                ..rtt.clone()
            };
            metrics.insert(format!("one_way_{part}_ns"), metric);
        }
    }
}

/// The quantiles that `metrics` lack although samples of their kind were taken. Derived figures are not listed.
pub(super) fn withheld(metrics: &Metrics) -> Vec<Withheld> {
    let mut withheld = Vec::new();
    for family in FAMILIES {
        let Some(taken) = metrics.get(&format!("{}_max_ns", family.prefix)) else {
            continue;
        };
        for &(name, p) in family.quantiles {
            let tag = format!("{}_{name}_ns", family.prefix);
            if !metrics.contains_key(&tag) {
                withheld.push(Withheld {
                    tag,
                    samples_needed: stats::samples_needed(p, LEVEL).unwrap_or(u64::MAX),
                    samples: taken.samples,
                });
            }
        }
    }
    withheld
}
