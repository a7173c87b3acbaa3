//! The parameters of a plan: which test takes which, and how the text of each is split into a list of values.

use super::error::PlanError;
use super::{Axis, KEYS};
use crate::test::TEST_NAMES;
use crate::units;

/// A friendly name for a test with its own defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FriendlyName {
    /// As typed.
    pub name: &'static str,
    /// The test behind it.
    pub test: &'static str,
    /// Default payload.
    pub size_bytes: u64,
    /// One line for help texts.
    pub summary: &'static str,
}

/// Friendly names: what most people want to know, without the field's vocabulary.
pub const FRIENDLY_NAMES: [FriendlyName; 3] = [
    FriendlyName {
        name: "latency",
        test: "am_lat",
        size_bytes: 8,
        summary: "am_lat with 8-byte messages",
    },
    FriendlyName {
        name: "rate",
        test: "am_bw",
        size_bytes: 8,
        summary: "am_bw with 8-byte messages and a window of 1024",
    },
    FriendlyName {
        name: "bandwidth",
        test: "am_bw",
        size_bytes: 128 << 10,
        summary: "am_bw with 128 KiB messages",
    },
];

/// Keys that exclude each other: giving one replaces a default of the others; giving two is an error.
pub const EXCLUSIVE: [&[&str]; 3] = [&["threads", "procs"], &["threads", "to"], &["iters", "duration"]];

/// Tests with their parameters in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    PingPong,
    Stream,
    Rma,
    Atomic,
    AtomicPingPong,
    TagLat,
    TagBw,
    Hub,
    MsgRate,
    DefinedPingPong,
    DefinedWindows,
}

/// The test that `name` stands for, friendly or not.
pub fn canonical_test(name: &str) -> Result<&'static str, PlanError> {
    if let Some(friendly) = friendly(name) {
        return Ok(friendly.test);
    }
    TEST_NAMES
        .iter()
        .find(|known| **known == name)
        .copied()
        .ok_or_else(|| {
            let known: Vec<_> = FRIENDLY_NAMES.iter().map(|f| f.name).chain(TEST_NAMES).collect();
            PlanError::unknown("test", name, &known)
        })
}

/// The friendly name `name`, if it is one.
pub fn friendly(name: &str) -> Option<&'static FriendlyName> {
    FRIENDLY_NAMES.iter().find(|f| f.name == name)
}

pub(super) fn family(test: &str) -> Family {
    match test {
        "am_lat" | "put_lat" => Family::PingPong,
        "am_bw" | "am_bibw" | "am_alltoall" => Family::Stream,
        "get" | "put_bw" | "get_bw" => Family::Rma,
        "add_lat" => Family::AtomicPingPong,
        "tag_lat" => Family::TagLat,
        "tag_bw" => Family::TagBw,
        "hub_lat" => Family::Hub,
        "msgrate" => Family::MsgRate,
        "osu_latency" | "osu_multi_lat" | "imb_pingpong" => Family::DefinedPingPong,
        "osu_bw" | "osu_bibw" | "osu_mbw_mr" | "imb_uniband" | "imb_biband" => Family::DefinedWindows,
        _ => Family::Atomic,
    }
}

/// Whether `test` (canonical name) takes the parameter `key`.
pub fn takes(test: &str, key: &str) -> bool {
    let family = family(test);
    match key {
        "layout" => matches!(
            family,
            Family::PingPong | Family::Stream | Family::Rma | Family::Hub
        ),
        "window" => matches!(
            family,
            Family::Stream | Family::TagBw | Family::MsgRate | Family::DefinedWindows
        ),
        "pattern" | "grid" | "peers" | "stride" | "cache_state" | "cache_size" => family == Family::MsgRate,
        "buffers" => family == Family::DefinedWindows,
        "outstanding" => matches!(family, Family::Rma | Family::Atomic),
        "pace" => family == Family::Stream,
        "fan_out" | "reply" => family == Family::Hub,
        _ => true,
    }
}

/// The key as [`KEYS`] spells it; `fan-out` is `fan_out`.
pub fn canonical_key(key: &str) -> Result<&'static str, PlanError> {
    let spelled = key.replace('-', "_");
    KEYS.iter()
        .find(|known| **known == spelled)
        .copied()
        .ok_or_else(|| PlanError::unknown("parameter", key, &KEYS))
}

