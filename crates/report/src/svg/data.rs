//! The data of a chart as elements: lines, bands, bars, steps and markers.

use super::draw::{Drawing, Place};
use super::labels::SAMPLE;
use super::layout::shown;
use super::scale::Span;
use super::style::COLORS;
use super::text::{escape, number};
use super::{Chart, Look, Point, Scale, Series};
use std::fmt::Write as _;

/// Up to so many points each gets a marker with its values.
const MARKERS_MAX: usize = 200;
/// Marker shapes before they begin again; not as many as colours, so that both together repeat later.
const SHAPES: usize = 5;
const RADIUS: f64 = 3.6;

/// Colour class and marker of a series.
fn color(index: usize, series: &Series) -> usize {
    series.color.unwrap_or(index)
}

impl Drawing<'_> {
    /// Add all that a series shows.
    pub fn series(&mut self, index: usize, series: &Series) {
        let points = shown(self.chart, series);
        if points.is_empty() {
            return;
        }
        let (number, id) = (color(index, series), self.id);
        self.line(format_args!(
            "<g class=\"ws-{}\" clip-path=\"url(#{id}-plot)\">",
            number % COLORS
        ));
        match series.look {
            Look::Line => {
                self.band(&points);
                self.polyline("ws-line", &points);
            }
            Look::Fit => self.polyline("ws-fit", &points),
            Look::Points => self.bars(&points),
            Look::Across => self.bars_across(&points),
            Look::Steps => self.steps(&points),
        }
        self.text.push_str("</g>\n");
        // Outside the clip, so that markers at the edge stay whole.
        if matches!(series.look, Look::Line | Look::Points | Look::Across) && points.len() <= MARKERS_MAX {
            self.line(format_args!("<g class=\"ws-{}\">", number % COLORS));
            match self.place {
                Place::Narrow => self.markers(number, &points),
                Place::File | Place::Wide => {
                    points.iter().for_each(|point| self.marker(number, series, point));
                }
            }
            self.text.push_str("</g>\n");
        } else if matches!(series.look, Look::Points | Look::Across) {
            self.dots(number, &points);
        }
    }

    /// Pixels of a point; `None` where an axis has no place for it.
    pub fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        self.layout.x.place(x).zip(self.layout.y.place(y))
    }

    fn polyline(&mut self, class: &str, points: &[Point]) {
        let placed: Vec<(f64, f64)> = points.iter().filter_map(|p| self.place(p.x, p.y)).collect();
        let path = path(&thinned(&placed));
        self.line(format_args!("<path class=\"{class}\" d=\"{path}\"/>"));
    }

    fn band(&mut self, points: &[Point]) {
        let floor = |value: f64, axis: &Span, scale: Scale| {
            if scale == Scale::Log && value <= 0.0 {
                axis.low
            } else {
                value
            }
        };
        let (axis, scale) = (self.layout.y, self.chart.y.scale);
        let ends = points.iter().filter_map(|point| {
            let (low, high) = point.interval?;
            let low = self.place(point.x, floor(low, &axis, scale))?;
            Some((low, self.place(point.x, floor(high, &axis, scale))?))
        });
        let (lows, highs): (Vec<_>, Vec<_>) = ends.unzip();
        if lows.len() < 2 {
            return self.bars(points);
        }
        let mut outline = thinned(&highs);
        outline.extend(thinned(&lows).into_iter().rev());
        let path = path(&outline);
        self.line(format_args!("<path class=\"ws-band\" d=\"{path}Z\"/>"));
    }

    fn bars(&mut self, points: &[Point]) {
        for point in points {
            let Some((low, high)) = point.interval else {
                continue;
            };
            if let (Some((x, low)), Some((_, high))) = (self.place(point.x, low), self.place(point.x, high)) {
                let [x, low, high, left, right] = [x, low, high, x - 4.0, x + 4.0].map(number);
                self.line(format_args!(
                    "<path class=\"ws-bar\" d=\"M{left} {low}H{right}M{x} {low}V{high}M{left} {high}H{right}\"/>"
                ));
            }
        }
    }

    fn bars_across(&mut self, points: &[Point]) {
        for point in points {
            let Some((low, high)) = point.interval else {
                continue;
            };
            if let (Some((low, y)), Some((high, _))) = (self.place(low, point.y), self.place(high, point.y)) {
                let [low, high, y, above, below] = [low, high, y, y - 4.0, y + 4.0].map(number);
                self.line(format_args!(
                    "<path class=\"ws-bar\" d=\"M{low} {above}V{below}M{low} {y}H{high}M{high} {above}V{below}\"/>"
                ));
            }
        }
    }

    fn steps(&mut self, points: &[Point]) {
        let placed: Vec<(f64, f64)> = points.iter().filter_map(|p| self.place(p.x, p.y)).collect();
        let base = number(self.layout.y.from);
        let Some(&(first, _)) = placed.first() else {
            return;
        };
        let mut path = format!("M{} {base}", number(first));
        for &(x, y) in &placed {
            // Writing to a String cannot fail.
            let _ = write!(path, "H{}V{}", number(x), number(y));
        }
        self.line(format_args!("<path class=\"ws-steps\" d=\"{path}V{base}Z\"/>"));
    }

    /// Where the marker of a point belongs; `None` outside of the plot.
    fn marked(&self, point: &Point) -> Option<(f64, f64)> {
        let (x, y) = (self.layout.x, self.layout.y);
        let at = self.place(point.x, point.y)?;
        let inside =
            (x.from - 1.0..=x.to + 1.0).contains(&at.0) && (y.to - 1.0..=y.from + 1.0).contains(&at.1);
        inside.then_some(at)
    }

    fn marker(&mut self, number: usize, series: &Series, point: &Point) {
        if let Some(at) = self.marked(point) {
            let (shape, values) = (shape(number, at), escape(&values(self.chart, series, point)));
            self.line(format_args!(
                "<path class=\"ws-dot\" d=\"{shape}\"><title>{values}</title></path>"
            ));
        }
    }

    /// All markers of a series as one element.
    fn markers(&mut self, number: usize, points: &[Point]) {
        let placed = points.iter().filter_map(|point| self.marked(point));
        let path: String = placed.map(|at| shape(number, at)).collect();
        self.line(format_args!("<path class=\"ws-dot\" d=\"{path}\"/>"));
    }

    /// Many points as one element: one small square each, one for each pixel at most.
    fn dots(&mut self, number: usize, points: &[Point]) {
        let placed = points.iter().filter_map(|p| self.place(p.x, p.y));
        let pixels: std::collections::BTreeSet<(i64, i64)> = placed
            .map(|(x, y)| (x.round() as i64, y.round() as i64))
            .collect();
        let mut path = String::new();
        for (x, y) in pixels {
            // Writing to a String cannot fail.
            let _ = write!(path, "M{} {}h2v2h-2z", x - 1, y - 1);
        }
        let (id, class) = (self.id, number % COLORS);
        self.line(format_args!(
            "<g class=\"ws-{class}\" clip-path=\"url(#{id}-plot)\"><path class=\"ws-dot\" d=\"{path}\"/></g>"
        ));
    }

    /// Add the sample of a series in the legend.
    pub fn sample(&mut self, index: usize, series: &Series, (x, y): (f64, f64)) {
        let (number, look) = (color(index, series), series.look);
        self.line(format_args!("<g class=\"ws-{}\">", number % COLORS));
        match look {
            Look::Line => self.segment("ws-line", (x, y), (x + SAMPLE, y)),
            Look::Fit => self.segment("ws-fit", (x, y), (x + SAMPLE, y)),
            Look::Steps => self.rectangle("ws-steps", (x, y - 5.0), (SAMPLE, 10.0)),
            Look::Points | Look::Across => {}
        }
        if matches!(look, Look::Line | Look::Points | Look::Across) {
            let shape = shape(number, (x + SAMPLE / 2.0, y));
            self.line(format_args!("<path class=\"ws-dot\" d=\"{shape}\"/>"));
        }
        self.text.push_str("</g>\n");
    }
}

