//! Plots for the terminal: curves on logarithmic axes, sparklines, a bar of percentiles. Braille or plain ASCII.

use super::style::Style;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::format_ns;

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// Points; those that are not above zero cannot be shown on logarithmic axes and are left out.
    pub points: Vec<(f64, f64)>,
}

/// What stands at the axes.
#[derive(Debug, Clone, Copy)]
pub struct Axes {
    /// Heading of the plot.
    pub title: &'static str,
    /// Text of a value on the horizontal axis.
    pub x_text: fn(f64) -> String,
    /// Text of a value on the vertical axis.
    pub y_text: fn(f64) -> String,
}

/// Lines of the drawing area.
const HEIGHT: usize = 12;
/// Width of the labels at the left.
const LABEL: usize = 11;
/// No plot is wider than this.
const WIDTH_MAX: usize = 100;
/// Below this nothing can be read.
const WIDTH_MIN: usize = 12;
/// Bits of the braille dots, by row and column of the cell.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// Curves on two logarithmic axes: each series' measured points carry its letter, dots join them. Lines without ends;
/// empty when no point can be shown.
pub fn log_log(series: &[Series], axes: &Axes, style: &Style) -> Vec<String> {
    let logs: Vec<Vec<(f64, f64)>> = series.iter().map(|series| logarithms(&series.points)).collect();
    let all = || logs.iter().flatten().copied();
    let Some((x_low, x_high)) = range(all().map(|(x, _)| x)) else {
        return Vec::new();
    };
    let Some((y_low, y_high)) = range(all().map(|(_, y)| y)) else {
        return Vec::new();
    };
    let width = style
        .width
        .min(WIDTH_MAX)
        .saturating_sub(LABEL + 2)
        .max(WIDTH_MIN);
    let mut canvas = Canvas::new(width, HEIGHT);
    let place = |value: f64, low: f64, high: f64| {
        if high > low {
            (value - low) / (high - low)
        } else {
            0.5
        }
    };
    for (index, points) in logs.iter().enumerate() {
        let placed: Vec<(f64, f64)> = points
            .iter()
            .map(|&(x, y)| (place(x, x_low, x_high), place(y, y_low, y_high)))
            .collect();
        placed.windows(2).for_each(|pair| canvas.line(pair[0], pair[1]));
        placed.iter().for_each(|&point| canvas.mark(point, letter(index)));
    }
    let mut lines = vec![axes.title.to_owned()];
    let (y_label, bar) = (axes.y_text, if style.unicode { '│' } else { '|' });
    for (row, text) in canvas.rows(style.unicode).into_iter().enumerate() {
        let label = match row {
            0 => y_label(y_high.exp()),
            row if row + 1 == HEIGHT => y_label(y_low.exp()),
            _ => String::new(),
        };
        lines.push(format!("{label:>LABEL$} {bar}{text}").trim_end().to_owned());
    }
    let (left, right) = ((axes.x_text)(x_low.exp()), (axes.x_text)(x_high.exp()));
    let gap = width.saturating_sub(left.chars().count() + right.chars().count());
    lines.push(format!("{:LABEL$}  {left}{}{right}", "", " ".repeat(gap.max(1))));
    let legend: Vec<String> = series
        .iter()
        .enumerate()
        .map(|(index, series)| format!("{} {}", letter(index), series.label))
        .collect();
    lines.push(format!("{:LABEL$}  {}", "", legend.join("   ")));
    lines
}

fn letter(index: usize) -> char {
    char::from(b'a' + (index % 26) as u8)
}

fn logarithms(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let shown = points
        .iter()
        .filter(|(x, y)| x.is_finite() && y.is_finite() && *x > 0.0 && *y > 0.0);
    let mut logs: Vec<(f64, f64)> = shown.map(|(x, y)| (x.ln(), y.ln())).collect();
    logs.sort_by(|a, b| a.0.total_cmp(&b.0));
    logs
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    })
}

/// Dots, four by two in a character, and letters over them.
pub(super) struct Canvas {
    width: usize,
    height: usize,
    dots: Vec<u8>,
    marks: Vec<Option<char>>,
}

impl Canvas {
    /// An empty one of so many characters.
    pub fn new(width: usize, height: usize) -> Canvas {
        Canvas {
            width,
            height,
            dots: vec![0; width * height],
            marks: vec![None; width * height],
        }
    }

    /// Dot column and row of a point in the unit square, whose origin is at the lower left.
    fn dot(&self, (x, y): (f64, f64)) -> (usize, usize) {
        let (columns, rows) = (self.width * 2 - 1, self.height * 4 - 1);
        let column = (x.clamp(0.0, 1.0) * columns as f64).round() as usize;
        let row = ((1.0 - y.clamp(0.0, 1.0)) * rows as f64).round() as usize;
        (column, row)
    }

