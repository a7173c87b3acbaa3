//! One combination of words to one complete case: units are parsed, defaults filled in, nonsense refused.

use super::error::PlanError;
use super::expand::PlannedCase;
use super::keys::{Family, canonical_test, family, friendly, option_name, remedy_of, takes};
use super::surroundings::Surroundings;
use super::{posted, ranks};
use crate::case::{Case, Stop, TransportOptions};
use crate::test::{Atomic, Hub, Layout, PingPong, Rma, Stream, Tagged, Test};
use crate::units;
use std::collections::BTreeMap;

/// One value for each parameter that the user gave.
#[derive(Default)]
pub(super) struct Words<'a> {
    pub keys: BTreeMap<&'static str, &'a str>,
    pub options: BTreeMap<&'a str, &'a str>,
}

impl<'a> Words<'a> {
    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        self.keys.get(key).copied()
    }

    pub(super) fn transport_options(&self) -> TransportOptions {
        let options = self.options.iter();
        options.map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }
}

/// Payload of latency tests and atomics when none is given.
const SIZE_LATENCY: u64 = 8;
/// Payload of bandwidth tests when none is given, where the transport takes so much.
const SIZE_BANDWIDTH: u64 = 128 << 10;
/// Where the search for a default payload that the transport takes ends.
const SIZE_BANDWIDTH_MIN: u64 = 1 << 10;
/// No payload is larger: beyond it, sums of sizes could overflow.
const SIZE_MAX: u64 = 1 << 40;
/// Window of a stream when none is given, as long as it holds at most [`WINDOW_BYTES`].
const WINDOW: u64 = 128;
/// Window of `rate`.
const WINDOW_RATE: u64 = 1024;
const WINDOW_BYTES: u64 = 8 << 20;
const WINDOW_MIN: u64 = 4;
const WINDOW_MAX: u64 = 1 << 32;
const OUTSTANDING_STREAM: u64 = 32;
const DURATION_NS: u64 = 1_000_000_000;
const DURATION_NS_MIN: u64 = 1_000_000;
const DURATION_NS_MAX: u64 = 7 * 86_400 * 1_000_000_000;
const WARMUP_ITERATIONS: u64 = 10_000;
const WARMUP_NS: u64 = 100_000_000;
/// Time limit of a warm-up where the user gave only a count: an hour.
pub const WARMUP_NS_MAX: u64 = 3_600 * 1_000_000_000;
/// Limit of a warm-up's operations where the user gave only a time: the largest count that every JSON reader keeps exact.
pub const WARMUP_ITERATIONS_MAX: u64 = 1 << 53;
/// Raw samples of a rank: what it may tell in one outcome.
const RAW_MAX: u64 = 10_000_000;

/// The case that `words` describe.
pub(super) fn resolve(
    words: &Words,
    template: usize,
    around: &dyn Surroundings,
) -> Result<PlannedCase, PlanError> {
    let typed = words
        .get("test")
        .ok_or_else(|| PlanError::new("no test is named", "name one, such as latency, rate or bandwidth"))?;
    let test = canonical_test(typed)?;
    let transports = around.transports();
    let known: Vec<&str> = transports.iter().map(String::as_str).collect();
    let via = words.get("via").ok_or_else(|| {
        let remedy = format!("add --via TRANSPORT: {}", known.join(", "));
        PlanError::new("no transport is named", remedy)
    })?;
    if !known.contains(&via) {
        return Err(PlanError::unknown("transport", via, &known));
    }
    if let Some(key) = words.keys.keys().find(|key| !takes(test, key)) {
        return Err(PlanError::new(
            format!("{test} takes no {}", option_name(key)),
            "leave it out, or give that test a [[case]] of its own in a plan file",
        ));
    }
    let group = ranks::group(words, test, via, around)?;
    let (warmup_iterations, warmup_ns_max) = warmup(words)?;
    let draft = Case {
        test: Test::AmLat(PingPong {
            size_bytes: 0,
            layout: Layout::Short,
        }),
        transport: via.to_owned(),
        options: words.transport_options(),
        group: group.kind,
        ranks: group.ranks,
        stop: stop(words)?,
        warmup_iterations,
        warmup_ns_max,
        check: flag(words, "check")?,
        report_interval_ns: interval(words)?,
        raw_samples_max: raw(words)?,
        idle: group.idle,
    };
    let mut case = with_test(draft, words, typed, test, around)?;
    case.stop = posted::own_stop(&case.test, words).unwrap_or(case.stop);
    if let (Some((_, warmup)), None) = (posted::iterations(&case.test), words.get("warmup")) {
        (case.warmup_iterations, case.warmup_ns_max) = (warmup, WARMUP_NS_MAX);
    }
    Ok(PlannedCase {
        case,
        to: group.to,
        template,
    })
}

