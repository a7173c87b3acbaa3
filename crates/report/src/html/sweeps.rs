//! Pictures of sweeps: bandwidth and latency against size, rate against window, latency against load, the forest of a
//! comparison.

use super::Picture;
use super::words::{ratio, with_interval};
use crate::compare::{Comparison, Row, Verdict};
use crate::curve::section::{LoadSection, load_point};
use crate::curve::{self, LoadPoint, SizePoint, WindowPoint};
use crate::render::{figure_text, load_words};
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

fn interval(metric: &Metric) -> Option<(f64, f64)> {
    metric
        .lower
        .zip(metric.upper)
        .map(|(low, high)| (low.get(), high.get()))
}

fn points(swept: &Swept, tag: &str) -> Vec<Point> {
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

/// A figure against message size, one line a sweep, with the fits of its pieces and their thresholds.
pub fn against_size(sweeps: &[Swept], tag: &'static str) -> Option<Picture> {
    let bandwidth = tag.ends_with("_bytes_per_s");
    let (title, axis) = match bandwidth {
        true => (
            "bandwidth against message size",
            Axis::log("bandwidth", Unit::Si("B/s")),
        ),
        false => (
            "latency against message size",
            Axis::log("median latency", Unit::Nanoseconds),
        ),
    };
    let mut chart = Chart {
        title: title.into(),
        description: "One point a size; dashed: the fit T = a + s/b of each piece.".into(),
        x: Axis::log("message size", Unit::BinaryBytes),
        y: axis,
        interval_label: "interval over runs".into(),
        ..Chart::new("")
    };
    let (mut words, mut rows) = (Vec::new(), Vec::new());
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
            .push(Series::new(swept.label.clone(), Look::Line, shown.clone()).colored(number));
        if let Some(found) = curve::segments(&size_points(&shown, bandwidth)) {
            words.extend(pieces_in_words(&swept.label, &found));
            chart.series.extend(fits(&found, bandwidth, number));
            chart
                .marks
                .extend(found.changes.iter().map(|change| Mark::Vertical {
                    x: (change.above_bytes as f64 * change.until_bytes as f64).sqrt(),
                    label: format!("above {}", format_size(change.above_bytes)),
                }));
        }
        if bandwidth {
            words.extend(best(swept, tag));
        }
    }
    let columns = ["sweep", "size", tag].map(str::to_owned).to_vec();
    (!chart.series.is_empty()).then_some(Picture {
        chart,
        words,
        columns,
        rows,
    })
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

fn fits(found: &curve::Segments, bandwidth: bool, color: usize) -> Vec<Series> {
    found
        .pieces
        .iter()
        .map(|piece| {
            let (from, to) = ((piece.from_bytes.max(1)) as f64, piece.to_bytes as f64);
            let points = (0..=24).map(|step| {
                let size = from * (to / from).powf(f64::from(step) / 24.0);
                let time = piece.fit.time_ns(size);
                Point::new(size, if bandwidth { size * 1e9 / time } else { time })
            });
            Series::new("", Look::Fit, points.filter(|p| p.y > 0.0).collect()).colored(color)
        })
        .collect()
}

/// What the pieces and their changes say.
pub fn pieces_in_words(label: &str, found: &curve::Segments) -> Vec<String> {
    let mut words = Vec::new();
    for piece in &found.pieces {
        let fit = &piece.fit;
        let range = format!(
            "{} to {}",
            format_size(piece.from_bytes),
            format_size(piece.to_bytes)
        );
        let rest = figure_text("_ratio", piece.residual_ratio);
        words.push(match (fit.bandwidth_bytes_per_s, fit.half_size_bytes) {
            (Some(bandwidth), half) if fit.latency_ns.value > 0.0 => {
                let half = half.map(|size| format!(", half of it at {}", format_size(size.round() as u64)));
                format!(
                    "{label}, {range}: T = {} + s / {}{}; residuals {rest}.",
                    format_ns(fit.latency_ns.value),
                    format_rate(bandwidth, "B/s"),
                    half.unwrap_or_default()
                )
            }
            (Some(bandwidth), _) => {
                format!(
                    "{label}, {range}: in proportion to size at {}; residuals {rest}.",
                    format_rate(bandwidth, "B/s")
                )
            }
            (None, _) => format!(
                "{label}, {range}: size does not matter, {}; residuals {rest}.",
                format_ns(fit.time_ns(piece.from_bytes as f64))
            ),
        });
    }
    for change in &found.changes {
        let step = change.step_ratio;
        let how = match (step > 1.1, step < 0.9, change.bandwidth_ratio) {
            (true, _, _) => format!(
                "takes {} times as long as the piece before would have it",
                ratio(step)
            ),
            (_, true, _) => format!(
                "takes {} of the time that the piece before would have it",
                ratio(step)
            ),
            (_, _, Some(bandwidth)) => format!("bandwidth changes to {} of what it was", ratio(bandwidth)),
            (_, _, None) => "the slope changes".to_owned(),
        };
        words.push(format!(
            "{label}: a threshold between {} and {}: {how}.",
            format_size(change.above_bytes),
            format_size(change.until_bytes)
        ));
    }
    words
}

/// The best bandwidth, and the size from which 95 % of it is had; a fall behind the best is named.
fn best(swept: &Swept, tag: &str) -> Vec<String> {
    let values: Vec<(u64, f64)> = swept
        .cases
        .iter()
        .filter_map(|(size, case)| Some((*size, case.metrics.get(tag)?.value.get())))
        .collect();
    let Some(&(at, most)) = values.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Vec::new();
    };
    let enough = values
        .iter()
        .find(|(_, value)| *value >= 0.95 * most)
        .map_or(at, |(size, _)| *size);
    let mut words = vec![format!(
        "{}: at most {} (at {}); 95 % of it from {} on.",
        swept.label,
        format_rate(most, "B/s"),
        format_size(at),
        format_size(enough)
    )];
    if let Some(&(last, value)) = values
        .last()
        .filter(|(size, value)| *size > at && *value < 0.9 * most)
    {
        words.push(format!(
            "{}: it falls again, to {} at {}: {} of the best.",
            swept.label,
            format_rate(value, "B/s"),
            format_size(last),
            figure_text("_ratio", value / most)
        ));
    }
    words
}

