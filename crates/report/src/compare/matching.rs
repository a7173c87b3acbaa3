//! Which cases of two results are the same question, and which figures of theirs are compared.

use super::environment::circumstances;
use super::refused::CompareError;
use super::section::{Difference, Reasons, Unjudged};
use super::verdict::Sides;
use crate::checks::{host_remarks, is_of_disturbed_machine};
use crate::curve::section::offered_per_s;
use crate::figures::spoken;
use crate::import::IMPORTED;
use crate::labels::{beside, label_of};
use crate::names::{Identity, Parameters, alike, identity, typed, unlike, varying};
use crate::tags::{self, HEADLINES};
use std::collections::BTreeSet;
use wirespeed_schema::Run;
use wirespeed_schema::run::{CaseResult, CaseStatus, Metric, Remark, Severity};

/// What is compared and what is tolerated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Question {
    /// Figures by tag or by statistic (`p99`); empty for each case's headline.
    pub figures: Vec<String>,
    /// Parameters that may differ between two cases that are the same question: `transport`, `layout`.
    pub across: Vec<String>,
    /// Accept sides measured beside other clients.
    pub allow_shared: bool,
}

/// Both sides of every case and figure, and the labels of cases that one side lacks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matched {
    /// Figures on both sides.
    pub sides: Vec<Sides>,
    /// What differs between the cases themselves: CPUs, facts of the transport.
    pub differences: Vec<Difference>,
    /// Cases of A alone.
    pub only_a: Vec<String>,
    /// Cases of B alone.
    pub only_b: Vec<String>,
    /// Figures that were asked for and that no case has on both sides.
    pub nowhere: Vec<Unjudged>,
    /// Cases on both sides that have none of the figures, of which no side alone has any.
    pub lacking: Vec<String>,
    /// What became of each of these on the side that lacks it, as far as that is known.
    pub reasons: Reasons,
}

impl Matched {
    /// Note a case that one side, or neither, has measured, with what became of it there.
    pub(super) fn unmeasured(&mut self, a: &CaseResult, b: &CaseResult) {
        match (a.metrics.is_empty(), b.metrics.is_empty()) {
            (false, _) => note(
                (&mut self.only_a, &mut self.reasons.only_a),
                label_of(a),
                lost_in("B", Some(b)),
            ),
            (true, false) => note(
                (&mut self.only_b, &mut self.reasons.only_b),
                label_of(b),
                lost_in("A", Some(a)),
            ),
            (true, true) => {
                let why = match (&a.error, &b.error) {
                    (Some(a), Some(b)) if a != b => Some(format!("not measured in A: {a}; in B: {b}")),
                    (Some(_), Some(_)) => lost_in("either", Some(a)),
                    _ => lost_in("A", Some(a)).or(lost_in("B", Some(b))),
                };
                note(
                    (&mut self.lacking, &mut self.reasons.lacking),
                    pair_label(a, b),
                    why,
                );
            }
        }
    }
}

/// One more of `names`, with what became of it: two may share a name, and not the reason.
pub(super) fn note(
    (names, reasons): (&mut Vec<String>, &mut Vec<Option<String>>),
    name: String,
    why: Option<String>,
) {
    if why.is_some() {
        reasons.resize(names.len(), None);
        reasons.push(why);
    }
    names.push(name);
}

/// What became of a case on a side that lacks its figures, as far as that is known.
fn lost_in(letter: &str, lost: Option<&CaseResult>) -> Option<String> {
    Some(format!("not measured in {letter}: {}", lost?.error.as_ref()?))
}

impl Question {
    /// Whether the figure `tag` is asked for: by its own name or a statistic's, or because none is.
    pub(super) fn asks_for(&self, tag: &str) -> bool {
        let named = |name: &String| candidates(name).contains(&tag);
        self.figures.is_empty() || self.figures.iter().any(named)
    }
}

/// Whether two cases are the same question.
pub(super) fn is_same_question(a: &CaseResult, b: &CaseResult, question: &Question) -> bool {
    key(a, question) == key(b, question)
}

