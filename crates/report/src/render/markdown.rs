//! A View as Markdown, to be pasted into an issue, a mail or a page. Text from results is escaped: it stays text.

use super::style::clean;
use crate::table::Table;
use crate::view::{Line, Part, Paste, Subject, View};
use wirespeed_schema::shown::is_obeyed;

/// The answer, then tables and remarks. Charts are for the page: here are their words.
pub fn markdown(view: &View) -> String {
    let mut text = String::new();
    for subject in &view.subjects {
        if view.subjects.len() > 1 {
            text.push_str(&format!("## {}\n\n", escape(&subject.name)));
        }
        head(&mut text, subject);
        for part in subject.parts.iter().chain(&subject.every_case) {
            match part {
                Part::Table(found) => table(&mut text, found),
                Part::Lines(found) => lines(&mut text, found),
                Part::Paste(found) => paste(&mut text, found),
                // Drawings of the terminal: the tables have their figures.
                Part::Spread(_) | Part::Trend(..) => {}
            }
        }
    }
    for picture in &view.charts {
        let words: Vec<String> = picture.words.iter().map(|line| escape(line)).collect();
        if !words.is_empty() {
            let (title, subject) = (&picture.chart.title, picture.chart.subject());
            let said = match title == subject {
                true => escape(title),
                false => format!("{} ({})", escape(title), escape(subject)),
            };
            text.push_str(&format!("*{said}.* {}\n\n", words.join(" ")));
        }
    }
    for subject in &view.subjects {
        foot(&mut text, subject);
    }
    text
}

fn head(text: &mut String, subject: &Subject) {
    for line in &subject.answer {
        text.push_str(&format!("**{}**\n\n", escape(line)));
    }
    for line in subject.certainty.iter().chain(&subject.measured) {
        text.push_str(&format!("{}\n\n", escape(line)));
    }
    if let Some(command) = &subject.command {
        text.push_str(&format!("Repeat it with: {}\n\n", escape(command)));
    }
}

/// Lines as code, which nothing in them can end.
fn paste(text: &mut String, found: &Paste) {
    text.push_str(&format!("{}\n\n", escape(&found.title)));
    for line in &found.lines {
        text.push_str(&format!("    {}\n", clean(line)));
    }
    text.push('\n');
}

fn table(text: &mut String, table: &Table) {
    if !table.title.is_empty() {
        text.push_str(&format!("### {}\n\n", escape(&table.title)));
    }
    if !table.rows.is_empty() {
        let row = |cells: &mut dyn Iterator<Item = String>| {
            let cells: Vec<String> = cells.collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let titles = table.columns.iter();
        text.push_str(&row(&mut titles.clone().map(|column| escape(&column.title))));
        let rule = |left: bool| if left { ":---" } else { "---:" };
        text.push_str(&row(&mut titles.map(|column| rule(column.left).to_owned())));
        for line in &table.rows {
            text.push_str(&row(&mut line.cells.iter().map(|cell| escape(cell))));
        }
        text.push('\n');
    }
    for note in &table.notes {
        text.push_str(&format!("{}\n\n", escape(note)));
    }
}

fn lines(text: &mut String, lines: &[Line]) {
    for line in lines {
        text.push_str(&format!("- {}", escape(line.text.trim())));
        if let Some(remedy) = &line.remedy {
            let end = if line.text.ends_with('.') { "" } else { "." };
            text.push_str(&format!("{end} Remedy: {}", escape(remedy)));
        }
        text.push('\n');
    }
    text.push('\n');
}

fn foot(text: &mut String, subject: &Subject) {
    if let Some(trust) = &subject.trust {
        text.push_str(&format!("{}\n\n", escape(trust)));
    }
    for told in &subject.remarks {
        let remark = &told.remark;
        let remedy = remark
            .remedy
            .as_ref()
            .map(|remedy| format!(" Remedy: {}.", escape(remedy)));
        let about = match told.cases.is_empty() {
            true => String::new(),
            false => format!(" In: {}.", escape(&told.cases.join(", "))),
        };
        text.push_str(&format!(
            "- {}: {} (`{}`).{about}{}\n",
            told.word(),
            escape(&remark.message),
            remark.code.replace(['`', '\n'], "?"),
            remedy.unwrap_or_default()
        ));
    }
    if let Some(end) = &subject.end {
        text.push_str(&format!("\n**{}**\n", escape(end)));
    }
}

/// Text that Markdown and the HTML in it take as text: marks escaped, lines joined.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => escaped.extend(['\\', c]),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            c if is_obeyed(c) => escaped.push('?'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{key, number};

    #[test]
    fn tables_have_their_columns_and_hostile_text_stays_text() {
        let rows = vec![
            vec!["a|b\n<img>".to_owned(), "1 ns".to_owned()].into(),
            vec!["*c*".to_owned(), "2 ns".to_owned()].into(),
        ];
        let subject = Subject {
            answer: vec!["[x](http://y)".to_owned()],
            parts: vec![Part::Table(Table::new(
                "T",
                vec![key("name"), number("p50", 0)],
                rows,
            ))],
            ..Subject::default()
        };
        let view = View {
            subjects: vec![subject],
            ..View::default()
        };
        let text = markdown(&view);
        assert!(text.starts_with("**\\[x\\](http://y)**\n"), "{text}");
        assert!(
            text.contains(
                "| name | p50 |\n| :--- | ---: |\n| a\\|b?&lt;img&gt; | 1 ns |\n| \\*c\\* | 2 ns |\n"
            ),
            "{text}"
        );
    }
}
