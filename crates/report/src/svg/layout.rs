//! Where things stand: margins from the widths of what must fit, rows for labels that would collide.

use super::scale::Span;
use super::text::{shortened, width, wrapped};
use super::ticks::{Tick, ticks};
use super::{Chart, Look, Mark, Point, Series};

/// Size of titles in pixels, as in the style sheet.
pub const TITLE_SIZE: f64 = 15.0;
/// Size of all other text.
pub const TEXT_SIZE: f64 = 12.0;
/// Height of a line of text.
pub const LINE: f64 = 17.0;
/// Height of the scale below a heat map.
pub const SCALE_HEIGHT: f64 = 2.0 * LINE;
const TITLE_LINE: f64 = 21.0;
const EDGE: f64 = 14.0;
/// Length of the sample of a series in the legend.
pub const SAMPLE: f64 = 26.0;
/// Pixels for each tick of the vertical axis.
const TICK_HEIGHT: f64 = 46.0;

/// One entry of the legend, placed.
pub struct Entry {
    /// Index of its series; `None`: the entry that explains intervals.
    pub series: Option<usize>,
    /// Its text.
    pub text: String,
    /// Left end.
    pub x: f64,
    /// Middle of its line.
    pub y: f64,
}

/// Label of a mark above the plot, placed.
pub struct Flag {
    /// Its text.
    pub text: String,
    /// Left end.
    pub x: f64,
    /// Base line.
    pub y: f64,
}

/// A chart laid out.
pub struct Layout {
    /// Width of all.
    pub width: f64,
    /// Height of all.
    pub height: f64,
    /// Lines of the title.
    pub title: Vec<String>,
    /// Base line of the title's first line.
    pub title_y: f64,
    /// Horizontal axis; pixels from the left to the right end of the plot.
    pub x: Span,
    /// Vertical axis; pixels from the bottom to the top of the plot.
    pub y: Span,
    /// Ticks of the horizontal axis.
    pub x_ticks: Vec<Tick>,
    /// Ticks of the vertical axis.
    pub y_ticks: Vec<Tick>,
    /// Labels of marks above the plot.
    pub flags: Vec<Flag>,
    /// The legend.
    pub legend: Vec<Entry>,
}

/// Distance between two lines of the title.
pub fn title_y(layout: &Layout, line: usize) -> f64 {
    layout.title_y + line as f64 * TITLE_LINE
}

/// The points of `series` that both axes can show.
pub fn shown(chart: &Chart, series: &Series) -> Vec<Point> {
    let on_axes = |point: &&Point| {
        super::scale::shows(chart.x.scale, point.x) && super::scale::shows(chart.y.scale, point.y)
    };
    series.points.iter().filter(on_axes).copied().collect()
}

/// Lay `chart` out.
pub fn layout(chart: &Chart) -> Layout {
    let x = Span::new(
        &chart.x,
        values(chart, true).into_iter().chain(marked(chart, true)),
    );
    let y = Span::new(
        &chart.y,
        values(chart, false).into_iter().chain(marked(chart, false)),
    );

    let (all, plot) = (
        f64::from(chart.width.max(240)),
        f64::from(chart.plot_height.max(80)),
    );
    let y_ticks = ticks(&chart.y, &y, (plot / TICK_HEIGHT) as usize);
    let widest = y_ticks
        .iter()
        .map(|tick| width(&tick.label, TEXT_SIZE))
        .fold(0.0, f64::max);
    let left = EDGE + LINE + widest.min(all / 3.0) + 8.0;
    let right = all - EDGE - 8.0;
    let x = x.between(left, right);
    let x_ticks = x_ticks(chart, &x);

    let title = wrapped(&chart.title, TITLE_SIZE, all - 2.0 * EDGE, 2);
    let flags_top = EDGE + title.len() as f64 * TITLE_LINE;
    let (flags, flag_rows) = flags(chart, &x, flags_top, (EDGE, all - EDGE));
    let top = flags_top + flag_rows as f64 * LINE + 8.0;
    let bottom = top + plot;
    let legend_top = bottom + LINE + if chart.x.label.is_empty() { 0.0 } else { LINE + 4.0 } + 8.0;
    let (legend, legend_rows) = legend(chart, legend_top, (left, all - EDGE));
    let scale = chart.heat.as_ref().map_or(0.0, |_| SCALE_HEIGHT);
    Layout {
        width: all,
        height: legend_top + legend_rows as f64 * LINE + scale + EDGE / 2.0,
        title,
        title_y: EDGE + TITLE_SIZE * 0.8,
        x,
        y: y.between(bottom, top),
        x_ticks,
        y_ticks,
        flags,
        legend,
    }
}

