//! Words of the tests on posted sends and receives to their parameters: patterns, neighbours and cache states of
//! `msgrate`, windows, repetitions and warm-ups as the well-known MPI benchmarks define them.

use super::error::PlanError;
use super::keys::{Family, family, option_name, remedy_of};
use super::resolve::{Words, at_least_one, refused};
use super::surroundings::Surroundings;
use crate::case::{Case, Stop};
use crate::neighbours;
use crate::posted::{Buffers, CacheState, Defined, Grid, MsgRate, Pattern};
use crate::test::Test;
use crate::units;

/// Messages to each neighbour in an iteration when none are given.
const WINDOW_MSGRATE: u64 = 128;
/// Neighbours on the ring when none are given; fewer where there are fewer ranks.
const PEERS: u32 = 6;
/// OSU's window.
const WINDOW_OSU: u64 = 64;
/// IMB's window.
const WINDOW_IMB: u64 = 256;
/// OSU repeats larger messages less often.
const OSU_LARGE_BYTES: u64 = 8192;
/// IMB repeats so often that at most so many bytes go through.
const IMB_BYTES_MAX: u64 = 40 << 20;
/// IMB repeats at most so often.
const IMB_REPEATS_MAX: u64 = 1000;
const CACHE_BYTES_MIN: u64 = 64;

/// The test called `test` with `size_bytes`, where it is one of posted sends and receives.
pub(super) fn build(
    test: &str,
    size_bytes: u64,
    words: &Words,
    case: &Case,
    around: &dyn Surroundings,
) -> Result<Option<Test>, PlanError> {
    match family(test) {
        Family::MsgRate => msgrate(size_bytes, words, case, around).map(|p| Some(Test::Msgrate(p))),
        Family::DefinedPingPong | Family::DefinedWindows => defined(test, size_bytes, words, case),
        _ => Ok(None),
    }
}

fn msgrate(
    size_bytes: u64,
    words: &Words,
    case: &Case,
    around: &dyn Surroundings,
) -> Result<MsgRate, PlanError> {
    let ranks = case.ranks.len() as u32;
    let pattern = named(
        "pattern",
        words,
        Pattern::PrePost,
        &Pattern::ALL.map(|p| (p.name(), p)),
    )?;
    let grid = named("grid", words, Grid::Ring, &Grid::ALL.map(|g| (g.name(), g)))?;
    let cache_state = named(
        "cache_state",
        words,
        CacheState::Flushed,
        &CacheState::ALL.map(|c| (c.name(), c)),
    )?;
    if grid != Grid::Ring && (words.get("peers").is_some() || words.get("stride").is_some()) {
        return Err(PlanError::new(
            format!("--grid {} has its own neighbours", grid.name()),
            "leave --peers and --stride out, or use --grid ring",
        ));
    }
    let stride = number("stride", words)?.unwrap_or(1);
    let nodes = ranks / stride.max(1);
    let mut test = MsgRate {
        size_bytes,
        pattern,
        window_msgs: match words.get("window") {
            Some(text) => at_least_one("window", text)?,
            None => WINDOW_MSGRATE,
        },
        grid,
        peers: number("peers", words)?.unwrap_or(PEERS.min(nodes.saturating_sub(1)).max(1)),
        stride_ranks: stride,
        cache_state,
        cache_bytes: cache_bytes(cache_state, words, case, around)?,
    };
    neighbours::check(&test, ranks).map_err(|misfit| PlanError::new(misfit.cause, misfit.remedy))?;
    if pattern != Pattern::Single && grid != Grid::Ring {
        test.peers = neighbours::neighbours(&test, ranks, 0).to_ranks.len() as u32;
    }
    Ok(test)
}

