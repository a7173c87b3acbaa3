//! Pictures of single cases: percentile curve, histogram, slices of time.

use super::{Picture, behind};
use crate::assemble::merged_samples;
use crate::figures::{figure_text, with_interval};
use crate::labels::Input;
use crate::labels::label;
use crate::stats::{self, LEVEL, WarmUp, warm_up};
use crate::svg::{Axis, Chart, Look, Mark, Point, Series, Unit};
use wirespeed_schema::HistogramData;
use wirespeed_schema::histogram::bucket_range;
use wirespeed_schema::outcome::{Outcome, SampleKind};
use wirespeed_schema::run::{CaseResult, Metric};
use wirespeed_schema::units::format_ns;

/// Kinds of sample with a latency to be drawn, the first that a case has.
const KINDS: [(SampleKind, &str); 4] = [
    (SampleKind::RoundTrip, "round trip"),
    (SampleKind::Completion, "completion"),
    (SampleKind::Response, "response"),
    (SampleKind::Acknowledged, "time to acknowledgement"),
];
/// Points of a percentile curve below the last whole quantile.
const CURVE_POINTS: usize = 36;
/// Bars of a histogram at most.
const BARS: usize = 80;
/// Bars of fewer steps of the clock hold one step more or less than their neighbours.
const BAR_STEPS_MIN: f64 = 8.0;
/// Transports that are drawn side by side.
const STEPS_MAX: usize = 60;
/// Slices of time below which nothing is drawn.
const SLICES_MIN: usize = 8;
/// Slices that are drawn; more are joined.
const SLICES_MAX: usize = 400;

