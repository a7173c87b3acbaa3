//! What background load did, as people read it: a row a figure, what the load got done, the answer in words.

use super::figures::figure_text;
use super::grid::{self, number, text};
use super::style::{Style, Tone, clean, wrap};
use super::table;
use crate::checks::run_remarks;
use crate::compare::{Verdict, more_is_better};
use crate::interference::{Interference, InterferenceRow, Loaded, Work};
use crate::wording::percent;
use wirespeed_schema::Run;
use wirespeed_schema::units::{format_rate, significant};

/// The table of a run with `--interference`.
pub fn interference(run: &Run, style: &Style) -> String {
    let mut lines = comparison(run, style);
    lines.extend(table::unmeasured(&run.cases, style));
    lines.extend(
        table::trust_line(&run.cases).map(|line| style.paint(Tone::Faint, &wrap(&line, style.width, 2))),
    );
    lines.extend(table::remark_lines(&run_remarks(&run.cases), style));
    lines.extend(table::run_end(run, style));
    table::finish(lines, style)
}

/// The rows, the work of the loads and the answers alone; nothing where `run` has no such section.
pub(super) fn comparison(run: &Run, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(found) = Interference::of(run) {
        lines.extend(rows(&found, style));
        lines.extend(
            found
                .work
                .iter()
                .map(|work| wrap(&work_line(work), style.width, 2)),
        );
        let missing = found.missing.iter();
        lines.extend(missing.map(|line| style.paint(Tone::Warning, &wrap(&clean(line), style.width, 2))));
        lines.push(String::new());
        lines.extend(
            interference_answers(&found)
                .iter()
                .map(|line| style.paint(Tone::Strong, &wrap(line, style.width, 2))),
        );
    }
    lines
}

fn rows(found: &Interference, style: &Style) -> Vec<String> {
    let columns = [
        text("case", 0),
        text("load", 0),
        text("figure", 0),
        number("off", 3),
        number("on", 3),
        number("rounds", 5),
        number("on/off", 0),
        text("interval", 1),
        text("verdict", 2),
    ];
    let cells: Vec<Vec<String>> = found.rows.iter().map(cells).collect();
    if cells.is_empty() {
        return Vec::new();
    }
    let (mut lines, _) = grid::render(&columns, &cells, style.width);
    lines[0] = style.paint(Tone::Faint, &lines[0]);
    for (line, found) in lines.iter_mut().skip(1).zip(&found.rows) {
        match found.row.verdict {
            Verdict::Slower => *line = style.paint(Tone::Bad, line),
            Verdict::Inconclusive => *line = style.paint(Tone::Warning, line),
            Verdict::Faster | Verdict::Same => {}
        }
    }
    lines.push(String::new());
    lines
}

/// The load and where it ran: `cpu@same`.
pub fn load_name(loaded: &Loaded) -> String {
    let load = clean(&loaded.load);
    match load.contains('@') || load == "none" {
        true => load,
        false => format!("{load}@{}", clean(&loaded.place)),
    }
}

fn cells(found: &InterferenceRow) -> Vec<String> {
    let row = &found.row;
    let ratio = |value: f64| significant(value, 4);
    let interval = match (row.lower, row.upper) {
        (Some(lower), Some(upper)) => format!("[{}, {}]", ratio(lower.get()), ratio(upper.get())),
        _ => String::new(),
    };
    let more = row.more_runs.map(|more| format!(" (needs about {more} more)"));
    vec![
        clean(&row.label),
        load_name(&found.loaded),
        clean(&row.tag),
        figure_text(&row.tag, row.a.get()),
        figure_text(&row.tag, row.b.get()),
        row.b_runs.to_string(),
        ratio(row.ratio.get()),
        interval,
        format!("{}{}", row.verdict.name(), more.unwrap_or_default()),
    ]
}

