//! A comparison in words: the one row in full, or the worst, the best and how many of which verdict, and what a verdict still
//! needs.

use super::matching::AGAINST;
use super::remedy::{calmer, other_ways};
use super::{Comparison, MeshChange, Method, Row, Verdict};
use crate::figures::spoken;
use crate::labels::ratio;
use crate::thresholds::{RATIO_APART_MIN, ROUNDS_WORTH_MAX};
use crate::view::listed;
use crate::wording::{counted, percent};

/// The answer in words: the one row in full, or the worst, the best and how many of which verdict.
pub fn answer(comparison: &Comparison) -> Vec<String> {
    let within = percent(comparison.within_ratio.get());
    if let ([row], []) = (comparison.rows.as_slice(), comparison.unjudged.as_slice()) {
        let alone = sentence(row, &within, comparison);
        return std::iter::once(alone).chain(noughts(comparison)).collect();
    }
    let count = |verdict: Verdict| {
        comparison
            .rows
            .iter()
            .filter(|row| row.verdict == verdict)
            .count()
    };
    let verdicts = [
        Verdict::Slower,
        Verdict::Inconclusive,
        Verdict::Faster,
        Verdict::Same,
    ];
    let parts: Vec<String> = verdicts
        .into_iter()
        .filter(|&verdict| count(verdict) > 0)
        .map(|verdict| match verdict {
            Verdict::Same => format!("{} same within {within}", count(verdict)),
            verdict => format!("{} {}", count(verdict), verdict.name()),
        })
        .collect();
    // A mesh names its hosts and links below.
    let named = [Verdict::Slower, Verdict::Faster].into_iter();
    let named = named.filter(|_| comparison.mesh.is_none());
    let mut lines: Vec<String> = named.filter_map(|verdict| extreme(comparison, verdict)).collect();
    if !parts.is_empty() {
        lines.push(format!(
            "B against A, {}: {}",
            counted(comparison.rows.len() as u64, "figure"),
            parts.join(", ")
        ));
    }
    lines.extend(unjudged(comparison));
    lines.extend(noughts(comparison));
    lines.extend(lacking_runs(comparison));
    lines.extend(withheld(comparison));
    lines.extend(
        comparison
            .mesh
            .iter()
            .flat_map(|change| of_mesh(comparison, change)),
    );
    lines
}

/// The figures that have no ratio, by what is known of B in spite of that.
fn unjudged(comparison: &Comparison) -> Vec<String> {
    let of = |(verdict, words): (Verdict, &str)| {
        let those = comparison.unjudged.iter().filter(|one| one.verdict == verdict);
        let told = those.map(|one| match one.label.is_empty() {
            true => format!("{} ({})", one.tag, one.why),
            false => format!("{} of {} ({})", spoken(&one.tag), one.label, one.why),
        });
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| format!("{words}: {}.", listed(&told, NAMED_MAX)))
    };
    let verdicts = [
        (Verdict::Slower, "B is slower, without a ratio"),
        (Verdict::Faster, "B is faster, without a ratio"),
        (Verdict::Inconclusive, "Not compared, for want of a ratio"),
    ];
    verdicts.into_iter().filter_map(of).collect()
}

/// The figures of which neither side has anything.
fn noughts(comparison: &Comparison) -> Option<String> {
    let told = comparison.noughts.iter();
    let told: Vec<String> = told
        .map(|one| format!("{} of {}", spoken(&one.tag), one.label))
        .collect();
    let first = comparison.noughts.first()?;
    Some(format!("The same, {}: {}.", first.why, listed(&told, NAMED_MAX)))
}

/// The row that differs most among those with this verdict.
fn extreme(comparison: &Comparison, verdict: Verdict) -> Option<String> {
    let found = || comparison.rows.iter().filter(|row| row.verdict == verdict);
    let size = |row: &&Row| row.ratio.get().ln().abs();
    let most = found().max_by(|x, y| size(x).total_cmp(&size(y)))?;
    let at = if found().count() > 1 { ", most of all" } else { "" };
    let (word, label) = (verdict.name(), &most.label);
    Some(format!(
        "B is {word}{at} at {label}: {}",
        figure(most, ("B", "A"))
    ))
}

/// `RTT p50 of B is 1.12 [1.08 .. 1.15] times that of A`.
fn figure(row: &Row, (b, a): (&str, &str)) -> String {
    format!(
        "{} of {b} is {} times that of {a}",
        spoken(&row.tag),
        with_interval(row)
    )
}

