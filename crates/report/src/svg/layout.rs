//! Where things stand, from the top down: heading, label of the vertical axis, flags, plot, ticks, legend, scale. Margins come
//! from the widths of what must fit. It never draws.

use super::axes::{Names, x_labels};
use super::labels::{
    Anchor, EDGE, Entry, LINE, TEXT_SIZE, TITLE_SIZE, Text, flags, legend, notes, title_lines,
};
use super::scale::Span;
use super::text::{shortened, width, wrapped};
use super::{Axis, Chart, Look, Mark, Point, Scale, Series};

const TITLE_LINE: f64 = 21.0;
/// A chart laid out.
pub struct Layout {
    /// Width of all.
    pub width: f64,
    /// Height of all.
    pub height: f64,
    /// Horizontal axis; pixels from the left to the right end of the plot.
    pub x: Span,
    /// Vertical axis; pixels from the bottom to the top of the plot.
    pub y: Span,
    /// Where lines of the grid cross the horizontal axis.
    pub x_lines: Vec<f64>,
    /// Where they cross the vertical axis.
    pub y_lines: Vec<f64>,
    /// Texts below the data.
    pub texts: Vec<Text>,
    /// Texts on the data.
    pub notes: Vec<Text>,
    /// Samples of the legend.
    pub legend: Vec<Entry>,
    /// Left end and top of the shades below a heat map.
    pub scale: Option<(f64, f64)>,
}

/// The points of `series` that both axes can show.
pub fn shown(chart: &Chart, series: &Series) -> Vec<Point> {
    let on_axes = |point: &&Point| {
        super::scale::shows(chart.x.scale, point.x) && super::scale::shows(chart.y.scale, point.y)
    };
    series.points.iter().filter(on_axes).copied().collect()
}

/// Lay `chart` out; with its title and what it shows, where these do not stand beside it.
pub fn layout(chart: &Chart, with_heading: bool) -> Layout {
    let all = f64::from(chart.width.max(240));
    let mut column = Column {
        width: all,
        at: EDGE / 2.0,
        texts: Vec::new(),
    };
    if with_heading {
        column.heading(chart);
    }
    column.say("ws-text", &axis_label(&chart.y));
    let names = Names::of(chart, &span(chart, false), all);
    let plot = names.plot_height(chart);
    let left = EDGE + names.beside;
    let x = span(chart, true).between(left, all - EDGE - 8.0);
    let (labels, rows) = flags(chart, &x, column.at, (EDGE, all - EDGE));
    column.texts.extend(labels);
    let top = column.at + rows as f64 * LINE + 8.0;
    let bottom = top + plot;
    let y = span(chart, false).between(bottom, top);
    let mut texts = column.texts;
    let y_lines = names.place(&y, left, x.to, &mut texts);
    let (x_lines, ticks_end) = x_labels(chart, &x, bottom, all, &mut texts);
    let mut column = Column {
        width: all,
        at: ticks_end,
        texts,
    };
    column.middle(&x, &axis_label(&chart.x));
    let (entries, words, legend_end) = legend(chart, column.at + 8.0, (EDGE, all - EDGE));
    column.texts.extend(words);
    column.at = legend_end;
    let scale = column.scale(chart);
    let notes = notes(chart, &x, &y, &column.texts);
    Layout {
        width: all,
        height: column.at + EDGE / 2.0,
        x,
        y,
        x_lines,
        y_lines,
        texts: column.texts,
        notes,
        legend: entries,
        scale,
    }
}

/// Texts below each other.
struct Column {
    width: f64,
    /// Where the next one begins.
    at: f64,
    texts: Vec<Text>,
}

impl Column {
    fn heading(&mut self, chart: &Chart) {
        for line in title_lines(&chart.title, self.width - 2.0 * EDGE, 3) {
            let base = self.at + EDGE / 2.0 + TITLE_SIZE * 0.8;
            self.texts
                .push(Text::new("ws-title", Anchor::Start, (EDGE, base), line));
            self.at += TITLE_LINE;
        }
        self.at += EDGE / 2.0;
        self.say("ws-label", &chart.subtitle);
    }

    /// Up to two lines at the left edge.
    fn say(&mut self, class: &'static str, words: &str) {
        for line in wrapped(words, TEXT_SIZE, self.width - 2.0 * EDGE, 2) {
            let base = self.at + TEXT_SIZE;
            self.texts
                .push(Text::new(class, Anchor::Start, (EDGE, base), line));
            self.at += LINE;
        }
    }

    /// Up to two lines below the middle of the plot.
    fn middle(&mut self, x: &Span, words: &str) {
        let room = self.width - 2.0 * EDGE;
        for line in wrapped(words, TEXT_SIZE, room, 2) {
            let base = self.at + TEXT_SIZE + 2.0;
            let half = width(&line, TEXT_SIZE) / 2.0;
            let at = ((x.from + x.to) / 2.0).clamp(EDGE + half, (self.width - EDGE - half).max(EDGE + half));
            self.texts
                .push(Text::new("ws-text", Anchor::Middle, (at, base), line));
            self.at += LINE;
        }
    }

    /// The scale of a heat map: what the shades mean, then the least value, the shades, and the greatest.
    fn scale(&mut self, chart: &Chart) -> Option<(f64, f64)> {
        let heat = chart.heat.as_ref()?;
        let (low, high) = heat.shaded_ends()?;
        self.at += LINE / 2.0;
        self.say("ws-text", &heat.label);
        let base = self.at + TEXT_SIZE;
        let (low, high) = (heat.unit.text(low), heat.unit.text(high));
        let from = EDGE + width(&low, TEXT_SIZE) + 8.0;
        let to = from + super::shades::SCALE_WIDTH + 8.0;
        self.texts
            .push(Text::new("ws-text", Anchor::Start, (EDGE, base), low));
        let high = shortened(&high, TEXT_SIZE, (self.width - to).max(0.0));
        self.texts
            .push(Text::new("ws-text", Anchor::Start, (to, base), high));
        self.at += LINE;
        Some((from, base - 10.0))
    }
}

