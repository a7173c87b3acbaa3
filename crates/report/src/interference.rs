//! What background load does to a measurement: cases with and without it, measured in turn, judged round by round.
//!
//! Written by every verb that has `--interference`, as `Run::sections["interference"]`. Statistics are those of `compare`.

pub(crate) mod words;

use crate::compare::matching::{candidates, trust, values};
use crate::compare::verdict::judge_each;
use crate::compare::{CompareError, Method, Question, Row, Sides, in_pairs};
use crate::names::Names;
use crate::stats::{LEVEL, summarize};
use crate::thresholds::WITHIN_RATIO;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use wirespeed_schema::Run;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::order::map_of;
use wirespeed_schema::run::{CaseResult, Repetition, Severity};
use wirespeed_schema::section::Section;

/// Figures that are compared, as far as a test has them.
pub const FIGURES: [&str; 6] = ["p50", "p90", "p99", "p99.9", "rate", "bandwidth"];
/// Time that the threads of a load had, among what it got done.
const LOAD_NS: &str = "load_ns";

/// One load that cases were measured under.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Loaded {
    /// As it was asked for: `cpu`, `memory=4@apart`.
    pub load: String,
    /// Where it ran: `apart`, `same`, `sibling`, `beside`.
    pub place: String,
}

/// One figure of one case without and with one load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InterferenceRow {
    /// The load.
    #[serde(flatten)]
    pub loaded: Loaded,
    /// Without it (A), with it (B), and B/A.
    #[serde(flatten)]
    pub row: Row,
}

/// What a load got done beside a case: no effect must not be no load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Work {
    /// The case: `shm am_lat 8 B`.
    pub label: String,
    /// The load.
    #[serde(flatten)]
    pub loaded: Loaded,
    /// Per second, all ranks together, median over runs: `cpu_loops`, `copied_bytes`, `cache_lines`.
    pub per_s: BTreeMap<String, Finite>,
}

/// The whole answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Interference {
    /// Seed of the order of runs.
    pub seed: u64,
    /// Rounds; each has a run without load and one with each.
    pub rounds: u32,
    /// The option of the verb that sets the number of rounds: `--repeats`.
    pub rounds_option: String,
    /// Ratios within 1 ± this are the same.
    pub within_ratio: Finite,
    /// Every case, load and figure.
    pub rows: Vec<InterferenceRow>,
    /// What the loads got done.
    pub work: Vec<Work>,
    /// Loads that could not be compared, and why.
    pub missing: Vec<String>,
}

/// A case without load, and with each of the loads.
#[derive(Debug, Clone, PartialEq)]
pub struct Arms {
    /// Without.
    pub off: CaseResult,
    /// With.
    pub on: Vec<Under>,
}

/// A case under one load.
#[derive(Debug, Clone, PartialEq)]
pub struct Under {
    /// What was done to it.
    pub loaded: Loaded,
    /// Its result.
    pub result: CaseResult,
    /// The runs without the load and with it that are compared, where the runs of the two results are not over the same; a
    /// figure that they lack is not compared.
    pub alike: Option<[Vec<Repetition>; 2]>,
}

impl From<(Loaded, CaseResult)> for Under {
    fn from((loaded, result): (Loaded, CaseResult)) -> Under {
        Under {
            loaded,
            result,
            alike: None,
        }
    }
}

impl Under {
    /// This case without the load, and under it, with the runs that are compared.
    fn beside(&self, off: &CaseResult) -> [CaseResult; 2] {
        let [mut off, mut on] = [off.clone(), self.result.clone()];
        if let Some([without, with]) = &self.alike {
            off.repetitions.clone_from(without);
            on.repetitions.clone_from(with);
            // These are of the results' own runs.
            off.metrics.clear();
            on.metrics.clear();
        }
        [in_pairs(&off, &on), in_pairs(&on, &off)]
    }
}

impl Section for Interference {
    const NAME: &'static str = "interference";
}

impl Interference {
    /// Judge all arms at once: paired by round, on logarithms, Holm-adjusted over all figures.
    pub fn judged(cases: &[Arms], seed: u64, rounds: u32) -> Interference {
        let mut found = Interference {
            seed,
            rounds,
            rounds_option: "--repeats".to_owned(),
            within_ratio: Finite::maybe(WITHIN_RATIO).unwrap_or_default(),
            ..Interference::default()
        };
        let names = Names::among(cases.iter().map(|arms| &arms.off));
        let mut sides: Vec<Sides> = Vec::new();
        let mut loads: Vec<&Loaded> = Vec::new();
        for arms in cases {
            for under in &arms.on {
                let loaded = &under.loaded;
                match sides_of(under.beside(&arms.off), names.of(&arms.off)) {
                    Ok((of_pair, rare)) => {
                        loads.extend(of_pair.iter().map(|_| loaded));
                        sides.extend(of_pair);
                        let rare = rare
                            .into_iter()
                            .map(|why| format!("under {}: {why}", loaded.load));
                        found.missing.extend(rare);
                    }
                    Err(why) => found.missing.push(format!("under {}: {why}", loaded.load)),
                }
                found.work.extend(work(loaded, &under.result));
            }
        }
        let rows = judge_each(&sides, Method::Paired, WITHIN_RATIO);
        found.rows = rows
            .into_iter()
            .zip(loads)
            .filter_map(|(row, loaded)| {
                Some(InterferenceRow {
                    loaded: loaded.clone(),
                    row: row?,
                })
            })
            .collect();
        found
    }
}