/// The figure of the only row, with what was measured where the sides differ in that.
fn only_figure(row: &Row) -> String {
    match row.label.split_once(AGAINST) {
        Some((a, b)) => figure(row, (&format!("B ({b})"), &format!("A ({a})"))),
        None => figure(row, ("B", "A")),
    }
}

/// The ratio, and its interval where there is one.
fn with_interval(row: &Row) -> String {
    let estimate = ratio(row.ratio.get());
    match row.lower.zip(row.upper) {
        Some((lower, upper)) => format!("{estimate} [{} .. {}]", ratio(lower.get()), ratio(upper.get())),
        None => estimate,
    }
}

/// Which sides were disturbed, by what, where that withholds the verdict: `A was disturbed while it was measured (steal)`.
pub(crate) fn disturbance(row: &Row) -> Option<String> {
    let of = |side: &str| -> Vec<String> {
        let codes = row.withheld.iter().filter_map(|said| said.strip_prefix(side));
        codes.map(|code| code.replace('_', " ")).collect()
    };
    let (a, b) = (listed(&of("A: "), NAMED_MAX), listed(&of("B: "), NAMED_MAX));
    match (a.is_empty(), b.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("A was disturbed while it was measured ({a})")),
        (true, false) => Some(format!("B was disturbed while it was measured ({b})")),
        (false, false) => {
            let why = if a == b { a } else { format!("A: {a}; B: {b}") };
            Some(format!("A and B were disturbed while they were measured ({why})"))
        }
    }
}

/// Why no number of runs is advised.
const TOO_MANY: &str = "more runs than anybody waits for would be needed";

/// How many figures have no verdict for a disturbance, and what that was.
fn withheld(comparison: &Comparison) -> Option<String> {
    let (mut reasons, mut count) = (Vec::new(), 0);
    for row in &comparison.rows {
        let Some(reason) = disturbance(row) else {
            continue;
        };
        count += 1;
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let verb = if count == 1 { "differs" } else { "differ" };
    (count > 0).then(|| {
        format!(
            "{} {verb}, but {}: {}",
            counted(count, "figure"),
            reasons.join(" and "),
            calmer(comparison)
        )
    })
}

/// Rows, or reasons, that a sentence names.
const NAMED_MAX: usize = 3;

/// Which hosts and links changed, and what either mesh judged slow.
fn of_mesh(comparison: &Comparison, change: &MeshChange) -> Vec<String> {
    let mut said = Vec::new();
    let rows = |verdict: Verdict| -> Vec<String> {
        let found = comparison.rows.iter().filter(|row| row.verdict == verdict);
        let ratio = |row: &Row| format!("{} ({} of A)", row.label, with_interval(row));
        found.map(ratio).collect()
    };
    for (verdict, word) in [(Verdict::Slower, "Slower"), (Verdict::Faster, "Faster")] {
        let named = rows(verdict);
        if !named.is_empty() {
            said.push(format!("{word} in B: {}.", listed(&named, NAMED_MAX)));
        }
    }
    let judged = |a: bool, b: bool| -> Vec<String> {
        let found = change
            .judged
            .iter()
            .filter(|one| (one.a.is_some(), one.b.is_some()) == (a, b));
        let ratio = |one: &Option<String>| one.clone().unwrap_or_default();
        found
            .map(|one| match (a, b) {
                (true, true) => format!("{} ({}, {})", one.name, ratio(&one.a), ratio(&one.b)),
                _ => format!("{} ({}{})", one.name, ratio(&one.a), ratio(&one.b)),
            })
            .collect()
    };
    for (a, b, words) in [
        (true, false, "Judged slow in A alone"),
        (false, true, "Judged slow in B alone"),
        (true, true, "Judged slow in both"),
    ] {
        let named = judged(a, b);
        if !named.is_empty() {
            said.push(format!("{words}, of the median: {}.", listed(&named, NAMED_MAX)));
        }
    }
    if change.unlisted_links > 0 {
        let links = counted(change.unlisted_links, "link");
        said.push(format!(
            "{links} without a difference that can be told have no row."
        ));
    }
    said
}

/// What figures without a verdict lack.
fn lacking_runs(comparison: &Comparison) -> Option<String> {
    let rows = comparison
        .rows
        .iter()
        .filter(|row| row.verdict == Verdict::Inconclusive);
    let open: Vec<&Row> = rows.collect();
    let without = open.iter().filter(|row| row.lower.is_none()).count();
    let told = open.iter().filter(|row| row.more_runs.is_some()).count();
    let needed = runs_asked(&open)?;
    let which = match told == open.len() {
        true => "the inconclusive ones".to_owned(),
        false => format!("{told} of the inconclusive ones"),
    };
    let runs = comparison.method.runs();
    Some(match without {
        0 if needed > ROUNDS_WORTH_MAX => {
            format!("{TOO_MANY} (about {needed} {runs}): {}", other_ways(comparison))
        }
        0 => format!(
            "about {needed} {runs} should tell {which}: {}",
            how(comparison, needed)
        ),
        _ => format!(
            "{without} without an interval, so without a verdict: at least {needed} {runs} are needed: {}",
            how(comparison, needed)
        ),
    })
}

/// Runs a side that rows without a verdict need: for an interval, and where all have one, for a verdict.
pub(super) fn runs_asked(open: &[&Row]) -> Option<u64> {
    let all_have_one = open.iter().all(|row| row.lower.is_some());
    let asked = open.iter().filter(|row| all_have_one || row.lower.is_none());
    asked.filter_map(|row| needed(row)).max()
}

/// Runs a side that should give a verdict, those that there are included.
fn needed(row: &Row) -> Option<u64> {
    Some(u64::from(row.a_runs.min(row.b_runs)) + row.more_runs?)
}

/// What gives so many runs. Other tools have no such option, but their outputs may stand in one file.
pub(super) fn how(comparison: &Comparison, runs: u64) -> String {
    let sides = [&comparison.a, &comparison.b];
    let mut tools: Vec<&str> = sides.iter().filter_map(|side| side.imported.as_deref()).collect();
    let ours = tools.len() < sides.len();
    tools.dedup();
    match (comparison.method, tools.is_empty()) {
        (Method::Paired, _) => format!("measure with --pairs {runs}"),
        (Method::Unpaired, true) => format!("measure both with --repeats {runs}"),
        (Method::Unpaired, false) => format!(
            "put the outputs of {runs} runs of {} into one file{}",
            tools.join(" and "),
            if ours {
                format!(", and run wirespeed with --repeats {runs}")
            } else {
                String::new()
            }
        ),
    }
}

/// Why a ratio is not the quotient of the two figures beside it, where that can be seen.
pub(crate) fn of_ratios<'a>(
    method: Method,
    quotient: &str,
    rows: impl IntoIterator<Item = &'a Row>,
) -> Option<String> {
    let is_apart = |row: &Row| {
        let shown = row.b.get() / row.a.get();
        shown > 0.0 && (row.ratio.get() / shown).ln().abs() > RATIO_APART_MIN.ln_1p()
    };
    let what = match method {
        Method::Paired => "the ratio within each pair of runs",
        Method::Unpaired => "every run of one side over every run of the other",
    };
    rows.into_iter()
        .any(is_apart)
        .then(|| format!("{quotient}: the middle of {what}, which is not the quotient of the two medians"))
}

