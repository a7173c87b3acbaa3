//! A chart of `svg` in characters: the same data, axes and marks, for the terminal.

use super::plot::Canvas;
use super::plot_heat;
use super::style::{Style, clean, shortened, wrap};
use crate::svg::{Axis, Chart, Look, Mark, Point, Scale, Unit, range};
use crate::table::Tone;

const HEIGHT: usize = 12;
const WIDTH_MAX: usize = 100;
const WIDTH_MIN: usize = 16;
/// Labels at the left are cut to this, and to less on a narrow terminal.
const LABEL_MAX: usize = 48;

/// Lines of a chart, without ends; the title first. Empty when nothing can be shown.
pub fn chart(chart: &Chart, style: &Style) -> Vec<String> {
    if chart.heat.as_ref().is_some_and(|heat| heat.range().is_some()) {
        let mut lines = heading(chart, style);
        lines.extend(plot_heat::map(chart, style));
        return lines;
    }
    let Some((x, y)) = Frame::of(chart) else {
        return Vec::new();
    };
    let named = !chart.y.ticks.is_empty();
    let height = if named {
        // A line for each: two in one would have one name.
        chart.y.ticks.len().max(2)
    } else {
        HEIGHT
    };
    let labels = labels(chart, &y, height, style);
    let label_width = labels
        .iter()
        .map(|label| label.chars().count())
        .max()
        .unwrap_or(0);
    let width = style
        .width
        .min(WIDTH_MAX)
        .saturating_sub(label_width + 2)
        .max(WIDTH_MIN);
    let mut canvas = Canvas::new(width, height);
    draw(&mut canvas, chart, (&x, &y), width);
    let mut lines = heading(chart, style);
    let bar = if style.unicode { '│' } else { '|' };
    for (row, text) in canvas.rows(style.unicode).into_iter().enumerate() {
        let line = format!("{:>label_width$} {bar}{text}", labels[row]);
        lines.push(line.trim_end().to_owned());
    }
    lines.push(scale_line(chart, &x, label_width, width));
    lines.extend(legend(chart, (label_width, style.width), named));
    lines
}

/// Marks, then every series in its look.
fn draw(canvas: &mut Canvas, chart: &Chart, (x, y): (&Frame, &Frame), width: usize) {
    let named = !chart.y.ticks.is_empty();
    for at in chart
        .marks
        .iter()
        .filter(|_| is_forest(chart))
        .filter_map(upright)
    {
        if let Some(at) = x.place(at) {
            canvas.line((at, 0.0), (at, 1.0));
        }
    }
    for (index, series) in chart.series.iter().enumerate() {
        let placed = |point: &Point| x.place(point.x).zip(y.place(point.y));
        let points: Vec<(f64, f64)> = series.points.iter().filter_map(placed).collect();
        match series.look {
            Look::Line | Look::Fit => points.windows(2).for_each(|pair| canvas.line(pair[0], pair[1])),
            Look::Steps => steps(canvas, &points),
            Look::Across => across(canvas, &series.points, x, y),
            Look::Points => {}
        }
        if matches!(series.look, Look::Line | Look::Points | Look::Across) {
            let letter = if named {
                '*'
            } else {
                letter(series.color.unwrap_or(index))
            };
            // Where points stand close, letters would hide the line: its end carries the only one.
            let first = if points.len() * 4 <= width {
                0
            } else {
                points.len() - 1
            };
            points
                .iter()
                .skip(first)
                .for_each(|&point| canvas.mark(point, letter));
        }
    }
}

/// Whether intervals lie across it, each to be held against the marks.
fn is_forest(chart: &Chart) -> bool {
    chart.series.iter().any(|series| series.look == Look::Across)
}

/// Where a mark stands that goes from the bottom to the top.
fn upright(mark: &Mark) -> Option<f64> {
    match mark {
        Mark::Vertical { x, .. } => Some(*x),
        _ => None,
    }
}

/// The title, and below it what is drawn.
fn heading(chart: &Chart, style: &Style) -> Vec<String> {
    let title = wrap(&clean(&chart.title), style.prose(), 2);
    let mut lines = vec![style.paint(Tone::Strong, &title)];
    if !chart.subtitle.is_empty() {
        let subtitle = wrap(&clean(&chart.subtitle), style.prose(), 2);
        lines.push(style.paint(Tone::Faint, &subtitle));
    }
    lines
}

/// An axis with its ends, on its scale.
struct Frame {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Frame {
    /// Both axes of a chart; `None` where they have nothing to show.
    fn of(chart: &Chart) -> Option<(Frame, Frame)> {
        let points = || chart.series.iter().flat_map(|series| &series.points);
        let ends = points().filter_map(|point| point.interval);
        let marks = chart.marks.iter().filter_map(upright);
        let beside = ends.flat_map(|(low, high)| [low, high]).chain(marks);
        let beside = beside.filter(|_| is_forest(chart));
        let x = Frame::over(&chart.x, points().map(|point| point.x).chain(beside))?;
        let y = Frame::over(&chart.y, points().map(|point| point.y))?;
        Some((x, y))
    }