/// `shm am_lat 8 B with cpu@same: 120 k cpu_loops/s`
fn work_line(work: &Work) -> String {
    let parts: Vec<String> = work
        .per_s
        .iter()
        .map(|(key, per_s)| match key.strip_suffix("_bytes") {
            Some(what) => format!("{} {what}", format_rate(per_s.get(), "B/s")),
            None => format_rate(per_s.get(), &format!("{}/s", clean(key))),
        })
        .collect();
    format!(
        "beside {} the load {} did {}",
        clean(&work.label),
        load_name(&work.loaded),
        parts.join(", ")
    )
}

/// What was measured under which load: `shm am_lat 8 B under cpu@same`.
pub fn load_subject(found: &InterferenceRow) -> String {
    format!("{} under {}", clean(&found.row.label), load_name(&found.loaded))
}

/// For each case and load the figure that moved most, and whether anything did.
pub fn interference_answers(found: &Interference) -> Vec<String> {
    let answers = answers_with_rows(found).into_iter();
    answers.map(|(answer, _)| answer).collect()
}

/// The same, each answer with the rows that it rests on.
pub fn answers_with_rows(found: &Interference) -> Vec<(String, Vec<&InterferenceRow>)> {
    let mut answers = Vec::new();
    let mut seen: Vec<(&str, &Loaded)> = Vec::new();
    for first in &found.rows {
        let key = (first.row.label.as_str(), &first.loaded);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let of_pair: Vec<&InterferenceRow> = found
            .rows
            .iter()
            .filter(|other| (other.row.label.as_str(), &other.loaded) == key)
            .collect();
        answers.push((answer(&of_pair, found), of_pair));
    }
    answers
}

fn answer(rows: &[&InterferenceRow], found: &Interference) -> String {
    // How many times worse: a rate suffers by shrinking.
    let harm = |found: &InterferenceRow| match more_is_better(&found.row.tag) {
        true => 1.0 / found.row.ratio.get().max(f64::MIN_POSITIVE),
        false => found.row.ratio.get(),
    };
    let with = |verdict: Verdict| rows.iter().filter(move |found| found.row.verdict == verdict);
    let worst = with(Verdict::Slower).max_by(|a, b| harm(a).total_cmp(&harm(b)));
    let best = with(Verdict::Faster).min_by(|a, b| harm(a).total_cmp(&harm(b)));
    let subject = rows.first().map_or_else(String::new, |first| load_subject(first));
    let moved = |found: &InterferenceRow| {
        let ends = found
            .row
            .lower
            .zip(found.row.upper)
            .map_or(String::new(), |(lower, upper)| {
                format!(
                    " [{}, {}]",
                    significant(lower.get(), 3),
                    significant(upper.get(), 3)
                )
            });
        format!(
            "{subject}: {} is {} times that without load{ends}",
            clean(&found.row.tag),
            significant(found.row.ratio.get(), 3)
        )
    };
    match (worst, best) {
        (Some(worst), _) => moved(worst),
        (None, Some(best)) => format!("{}: better", moved(best)),
        (None, None) => match with(Verdict::Inconclusive).count() {
            0 => format!(
                "{subject}: no figure changes by more than {}",
                percent(found.within_ratio.get())
            ),
            open => format!(
                "{subject}: no verdict on {open} of {} figures: {}",
                rows.len(),
                lacking(rows, found)
            ),
        },
    }
}

/// What the figures without a verdict lack, and the option that gives it.
fn lacking(rows: &[&InterferenceRow], found: &Interference) -> String {
    let open = || rows.iter().filter(|one| one.row.verdict == Verdict::Inconclusive);
    let ran = open().map(|one| one.row.b_runs).min().unwrap_or(0);
    let more = open().map(|one| Some(u64::from(one.row.b_runs) + one.row.more_runs?));
    let needed = more.flatten().max();
    let without = open().any(|one| one.row.lower.is_none());
    match (without, needed) {
        (true, Some(needed)) => format!(
            "{ran} rounds give no interval, at least {needed} are needed: {} {needed}",
            found.rounds_option
        ),
        (false, Some(needed)) => format!(
            "after {ran} rounds the differences may be chance; about {needed} rounds should tell: {} {needed}",
            found.rounds_option
        ),
        (_, None) => format!(
            "they are too near to the margin of {} for any number of rounds to tell",
            percent(found.within_ratio.get())
        ),
    }
}