/// Values of all points on one axis, with the ends of those intervals that lie along it.
fn values(chart: &Chart, horizontal: bool) -> Vec<f64> {
    let mut values = Vec::new();
    for series in &chart.series {
        let along = (series.look == Look::Across) == horizontal;
        for point in shown(chart, series) {
            values.push(if horizontal { point.x } else { point.y });
            if let Some((low, high)) = point.interval.filter(|_| along) {
                values.extend([low, high]);
            }
        }
    }
    values
}

/// Values that marks add to the range of an axis.
fn marked(chart: &Chart, horizontal: bool) -> impl Iterator<Item = f64> + '_ {
    chart.marks.iter().flat_map(move |mark| match mark {
        Mark::Vertical { x, .. } if horizontal => vec![*x],
        Mark::Shade { from, to, .. } if horizontal => vec![*from, *to],
        Mark::Spot { x, .. } if horizontal => vec![*x],
        Mark::Horizontal { y, .. } | Mark::Spot { y, .. } if !horizontal => vec![*y],
        _ => Vec::new(),
    })
}

/// As many ticks as their texts leave room for.
fn x_ticks(chart: &Chart, span: &Span) -> Vec<Tick> {
    let room = span.to - span.from;
    let fits = |ticks: &[Tick]| {
        let places: Vec<(f64, f64)> = ticks
            .iter()
            .filter_map(|tick| Some((span.place(tick.value)?, width(&tick.label, TEXT_SIZE))))
            .collect();
        places
            .windows(2)
            .all(|pair| pair[0].0 + pair[0].1 / 2.0 + 6.0 <= pair[1].0 - pair[1].1 / 2.0)
    };
    let most = (room / 50.0) as usize;
    let found = (2..=most.clamp(2, 12))
        .rev()
        .map(|count| ticks(&chart.x, span, count))
        .find(|ticks| fits(ticks));
    found.unwrap_or_else(|| ticks(&chart.x, span, 2))
}

/// Labels of vertical marks and shades, in as many rows as keep them apart.
fn flags(chart: &Chart, x: &Span, top: f64, (left, right): (f64, f64)) -> (Vec<Flag>, usize) {
    let mut ends: Vec<f64> = Vec::new();
    let mut flags = Vec::new();
    for mark in &chart.marks {
        let (at, label) = match mark {
            Mark::Vertical { x: at, label } => (x.place(*at), label),
            Mark::Shade { from, to, label } => {
                let middle = x.place(*from).zip(x.place(*to)).map(|(a, b)| (a + b) / 2.0);
                (middle, label)
            }
            _ => continue,
        };
        let Some(at) = at.filter(|_| !label.is_empty()) else {
            continue;
        };
        let text = shortened(label, TEXT_SIZE, right - left);
        let long = width(&text, TEXT_SIZE);
        let begin = (at - long / 2.0).clamp(left, (right - long).max(left));
        let row = ends
            .iter()
            .position(|end| *end + 8.0 <= begin)
            .unwrap_or(ends.len());
        match ends.get_mut(row) {
            Some(end) => *end = begin + long,
            None => ends.push(begin + long),
        }
        flags.push(Flag {
            text,
            x: begin,
            y: top + (row as f64 + 0.8) * LINE,
        });
    }
    (flags, ends.len())
}

fn legend(chart: &Chart, top: f64, (left, right): (f64, f64)) -> (Vec<Entry>, usize) {
    let named = chart
        .series
        .iter()
        .enumerate()
        .filter(|(_, series)| !series.label.is_empty());
    let mut entries: Vec<(Option<usize>, &str)> = named
        .map(|(i, series)| (Some(i), series.label.as_str()))
        .collect();
    let has_interval = |series: &Series| series.points.iter().any(|point| point.interval.is_some());
    if !chart.interval_label.is_empty() && chart.series.iter().any(has_interval) {
        entries.push((None, &chart.interval_label));
    }
    let (mut x, mut row) = (left, 0);
    let mut placed = Vec::new();
    for (series, text) in entries {
        let text = shortened(text, TEXT_SIZE, right - left - SAMPLE - 6.0);
        let long = SAMPLE + 6.0 + width(&text, TEXT_SIZE) + 14.0;
        if x > left && x + long > right + 14.0 {
            (x, row) = (left, row + 1);
        }
        placed.push(Entry {
            series,
            text,
            x,
            y: top + (row as f64 + 0.5) * LINE,
        });
        x += long;
    }
    let rows = if placed.is_empty() { 0 } else { row + 1 };
    (placed, rows)
}