fn sentence(row: &Row, within: &str, comparison: &Comparison) -> String {
    let (figure, method) = (only_figure(row), comparison.method);
    let runs = method.runs();
    let have = row.a_runs.min(row.b_runs);
    match (row.verdict, row.more_runs) {
        (Verdict::Faster | Verdict::Slower, _) => format!("B is {}: {figure}", row.verdict.name()),
        (Verdict::Same, _) => format!("B is the same as A within {within}: {figure}"),
        (Verdict::Inconclusive, Some(more)) => {
            let needed = u64::from(have) + more;
            let how = how(comparison, needed);
            match row.lower {
                Some(_) if needed > ROUNDS_WORTH_MAX => format!(
                    "inconclusive: {figure}, neither wholly within {within} nor wholly beyond; {TOO_MANY} (about {needed} \
                     {runs}): {}",
                    other_ways(comparison)
                ),
                Some(_) => format!(
                    "inconclusive: {figure}, neither wholly within {within} nor wholly beyond; about {needed} {runs} should \
                     tell: {how}"
                ),
                None => {
                    let have = match row.a_runs == row.b_runs {
                        true => have.to_string(),
                        false => format!("{} and {}", row.a_runs, row.b_runs),
                    };
                    format!(
                        "no verdict: {figure}, without an interval: it needs at least {needed} {runs}, and there are {have}: {how}"
                    )
                }
            }
        }
        (Verdict::Inconclusive, None) => match disturbance(row) {
            Some(why) => format!("inconclusive: {figure}, but {why}: {}", calmer(comparison)),
            None => {
                format!("inconclusive: {figure}, too near to the margin of {within} for more {runs} to tell")
            }
        },
    }
}

#[cfg(test)]
mod tests;
