//! Sizes, durations, lists and ranges as people type them, and numbers as people read them.
//!
//! Sizes: bare `K M G T` and `KiB MiB ..` are binary, `kB MB GB` decimal. Durations: `250ns 10us 500ms 10s 2m`.
//! Lists: `64,1K`. Ranges: `8..1M:x2` (times 2), `1..9:+2` (plus 2), both ends included.

use std::fmt::Write as _;
use std::time::Duration;

/// A quantity that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{input:?} is not a {expected}")]
pub struct UnitError {
    /// What was typed.
    pub input: String,
    /// What it should have been, with examples.
    pub expected: &'static str,
}

/// Values that one range may expand to.
pub const RANGE_VALUES_MAX: usize = 10_000;

const SIZE: &str = "size (such as 64, 8K, 1MiB, 10MB)";
const DURATION: &str = "duration (such as 500ms, 10s, 2m)";
const COUNT: &str = "count (such as 1000, 10k, 1e6)";
const RANGE: &str = "range (such as 8..1M:x2 or 1..9:+2)";

/// `time` in nanoseconds; what no number holds is as much as one can.
pub fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn refused(input: &str, expected: &'static str) -> UnitError {
    UnitError {
        input: input.into(),
        expected,
    }
}

fn split_number(input: &str) -> (&str, &str) {
    let end = input
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')
        .unwrap_or(input.len());
    input.split_at(end)
}

/// `number * factor` as an exact integer; fractions are allowed where they give one (`1.5K`).
fn scaled(number: &str, factor: u64) -> Option<u64> {
    let digits = number.replace('_', "");
    if let Ok(whole) = digits.parse::<u64>() {
        return whole.checked_mul(factor);
    }
    let (whole, fraction) = digits.split_once('.')?;
    let number = |text: &str| match text.is_empty() {
        true => Some(0),
        false => text.parse::<u128>().ok(),
    };
    let parts = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let all = number(whole)?
        .checked_mul(parts)?
        .checked_add(number(fraction)?)?;
    let scaled = all.checked_mul(factor.into())?;
    let is_exact = scaled % parts == 0 && digits.len() > 1;
    u64::try_from(scaled / parts).ok().filter(|_| is_exact)
}

/// A size in bytes.
pub fn parse_size(input: &str) -> Result<u64, UnitError> {
    let fail = || refused(input, SIZE);
    let (number, unit) = split_number(input.trim());
    let factor: u64 = match unit.trim() {
        "" | "B" | "b" => 1,
        "K" | "k" | "Ki" | "KiB" => 1 << 10,
        "M" | "m" | "Mi" | "MiB" => 1 << 20,
        "G" | "g" | "Gi" | "GiB" => 1 << 30,
        "T" | "t" | "Ti" | "TiB" => 1 << 40,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => return Err(fail()),
    };
    scaled(number, factor).ok_or_else(fail)
}

/// A duration in nanoseconds. A bare number is refused: it has no unit.
pub fn parse_duration_ns(input: &str) -> Result<u64, UnitError> {
    let fail = || refused(input, DURATION);
    let (number, unit) = split_number(input.trim());
    let factor: u64 = match unit.trim() {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return Err(fail()),
    };
    scaled(number, factor).ok_or_else(fail)
}

/// A count of messages, operations or repetitions; decimal suffixes and exponents allowed.
pub fn parse_count(input: &str) -> Result<u64, UnitError> {
    let fail = || refused(input, COUNT);
    let text = input.trim();
    if let Some((mantissa, exponent)) = text.split_once(['e', 'E']) {
        let power = exponent
            .parse::<u32>()
            .ok()
            .and_then(|e| 10u64.checked_pow(e))
            .ok_or_else(fail)?;
        return scaled(mantissa, power).ok_or_else(fail);
    }
    let (number, unit) = split_number(text);
    let factor = match unit {
        "" => 1,
        "k" | "K" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        _ => return Err(fail()),
    };
    scaled(number, factor).ok_or_else(fail)
}

/// A number as protocols write it: digits, and nothing else.
pub fn parse_digits(text: &str) -> Option<u64> {
    let value = text.parse().ok();
    value.filter(|_| text.bytes().all(|b| b.is_ascii_digit()))
}

/// Split a list of sizes at its commas and expand its ranges; the elements keep the user's spelling where they are not
/// ranges.
pub fn expand_list(input: &str) -> Result<Vec<String>, UnitError> {
    expand(input, parse_size, format_size_exact)
}

/// As [`expand_list`], for counts: ranges are read and written in decimal (`1..4k:x2`).
pub fn expand_counts(input: &str) -> Result<Vec<String>, UnitError> {
    expand(input, parse_count, |count| count.to_string())
}

type ParseFn = fn(&str) -> Result<u64, UnitError>;
type FormatFn = fn(u64) -> String;

