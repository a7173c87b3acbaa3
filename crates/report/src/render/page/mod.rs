//! The page itself: one file, readable without its charts and without a script, usable by keyboard and screen reader, on any
//! width, light, dark and on paper. Every text of a result is escaped.

mod data;
mod dress;
mod figure;
mod table;

use crate::charts::Picture;
use crate::labels::Input;
use crate::svg::escape;
use crate::table::Tone;
use crate::view::{Line, Part, Paste, Subject, View};
use crate::wording::counted;
use data::Values;
use std::fmt::Write as _;

/// The page of a View of `inputs`. `made_by`: the program and its version, for the foot.
pub fn page(view: &View, inputs: &[Input], made_by: &str) -> String {
    let mut html = Html::default();
    let title = match view.subjects.as_slice() {
        [one] => format!("wirespeed: {}", one.name),
        many => format!("wirespeed: {} results", many.len()),
    };
    let values: Vec<Values> = inputs.iter().map(|input| Values::of(input.run)).collect();
    html.head(&title);
    html.contents(&title, view);
    html.raw("<main id=\"main\" tabindex=\"-1\">\n");
    html.answers(view, &values);
    html.tables(view);
    html.pictures(&view.charts);
    html.trust(view);
    html.environment(view);
    html.data(view, &values);
    html.raw("</main>\n<footer>\n");
    html.element("p", "soft", &format!("Made by {made_by}. Intervals are 95 % unless a figure states another level; docs/metrics.md of wirespeed defines every figure."));
    html.raw("</footer>\n<div id=\"said\" class=\"said\" role=\"status\"></div>\n<script>");
    html.raw(dress::SCRIPT);
    html.raw("</script>\n</body>\n</html>\n");
    html.text
}

