//! Heat maps: values of cells as shades, with their text where there is room, and the scale below.
//! The text in a cell and the title of each carry the value itself, so that no reader depends on the shade.

use super::draw::{Drawing, Place};
use super::labels::{Anchor, LINE, TEXT_SIZE, Text};
use super::scale::range;
use super::shades::{SHADES, STEP};
use super::text::{escape, number, width};
use super::{Chart, Unit};

/// From this shade on text on it is dark.
const DARK_TEXT_FROM: usize = 5;
/// More cells than this are one picture: they have no room for text, and a browser lays each rectangle out.
const RECTANGLES_MAX: usize = 4096;
/// Rows and columns of a picture.
const SIDE_MAX: usize = 4096;
/// Above this ratio of the greatest to the least value equal ratios, not differences, are equal steps.
const LOGARITHMIC_FROM: f64 = 10.0;

/// One cell: the square of side 1 around its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Place on the horizontal axis.
    pub x: f64,
    /// Place on the vertical axis.
    pub y: f64,
    /// Its value. Those that are not finite are left out.
    pub value: f64,
}

/// Values by two things.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// What the values are.
    pub label: String,
    /// Their unit.
    pub unit: Unit,
    /// The cells that there are; others stay empty.
    pub cells: Vec<Cell>,
    /// Values of the first and the last shade; absent: the least and the greatest. What lies beyond has the shade of the end.
    pub ends: Option<(f64, f64)>,
}

/// Which value has which shade.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shading {
    ends: Option<(f64, f64)>,
}

impl Shading {
    /// Number of the shade of `value`, 0 to 9.
    pub fn of(self, value: f64) -> usize {
        let Some((low, high)) = self.ends.filter(|(low, high)| low < high) else {
            return SHADES.len() / 2;
        };
        let value = value.clamp(low, high);
        let part = match low > 0.0 && high > LOGARITHMIC_FROM * low {
            true => (value / low).ln() / (high / low).ln(),
            false => (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0),
        };
        ((part * SHADES.len() as f64) as usize).min(SHADES.len() - 1)
    }
}

impl Heat {
    /// A map without cells.
    pub fn new(label: impl Into<String>, unit: Unit) -> Heat {
        Heat {
            label: label.into(),
            unit,
            cells: Vec::new(),
            ends: None,
        }
    }

    /// The cells that can be shown.
    pub fn shown(&self) -> impl Iterator<Item = &Cell> {
        self.cells
            .iter()
            .filter(|cell| [cell.x, cell.y, cell.value].iter().all(|v| v.is_finite()))
    }

    /// Least and greatest value; `None` without cells.
    pub fn range(&self) -> Option<(f64, f64)> {
        range(self.shown().map(|cell| cell.value))
    }

    /// Which value has which shade.
    pub fn shading(&self) -> Shading {
        Shading {
            ends: self.shaded_ends(),
        }
    }

    /// Values of the first and the last shade; `None` without cells.
    pub fn shaded_ends(&self) -> Option<(f64, f64)> {
        self.range().map(|range| self.ends.unwrap_or(range))
    }

    /// The range in words.
    pub fn words(&self) -> Option<String> {
        let (low, high) = self.range()?;
        let count = self.shown().count();
        Some(format!(
            "{}: {count} cells, {} to {}.",
            self.label,
            self.unit.text(low),
            self.unit.text(high)
        ))
    }
}

