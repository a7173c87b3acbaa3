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
    let mut loads = ranks.iter_mut().map(|spec| &mut spec.load);
    loads.try_for_each(with_memory).map_err(|why| fail(&why))
}

/// Add a clause to what there is.
fn apply_load(settings: &str, load: &mut Load) -> Result<(), String> {
    let threads = |before: u32, text: &str| {
        let sum = units::parse_count(text)
            .ok()
            .and_then(|n| n.checked_add(before.into()));
        match sum {
            Some(n @ 0..=THREADS_MAX) => Ok(n as u32),
            _ => Err(format!(
                "{text:?} is not a number of threads up to {THREADS_MAX} in all"
            )),
        }
    };
    let bytes = |before: u64, text: &str| -> Result<u64, String> {
        let size = units::parse_size(text).map_err(|e| e.to_string())?;
        before
            .checked_add(size)
            .ok_or(format!("{text:?} is too much in all"))
    };
    for setting in settings.split(',') {
        let (key, value) = setting.split_once('=').ok_or("a setting is KEY=VALUE")?;
        match key.trim().replace('_', "-").as_str() {
            "cpu" => load.cpu_threads = threads(load.cpu_threads, value)?,
            "log" => load.log_threads = threads(load.log_threads, value)?,
            "bandwidth" => load.bandwidth_threads = threads(load.bandwidth_threads, value)?,
            "cache" => load.cache_threads = threads(load.cache_threads, value)?,
            "place" => load.place = place_of_load(value)?,
            "memory" => load.memory_bytes = bytes(load.memory_bytes, value)?,
            "touch" => (load.touch_bytes, load.touch_once) = (bytes(load.touch_bytes, value)?, false),
            "touch-once" => (load.touch_bytes, load.touch_once) = (bytes(load.touch_bytes, value)?, true),
            other => return Err(format!("there is no load {other:?}; there are: {KINDS}")),
        }
    }
    Ok(())
}

/// What is touched is memory, also where none was named.
fn with_memory(load: &mut Load) -> Result<(), String> {
    if load.memory_bytes == 0 {
        load.memory_bytes = load.touch_bytes;
    }
    match load.touch_bytes > load.memory_bytes {
        true => Err("touch is more than memory".to_owned()),
        false => Ok(()),
    }
}

fn place_of_load(name: &str) -> Result<Place, String> {
    let names = Place::ALL.map(Place::name).join(", ");
    Place::of_name(name).ok_or(format!("there is no place {name:?}; there are: {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_of_a_load_add_up_at_the_ranks_that_they_name() {
        let load = |text: &str| {
            let mut ranks = RankSpec::pair();
            let result = set_load(text, &mut ranks);
            result
                .map(|()| ranks[1].load.clone())
                .map_err(|error| error.cause)
        };
        for (key, field) in [
            ("cpu", "cpu_threads"),
            ("log", "log_threads"),
            ("bandwidth", "bandwidth_threads"),
            ("cache", "cache_threads"),
            ("memory", "memory_bytes"),
        ] {
            let sum = load(&format!("{key}=3 0:{key}=9 1:{key}=4 none")).unwrap();
            assert_eq!(serde_json::to_value(&sum).unwrap()[field], 7, "{key}");
            if key != "memory" {
                assert!(load(&format!("{key}=1000,{key}=24")).is_ok(), "{key}");
                assert!(
                    load(&format!("{key}=1000,{key}=25"))
                        .unwrap_err()
                        .contains("1024 in all")
                );
            }
        }
        let touched = |text: &str| {
            let load = load(text).unwrap();
            (load.memory_bytes, load.touch_bytes, load.touch_once)
        };
        assert_eq!(
            touched("touch=1K,touch=1K"),
            (2048, 2048, false),
            "what is touched is memory"
        );
        assert_eq!(
            touched("memory=4K,touch-once=1K,touch_once=1K"),
            (4096, 2048, true)
        );
        assert_eq!(touched("touch_once=1K,memory=2K,touch=1K"), (2048, 2048, false));
        assert_eq!(load("place=same").unwrap().place, Place::Same);
        for (text, why) in [
            ("memory=1K,touch=1025", "more than memory"),
            ("memory=18446744073709551615,memory=1", "too much in all"),
            ("place=away", "no place"),
            ("2:cpu=1", "no such rank"),
            ("x:cpu=1", "no rank before"),
            ("cpu=1,", "KEY=VALUE"),
        ] {
            let cause = load(text).unwrap_err();
            assert!(cause.contains(why), "{text}: {cause}");
        }
    }
}
