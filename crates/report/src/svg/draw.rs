//! The drawing itself: elements in their order, from the background to the annotations.

use super::layout::{LINE, Layout, SAMPLE, TEXT_SIZE, layout, shown, title_y};
use super::text::{escape, identifier, number, shortened, width};
use super::{Chart, Mark, Scale};
use std::fmt::Write as _;

/// The chart as an SVG element; with `style`, as a file of its own.
pub fn draw(chart: &Chart, style: Option<&str>) -> String {
    let layout = layout(chart);
    let id = identifier(&chart.id);
    let mut drawing = Drawing {
        chart,
        layout: &layout,
        id: &id,
        text: String::new(),
    };
    drawing.open(style);
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
    pub fn words(&mut self, class: &str, anchor: &str, (x, y): (f64, f64), words: &str) {
        let (x, y, words) = (number(x), number(y), escape(words));
        self.line(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{words}</text>"
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

    fn open(&mut self, style: Option<&str>) {
        let (chart, layout, id) = (self.chart, self.layout, self.id);
        let (wide, high) = (number(layout.width), number(layout.height));
        self.line(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ws-chart\" role=\"img\" \
             aria-labelledby=\"{id}-title {id}-desc\" viewBox=\"0 0 {wide} {high}\" width=\"{wide}\" height=\"{high}\">"
        ));
        self.line(format_args!(
            "<title id=\"{id}-title\">{}</title>",
            escape(&chart.title)
        ));
        self.line(format_args!(
            "<desc id=\"{id}-desc\">{}</desc>",
            escape(&description(chart))
        ));
        if let Some(style) = style {
            self.line(format_args!("<style>\n{style}</style>"));
        }
        let (x, y) = (layout.x, layout.y);
        let [left, top, plot_wide, plot_high] = [x.from, y.to, x.to - x.from, y.from - y.to].map(number);
        self.line(format_args!(
            "<clipPath id=\"{id}-plot\"><rect x=\"{left}\" y=\"{top}\" width=\"{plot_wide}\" height=\"{plot_high}\"/></clipPath>"
        ));
        self.rectangle("ws-back", (0.0, 0.0), (layout.width, layout.height));
        for (index, line) in layout.title.iter().enumerate() {
            self.words("ws-title", "start", (14.0, title_y(layout, index)), line);
        }
    }

    fn axes(&mut self) {
        let (chart, layout) = (self.chart, self.layout);
        let (x, y) = (layout.x, layout.y);
        for tick in &layout.y_ticks {
            if let Some(at) = y.place(tick.value) {
                self.segment("ws-grid", (x.from, at), (x.to, at));
                let label = shortened(&tick.label, TEXT_SIZE, x.from - 14.0 - LINE);
                self.words("ws-label", "end", (x.from - 8.0, at + 4.0), &label);
            }
        }
        for tick in &layout.x_ticks {
            if let Some(at) = x.place(tick.value) {
                self.segment("ws-grid", (at, y.to), (at, y.from));
                self.words("ws-label", "middle", (at, y.from + LINE), &tick.label);
            }
        }
        let [left, right, top, bottom] = [x.from, x.to, y.to, y.from].map(number);
        self.line(format_args!(
            "<path class=\"ws-axis\" d=\"M{left} {top}V{bottom}H{right}\"/>"
        ));
        let middle = (x.from + x.to) / 2.0;
        if !chart.x.label.is_empty() {
            self.words(
                "ws-text",
                "middle",
                (middle, y.from + 2.0 * LINE + 2.0),
                &axis_label(&chart.x),
            );
        }
        if !chart.y.label.is_empty() {
            let (at, words) = (number((y.from + y.to) / 2.0), escape(&axis_label(&chart.y)));
            self.line(format_args!(
                "<text class=\"ws-text\" transform=\"translate(20 {at}) rotate(-90)\" text-anchor=\"middle\">{words}</text>"
            ));
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
            self.words("ws-label", "middle", middle, "nothing to show");
        }
    }

    fn marks(&mut self) {
        let (layout, chart) = (self.layout, self.chart);
        let (x, y) = (layout.x, layout.y);
        let mut taken: Vec<f64> = Vec::new();
        for mark in &chart.marks {
            match mark {
                Mark::Vertical { x: value, .. } if x.holds(*value) => {
                    if let Some(at) = x.place(*value) {
                        self.segment("ws-mark", (at, y.to), (at, y.from));
                    }
                }
                Mark::Horizontal { y: value, label } if y.holds(*value) => {
                    if let Some(at) = y.place(*value) {
                        self.segment("ws-mark", (x.from, at), (x.to, at));
                        // A label too close to another goes to the other end.
                        let close = taken.iter().any(|other| (other - at).abs() < LINE);
                        let (anchor, side) = if close {
                            ("start", x.from + 6.0)
                        } else {
                            ("end", x.to - 6.0)
                        };
                        let label = shortened(label, TEXT_SIZE, (x.to - x.from) * 0.6);
                        self.words("ws-note", anchor, (side, at - 5.0), &label);
                        taken.push(at);
                    }
                }
                Mark::Spot {
                    x: at_x,
                    y: at_y,
                    label,
                } if x.holds(*at_x) && y.holds(*at_y) => {
                    if let Some(at) = self.place(*at_x, *at_y) {
                        self.spot(at, label);
                    }
                }
                _ => {}
            }
        }
        for flag in &layout.flags {
            self.words("ws-label", "start", (flag.x, flag.y), &flag.text);
        }
    }

    fn spot(&mut self, (at_x, at_y): (f64, f64), label: &str) {
        let x = self.layout.x;
        let [cx, cy] = [at_x, at_y].map(number);
        self.line(format_args!(
            "<circle class=\"ws-spot\" cx=\"{cx}\" cy=\"{cy}\" r=\"7\"/>"
        ));
        let room = (at_x - x.from).max(x.to - at_x) - 12.0;
        let label = shortened(label, TEXT_SIZE, room);
        let right = at_x + 12.0 + width(&label, TEXT_SIZE) <= x.to;
        let (anchor, side) = if right {
            ("start", at_x + 11.0)
        } else {
            ("end", at_x - 11.0)
        };
        let above = if at_y - 10.0 < self.layout.y.to + LINE {
            at_y + LINE
        } else {
            at_y - 7.0
        };
        self.words("ws-note", anchor, (side, above), &label);
    }

    fn legend(&mut self) {
        let layout = self.layout;
        for entry in &layout.legend {
            let (x, y) = (entry.x, entry.y);
            match entry.series.map(|index| (index, &self.chart.series[index])) {
                Some((index, series)) => self.sample(index, series, (x, y)),
                None => {
                    self.text.push_str("<g class=\"ws-4\">\n");
                    self.rectangle("ws-band", (x, y - 6.0), (SAMPLE, 12.0));
                    self.text.push_str("</g>\n");
                }
            }
            self.words("ws-text", "start", (x + SAMPLE + 6.0, y + 4.0), &entry.text);
        }
    }
}

fn axis_label(axis: &super::Axis) -> String {
    match axis.scale {
        Scale::Linear => axis.label.clone(),
        Scale::Log => format!("{} (log scale)", axis.label),
    }
}

/// The caller's words, then the range of every series, then what could not be shown.
fn description(chart: &Chart) -> String {
    let mut text = chart.description.trim().to_owned();
    let mut say = |sentence: String| {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&sentence);
    };
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