impl Drawing<'_> {
    /// Add the cells and the scale.
    pub fn heat(&mut self, heat: &Heat, chart: &Chart) {
        let shading = heat.shading();
        match heat.shown().count() > RECTANGLES_MAX {
            true => self.picture(heat, chart, shading),
            false => heat
                .shown()
                .for_each(|cell| self.cell(heat, chart, (cell, shading.of(cell.value)))),
        }
        self.scale();
    }

    /// All cells as one picture, a pixel each; the first column and row of the chart that it has, and how many.
    fn picture(&mut self, heat: &Heat, chart: &Chart, shading: Shading) {
        let ends = |of: fn(&Cell) -> f64| {
            let least = heat.shown().map(of).fold(f64::INFINITY, f64::min);
            (least, heat.shown().map(of).fold(f64::NEG_INFINITY, f64::max))
        };
        let ((left, right), (bottom, top)) = (ends(|cell| cell.x), ends(|cell| cell.y));
        let side = |from: f64, to: f64| ((to - from).round() as usize).saturating_add(1);
        let (wide, high) = (side(left, right), side(bottom, top));
        if wide > SIDE_MAX || high > SIDE_MAX {
            return;
        }
        let mut pixels = vec![None; wide * high];
        for cell in heat.shown() {
            let (column, row) = ((cell.x - left).round() as usize, (top - cell.y).round() as usize);
            pixels[row * wide + column] = Some(shading.of(cell.value));
        }
        let corner = |x: f64, y: f64| self.place(x, y);
        if let (Some(from), Some(to)) = (corner(left - 0.5, top + 0.5), corner(right + 0.5, bottom - 0.5)) {
            let [x, y, width, height] = [from.0, from.1, to.0 - from.0, to.1 - from.1].map(number);
            let address = super::image::address(&pixels, wide);
            let places = |axis: &super::Axis| axis.ticks.iter().map(|(at, _)| *at).collect::<Vec<f64>>();
            let first = places(&chart.x).into_iter().fold(left, f64::min);
            let last = places(&chart.y).into_iter().fold(top, f64::max);
            let (column, row) = ((left - first).round(), (last - top).round());
            self.line(format_args!(
                "<image data-cells=\"{column} {row} {wide} {high}\" style=\"image-rendering:pixelated\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
                 preserveAspectRatio=\"none\" href=\"{address}\"/>"
            ));
        }
    }

    fn cell(&mut self, heat: &Heat, chart: &Chart, (cell, shade): (&Cell, usize)) {
        let corner = |dx: f64, dy: f64| self.place(cell.x + dx, cell.y + dy);
        let (Some((left, top)), Some((right, bottom))) = (corner(-0.5, 0.5), corner(0.5, -0.5)) else {
            return;
        };
        let text = heat.unit.text(cell.value);
        let named = |axis: &super::Axis, at: f64| {
            let tick = axis.ticks.iter().find(|(value, _)| *value == at);
            tick.map_or_else(|| axis.unit.text(at), |(_, name)| name.clone())
        };
        let class = format!("ws-h{shade}");
        if self.place == Place::Narrow {
            self.rectangle(&class, (left, top), (right - left, bottom - top));
        } else {
            let title = format!("{}, {}: {text}", named(&chart.y, cell.y), named(&chart.x, cell.x));
            let [x, y, wide, high] = [left, top, right - left, bottom - top].map(number);
            self.line(format_args!(
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\"><title>{}</title></rect>",
                escape(&title)
            ));
        }
        if width(&text, TEXT_SIZE) + 4.0 <= right - left && bottom - top >= LINE {
            let class = if shade >= DARK_TEXT_FROM {
                "ws-on-light"
            } else {
                "ws-on-dark"
            };
            let middle = ((left + right) / 2.0, (top + bottom) / 2.0 + 4.0);
            self.words(&Text::new(class, Anchor::Middle, middle, text));
        }
    }

    /// The shades beside each other, the least value on their left, the greatest on their right.
    fn scale(&mut self) {
        let Some((x, y)) = self.layout.scale else {
            return;
        };
        for index in 0..SHADES.len() {
            let left = x + index as f64 * STEP;
            self.rectangle(&format!("ws-h{index}"), (left, y), (STEP, 12.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn heat(values: &[f64]) -> Heat {
        let cells = values.iter().zip(0..).map(|(value, x)| Cell {
            x: f64::from(x),
            y: 0.0,
            value: *value,
        });
        Heat {
            cells: cells.collect(),
            ..Heat::new("x", Unit::Plain)
        }
    }

    #[test]
    fn shades_follow_differences_or_ratios() {
        let near = heat(&[1.0, 1.5, 2.0]);
        let shades = |heat: &Heat, values: [f64; 3]| values.map(|value| heat.shading().of(value));
        assert_eq!(shades(&near, [1.0, 1.5, 2.0]), [0, 5, 9]);
        let far = heat(&[1.0, 10.0, 100.0]);
        assert_eq!(shades(&far, [1.0, 10.0, 100.0]), [0, 5, 9]);
        assert_eq!(heat(&[3.0]).shading().of(3.0), 5);
        let stated = Heat {
            ends: Some((0.0, 10.0)),
            ..near
        };
        assert_eq!(shades(&stated, [-1.0, 5.0, 20.0]), [0, 5, 9]);
        assert_eq!((heat(&[f64::NAN]).range(), heat(&[]).words()), (None, None));
    }

    proptest! {
        #[test]
        fn greater_values_are_never_darker(values in prop::collection::vec(any::<f64>(), 0..20)) {
            let heat = heat(&values);
            let mut finite: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
            finite.sort_by(f64::total_cmp);
            prop_assert!(finite.windows(2).all(|pair| heat.shading().of(pair[0]) <= heat.shading().of(pair[1])));
        }
    }
}