/// A page so far.
#[derive(Default)]
struct Html {
    text: String,
    /// Frames that scroll so far: each has a name of its own.
    frames: usize,
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
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(self.text, "<{name}{class}>{}</{name}>", escape(text));
    }

    fn head(&mut self, title: &str) {
        let (title, policy, style) = (escape(title), dress::policy(), dress::style());
        let _ = write!(
            self.text,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"description\" content=\"{title}\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>\n<style>\n{style}</style>\n</head>\n\
             <body>\n<a class=\"skip\" href=\"#main\">Skip to the results</a>\n"
        );
    }

    fn contents(&mut self, title: &str, view: &View) {
        self.raw("<header>\n");
        self.element("h1", "", title);
        self.raw("<nav aria-label=\"Contents\"><ul>");
        let has_charts = !view.charts.is_empty();
        for (id, name, is_there) in [
            ("answer", "Answer", true),
            ("cases", "Tables", true),
            ("pictures", "Pictures", has_charts),
            ("trust", "How far to trust it", true),
            ("environment", "Environment", true),
            ("data", "Data", true),
        ] {
            if is_there {
                let _ = write!(self.text, "<li><a href=\"#{id}\">{name}</a></li>");
            }
        }
        self.raw("</ul></nav>\n</header>\n");
    }

    fn heading(&mut self, id: &str, text: &str) {
        let _ = writeln!(self.text, "<h2 id=\"{id}\">{}</h2>", escape(text));
    }

    /// The name of a result where there are several; the level of headings below it.
    fn named(&mut self, view: &View, subject: &Subject) -> &'static str {
        if view.subjects.len() > 1 {
            self.element("h3", "", &subject.name);
            return "h4";
        }
        "h3"
    }

    /// A name that no other frame has.
    fn label(&mut self, name: &str) -> String {
        self.frames += 1;
        format!("{name} ({})", self.frames)
    }

    /// Buttons that copy: what they say, the element whose text they copy, and the form of it. The script shows them.
    fn buttons(&mut self, all: &[(&str, String, &str)]) {
        self.raw("<div class=\"copy\">");
        for (name, of, form) in all {
            let form = match *form {
                "" => String::new(),
                form => format!(" data-as=\"{form}\""),
            };
            let _ = write!(
                self.text,
                "<button type=\"button\" hidden data-of=\"{of}\"{form}>{name}</button>"
            );
        }
        self.raw("</div>\n");
    }

    fn answers(&mut self, view: &View, values: &[Values]) {
        self.heading("answer", "The answer");
        for (number, subject) in view.subjects.iter().enumerate() {
            self.named(view, subject);
            let _ = writeln!(self.text, "<div class=\"answer\" id=\"answer-{number}\">");
            for line in &subject.answer {
                self.element("p", "", line);
            }
            if let Some(end) = &subject.end {
                self.element("p", "bad", end);
            }
            if subject.answer.is_empty() && subject.end.is_none() {
                self.element("p", "", "No one sentence sums this result up: read its tables.");
            }
            self.raw("</div>\n");
            for line in &subject.certainty {
                self.element("p", "", line);
            }
            for line in &subject.measured {
                self.element("p", "soft", line);
            }
            let mut buttons = vec![("Copy the answer", format!("answer-{number}"), "")];
            if values.get(number).is_some_and(|values| !values.csv.is_empty()) {
                buttons.push(("Copy the values", format!("data-{number}"), ""));
            }
            if let Some(command) = &subject.command {
                self.element("p", "soft", "Repeat it with:");
                let _ = writeln!(
                    self.text,
                    "<pre class=\"command\" id=\"command-{number}\">{}</pre>",
                    escape(command)
                );
                buttons.push(("Copy the command", format!("command-{number}"), ""));
            }
            self.buttons(&buttons);
        }
    }

    fn tables(&mut self, view: &View) {
        self.heading("cases", "Tables");
        for subject in &view.subjects {
            let level = self.named(view, subject);
            for part in subject.parts.iter().chain(&subject.every_case) {
                match part {
                    Part::Table(table) => self.table(table, level, "Figures"),
                    Part::Lines(lines) => self.lines(lines),
                    Part::Paste(found) => self.paste(found),
                    // Drawings of the terminal: the page has charts of the same.
                    Part::Spread(_) | Part::Trend(..) => {}
                }
            }
            if subject.parts.is_empty() {
                self.element("p", "", "Nothing was measured.");
            }
        }
    }

    fn lines(&mut self, lines: &[Line]) {
        for line in lines {
            let _ = write!(
                self.text,
                "<p{}>{}",
                class_of(line.tone),
                escape(line.text.trim())
            );
            if let Some(remedy) = &line.remedy {
                let end = if line.text.ends_with('.') { "" } else { "." };
                let _ = write!(self.text, "{end} Remedy: {}", escape(remedy));
            }
            self.raw("</p>\n");
        }
    }

    /// Lines in a frame that scrolls, to be copied.
    fn frame<'a>(&mut self, label: &str, id: &str, lines: impl Iterator<Item = &'a str>) {
        let lines: Vec<String> = lines.map(escape).collect();
        let _ = writeln!(
            self.text,
            "<div class=\"frame data\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><pre class=\"csv\" id=\"{id}\">{}</pre></div>",
            escape(label),
            lines.join("\n")
        );
    }

    /// Lines to be pasted, with a button that copies them.
    fn paste(&mut self, found: &Paste) {
        let label = self.label(&found.title);
        let id = format!("paste-{}", self.frames);
        self.element("p", "strong", &found.title);
        self.frame(&label, &id, found.lines.iter().map(String::as_str));
        self.buttons(&[("Copy the names", id, "")]);
    }

    fn pictures(&mut self, pictures: &[Picture]) {
        if pictures.is_empty() {
            return;
        }
        self.heading("pictures", "Pictures");
        self.raw("<div class=\"figures\">\n");
        for picture in pictures {
            self.figure(picture);
        }
        self.raw("</div>\n");
    }

    fn trust(&mut self, view: &View) {
        self.heading("trust", "How far to trust it");
        for subject in &view.subjects {
            let level = self.named(view, subject);
            for table in &subject.evidence {
                self.table(table, level, "The instrument");
            }
            if subject.remarks.is_empty() {
                let found = match subject.is_observed {
                    true => "Nothing was found that could have skewed the figures.",
                    false => "What may have skewed the figures was not recorded in this result.",
                };
                self.element("p", "", found);
                continue;
            }
            self.raw("<ul>\n");
            for told in &subject.remarks {
                let (word, remark) = (told.word(), &told.remark);
                let remedy = remark.remedy.as_ref();
                let remedy = remedy.map(|remedy| format!(". Remedy: {}", escape(remedy)));
                let _ = write!(
                    self.text,
                    "<li><span{}>{word}</span>: {} <code>{}</code>{}",
                    class_of(Some(told.tone())),
                    escape(&remark.message),
                    escape(&remark.code),
                    remedy.unwrap_or_default()
                );
                if !told.cases.is_empty() {
                    let cases = escape(&told.cases.join(", "));
                    let count = counted(told.cases.len() as u64, "case");
                    let _ = write!(self.text, "<details><summary>{count}</summary>{cases}</details>");
                }
                self.raw("</li>\n");
            }
            self.raw("</ul>\n");
        }
    }

    fn environment(&mut self, view: &View) {
        self.heading("environment", "Environment");
        self.table(&view.environment, "h3", "Environment");
    }

    /// The values of every case, to be copied or read by a program.
    fn data(&mut self, view: &View, values: &[Values]) {
        self.heading("data", "Data");
        for (number, (subject, values)) in view.subjects.iter().zip(values).enumerate() {
            self.named(view, subject);
            if values.csv.is_empty() {
                self.element("p", "", "Nothing was measured.");
                continue;
            }
            let id = format!("data-{number}");
            self.values(values.title, &id, &values.csv);
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
