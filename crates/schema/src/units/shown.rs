//! Sizes, durations, rates and counts as people read them.

use std::fmt::Write as _;

/// The shortest text that [`parse_size`](super::parse_size) reads back as exactly `bytes`: `64`, `8K`, `1M`, `1000`.
pub fn format_size_exact(bytes: u64) -> String {
    for (shift, unit) in [(40u32, "T"), (30, "G"), (20, "M"), (10, "K")] {
        if bytes >> shift > 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// The size of a message or block, as it was asked for: `64 B`, `1.5 KiB`, `4 kB`, `1500 B`. It hides no byte of a size
/// below a megabyte: two sizes never look alike.
///
/// ```
/// use wirespeed_schema::units::format_asked_size;
/// assert_eq!(format_asked_size(65_507), "65507 B");
/// assert_eq!(format_asked_size(65_536), "64 KiB");
/// ```
pub fn format_asked_size(bytes: u64) -> String {
    let whole = |unit: u64| (bytes.is_multiple_of(unit) && bytes / unit < 10_000).then_some(bytes / unit);
    if bytes < 1024 || bytes.is_multiple_of(512) {
        return format_size(bytes);
    }
    match (whole(1_000_000), whole(1000)) {
        (Some(mb), _) => format!("{mb} MB"),
        (None, Some(kb)) => format!("{kb} kB"),
        // No comma: whoever copies it into --size would measure two sizes.
        (None, None) if bytes < 1_000_000 => format!("{bytes} B"),
        (None, None) => format_size(bytes),
    }
}

/// A size for people: `64 B`, `8 KiB`, `1.5 MiB`; at most four significant digits.
pub fn format_size(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64;
    let mut unit = "B";
    for next in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    format!("{} {unit}", significant(value, 4))
}

/// A duration for people: `81.4 ns`, `1.873 µs`, `2.5 s`; at most four significant digits.
pub fn format_ns(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        v if v < 1e3 => (ns, "ns"),
        v if v < 1e6 => (ns / 1e3, "µs"),
        v if v < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", significant(value, 4))
}

/// A whole number of the largest unit that [`parse_duration_ns`](super::parse_duration_ns) reads back as exactly `ns`: `90s`, `1500ms`, `250us`.
///
/// ```
/// use wirespeed_schema::units::format_duration_exact;
/// assert_eq!(format_duration_exact(90_000_000_000), "90s");
/// ```
pub fn format_duration_exact(ns: u64) -> String {
    for (unit_ns, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us")] {
        if ns.is_multiple_of(unit_ns) && ns > 0 {
            return format!("{}{unit}", ns / unit_ns);
        }
    }
    format!("{ns}ns")
}

/// A decimal rate for people: `12.3 M` + `unit`.
pub fn format_rate(per_second: f64, unit: &str) -> String {
    let (value, prefix) = match per_second.abs() {
        v if v < 1e3 => (per_second, ""),
        v if v < 1e6 => (per_second / 1e3, "k"),
        v if v < 1e9 => (per_second / 1e6, "M"),
        v if v < 1e12 => (per_second / 1e9, "G"),
        _ => (per_second / 1e12, "T"),
    };
    format!("{} {prefix}{unit}", significant(value, 4))
}

/// A count with a comma before every third digit: `261,632`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 host`, `16 hosts`.
pub fn counted(number: u64, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {what}{ending}", grouped(number))
}

/// The same of what need not be whole: `1 core`, `0.5 cores`.
pub fn counted_about(number: f64, digits: usize, what: &str) -> String {
    let number = significant(number, digits);
    let ending = if number == "1" { "" } else { "s" };
    format!("{number} {what}{ending}")
}

/// How often something happened: `once`, `16 times`.
pub fn often(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        number => format!("{} times", grouped(number)),
    }
}

/// `value` with `digits` significant digits, trailing zeros of the fraction removed.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = (digits as i32 - 1 - magnitude).max(0) as usize;
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write!(text, "{value:.decimals$}");
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    text
}
