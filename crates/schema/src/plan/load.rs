//! Load that ranks carry beside the measurement.

use super::error::PlanError;
use crate::case::{Load, Place, RankSpec};
use crate::parameter::{Parameter, Section, Values};
use crate::units;

/// `--load`.
pub static LOAD: Parameter = Parameter {
    key: "load",
    value_name: "[RANK:]KEY=V,..",
    values: Values::Clauses,
    section: Section::Ranks,
    help: "Run this load beside the measurement, on one rank or on all: cpu=N, memory=SIZE, touch=SIZE, touch-once=SIZE, log=N, \
           bandwidth=N, cache=N, place=beside|apart|sibling|same; several add up",
    remedy: "write cpu=N, memory=SIZE, touch=SIZE, touch-once=SIZE, log=N, bandwidth=N, cache=N or place=WHERE, such as \
             cpu=2,memory=1G",
    example: "load = \"cpu=1,memory=1M\"",
    ..Parameter::NAME
};

/// What a load is made of.
const KINDS: &str = "cpu, memory, touch, touch-once, log, bandwidth, cache, place";
/// Most threads of one load.
const THREADS_MAX: u64 = 1024;

/// `cpu=2,memory=1G` for every rank, `1:log=1` for rank 1; several, separated by blanks, add up.
pub(super) fn set_load(text: &str, ranks: &mut [RankSpec]) -> Result<(), PlanError> {
    let fail = |why: &str| PlanError::new(format!("--load {text:?}: {why}"), LOAD.remedy);
    for clause in text.split_whitespace().filter(|clause| *clause != "none") {
        let (rank, settings) = match clause.split_once(':') {
            Some((rank, settings)) => {
                let rank: usize = rank.parse().map_err(|_| fail("no rank before the colon"))?;
                (Some(rank), settings)
            }
            None => (None, clause),
        };
        if rank.is_some_and(|r| r >= ranks.len()) {
            return Err(fail("no such rank"));
        }
        for (number, spec) in ranks.iter_mut().enumerate() {
            if rank.is_none_or(|r| r == number) {
                apply_load(settings, &mut spec.load).map_err(|why| fail(&why))?;
            }
        }
    }
    Ok(())
}

fn apply_load(settings: &str, load: &mut Load) -> Result<(), String> {
    let count = |text: &str| match units::parse_count(text) {
        Ok(n @ 0..=THREADS_MAX) => Ok(n as u32),
        _ => Err(format!("{text:?} is not a number of threads up to {THREADS_MAX}")),
    };
    let size = |text: &str| units::parse_size(text).map_err(|e| e.to_string());
    for setting in settings.split(',') {
        let (key, value) = setting.split_once('=').ok_or("a setting is KEY=VALUE")?;
        match key.trim().replace('_', "-").as_str() {
            "cpu" => load.cpu_threads = count(value)?,
            "log" => load.log_threads = count(value)?,
            "bandwidth" => load.bandwidth_threads = count(value)?,
            "cache" => load.cache_threads = count(value)?,
            "place" => load.place = place_of_load(value)?,
            "memory" => load.memory_bytes = size(value)?,
            "touch" => (load.touch_bytes, load.touch_once) = (size(value)?, false),
            "touch-once" => (load.touch_bytes, load.touch_once) = (size(value)?, true),
            other => return Err(format!("there is no load {other:?}; there are: {KINDS}")),
        }
    }
    if load.memory_bytes == 0 {
        load.memory_bytes = load.touch_bytes;
    }
    if load.touch_bytes > load.memory_bytes {
        return Err("touch is more than memory".to_owned());
    }
    Ok(())
}

fn place_of_load(name: &str) -> Result<Place, String> {
    let names = Place::ALL.map(Place::name).join(", ");
    Place::of_name(name).ok_or(format!("there is no place {name:?}; there are: {names}"))
}
