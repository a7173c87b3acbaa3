//! Pictures of sweeps: bandwidth, rate and latency against size.

use super::pieces::{Probed, fits, size_points};
use super::{Picture, behind, interval_label, titled};
use crate::curve::section::Probe;
use crate::curve::{self, CurvePoint};
use crate::figures::{figure_text, with_interval};
use crate::standings::{BY_RATE, BY_TIME, Standing, ends, standings};
use crate::svg::{Axis, Chart, Look, Mark, Point, Series, Unit};
use wirespeed_schema::order::InOrder;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::{format_asked_size, format_size};

/// Cases of one sweep, by what is swept.
pub struct Swept<'a> {
    /// Its name: transport, options, test.
    pub label: String,
    /// Where its result looked for thresholds.
    pub probes: Vec<Probe>,
    /// The cases with the swept value of each, rising.
    pub cases: Vec<(u64, &'a CaseResult)>,
}

impl<'a> Swept<'a> {
    /// A sweep without a look at thresholds.
    pub fn of(label: &str, cases: Vec<(u64, &'a CaseResult)>) -> Swept<'a> {
        Swept {
            label: label.to_owned(),
            probes: Vec::new(),
            cases,
        }
    }
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
        interval: ends(metric),
    })
    .collect()
}

/// A figure against message size, one line a sweep, with the fits of its pieces and their thresholds; where probes looked for
/// some, those that they confirm.
pub fn against_size(sweeps: &[Swept], tag: &'static str) -> Option<Picture> {
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
        interval_label: intervals_of(sweeps),
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
                    format_asked_size(*size),
                    with_interval(tag, metric),
                ]);
            }
        }
        chart
            .series
            .push(Series::new(names[number].clone(), Look::Line, shown.clone()).colored(number));
        let modelled = bandwidth || tag.ends_with("_ns");
        let probed = Probed::of(swept);
        if modelled {
            let found = probed.segments(&size_points(swept, tag));
            for mark in probed.marks(found.as_ref()) {
                marked(&mut chart.marks, mark);
            }
            words.extend(found.iter().flat_map(|found| probed.words(&swept.label, found)));
            chart
                .series
                .extend(found.iter().flat_map(|found| fits(found, bandwidth, number)));
        }
        let said = match bandwidth {
            true => best(swept, tag),
            // A rate over sizes is answered by the figure of merit of its test.
            false if !modelled => None,
            false => grown(swept, tag),
        };
        answer.extend(said.map(|said| match probed.answer() {
            Some(thresholds) => format!("{said}; {thresholds}."),
            None => format!("{said}."),
        }));
    }
    chart.title = match answer.as_slice() {
        [only] => titled(only),
        _ => compared(&chart.series, tag).unwrap_or_default(),
    };
    (!chart.series.is_empty()).then_some(Picture {
        chart,
        answer,
        words,
        table: behind(&["sweep", "size", tag], rows),
        is_curve: true,
        is_loggp: false,
    })
}

fn intervals_of(sweeps: &[Swept]) -> String {
    let cases = sweeps.iter().flat_map(|swept| &swept.cases);
    interval_label(cases.map(|(_, case)| *case))
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

/// Several curves may change at the same size: one mark says it.
fn marked(marks: &mut Vec<Mark>, mark: Mark) {
    if !marks.contains(&mark) {
        marks.push(mark);
    }
}

/// The best bandwidth, the sizes that reach it, and the fall behind them.
fn best(swept: &Swept, tag: &str) -> Option<String> {
    let point = |(size, case): &(u64, &CaseResult)| {
        let metric = case.metrics.get(tag)?;
        Some(CurvePoint {
            at: *size,
            value: metric.value.get(),
            interval: ends(metric),
        })
    };
    let values: Vec<CurvePoint> = swept.cases.iter().filter_map(point).collect();
    let found = curve::plateau(&values)?;
    Some(format!("{}: {}", swept.label, found.of_bandwidths()))
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
            format_asked_size(*size)
        )
    };
    Some(format!("{}: {}, {}", swept.label, text(least), text(most)))
}

/// Who of several lines is ahead and who is behind: by the highest point of each, of latencies at the smallest size that all
/// have. `None` for one line.
fn compared(lines: &[Series], tag: &str) -> Option<String> {
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
    found.order_by(|a, b| a.0.y.total_cmp(&b.0.y));
    if !is_time {
        found.reverse();
    }
    let at = |point: &Point| format_size(point.x as u64);
    let all = found.iter().map(|(point, name)| Standing {
        name,
        figure: match is_time {
            true => figure_text(tag, point.y),
            false => format!("{} at {}", figure_text(tag, point.y), at(point)),
        },
        ends: point.interval,
    });
    let all: Vec<Standing> = all.collect();
    Some(match is_time {
        true => format!("At {}: {}", at(&found.first()?.0), standings(&all, &BY_TIME)),
        false => standings(&all, &BY_RATE),
    })
}
