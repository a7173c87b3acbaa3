//! The page itself: one file, readable without its pictures, usable by keyboard and screen reader, light and dark.

use super::{Input, Picture, pictures, words};
use crate::compare::Comparison;
use crate::render::figure_text;
use crate::svg;
use crate::tags::HEADLINES;
use std::fmt::Write as _;
use wirespeed_schema::run::CaseStatus;
use wirespeed_schema::units::format_size;

/// What the page allows itself: its own style, nothing else.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Results whose environments stand side by side.
const ENVIRONMENTS_MAX: usize = 12;
/// Cases whose effective samples are told one by one.
const WORTH_MAX: usize = 12;

/// Layout and colours beside those of the charts.
const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--back:#ffffff;--box:#f6f8fa;--bad:#b4001e;--warn:#8a4b00;--link:#0550ae}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#a3acb8;--line:#2c323a;--back:#14171c;--box:#1c2128;--bad:#ff8080;--warn:#f2b25c;--link:#79b8ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:860px;padding:1.2rem;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;color:var(--ink);background:var(--back);overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:.2em 0}h2{font-size:1.2rem;margin:1.6em 0 .4em;border-bottom:1px solid var(--line)}h3{font-size:1rem;margin:1.2em 0 .2em}
a{color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:2px}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2em 1em;padding:0}
.skip{position:absolute;left:-999px}.skip:focus{position:static}
.answer{background:var(--box);border:1px solid var(--line);border-radius:6px;padding:.6em 1em}
.answer p{margin:.2em 0;font-weight:600}
p.soft,li.soft{color:var(--soft)}
code{font:.9em ui-monospace,'DejaVu Sans Mono',monospace;background:var(--box);padding:.1em .3em;border-radius:3px}
figure{margin:1em 0}.chart{overflow-x:auto}.chart svg{width:100%;min-width:600px;height:auto;display:block}
.table{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
th,td{border-bottom:1px solid var(--line);padding:.25em .7em .25em 0;text-align:left;vertical-align:top;white-space:nowrap}
summary{cursor:pointer;color:var(--link)}
.suspect,.slower,.bad{color:var(--bad);font-weight:600}.warning,.inconclusive{color:var(--warn);font-weight:600}
@media print{details>*{display:block}nav{display:none}figure,tr{break-inside:avoid}}
";

/// The report of `inputs` as one HTML document. `made_by`: the program and its version, for the foot.
pub fn page(inputs: &[Input], made_by: &str) -> String {
    let pictures = pictures::all(inputs);
    let mut html = Html::default();
    let title = match inputs {
        [one] => format!("wirespeed: {}", one.name),
        many => format!("wirespeed: {} results", many.len()),
    };
    html.head(&title);
    html.element("h1", "", &title);
    html.raw("<nav aria-label=\"Contents\"><ul><li><a href=\"#answer\">Answer</a></li>");
    if !pictures.is_empty() {
        html.raw("<li><a href=\"#pictures\">Pictures</a></li>");
    }
    html.raw("<li><a href=\"#cases\">All cases</a></li><li><a href=\"#trust\">How far to trust it</a></li><li><a href=\"#environment\">Environment</a></li></ul></nav>\n<main id=\"main\">\n");
    html.answers(inputs);
    html.pictures(&pictures);
    html.cases(inputs);
    html.trust(inputs);
    html.environment(inputs);
    html.raw("</main>\n<footer>");
    html.element("p", "soft", &format!("Made by {made_by}. Intervals are 95 % unless a figure states another level; every figure is defined in docs/metrics.md."));
    html.raw("</footer>\n</body>\n</html>\n");
    html.text
}

#[derive(Default)]
struct Html {
    text: String,
}

impl Html {
    fn raw(&mut self, markup: &str) {
        self.text.push_str(markup);
    }

    /// An element with escaped text.
    fn element(&mut self, name: &str, class: &str, text: &str) {
        let class = if class.is_empty() {
            String::new()
        } else {
            format!(" class=\"{class}\"")
        };
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "<{name}{class}>{}</{name}>", svg::escape(text));
    }

    fn head(&mut self, title: &str) {
        let title = svg::escape(title);
        let charts = svg::style();
        let _ = write!(
            self.text,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>\n<style>\n{STYLE}{charts}</style>\n</head>\n\
             <body>\n<a class=\"skip\" href=\"#main\">Skip to the results</a>\n"
        );
    }

    fn heading(&mut self, id: &str, text: &str) {
        let _ = writeln!(self.text, "<h2 id=\"{id}\">{}</h2>", svg::escape(text));
    }

    fn answers(&mut self, inputs: &[Input]) {
        self.heading("answer", "The answer");
        for input in inputs {
            if inputs.len() > 1 {
                self.element("h3", "", input.name);
            }
            self.raw("<div class=\"answer\">\n");
            for line in words::answers(input) {
                self.element("p", "", &line);
            }
            self.raw("</div>\n");
            for line in words::certainty(input.run) {
                self.element("p", "", &line);
            }
            for line in words::measured(input) {
                self.element("p", "soft", &line);
            }
            if let Some(comparison) = Comparison::of(input.run) {
                self.differences(&comparison);
            }
        }
    }

    fn differences(&mut self, comparison: &Comparison) {
        if comparison.environment.is_empty() {
            return;
        }
        self.element(
            "p",
            "warning",
            "The environments differ, which may explain the difference:",
        );
        let rows = comparison.environment.iter().map(|difference| {
            let said = |value: &Option<String>| value.clone().unwrap_or_else(|| "not stated".to_owned());
            vec![difference.name.clone(), said(&difference.a), said(&difference.b)]
        });
        self.table(&["fact", "A", "B"], &rows.collect::<Vec<_>>(), &|_| "");
    }

    fn pictures(&mut self, pictures: &[Picture]) {
        if pictures.is_empty() {
            return;
        }
        self.heading("pictures", "Pictures");
        for picture in pictures {
            self.raw("<figure>\n<div class=\"chart\" tabindex=\"0\" role=\"group\" aria-label=\"Chart\">\n");
            let chart = picture.chart.inline();
            self.raw(&chart);
            self.raw("\n</div>\n<figcaption>\n");
            for line in &picture.words {
                self.element("p", "", line);
            }
            self.raw("<details><summary>");
            let summary = format!("Table: {}", picture.chart.title);
            self.raw(&svg::escape(&summary));
            self.raw("</summary>\n");
            let columns: Vec<&str> = picture.columns.iter().map(String::as_str).collect();
            self.table(&columns, &picture.rows, &|_| "");
            self.raw("</details>\n</figcaption>\n</figure>\n");
        }
    }

    /// Every case with its headline, quantiles and remarks.
    fn cases(&mut self, inputs: &[Input]) {
        self.heading("cases", "All cases");
        const TAGS: [(&str, &[&str]); 4] = [
            ("p50", &["rtt_p50_ns", "completion_p50_ns", "ack_p50_ns"]),
            ("p99", &["rtt_p99_ns", "completion_p99_ns", "ack_p99_ns"]),
            ("rate", &["rate_msg_per_s"]),
            ("bandwidth", &["bandwidth_bytes_per_s"]),
        ];
        let columns = [
            "case",
            "size",
            "window",
            "p50",
            "p99",
            "rate",
            "bandwidth",
            "runs",
            "status",
            "remarks",
        ];
        for input in inputs {
            if inputs.len() > 1 {
                self.element("h3", "", input.name);
            }
            let rows = input.run.cases.iter().map(|case| {
                let headline = HEADLINES
                    .iter()
                    .map(|(tag, _, _)| *tag)
                    .find(|tag| case.metrics.contains_key(*tag));
                let cell = |tags: &&[&str]| {
                    let found = tags.iter().find_map(|tag| Some((*tag, case.metrics.get(*tag)?)));
                    found.map_or(String::new(), |(tag, metric)| match Some(tag) == headline {
                        true => words::with_interval(tag, metric),
                        false => figure_text(tag, metric.value.get()),
                    })
                };
                let remarks: Vec<&str> = case.remarks.iter().map(|remark| remark.code.as_str()).collect();
                let mut row = vec![
                    words::label(input, false, case),
                    format_size(case.case.test.size_bytes()),
                    case.case.test.window().to_string(),
                ];
                row.extend(TAGS.iter().map(|(_, tags)| cell(tags)));
                row.extend([
                    case.repetitions.len().to_string(),
                    status(case.status, case.error.as_deref()),
                    remarks.join(", "),
                ]);
                row
            });
            let rows: Vec<Vec<String>> = rows.collect();
            match rows.is_empty() {
                true => self.element("p", "", "This result has no cases."),
                false => self.table(&columns, &rows, &|row| if row[8] == "ok" { "" } else { "bad" }),
            }
        }
    }

    fn trust(&mut self, inputs: &[Input]) {
        self.heading("trust", "How far to trust it");
        for input in inputs {
            if inputs.len() > 1 {
                self.element("h3", "", input.name);
            }
            let rows: Vec<Vec<String>> = words::trust(input.run)
                .into_iter()
                .map(|(name, value)| vec![name, value])
                .collect();
            if !rows.is_empty() {
                self.table(&["the worst of all ranks", "value"], &rows, &|_| "");
            }
            let rows = words::resampled(input, false);
            if !rows.is_empty() {
                self.element(
                    "p",
                    "",
                    "Intervals by the bootstrap, which keeps what is alike within a run together:",
                );
                self.table(&words::RESAMPLED, &rows, &|_| "");
            }
            let worth = input
                .run
                .cases
                .iter()
                .filter_map(|case| Some((case, words::worth(case)?)));
            for (case, said) in worth.take(WORTH_MAX) {
                self.element(
                    "p",
                    "soft",
                    &format!("{}: {said}.", words::label(input, false, case)),
                );
            }
            let remarks = words::remarks(input.run);
            if remarks.is_empty() {
                self.element("p", "", "Nothing was found that could have bent the figures.");
                continue;
            }
            self.raw("<ul>\n");
            for remark in remarks {
                let word = words::severity(remark.severity);
                let remedy = remark
                    .remedy
                    .as_ref()
                    .map(|remedy| format!(" Remedy: {}", svg::escape(remedy)));
                let _ = writeln!(
                    self.text,
                    "<li><span class=\"{word}\">{word}</span>: {} <code>{}</code>{}</li>",
                    svg::escape(&remark.message),
                    svg::escape(&remark.code),
                    remedy.unwrap_or_default()
                );
            }
            self.raw("</ul>\n");
        }
    }

    fn environment(&mut self, inputs: &[Input]) {
        self.heading("environment", "Environment");
        if inputs.len() > ENVIRONMENTS_MAX {
            let said = format!("Of {} results the first {ENVIRONMENTS_MAX}.", inputs.len());
            self.element("p", "", &said);
        }
        let inputs = &inputs[..inputs.len().min(ENVIRONMENTS_MAX)];
        let facts: Vec<_> = inputs
            .iter()
            .map(|input| crate::compare::environment::facts(input.run))
            .collect();
        let names: std::collections::BTreeSet<&String> =
            facts.iter().flat_map(|facts| facts.keys()).collect();
        let rows: Vec<Vec<String>> = names
            .into_iter()
            .map(|name| {
                let values = facts
                    .iter()
                    .map(|facts| facts.get(name).cloned().unwrap_or_default());
                std::iter::once(name.clone()).chain(values).collect()
            })
            .collect();
        let columns: Vec<&str> = std::iter::once("fact")
            .chain(inputs.iter().map(|input| input.name))
            .collect();
        self.table(&columns, &rows, &|_| "");
    }

    /// A table that scrolls by itself where it is too wide; rows get the class that `class` gives them.
    fn table(&mut self, columns: &[&str], rows: &[Vec<String>], class: &dyn Fn(&[String]) -> &'static str) {
        self.raw(
            "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>\n<thead><tr>",
        );
        for column in columns {
            let _ = write!(self.text, "<th scope=\"col\">{}</th>", svg::escape(column));
        }
        self.raw("</tr></thead>\n<tbody>\n");
        for row in rows {
            match class(row) {
                "" => self.raw("<tr>"),
                class => self.raw(&format!("<tr class=\"{class}\">")),
            }
            for cell in row {
                let _ = write!(self.text, "<td>{}</td>", svg::escape(cell));
            }
            self.raw("</tr>\n");
        }
        self.raw("</tbody></table></div>\n");
    }
}

fn status(status: CaseStatus, error: Option<&str>) -> String {
    let word = match status {
        CaseStatus::Ok => "ok",
        CaseStatus::Partial => "partial",
        CaseStatus::Failed => "failed",
        CaseStatus::Skipped => "skipped",
        CaseStatus::WrongData => "wrong data",
    };
    match error {
        Some(error) => format!("{word}: {error}"),
        None => word.to_owned(),
    }
}