/// What a reader sees who rests on a point.
fn values(chart: &Chart, series: &Series, point: &Point) -> String {
    let (x, y) = (chart.x.unit.text(point.x), chart.y.unit.text(point.y));
    let unit = if series.look == Look::Across {
        chart.x.unit
    } else {
        chart.y.unit
    };
    let interval = point.interval.map_or(String::new(), |(low, high)| {
        format!(" ({} to {})", unit.text(low), unit.text(high))
    });
    let name = if series.label.is_empty() {
        String::new()
    } else {
        format!("{}: ", series.label)
    };
    format!("{name}{x}, {y}{interval}")
}

fn path(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(
            path,
            "{}{} {}",
            if index == 0 { 'M' } else { 'L' },
            number(x),
            number(y)
        );
    }
    path
}

/// The points with no more than the first, lowest, highest and last of a pixel column, in their order; few points as
/// they are.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= 2 * MARKERS_MAX {
        return points.to_vec();
    }
    let mut kept = Vec::new();
    for column in points.chunk_by(|a, b| a.0.round() == b.0.round()) {
        let by_height = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
        let lowest = (0..column.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..column.len()).max_by(by_height).unwrap_or(0);
        let mut indices = vec![0, lowest, highest, column.len() - 1];
        indices.sort_unstable();
        indices.dedup();
        kept.extend(indices.into_iter().map(|index| column[index]));
    }
    kept
}

/// Marker number `number` around a place: disc, square, triangle, diamond, cross.
fn shape(index: usize, (x, y): (f64, f64)) -> String {
    let r = RADIUS;
    let at = |dx: f64, dy: f64| format!("{} {}", number(x + dx), number(y + dy));
    match index % SHAPES {
        0 => format!(
            "M{}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z",
            at(-r, 0.0),
            d = 2.0 * r
        ),
        1 => format!("M{}h{d}v{d}h-{d}z", at(-r, -r), d = 2.0 * r),
        2 => format!("M{}L{}L{}z", at(0.0, -4.6), at(4.4, 3.2), at(-4.4, 3.2)),
        3 => format!(
            "M{}L{}L{}L{}z",
            at(0.0, -5.0),
            at(4.4, 0.0),
            at(0.0, 5.0),
            at(-4.4, 0.0)
        ),
        _ => format!("M{}h2.4v3h3v2.4h-3v3h-2.4v-3h-3v-2.4h3z", at(-1.2, -4.2)),
    }
}
