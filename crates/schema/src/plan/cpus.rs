//! Which CPU each rank is pinned to.

use super::error::PlanError;
use super::surroundings::Surroundings;
use crate::case::RankSpec;
use crate::parameter::{Parameter, Section, Values};
use crate::units::counted;
use crate::words::Words;

/// `--cpus`.
pub static CPUS: Parameter = Parameter {
    key: "cpus",
    value_name: "LIST",
    values: Values::Lists,
    section: Section::Verb,
    help: "CPUs to pin to, one a rank: 0,1 or 0-3, or none [default: different cores]",
    remedy: "name one CPU a rank, such as 0,1 or 0-3, or none; separate alternatives by ;",
    example: "cpus = \"none\"",
    ..Parameter::NAME
};

/// A longer range of CPUs is a slip of the keyboard.
const CPUS_MAX: u64 = 1024;

/// Gives each rank a CPU: those that are named, else different cores for the first `local_ranks`.
pub(super) fn set_cpus(
    words: &Words,
    local_ranks: usize,
    ranks: &mut [RankSpec],
    around: &dyn Surroundings,
) -> Result<(), PlanError> {
    match words.get(&CPUS) {
        None => {
            for (rank, cpu) in ranks.iter_mut().zip(around.default_cpus(local_ranks)) {
                rank.cpu = cpu;
            }
            Ok(())
        }
        Some(text) => pin(text, ranks, (local_ranks, &around.cpus_allowed())),
    }
}

/// Pin `ranks` to the CPUs of `text`, one a rank: `0,1`, `0-3`, `0,none`, or `none` for all. The first `local` of them run on
/// this machine, and may use `allowed` only, where that is known. Errors where the text is invalid.
pub fn pin(text: &str, ranks: &mut [RankSpec], (local, allowed): (usize, &[u32])) -> Result<(), PlanError> {
    if text == "none" {
        return Ok(());
    }
    let cpus = parse_cpus(text)?;
    if cpus.len() != ranks.len() {
        return Err(PlanError::new(
            format!(
                "--cpus names {} for {}",
                counted(cpus.len() as u64, "CPU"),
                counted(ranks.len() as u64, "rank")
            ),
            CPUS.remedy,
        ));
    }
    let strange = cpus.iter().take(local).flatten().find(|c| !allowed.contains(c));
    if let Some(cpu) = strange.filter(|_| !allowed.is_empty()) {
        return Err(PlanError::new(
            format!("--cpus: CPU {cpu} is not one that this process may use"),
            format!("choose from: {}", list(allowed)),
        ));
    }
    for (rank, cpu) in ranks.iter_mut().zip(cpus) {
        rank.cpu = cpu;
    }
    Ok(())
}

fn list(cpus: &[u32]) -> String {
    let words: Vec<_> = cpus.iter().map(u32::to_string).collect();
    words.join(",")
}

/// `0,1`, `0-3`, `0,none`.
fn parse_cpus(text: &str) -> Result<Vec<Option<u32>>, PlanError> {
    let fail = || PlanError::new(format!("--cpus {text:?} is not a list of CPUs"), CPUS.remedy);
    let mut cpus = Vec::new();
    for word in text.split(',').map(str::trim) {
        match word.split_once('-') {
            _ if word == "none" => cpus.push(None),
            None => cpus.push(Some(word.parse().map_err(|_| fail())?)),
            Some((first, last)) => {
                let first: u32 = first.parse().map_err(|_| fail())?;
                let last: u32 = last.parse().map_err(|_| fail())?;
                if last < first || u64::from(last - first) >= CPUS_MAX {
                    return Err(fail());
                }
                cpus.extend((first..=last).map(Some));
            }
        }
    }
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_count_their_cpus_not_their_numbers() {
        let count = |text: &str| parse_cpus(text).ok().map(|cpus| cpus.len());
        assert_eq!(count("2-5,none,0"), Some(6));
        assert_eq!(count(&format!("{}-{}", CPUS_MAX, CPUS_MAX + 1)), Some(2));
        assert_eq!(count(&format!("0-{}", CPUS_MAX - 1)), Some(CPUS_MAX as usize));
        for wrong in [&format!("0-{CPUS_MAX}"), "5-2", "1-", "-1", "a", ""] {
            assert_eq!(count(wrong), None, "{wrong}");
        }
    }
}