    fn over(axis: &Axis, values: impl Iterator<Item = f64>) -> Option<Frame> {
        let shows = |value: &f64| value.is_finite() && (axis.scale == Scale::Linear || *value > 0.0);
        let (mut low, mut high) = range(values.filter(shows))?;
        if axis.from_zero && axis.scale == Scale::Linear {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if let Some((from, to)) = axis.range {
            (low, high) = (from, to);
        }
        Some(Frame {
            scale: axis.scale,
            low,
            high,
        })
    }

    /// Place between 0 and 1; `None` where the axis has none.
    fn place(&self, value: f64) -> Option<f64> {
        let on = |value: f64| {
            if self.scale == Scale::Log {
                value.ln()
            } else {
                value
            }
        };
        let (low, high, at) = (on(self.low), on(self.high), on(value));
        match at.is_finite() {
            true if high > low => Some((at / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0))
                .filter(|p| (-0.001..=1.001).contains(p)),
            true => Some(0.5),
            false => None,
        }
    }
}

/// The text at the left of each row: ticks of the axis, or both ends.
fn labels(chart: &Chart, y: &Frame, height: usize, style: &Style) -> Vec<String> {
    let most = (style.width * 2 / 5).clamp(8, LABEL_MAX);
    let mut labels = vec![String::new(); height];
    if chart.y.ticks.is_empty() {
        labels[0] = chart.y.unit.text(y.high);
        labels[height - 1] = chart.y.unit.text(y.low);
    }
    for (value, text) in &chart.y.ticks {
        if let Some(place) = y.place(*value) {
            let row = ((1.0 - place) * (height * 4 - 1) as f64).round() as usize / 4;
            labels[row.min(height - 1)] = shortened(&clean(text), most);
        }
    }
    labels
}

/// Bars from the bottom.
fn steps(canvas: &mut Canvas, points: &[(f64, f64)]) {
    for pair in points.windows(2) {
        let (from, to) = (pair[0].0, pair[1].0);
        let columns = ((to - from) * canvas.columns() as f64).ceil().max(1.0) as usize;
        for step in 0..columns {
            let x = from + (to - from) * (step as f64 + 0.5) / columns as f64;
            canvas.line((x, 0.0), (x, pair[0].1));
        }
    }
}

/// Intervals from left to right.
fn across(canvas: &mut Canvas, points: &[Point], x: &Frame, y: &Frame) {
    for point in points {
        let (Some((low, high)), Some(row)) = (point.interval, y.place(point.y)) else {
            continue;
        };
        if let (Some(low), Some(high)) = (x.place(low), x.place(high)) {
            canvas.line((low, row), (high, row));
        }
    }
}

fn scale_line(chart: &Chart, x: &Frame, label_width: usize, width: usize) -> String {
    let distance = |tick: &(f64, String), value: f64| (tick.0 - value).abs();
    let text = |value: f64| {
        // Names stand for places, and the ends of the axis may lie beyond the outermost.
        let named = chart.x.ticks.iter().filter(|_| chart.x.unit == Unit::Plain);
        let nearest = named.min_by(|a, b| distance(a, value).total_cmp(&distance(b, value)));
        nearest.map_or_else(|| chart.x.unit.text(value), |(_, name)| clean(name))
    };
    let (left, right) = (text(x.low), text(x.high));
    let middle = clean(&chart.x.label);
    let room = width.saturating_sub(left.chars().count() + right.chars().count());
    let middle = if middle.chars().count() + 2 <= room {
        middle
    } else {
        String::new()
    };
    format!("{:label_width$}  {left}{middle:^room$}{right}", "")
        .trim_end()
        .to_owned()
}

/// Which letter is which series, and what the marks say.
fn legend(chart: &Chart, (label_width, width): (usize, usize), named: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let series: Vec<String> = chart
        .series
        .iter()
        .enumerate()
        .filter(|(_, series)| !series.label.is_empty() && !named && series.look != Look::Steps)
        .map(|(index, series)| {
            format!(
                "{} {}",
                letter(series.color.unwrap_or(index)),
                clean(&series.label)
            )
        })
        .collect();
    lines.extend(packed(&series, "   ", label_width + 2, width));
    let text = |axis: &Axis, value: f64| axis.unit.text(value);
    let placed = chart.marks.iter().map(|mark| match mark {
        Mark::Vertical { x, label } => (text(&chart.x, *x), label),
        Mark::Horizontal { y, label } => (text(&chart.y, *y), label),
        Mark::Spot { x, y, label } => (format!("{}, {}", text(&chart.x, *x), text(&chart.y, *y)), label),
        Mark::Shade { from, to, label } => (
            format!("{} to {}", text(&chart.x, *from), text(&chart.x, *to)),
            label,
        ),
    });
    // One without words stands for itself.
    let marks = placed.filter(|(_, label)| !label.is_empty());
    let marks: Vec<String> = marks
        .map(|(place, label)| format!("{place}: {}", clean(label)))
        .collect();
    lines.extend(packed(&marks, " · ", label_width + 2, width));
    lines
}

/// Parts beside each other, as many a line as fit behind `indent`; a part that is too long is broken at its spaces.
fn packed(parts: &[String], between: &str, indent: usize, width: usize) -> Vec<String> {
    let indent = indent.min(width / 4);
    let mut lines: Vec<String> = Vec::new();
    let length = |text: &str| text.chars().count();
    for part in parts {
        match lines.last_mut() {
            Some(line) if length(line) + length(between) + length(part) <= width => {
                line.push_str(between);
                line.push_str(part);
            }
            _ => lines.push(format!("{:indent$}{part}", "")),
        }
    }
    let broken = lines.iter().map(|line| wrap(line, width, indent + 2));
    broken
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

fn letter(index: usize) -> char {
    char::from(b'a' + (index % 26) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::Series;
    use proptest::prelude::*;

    fn style(width: usize, unicode: bool) -> Style {
        Style {
            width,
            color: false,
            unicode,
        }
    }

    #[test]
    fn bars_lines_and_names_are_drawn() {
        let mut bars = Chart {
            title: "distribution".into(),
            x: Axis::log("round trip", Unit::Nanoseconds),
            y: Axis {
                from_zero: true,
                ..Axis::linear("samples", Unit::Si(""))
            },
            series: vec![Series::new(
                "samples",
                Look::Steps,
                vec![
                    Point::new(100.0, 5.0),
                    Point::new(200.0, 50.0),
                    Point::new(400.0, 0.0),
                ],
            )],
            ..Chart::new("x")
        };
        let lines = chart(&bars, &style(50, false));
        assert_eq!(lines.len(), HEIGHT + 2);
        // The second bar fills the right half to the top, the first one only the bottom.
        assert!(
            lines[1].ends_with(".......") && lines[1].contains("|   "),
            "{lines:#?}"
        );
        assert!(lines[HEIGHT].contains("|......"), "{lines:#?}");
        bars.series[0].look = Look::Across;
        bars.series[0].points[0].interval = Some((100.0, 300.0));
        bars.y.ticks = vec![(5.0, "one transport".into()), (50.0, "another transport".into())];
        let lines = chart(&bars, &style(60, true));
        assert!(
            lines
                .iter()
                .any(|line| line.trim_start().starts_with("one transport │*")),
            "{lines:#?}"
        );
    }

    /// One ratio far from 1: its interval and 1 are both on the axis, at any width, and a mark without words has no line.
    #[test]
    fn a_ratio_is_drawn_with_its_interval_and_with_what_it_is_held_against() {
        let forest = Chart {
            x: Axis::log("ratio B/A", Unit::Plain),
            y: Axis {
                range: Some((-0.6, 0.6)),
                ticks: vec![(0.0, "shm am_lat 8 B / unix am_lat 8 B rtt_p50_ns".into())],
                ..Axis::linear("", Unit::Plain)
            },
            series: vec![Series::new(
                "slower",
                Look::Across,
                vec![Point::within(9.3, 0.0, 8.8, 11.4)],
            )],
            marks: vec![Mark::Vertical {
                x: 1.0,
                label: String::new(),
            }],
            ..Chart::new("x")
        };
        for width in [40, 80, 200] {
            let lines = chart(&forest, &style(width, false));
            let whole = lines.join("\n");
            assert!(
                lines.iter().all(|line| line.chars().count() <= width),
                "{width}:\n{whole}"
            );
            let scale = lines.iter().find(|line| line.contains("11.4")).unwrap();
            assert!(
                scale.trim_start().starts_with('1') && !whole.contains("1: "),
                "{whole}"
            );
            let row = lines.iter().find(|line| line.contains('*')).unwrap();
            let (bar, drawn) = row.split_once('|').unwrap();
            assert_eq!(bar.contains(".. "), width < 120, "{row}");
            assert!(drawn.starts_with('.') && drawn.trim_end().ends_with('.'), "{row}");
        }
    }

    #[test]
    fn hostile_labels_move_no_cursor_and_nothing_is_nothing() {
        assert!(chart(&Chart::new("x"), &style(80, true)).is_empty());
        let hostile = Chart {
            title: "\x1b[2Jtitle".into(),
            series: vec![Series::new("\x1b[1m", Look::Line, vec![Point::new(1.0, 1.0)])],
            ..Chart::new("x")
        };
        assert!(
            chart(&hostile, &style(80, true))
                .iter()
                .all(|line| !line.contains('\x1b'))
        );
    }

    proptest! {
        #[test]
        fn any_points_fit(
            points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..30),
            look in prop::sample::select(vec![Look::Line, Look::Points, Look::Across, Look::Fit, Look::Steps]),
            log: bool,
            width in 0usize..150,
        ) {
            let axis = if log { Axis::log("x", Unit::Plain) } else { Axis::linear("x", Unit::Plain) };
            let points = points.into_iter().map(|(x, y)| Point::within(x, y, x.min(y), x.max(y))).collect();
            let drawn = Chart { x: axis.clone(), y: axis, series: vec![Series::new("s", look, points)], ..Chart::new("x") };
            let lines = chart(&drawn, &style(width, true));
            prop_assert!(lines.is_empty() || lines.len() >= HEIGHT + 2);
        }
    }
}
