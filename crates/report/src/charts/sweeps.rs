//! Pictures of sweeps: bandwidth, rate and latency against size.

use super::{Picture, behind, titled};
use crate::curve::section::Probe;
use crate::curve::sizes::is_change;
use crate::curve::{self, Change, Model, Segment, SizePoint};
use crate::figures::{figure_text, with_interval};
use crate::labels::ratio;
use crate::svg::{Axis, Chart, Look, Mark, Point, Series, Unit};
use wirespeed_schema::run::{CaseResult, Metric};
use wirespeed_schema::units::{format_ns, format_rate, format_size};

/// Cases of one sweep, by what is swept.
pub struct Swept<'a> {
    /// Its name: transport, options, test.
    pub label: String,
    /// The cases with the swept value of each, rising.
    pub cases: Vec<(u64, &'a CaseResult)>,
}

/// The interval of a figure.
pub fn interval(metric: &Metric) -> Option<(f64, f64)> {
    metric
        .lower
        .zip(metric.upper)
        .map(|(low, high)| (low.get(), high.get()))
}

/// A figure of every case of a sweep.
pub fn points(swept: &Swept, tag: &str) -> Vec<Point> {
    let with = swept
        .cases
        .iter()
        .filter_map(|(at, case)| Some((*at, case.metrics.get(tag)?)));
    with.map(|(at, metric)| Point {
        x: at as f64,
        y: metric.value.get(),
        interval: interval(metric),
    })
    .collect()
}

/// A figure against message size, one line a sweep, with the fits of its pieces and their thresholds; `probes` say which of
/// these were confirmed.
pub fn against_size(sweeps: &[Swept], tag: &'static str, probes: &[Probe]) -> Option<Picture> {
    let bandwidth = tag.ends_with("_bytes_per_s");
    let (subject, axis) = axis_of(tag);
    let (names, shared) = told_apart(sweeps);
    let mut chart = Chart {
        subtitle: match shared.as_str() {
            "" => subject.to_owned(),
            shared => format!("{subject}: {shared}"),
        },
        description: "One point a size; dashed: the fit T = a + s/b of each piece.".into(),
        x: Axis::log("message size", Unit::BinaryBytes),
        y: axis,
        interval_label: "interval over runs".into(),
        ..Chart::new("")
    };
    let (mut answer, mut words, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (number, swept) in sweeps.iter().enumerate() {
        let shown = points(swept, tag);
        if shown.len() < 2 {
            continue;
        }
        for (size, case) in &swept.cases {
            if let Some(metric) = case.metrics.get(tag) {
                rows.push(vec![
                    swept.label.clone(),
                    format_size(*size),
                    with_interval(tag, metric),
                ]);
            }
        }
        chart
            .series
            .push(Series::new(names[number].clone(), Look::Line, shown.clone()).colored(number));
        let modelled = bandwidth || tag.ends_with("_ns");
        let found = modelled.then(|| curve::segments(&size_points(&shown, bandwidth)));
        if let Some(found) = found.flatten() {
            words.extend(pieces_in_words(&swept.label, &found));
            chart.series.extend(fits(&found, bandwidth, number));
            for (change, told) in changes(&found) {
                let probe = probed(change, probes);
                if told.is_some() || probe.is_some() {
                    marked(&mut chart.marks, threshold(change, probe));
                }
            }
        }
        match bandwidth {
            true => answer.extend(best(swept, tag)),
            // A rate over sizes is answered by the figure of merit of its test.
            false if !modelled => {}
            false => answer.extend(grown(swept, tag)),
        }
    }
    chart.title = match answer.as_slice() {
        [only] => titled(only),
        _ => ends(&chart.series, tag).unwrap_or_default(),
    };
    (!chart.series.is_empty()).then_some(Picture {
        chart,
        answer,
        words,
        table: behind(&["sweep", "size", tag], rows),
        is_curve: true,
    })
}

/// What a chart of `tag` against size shows, and its axis.
fn axis_of(tag: &str) -> (&'static str, Axis) {
    match tag {
        _ if tag.ends_with("_bytes_per_s") => (
            "bandwidth against message size",
            Axis::log("bandwidth", Unit::Si("B/s")),
        ),
        _ if tag.ends_with("_msg_per_s") => (
            "message rate against message size",
            Axis::log("messages of all ranks", Unit::Si("msg/s")),
        ),
        _ => (
            "latency against message size",
            Axis::log("median latency", Unit::Nanoseconds),
        ),
    }
}

/// What tells sweeps apart, and the words at the end of their names that all of them share, such as the test.
fn told_apart(sweeps: &[Swept]) -> (Vec<String>, String) {
    let mut names: Vec<Vec<&str>> = sweeps
        .iter()
        .map(|swept| swept.label.split(' ').collect())
        .collect();
    let mut shared: Vec<&str> = Vec::new();
    while names.len() > 1 {
        let last = names[0].last().copied();
        let (true, Some(last)) = (
            names
                .iter()
                .all(|name| name.len() > 1 && name.last().copied() == last),
            last,
        ) else {
            break;
        };
        shared.insert(0, last);
        names.iter_mut().for_each(|name| name.truncate(name.len() - 1));
    }
    (
        names.iter().map(|name| name.join(" ")).collect(),
        shared.join(" "),
    )
}

/// The probe at the edges of a change.
fn probed<'a>(change: &Change, probes: &'a [Probe]) -> Option<&'a Probe> {
    let at =
        |probe: &&Probe| (probe.above_bytes, probe.until_bytes) == (change.above_bytes, change.until_bytes);
    probes.iter().find(at)
}

