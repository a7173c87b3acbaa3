//! What no document and no screen may say, whatever was measured: for tests of everything that makes either.
//!
//! It looks at the finished document and at what people read of it, and knows nothing of how either came about.

use crate::explain::explain;
use crate::labels::Input;
use crate::render::{self, Extent, Style};
use crate::view::{Part, UNRECORDED, View};
use serde_json::Value;
use wirespeed_schema::Run;
use wirespeed_schema::run::CaseStatus;

/// Everything in `run` that cannot be true, one line each: times below zero or longer than the run, slices of time beyond
/// its end, shares above the whole, sentences with a hole where a figure should be, cases that ended well without a figure;
/// and every form of it that does not begin with the answer, breaks a terminal's width, or loses the name of a row.
pub fn violations(run: &Run) -> Vec<String> {
    let mut found = times(run);
    let input = Input { name: "run", run };
    let view = View::of(&[input]);
    let forms = forms(&view, input);
    found.extend(forms.iter().flat_map(|(_, text)| untrue(text)));
    found.extend(beside(run).iter().flat_map(|text| untrue(text)));
    found.extend(without_figure(run));
    found.extend(WIDTHS.iter().flat_map(|width| misshapen(&view, *width)));
    found.extend(out_of_order(&view, &forms));
    found.extend(bracketed(&view));
    found.dedup();
    found
}

/// Terminals that every screen must fit.
const WIDTHS: [usize; 3] = [40, 80, 200];

/// Lines of a screen that are too long, though they could be broken, and names of rows that it lost.
fn misshapen(view: &View, width: usize) -> Vec<String> {
    let style = Style {
        width,
        ..Style::PLAIN
    };
    let text = render::text(view, Extent::SCREEN, &style);
    let is_long = |line: &&str| line.chars().count() > width && line.split_whitespace().count() > 1;
    // A word that is too long takes what stands before it with it.
    let breakable = |line: &&str| {
        line.split_whitespace()
            .all(|word| word.chars().count() < width / 2)
    };
    let mut found: Vec<String> = text
        .lines()
        .filter(is_long)
        .filter(breakable)
        .map(|line| format!("wider than {width}: {line}"))
        .collect();
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let shown = squeezed(&text);
    let tables = view.subjects.iter().flat_map(|subject| &subject.parts);
    for part in tables {
        let Part::Table(table) = part else {
            continue;
        };
        let most = table.screen_rows.unwrap_or(usize::MAX);
        for (index, _) in table.columns.iter().enumerate().filter(|(_, column)| column.key) {
            let lost = table
                .rows
                .iter()
                .take(most)
                .map(|row| squeezed(&row.cells[index]));
            let lost = lost.filter(|cell| !cell.contains(char::is_control) && !shown.contains(cell));
            found.extend(lost.map(|cell| format!("{cell} is lost at {width} columns")));
        }
    }
    found
}

/// Remarks that end with one bracket after the other: nobody can tell what each of them is about.
fn bracketed(view: &View) -> Vec<String> {
    let remarks = view.subjects.iter().flat_map(|subject| &subject.remarks);
    let messages = remarks.map(|told| &told.remark.message);
    let is_piled = |message: &&String| {
        [") (", ") [", "] [", "] ("]
            .iter()
            .any(|pile| message.contains(pile))
    };
    messages
        .filter(is_piled)
        .map(|message| format!("brackets in a row: {message}"))
        .collect()
}

/// Forms whose first words are not the answer.
fn out_of_order(view: &View, forms: &[Form]) -> Vec<String> {
    let Some(answer) = view.subjects.first().and_then(|subject| subject.answer.first()) else {
        return Vec::new();
    };
    // What a form escapes or breaks is no part of the comparison.
    let letters = |text: &str| {
        let plain = ["&lt;", "&gt;", "&amp;", "&quot;", "&#39;"]
            .iter()
            .fold(text.to_owned(), |text, mark| text.replace(mark, ""));
        plain
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(24)
            .collect::<String>()
    };
    // What people read of a page begins in its box.
    let body = |text: &str| {
        let boxed = text.split_once("<div class=\"answer\"");
        let boxed = boxed.and_then(|(_, rest)| rest.split_once('>'));
        letters(boxed.map_or(text, |(_, rest)| rest.trim_start().trim_start_matches("<p>")))
    };
    let first: String = letters(answer).chars().take(12).collect();
    let wrong = forms.iter().filter(|(_, text)| !body(text).starts_with(&first));
    wrong
        .map(|(form, _)| format!("{form} does not begin with: {answer}"))
        .collect()
}

