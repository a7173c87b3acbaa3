//! A comparison in words: the one row in full, or how many of which verdict, and what a verdict still needs.

use super::{Comparison, Method, Row, Verdict};
use crate::wording::{against, percent};

/// The answer in words: the one row in full, or how many of which verdict.
pub fn answer(comparison: &Comparison) -> Vec<String> {
    let within = percent(comparison.within_ratio.get());
    if let [row] = comparison.rows.as_slice() {
        return vec![sentence(row, &within, comparison.method)];
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
    let mut lines = vec![format!(
        "B against A, {} figures: {}",
        comparison.rows.len(),
        parts.join(", ")
    )];
    lines.extend(lacking_runs(comparison));
    lines
}

/// What figures without a verdict lack.
fn lacking_runs(comparison: &Comparison) -> Option<String> {
    let open = || {
        comparison
            .rows
            .iter()
            .filter(|row| row.verdict == Verdict::Inconclusive)
    };
    let needed = open().filter_map(needed).max()?;
    let without = open().filter(|row| row.lower.is_none()).count();
    let runs = runs_of(comparison.method);
    Some(match without {
        0 => format!(
            "about {needed} {runs} should tell the inconclusive ones: {}",
            how(comparison.method, needed)
        ),
        _ => format!(
            "{without} have no interval, so no verdict: at least {needed} {runs} are needed: {}",
            how(comparison.method, needed)
        ),
    })
}

/// Runs a side that should give a verdict, those that there are included.
fn needed(row: &Row) -> Option<u64> {
    Some(u64::from(row.a_runs.min(row.b_runs)) + row.more_runs?)
}

fn runs_of(method: Method) -> &'static str {
    match method {
        Method::Paired => "pairs",
        Method::Unpaired => "runs a side",
    }
}

/// The option that gives so many runs.
fn how(method: Method, runs: u64) -> String {
    match method {
        Method::Paired => format!("--pairs {runs}"),
        Method::Unpaired => format!("measure both with --repeats {runs}"),
    }
}

fn sentence(row: &Row, within: &str, method: Method) -> String {
    let figure = format!("{} of B is {} that of A", row.tag, against(row.ratio.get()));
    let runs = runs_of(method);
    let have = row.a_runs.min(row.b_runs);
    match (row.verdict, row.more_runs) {
        (Verdict::Faster | Verdict::Slower, _) => format!("B is {}: {figure}", row.verdict.name()),
        (Verdict::Same, _) => format!("B is the same as A within {within}: {figure}"),
        (Verdict::Inconclusive, Some(more)) => {
            let needed = u64::from(have) + more;
            let how = how(method, needed);
            match row.lower {
                Some(_) => format!(
                    "inconclusive: {figure}, but that may be chance; about {needed} {runs} should tell: {how}"
                ),
                None => format!(
                    "no verdict: {figure}, without an interval: it needs at least {needed} {runs}, and there are {have}: {how}"
                ),
            }
        }
        (Verdict::Inconclusive, None) => {
            format!(
                "inconclusive: {figure}, too near to the margin of {within} for any number of {runs} to tell"
            )
        }
    }
}