/// Puts the test in: where size or layout are left open, the first of the defaults that the transport takes.
fn with_test(
    mut case: Case,
    words: &Words,
    typed: &str,
    test: &str,
    around: &dyn Surroundings,
) -> Result<Case, PlanError> {
    let layout = words.get("layout").map(parse_layout).transpose()?;
    let mut first = None;
    for size in sizes(words, typed, test)? {
        for layout in layout.map_or_else(|| default_layouts(test, size), |l| vec![l]) {
            case.test = match posted::build(test, size, words, &case, around)? {
                Some(test) => test,
                None => build(test, size, layout, words, typed)?,
            };
            if around.can_run(&case) {
                return Ok(case);
            }
            first.get_or_insert_with(|| case.test.clone());
        }
    }
    // None fits: the first says best why.
    if let Some(test) = first {
        case.test = test;
    }
    Ok(case)
}

/// The size asked for, or the defaults in order of preference.
fn sizes(words: &Words, typed: &str, test: &str) -> Result<Vec<u64>, PlanError> {
    if let Some(text) = words.get("size") {
        let size =
            units::parse_size(text).map_err(|e| PlanError::new(format!("--size: {e}"), remedy_of("size")))?;
        check_size(test, size)?;
        return Ok(vec![size]);
    }
    let preferred = match friendly(typed) {
        Some(name) => name.size_bytes,
        None if matches!(
            test,
            "am_bw" | "am_bibw" | "put_bw" | "get_bw" | "tag_bw" | "osu_bw" | "osu_bibw"
        ) =>
        {
            SIZE_BANDWIDTH
        }
        None => SIZE_LATENCY,
    };
    let halves = std::iter::successors(Some(preferred), |size| {
        (size / 2 >= SIZE_BANDWIDTH_MIN).then_some(size / 2)
    });
    Ok(halves.collect())
}

fn check_size(test: &str, size: u64) -> Result<(), PlanError> {
    let atomic = matches!(family(test), Family::Atomic | Family::AtomicPingPong);
    if atomic && size != 4 && size != 8 {
        return Err(PlanError::new(
            format!("{test} works on words of 4 or 8 bytes, not {size}"),
            "use --size 4 or --size 8",
        ));
    }
    let one_sided = atomic || matches!(test, "put_lat" | "put_bw" | "get" | "get_bw");
    if one_sided && size == 0 {
        return Err(PlanError::new(
            format!("{test} cannot move 0 bytes"),
            "use --size 1 or more",
        ));
    }
    if size > SIZE_MAX {
        return Err(PlanError::new(
            format!("--size {size} is above 1 TiB"),
            remedy_of("size"),
        ));
    }
    Ok(())
}

fn parse_layout(text: &str) -> Result<Layout, PlanError> {
    let names = Layout::ALL.map(Layout::name);
    let found = Layout::ALL.into_iter().find(|l| l.name() == text);
    found.ok_or_else(|| PlanError::unknown("layout", text, &names))
}

/// Layouts to try when none is given: inline while a message is small, packed while it is middling, registered memory
/// above. Tests without a layout get one that is not used.
fn default_layouts(test: &str, size: u64) -> Vec<Layout> {
    use Layout::{Bcopy, Short, Zcopy};
    match (test, size) {
        ("get" | "get_bw", _) => vec![Zcopy, Bcopy],
        _ if !takes(test, "layout") => vec![Short],
        (_, 0..=1024) => vec![Short, Bcopy, Zcopy],
        (_, 1025..=16_384) => vec![Bcopy, Zcopy, Short],
        _ => vec![Zcopy, Bcopy, Short],
    }
}

fn build(test: &str, size_bytes: u64, layout: Layout, words: &Words, typed: &str) -> Result<Test, PlanError> {
    if layout == Layout::Short && matches!(test, "get" | "get_bw") {
        return Err(PlanError::new(
            format!("{test} has no layout short: there is nothing to inline"),
            "use --layout bcopy or --layout zcopy",
        ));
    }
    let window_msgs = match words.get("window") {
        Some(text) => at_least_one("window", text)?,
        None if typed == "rate" => WINDOW_RATE,
        None => WINDOW.min((WINDOW_BYTES / size_bytes.max(1)).max(WINDOW_MIN)),
    };
    let outstanding_ops = match words.get("outstanding") {
        Some(text) => at_least_one("outstanding", text)?,
        None if matches!(test, "put_bw" | "get_bw" | "add_mr") => OUTSTANDING_STREAM,
        None => 1,
    };
    let pong = PingPong { size_bytes, layout };
    let rma = Rma {
        size_bytes,
        layout,
        outstanding_ops,
    };
    let atomic = Atomic {
        size_bytes,
        outstanding_ops,
    };
    let stream = Stream {
        size_bytes,
        layout,
        window_msgs,
        pace_msg_per_s: pace(words)?,
    };
    let tagged = |window_msgs| Tagged {
        size_bytes,
        window_msgs,
    };
    let hub = Hub {
        size_bytes,
        reply_bytes: reply(words)?,
        layout,
        fan_out: flag(words, "fan_out")?,
    };
    Ok(match test {
        "am_lat" => Test::AmLat(pong),
        "put_lat" => Test::PutLat(pong),
        "add_lat" => Test::AddLat(atomic),
        "get" => Test::Get(rma),
        "fadd" => Test::Fadd(atomic),
        "swap" => Test::Swap(atomic),
        "cswap" => Test::Cswap(atomic),
        "am_bw" => Test::AmBw(stream),
        "put_bw" => Test::PutBw(rma),
        "add_mr" => Test::AddMr(atomic),
        "get_bw" => Test::GetBw(rma),
        "am_bibw" => Test::AmBibw(stream),
        "tag_lat" => Test::TagLat(tagged(1)),
        "tag_bw" => Test::TagBw(tagged(window_msgs)),
        "hub_lat" => Test::HubLat(hub),
        "am_alltoall" => Test::AmAlltoall(stream),
        other => return Err(PlanError::unknown("test", other, &crate::test::TEST_NAMES)),
    })
}