fn key(case: &CaseResult, question: &Question) -> Identity {
    let mut key = identity(case);
    key.retain(|name, _| !question.across.iter().any(|across| is_across(name, across)));
    key
}

/// Note the cases of one side alone; `lost`: those that the other, of this letter, has not measured.
fn alone_in(
    (names, reasons): (&mut Vec<String>, &mut Vec<Option<String>>),
    cases: &[&CaseResult],
    (letter, lost): (&str, &[&CaseResult]),
    question: &Question,
) {
    for (case, lost) in cases.iter().zip(partners(cases, lost, question).0) {
        note((names, reasons), label_of(case), lost_in(letter, lost));
    }
}

fn unmeasured(run: &Run) -> Vec<&CaseResult> {
    run.cases.iter().filter(|case| case.metrics.is_empty()).collect()
}

/// Match the measured cases of two runs. Errors where nothing can be compared, or must not be.
pub fn matched(a: &Run, b: &Run, question: &Question) -> Result<Matched, CompareError> {
    let (of_a, of_b) = (measured(a, "A")?, measured(b, "B")?);
    check_across(of_a.iter().chain(&of_b), &question.across)?;
    let mut matched = Matched::default();
    let (pairs, of_b_alone) = partners(&of_a, &of_b, question);
    let (mut none, mut of_a_alone) = (None, Vec::new());
    for (case, other) in of_a.iter().zip(pairs) {
        match other {
            Some(other) => none = add(&mut matched, case, other, question)?.or(none),
            None => of_a_alone.push(*case),
        }
    }
    let (lost_a, lost_b) = (unmeasured(a), unmeasured(b));
    let (only_a, only_b) = (&mut matched.only_a, &mut matched.only_b);
    let reasons = &mut matched.reasons;
    alone_in(
        (only_a, &mut reasons.only_a),
        &of_a_alone,
        ("B", &lost_b),
        question,
    );
    alone_in(
        (only_b, &mut reasons.only_b),
        &of_b_alone,
        ("A", &lost_a),
        question,
    );
    let (pairs, _) = partners(&lost_a, &lost_b, question);
    for (case, other) in lost_a.iter().zip(pairs) {
        if let Some(other) = other {
            matched.unmeasured(case, other);
        }
    }
    if matched.sides.is_empty() {
        return Err(none.unwrap_or_else(|| nothing_in_common(&of_a, &of_b)));
    }
    matched.differences = each_once(matched.differences);
    matched.nowhere = nowhere(&matched.sides, question);
    tell_apart(&mut matched.sides);
    // What its machine did besides is said of a run as a whole.
    let of_hosts = disturbed_hosts(a, b);
    for sides in &mut matched.sides {
        sides.disturbed.extend(of_hosts.iter().cloned());
    }
    Ok(matched)
}

/// What of the machines as wholes may have bent either result: `A: steal`.
pub(super) fn disturbed_hosts(a: &Run, b: &Run) -> Vec<String> {
    let (of_a, of_b) = (host_remarks(&a.host), host_remarks(&b.host));
    disturbances(&[warnings("A", &of_a), warnings("B", &of_b)].concat())
}

/// The same of the machines while two cases ran.
pub(super) fn disturbed_cases(a: &CaseResult, b: &CaseResult) -> Vec<String> {
    disturbances(&[warnings("A", &a.remarks), warnings("B", &b.remarks)].concat())
}

fn disturbances(said: &[(&str, &str)]) -> Vec<String> {
    let of_machine = said.iter().filter(|(_, code)| is_of_disturbed_machine(code));
    of_machine.map(|(side, code)| format!("{side}: {code}")).collect()
}

