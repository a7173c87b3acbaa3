//! The page itself: one file, readable without its pictures, usable by keyboard and screen reader, light and dark.

use crate::charts::Picture;
use crate::svg;
use crate::table::{Table, Tone};
use crate::view::{Line, Part, Subject, View};
use std::fmt::Write as _;

/// What the page allows itself: its own style, nothing else.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Layout and colours beside those of the charts.
const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--back:#ffffff;--box:#f6f8fa;--bad:#b4001e;--warn:#8a4b00;--link:#0550ae}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#a3acb8;--line:#2c323a;--back:#14171c;--box:#1c2128;--bad:#ff8080;--warn:#f2b25c;--link:#79b8ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1100px;padding:1.2rem;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;color:var(--ink);background:var(--back);overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:.2em 0}h2{font-size:1.2rem;margin:1.6em 0 .4em;border-bottom:1px solid var(--line)}h3{font-size:1rem;margin:1.2em 0 .2em}
a{color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:2px}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2em 1em;padding:0}
.skip{position:absolute;left:-999px}.skip:focus{position:static}
.answer{background:var(--box);border:1px solid var(--line);border-radius:6px;padding:.6em 1em}
.answer p{margin:.2em 0;font-weight:600}
.soft{color:var(--soft)}.strong{font-weight:600}
code{font:.9em ui-monospace,'DejaVu Sans Mono',monospace;background:var(--box);padding:.1em .3em;border-radius:3px}
figure{margin:1em 0;max-width:860px}.chart{overflow-x:auto}.chart svg{width:100%;min-width:600px;height:auto;display:block}
.table{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
th,td{border-bottom:1px solid var(--line);padding:.25em .7em .25em 0;text-align:left;vertical-align:top}
.number{text-align:right;white-space:nowrap}td:first-child{white-space:nowrap}p{max-width:75ch}
summary{cursor:pointer;color:var(--link)}
.bad{color:var(--bad);font-weight:600}.warning{color:var(--warn);font-weight:600}
@media print{details>*{display:block}nav{display:none}figure,tr{break-inside:avoid}}
";

/// The page of a View. `made_by`: the program and its version, for the foot.
pub fn page(view: &View, made_by: &str) -> String {
    let mut html = Html::default();
    let title = match view.subjects.as_slice() {
        [one] => format!("wirespeed: {}", one.name),
        many => format!("wirespeed: {} results", many.len()),
    };
    html.head(&title);
    html.element("h1", "", &title);
    html.raw("<nav aria-label=\"Contents\"><ul><li><a href=\"#answer\">Answer</a></li>");
    html.raw("<li><a href=\"#cases\">Tables</a></li>");
    if !view.charts.is_empty() {
        html.raw("<li><a href=\"#pictures\">Pictures</a></li>");
    }
    html.raw("<li><a href=\"#trust\">How far to trust it</a></li><li><a href=\"#environment\">Environment</a></li></ul></nav>\n<main id=\"main\">\n");
    html.answers(view);
    html.tables(view);
    html.pictures(&view.charts);
    html.trust(view);
    html.environment(view);
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

    fn answers(&mut self, view: &View) {
        self.heading("answer", "The answer");
        for subject in &view.subjects {
            self.named(view, subject);
            self.raw("<div class=\"answer\">\n");
            for line in &subject.answer {
                self.element("p", "", line);
            }
            if let Some(end) = &subject.end {
                self.element("p", "bad", end);
            }
            self.raw("</div>\n");
            for line in &subject.certainty {
                self.element("p", "", line);
            }
            for line in &subject.measured {
                self.element("p", "soft", line);
            }
        }
    }

    /// The name of a result where there are several.
    fn named(&mut self, view: &View, subject: &Subject) {
        if view.subjects.len() > 1 {
            self.element("h3", "", &subject.name);
        }
    }

    fn tables(&mut self, view: &View) {
        self.heading("cases", "Tables");
        for subject in &view.subjects {
            self.named(view, subject);
            for part in subject.parts.iter().chain(&subject.every_case) {
                match part {
                    Part::Table(table) => self.table(table),
                    Part::Lines(lines) => self.lines(lines),
                    // Drawings of the terminal: the page has charts of the same.
                    Part::Spread(_) | Part::Trend(..) => {}
                }
            }
            if subject.parts.is_empty() {
                self.element("p", "", "This result has no cases.");
            }
        }
    }

    fn lines(&mut self, lines: &[Line]) {
        for line in lines {
            let _ = write!(
                self.text,
                "<p{}>{}",
                class_of(line.tone),
                svg::escape(line.text.trim())
            );
            if let Some(remedy) = &line.remedy {
                let _ = write!(self.text, " Remedy: {}", svg::escape(remedy));
            }
            self.raw("</p>\n");
        }
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
            for line in &picture.answer {
                self.element("p", "strong", line);
            }
            for line in &picture.words {
                self.element("p", "", line);
            }
            if !picture.table.rows.is_empty() {
                self.raw("<details><summary>");
                let summary = format!("Table: {}", picture.chart.title);
                self.raw(&svg::escape(&summary));
                self.raw("</summary>\n");
                self.table(&picture.table);
                self.raw("</details>\n");
            }
            self.raw("</figcaption>\n</figure>\n");
        }
    }

    fn trust(&mut self, view: &View) {
        self.heading("trust", "How far to trust it");
        for subject in &view.subjects {
            self.named(view, subject);
            subject.evidence.iter().for_each(|table| self.table(table));
            if subject.remarks.is_empty() {
                self.element("p", "", "Nothing was found that could have skewed the figures.");
                continue;
            }
            self.raw("<ul>\n");
            for told in &subject.remarks {
                let (word, remark) = (told.word(), &told.remark);
                let remedy = remark.remedy.as_ref();
                let remedy = remedy.map(|remedy| format!(" Remedy: {}", svg::escape(remedy)));
                let _ = write!(
                    self.text,
                    "<li><span{}>{word}</span>: {} <code>{}</code>{}",
                    class_of(Some(told.tone())),
                    svg::escape(&remark.message),
                    svg::escape(&remark.code),
                    remedy.unwrap_or_default()
                );
                if !told.cases.is_empty() {
                    let cases = svg::escape(&told.cases.join(", "));
                    let count = told.cases.len();
                    let _ = write!(
                        self.text,
                        "<details><summary>{count} cases</summary>{cases}</details>"
                    );
                }
                self.raw("</li>\n");
            }
            self.raw("</ul>\n");
        }
    }

    fn environment(&mut self, view: &View) {
        self.heading("environment", "Environment");
        self.table(&view.environment);
    }

    /// A table that scrolls by itself where it is too wide.
    fn table(&mut self, table: &Table) {
        if !table.title.is_empty() {
            self.element("h3", "", &table.title);
        }
        if !table.rows.is_empty() {
            let label = if table.title.is_empty() {
                "Table"
            } else {
                &table.title
            };
            let _ = write!(
                self.text,
                "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n<thead><tr>",
                svg::escape(label)
            );
            for column in &table.columns {
                let class = if column.left { "" } else { " class=\"number\"" };
                let _ = write!(
                    self.text,
                    "<th scope=\"col\"{class}>{}</th>",
                    svg::escape(&column.title)
                );
            }
            self.raw("</tr></thead>\n<tbody>\n");
            for row in &table.rows {
                let _ = write!(self.text, "<tr{}>", class_of(row.tone));
                for (cell, column) in row.cells.iter().zip(&table.columns) {
                    let class = if column.left { "" } else { " class=\"number\"" };
                    let _ = write!(self.text, "<td{class}>{}</td>", svg::escape(cell));
                }
                self.raw("</tr>\n");
            }
            self.raw("</tbody></table></div>\n");
        }
        for note in &table.notes {
            self.element("p", "soft", note);
        }
    }
}

/// The class of what means `tone`.
fn class_of(tone: Option<Tone>) -> &'static str {
    match tone {
        None => "",
        Some(Tone::Strong) => " class=\"strong\"",
        Some(Tone::Faint) => " class=\"soft\"",
        Some(Tone::Warning) => " class=\"warning\"",
        Some(Tone::Bad) => " class=\"bad\"",
    }
}