/// Rate against window, with the line of 95 % of the best.
pub fn against_window(swept: &Swept) -> Option<Picture> {
    let shown = points(swept, "rate_msg_per_s");
    let windows = window_points(swept);
    let enough = curve::enough(&windows, 0.95)?;
    let mut words = vec![format!(
        "{}: a window of {} is enough for 95 % of the best rate ({} with {}).",
        swept.label,
        enough.window_msgs,
        format_rate(enough.peak_msg_per_s, "msg/s"),
        enough.peak_window_msgs
    )];
    if enough.still_rising {
        words.push("The rate still rises at the largest window: the best may lie beyond.".to_owned());
    }
    let rows = windows
        .iter()
        .map(|point| {
            let used = curve::window::window_use_ratio(point);
            vec![
                point.window_msgs.to_string(),
                format_rate(point.rate_msg_per_s, "msg/s"),
                point.acknowledged_mean_ns.map(format_ns).unwrap_or_default(),
                used.map(|used| figure_text("_ratio", used)).unwrap_or_default(),
            ]
        })
        .collect();
    let chart = Chart {
        title: format!("rate against window: {}", swept.label),
        description: "How many messages may be under way at once, and what that buys.".into(),
        x: Axis::log("window in messages", Unit::Plain),
        y: Axis {
            from_zero: true,
            ..Axis::linear("rate", Unit::Si("msg/s"))
        },
        series: vec![Series::new(swept.label.clone(), Look::Line, shown)],
        marks: vec![
            Mark::Horizontal {
                y: 0.95 * enough.peak_msg_per_s,
                label: "95 % of the best".into(),
            },
            Mark::Vertical {
                x: enough.window_msgs as f64,
                label: format!("{} is enough", enough.window_msgs),
            },
        ],
        interval_label: "interval over runs".into(),
        ..Chart::new("")
    };
    let columns = [
        "window",
        "rate",
        "mean time to acknowledgement",
        "share of the window in flight (Little)",
    ];
    Some(Picture {
        chart,
        words,
        columns: columns.map(str::to_owned).to_vec(),
        rows,
    })
}