/// For each of `a` the case of `b` that is the same question, one that is the same in everything first of all; and those of `b`
/// that are left.
fn partners<'a>(
    a: &[&'a CaseResult],
    b: &[&'a CaseResult],
    question: &Question,
) -> (Vec<Option<&'a CaseResult>>, Vec<&'a CaseResult>) {
    let mut pairs = vec![None; a.len()];
    let mut rest: Vec<Option<&CaseResult>> = b.iter().copied().map(Some).collect();
    for is_whole in [true, false] {
        let of = |case: &CaseResult| match is_whole {
            true => identity(case),
            false => key(case, question),
        };
        let keys: Vec<Identity> = b.iter().map(|case| of(case)).collect();
        for (case, found) in a.iter().zip(&mut pairs).filter(|(_, found)| found.is_none()) {
            let wanted = of(case);
            let at = (0..b.len()).find(|at| rest[*at].is_some() && keys[*at] == wanted);
            *found = at.and_then(|at| rest[at].take());
        }
    }
    (pairs, rest.into_iter().flatten().collect())
}

/// Without those that another case has told.
pub(super) fn each_once(all: Vec<Difference>) -> Vec<Difference> {
    let mut once: Vec<Difference> = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

/// Figures by name of which `sides` have none.
pub(super) fn nowhere(sides: &[Sides], question: &Question) -> Vec<Unjudged> {
    let has = |name: &&String| {
        sides
            .iter()
            .any(|side| candidates(name).contains(&side.tag.as_str()))
    };
    let lacking = question.figures.iter().filter(|name| !has(name));
    let unjudged = lacking.map(|name| Unjudged {
        tag: name.clone(),
        why: "no case has it on both sides".to_owned(),
        ..Unjudged::default()
    });
    unjudged.collect()
}

fn measured<'a>(run: &'a Run, side: &'static str) -> Result<Vec<&'a CaseResult>, CompareError> {
    let cases: Vec<&CaseResult> = run.cases.iter().filter(|case| !case.metrics.is_empty()).collect();
    match cases.is_empty() {
        true => Err(CompareError::Empty { side }),
        false => Ok(cases),
    }
}

/// `across` names a parameter itself or as it is typed.
fn is_across(name: &str, across: &str) -> bool {
    name == across || typed(name) == across || (across == "via" && name == "transport")
}

/// Errors where one of `across` is no parameter of any of `cases`.
fn check_across<'a>(
    cases: impl Iterator<Item = &'a &'a CaseResult>,
    across: &[String],
) -> Result<(), CompareError> {
    if across.is_empty() {
        return Ok(());
    }
    let names: BTreeSet<String> = cases.flat_map(|case| identity(case).into_keys()).collect();
    let unknown = across
        .iter()
        .find(|across| !names.iter().any(|name| is_across(name, across)));
    match unknown {
        None => Ok(()),
        Some(name) => Err(CompareError::UnknownParameter {
            name: name.clone(),
            known: names
                .iter()
                .map(|name| name.strip_prefix("options.").unwrap_or(name).to_owned())
                .collect(),
        }),
    }
}

/// Name what differs between the nearest pair of cases.
fn nothing_in_common(a: &[&CaseResult], b: &[&CaseResult]) -> CompareError {
    let differing = |a: &CaseResult, b: &CaseResult| -> Vec<String> {
        unlike(&identity(a), &identity(b)).cloned().collect()
    };
    let pairs = a
        .iter()
        .take(100)
        .flat_map(|a| b.iter().take(100).map(move |b| differing(a, b)));
    let nearest = pairs.min_by_key(Vec::len).unwrap_or_default();
    let bare = |name: &String| name.strip_prefix("options.").unwrap_or(name).to_owned();
    CompareError::NothingInCommon {
        differs: format!("the nearest pair differs in {}", nearest.join(", ")),
        across: match nearest.iter().any(|name| name == "test") {
            true => Vec::new(),
            false => nearest.iter().map(bare).collect(),
        },
    }
}

/// Add every figure of a pair of cases as they stand, whatever their parameters. Gives what is wrong where they have none in
/// common, which says nothing of other pairs.
pub(super) fn add(
    matched: &mut Matched,
    a: &CaseResult,
    b: &CaseResult,
    question: &Question,
) -> Result<Option<CompareError>, CompareError> {
    for (side, case) in [("A", a), ("B", b)] {
        trust(side, case, question)?;
    }
    let label = pair_label(a, b);
    let said = [warnings("A", &a.remarks), warnings("B", &b.remarks)].concat();
    let disturbed = disturbances(&said);
    let remarks: Vec<String> = said
        .iter()
        .map(|(side, code)| format!("{side}: {code}"))
        .collect();
    let tags = tags_of(a, b, question)?;
    let of_one: usize = [(a, b, &mut matched.only_a), (b, a, &mut matched.only_b)]
        .into_iter()
        .map(|(case, other, only)| {
            let alone = alone(case, other, question, &tags);
            only.extend(alone.iter().map(|tag| format!("{} of {label}", spoken(tag))));
            alone.len()
        })
        .sum();
    if tags.is_empty() {
        let wanted = match question.figures.is_empty() {
            true => String::new(),
            false => format!(" among {}", question.figures.join(", ")),
        };
        matched.lacking.extend((of_one == 0).then(|| label.clone()));
        return Ok(Some(CompareError::NoFigure { label, wanted }));
    }
    for tag in tags {
        matched.sides.push(Sides {
            label: label.clone(),
            a: values(a, tag),
            b: values(b, tag),
            tag: tag.to_owned(),
            remarks: remarks.clone(),
            disturbed: disturbed.clone(),
            parameters: Parameters::of(a),
        });
    }
    matched.differences.extend(circumstances(a, b));
    Ok(None)
}

/// Rows of the same name and figure get what their cases differ in: points of a sweep, and what else has one label.
pub(super) fn tell_apart(sides: &mut [Sides]) {
    for group in alike(sides.iter().map(|side| (&side.label, &side.tag))) {
        let told = varying(group.iter().map(|at| &sides[*at].parameters).collect());
        for (at, more) in group.into_iter().zip(told) {
            sides[at].label.push_str(&more);
        }
    }
}

/// The side and the code of each warning.
fn warnings<'a>(side: &'static str, remarks: &'a [Remark]) -> Vec<(&'static str, &'a str)> {
    let warnings = remarks.iter().filter(|one| one.severity >= Severity::Warning);
    warnings.map(|one| (side, one.code.as_str())).collect()
}

