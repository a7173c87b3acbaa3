//! What background load did, as people read it: a row a figure, what the load got done, the answer in words.

use super::comparison::figure_text;
use super::figures::percent;
use super::grid::{self, number, text};
use super::style::{Style, Tone, clean, wrap};
use super::table;
use crate::checks::run_remarks;
use crate::compare::{Verdict, more_is_better};
use crate::interference::{Interference, InterferenceRow, Loaded, Work};
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
        answers.push((answer(&of_pair, found.within_ratio.get()), of_pair));
    }
    answers
}

fn answer(rows: &[&InterferenceRow], within_ratio: f64) -> String {
    // How many times worse: a rate suffers by shrinking.
    let harm = |found: &InterferenceRow| match more_is_better(&found.row.tag) {
        true => 1.0 / found.row.ratio.get().max(f64::MIN_POSITIVE),
        false => found.row.ratio.get(),
    };
    let slower = rows.iter().filter(|found| found.row.verdict == Verdict::Slower);
    let worst = slower.max_by(|a, b| harm(a).total_cmp(&harm(b)));
    let all_same = rows.iter().all(|found| found.row.verdict == Verdict::Same);
    let subject = rows.first().map_or_else(String::new, |first| load_subject(first));
    match worst {
        Some(worst) => format!(
            "{subject}: {} is {} times that without load",
            clean(&worst.row.tag),
            significant(worst.row.ratio.get(), 3)
        ),
        None if all_same => format!(
            "{subject}: no figure changes by more than {}",
            percent(within_ratio)
        ),
        None => {
            format!("{subject}: no figure is shown to be worse; see the intervals for what would be missed")
        }
    }
}