fn threshold(change: &Change, probe: Option<&Probe>) -> Mark {
    let state = match probe {
        Some(probe) if probe.confirmed => ", confirmed",
        Some(_) => ", not confirmed",
        None => "",
    };
    Mark::Vertical {
        x: (change.above_bytes as f64 * change.until_bytes as f64).sqrt(),
        label: format!("above {}{state}", format_size(change.above_bytes)),
    }
}

/// What interleaved probes say of a threshold.
pub fn probe_words(probe: &Probe) -> String {
    format!(
        "Threshold {} to {}: {}: interleaved probes take [{}, {}] times as long behind it, {} if the curve went on.",
        format_size(probe.above_bytes),
        format_size(probe.until_bytes),
        if probe.confirmed {
            "confirmed"
        } else {
            "not confirmed"
        },
        ratio(probe.lower_ratio.get()),
        ratio(probe.upper_ratio.get()),
        ratio(probe.smooth_ratio.get())
    )
}

/// Times of the sizes: as measured, or the time a message takes at the bandwidth.
pub fn size_points(points: &[Point], bandwidth: bool) -> Vec<SizePoint> {
    points
        .iter()
        .filter(|point| point.x > 0.0 && point.y > 0.0)
        .map(|point| SizePoint {
            size_bytes: point.x as u64,
            time_ns: if bandwidth {
                point.x * 1e9 / point.y
            } else {
                point.y
            },
            uncertainty_ratio: point.interval.map(|(low, high)| (high - low) / 2.0 / point.y),
        })
        .collect()
}

/// Several curves may change at the same size: one mark says it.
fn marked(marks: &mut Vec<Mark>, mark: Mark) {
    if !marks.contains(&mark) {
        marks.push(mark);
    }
}

/// The models of the pieces that have one.
fn fits(found: &curve::Segments, bandwidth: bool, color: usize) -> Vec<Series> {
    let told = found
        .pieces
        .iter()
        .filter_map(|piece| Some((piece, piece.model()?.0)));
    told.map(|(piece, model)| {
        let (from, to) = ((piece.from_bytes.max(1)) as f64, piece.to_bytes as f64);
        let points = (0..=24).map(|step| {
            let size = from * (to / from).powf(f64::from(step) / 24.0);
            let time = model.time_ns(size);
            Point::new(size, if bandwidth { size * 1e9 / time } else { time })
        });
        Series::new("", Look::Fit, points.filter(|p| p.y > 0.0).collect()).colored(color)
    })
    .collect()
}

/// The changes, each with the models on both of its sides; none where either side has no model.
fn changes(found: &curve::Segments) -> Vec<(&Change, Option<(Model, Model)>)> {
    let sides = found.pieces.windows(2).map(|pair| {
        let (before, after) = (pair[0].model()?, pair[1].model()?);
        Some((before.0, after.0))
    });
    found.changes.iter().zip(sides).collect()
}