/// All samples of a case's main kind, and what they are.
pub fn samples(case: &CaseResult) -> Option<(HistogramData, &'static str)> {
    KINDS.iter().find_map(|&(kind, what)| {
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
        title: "latency by percentile".into(),
        description: "How long the given share of operations took at most.".into(),
        x: Axis {
            ticks: [
                (0.5, "50 %"),
                (0.1, "90 %"),
                (0.01, "99 %"),
                (1e-3, "99.9 %"),
                (1e-4, "99.99 %"),
                (1e-5, "99.999 %"),
            ]
            .map(|(tail, name)| (1.0 / tail, name.to_owned()))
            .to_vec(),
            ..Axis::log("share of the samples", Unit::Plain)
        },
        y: Axis::log("latency", Unit::Nanoseconds),
        interval_label: "95 % interval from the order of all samples".into(),
        ..Chart::new("")
    };
    let (mut rows, mut words) = (Vec::new(), Vec::new());
    for (input, case) in cases {
        let Some((data, what)) = samples(case) else {
            continue;
        };
        let name = label(input, several, case);
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
            words.push(format!(
                "{name}: half of all took at most {}, one in a hundred more than {}; the longest {what} {}.",
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

/// Points up to the highest quantile whose interval exists.
fn curve(data: &HistogramData) -> Vec<Point> {
    let tail_min = (1.0 - 0.025f64.powf(1.0 / data.count as f64)).clamp(1e-6, 0.5);
    let steps = CURVE_POINTS as f64;
    (0..=CURVE_POINTS)
        .filter_map(|step| {
            let tail = 0.9 * (tail_min / 0.9).powf(step as f64 / steps);
            let estimate = stats::quantile(data, 1.0 - tail, LEVEL).ok()?;
            Some(Point::within(
                1.0 / tail,
                estimate.value_ns,
                estimate.lower_ns,
                estimate.upper_ns,
            ))
        })
        .collect()
}

/// Number of samples by latency, with its modes named.
pub fn histogram(input: &Input, case: &CaseResult, several: bool) -> Option<Picture> {
    let (data, what) = samples(case)?;
    let name = label(input, several, case);
    let (low, high) = drawn_range(&data)?;
    let bars = bars(&data, low, high);
    if bars.len() < 2 {
        return None;
    }
    let drawn: f64 = bars.iter().map(|(_, _, count)| count).sum();
    let beyond = 1.0 - drawn / data.count as f64;
    let modes = stats::modes(&data);
    let mut words = vec![format!(
        "{name}: {} samples of a {what}; {} of them lie beyond the ends of the picture.",
        data.count,
        figure_text("_ratio", beyond.max(0.0))
    )];
    if modes.len() > 1 {
        let named: Vec<String> = modes
            .iter()
            .map(|m| format!("{} ({})", format_ns(m.at), figure_text("_ratio", m.share)))
            .collect();
        words.push(format!(
            "There are {} modes: {}. A mean of all describes none of them.",
            modes.len(),
            named.join(", ")
        ));
    }
    let mut points: Vec<Point> = bars
        .iter()
        .map(|(from, _, count)| Point::new(*from, *count))
        .collect();
    // A last step of no height ends the last bar.
    points.push(Point::new(bars.last()?.1, 0.0));
    let chart = Chart {
        title: format!("distribution: {name}"),
        description: "How many samples took how long.".into(),
        x: Axis::log(what, Unit::Nanoseconds),
        y: Axis {
            from_zero: true,
            ..Axis::linear("samples", Unit::Si(""))
        },
        series: vec![Series::new("samples", Look::Steps, points)],
        marks: modes
            .iter()
            .filter(|_| modes.len() > 1)
            .map(|mode| Mark::Vertical {
                x: mode.at,
                label: format!("mode {}", format_ns(mode.at)),
            })
            .collect(),
        ..Chart::new("")
    };
    let rows = bars
        .iter()
        .map(|(from, to, count)| vec![format_ns(*from), format_ns(*to), format!("{count:.0}")])
        .collect();
    Some(Picture {
        chart,
        words,
        table: behind(&["from", "to", "samples"], rows),
        ..Picture::default()
    })
}

/// The range that is drawn: all but the outermost 0.05 %, and not so far into the tail that the bulk becomes one bar.
fn drawn_range(data: &HistogramData) -> Option<(f64, f64)> {
    let low = data.quantile_ns(0.0005)?.max(0.001);
    let (middle, most) = (data.quantile_ns(0.5)?, data.quantile_ns(0.95)?);
    let bulk = most * (most / middle).clamp(1.3, 3.0);
    Some((low, data.quantile_ns(0.9995)?.min(bulk)))
}

/// Buckets joined to bars; no bar is narrower than a bucket, nor holds parts of the clock's steps. Begin, end, count.
fn bars(data: &HistogramData, low: f64, high: f64) -> Vec<(f64, f64, f64)> {
    let edges = edges(data.step_ns.get(), low, high);
    let mut bars: Vec<(f64, f64, f64)> = edges.windows(2).map(|pair| (pair[0], pair[1], 0.0)).collect();
    for &(bucket, samples) in &data.buckets {
        let (start, width) = bucket_range(bucket as usize);
        let middle = (start as f64 + width as f64 / 2.0) / 1000.0;
        let at = edges.partition_point(|edge| *edge <= middle);
        if let Some(bar) = at.checked_sub(1).and_then(|at| bars.get_mut(at)) {
            bar.2 += samples as f64;
        }
    }
    bars
}

/// Edges of equal distance on a logarithmic axis; where the clock's steps would make a comb of that, half a step beside
/// whole numbers of steps.
fn edges(step: f64, low: f64, high: f64) -> Vec<f64> {
    let span = (high / low).ln();
    if span <= 0.0 || !span.is_finite() {
        return Vec::new();
    }
    let count = ((span / 0.006) as usize).clamp(4, BARS);
    let narrowest = low * ((span / count as f64).exp() - 1.0);
    if step <= 0.0 || narrowest > BAR_STEPS_MIN * step {
        let edge = |i: usize| low * (span * i as f64 / count as f64).exp();
        return (0..=count).map(edge).collect();
    }
    let width = step * ((high - low) / step / BARS as f64).ceil().max(1.0);
    let first = ((low / step).round() - 0.5).max(0.5) * step;
    let count = ((high - first) / width).ceil().max(1.0) as usize;
    (0..=count).map(|i| first + i as f64 * width).collect()
}

/// Slices of time of the first repetition that has some: median latency, else rate, warm-up shaded.
pub fn over_time(input: &Input, case: &CaseResult, several: bool) -> Option<Picture> {
    let name = label(input, several, case);
    let outcome = case
        .repetitions
        .iter()
        .flat_map(|repetition| &repetition.outcomes)
        .find(|outcome| outcome.intervals.len() >= SLICES_MIN)?;
    let (points, axis) = slices(outcome);
    let values: Vec<f64> = points.iter().map(|point| point.y).collect();
    let (mut marks, mut words) = (
        Vec::new(),
        vec![format!(
            "{name}: {} slices of time of one run.",
            outcome.intervals.len()
        )],
    );
    if let (Some(first), Some(WarmUp::Until(cut @ 1..))) = (points.first(), warm_up(&values)) {
        marks.push(Mark::Shade {
            from: first.x,
            to: points[cut].x,
            label: "not yet steady".into(),
        });
        words.push(format!(
            "It is steady from {} on (MSER-5); what comes before is shaded, and counted.",
            format_ns(points[cut].x)
        ));
    }
    let rows = points
        .iter()
        .map(|p| vec![format_ns(p.x), axis.unit.text(p.y)])
        .collect();
    let table = behind(&["start", &axis.label], rows);
    let chart = Chart {
        title: format!("over time: {name}"),
        description: "One point a slice of time.".into(),
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

fn slices(outcome: &Outcome) -> (Vec<Point>, Axis) {
    let step = outcome.intervals.len().div_ceil(SLICES_MAX);
    let slices = || {
        outcome
            .intervals
            .iter()
            .step_by(step)
            .filter(|slice| slice.duration_ns > 0)
    };
    let timed = slices().all(|slice| slice.p50_ns.is_some());
    let point = |slice: &wirespeed_schema::outcome::Interval| {
        let rate = slice.sent.messages.max(slice.received.messages) as f64 * 1e9 / slice.duration_ns as f64;
        let value = slice.p50_ns.filter(|_| timed).map_or(rate, |p50| p50.get());
        Point::new(slice.start_ns as f64, value)
    };
    let axis = match timed {
        true => Axis::linear("median latency of the slice", Unit::Nanoseconds),
        false => Axis::linear("messages", Unit::Si("msg/s")),
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
    let mut steps: Vec<(String, &CaseResult)> = cases
        .iter()
        .filter(|(_, case)| {
            case.metrics
                .get(tag)
                .is_some_and(|metric| metric.value.get() > 0.0)
        })
        .map(|(input, case)| (label(input, several, case), *case))
        .collect();
    steps.sort_by(|a, b| {
        a.1.metrics[tag]
            .value
            .partial_cmp(&b.1.metrics[tag].value)
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    if steps.len() < 2 {
        return None;
    }
    let rows = steps
        .iter()
        .map(|(name, case)| vec![name.clone(), with_interval(tag, &case.metrics[tag])])
        .collect();
    let all = steps.len();
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
    let words = ladder_words(&steps, all, tag);
    let chart = Chart {
        title: "every transport, fastest first".into(),
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
    Some(Picture {
        chart,
        words,
        table: behind(&["case", tag], rows),
        ..Picture::default()
    })
}

/// The ends of the ladder, and what of it is not drawn.
fn ladder_words(steps: &[(String, &CaseResult)], all: usize, tag: &str) -> Vec<String> {
    let count = steps.len();
    let (first, last) = (&steps[0], &steps[count - 1]);
    let mut words = vec![format!(
        "{} is the fastest with {}, {} the slowest with {}.",
        first.0,
        with_interval(tag, &first.1.metrics[tag]),
        last.0,
        with_interval(tag, &last.1.metrics[tag])
    )];
    if count < all {
        words.push(format!(
            "The picture has the fastest and the slowest {} of {all}; the table has all.",
            count / 2
        ));
    }
    words
}

/// A figure at its place on the ladder, with its interval.
fn step(metric: &Metric, y: f64) -> Point {
    let ends = metric.lower.zip(metric.upper);
    Point {
        x: metric.value.get(),
        y,
        interval: ends.map(|(low, high)| (low.get(), high.get())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_follow_the_clocks_step() {
        // Every step of 10 ns from 150 to 400 ns as often as the others.
        let values: Vec<f64> = (0..26_000).map(|i| 150.0 + 10.0 * f64::from(i % 26)).collect();
        let coarse = HistogramData::from_samples_ns(&values).with_step_ns(10.0);
        let (low, high) = drawn_range(&coarse).unwrap();
        let bars = bars(&coarse, low, high);
        assert!(bars.len() > 20, "{bars:?}");
        assert!(
            bars[1..bars.len() - 1].iter().all(|bar| bar.2 == 1000.0),
            "{bars:?}"
        );
        // A thousand steps: as many to each bar.
        let values: Vec<f64> = (0..100_000).map(|i| 150.0 + 10.0 * f64::from(i % 1000)).collect();
        let fine = HistogramData::from_samples_ns(&values).with_step_ns(10.0);
        let bars = super::bars(&fine, 150.0, 10_000.0);
        assert!(bars.len() <= BARS + 1, "{}", bars.len());
        let inner: Vec<f64> = bars[1..bars.len() - 1].iter().map(|bar| bar.2).collect();
        let (least, most) = inner
            .iter()
            .fold((f64::MAX, 0.0f64), |(l, m), c| (l.min(*c), m.max(*c)));
        // A bucket high up is wider than a step, and falls to one side of an edge.
        assert!(most <= 1.5 * least, "{inner:?}");
    }
}
