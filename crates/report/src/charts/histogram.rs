//! The picture of a distribution. Every bar holds whole steps of the clock, so that an even distribution is an even row of bars.

use super::shapes::samples;
use super::{Picture, behind};
use crate::figures::figure_text;
use crate::stats::{self, Mode};
use crate::svg::{Axis, Chart, Look, Mark, Point, Series, Unit};
use crate::thresholds::SHARE_SAMPLES_MIN;
use wirespeed_schema::HistogramData;
use wirespeed_schema::histogram::bucket_range;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::format_ns;

/// Bars at most.
const BARS: usize = 80;
/// Bars of fewer steps of the clock hold the same number of them: one more or less would show as a comb.
const BAR_STEPS_MIN: f64 = 16.0;

/// A bar: its ends in ns, and the samples between them.
type Bar = (f64, f64, f64);

/// Number of samples by latency, with its modes named.
pub fn histogram(name: &str, case: &CaseResult) -> Option<Picture> {
    let (data, what) = samples(case)?;
    let (low, high) = drawn_range(&data)?;
    let bars = bars(&data, low, high);
    if bars.len() < 2 {
        return None;
    }
    let drawn: f64 = bars.iter().map(|(_, _, count)| count).sum();
    let modes = stats::modes(&data);
    let mut words = vec![format!(
        "{} samples of a {what}; {} beyond the ends of the picture.",
        data.count,
        beyond_in_words(data.count, drawn)
    )];
    if modes.len() > 1 {
        words.push("A mean of all describes none of the modes.".to_owned());
    }
    let mut points: Vec<Point> = bars
        .iter()
        .map(|(from, _, count)| Point::new(*from, *count))
        .collect();
    // A last step of no height ends the last bar.
    points.push(Point::new(bars.last()?.1, 0.0));
    let chart = Chart {
        title: format!("{name}: {}", shape(&data, &modes)?),
        subtitle: format!("distribution: {name}"),
        description: "How many samples took how long.".into(),
        x: Axis::log(what, Unit::Nanoseconds),
        y: Axis {
            from_zero: true,
            ..Axis::linear("samples", Unit::Si(""))
        },
        series: vec![Series::new("", Look::Steps, points)],
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

/// How many of `count` samples are not among those `drawn`: bars hold parts of samples, sentences whole ones.
fn beyond_in_words(count: u64, drawn: f64) -> String {
    match (count as f64 - drawn).round() {
        beyond if beyond < 1.0 => "none lies".to_owned(),
        1.0 if count < SHARE_SAMPLES_MIN => format!("1 of {count} lies"),
        beyond if count < SHARE_SAMPLES_MIN => format!("{beyond} of {count} lie"),
        beyond => format!("{} of them lie", figure_text("_ratio", beyond / count as f64)),
    }
}

/// The shape in words: its modes where there are several, else where most samples lie.
fn shape(data: &HistogramData, modes: &[Mode]) -> Option<String> {
    if modes.len() > 1 {
        let named: Vec<String> = modes
            .iter()
            .map(|mode| format!("{} ({})", format_ns(mode.at), figure_text("_ratio", mode.share)))
            .collect();
        return Some(format!("{} modes, {}", modes.len(), named.join(", ")));
    }
    // Quantiles of too few samples are withheld everywhere.
    let needed = stats::samples_needed(0.95, stats::LEVEL)?;
    let (who, ends) = match data.count >= needed {
        true => (
            "nine in ten".to_owned(),
            [data.quantile_ns(0.05)?, data.quantile_ns(0.95)?],
        ),
        false => (
            format!("all {}", data.count),
            [data.min_ns.get(), data.max_ns.get()],
        ),
    };
    let [low, high] = ends.map(format_ns);
    Some(match low == high {
        true => format!("{who} take {low}"),
        false => format!("{who} take {low} to {high}"),
    })
}

/// The range that is drawn: all but the outermost 0.05 %, and not so far into the tail that the bulk becomes one bar.
fn drawn_range(data: &HistogramData) -> Option<(f64, f64)> {
    let low = data.quantile_ns(0.0005)?.max(0.001);
    let (middle, most) = (data.quantile_ns(0.5)?, data.quantile_ns(0.95)?);
    let bulk = most * (most / middle).clamp(1.3, 3.0);
    Some((low, data.quantile_ns(0.9995)?.min(bulk)))
}

/// The samples of `data` by bars between `low` and `high`.
fn bars(data: &HistogramData, low: f64, high: f64) -> Vec<Bar> {
    let step = data.step_ns.get();
    let mut bars: Vec<Bar> = edges(step, low, high)
        .windows(2)
        .map(|pair| (pair[0], pair[1], 0.0))
        .collect();
    for &(bucket, samples) in &data.buckets {
        let (start, width) = bucket_range(bucket as usize);
        let start = start as f64 / 1000.0;
        share(
            &mut bars,
            step,
            (start, start + width as f64 / 1000.0),
            samples as f64,
        );
    }
    bars
}

/// Give the samples of a bucket to the bars that it reaches into, each as many as values that the clock can tell lie in both.
/// Buckets and steps have different widths: whole buckets would make a comb of the two.
fn share(bars: &mut [Bar], step: f64, (from, to): (f64, f64), samples: f64) {
    let values = |from: f64, to: f64| match step > 0.0 {
        true => ((to / step).ceil() - (from / step).ceil()).max(0.0),
        false => (to - from).max(0.0),
    };
    let all = values(from, to);
    let first = bars.partition_point(|bar| bar.1 <= from);
    if all <= 0.0 {
        // No value of the clock lies in the bucket, but for rounding.
        let middle = (from + to) / 2.0;
        if let Some(bar) = bars[first..].iter_mut().find(|bar| middle < bar.1)
            && middle >= bar.0
        {
            bar.2 += samples;
        }
        return;
    }
    for bar in bars[first..].iter_mut().take_while(|bar| bar.0 < to) {
        bar.2 += samples * values(from.max(bar.0), to.min(bar.1)) / all;
    }
}

/// Edges of about equal distance on a logarithmic axis, each halfway between two values that the clock can tell: a bar holds
/// whole steps of the clock, and where these are few as many as every other.
fn edges(step: f64, low: f64, high: f64) -> Vec<f64> {
    let span = (high / low).ln();
    if span <= 0.0 || !span.is_finite() {
        return Vec::new();
    }
    let count = ((span / 0.006) as usize).clamp(4, BARS);
    let even = (0..=count).map(|i| low * (span * i as f64 / count as f64).exp());
    if step <= 0.0 {
        return even.collect();
    }
    let halfway = |value: f64| ((value / step).round() - 0.5).max(0.5) * step;
    let narrowest = low * ((span / count as f64).exp() - 1.0);
    if narrowest > BAR_STEPS_MIN * step {
        return even.map(halfway).collect();
    }
    let width = step * ((high - low) / step / BARS as f64).ceil().max(1.0);
    let first = halfway(low);
    let count = ((high - first) / width).ceil().max(1.0) as usize;
    (0..=count).map(|i| first + i as f64 * width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As many samples of each of `count` steps, from `first` steps on.
    fn even(step: f64, first: u32, count: u32) -> HistogramData {
        let values: Vec<f64> = (0..count * 100)
            .map(|i| step * f64::from(first + i % count))
            .collect();
        HistogramData::from_samples_ns(&values).with_step_ns(step)
    }

    fn inner(bars: &[Bar]) -> (f64, f64) {
        let counts = bars[1..bars.len() - 1].iter().map(|bar| bar.2);
        counts.fold((f64::MAX, 0.0f64), |(least, most), count| {
            (least.min(count), most.max(count))
        })
    }

    #[test]
    fn bars_hold_whole_steps_of_the_clock() {
        for (step, low, high) in [(10.0, 150.0, 400.0), (10.01, 3200.0, 5200.0), (20.0, 4000.0, 1e7)] {
            let edges = edges(step, low, high);
            assert!(edges.len() <= BARS + 2, "{}", edges.len());
            for pair in edges.windows(2) {
                let steps = (pair[1] - pair[0]) / step;
                assert!(steps > 0.5 && (steps - steps.round()).abs() < 1e-6, "{pair:?}");
            }
        }
    }

    #[test]
    fn an_even_distribution_has_even_bars() {
        // Below buckets of a step, and where a bucket is wider than a step.
        for (first, count) in [(15, 26), (320, 200), (1500, 600)] {
            let data = even(10.0, first, count);
            let (low, high) = (f64::from(first) * 10.0, f64::from(first + count) * 10.0);
            let bars = bars(&data, low, high);
            assert!(bars.len() > 20, "{bars:?}");
            let (least, most) = inner(&bars);
            assert!(most <= 1.35 * least, "{first}: {bars:?}");
        }
    }

    #[test]
    fn a_share_is_told_of_samples_enough_for_its_quantiles() {
        let told = |count: u32| {
            let values: Vec<f64> = (0..count).map(|i| 1000.0 + f64::from(i)).collect();
            shape(&HistogramData::from_samples_ns(&values), &[]).unwrap()
        };
        assert_eq!(told(8), "all 8 take 1 µs to 1.007 µs");
        assert!(
            told(71).starts_with("all 71 take 1 µs to 1.07 µs"),
            "{}",
            told(71)
        );
        assert!(told(200).starts_with("nine in ten take 1.0"), "{}", told(200));
    }

    #[test]
    fn samples_beyond_the_ends_are_whole() {
        for (count, drawn, said) in [
            (30, 29.86, "none lies"),
            (30, 29.4, "1 of 30 lies"),
            (99, 97.0, "2 of 99 lie"),
            (1000, 1000.0, "none lies"),
            (1000, 998.7, "0.1 % of them lie"),
            (20_000, 19_980.2, "0.1 % of them lie"),
        ] {
            assert_eq!(beyond_in_words(count, drawn), said);
        }
    }

    proptest! {
        #[test]
        fn no_sample_is_lost_or_made_within_the_range(
            samples in prop::collection::vec(100.0..1e5f64, 50..300),
            step in prop_oneof![Just(0.0), 1.0..40.0f64],
        ) {
            let data = HistogramData::from_samples_ns(&samples).with_step_ns(step);
            let bars = bars(&data, 50.0, 2e5);
            let drawn: f64 = bars.iter().map(|bar| bar.2).sum();
            prop_assert!((drawn - samples.len() as f64).abs() < 1e-6, "{drawn}");
        }
    }
}
