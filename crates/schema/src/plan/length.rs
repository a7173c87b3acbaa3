//! How long a case lasts and what is kept of it: iterations or time, warm-up, reports, raw samples, checking.

use super::error::PlanError;
use crate::case::{DURATION_NS, Stop, WARMUP_ITERATIONS, WARMUP_NS};
use crate::parameter::{Parameter, Section};
use crate::units;
use crate::words::Words;

/// `--iters`.
pub static ITERS: Parameter = Parameter {
    key: "iters",
    letters: &['n'],
    section: Section::Test,
    help: "Stop after N operations instead of a time: 1000, 10k, 1e6",
    remedy: "give a count of at least 1, such as 1000, 10k or 1e6, or use --duration",
    example: "iters = \"10k\"",
    ..Parameter::COUNT
};

/// `--duration`.
pub static DURATION: Parameter = Parameter {
    key: "duration",
    letters: &['t'],
    value_name: "TIME",
    section: Section::Test,
    help: "Stop after this long: 500ms, 10s, 2m [default: 1s]",
    remedy: "give a duration with its unit, such as 500ms, 10s or 2m, at least 1ms",
    example: "duration = \"500ms\"",
    ..Parameter::NAME
};

/// `--warmup`.
pub static WARMUP: Parameter = Parameter {
    key: "warmup",
    value_name: "N|TIME",
    section: Section::Test,
    help: "Operations or time before anything counts: 10k, 100ms, 0 for the least: one, or none with posted messages [default: 10000 operations, at most 100ms]",
    remedy: "give a count such as 10k, a duration such as 100ms, both as 10k<100ms, or 0 for the least",
    example: "warmup = \"100ms\"",
    ..Parameter::COUNT
};

/// `--interval`.
pub static INTERVAL: Parameter = Parameter {
    key: "interval",
    letters: &['i'],
    value_name: "TIME",
    section: Section::Test,
    help: "Report at this interval while a case runs, for --ndjson and the JSON result: 1s [default: no reports]",
    remedy: "give a duration such as 1s, or none",
    example: "interval = \"100ms\"",
    ..Parameter::NAME
};

/// `--raw`.
pub static RAW: Parameter = Parameter {
    key: "raw",
    section: Section::Test,
    help: "Keep the first N raw samples of every rank in the JSON result, at most 10M [default: 0]",
    remedy: "give the number of samples to keep, such as 100k, at most 10M, or 0 for none",
    example: "raw = \"1k\"",
    ..Parameter::COUNT
};

/// `--check`.
pub static CHECK: Parameter = Parameter {
    key: "check",
    section: Section::Test,
    help: "Check every payload byte and every fetched value; wrong data exits with 6 [default: no check]",
    example: "check = true",
    ..Parameter::FLAG
};

const DURATION_NS_MIN: u64 = 1_000_000;
const DURATION_NS_MAX: u64 = 7 * 86_400 * 1_000_000_000;
/// Time limit of a warm-up where the user gave only a count: an hour.
pub const WARMUP_NS_MAX: u64 = 3_600 * 1_000_000_000;
/// Limit of a warm-up's operations where the user gave only a time: the largest count that every JSON reader keeps exact.
pub const WARMUP_ITERATIONS_MAX: u64 = 1 << 53;
/// Raw samples of a rank: what it may tell in one outcome.
const RAW_MAX: u64 = 10_000_000;

/// When a case ends; `own` is how many iterations its definition has, where the user says nothing.
pub(super) fn stop(words: &Words, own: Option<u64>) -> Result<Stop, PlanError> {
    let count = words.count(&ITERS, 1..=u64::MAX)?;
    let duration_ns = time(words, &DURATION)?;
    Ok(match (count, duration_ns, own) {
        (Some(count), ..) | (None, None, Some(count)) => Stop::Iterations { count },
        (None, Some(duration_ns), _) => Stop::Duration { duration_ns },
        (None, None, None) => Stop::Duration {
            duration_ns: DURATION_NS,
        },
    })
}