/// Both sides of every figure that runs of both have, and what is left out, in words. A round that lacks a figure on either
/// side is left out of it alone; a figure that most rounds lack is left out as a whole, for the rounds that have it are no
/// fair choice: only a fast run has samples enough for its tail.
fn sides_of([off, on]: [CaseResult; 2], label: String) -> Result<(Vec<Sides>, Vec<String>), CompareError> {
    let question = Question {
        allow_shared: true,
        ..Question::default()
    };
    trust("the side without load", &off, &question)?;
    trust("the side with load", &on, &question)?;
    let rounds = off.repetitions.len();
    let (mut sides, mut rare) = (Vec::new(), Vec::new());
    for figure in FIGURES {
        let both = candidates(figure).into_iter().map(|tag| Sides {
            label: label.clone(),
            tag: tag.to_owned(),
            a: values(&off, tag),
            b: values(&on, tag),
            ..Sides::default()
        });
        let whole = |sides: &Sides| {
            let pairs = sides.a.iter().zip(&sides.b);
            pairs.filter(|(a, b)| a.is_finite() && b.is_finite()).count()
        };
        match both
            .map(|sides| (whole(&sides), sides))
            .find(|(count, _)| *count > 0)
        {
            Some((count, of_figure)) if 2 * count > rounds => sides.push(of_figure),
            Some((count, _)) => rare.push(format!("{label}: {figure} in {count} of {rounds} rounds only")),
            None => {}
        }
    }
    match sides.is_empty() {
        true => Err(CompareError::NoFigure {
            label,
            wanted: String::new(),
        }),
        false => Ok((sides, rare)),
    }
}

/// The word of [`FIGURES`] for a tag, or the tag itself.
pub(crate) fn figure_name(tag: &str) -> &str {
    let named = FIGURES
        .into_iter()
        .find(|figure| candidates(figure).contains(&tag));
    named.unwrap_or(tag)
}

/// What the load of a case got done; nothing where it has none.
fn work(loaded: &Loaded, on: &CaseResult) -> Option<Work> {
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for repetition in &on.repetitions {
        for (key, per_s) in per_second(repetition) {
            values.entry(key).or_default().push(per_s);
        }
    }
    let median = |values: Vec<f64>| Finite::maybe(summarize(&values, LEVEL)?.median);
    let per_s = map_of(
        values
            .into_iter()
            .filter_map(|(key, values)| Some((key, median(values)?))),
    );
    (!per_s.is_empty()).then(|| Work {
        label: on.case.label(),
        loaded: loaded.clone(),
        per_s,
    })
}

fn per_second(repetition: &Repetition) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for outcome in &repetition.outcomes {
        let Some(&ns) = outcome.load_done.get(LOAD_NS).filter(|&&ns| ns > 0) else {
            continue;
        };
        let counts = outcome.load_done.iter().filter(|(key, _)| *key != LOAD_NS);
        for (key, &count) in counts {
            *sums.entry(key.clone()).or_insert(0.0) += count as f64 * 1e9 / ns as f64;
        }
    }
    sums
}

/// The cases of `run` that were measured without load; all of them where no load was put beside any on purpose.
pub fn undisturbed(run: &Run) -> Cow<'_, [CaseResult]> {
    without_load(&run.cases, run.sections.has::<Interference>())
}

/// Of `cases`, each measured with and without load where they were `compared`, those without; the load `none` is no load, and
/// left out all the same. In a document that does not tell what each was measured under, it is the same case once more.
pub fn without_load(cases: &[CaseResult], compared: bool) -> Cow<'_, [CaseResult]> {
    if !compared {
        return Cow::Borrowed(cases);
    }
    let tells = cases.iter().any(|result| result.under.is_some());
    let mut idle: Vec<CaseResult> = Vec::new();
    for result in cases {
        let is_idle = result.case.ranks.iter().all(|rank| rank.load.is_idle());
        let is_control = match tells {
            true => result.under.is_some(),
            false => idle.iter().any(|known| known.case == result.case),
        };
        if is_idle && !is_control {
            idle.push(result.clone());
        }
    }
    Cow::Owned(idle)
}

/// A result under load: what disturbed it is what the load was for, and no remark; that an invariant is broken still is one.
pub fn under_load(mut result: CaseResult) -> CaseResult {
    result
        .remarks
        .retain(|remark| remark.severity == Severity::Suspect);
    result
}