/// What the pieces and their changes say, as far as a model holds.
pub fn pieces_in_words(label: &str, found: &curve::Segments) -> Vec<String> {
    let mut words = Vec::new();
    let range = |piece: &Segment| {
        format!(
            "{label}, {} to {}",
            format_size(piece.from_bytes),
            format_size(piece.to_bytes)
        )
    };
    for piece in &found.pieces {
        let Some((model, residual)) = piece.model() else {
            continue;
        };
        let rest = figure_text("_ratio", residual);
        let (range, rate) = (range(piece), |bandwidth| format_rate(bandwidth, "B/s"));
        words.push(match model {
            Model::Line {
                latency_ns,
                bandwidth_bytes_per_s,
            } => format!(
                "{range}: T = {} + s / {}, half of it at {}; residuals {rest}.",
                format_ns(latency_ns),
                rate(bandwidth_bytes_per_s),
                format_size((latency_ns * bandwidth_bytes_per_s / 1e9).round() as u64)
            ),
            Model::Proportional {
                bandwidth_bytes_per_s,
            } => format!(
                "{range}: in proportion to size at {}; residuals {rest}.",
                rate(bandwidth_bytes_per_s)
            ),
            Model::Flat { latency_ns } => {
                format!(
                    "{range}: size hardly matters, {}; residuals {rest}.",
                    format_ns(latency_ns)
                )
            }
        });
    }
    if let ([piece], true) = (found.pieces.as_slice(), words.is_empty()) {
        words.push(format!(
            "{}: no model T = a + s/b: residuals {} over {} sizes.",
            range(piece),
            figure_text("_ratio", piece.residual_ratio),
            piece.points.len()
        ));
    }
    for (change, told) in changes(found) {
        let Some((before, after)) = told else {
            continue;
        };
        let at = change.until_bytes as f64;
        let how = change_in_words(change, after.time_ns(at) / before.time_ns(at));
        words.push(format!(
            "{label}: a threshold between {} and {}: {how}.",
            format_size(change.above_bytes),
            format_size(change.until_bytes)
        ));
    }
    words
}

/// What changes; `step` is the time after it over that which the piece before would take.
fn change_in_words(change: &Change, step: f64) -> String {
    match (is_change(step), step > 1.0, change.bandwidth_ratio) {
        (true, true, _) => format!(
            "takes {} times as long as the piece before would have it",
            ratio(step)
        ),
        (true, false, _) => format!(
            "takes {} of the time that the piece before would have it",
            figure_text("_ratio", step)
        ),
        (_, _, Some(bandwidth)) => format!("bandwidth changes to {} times what it was", ratio(bandwidth)),
        (_, _, None) => "the slope changes".to_owned(),
    }
}

/// The best bandwidth, the sizes that reach it, and the fall behind them.
fn best(swept: &Swept, tag: &str) -> Option<String> {
    let values: Vec<(u64, f64)> = swept
        .cases
        .iter()
        .filter_map(|(size, case)| Some((*size, case.metrics.get(tag)?.value.get())))
        .collect();
    let found = curve::plateau(&values)?;
    Some(format!(
        "{}: at most {} (at {}); {}.",
        swept.label,
        format_rate(found.best, "B/s"),
        format_size(found.at),
        found.words(format_size)
    ))
}

/// The latency of the smallest and of the largest size.
fn grown(swept: &Swept, tag: &str) -> Option<String> {
    let with = |entry: &&(u64, &CaseResult)| entry.1.metrics.contains_key(tag);
    let (least, most) = (
        swept.cases.iter().find(with)?,
        swept.cases.iter().rev().find(with)?,
    );
    let text = |(size, case): &(u64, &CaseResult)| {
        format!(
            "{} at {}",
            with_interval(tag, &case.metrics[tag]),
            format_size(*size)
        )
    };
    Some(format!("{}: {}, {}.", swept.label, text(least), text(most)))
}

/// Who of several lines is ahead and who is behind: by the highest point of each, of latencies at the smallest size that all
/// have. `None` for one line.
fn ends(lines: &[Series], tag: &str) -> Option<String> {
    let lines: Vec<&Series> = lines.iter().filter(|line| line.look == Look::Line).collect();
    if lines.len() < 2 {
        return None;
    }
    let is_time = tag.ends_with("_ns");
    let common = |x: f64| {
        lines
            .iter()
            .all(|line| line.points.iter().any(|point| point.x == x))
    };
    let smallest = lines[0].points.iter().find(|point| common(point.x));
    let point = |line: &&Series| match is_time {
        true => line
            .points
            .iter()
            .find(|point| Some(point.x) == smallest.map(|p| p.x))
            .copied(),
        false => line.points.iter().copied().max_by(|a, b| a.y.total_cmp(&b.y)),
    };
    let mut found: Vec<(Point, &str)> = lines
        .iter()
        .filter_map(|line| Some((point(line)?, line.label.as_str())))
        .collect();
    found.sort_by(|a, b| a.0.y.total_cmp(&b.0.y));
    let ((low, lowest), (high, highest)) = (found.first()?, found.last()?);
    let at = |point: &Point| format_size(point.x as u64);
    let value = |point: &Point| figure_text(tag, point.y);
    Some(match is_time {
        true => format!(
            "At {} {lowest} is the fastest with {}, {highest} the slowest with {}",
            at(low),
            value(low),
            value(high)
        ),
        false => format!(
            "{highest} reaches most, {} at {}; {lowest} least, {} at {}",
            value(high),
            at(high),
            value(low),
            at(low)
        ),
    })
}
