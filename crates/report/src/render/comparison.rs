//! A comparison as people read it: the sides, what differs between them, a row a figure, the answer in words.

use super::figures::figure_text;
use super::grid::{self, number, text};
use super::style::{Style, Tone, clean, wrap};
use super::{interference, table};
use crate::compare::{Comparison, Method, Row, Verdict};
use crate::wording::{against, percent};
use wirespeed_schema::Run;
use wirespeed_schema::units::significant;

/// Rows of the environment that are shown; the document has all.
const DIFFERENCES_MAX: usize = 12;

/// The comparison that `run` holds; how the run ended where it holds none.
pub fn comparison(run: &Run, style: &Style) -> String {
    let mut lines = Vec::new();
    if let Some(comparison) = Comparison::of(run) {
        lines.extend(sides(&comparison, style));
        lines.extend(environment(&comparison, style));
        lines.extend(rows(&comparison, style));
        lines.extend(lacking(&comparison, style));
        lines.extend(
            answer(&comparison)
                .iter()
                .map(|line| style.paint(Tone::Strong, &wrap(line, style.width, 2))),
        );
    }
    lines.extend(interference::comparison(run, style));
    lines.extend(table::run_end(run, style));
    table::finish(lines, style)
}

fn sides(comparison: &Comparison, style: &Style) -> Vec<String> {
    let line = |letter: &str, side: &crate::compare::Side| {
        let when = match comparison.method {
            Method::Paired => String::new(),
            Method::Unpaired => match &side.imported {
                Some(tool) => format!("  (from {}, time {})", clean(tool), clean(&side.started_at)),
                None => format!(
                    "  ({}, wirespeed {})",
                    clean(&side.started_at),
                    clean(&side.version)
                ),
            },
        };
        wrap(&format!("{letter}: {}{when}", clean(&side.name)), style.width, 3)
    };
    let mut lines = vec![line("A", &comparison.a), line("B", &comparison.b)];
    if comparison.control {
        lines.push(wrap(
            "control: both sides are the same, so every difference below is the machine's",
            style.width,
            2,
        ));
    }
    lines
}

fn environment(comparison: &Comparison, style: &Style) -> Vec<String> {
    let differences = &comparison.environment;
    let mut lines = match (differences.is_empty(), comparison.method) {
        (true, Method::Paired) => Vec::new(),
        (true, Method::Unpaired) => vec!["environment: the same".to_owned()],
        (false, _) => vec![style.paint(
            Tone::Warning,
            "environment differs, which may explain what follows:",
        )],
    };
    for difference in differences.iter().take(DIFFERENCES_MAX) {
        let said = |value: &Option<String>| clean(value.as_deref().unwrap_or("not stated"));
        let text = format!(
            "  {}: {} -> {}",
            clean(&difference.name),
            said(&difference.a),
            said(&difference.b)
        );
        lines.push(wrap(&text, style.width, 6));
    }
    if differences.len() > DIFFERENCES_MAX {
        lines.push(format!(
            "  and {} more, see --json",
            differences.len() - DIFFERENCES_MAX
        ));
    }
    lines.push(String::new());
    lines
}

fn rows(comparison: &Comparison, style: &Style) -> Vec<String> {
    let columns = [
        text("case", 0),
        text("figure", 2),
        number("A", 3),
        number("B", 3),
        number("runs", 5),
        number("B/A", 0),
        text("interval", 1),
        text("verdict", 0),
    ];
    let cells: Vec<Vec<String>> = comparison.rows.iter().map(cells).collect();
    if cells.is_empty() {
        return Vec::new();
    }
    let (mut lines, _) = grid::render(&columns, &cells, style.width);
    lines[0] = style.paint(Tone::Faint, &lines[0]);
    for (line, row) in lines.iter_mut().skip(1).zip(&comparison.rows) {
        match row.verdict {
            Verdict::Slower => *line = style.paint(Tone::Bad, line),
            Verdict::Inconclusive => *line = style.paint(Tone::Warning, line),
            Verdict::Faster | Verdict::Same => {}
        }
    }
    lines.push(String::new());
    lines
}

fn cells(row: &Row) -> Vec<String> {
    let ratio = |value: f64| significant(value, 4);
    let interval = match (row.lower, row.upper) {
        (Some(lower), Some(upper)) => format!("[{}, {}]", ratio(lower.get()), ratio(upper.get())),
        _ => String::new(),
    };
    let more = row.more_runs.map(|more| format!(" (needs about {more} more)"));
    vec![
        clean(&row.label),
        clean(&row.tag),
        figure_text(&row.tag, row.a.get()),
        figure_text(&row.tag, row.b.get()),
        match row.a_runs == row.b_runs {
            true => row.a_runs.to_string(),
            false => format!("{}/{}", row.a_runs, row.b_runs),
        },
        ratio(row.ratio.get()),
        interval,
        format!("{}{}", row.verdict.name(), more.unwrap_or_default()),
    ]
}

fn lacking(comparison: &Comparison, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    for (cases, letter) in [(&comparison.only_a, "A"), (&comparison.only_b, "B")] {
        if !cases.is_empty() {
            let named: Vec<String> = cases.iter().take(8).map(|case| clean(case)).collect();
            let more = cases.len().saturating_sub(8);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            let line = format!("only in {letter}, not compared: {}{more}", named.join(", "));
            lines.push(style.paint(Tone::Faint, &wrap(&line, style.width, 2)));
        }
    }
    lines
}

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
    let figure = format!(
        "{} of B is {} that of A",
        clean(&row.tag),
        against(row.ratio.get())
    );
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
