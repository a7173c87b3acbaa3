//! Cases without and with background load, measured in turn. What `--interference` of any verb does between checking its
//! cases and publishing their results; the load itself is the library's, the judgement the report's.

use crate::errors::Failure;
use crate::order::{Step, Visit, blocks};
use crate::progress::Progress;
use crate::session::{Prepared, Session, skipped};
use wirespeed::load::{Interference, LoadError};
use wirespeed_report::interference::{Arms, Interference as Section, Loaded, under_load};
use wirespeed_schema::Case;
use wirespeed_schema::plan::PlannedCase;
use wirespeed_schema::run::{CaseResult, Repetition};

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

/// Cases and what each is under each load, checked: nothing is opened.
pub struct Plan {
    /// Without load.
    off: Vec<Prepared>,
    /// By case: with each load; empty where the case cannot run here.
    on: Vec<Vec<(Loaded, PlannedCase)>>,
    loads: usize,
}

impl Plan {
    /// Put `loads` beside every case that can run. Errors where a load has no CPU, or a case a load of its own.
    pub fn new(cases: Vec<Prepared>, loads: &[Interference]) -> Result<Self, Failure> {
        let mut on = Vec::with_capacity(cases.len());
        for prepared in &cases {
            let runnable = loads.iter().filter(|_| prepared.skip.is_none());
            let arms: Result<Vec<_>, Failure> =
                runnable.map(|load| loaded(&prepared.planned, load)).collect();
            on.push(arms?);
        }
        Ok(Plan {
            off: cases,
            on,
            loads: loads.len(),
        })
    }

    /// Every case as it will run, each with its loaded versions behind it.
    pub fn into_cases(self) -> Vec<Prepared> {
        let mut all = Vec::new();
        for (off, on) in self.off.into_iter().zip(self.on) {
            all.push(off);
            all.extend(
                on.into_iter()
                    .map(|(_, planned)| Prepared { planned, skip: None }),
            );
        }
        all
    }

    /// The case of every arm that can run here.
    pub fn cases(&self) -> impl Iterator<Item = &Case> {
        let arms = self.off.iter().zip(&self.on);
        let runnable = arms.filter(|(off, _)| off.skip.is_none());
        runnable.flat_map(|(off, on)| {
            let loaded = on.iter().map(|(_, planned)| &planned.case);
            std::iter::once(&off.planned.case).chain(loaded)
        })
    }

    fn planned(&self, visit: &Visit) -> Option<&PlannedCase> {
        match visit.arm {
            0 => Some(&self.off[visit.case].planned),
            arm => self.on[visit.case].get(arm - 1).map(|(_, planned)| planned),
        }
    }

    /// Where the results of a visit belong.
    fn slot(&self, visit: &Visit) -> usize {
        visit.case * (self.loads + 1) + visit.arm
    }

    /// Measure everything `rounds` times in turn. The results, each case without load first, and what they say.
    pub fn measure(
        &self,
        session: &mut Session,
        rounds: u32,
        seed: u64,
    ) -> Result<(Vec<CaseResult>, Section), Failure> {
        let order: Vec<Visit> = blocks(self.off.len(), self.loads + 1, rounds, seed)
            .into_iter()
            .filter(|visit| self.off[visit.case].skip.is_none())
            .collect();
        let total = self.off.len() * (self.loads + 1);
        let mut repetitions: Vec<Vec<Repetition>> = vec![Vec::new(); total];
        let mut failures: Vec<Option<Failure>> = vec![None; total];
        let cases = order.iter().filter_map(|visit| Some(&self.planned(visit)?.case));
        let mut progress = Progress::new(cases, session.quiet);
        for visit in &order {
            let (slot, Some(planned)) = (self.slot(visit), self.planned(visit)) else {
                continue;
            };
            if session.stop.is_requested() {
                break;
            }
            progress.start(&planned.case);
            if failures[slot].is_none() {
                let step = Step {
                    repetition: visit.repetition,
                    case: slot,
                };
                let measured = session.measure(step, total, planned)?;
                repetitions[slot].extend(measured.repetition);
                failures[slot] = measured.failure;
            }
            progress.end();
        }
        progress.finish();
        self.results(session, repetitions, &failures, (rounds, seed))
    }

    fn results(
        &self,
        session: &mut Session,
        mut repetitions: Vec<Vec<Repetition>>,
        failures: &[Option<Failure>],
        (rounds, seed): (u32, u64),
    ) -> Result<(Vec<CaseResult>, Section), Failure> {
        let (mut results, mut compared) = (Vec::new(), Vec::new());
        for (case, (off, on)) in self.off.iter().zip(&self.on).enumerate() {
            let mut take = |session: &mut Session, arm: usize, planned: &PlannedCase| {
                let slot = case * (self.loads + 1) + arm;
                let mut runs = std::mem::take(&mut repetitions[slot]);
                runs.sort_by_key(|run| run.index);
                // An interruption may leave a case with nothing at all.
                let known = !runs.is_empty() || failures[slot].is_some();
                known.then(|| session.assemble(planned.case.clone(), runs, failures[slot].as_ref()))
            };
            let without = match &off.skip {
                Some(reason) => Some(skipped(off.planned.case.clone(), reason)),
                None => take(session, 0, &off.planned),
            };
            let mut with = Vec::new();
            for (arm, (loaded, planned)) in on.iter().enumerate() {
                let result = take(session, arm + 1, planned);
                with.extend(result.map(|result| (loaded.clone(), under_load(result))));
            }
            results.extend(without.clone());
            results.extend(with.iter().map(|(_, result)| result.clone()));
            compared.extend(without.map(|off| Arms { off, on: with }));
        }
        for (number, result) in results.iter().enumerate() {
            session.announce(number, result)?;
        }
        Ok((results, Section::judged(&compared, seed, rounds)))
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