fn axis_label(axis: &Axis) -> String {
    match axis.scale {
        _ if axis.label.is_empty() => String::new(),
        Scale::Linear => axis.label.clone(),
        Scale::Log => format!("{} (log scale)", axis.label),
    }
}

/// The range of an axis: that of the data and of the marks along it.
pub fn span(chart: &Chart, horizontal: bool) -> Span {
    let axis = if horizontal { &chart.x } else { &chart.y };
    let values = values(chart, horizontal);
    Span::new(axis, values.into_iter().chain(marked(chart, horizontal)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::{Cell, Heat, Unit};
    use proptest::prelude::*;

    fn texts(chart: &Chart) -> Vec<Text> {
        let layout = layout(chart, true);
        [layout.texts, layout.notes].concat()
    }

    fn assert_apart(chart: &Chart) {
        let texts = texts(chart);
        for (at, text) in texts.iter().enumerate() {
            assert!(text.is_clear_of(&texts[at + 1..]), "{text:?} in {texts:#?}");
            let area = text.area();
            let width = f64::from(chart.width.max(240));
            assert!(
                area.left >= -0.1 && area.right <= width + 0.1,
                "{text:?} leaves {width}"
            );
        }
    }

    fn named(count: usize, name: &str) -> Axis {
        Axis {
            range: Some((-0.6, count as f64 - 0.4)),
            ticks: (0..count).map(|at| (at as f64, format!("{name}{at}"))).collect(),
            ..Axis::linear("", Unit::Plain)
        }
    }

    #[test]
    fn long_names_stand_above_their_rows_and_short_ones_beside() {
        let forest = |name: &str| Chart {
            width: 360,
            y: named(5, name),
            plot_height: 140,
            ..Chart::new("")
        };
        let (long, short) = (forest(&"a_long_name ".repeat(4)), forest("tcp "));
        assert_apart(&long);
        assert_apart(&short);
        let names = |chart: &Chart| texts(chart).iter().filter(|text| text.class == "ws-note").count();
        assert!(names(&long) >= 5 && names(&short) == 0);
        assert!(layout(&long, false).height > layout(&short, false).height);
    }

    #[test]
    fn names_of_columns_are_turned_where_they_would_meet() {
        let map = |name: &str| Chart {
            width: 360,
            x: named(12, name),
            y: named(3, "rank "),
            heat: Some(Heat {
                cells: (0..12)
                    .map(|x| Cell {
                        x: f64::from(x),
                        y: 0.0,
                        value: f64::from(x),
                    })
                    .collect(),
                ..Heat::new(
                    "median round trip over the median of its column",
                    Unit::Nanoseconds,
                )
            }),
            ..Chart::new("")
        };
        let upright = |chart: &Chart| texts(chart).iter().filter(|text| text.is_upright).count();
        assert_eq!(upright(&map("192.0.2.1:7412 mtom ")), 12);
        assert_eq!(upright(&map("")), 0);
        assert_apart(&map("192.0.2.1:7412 mtom "));
    }

    fn any_mark() -> impl Strategy<Value = Mark> {
        let place = || 1.0..1e6f64;
        prop_oneof![
            (place(), ".{0,40}").prop_map(|(x, label)| Mark::Vertical { x, label }),
            (place(), ".{0,40}").prop_map(|(y, label)| Mark::Horizontal { y, label }),
            (place(), place(), ".{0,40}").prop_map(|(x, y, label)| Mark::Spot { x, y, label }),
            (place(), place(), ".{0,40}").prop_map(|(from, to, label)| Mark::Shade { from, to, label }),
        ]
    }

    proptest! {
        #[test]
        fn no_text_covers_another_or_leaves_the_chart(
            words in ("[a-z ]{0,120}", ".{0,90}", ".{0,60}"),
            series in prop::collection::vec(
                ("[a-zA-Z ]{0,90}", prop::collection::vec((1.0..1e6f64, 1.0..1e9f64), 1..20)),
                1..9,
            ),
            marks in prop::collection::vec(any_mark(), 0..12),
            logarithmic: bool,
            rows in prop::option::of((1usize..30, "[a-z0-9 ]{0,60}")),
            width in prop_oneof![Just(360u32), Just(640u32)],
        ) {
            let axis = |label: &str, unit| match logarithmic {
                true => Axis::log(label, unit),
                false => Axis::linear(label, unit),
            };
            let chart = Chart {
                title: words.0,
                subtitle: words.1.clone(),
                x: axis(&words.1, Unit::BinaryBytes),
                y: match &rows {
                    Some((count, name)) => named(*count, name),
                    None => axis(&words.2, Unit::Si("B/s")),
                },
                series: series
                    .into_iter()
                    .map(|(label, points)| {
                        let points = points.into_iter().map(|(x, y)| Point::within(x, y, y * 0.9, y * 1.1));
                        Series::new(label, Look::Line, points.collect())
                    })
                    .collect(),
                marks,
                interval_label: words.2,
                width,
                plot_height: rows.map_or(300, |(count, _)| 28 * count as u32),
                ..Chart::new("")
            };
            assert_apart(&chart);
        }
    }
}