/// The points of a sweep over windows.
pub fn window_points(swept: &Swept) -> Vec<WindowPoint> {
    let with = swept
        .cases
        .iter()
        .filter_map(|(window, case)| Some((*window, *case, case.metrics.get("rate_msg_per_s")?)));
    with.map(|(window_msgs, case, rate)| WindowPoint {
        window_msgs,
        rate_msg_per_s: rate.value.get(),
        interval: interval(rate),
        acknowledged_mean_ns: case.metrics.get("ack_mean_ns").map(|metric| metric.value.get()),
    })
    .collect()
}

/// Response times against offered rate, with the knee and the rates that are not carried.
pub fn against_load(label: &str, cases: &[CaseResult], section: &LoadSection) -> Option<Picture> {
    let most = section.most_msg_per_s.get();
    let mut curve: Vec<(LoadPoint, &CaseResult)> = cases
        .iter()
        .filter_map(|case| Some((load_point(case, most)?, case)))
        .collect();
    curve.sort_by(|a, b| a.0.offered_per_s.total_cmp(&b.0.offered_per_s));
    if curve.len() < 4 {
        return None;
    }
    let line = |tag: &str, name: &str| {
        let points = curve.iter().filter_map(|(point, case)| {
            let metric = case.metrics.get(tag)?;
            Some(Point {
                x: point.offered_per_s,
                y: metric.value.get(),
                interval: interval(metric),
            })
        });
        Series::new(name, Look::Line, points.collect())
    };
    let chart = Chart {
        title: format!("response time against offered load: {label}"),
        description: "From the moment at which a message was due to its acknowledgement.".into(),
        x: Axis {
            from_zero: true,
            ..Axis::linear("offered rate", Unit::Si("msg/s"))
        },
        y: Axis::log("response time", Unit::Nanoseconds),
        series: vec![
            line("response_p50_ns", "response p50"),
            line("response_p99_ns", "response p99"),
            line("ack_p50_ns", "service p50"),
        ],
        marks: load_marks(&curve, section),
        interval_label: "interval over runs".into(),
        ..Chart::new("")
    };
    let columns = [
        "offered",
        "achieved",
        "service p50",
        "response p50",
        "response p99",
        "state",
    ];
    Some(Picture {
        words: load_words(section),
        columns: columns.map(str::to_owned).to_vec(),
        rows: curve.iter().map(|(point, case)| load_row(point, case)).collect(),
        chart,
    })
}

/// The knee, the bound, and where the load is no longer carried.
fn load_marks(curve: &[(LoadPoint, &CaseResult)], section: &LoadSection) -> Vec<Mark> {
    let mut marks = Vec::new();
    if let Some(knee) = section.knee_msg_per_s {
        marks.push(Mark::Vertical {
            x: knee.get(),
            label: "knee".into(),
        });
    }
    if let Some(bound) = section.p99_max_ns {
        marks.push(Mark::Horizontal {
            y: bound.get(),
            label: "bound of p99".into(),
        });
    }
    let saturated = curve.iter().find(|(point, _)| point.is_saturated());
    if let (Some((first, _)), Some((last, _))) = (saturated, curve.last()) {
        marks.push(Mark::Shade {
            from: first.offered_per_s,
            to: last.offered_per_s,
            label: "saturated".into(),
        });
    }
    marks
}