fn reply(words: &Words) -> Result<Option<u64>, PlanError> {
    let Some(text) = words.get("reply") else {
        return Ok(None);
    };
    match units::parse_size(text) {
        Ok(bytes @ ..=SIZE_MAX) => Ok(Some(bytes)),
        _ => Err(refused("reply", text)),
    }
}

pub(super) fn refused(key: &str, text: &str) -> PlanError {
    PlanError::new(
        format!("{} {text} makes no sense", option_name(key)),
        remedy_of(key),
    )
}

pub(super) fn at_least_one(key: &str, text: &str) -> Result<u64, PlanError> {
    match units::parse_count(text) {
        Ok(count @ 1..=WINDOW_MAX) => Ok(count),
        _ => Err(refused(key, text)),
    }
}

fn pace(words: &Words) -> Result<Option<u64>, PlanError> {
    let Some(text) = words.get("pace").filter(|t| *t != "none") else {
        return Ok(None);
    };
    let number = text.trim_end_matches("/s").trim_end_matches("msg").trim_end();
    match units::parse_count(number) {
        Ok(rate @ 1..=1_000_000_000_000) => Ok(Some(rate)),
        _ => Err(refused("pace", text)),
    }
}

fn stop(words: &Words) -> Result<Stop, PlanError> {
    if let Some(text) = words.get("iters") {
        return match units::parse_count(text) {
            Ok(count @ 1..) => Ok(Stop::Iterations { count }),
            _ => Err(refused("iters", text)),
        };
    }
    let Some(text) = words.get("duration") else {
        return Ok(Stop::Duration {
            duration_ns: DURATION_NS,
        });
    };
    match units::parse_duration_ns(text) {
        Ok(duration_ns @ DURATION_NS_MIN..=DURATION_NS_MAX) => Ok(Stop::Duration { duration_ns }),
        _ => Err(refused("duration", text)),
    }
}

/// Iterations and time at which warm-up ends, whichever comes first.
fn warmup(words: &Words) -> Result<(u64, u64), PlanError> {
    let Some(text) = words.get("warmup") else {
        return Ok((WARMUP_ITERATIONS, WARMUP_NS));
    };
    if let Some((count, time)) = text.split_once('<') {
        return match (units::parse_count(count), units::parse_duration_ns(time)) {
            (Ok(0), Ok(_)) => Ok((0, 0)),
            (Ok(count @ ..=WARMUP_ITERATIONS_MAX), Ok(ns @ ..=WARMUP_NS_MAX)) => Ok((count, ns)),
            _ => Err(refused("warmup", text)),
        };
    }
    match (units::parse_count(text), units::parse_duration_ns(text)) {
        (Ok(0), _) | (_, Ok(0)) => Ok((0, 0)),
        (Ok(count @ ..=WARMUP_ITERATIONS_MAX), _) => Ok((count, WARMUP_NS_MAX)),
        (_, Ok(ns @ ..=WARMUP_NS_MAX)) => Ok((WARMUP_ITERATIONS_MAX, ns)),
        _ => Err(refused("warmup", text)),
    }
}

fn interval(words: &Words) -> Result<u64, PlanError> {
    match words.get("interval") {
        None | Some("none" | "0") => Ok(0),
        Some(text) => match units::parse_duration_ns(text) {
            Ok(ns @ DURATION_NS_MIN..=DURATION_NS_MAX) => Ok(ns),
            _ => Err(refused("interval", text)),
        },
    }
}

fn raw(words: &Words) -> Result<u64, PlanError> {
    match words.get("raw").map(|text| (text, units::parse_count(text))) {
        None => Ok(0),
        Some((_, Ok(count @ ..=RAW_MAX))) => Ok(count),
        Some((text, _)) => Err(refused("raw", text)),
    }
}

fn flag(words: &Words, key: &str) -> Result<bool, PlanError> {
    match words.get(key) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(text) => Err(refused(key, text)),
    }
}