    /// Dots from one point of the unit square to another.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let ((x0, y0), (x1, y1)) = (self.dot(from), self.dot(to));
        let steps = x0.abs_diff(x1).max(y0.abs_diff(y1)).max(1);
        for step in 0..=steps {
            let part = step as f64 / steps as f64;
            let between = |a: usize, b: usize| (a as f64 + (b as f64 - a as f64) * part).round() as usize;
            let (x, y) = (between(x0, x1), between(y0, y1));
            self.dots[y / 4 * self.width + x / 2] |= DOTS[y % 4][x % 2];
        }
    }

    /// A letter at a point.
    pub fn mark(&mut self, point: (f64, f64), letter: char) {
        let (x, y) = self.dot(point);
        self.marks[y / 4 * self.width + x / 2] = Some(letter);
    }

    /// Dots beside each other.
    pub fn columns(&self) -> usize {
        self.width * 2
    }

    /// The rows from the top.
    pub fn rows(&self, unicode: bool) -> Vec<String> {
        let cell = |index: usize| match (self.marks[index], self.dots[index]) {
            (Some(letter), _) => letter,
            (None, 0) => ' ',
            // Every value of a byte is a braille pattern.
            (None, dots) if unicode => char::from_u32(0x2800 + u32::from(dots)).unwrap_or('.'),
            (None, _) => '.',
        };
        (0..self.height)
            .map(|row| {
                (0..self.width)
                    .map(|column| cell(row * self.width + column))
                    .collect()
            })
            .collect()
    }
}

/// `values` as a line of at most `width` characters, from the lowest to the highest; neighbours are averaged where
/// there are more values than characters. Values that are not finite are left out.
pub fn sparkline(values: &[f64], width: usize, style: &Style) -> String {
    let marks: Vec<char> = if style.unicode {
        "▁▂▃▄▅▆▇█".chars().collect()
    } else {
        "_.:-=+*#".chars().collect()
    };
    let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let Some((low, high)) = range(finite.iter().copied()) else {
        return String::new();
    };
    let chunk = finite.len().div_ceil(width.max(1)).max(1);
    finite
        .chunks(chunk)
        .map(|chunk| {
            let mean = chunk.iter().map(|value| value / chunk.len() as f64).sum::<f64>();
            let part = if high > low {
                (mean / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)
            } else {
                0.5
            };
            marks[((part * marks.len() as f64) as usize).min(marks.len() - 1)]
        })
        .collect()
}

/// The percentiles of a latency case on a logarithmic line: `|` minimum and maximum, `5` p50, `9` p99.
pub fn percentile_bar(result: &CaseResult, style: &Style) -> Option<String> {
    let family = ["rtt", "completion"]
        .into_iter()
        .find(|f| result.metrics.contains_key(&format!("{f}_p50_ns")))?;
    let value = |part: &str| {
        result
            .metrics
            .get(&format!("{family}_{part}_ns"))
            .map(|metric| metric.value.get())
    };
    let (min, max) = (value("min")?, value("max")?);
    if min <= 0.0 || max <= min {
        return None;
    }
    let (left, right) = (format_ns(min), format_ns(max));
    let width = style
        .width
        .min(WIDTH_MAX)
        .saturating_sub(left.chars().count() + right.chars().count() + 32);
    if width < WIDTH_MIN {
        return None;
    }
    let place = |value: f64| {
        let part = (value.max(min).ln() - min.ln()) / (max.ln() - min.ln());
        ((part * (width - 1) as f64).round() as usize).min(width - 1)
    };
    let (rule, edge) = if style.unicode { ('─', '│') } else { ('-', '|') };
    let mut line = vec![rule; width];
    line[0] = edge;
    line[width - 1] = edge;
    for (part, mark) in [("p99", '9'), ("p50", '5')] {
        if let Some(value) = value(part) {
            line[place(value)] = mark;
        }
    }
    let line: String = line.into_iter().collect();
    Some(format!("min {left} {line} {right} max  (log; 5 p50, 9 p99)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const AXES: Axes = Axes {
        title: "bandwidth",
        x_text: |value| format!("{value:.0}"),
        y_text: |value| format!("{value:.0}"),
    };

    fn style(unicode: bool, width: usize) -> Style {
        Style {
            width,
            color: false,
            unicode,
        }
    }

    #[test]
    fn a_rising_curve_rises_from_the_lower_left_to_the_upper_right() {
        let series = [Series {
            label: "tcp".into(),
            points: vec![(1.0, 10.0), (10.0, 100.0), (100.0, 1000.0)],
        }];
        let lines = log_log(&series, &AXES, &style(false, 50));
        assert_eq!(lines.len(), HEIGHT + 3);
        assert!(
            lines[1].starts_with("       1000 |") && lines[1].ends_with('a'),
            "{lines:#?}"
        );
        assert!(lines[HEIGHT].starts_with("         10 |a"), "{lines:#?}");
        assert!(
            lines.iter().all(|line| line.is_ascii() && line.len() <= 50),
            "{lines:#?}"
        );
        let braille = log_log(&series, &AXES, &style(true, 50)).join("\n");
        assert!(braille.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)));
    }

    #[test]
    fn nothing_to_show_is_nothing() {
        assert!(log_log(&[], &AXES, &style(true, 80)).is_empty());
        assert_eq!(sparkline(&[f64::NAN], 10, &style(true, 80)), "");
        assert_eq!(sparkline(&[0.0, 1.0, 2.0], 3, &style(true, 80)), "▁▅█");
    }

    proptest! {
        #[test]
        fn any_points_fit_the_width(
            points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..20),
            width in 0usize..200,
            unicode: bool,
        ) {
            let style = style(unicode, width);
            let values: Vec<f64> = points.iter().map(|point| point.1).collect();
            prop_assert!(sparkline(&values, width, &style).chars().count() <= width.max(1));
            let lines = log_log(&[Series { label: "x".into(), points }], &AXES, &style);
            prop_assert!(lines.is_empty() || lines.len() == HEIGHT + 3);
        }
    }
}