fn time(words: &Words, parameter: &'static Parameter) -> Result<Option<u64>, PlanError> {
    words.read(parameter, |text| {
        let ns = units::parse_duration_ns(text).ok()?;
        (DURATION_NS_MIN..=DURATION_NS_MAX).contains(&ns).then_some(ns)
    })
}

/// Iterations and time at which warm-up ends, whichever comes first; `own` is the count of the test's definition.
pub(super) fn warmup(words: &Words, own: Option<u64>) -> Result<(u64, u64), PlanError> {
    let default = own.map_or((WARMUP_ITERATIONS, WARMUP_NS), |count| match count {
        0 => (0, 0),
        count => (count, WARMUP_NS_MAX),
    });
    Ok(words.read(&WARMUP, parse_warmup)?.unwrap_or(default))
}

fn parse_warmup(text: &str) -> Option<(u64, u64)> {
    let count = |text: &str| {
        let count = units::parse_count(text).ok()?;
        (count <= WARMUP_ITERATIONS_MAX).then_some(count)
    };
    let time = |text: &str| {
        let ns = units::parse_duration_ns(text).ok()?;
        (ns <= WARMUP_NS_MAX).then_some(ns)
    };
    let both = match text.split_once('<') {
        Some((first, second)) => (count(first)?, time(second)?),
        None => match count(text) {
            Some(count) => (count, WARMUP_NS_MAX),
            None => (WARMUP_ITERATIONS_MAX, time(text)?),
        },
    };
    Some(match both {
        (0, _) | (_, 0) => (0, 0),
        both => both,
    })
}

/// Time between two reports; 0 for none.
pub(super) fn interval_ns(words: &Words) -> Result<u64, PlanError> {
    match words.get(&INTERVAL) {
        None | Some("none" | "0") => Ok(0),
        Some(_) => Ok(time(words, &INTERVAL)?.unwrap_or(0)),
    }
}

/// Raw samples that each rank keeps.
pub(super) fn raw_samples(words: &Words) -> Result<u64, PlanError> {
    Ok(words.count(&RAW, 0..=RAW_MAX)?.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cases, one};
    use super::*;

    #[test]
    fn lengths_have_their_limits() {
        let asked = |key: &str, value: &str| {
            let words = [("test", "am_lat"), ("via", "shm"), (key, value)];
            cases(&words).ok().map(|cases| cases[0].case.clone())
        };
        let warmup =
            |text: &str| asked("warmup", text).map(|case| (case.warmup_iterations, case.warmup_ns_max));
        for (text, expected) in [
            ("10k<100ms", Some((10_000, 100_000_000))),
            ("10k", Some((10_000, WARMUP_NS_MAX))),
            ("1h", Some((WARMUP_ITERATIONS_MAX, WARMUP_NS_MAX))),
            ("61min", None),
            ("9007199254740992", Some((WARMUP_ITERATIONS_MAX, WARMUP_NS_MAX))),
            ("9007199254740993", None),
            ("0<1s", Some((0, 0))),
            ("5<0s", Some((0, 0))),
            ("5<61min", None),
        ] {
            assert_eq!(warmup(text), expected, "{text}");
        }
        for (key, least, most) in [
            ("duration", "1ms", "168h"),
            ("interval", "1ms", "168h"),
            ("raw", "0", "10M"),
        ] {
            assert!(asked(key, least).is_some() && asked(key, most).is_some(), "{key}");
        }
        for (key, beyond) in [
            ("duration", ["999999ns", "169h"]),
            ("interval", ["999999ns", "169h"]),
            ("raw", ["-1", "10000001"]),
        ] {
            assert_eq!(beyond.map(|value| asked(key, value)), [None, None], "{key}");
        }
        let interval = |text: &str| asked("interval", text).unwrap().report_interval_ns;
        assert_eq!(["none", "0", "20ms"].map(interval), [0, 0, 20_000_000]);
        let osu = one(&[("test", "osu_bw"), ("via", "shm"), ("size", "8")]);
        assert_eq!(osu.stop, Stop::Iterations { count: 100 });
        assert_eq!((osu.warmup_iterations, osu.warmup_ns_max), (10, WARMUP_NS_MAX));
    }
}