fn expand(input: &str, parse: ParseFn, format: FormatFn) -> Result<Vec<String>, UnitError> {
    let mut values = Vec::new();
    for element in input.split(',').map(str::trim) {
        if element.is_empty() {
            return Err(refused(input, "list without empty elements"));
        }
        match element.split_once("..") {
            Some((first, rest)) => values.extend(expand_range(element, (first, rest), parse, format)?),
            None => values.push(element.to_owned()),
        }
        if values.len() > RANGE_VALUES_MAX {
            return Err(refused(input, "list of at most 10000 values"));
        }
    }
    Ok(values)
}

fn expand_range(
    input: &str,
    (first, rest): (&str, &str),
    parse: ParseFn,
    format: FormatFn,
) -> Result<Vec<String>, UnitError> {
    let fail = || refused(input, RANGE);
    let (last, step) = rest.split_once(':').unwrap_or((rest, "x2"));
    let (first, last) = (
        parse(first).map_err(|_| fail())?,
        parse(last).map_err(|_| fail())?,
    );
    let (times, amount) = match step.strip_prefix(['x', '*']) {
        Some(factor) => (true, parse_count(factor).map_err(|_| fail())?),
        None => (
            false,
            parse(step.strip_prefix('+').ok_or_else(fail)?).map_err(|_| fail())?,
        ),
    };
    if first > last || (times && (amount < 2 || first == 0)) || (!times && amount == 0) {
        return Err(fail());
    }
    let mut values = Vec::new();
    let mut value = first;
    while value <= last {
        values.push(format(value));
        if values.len() > RANGE_VALUES_MAX {
            return Err(fail());
        }
        let next = if times {
            value.checked_mul(amount)
        } else {
            value.checked_add(amount)
        };
        match next {
            Some(next) => value = next,
            None => break,
        }
    }
    Ok(values)
}

/// The shortest text that [`parse_size`] reads back as exactly `bytes`: `64`, `8K`, `1M`, `1000`.
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