/// Stands between the cases of both sides in a label, where they differ.
pub(super) const AGAINST: &str = " / ";

/// One label where both have the same; of two, the second without what it shares with the first.
fn pair_label(a: &CaseResult, b: &CaseResult) -> String {
    let label = |result: &CaseResult| result.case.label() + &beside(result);
    let (of_a, of_b) = (label(a), label(b));
    if of_a == of_b {
        let [own, other] = [a, b].map(Parameters::of);
        let told = match own.asks_the_same(&other) {
            true => return of_a,
            false => varying(vec![&own, &other]),
        };
        return [
            of_a,
            told[0].clone(),
            AGAINST.to_owned(),
            told[1].trim().to_owned(),
        ]
        .concat();
    }
    let shared = format!("{} {} ", a.case.transport, a.case.test.name());
    match of_b.strip_prefix(&shared) {
        Some(rest) => [of_a.as_str(), rest].join(AGAINST),
        None => [of_a, of_b].join(AGAINST),
    }
}

pub(crate) fn trust(side: &'static str, case: &CaseResult, question: &Question) -> Result<(), CompareError> {
    let label = case.case.label();
    let broken = case
        .remarks
        .iter()
        .find(|remark| remark.severity == Severity::Suspect);
    let why = match (case.status, broken) {
        (CaseStatus::WrongData, _) => Some("its data were wrong".to_owned()),
        (_, Some(remark)) => Some(remark.message.clone()),
        _ => None,
    };
    if let Some(why) = why {
        return Err(CompareError::Suspect { side, label, why });
    }
    let shared = case
        .repetitions
        .iter()
        .any(|repetition| repetition.overlapping_sessions > 0);
    match shared && !question.allow_shared {
        true => Err(CompareError::Shared { side, label }),
        false => Ok(()),
    }
}

/// What stands for a headline where results of other tools have none.
const INSTEAD: [&str; 2] = ["rtt_mean_ns", "completion_mean_ns"];

