//! The two pictures: bandwidth against payload, and time against the number of tests.

use super::{Workers, WorkersSection};
use crate::charts::FEW_RUNS;
use crate::svg::{Axis, Chart, Look, Mark, Point, Series, Unit};
use wirespeed_schema::order::InOrder;
use wirespeed_schema::units::{counted, format_ns, format_rate};

/// Points of a fitted curve between two measured sizes.
const CURVE_POINTS: u32 = 60;

/// Bandwidth against payload at most tests, with the fit of each transport.
pub fn bandwidth_chart(section: &WorkersSection) -> Chart {
    let mut series = Vec::new();
    let mut marks = Vec::new();
    for (color, group) in section.groups.iter().enumerate() {
        let name = &group.name();
        series.push(Series::new(format!("{name}, measured"), Look::Line, measured(group)).colored(color));
        if let Some((curve, half)) = fitted(group) {
            series.push(Series::new(format!("{name}, T = a + s/b"), Look::Fit, curve).colored(color));
            marks.extend(half.map(|x| Mark::Vertical {
                x,
                label: format!("{name}: half of b at {}", format_rate(x, "B")),
            }));
        }
    }
    let most = section.groups.iter().map(Workers::tests_max).max().unwrap_or(0);
    Chart {
        title: fastest(section),
        subtitle: "Payload against transfer speed".into(),
        description: format!(
            "Bandwidth from the median round trip of {} with each worker, by payload.",
            counted(most, "test")
        ),
        x: Axis::log("payload of a message", Unit::Si("B")),
        y: Axis::log("transfer speed", Unit::Si("B/s")),
        series,
        marks,
        interval_label: intervals_of(section),
        ..Chart::new("workers-bandwidth")
    }
}

/// What the intervals of the medians are.
fn intervals_of(section: &WorkersSection) -> String {
    let cells = section.groups.iter().flat_map(Workers::longest);
    let mut medians = cells.filter_map(|cell| cell.bandwidth_p50_bytes_per_s).peekable();
    let are_ranges = medians.peek().is_some() && medians.all(|median| median.level.is_none());
    match are_ranges {
        true => FEW_RUNS.into(),
        false => "95 % interval of the median".into(),
    }
}

/// The most that each transport reaches, and where.
fn fastest(section: &WorkersSection) -> String {
    let most = section.groups.iter().filter_map(|group| {
        let points = measured(group);
        let best = points.iter().max_by(|a, b| a.y.total_cmp(&b.y))?;
        Some(format!(
            "{} moves at most {}, at {}",
            group.name(),
            format_rate(best.y, "B/s"),
            format_rate(best.x, "B")
        ))
    });
    most.collect::<Vec<_>>().join("; ")
}

fn measured(group: &Workers) -> Vec<Point> {
    let point = |cell: &&super::Cell| {
        let x = cell.size_bytes as f64;
        match (cell.bandwidth_p50_bytes_per_s, cell.bandwidth_bytes_per_s) {
            (Some(p50), _) => Some(Point::within(
                x,
                p50.value.get(),
                p50.lower.get(),
                p50.upper.get(),
            )),
            (None, Some(mean)) => Some(Point::new(x, mean.get())),
            (None, None) => None,
        }
    };
    group.longest().iter().filter_map(point).collect()
}

/// The fit as a curve of bandwidth, and the payload at half of its asymptote.
fn fitted(group: &Workers) -> Option<(Vec<Point>, Option<f64>)> {
    let fit = group.fit.as_ref().filter(|fit| fit.holds())?;
    let bandwidth = fit.bandwidth_bytes_per_s?.get();
    let cells = group.longest();
    let sizes = || {
        cells
            .iter()
            .map(|cell| cell.size_bytes as f64)
            .filter(|size| *size > 0.0)
    };
    let (low, high) = (sizes().reduce(f64::min)?, sizes().reduce(f64::max)?);
    let reply = cells.last()?.reply_bytes as f64;
    let point = |step: u32| {
        let size = low * (high / low).powf(f64::from(step) / f64::from(CURVE_POINTS));
        let moved = size + if group.both_ways { size } else { reply };
        let time_ns = fit.rtt_ns.value.get() + moved * 1e9 / bandwidth;
        (time_ns > 0.0).then(|| Point::new(size, moved * 1e9 / time_ns))
    };
    let half = fit
        .half_size_bytes
        .map(|size| size.get())
        .filter(|size| *size >= low && *size <= high);
    Some(((0..=CURVE_POINTS).filter_map(point).collect(), half))
}

/// Mean time against the number of tests, at the payload nearest to 1 kB: as measured after warm-up, and with the first
/// round trip counted, as a program without warm-up has it.
pub fn tests_chart(section: &WorkersSection) -> Chart {
    let mut series = Vec::new();
    let mut marks = Vec::new();
    let mut payload = None;
    for (index, group) in section.groups.iter().enumerate() {
        let reference = group.reference_bytes();
        payload = payload.or(reference);
        let mut cells: Vec<_> = group
            .cells
            .iter()
            .filter(|cell| Some(cell.size_bytes) == reference)
            .collect();
        cells.order_by_key(|cell| cell.tests);
        let (name, by) = (&group.name(), group.divisor());
        let warm = cells
            .iter()
            .map(|cell| Point::new(cell.tests as f64, cell.rtt_mean_ns.get() / by))
            .collect();
        series.push(Series::new(format!("{name}, after warm-up"), Look::Line, warm).colored(2 * index));
        let cold = cells.iter().filter_map(|cell| {
            let mean = cell.rtt_mean_with_first_ns?.get();
            Some(Point::new(cell.tests as f64, mean / by))
        });
        let cold: Vec<Point> = cold.collect();
        series.push(
            Series::new(format!("{name}, first round trip counted"), Look::Line, cold).colored(2 * index + 1),
        );
        if let Some(last) = cells.last() {
            let y = last.rtt_mean_ns.get() / by;
            marks.push(Mark::Horizontal {
                y,
                label: format!("{name}: {} at {}", format_ns(y), counted(last.tests, "test")),
            });
        }
    }
    let size = payload.map_or(String::new(), |bytes| {
        format!(", payload {}", format_rate(bytes as f64, "B"))
    });
    let halved = section.groups.iter().all(|group| group.divisor() > 1.0);
    let said = marks.iter().filter_map(|mark| match mark {
        Mark::Horizontal { label, .. } => Some(label.as_str()),
        _ => None,
    });
    Chart {
        title: said.collect::<Vec<_>>().join("; "),
        subtitle: format!("Number of tests against mean time{size}"),
        description: "Mean of all round trips by the number of tests with each worker.".into(),
        x: Axis::log("tests with each worker", Unit::Plain),
        y: Axis {
            from_zero: true,
            ..Axis::linear(
                if halved {
                    "mean time, round trip / 2"
                } else {
                    "mean round trip"
                },
                Unit::Nanoseconds,
            )
        },
        series,
        marks,
        ..Chart::new("workers-tests")
    }
}
