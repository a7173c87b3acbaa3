//! How values of an axis are written. Decimal and binary prefixes are never mixed on one axis.

use wirespeed_schema::units::{format_ns, format_rate, format_size, significant};

/// Unit of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    /// A number without a unit.
    #[default]
    Plain,
    /// A number with a decimal prefix and this unit: `B`, `B/s`, `msg/s`.
    Si(&'static str),
    /// Bytes with binary prefixes: B, KiB, MiB.
    BinaryBytes,
    /// Nanoseconds, written as ns, µs, ms or s.
    Nanoseconds,
    /// Parts of one, written in per cent.
    Percent,
    /// A share whose rest counts: its place is one over what lies beyond it, so that 90 %, 99 % and 99.9 % lie equally far
    /// apart on a logarithmic axis.
    Beyond,
}

/// Prefixes and their factors, from the largest.
const DECIMAL: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
const TIME: [(f64, &str); 3] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
const BINARY: [(f64, &str); 4] = [
    (1_099_511_627_776.0, "TiB"),
    (1_073_741_824.0, "GiB"),
    (1_048_576.0, "MiB"),
    (1024.0, "KiB"),
];

impl Unit {
    /// `value` by itself, with at most four significant digits.
    pub fn text(self, value: f64) -> String {
        match self {
            Unit::Plain => significant(value, 4),
            Unit::Si(unit) => format_rate(value, unit).trim_end().to_owned(),
            Unit::BinaryBytes if value.fract() == 0.0 && (0.0..9e15).contains(&value) => {
                format_size(value as u64)
            }
            Unit::BinaryBytes => self.text_as(value, self.shared(value)),
            Unit::Nanoseconds => format_ns(value),
            Unit::Percent => format!("{} %", significant(value * 100.0, 4)),
            Unit::Beyond => share_text(value),
        }
    }

    /// Factor and suffix that suit `largest`, to be shared by all ticks of a linear axis.
    pub fn shared(self, largest: f64) -> (f64, String) {
        let find = |table: &[(f64, &str)]| {
            let found = table.iter().find(|(factor, _)| largest.abs() >= *factor * 0.999);
            found.map(|&(factor, prefix)| (factor, prefix.to_owned()))
        };
        match self {
            Unit::Plain | Unit::Beyond => (1.0, String::new()),
            Unit::Si(unit) => {
                let (factor, prefix) = find(&DECIMAL).unwrap_or((1.0, String::new()));
                (factor, format!("{prefix}{unit}"))
            }
            Unit::BinaryBytes => find(&BINARY).unwrap_or((1.0, "B".to_owned())),
            Unit::Nanoseconds => find(&TIME).unwrap_or((1.0, "ns".to_owned())),
            Unit::Percent => (0.01, "%".to_owned()),
        }
    }

    /// `value` with a factor and suffix of [`Unit::shared`].
    pub fn text_as(self, value: f64, (factor, suffix): (f64, String)) -> String {
        if self == Unit::Beyond {
            return share_text(value);
        }
        let number = significant(value / factor, 5);
        format!("{number} {suffix}").trim_end().to_owned()
    }

    /// What stands behind the name of an axis in data: the unit of its bare values.
    pub fn of_values(self) -> String {
        match self {
            Unit::Plain | Unit::Si("") => String::new(),
            Unit::Si(unit) => format!(" ({unit})"),
            Unit::BinaryBytes => " (B)".to_owned(),
            Unit::Nanoseconds => " (ns)".to_owned(),
            Unit::Percent | Unit::Beyond => " (ratio)".to_owned(),
        }
    }

    /// What a place on the axis stands for, in data.
    pub fn value(self, place: f64) -> f64 {
        match self {
            // Rounded, so that 90 % is 0.9 and no neighbour of it.
            Unit::Beyond => ((1.0 - 1.0 / place) * 1e12).round() / 1e12,
            _ => place,
        }
    }

    /// Powers of two make better ticks than powers of ten.
    pub fn is_binary(self) -> bool {
        self == Unit::BinaryBytes
    }
}

/// `99.98 %`: what lies beyond, with two digits, tells shares apart.
fn share_text(place: f64) -> String {
    let beyond_percent = 100.0 / place;
    let decimals = (1.0 - beyond_percent.log10().floor()).clamp(0.0, 10.0) as usize;
    let share = format!("{:.decimals$}", 100.0 - beyond_percent);
    let share = match share.contains('.') {
        true => share.trim_end_matches('0').trim_end_matches('.'),
        false => &share,
    };
    format!("{share} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_off_as_shares() {
        for (place, share, text) in [
            (1.0 / 0.9, 0.1, "10 %"),
            (2.0, 0.5, "50 %"),
            (10.0, 0.9, "90 %"),
            (1.0 / 0.01, 0.99, "99 %"),
            (1.0 / 1e-3, 0.999, "99.9 %"),
            (1.0 / 1e-5, 0.99999, "99.999 %"),
            (5736.0, 0.999825662483, "99.983 %"),
        ] {
            assert_eq!(Unit::Beyond.value(place), share);
            assert_eq!(Unit::Beyond.text(place), text);
        }
        assert_eq!(Unit::Nanoseconds.value(1.5), 1.5);
    }
}
