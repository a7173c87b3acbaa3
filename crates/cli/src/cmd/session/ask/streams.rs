//! The words of `wirespeed session` about messages, as streams to measure.

use super::{MIB, time};
use crate::args::SessionArgs;
use crate::errors::Failure;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;
use wirespeed_schema::order::map_of;
use wirespeed_schema::units::{expand_counts, expand_list, parse_count, parse_duration_ns, parse_size};
use wirespeed_session::path::{Path, Route, Streaming};

/// Longest sleep after a message: a reader sleeps after all that one look brought before it looks again, unless cancelled.
const MESSAGE_SLEEP_NS_MAX: u64 = 100_000_000;
/// Transports that sessions offer.
const TRANSPORTS: [&str; 3] = ["shm", "unix", "tcp"];

/// Every stream that the words ask for: transports, sizes, credits and routes, all with all; none without a path, but what is
/// said of them is checked.
pub fn streams(
    arguments: &SessionArgs,
    path: Option<Path>,
    routes: &[Route],
    duration: Duration,
) -> Result<Vec<Streaming>, Failure> {
    let sizes = sizes(arguments)?;
    let credits = expand_counts(&arguments.credits).map_err(|e| bad("credits", e))?;
    let report = time("report-frequency", &arguments.report_frequency)?;
    let is_short = duration < Duration::from_millis(1) || report < Duration::from_millis(1);
    if path.is_some() && is_short {
        return Err(Failure::usage(
            "a stream needs a duration and reports of at least 1 ms",
            "give --duration and --report-frequency in seconds, or with a unit",
        ));
    }
    let counts: Vec<u64> = credits
        .iter()
        .map(|text| credits_of(text))
        .collect::<Result<_, _>>()?;
    let (transports, options) = (transports(arguments)?, options(&arguments.options)?);
    let block = block(arguments.wait.as_deref())?;
    let client_sleep_ns = message_sleep(arguments, path)?;
    let mut streams = Vec::new();
    let Some(path) = path else {
        return Ok(streams);
    };
    for via in &transports {
        for size in &sizes {
            for credits in &counts {
                for route in routes {
                    streams.push(Streaming {
                        path,
                        route: *route,
                        via: (*via).to_owned(),
                        size_bytes: *size,
                        credits: *credits,
                        duration_ns: duration.as_nanos() as u64,
                        report_ns: report.as_nanos() as u64,
                        block,
                        client_sleep_ns,
                        check: arguments.check,
                        pace_msg_per_s: None,
                        options: options.clone(),
                    });
                }
            }
        }
    }
    Ok(streams)
}

fn bad(option: &str, why: impl Display) -> Failure {
    let remedy = match option {
        "bytes" => "give sizes such as 64, 8K or 1MiB, a list 64,1K, or a range 1..1M:x4",
        "chart" => "name several sizes, such as --bytes 1K,64K",
        _ => "give a count such as 10, a list 1,10,100, or a range 1..1000:x10",
    };
    Failure::usage(format!("--{option}: {why}"), remedy)
}

const CREDITS_MAX: u64 = 1_000_000_000_000;

fn credits_of(text: &str) -> Result<u64, Failure> {
    match parse_count(text).map_err(|error| bad("credits", error))? {
        0 => Err(Failure::usage(
            format!("--credits {text} lets no message out"),
            "give at least 1, which is a synchronous round trip",
        )),
        credits @ ..=CREDITS_MAX => Ok(credits),
        _ => Err(Failure::usage(
            format!("--credits {text}: more than any stream uses up"),
            format!("give at most {CREDITS_MAX}"),
        )),
    }
}

/// What is to carry messages.
pub fn transports(arguments: &SessionArgs) -> Result<Vec<&str>, Failure> {
    let named: Vec<&str> = arguments.via.iter().map(String::as_str).collect();
    match named.iter().find(|via| !TRANSPORTS.contains(via)) {
        Some(via) => Err(Failure::usage(
            format!("--via: sessions have no transport {via:?}"),
            format!("choose from: {}", TRANSPORTS.join(", ")),
        )),
        None if named.is_empty() => Ok(vec![TRANSPORTS[1]]),
        None => Ok(named),
    }
}

/// How long the client sleeps after each message: plain numbers are microseconds, as the original's.
fn message_sleep(arguments: &SessionArgs, path: Option<Path>) -> Result<u64, Failure> {
    let text = arguments.message_sleep.trim();
    let bad = |why: &str, remedy: &str| Failure::usage(format!("--messageSleep {text}: {why}"), remedy);
    let ns = match text.parse::<u64>() {
        Ok(microseconds) => microseconds.saturating_mul(1000),
        Err(_) => parse_duration_ns(text)
            .map_err(|_| bad("no time", "give microseconds, or a number with its unit"))?,
    };
    if ns > MESSAGE_SLEEP_NS_MAX {
        return Err(bad("too long", "give at most 100 ms"));
    }
    match (ns, path) {
        (0, _) | (_, None | Some(Path::ComputationToClient)) => Ok(ns),
        _ => Err(bad(
            "the client receives no messages on this path",
            "take --benchmarkPath=computation_to_client",
        )),
    }
}

/// Every size of --mb plus every one of --bytes, each once.
fn sizes(arguments: &SessionArgs) -> Result<Vec<u64>, Failure> {
    let whole = expand_counts(&arguments.mb).map_err(|e| bad("mb", e))?;
    let rest = expand_list(&arguments.bytes).map_err(|e| bad("bytes", e))?;
    let mut sizes = Vec::new();
    for mb in &whole {
        let mb = parse_count(mb).map_err(|e| bad("mb", e))?;
        for bytes in &rest {
            let bytes = parse_size(bytes).map_err(|e| bad("bytes", e))?;
            let size = mb.checked_mul(MIB).and_then(|whole| whole.checked_add(bytes));
            let size = size.ok_or_else(|| bad("mb", format!("{mb} MiB are no size of a message")))?;
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
    }
    if arguments.chart.is_some() && sizes.len() < 2 {
        return Err(bad("chart", "one size makes no line; name several"));
    }
    Ok(sizes)
}

/// A route as typed.
pub fn route(word: &str) -> Result<Route, Failure> {
    match word {
        "direct" => Ok(Route::Direct),
        "daemon" => Ok(Route::Daemon),
        _ => Err(Failure::usage(
            format!("there is no route {word:?}"),
            "choose from: direct, daemon",
        )),
    }
}

fn block(word: Option<&str>) -> Result<Option<bool>, Failure> {
    match word {
        None | Some("auto") => Ok(None),
        Some("poll") => Ok(Some(false)),
        Some("block") => Ok(Some(true)),
        Some(word) => Err(Failure::usage(
            format!("--wait: there is no way {word:?}"),
            "choose from: auto, poll, block",
        )),
    }
}

/// Options of the transports.
pub fn options(words: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let pair = |word: &String| {
        let (name, value) = word.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    };
    let pairs = words.iter().map(|word| {
        pair(word).ok_or_else(|| Failure::usage(format!("-O {word}: no value"), "write NAME=VALUE"))
    });
    Ok(map_of(pairs.collect::<Result<Vec<_>, _>>()?))
}
