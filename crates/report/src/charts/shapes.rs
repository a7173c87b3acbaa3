//! Pictures of latencies: percentile curves, slices of time, transports side by side.

use super::{Picture, behind, titled};
use crate::assemble::merged_samples;
use crate::curve::section::offered_per_s;
use crate::figures::with_interval;
use crate::labels::Input;
use crate::labels::label;
use crate::names::{Names, alike};
use crate::standings::{BY_TIME, Standing, ends, standings};
use crate::stats::{self, LEVEL, WarmUp, warm_up};
use crate::svg::{Axis, Chart, Look, Mark, Point, Series, Unit};
use wirespeed_schema::HistogramData;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::outcome::{Interval, Outcome, SampleKind};
use wirespeed_schema::run::{CaseResult, Metric};
use wirespeed_schema::units::{format_ns, significant};

/// Kinds of sample with a latency to be drawn, the first that a case has.
const KINDS: [(SampleKind, &str); 4] = [
    (SampleKind::RoundTrip, "round trip"),
    (SampleKind::Completion, "completion"),
    (SampleKind::Response, "response"),
    (SampleKind::Acknowledged, "time to acknowledgement"),
];
/// Points of a percentile curve beside the named quantiles.
const CURVE_POINTS: usize = 36;
/// The quantiles that an axis of percentiles names, as places on it.
const NAMED: [f64; 6] = [2.0, 10.0, 1e2, 1e3, 1e4, 1e5];
/// Transports that are drawn side by side.
const STEPS_MAX: usize = 60;
/// Slices of time below which nothing is drawn.
const SLICES_MIN: usize = 8;
/// Slices that are drawn; more are joined.
const SLICES_MAX: usize = 400;

/// All samples of a case's main kind, and what they are.
pub fn samples(case: &CaseResult) -> Option<(HistogramData, &'static str)> {
    // Where nothing was offered, nothing was due.
    let is_offered = offered_per_s(case).is_some();
    let kinds = KINDS
        .iter()
        .filter(|(kind, _)| is_offered || *kind != SampleKind::Response);
    kinds.into_iter().find_map(|&(kind, what)| {
        let mut all = HistogramData::default();
        for repetition in &case.repetitions {
            if let Some(samples) = merged_samples(&repetition.outcomes, kind) {
                all.merge(&samples);
            }
        }
        (!all.is_empty()).then_some((all, what))
    })
}

/// Latency against percentile on a logarithmic axis of 1 - p, one curve a case, with the band of the order-statistic
/// interval of all samples together.
pub fn percentiles(cases: &[(&Input, &CaseResult)], several: bool) -> Option<Picture> {
    let mut chart = Chart {
        subtitle: "latency by percentile".into(),
        description: "How long the given share of operations took at most.".into(),
        x: Axis {
            ticks: NAMED.map(|place| (place, Unit::Beyond.text(place))).to_vec(),
            ..Axis::log("share of the samples", Unit::Beyond)
        },
        y: Axis::log("latency", Unit::Nanoseconds),
        interval_label: "95 % interval from the order of all samples".into(),
        ..Chart::new("")
    };
    let (mut rows, mut words) = (Vec::new(), Vec::new());
    for ((_, case), name) in cases.iter().zip(names(cases, several)) {
        let Some((data, what)) = samples(case) else {
            continue;
        };
        chart
            .series
            .push(Series::new(name.clone(), Look::Line, curve(&data)));
        let text = |p: f64| {
            stats::quantile(&data, p, LEVEL).map_or("too few samples".to_owned(), |e| format_ns(e.value_ns))
        };
        if let (Ok(half), Ok(tail)) = (
            stats::quantile(&data, 0.5, LEVEL),
            stats::quantile(&data, 0.99, LEVEL),
        ) {
            // The figure of several runs is another: the median of theirs.
            let of = match case.repetitions.len() {
                0 | 1 => String::new(),
                runs => format!(" in {runs} runs together"),
            };
            words.push(format!(
                "{name}: half of all{of} took at most {}, one in a hundred took longer than {}; the longest {what} was {}.",
                format_ns(half.value_ns),
                format_ns(tail.value_ns),
                format_ns(data.max_ns.get())
            ));
        }
        let mut row = vec![name, data.count.to_string(), format_ns(data.min_ns.get())];
        row.extend([0.5, 0.9, 0.99, 0.999, 0.9999].map(text));
        row.push(format_ns(data.max_ns.get()));
        rows.push(row);
    }
    let together = cases.iter().any(|(_, case)| case.repetitions.len() > 1);
    chart.title = match words.as_slice() {
        [_] => titled(&words.remove(0)),
        _ => tails(&chart.series, together).unwrap_or_default(),
    };
    let columns = [
        "case", "samples", "min", "p50", "p90", "p99", "p99.9", "p99.99", "max",
    ];
    (!chart.series.is_empty()).then(|| Picture {
        chart,
        words,
        table: behind(&columns, rows),
        ..Picture::default()
    })
}