/// What is compared with a result of another tool where its own figure is known of both: ours are of the median iteration.
const THEIRS: [&str; 3] = [
    "classic_latency_ns",
    "classic_rate_msg_per_s",
    "classic_bandwidth_bytes_per_s",
];

/// What stands for it where both are at an offered rate.
const OFFERED: &str = "response_p50_ns";

/// The tags that both have: those asked for, or the first headline.
fn tags_of(a: &CaseResult, b: &CaseResult, question: &Question) -> Result<Vec<&'static str>, CompareError> {
    let both = |tag: &&'static str| a.metrics.contains_key(*tag) && b.metrics.contains_key(*tag);
    if question.figures.is_empty() {
        // A rate that is offered is the question, not the answer.
        let offered = (offered_per_s(a).is_some() && offered_per_s(b).is_some()).then_some(OFFERED);
        let headlines = HEADLINES.iter().map(|(tag, _, _)| *tag);
        let is_imported = |case: &CaseResult| case.remarks.iter().any(|remark| remark.code == IMPORTED);
        let theirs = THEIRS
            .iter()
            .copied()
            .filter(|_| is_imported(a) || is_imported(b));
        let all = offered.into_iter().chain(theirs).chain(headlines).chain(INSTEAD);
        let headline = all.into_iter().find(both);
        return Ok(headline.into_iter().collect());
    }
    let mut found = Vec::new();
    for name in &question.figures {
        let candidates: Vec<&'static str> = candidates(name);
        if candidates.is_empty() {
            return Err(CompareError::UnknownFigure { name: name.clone() });
        }
        // Two names may mean one figure.
        let tag = candidates.into_iter().find(both);
        found.extend(tag.filter(|tag| !found.contains(tag)));
    }
    Ok(found)
}

/// Of what is asked for, by name or as the headline, the figures that `case` has and `other` lacks; `both` have others.
fn alone(case: &CaseResult, other: &CaseResult, question: &Question, both: &[&str]) -> Vec<&'static str> {
    let has = |tag: &&'static str| case.metrics.contains_key(*tag);
    let lacks = |tag: &&'static str| !other.metrics.contains_key(*tag);
    let asked: Vec<Vec<&'static str>> = match question.figures.as_slice() {
        [] => vec![HEADLINES.iter().map(|(tag, _, _)| *tag).chain(INSTEAD).collect()],
        names => names.iter().map(|name| candidates(name)).collect(),
    };
    let unmet = asked.into_iter().filter_map(|tags| {
        let first = tags.into_iter().find(has)?;
        Some(first).filter(|tag| lacks(tag) && !both.contains(tag))
    });
    unmet.collect()
}

/// Tags that a name may mean: itself, or a statistic of each family.
pub fn candidates(name: &str) -> Vec<&'static str> {
    let spelled = name.replace("p99.9", "p999").replace('.', "");
    let names = match spelled.as_str() {
        "rate" => vec!["rate_msg_per_s".to_owned()],
        "bandwidth" => vec!["bandwidth_bytes_per_s".to_owned()],
        other => std::iter::once(name.to_owned())
            .chain(["rtt", "completion", "ack", "response"].map(|family| format!("{family}_{other}_ns")))
            .collect(),
    };
    names
        .iter()
        .filter_map(|name| tags::find(name))
        .map(|tag| tag.name)
        .collect()
}

/// One value a run, not a number where a run lacks the figure, so that pairs stay together; the case's own figure where a
/// document has no runs (imported history).
pub(crate) fn values(case: &CaseResult, tag: &str) -> Vec<f64> {
    let of = |metric: Option<&Metric>| metric.map_or(f64::NAN, |metric| metric.value.get());
    let runs = case.repetitions.iter();
    let values: Vec<f64> = runs.map(|repetition| of(repetition.metrics.get(tag))).collect();
    match values.iter().all(|value| value.is_nan()) {
        true => vec![of(case.metrics.get(tag))],
        false => values,
    }
}