fn cache_bytes(
    state: CacheState,
    words: &Words,
    case: &Case,
    around: &dyn Surroundings,
) -> Result<u64, PlanError> {
    match words.get("cache_size") {
        Some(_) if !state.has_size() => Err(PlanError::new(
            format!("--cache-state {} has no --cache-size", state.name()),
            "leave the size out, or use --cache-state flushed or rotating",
        )),
        Some(text) => match units::parse_size(text) {
            Ok(bytes @ CACHE_BYTES_MIN..=0x100_0000_0000) => Ok(bytes),
            _ => Err(refused("cache_size", text)),
        },
        None if state.has_size() => Ok(around
            .cache_bytes(case.group, case.ranks.len())
            .max(CACHE_BYTES_MIN)),
        None => Ok(0),
    }
}

fn defined(test: &str, size_bytes: u64, words: &Words, case: &Case) -> Result<Option<Test>, PlanError> {
    let one_pair = matches!(test, "osu_latency" | "osu_bw" | "osu_bibw" | "imb_pingpong");
    let active = case.ranks.iter().filter(|rank| rank.peer.is_some()).count();
    if one_pair && active != 2 {
        return Err(PlanError::new(
            format!("{test} is defined for 2 ranks, not {active}"),
            "use 2 ranks, or osu_multi_lat, osu_mbw_mr, imb_uniband or imb_biband for several pairs",
        ));
    }
    let parameters = Defined {
        size_bytes,
        window_msgs: match words.get("window") {
            Some(text) => at_least_one("window", text)?,
            None if family(test) == Family::DefinedPingPong => 1,
            None if test.starts_with("imb_") => WINDOW_IMB,
            None => WINDOW_OSU,
        },
        buffers: named(
            "buffers",
            words,
            Buffers::Single,
            &Buffers::ALL.map(|b| (b.name(), b)),
        )?,
    };
    Ok(Some(match test {
        "osu_latency" => Test::OsuLatency(parameters),
        "osu_bw" => Test::OsuBw(parameters),
        "osu_bibw" => Test::OsuBibw(parameters),
        "osu_mbw_mr" => Test::OsuMbwMr(parameters),
        "osu_multi_lat" => Test::OsuMultiLat(parameters),
        "imb_pingpong" => Test::ImbPingpong(parameters),
        "imb_uniband" => Test::ImbUniband(parameters),
        _ => Test::ImbBiband(parameters),
    }))
}

/// Iterations and warm-up as a definition has them for its size; `None` for tests that leave them to the user.
pub(super) fn iterations(test: &Test) -> Option<(u64, u64)> {
    let size = test.defined()?.size_bytes;
    let name = test.name();
    Some(
        match (
            name.starts_with("osu_"),
            test.is_round_trip(),
            size > OSU_LARGE_BYTES,
        ) {
            (true, true, false) => (10_000, 100),
            (true, true, true) => (1000, 10),
            (true, false, false) => (100, 10),
            (true, false, true) => (20, 2),
            (false, ..) => {
                let repeats = (IMB_BYTES_MAX / size.max(1)).clamp(1, IMB_REPEATS_MAX);
                (repeats, (repeats / 10).max(10))
            }
        },
    )
}

/// The definition's own number of iterations, where the user asked for none.
pub(super) fn own_stop(test: &Test, words: &Words) -> Option<Stop> {
    let asked = words.get("iters").is_some() || words.get("duration").is_some();
    let (count, _) = iterations(test).filter(|_| !asked)?;
    Some(Stop::Iterations { count })
}

fn number(key: &str, words: &Words) -> Result<Option<u32>, PlanError> {
    let Some(text) = words.get(key) else {
        return Ok(None);
    };
    match units::parse_count(text) {
        Ok(count @ 1..=1023) => Ok(Some(count as u32)),
        _ => Err(refused(key, text)),
    }
}

fn named<T: Copy>(key: &str, words: &Words, default: T, choices: &[(&str, T)]) -> Result<T, PlanError> {
    let Some(text) = words.get(key) else {
        return Ok(default);
    };
    let found = choices.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        PlanError::new(
            format!("{} {text:?} is unknown", option_name(key)),
            remedy_of(key),
        )
    })
}