/// Who of several curves is the lowest, and who the highest, at the last percentile that all of them reach; `together`: some are
/// of several runs, whose own figure is another.
fn tails(curves: &[Series], together: bool) -> Option<String> {
    let at = |curve: &Series, place: f64| curve.points.iter().find(|point| point.x == place).copied();
    // Of more than 99.9 % single samples decide.
    let mut places = NAMED.into_iter().rev().filter(|place| *place <= 1e3);
    let place = places.find(|place| curves.iter().all(|curve| at(curve, *place).is_some()))?;
    let mut found: Vec<(Point, &str)> = curves
        .iter()
        .filter_map(|curve| Some((at(curve, place)?, curve.label.as_str())))
        .collect();
    found.order_by(|a, b| a.0.y.total_cmp(&b.0.y));
    let all = found.iter().map(|(point, name)| Standing {
        name,
        figure: format_ns(point.y),
        ends: point.interval,
    });
    let all: Vec<Standing> = all.collect();
    let of = if together { " of all runs together" } else { "" };
    let percent = significant(Unit::Beyond.value(place) * 100.0, 4);
    Some(format!("p{percent}{of}: {}", standings(&all, &BY_TIME)))
}

/// Points up to the highest quantile whose interval exists, among them the named ones as words and tables have them.
fn curve(data: &HistogramData) -> Vec<Point> {
    let tail_min = (1.0 - 0.025f64.powf(1.0 / data.count as f64)).clamp(1e-6, 0.5);
    let steps = CURVE_POINTS as f64;
    let even = (0..=CURVE_POINTS).map(|step| (0.9 * (tail_min / 0.9).powf(step as f64 / steps)).recip());
    let mut places: Vec<f64> = NAMED.into_iter().chain(even).collect();
    places.sort_by(f64::total_cmp);
    // A named one stands for an even one that rounding alone tells apart.
    places.dedup_by(|next, kept| {
        let is_same = *next / *kept < 1.0 + 1e-9;
        if is_same && NAMED.contains(next) {
            *kept = *next;
        }
        is_same
    });
    places
        .into_iter()
        .filter_map(|place| {
            let estimate = stats::quantile(data, Unit::Beyond.value(place), LEVEL).ok()?;
            Some(Point::within(
                place,
                estimate.value_ns,
                estimate.lower_ns,
                estimate.upper_ns,
            ))
        })
        .collect()
}

/// Slices of time of the first repetition that has some: median latency, else rate, warm-up shaded.
pub fn over_time(input: &Input, case: &CaseResult, several: bool) -> Option<Picture> {
    let name = label(input, several, case);
    let outcome = case
        .outcomes()
        .find(|outcome| outcome.intervals.len() >= SLICES_MIN)?;
    let (points, axis) = slices(outcome);
    let values: Vec<f64> = points.iter().map(|point| point.y).collect();
    if values.is_empty() {
        return None;
    }
    let (mut marks, mut words) = (
        Vec::new(),
        vec![match joined(outcome) {
            1 => format!("{name}: one run in {} slices of time.", outcome.intervals.len()),
            step => format!(
                "{name}: one run in {} slices of time, {step} in a point.",
                outcome.intervals.len()
            ),
        }],
    );
    if let (Some(first), Some(WarmUp::Until(cut @ 1..))) = (points.first(), warm_up(&values)) {
        marks.push(Mark::Shade {
            from: first.x,
            to: points[cut].x,
            label: "not yet steady".into(),
        });
        words.push(
            "MSER-5 finds where it becomes steady; what comes before is shaded, but counts.".to_owned(),
        );
    }
    let steady = match warm_up(&values) {
        Some(WarmUp::Until(0)) => "is steady from the start".to_owned(),
        Some(WarmUp::Until(cut)) => format!("is steady from {} on", format_ns(points[cut].x)),
        Some(WarmUp::NoSteadyState) => "keeps changing: there is no steady state".to_owned(),
        None => {
            let ends = |end: fn(f64, f64) -> f64| axis.unit.text(values.iter().copied().fold(values[0], end));
            format!("lies between {} and {}", ends(f64::min), ends(f64::max))
        }
    };
    let rows = points
        .iter()
        .map(|p| vec![format_ns(p.x), axis.unit.text(p.y)])
        .collect();
    let table = behind(&["start", &axis.label], rows);
    let chart = Chart {
        title: format!("{name} {steady}"),
        subtitle: format!("over time: {name}"),
        description: "One point a slice of time, or a few.".into(),
        x: Axis::linear("time since the start of the run", Unit::Nanoseconds),
        y: axis,
        series: vec![Series::new(name, Look::Line, points)],
        marks,
        ..Chart::new("")
    };
    Some(Picture {
        chart,
        words,
        table,
        ..Picture::default()
    })
}

/// Slices of time that one point stands for.
fn joined(outcome: &Outcome) -> usize {
    outcome.intervals.len().div_ceil(SLICES_MAX)
}