fn load_row(point: &LoadPoint, case: &CaseResult) -> Vec<String> {
    let time = |tag: &str| {
        case.metrics
            .get(tag)
            .map(|metric| with_interval(tag, metric))
            .unwrap_or_default()
    };
    vec![
        format_rate(point.offered_per_s, "msg/s"),
        format_rate(point.achieved_per_s, "msg/s"),
        time("ack_p50_ns"),
        time("response_p50_ns"),
        time("response_p99_ns"),
        if point.is_saturated() {
            "saturated"
        } else {
            "carried"
        }
        .to_owned(),
    ]
}

/// Every figure of a comparison as a ratio with its interval, on either side of 1.
pub fn forest(comparison: &Comparison) -> Option<Picture> {
    let rows = &comparison.rows;
    if rows.is_empty() {
        return None;
    }
    let place = |index: usize| (rows.len() - 1 - index) as f64;
    let name = |row: &Row| format!("{} {}", row.label, row.tag);
    let within = comparison.within_ratio.get();
    let chart = Chart {
        title: "B against A".into(),
        description: "The ratio B/A of each figure with its interval; the shade is what counts as the same."
            .into(),
        x: Axis::log("ratio B/A", Unit::Plain),
        y: Axis {
            range: Some((-0.6, rows.len() as f64 - 0.4)),
            ticks: rows
                .iter()
                .enumerate()
                .map(|(index, row)| (place(index), name(row)))
                .collect(),
            ..Axis::linear("", Unit::Plain)
        },
        series: by_verdict(rows),
        marks: vec![
            Mark::Shade {
                from: 1.0 / (1.0 + within),
                to: 1.0 + within,
                label: "the same".into(),
            },
            Mark::Vertical {
                x: 1.0,
                label: "equal".into(),
            },
        ],
        interval_label: "95 % interval of the ratio".into(),
        plot_height: (28 * rows.len() as u32).clamp(110, 2400),
        ..Chart::new("")
    };
    let columns = [
        "case",
        "figure",
        "A",
        "B",
        "runs",
        "B/A",
        "interval",
        "verdict",
        "more runs needed",
    ];
    Some(Picture {
        words: crate::render::answer(comparison),
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.iter().map(forest_row).collect(),
        chart,
    })
}

fn forest_row(row: &Row) -> Vec<String> {
    let ends = row.lower.zip(row.upper);
    let interval = ends.map(|(low, high)| format!("[{}, {}]", ratio(low.get()), ratio(high.get())));
    vec![
        row.label.clone(),
        row.tag.clone(),
        figure_text(&row.tag, row.a.get()),
        figure_text(&row.tag, row.b.get()),
        format!("{}/{}", row.a_runs, row.b_runs),
        ratio(row.ratio.get()),
        interval.unwrap_or_default(),
        row.verdict.name().to_owned(),
        row.more_runs.map(|more| more.to_string()).unwrap_or_default(),
    ]
}

/// The rows as points with intervals, one series a kind of verdict, first row at the top.
fn by_verdict(rows: &[Row]) -> Vec<Series> {
    let kinds: [(&[Verdict], &str); 3] = [
        (&[Verdict::Faster, Verdict::Same], "faster or same"),
        (&[Verdict::Slower], "slower"),
        (&[Verdict::Inconclusive], "inconclusive"),
    ];
    let mut all = Vec::new();
    for (color, (verdicts, label)) in kinds.into_iter().enumerate() {
        let of_kind = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| verdicts.contains(&row.verdict));
        let points: Vec<Point> = of_kind
            .map(|(index, row)| Point {
                x: row.ratio.get(),
                y: (rows.len() - 1 - index) as f64,
                interval: row
                    .lower
                    .zip(row.upper)
                    .map(|(low, high)| (low.get(), high.get())),
            })
            .collect();
        if !points.is_empty() {
            all.push(Series::new(label, Look::Across, points).colored(color));
        }
    }
    all
}
