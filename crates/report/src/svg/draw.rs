//! The drawing itself: elements in their order, from the background to the annotations.

use super::labels::{Anchor, SAMPLE, Text};
use super::layout::{Layout, layout, shown};
use super::text::{escape, identifier, number};
use super::{Chart, Mark};
use std::fmt::Write as _;

/// Where a drawing goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A file of its own: with style and heading.
    File,
    /// A page with room, which has the style and writes the heading.
    Wide,
    /// A page in a small window: no values at points, which need a mouse.
    Narrow,
}

/// The chart as an SVG element.
pub fn draw(chart: &Chart, place: Place) -> String {
    let layout = layout(chart, place == Place::File);
    let id = identifier(&chart.id);
    let id = match place {
        Place::File | Place::Wide => id,
        Place::Narrow => format!("{id}-narrow"),
    };
    let mut drawing = Drawing {
        chart,
        layout: &layout,
        id: &id,
        place,
        text: String::new(),
    };
    drawing.open();
    drawing.axes();
    drawing.behind();
    if let Some(heat) = &chart.heat {
        drawing.heat(heat, chart);
    }
    for (index, series) in chart.series.iter().enumerate() {
        drawing.series(index, series);
    }
    drawing.marks();
    drawing.legend();
    drawing.text.push_str("</svg>\n");
    drawing.text
}

/// What is drawn so far.
pub struct Drawing<'a> {
    /// The chart.
    pub chart: &'a Chart,
    /// Where its parts stand.
    pub layout: &'a Layout,
    /// Prefix of the identifiers that elements refer to.
    pub id: &'a str,
    /// Where it goes.
    pub place: Place,
    /// Elements so far.
    pub text: String,
}

