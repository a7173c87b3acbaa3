//! Figures as people read them: with unit and four significant digits, the interval in the same unit where it can be.

use crate::wording::percent;
use wirespeed_schema::run::Metric;
use wirespeed_schema::units::{format_ns, format_rate, significant};

/// `1.873 µs`.
pub(crate) fn duration(metric: Option<&Metric>) -> String {
    metric
        .map(|metric| format_ns(metric.value.get()))
        .unwrap_or_default()
}

/// `12.3 Mmsg/s`.
pub(crate) fn rate(metric: Option<&Metric>, unit: &str) -> String {
    metric
        .map(|metric| format_rate(metric.value.get(), unit))
        .unwrap_or_default()
}

/// `1.2 M`: counts of samples.
pub(crate) fn count(samples: u64) -> String {
    format_rate(samples as f64, "").trim_end().to_owned()
}

/// A figure with its interval, in the unit that its tag ends with: `1.873 µs [1.868, 1.881]`; a range without a level (the
/// spread of few runs) stands in braces: `12.3 Mmsg/s {12.2 .. 12.5}`.
pub(crate) fn with_interval(tag: &str, metric: &Metric) -> String {
    let format = |value: f64| figure_text(tag, value);
    let (value, ends) = (format(metric.value.get()), interval(metric, format));
    format!("{value} {ends}").trim_end().to_owned()
}

/// `[1.868, 1.881]`, or in braces without a level; in the figure's unit where both ends have it too. Empty without ends.
fn interval(metric: &Metric, format: impl Fn(f64) -> String) -> String {
    let (Some(lower), Some(upper)) = (metric.lower, metric.upper) else {
        return String::new();
    };
    let value = format(metric.value.get());
    let (lower, upper) = (format(lower.get()), format(upper.get()));
    let split = |text: &str| {
        text.split_once(' ')
            .map(|(number, unit)| (number.to_owned(), unit.to_owned()))
    };
    let ends = match (split(&value), split(&lower), split(&upper)) {
        (Some((_, unit)), Some((low, low_unit)), Some((high, high_unit)))
            if low_unit == unit && high_unit == unit =>
        {
            (low, high)
        }
        _ => (lower, upper),
    };
    match metric.level {
        Some(_) => format!("[{}, {}]", ends.0, ends.1),
        None => format!("{{{} .. {}}}", ends.0, ends.1),
    }
}

/// The interval of a duration alone.
pub(crate) fn duration_interval(metric: Option<&Metric>) -> String {
    metric
        .map(|metric| interval(metric, format_ns))
        .unwrap_or_default()
}

/// The interval of a rate alone.
pub(crate) fn rate_interval(metric: Option<&Metric>, unit: &str) -> String {
    metric
        .map(|metric| interval(metric, |value| format_rate(value, unit)))
        .unwrap_or_default()
}

/// A value of a figure in the unit that its tag ends with.
pub fn figure_text(tag: &str, value: f64) -> String {
    match tag {
        _ if tag.ends_with("_ns") || tag.ends_with("_per_message") => format_ns(value),
        _ if tag.ends_with("_bytes_per_s") => format_rate(value, "B/s"),
        _ if tag.ends_with("_msg_per_s") => format_rate(value, "msg/s"),
        _ if tag.ends_with("_ratio") => percent(value),
        _ => significant(value, 4),
    }
}

/// A tag as people say it: `rtt_p999_ns` is "RTT p99.9", `rate_msg_per_s` is "message rate".
pub fn spoken(tag: &str) -> String {
    let units = ["_bytes_per_s", "_msg_per_s", "_per_s", "_ns"];
    let bare = units
        .iter()
        .find_map(|unit| tag.strip_suffix(unit))
        .unwrap_or(tag);
    let word = |word: &str| {
        match word {
            "rtt" => "RTT",
            "cpu" => "CPU",
            "rate" => "message rate",
            "p999" => "p99.9",
            "p9999" => "p99.99",
            other => other,
        }
        .to_owned()
    };
    bare.split('_').map(word).collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::finite::Finite;

    fn metric(value: f64, ends: Option<(f64, f64)>, level: Option<f64>) -> Metric {
        Metric {
            value: Finite::new(value).unwrap(),
            lower: ends.map(|(lower, _)| Finite::new(lower).unwrap()),
            upper: ends.map(|(_, upper)| Finite::new(upper).unwrap()),
            level: level.map(|level| Finite::new(level).unwrap()),
            samples: 7,
            derived: false,
        }
    }

    #[test]
    fn intervals_share_the_unit_of_their_figure() {
        let figure = metric(1873.2, Some((1868.4, 1881.0)), Some(0.96));
        assert_eq!(with_interval("_ns", &figure), "1.873 µs [1.868, 1.881]");
        let figure = metric(1873.2, Some((868.4, 1881.0)), Some(0.96));
        assert_eq!(with_interval("_ns", &figure), "1.873 µs [868.4 ns, 1.881 µs]");
        let spread = metric(12.3e6, Some((12.2e6, 12.5e6)), None);
        assert_eq!(with_interval("_msg_per_s", &spread), "12.3 Mmsg/s {12.2 .. 12.5}");
        assert_eq!(
            with_interval("_ns", &metric(0.0, Some((0.0, 3.0)), Some(0.95))),
            "0 ns [0, 3]"
        );
        assert_eq!(duration(None), "");
        assert_eq!(count(1_200_000), "1.2 M");
    }

    #[test]
    fn tags_are_spoken_without_their_units() {
        for (tag, said) in [
            ("rtt_p50_ns", "RTT p50"),
            ("completion_p999_ns", "completion p99.9"),
            ("rate_msg_per_s", "message rate"),
            ("bandwidth_bytes_per_s", "bandwidth"),
            ("cpu_ns_per_message", "CPU ns per message"),
        ] {
            assert_eq!(spoken(tag), said);
        }
        for tag in crate::tags::ALL {
            assert!(!spoken(tag.name).contains('_'), "{}", tag.name);
        }
    }
}