/// A form in which people read a result: its name, and the whole text.
type Form = (&'static str, String);

/// Every form of a View.
fn forms(view: &View, input: Input) -> [Form; 4] {
    let page = render::page(view, &[input], "audit");
    // The page's own script, at its end, is nothing that people read.
    let read = page.split("<script>").next().unwrap_or_default();
    [
        ("the screen", render::text(view, Extent::SCREEN, &Style::PLAIN)),
        ("the report", render::text(view, Extent::WHOLE, &Style::PLAIN)),
        ("Markdown", render::markdown(view)),
        ("the page", read.to_owned()),
    ]
}

/// Cases that came to their end and have no figure that answers for them.
fn without_figure(run: &Run) -> impl Iterator<Item = String> {
    let ended = run.cases.iter().filter(|case| case.status == CaseStatus::Ok);
    let lines = ended.map(|case| render::case_line(case, &Style::PLAIN));
    lines.filter(|line| line.contains(UNRECORDED))
}

/// What people read of `run` beside its View.
fn beside(run: &Run) -> Vec<String> {
    let cases = run.cases.iter();
    let lines = cases.map(|case| render::case_line(case, &Style::PLAIN));
    let sentences = explain(run).into_iter().map(|sentence| sentence.text);
    lines.chain(sentences).collect()
}

/// What `text` says that cannot be true.
pub fn untrue(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some(at) = rest.find(" %") {
            let word = rest[..at]
                .rsplit([' ', '[', '(', '{', '>', '='])
                .next()
                .unwrap_or_default();
            // A precision may be worse than the value that it is of.
            if word
                .parse::<f64>()
                .is_ok_and(|share| !(0.0..=100.0).contains(&share))
            {
                found.push(format!("{word} % in: {}", line.trim()));
            }
            rest = &rest[at + 2..];
        }
        for hole in ["NaN", "1970-01-01", " ()", ": , ", "wirespeed imported"] {
            if line.contains(hole) {
                found.push(format!("{hole:?} in: {}", line.trim()));
            }
        }
    }
    found
}

/// Times of the document that no clock can have shown.
fn times(run: &Run) -> Vec<String> {
    let mut found = Vec::new();
    let whole_ns = match run.duration_ns {
        // An import does not say how long its run took.
        0 => f64::INFINITY,
        // Clocks of two machines agree to less than this.
        whole => whole as f64 * 1.01,
    };
    for case in &run.cases {
        let label = case.case.label();
        // Each connection has a thread, and what was observed of a rank is the sum of its threads.
        let threads = case.case.test.bulk().map_or(1, |bulk| bulk.connections.max(1)) as f64;
        let runs = case.seen();
        let metrics = runs
            .clone()
            .flat_map(|run| &run.metrics)
            .chain(&case.metrics)
            .filter(|(tag, _)| tag.ends_with("_ns"));
        for (tag, metric) in metrics {
            let ns = metric.value.get();
            if !(0.0..=whole_ns).contains(&ns) {
                found.push(format!("{label}: {tag} is {ns} ns in a run of {whole_ns} ns"));
            }
        }
        for outcome in runs.flat_map(|run| &run.outcomes) {
            let rank = outcome.rank;
            let ends = outcome.intervals.iter().map(|slice| {
                let end = slice.start_ns.saturating_add(slice.duration_ns);
                ("the end of a slice", end, whole_ns)
            });
            let spans = [
                ("elapsed_ns", outcome.elapsed_ns, whole_ns),
                ("observed_ns", outcome.observed_ns(), whole_ns * threads),
            ];
            for (what, ns, most_ns) in spans.into_iter().chain(ends) {
                if ns as f64 > most_ns {
                    found.push(format!(
                        "{label}: {what} of rank {rank} is {ns} ns in a run of {whole_ns} ns"
                    ));
                }
            }
        }
    }
    for (name, section) in run.sections.iter() {
        walk(name, section, &mut found);
    }
    found
}

/// Sections are no types of the schema: times in them are looked for by their names. A difference may be below zero.
fn walk(path: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let signed = ["residual", "added", "difference"];
                let is_time = name.ends_with("_ns") && !signed.iter().any(|word| name.contains(word));
                if is_time && field.as_f64().is_some_and(|ns| ns < 0.0) {
                    found.push(format!("{path}.{name} is {field}"));
                }
                walk(&format!("{path}.{name}"), field, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(path, item, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_found() {
        for bad in [
            "the hypervisor took 326 % of it",
            "stream 111 %",
            "(-3 %)",
            "tcp am_bw: , 2 GB/s",
            "on x ()",
        ] {
            assert_eq!(untrue(bad).len(), 1, "{bad}");
        }
        for good in [
            "100 % of it",
            "±120 % not reached",
            "f() and width:100%",
            "95 % [90 %, 99 %]",
        ] {
            assert!(untrue(good).is_empty(), "{good}");
        }
    }
}
