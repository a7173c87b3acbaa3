//! Background load beside cases: the words of `--interference`, and a case with a load. The load itself is the library's,
//! the judgement the report's.

use crate::errors::Failure;
use wirespeed::load::{Interference, LoadError};
use wirespeed_report::interference::Loaded;
use wirespeed_schema::plan::PlannedCase;

/// Rounds where the user says nothing: the fewest that can tell ten figures apart from chance.
pub const ROUNDS: u32 = 10;

/// The loads that words such as `cpu,memory=4@apart` name.
pub fn parse(words: &[String]) -> Result<Vec<Interference>, Failure> {
    let named = words.iter().map(|word| word.trim().parse::<Interference>());
    let loads: Vec<Interference> = named.collect::<Result<_, _>>().map_err(|error| {
        Failure::usage(
            format!("--interference {error}"),
            "write KIND[=THREADS][@PLACE],.. such as cpu,memory=4@apart; see --help",
        )
    })?;
    match loads
        .iter()
        .enumerate()
        .find(|(at, load)| loads[..*at].contains(load))
    {
        Some((_, twice)) => Err(Failure::usage(
            format!("--interference names {twice} twice"),
            "name each load once",
        )),
        None => Ok(loads),
    }
}

/// Why a load cannot run, and what can be done.
pub fn refused(load: &str, error: &LoadError) -> Failure {
    let remedy = match error {
        LoadError::Twice { .. } => "leave --load out: --interference compares with no load at all",
        _ => "name another place, such as --interference=cpu@same, or measure on other cores with --cpus",
    };
    Failure::usage(format!("--interference {load}: {error}"), remedy)
}

/// What `load` is called, and the case with it beside every rank that measures.
pub fn loaded(planned: &PlannedCase, load: &Interference) -> Result<(Loaded, PlannedCase), Failure> {
    let applied = load.applied(&planned.case);
    let (case, place) = applied.map_err(|error| refused(&load.to_string(), &error))?;
    let loaded = Loaded {
        load: load.to_string(),
        place: place.name().to_owned(),
    };
    Ok((
        loaded,
        PlannedCase {
            case,
            ..planned.clone()
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_loads_and_nonsense_is_a_usage_error() {
        let words = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<String>>();
        let loads = parse(&words("cpu,memory=2@same")).unwrap();
        assert_eq!(loads.len(), 2);
        for bad in ["disk", "cpu,cpu", "cpu@nowhere", ""] {
            assert_eq!(parse(&words(bad)).unwrap_err().code, 2, "{bad}");
        }
    }
}
