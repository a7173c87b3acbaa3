//! What drawings in characters are made of: a canvas of dots, sparklines, a bar of percentiles. Braille or plain ASCII.

use super::style::Style;
use crate::svg::range;
use crate::view::Spread;
use wirespeed_schema::units::format_ns;

/// No plot is wider than this.
const WIDTH_MAX: usize = 100;
/// Below this nothing can be read.
const WIDTH_MIN: usize = 12;
/// Bits of the braille dots, by row and column of the cell.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

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

/// A latency on a logarithmic line: its ends, `5` p50, `9` p99. `None` where there is no room, or nothing to show.
pub(super) fn spread_bar(spread: &Spread, style: &Style) -> Option<String> {
    let (min, max) = (spread.min_ns, spread.max_ns);
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
    for (value, mark) in [(spread.p99_ns, '9'), (spread.p50_ns, '5')] {
        if let Some(value) = value {
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

    fn style(unicode: bool, width: usize) -> Style {
        Style {
            width,
            color: false,
            unicode,
        }
    }

    #[test]
    fn nothing_to_show_is_nothing() {
        assert_eq!(sparkline(&[f64::NAN], 10, &style(true, 80)), "");
        assert_eq!(sparkline(&[0.0, 1.0, 2.0], 3, &style(true, 80)), "▁▅█");
    }

    proptest! {
        #[test]
        fn any_values_fit_the_width(
            values in prop::collection::vec(any::<f64>(), 0..20),
            ends in (any::<f64>(), any::<f64>()),
            width in 0usize..200,
            unicode: bool,
        ) {
            let style = style(unicode, width);
            prop_assert!(sparkline(&values, width, &style).chars().count() <= width.max(1));
            let (min_ns, max_ns) = ends;
            let spread = Spread { min_ns, max_ns, p50_ns: values.first().copied(), p99_ns: None };
            if let Some(line) = spread_bar(&spread, &style) {
                prop_assert!(line.chars().count() <= width);
            }
        }
    }
}
