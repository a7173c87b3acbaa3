//! From values to pixels: the range of an axis and where a value lies on it.

use super::{Axis, Scale};

/// Margin at either end of an axis, in parts of its length.
const MARGIN: f64 = 0.03;
/// No value beyond it is shown.
const LARGEST: f64 = 1e300;

/// An axis laid out: a range of values and the pixels that show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Value at the beginning.
    pub low: f64,
    /// Value at the end.
    pub high: f64,
    scale: Scale,
    /// Pixel at the beginning.
    pub from: f64,
    /// Pixel at the end.
    pub to: f64,
}

/// The least and the greatest of some values.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    })
}

impl Span {
    /// The range of `axis` for data between the ends of `values`; 0 to 1, or 1 to 10, without data.
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Span {
        let shown = values.filter(|value| shows(axis.scale, *value));
        let data = range(shown);
        let given = axis
            .range
            .filter(|(low, high)| shows(axis.scale, *low) && shows(axis.scale, *high) && low < high);
        let (low, high) = match (given, axis.scale) {
            (Some(range), _) => range,
            (None, Scale::Log) => log_range(data.unwrap_or((1.0, 10.0))),
            (None, Scale::Linear) => linear_range(data.unwrap_or((0.0, 1.0)), axis.from_zero),
        };
        Span {
            low,
            high,
            scale: axis.scale,
            from: 0.0,
            to: 1.0,
        }
    }

    /// The same range between other pixels.
    pub fn between(self, from: f64, to: f64) -> Span {
        Span { from, to, ..self }
    }

    /// Pixel of `value`; `None` for one that the axis cannot show. Values far outside lie at most one length outside.
    pub fn place(&self, value: f64) -> Option<f64> {
        if !shows(self.scale, value) {
            return None;
        }
        let part = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
        };
        Some(self.from + (self.to - self.from) * part.clamp(-1.0, 2.0))
    }

    /// Whether `value` lies within the range, with a little more for rounding.
    pub fn holds(&self, value: f64) -> bool {
        let slack = match self.scale {
            Scale::Linear => (self.high - self.low) * 1e-9,
            Scale::Log => value.abs() * 1e-9,
        };
        value >= self.low - slack && value <= self.high + slack
    }
}

/// Whether an axis of this scale has a place for `value`. Beyond 1e300 there is none: margins could overflow.
pub fn shows(scale: Scale, value: f64) -> bool {
    let smallest = match scale {
        Scale::Linear => -LARGEST,
        Scale::Log => 1.0 / LARGEST,
    };
    value >= smallest && value <= LARGEST
}

fn log_range((low, high): (f64, f64)) -> (f64, f64) {
    let (low, high) = if high / low < 1.0 + 1e-9 {
        (low / 2.0, high * 2.0)
    } else {
        (low, high)
    };
    let margin = ((high.ln() - low.ln()) * MARGIN).exp();
    // Far beyond any figure a margin matters no more.
    (
        (low / margin).max(0.1 / LARGEST),
        (high * margin).min(LARGEST * 10.0),
    )
}

fn linear_range((low, high): (f64, f64), from_zero: bool) -> (f64, f64) {
    let (low, high) = if from_zero {
        (low.min(0.0), high.max(0.0))
    } else {
        (low, high)
    };
    let (low, high) = if high - low > f64::max(low.abs(), high.abs()) * 1e-12 {
        (low, high)
    } else {
        let room = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
        (low - room, high + room)
    };
    let margin = (high - low) * MARGIN;
    // An end at zero stays there: a bar or a rate below zero would be nonsense.
    let widen = |end: f64, by: f64| if end == 0.0 { end } else { end + by };
    (widen(low, -margin), widen(high, margin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::Unit;
    use proptest::prelude::*;

    #[test]
    fn ends_lie_at_the_ends() {
        let axis = Axis {
            range: Some((1.0, 1000.0)),
            ..Axis::log("size", Unit::Plain)
        };
        let span = Span::new(&axis, std::iter::empty()).between(100.0, 400.0);
        assert_eq!(span.place(1.0), Some(100.0));
        assert!((span.place(10.0).unwrap() - 200.0).abs() < 1e-9);
        assert_eq!((span.place(0.0), span.place(f64::NAN)), (None, None));
    }

    proptest! {
        #[test]
        fn any_data_has_a_place(values in prop::collection::vec(any::<f64>(), 0..20), log: bool, from_zero: bool) {
            let axis = Axis {
                from_zero,
                scale: if log { Scale::Log } else { Scale::Linear },
                ..Axis::default()
            };
            let span = Span::new(&axis, values.iter().copied()).between(0.0, 500.0);
            prop_assert!(span.low < span.high && span.low.is_finite() && span.high.is_finite());
            for place in values.iter().filter_map(|&value| span.place(value)) {
                prop_assert!((-1.0..=501.0).contains(&place), "{place}");
            }
        }
    }
}