fn slices(outcome: &Outcome) -> (Vec<Point>, Axis) {
    let lasting = outcome.intervals.iter().filter(|slice| slice.duration_ns > 0);
    let lasting: Vec<&Interval> = lasting.collect();
    let slices = || lasting.chunks(joined(outcome));
    // A slice may be too short for a sample; of several that are joined one has some.
    let has_some = |slices: &[&Interval]| slices.iter().any(|slice| slice.p50_ns.is_some());
    let timed = slices().all(has_some);
    let sum = |count: fn(&Interval) -> u64, slices: &[&Interval]| {
        slices
            .iter()
            .fold(0u64, |sum, slice| sum.saturating_add(count(slice)))
    };
    // The slowest of those that are joined stands for them, so that no spike is lost; messages are added.
    let point = |slices: &[&Interval]| {
        let messages =
            sum(|slice| slice.sent.messages, slices).max(sum(|slice| slice.received.messages, slices));
        let rate = messages as f64 * 1e9 / sum(|slice| slice.duration_ns, slices) as f64;
        let slowest = slices.iter().filter_map(|slice| slice.p50_ns).map(Finite::get);
        let value = slowest.filter(|_| timed).reduce(f64::max).unwrap_or(rate);
        Point::new(slices[0].start_ns as f64, value)
    };
    let axis = match (timed, joined(outcome)) {
        (true, 1) => Axis::linear("median latency of the slice", Unit::Nanoseconds),
        (true, step) => Axis::linear(format!("slowest median of {step} slices"), Unit::Nanoseconds),
        (false, _) => Axis::linear("messages", Unit::Si("msg/s")),
    };
    (
        slices().map(point).collect(),
        Axis {
            from_zero: true,
            ..axis
        },
    )
}

/// Transports side by side: the headline latency of each, with its interval, fastest first.
pub fn ladder(cases: &[(&Input, &CaseResult)], several: bool, tag: &'static str) -> Option<Picture> {
    let has_it = |case: &CaseResult| {
        let metric = case.metrics.get(tag);
        metric.is_some_and(|metric| metric.value.get() > 0.0)
    };
    let named = names(cases, several)
        .into_iter()
        .zip(cases.iter().map(|(_, case)| *case));
    let mut steps: Vec<(String, &CaseResult)> = named.filter(|(_, case)| has_it(case)).collect();
    steps.order_by(|a, b| {
        a.1.metrics[tag]
            .value
            .partial_cmp(&b.1.metrics[tag].value)
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    // Messages of different sizes are no steps of one ladder.
    let size = |case: &CaseResult| case.case.test.size_bytes();
    if steps.len() < 2 || steps.iter().any(|(_, case)| size(case) != size(steps[0].1)) {
        return None;
    }
    let rows = steps
        .iter()
        .map(|(name, case)| vec![name.clone(), with_interval(tag, &case.metrics[tag])])
        .collect();
    let (all, title) = (steps.len(), ladder_ends(&steps, tag));
    if all > STEPS_MAX {
        // The ends say most: the middle of many transports is left to the table.
        steps.drain(STEPS_MAX / 2..all - STEPS_MAX / 2);
    }
    let count = steps.len();
    let place = |index: usize| (count - 1 - index) as f64;
    let points = steps
        .iter()
        .enumerate()
        .map(|(index, (_, case))| step(&case.metrics[tag], place(index)));
    let points: Vec<Point> = points.collect();
    let chart = Chart {
        title,
        subtitle: "every transport, fastest first".into(),
        description: "Median latency of each, with its interval.".into(),
        x: Axis::log("median latency", Unit::Nanoseconds),
        y: Axis {
            range: Some((-0.6, count as f64 - 0.4)),
            ticks: steps
                .iter()
                .enumerate()
                .map(|(index, (name, _))| (place(index), name.clone()))
                .collect(),
            ..Axis::linear("", Unit::Plain)
        },
        series: vec![Series::new("", Look::Across, points)],
        plot_height: (28 * count as u32).clamp(110, 1200),
        ..Chart::new("")
    };
    let cut = (count < all).then(|| {
        format!(
            "The picture shows the {0} fastest and the {0} slowest of {all}; the table has all.",
            count / 2
        )
    });
    Some(Picture {
        chart,
        words: cut.into_iter().collect(),
        table: behind(&["case", tag], rows),
        ..Picture::default()
    })
}

/// Names of cases, each its own.
pub fn names(cases: &[(&Input, &CaseResult)], several: bool) -> Vec<String> {
    let labels = cases.iter().map(|(input, case)| label(input, several, case));
    let mut labels: Vec<String> = labels.collect();
    let names = Names::among(cases.iter().map(|(_, case)| *case));
    for at in alike(labels.iter()).concat() {
        let case = cases[at].1;
        labels[at] = labels[at].replace(&case.case.label(), &names.of(case));
    }
    labels
}

/// The fastest and the slowest of the ladder.
fn ladder_ends(steps: &[(String, &CaseResult)], tag: &str) -> String {
    let all = steps.iter().map(|(name, case)| Standing {
        name,
        figure: with_interval(tag, &case.metrics[tag]),
        ends: ends(&case.metrics[tag]),
    });
    standings(&all.collect::<Vec<_>>(), &BY_TIME)
}

/// A figure at its place on the ladder, with its interval.
fn step(metric: &Metric, y: f64) -> Point {
    Point {
        x: metric.value.get(),
        y,
        interval: ends(metric),
    }
}