impl Drawing<'_> {
    /// Add one element.
    pub fn line(&mut self, element: std::fmt::Arguments) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{element}");
    }

    /// Add a text.
    pub fn words(&mut self, text: &Text) {
        let (class, words) = (text.class, escape(&text.words));
        let [x, y] = [text.x, text.y].map(number);
        let anchor = match text.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        if text.is_upright {
            return self.line(format_args!(
                "<text class=\"{class}\" transform=\"translate({x} {y}) rotate(-90)\"{anchor}>{words}</text>"
            ));
        }
        self.line(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{words}</text>"
        ));
    }

    /// Add a straight line.
    pub fn segment(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(number);
        self.line(format_args!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        ));
    }

    /// Add a rectangle.
    pub fn rectangle(&mut self, class: &str, (x, y): (f64, f64), (wide, high): (f64, f64)) {
        let [x, y, wide, high] = [x, y, wide, high].map(number);
        self.line(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\"/>"
        ));
    }

    fn open(&mut self) {
        let (chart, layout, id) = (self.chart, self.layout, self.id);
        let (wide, high) = (number(layout.width), number(layout.height));
        let class = match self.place {
            Place::File => "ws-chart",
            Place::Wide => "ws-chart ws-wide",
            Place::Narrow => "ws-chart ws-narrow",
        };
        self.line(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" role=\"img\" \
             aria-labelledby=\"{id}-title {id}-desc\" viewBox=\"0 0 {wide} {high}\" width=\"{wide}\" height=\"{high}\">"
        ));
        let title = match chart.title.as_str() {
            "" => chart.subject(),
            title => title,
        };
        self.line(format_args!("<title id=\"{id}-title\">{}</title>", escape(title)));
        self.line(format_args!(
            "<desc id=\"{id}-desc\">{}</desc>",
            escape(&description(chart))
        ));
        if self.place == Place::File {
            self.line(format_args!("<style>\n{}</style>", super::style()));
        }
        let (x, y) = (layout.x, layout.y);
        let [left, top, plot_wide, plot_high] = [x.from, y.to, x.to - x.from, y.from - y.to].map(number);
        self.line(format_args!(
            "<clipPath id=\"{id}-plot\"><rect x=\"{left}\" y=\"{top}\" width=\"{plot_wide}\" height=\"{plot_high}\"/></clipPath>"
        ));
        self.rectangle("ws-back", (0.0, 0.0), (layout.width, layout.height));
    }

    /// The grid as one element, the axes, and all texts that do not stand on data.
    fn axes(&mut self) {
        let layout = self.layout;
        let (x, y) = (layout.x, layout.y);
        let [left, right, top, bottom] = [x.from, x.to, y.to, y.from].map(number);
        let mut grid = String::new();
        for at in layout.y_lines.iter().copied().map(number) {
            // Writing to a String cannot fail, here and below.
            let _ = write!(grid, "M{left} {at}H{right}");
        }
        for at in layout.x_lines.iter().copied().map(number) {
            let _ = write!(grid, "M{at} {top}V{bottom}");
        }
        if !grid.is_empty() {
            self.line(format_args!("<path class=\"ws-grid\" d=\"{grid}\"/>"));
        }
        self.line(format_args!(
            "<path class=\"ws-axis\" d=\"M{left} {top}V{bottom}H{right}\"/>"
        ));
        // Names of rows stand in the plot, on whatever is drawn there.
        for text in layout.texts.iter().filter(|text| text.class != "ws-note") {
            self.words(text);
        }
    }

    /// Shades, behind the data; a word where there are none.
    fn behind(&mut self) {
        let (x, y) = (self.layout.x, self.layout.y);
        for mark in &self.chart.marks {
            if let Mark::Shade { from, to, .. } = mark
                && let (Some(from), Some(to)) = (x.place(*from), x.place(*to))
            {
                let (from, to) = (from.clamp(x.from, x.to), to.clamp(x.from, x.to));
                self.rectangle(
                    "ws-shade",
                    (from.min(to), y.to),
                    ((to - from).abs(), y.from - y.to),
                );
            }
        }
        let mapped = self
            .chart
            .heat
            .as_ref()
            .is_some_and(|heat| heat.range().is_some());
        if !mapped
            && self
                .chart
                .series
                .iter()
                .all(|series| shown(self.chart, series).is_empty())
        {
            let middle = ((x.from + x.to) / 2.0, (y.from + y.to) / 2.0);
            self.words(&Text::new("ws-label", Anchor::Middle, middle, "nothing to show"));
        }
    }

    fn marks(&mut self) {
        let (layout, chart) = (self.layout, self.chart);
        let (x, y) = (layout.x, layout.y);
        for mark in &chart.marks {
            match mark {
                Mark::Vertical { x: value, .. } if x.holds(*value) => {
                    if let Some(at) = x.place(*value) {
                        self.segment("ws-mark", (at, y.to), (at, y.from));
                    }
                }
                Mark::Horizontal { y: value, .. } if y.holds(*value) => {
                    if let Some(at) = y.place(*value) {
                        self.segment("ws-mark", (x.from, at), (x.to, at));
                    }
                }
                Mark::Spot { x: at_x, y: at_y, .. } if x.holds(*at_x) && y.holds(*at_y) => {
                    if let Some((at_x, at_y)) = self.place(*at_x, *at_y) {
                        let [cx, cy] = [at_x, at_y].map(number);
                        self.line(format_args!(
                            "<circle class=\"ws-spot\" cx=\"{cx}\" cy=\"{cy}\" r=\"7\"/>"
                        ));
                    }
                }
                _ => {}
            }
        }
        let names = layout.texts.iter().filter(|text| text.class == "ws-note");
        for text in names.chain(&layout.notes) {
            self.words(text);
        }
    }

    fn legend(&mut self) {
        for entry in &self.layout.legend {
            let (x, y) = (entry.x, entry.y);
            match entry.series.map(|index| (index, &self.chart.series[index])) {
                Some((index, series)) => self.sample(index, series, (x, y)),
                None => {
                    self.text.push_str("<g class=\"ws-4\">\n");
                    self.rectangle("ws-band", (x, y - 6.0), (SAMPLE, 12.0));
                    self.text.push_str("</g>\n");
                }
            }
        }
    }
}

/// What it shows, the caller's words, then the range of every series, then what could not be shown.
fn description(chart: &Chart) -> String {
    let mut text = match chart.subtitle.trim() {
        "" => String::new(),
        subtitle => format!("{subtitle}."),
    };
    let mut say = |sentence: String| {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&sentence);
    };
    match chart.description.trim() {
        "" => {}
        words => say(words.to_owned()),
    }
    let mut left_out = 0;
    for series in &chart.series {
        let points = shown(chart, series);
        left_out += series.points.len() - points.len();
        let ys = || points.iter().map(|point| point.y);
        if let (Some(first), Some(last)) = (points.first(), points.last()) {
            let [low, high] =
                [ys().fold(f64::MAX, f64::min), ys().fold(f64::MIN, f64::max)].map(|y| chart.y.unit.text(y));
            let (from, to) = (chart.x.unit.text(first.x), chart.x.unit.text(last.x));
            let name = if series.label.is_empty() {
                "data"
            } else {
                &series.label
            };
            say(format!("{name}: {low} to {high}, from {from} to {to}."));
        }
    }
    if let Some(words) = chart.heat.as_ref().and_then(super::Heat::words) {
        say(words);
    }
    if left_out > 0 {
        say(format!("{left_out} values cannot be shown on these axes."));
    }
    text
}