/// A whole number of the largest unit that [`parse_duration_ns`] reads back as exactly `ns`: `90s`, `1500ms`, `250us`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("64"), Ok(64));
        assert_eq!(parse_size("8K"), Ok(8192));
        assert_eq!(parse_size("1.5K"), Ok(1536));
        assert_eq!(parse_size("10MB"), Ok(10_000_000));
        assert_eq!(parse_size("1GiB"), Ok(1 << 30));
        for bad in ["", "x", "8x", "-1", "1.3", "99999999999T", "8 parsecs", "1..2"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(parse_duration_ns("500ms"), Ok(500_000_000));
        assert_eq!(parse_duration_ns("1.5s"), Ok(1_500_000_000));
        assert!(parse_duration_ns("10").is_err());
        assert!(parse_duration_ns("-1s").is_err());
        // Whatever is a whole number of nanoseconds is taken, though no binary fraction is it.
        for tenths in 0..1_000u64 {
            let text = format!("{}.{}", tenths / 10, tenths % 10);
            assert_eq!(
                parse_duration_ns(&format!("{text}s")),
                Ok(tenths * 100_000_000),
                "{text}"
            );
            assert_eq!(
                parse_duration_ns(&format!("{text}ms")),
                Ok(tenths * 100_000),
                "{text}"
            );
            assert_eq!(parse_count(&format!("{text}k")), Ok(tenths * 100), "{text}");
            assert_eq!(parse_size(&format!("{text}kB")), Ok(tenths * 100), "{text}");
        }
        for bad in [
            ".s",
            "1.5.5s",
            "0.1ns",
            "1.23456789012s",
            "1.+5s",
            "99999999999999999999.5s",
        ] {
            assert!(parse_duration_ns(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(parse_count("1e6"), Ok(1_000_000));
        assert_eq!(parse_count("10k"), Ok(10_000));
        assert!(parse_count("1e99").is_err());
        assert!(parse_count("abc").is_err());
    }

    #[test]
    fn every_suffix_has_its_factor() {
        let sizes = [
            ("3", 1),
            ("3B", 1),
            ("3 b", 1),
            ("3K", 1 << 10),
            ("3ki", 0),
            ("3KiB", 1 << 10),
            ("3M", 1 << 20),
            ("3 MiB", 1 << 20),
            ("3g", 1 << 30),
            ("3Ti", 1 << 40),
            ("3kB", 1_000),
            ("3KB", 1_000),
            ("3MB", 1_000_000),
            ("3GB", 1_000_000_000),
            ("3TB", 1_000_000_000_000),
            ("3mb", 0),
        ];
        for (text, factor) in sizes {
            let expected = (factor > 0).then_some(3 * factor);
            assert_eq!(parse_size(text).ok(), expected, "{text}");
        }
        let durations = [
            ("2ns", 2),
            ("2us", 2_000),
            ("2 µs", 2_000),
            ("2ms", 2_000_000),
            ("2s", 2_000_000_000),
            ("2m", 120_000_000_000),
            ("2min", 120_000_000_000),
            ("2h", 7_200_000_000_000),
        ];
        for (text, ns) in durations {
            assert_eq!(parse_duration_ns(text), Ok(ns), "{text}");
        }
        let counts = [
            ("7", 7),
            ("7k", 7_000),
            ("7K", 7_000),
            ("7M", 7_000_000),
            ("7G", 7_000_000_000),
            ("7E2", 700),
            ("1.5e3", 1_500),
            ("1_000", 1_000),
        ];
        for (text, count) in counts {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
    }

    #[test]
    fn units_change_at_their_thousand() {
        let times = [999.9, 1e3, 999_900.0, 1e6, 999.9e6, 1e9, -2e6, 3.6e12].map(format_ns);
        let said = [
            "999.9 ns",
            "1 µs",
            "999.9 µs",
            "1 ms",
            "999.9 ms",
            "1 s",
            "-2 ms",
            "3600 s",
        ];
        assert_eq!(times, said);
        let rates =
            [999.9, 1e3, 999.9e3, 1e6, 999.9e6, 1e9, 999.9e9, 1e12, 5e15].map(|r| format_rate(r, "B/s"));
        let said = [
            "999.9 B/s",
            "1 kB/s",
            "999.9 kB/s",
            "1 MB/s",
            "999.9 MB/s",
            "1 GB/s",
            "999.9 GB/s",
            "1 TB/s",
            "5000 TB/s",
        ];
        assert_eq!(rates, said);
        let sizes = [1023, 1024, 1 << 20, 1 << 30, 1 << 40, 1 << 50, 1 << 60].map(format_size);
        let said = ["1023 B", "1 KiB", "1 MiB", "1 GiB", "1 TiB", "1 PiB", "1024 PiB"];
        assert_eq!(sizes, said);
        let exact = [0, 1, 1000, 1 << 10, 1 << 20, 3 << 30, 1 << 40, (1 << 40) + 1].map(format_size_exact);
        assert_eq!(exact, ["0", "1", "1000", "1K", "1M", "3G", "1T", "1099511627777"]);
        let digits =
            [(1234.5, 4), (0.001234, 2), (1.0, 3), (0.5, 1), (-12.34, 3)].map(|(v, d)| significant(v, d));
        assert_eq!(digits, ["1234", "0.0012", "1", "0.5", "-12.3"]);
        let grouped = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(grouped, ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn lists_and_ranges() {
        assert_eq!(expand_list("8..64:x2").unwrap(), ["8", "16", "32", "64"]);
        assert_eq!(expand_list("1..9:+4").unwrap(), ["1", "5", "9"]);
        assert_eq!(expand_list("64,1K..4K").unwrap(), ["64", "1K", "2K", "4K"]);
        assert_eq!(expand_counts("1k..4k:x2").unwrap(), ["1000", "2000", "4000"]);
        for most in ["1..9999:+1,7", "1..10000:+1"] {
            assert_eq!(expand_list(most).unwrap().len(), RANGE_VALUES_MAX, "{most}");
        }
        for more in ["1..9999:+1,7,8", "1..9999:+1,1..9999:+1"] {
            assert!(expand_list(more).is_err(), "{more}");
        }
        for bad in [
            "8..4", "0..8:x2", "8..64:x1", "1..9:+0", "1..x", ",", "1..9:2", "1..1T:+1",
        ] {
            assert!(expand_list(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(format_ns(1873.2), "1.873 µs");
        assert_eq!(format_size(1536), "1.5 KiB");
        let asked = [8, 1000, 1500, 1536, 4000, 65_507, 65_536, 1_500_000, 10_000_000].map(format_asked_size);
        let said = [
            "8 B", "1000 B", "1500 B", "1.5 KiB", "4 kB", "65507 B", "64 KiB", "1500 kB", "10 MB",
        ];
        assert_eq!(asked, said);
        assert_eq!(format_rate(126e6, "msg/s"), "126 Mmsg/s");
        assert_eq!(significant(0.0, 3), "0");
        assert_eq!(
            [1, 2, 1000].map(|n| counted(n, "run")),
            ["1 run", "2 runs", "1,000 runs"]
        );
        assert_eq!([1, 2].map(often), ["once", "2 times"]);
        let exact = [90_000_000_000, 1_500_000_000, 250_000, 7, 0].map(format_duration_exact);
        assert_eq!(exact, ["90s", "1500ms", "250us", "7ns", "0ns"]);
    }

    proptest! {
        #[test]
        fn exact_sizes_read_back(bytes in any::<u64>()) {
            prop_assert_eq!(parse_size(&format_size_exact(bytes)), Ok(bytes));
        }

        #[test]
        fn nothing_panics(input in ".{0,30}") {
            let _ = (parse_size(&input), parse_duration_ns(&input), parse_count(&input), expand_list(&input));
        }
    }

    #[test]
    fn numbers_of_protocols_are_digits_and_nothing_else() {
        for (text, expected) in [("0", Some(0)), ("42", Some(42)), ("007", Some(7))] {
            assert_eq!(parse_digits(text), expected, "{text}");
        }
        for wrong in ["", "+2", "-1", " 2", "2 ", "1e3", "0x1", "18446744073709551616"] {
            assert_eq!(parse_digits(wrong), None, "{wrong:?}");
        }
    }
}
