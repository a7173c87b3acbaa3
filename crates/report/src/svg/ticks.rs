//! Where an axis has ticks, and what they say: round numbers, few enough to be read.

use super::scale::Span;
use super::unit::Unit;
use super::{Axis, Scale};

/// A tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Its value.
    pub value: f64,
    /// Its text.
    pub label: String,
}

/// Ticks of `axis` over `span`: its own where it has some, else computed ones, about `count` and at most one more.
pub fn ticks(axis: &Axis, span: &Span, count: usize) -> Vec<Tick> {
    if !axis.ticks.is_empty() {
        let shown = axis.ticks.iter().filter(|(value, _)| span.holds(*value));
        return shown
            .map(|(value, label)| Tick {
                value: *value,
                label: label.clone(),
            })
            .collect();
    }
    let count = count.max(2);
    let log = match axis.scale {
        Scale::Linear => Vec::new(),
        Scale::Log if axis.unit.is_binary() => powers_of_two(span, count),
        Scale::Log => decades(span, count),
    };
    if log.len() >= 2 {
        return log
            .into_iter()
            .map(|value| Tick {
                value,
                label: axis.unit.text(value),
            })
            .collect();
    }
    linear(axis.unit, span, count)
}

/// Powers of two, every one, every second, and so on until there are few enough.
fn powers_of_two(span: &Span, count: usize) -> Vec<f64> {
    let (first, last) = (span.low.log2().ceil() as i32, span.high.log2().floor() as i32);
    let step = (1..)
        .find(|step| (last - first) / step < count as i32)
        .unwrap_or(1);
    (first..=last)
        .filter(|exponent| exponent.rem_euclid(step) == 0)
        .map(|exponent| 2f64.powi(exponent))
        .collect()
}

/// 1, 2, 5 of every decade; else every decade, every second, and so on until there are few enough.
fn decades(span: &Span, count: usize) -> Vec<f64> {
    let (first, last) = (span.low.log10().floor() as i32, span.high.log10().floor() as i32);
    let every = |step: i32, parts: &[f64]| -> Vec<f64> {
        (first..=last)
            .filter(|exponent| exponent.rem_euclid(step) == 0)
            .flat_map(|exponent| parts.iter().map(move |part| decimal(*part, exponent)))
            .filter(|value| span.holds(*value))
            .collect()
    };
    let fine = every(1, &[1.0, 2.0, 5.0]);
    if fine.len() <= count {
        return fine;
    }
    let coarse = (1..).map(|step| every(step, &[1.0]));
    coarse
        .take(400)
        .find(|values| values.len() <= count)
        .unwrap_or_default()
}

/// `part` x 10^`exponent`, rounded as its literal would be.
fn decimal(part: f64, exponent: i32) -> f64 {
    if exponent >= 0 {
        part * 10f64.powi(exponent)
    } else {
        part / 10f64.powi(-exponent)
    }
}

/// Multiples of 1, 2 or 5 times a power of ten (of two for binary units), in one common prefix.
fn linear(unit: Unit, span: &Span, count: usize) -> Vec<Tick> {
    let width = span.high - span.low;
    if !width.is_finite() || width <= 0.0 {
        return Vec::new();
    }
    let shared = unit.shared(span.low.abs().max(span.high.abs()));
    let raw = width / shared.0 / count as f64;
    let step = shared.0
        * if unit.is_binary() {
            2f64.powi(raw.log2().ceil() as i32)
        } else {
            round_step(raw)
        };
    let first = (span.low / step - 1e-9).ceil();
    (0..=count + 1)
        .map(|index| (first + index as f64) * step + 0.0)
        .filter(|value| span.holds(*value))
        .map(|value| Tick {
            value,
            label: if value.abs() < step * 1e-9 {
                "0".to_owned()
            } else {
                unit.text_as(value, shared.clone())
            },
        })
        .collect()
}

/// The smallest of 1, 2, 5 times a power of ten that is not below `raw`.
fn round_step(raw: f64) -> f64 {
    let exponent = raw.log10().floor() as i32;
    let found = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|part| decimal(part, exponent))
        .find(|step| *step >= raw * (1.0 - 1e-9));
    found.unwrap_or(raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(axis: &Axis, low: f64, high: f64, count: usize) -> Vec<String> {
        let axis = Axis {
            range: Some((low, high)),
            ..axis.clone()
        };
        let span = Span::new(&axis, std::iter::empty());
        ticks(&axis, &span, count)
            .into_iter()
            .map(|tick| tick.label)
            .collect()
    }

    #[test]
    fn sizes_get_powers_of_two() {
        let axis = Axis::log("size", Unit::BinaryBytes);
        assert_eq!(
            labels(&axis, 1.0, 1048576.0, 8),
            ["1 B", "8 B", "64 B", "512 B", "4 KiB", "32 KiB", "256 KiB"]
        );
        assert_eq!(labels(&axis, 60.0, 300.0, 8), ["64 B", "128 B", "256 B"]);
    }

    #[test]
    fn decimal_axes_get_round_numbers() {
        let rate = Axis::log("bandwidth", Unit::Si("B/s"));
        assert_eq!(
            labels(&rate, 9e5, 2.1e9, 6),
            ["1 MB/s", "10 MB/s", "100 MB/s", "1 GB/s"]
        );
        assert_eq!(
            labels(&rate, 9e5, 2.1e7, 6),
            ["1 MB/s", "2 MB/s", "5 MB/s", "10 MB/s", "20 MB/s"]
        );
        assert_eq!(
            labels(&rate, 3.1e6, 3.9e6, 5),
            ["3.2 MB/s", "3.4 MB/s", "3.6 MB/s", "3.8 MB/s"]
        );
        let time = Axis::linear("time", Unit::Nanoseconds);
        assert_eq!(
            labels(&time, 0.0, 2100.0, 5),
            ["0", "0.5 µs", "1 µs", "1.5 µs", "2 µs"]
        );
        assert_eq!(
            labels(&Axis::linear("share", Unit::Percent), -0.2, 0.2, 4),
            ["-20 %", "-10 %", "0", "10 %", "20 %"]
        );
    }

    proptest! {
        #[test]
        fn any_range_has_few_ticks_in_order(a in any::<f64>(), b in any::<f64>(), log: bool, binary: bool, count in 2usize..12) {
            let axis = Axis {
                scale: if log { Scale::Log } else { Scale::Linear },
                unit: if binary { Unit::BinaryBytes } else { Unit::Nanoseconds },
                ..Axis::default()
            };
            let span = Span::new(&axis, [a, b].into_iter());
            let ticks = ticks(&axis, &span, count);
            prop_assert!(ticks.len() <= count + 1, "{ticks:?}");
            prop_assert!(ticks.windows(2).all(|pair| pair[0].value < pair[1].value), "{ticks:?}");
        }
    }
}
