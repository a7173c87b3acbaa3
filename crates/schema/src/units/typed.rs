//! Sizes, durations, counts, lists and ranges as people type them.

use super::format_size_exact;
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