/// Split the text of a parameter into its values. Sizes and counts take lists and ranges (`8..1M:x2`); names and
/// durations take lists; `cpus`, `roles` and `load` use the comma themselves, so their lists are split at `;`.
pub fn split_axis(key: &str, text: &str) -> Result<Axis, PlanError> {
    let option = option_name(key);
    let unit_error = |e: units::UnitError| PlanError::new(format!("{option}: {e}"), remedy_of(key));
    match key {
        "size" | "cache_size" | "reply" => units::expand_list(text).map_err(unit_error),
        "threads" | "procs" | "window" | "outstanding" | "pace" | "iters" | "warmup" | "raw" | "peers"
        | "stride" => units::expand_counts(text).map_err(unit_error),
        "cpus" | "roles" | "load" => split_words(&option, text, ';'),
        _ => split_words(&option, text, ','),
    }
}

/// Split at `separator`; empty elements are refused.
pub(super) fn split_words(option: &str, text: &str, separator: char) -> Result<Axis, PlanError> {
    let values: Axis = text.split(separator).map(|v| v.trim().to_owned()).collect();
    if values.iter().any(String::is_empty) {
        return Err(PlanError::new(
            format!("{option}: {text:?} has an empty element"),
            format!("write the values with one {separator:?} between two of them"),
        ));
    }
    Ok(values)
}

/// A key as the command line spells it: `--fan-out`; `test` is the first word of its own.
pub(super) fn option_name(key: &str) -> String {
    match key {
        "test" => "test".to_owned(),
        _ => format!("--{}", key.replace('_', "-")),
    }
}

/// What to write for a parameter instead.
pub(super) fn remedy_of(key: &str) -> &'static str {
    match key {
        "reply" => "give sizes such as 0, 64 or 8K, or leave it out for answers as large as requests",
        "size" => "give sizes such as 64, 8K or 1MiB, a list 64,1K, or a rising range 8..1M:x2",
        "iters" => "give a count of at least 1, such as 1000, 10k or 1e6, or use --duration",
        "duration" => "give a duration with its unit, such as 500ms, 10s or 2m, at least 1ms",
        "warmup" => "give a count such as 10k, a duration such as 100ms, both as 10k<100ms, or 0 for none",
        "window" | "outstanding" => "give a count of at least 1, such as 64, or a range 1..256:x2",
        "threads" | "procs" => "give a number of ranks from 1 to 1024, such as 2",
        "layout" => "choose from: short, bcopy, zcopy, shortiov",
        "pace" => "give messages per second, such as 10k, or none",
        "interval" => "give a duration such as 1s, or none",
        "raw" => "give the number of samples to keep, such as 100k, at most 10M, or 0 for none",
        "check" | "fan_out" => "choose from: true, false",
        "cpus" => "name one CPU a rank, such as 0,1 or 0-3, or none; separate alternatives by ;",
        "roles" => "name one role a rank: source, sink, hub, worker, idle; separate alternatives by ;",
        "load" => {
            "write cpu=N, memory=SIZE, touch=SIZE, touch-once=SIZE, log=N, bandwidth=N, cache=N or place=WHERE, such as cpu=2,memory=1G"
        }
        "pattern" => "choose from: single, pair, pre-post, all-start",
        "grid" => "choose from: ring, 2d, 3d",
        "cache_state" => "choose from: hot, rotating, touched, flushed",
        "cache_size" => "give a size of at least 64 bytes, such as 8M",
        "buffers" => "choose from: single, multiple",
        "peers" => "give a number of neighbours from 1 to 1023, such as 6",
        "stride" => "give the number of ranks of each node, such as 1",
        "to" => "name the machine where `wirespeed serve` runs: HOST or HOST:PORT",
        _ => "see `wirespeed run --help`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sizes_expand_in_their_own_units() {
        assert_eq!(
            split_axis("window", "512..2048:x2").unwrap(),
            ["512", "1024", "2048"]
        );
        assert_eq!(split_axis("size", "512..2048:x2").unwrap(), ["512", "1K", "2K"]);
        assert_eq!(split_axis("cpus", "0,1;0,2").unwrap(), ["0,1", "0,2"]);
        assert_eq!(split_axis("via", "shm, tcp").unwrap(), ["shm", "tcp"]);
        assert!(split_axis("via", "shm,,tcp").is_err());
        assert!(split_axis("size", "8..4").is_err());
    }

    #[test]
    fn friendly_names_stand_for_tests() {
        assert_eq!(canonical_test("latency").unwrap(), "am_lat");
        assert_eq!(canonical_test("put_bw").unwrap(), "put_bw");
        let error = canonical_test("am-lat").unwrap_err();
        assert_eq!(error.remedy, "did you mean \"am_lat\"?");
    }

    #[test]
    fn keys_may_have_hyphens() {
        assert_eq!(canonical_key("fan-out").unwrap(), "fan_out");
        assert_eq!(
            canonical_key("sise").unwrap_err().remedy,
            "did you mean \"size\"?"
        );
    }
}
