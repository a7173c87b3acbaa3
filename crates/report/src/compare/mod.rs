//! Comparing two results: what differs between the machines, then figure by figure a ratio with its interval and a verdict.
//!
//! Nothing here reads a file or prints. A comparison is refused rather than made where it would mislead.

pub mod environment;
mod lacking;
pub mod matching;
mod mesh;
mod refused;
mod remedy;
pub mod section;
pub mod verdict;
pub(crate) mod words;

pub use environment::environment;
pub use matching::Question;
pub use refused::CompareError;
pub use section::{Comparison, Difference, MeshChange, Method, Reasons, Row, Side, Unjudged, Verdict};
pub use verdict::{Sides, judge, more_is_better};

use crate::assemble::is_whole;
use matching::Matched;
use mesh::Meshes;
use verdict::judge_families;
use wirespeed_schema::Run;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::job::JobSection;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::section::{Imported, Section as _};

/// Compare two stored results. Errors where nothing can be compared, or must not be.
pub fn compare(
    a: (&str, &Run),
    b: (&str, &Run),
    question: &Question,
    within_ratio: f64,
) -> Result<Comparison, CompareError> {
    let matched = matching::matched(a.1, b.1, question)?;
    let mut differences = environment(a.1, b.1);
    let mut of_cases = matched.differences.clone();
    environment::retain_told((a.1, b.1), &mut of_cases);
    differences.extend(of_cases);
    let mut comparison = match mesh::meshes(a.1, b.1, question) {
        None => assembled(Method::Unpaired, (side(a), side(b)), matched, within_ratio),
        Some(meshes) => of_meshes((side(a), side(b)), matched, meshes, within_ratio),
    };
    comparison.environment = differences;
    Ok(comparison)
}

/// Meshes as wholes and their hosts are one family of figures, links another: the chance of even one false verdict stays at 5 %.
fn of_meshes(sides: (Side, Side), whole: Matched, meshes: Meshes, within_ratio: f64) -> Comparison {
    let figures = [whole.sides.clone(), meshes.hosts.clone()].concat();
    let families = [figures.as_slice(), meshes.links.as_slice()];
    let [figures, links] = judge_families(families, Method::Unpaired, within_ratio);
    let lost = meshes.lost.clone();
    let noughts = verdict::noughts(&whole.sides, Method::Unpaired);
    let families = if links.is_empty() { 1 } else { 2 };
    let least = verdict::least_runs(Method::Unpaired, families * figures.len());
    let mut unjudged = verdict::without_row(&whole.sides, &figures, (Method::Unpaired, least));
    unjudged.extend(whole.nowhere.iter().cloned());
    let (rows, change) = meshes.shown(figures, links);
    let mut comparison = Comparison {
        rows,
        mesh: Some(change),
        unjudged,
        noughts,
        ..assembled(
            Method::Unpaired,
            sides,
            Matched {
                sides: Vec::new(),
                ..whole
            },
            within_ratio,
        )
    };
    let reasons = &mut comparison.reasons;
    let only_a = (&mut comparison.only_a, &mut reasons.only_a);
    let only_b = (&mut comparison.only_b, &mut reasons.only_b);
    for ((names, reasons), lost) in [only_a, only_b].into_iter().zip(lost) {
        for (name, why) in lost {
            matching::note((names, reasons), name, why);
        }
    }
    comparison
}

/// Compare the arms of one run: case `i` of A, in the first half of its cases, with case `i` of B, in the second half.
/// Their i-th repetitions are pairs. Errors where no pair has a figure in common, or one cannot be trusted.
pub fn compare_arms(
    run: &Run,
    names: (&str, &str),
    question: &Question,
    within_ratio: f64,
) -> Result<Comparison, CompareError> {
    let (a, b) = run.cases.split_at(run.cases.len() / 2);
    let (mut all, mut none) = (Matched::default(), None);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (in_pairs(a, b), in_pairs(b, a));
        if a.metrics.is_empty() || b.metrics.is_empty() {
            all.unmeasured(&a, &b);
            continue;
        }
        none = matching::add(&mut all, &a, &b, question)?.or(none);
    }
    if all.sides.is_empty() {
        return Err(none.unwrap_or(CompareError::Empty { side: "each arm" }));
    }
    all.nowhere = matching::nowhere(&all.sides, question);
    all.differences = matching::each_once(all.differences);
    matching::tell_apart(&mut all.sides);
    let sides = (side((names.0, run)), side((names.1, run)));
    let environment = all.differences.clone();
    Ok(Comparison {
        environment,
        ..assembled(Method::Paired, sides, all, within_ratio)
    })
}

/// `case` with only those repetitions that `other` has too, both of which came to their end, in the order of their numbers.
pub(crate) fn in_pairs(case: &CaseResult, other: &CaseResult) -> CaseResult {
    let ran = |case: &CaseResult, index: u32| {
        let mut repetitions = case.repetitions.iter();
        repetitions.any(|one| one.index == index && is_whole(&case.case, one))
    };
    let mut paired = case.clone();
    paired
        .repetitions
        .retain(|one| ran(case, one.index) && ran(other, one.index));
    paired.repetitions.order_by_key(|one| one.index);
    paired
}

fn assembled(method: Method, (a, b): (Side, Side), matched: Matched, within_ratio: f64) -> Comparison {
    let (rows, mut unjudged) = judge(&matched.sides, method, within_ratio);
    unjudged.extend(matched.nowhere);
    Comparison {
        method,
        a,
        b,
        within_ratio: Finite::maybe(within_ratio).unwrap_or_default(),
        rows,
        unjudged,
        noughts: verdict::noughts(&matched.sides, method),
        lacking: matched.lacking,
        only_a: matched.only_a,
        only_b: matched.only_b,
        reasons: matched.reasons,
        ..Comparison::default()
    }
}

/// Sections of results that no arm measures.
const NO_ARM: [&str; 2] = ["session", JobSection::NAME];

fn side((name, run): (&str, &Run)) -> Side {
    Side {
        name: name.to_owned(),
        started_at: run.started_at.clone(),
        version: run.tool.version.clone(),
        imported: run.sections.has::<Imported>().then(|| run.tool.name.clone()),
        is_no_arm: NO_ARM.iter().any(|name| run.sections.named(name).is_some()),
    }
}
