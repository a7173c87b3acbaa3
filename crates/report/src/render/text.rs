//! A View in characters: for terminals, pipes and text files.

use super::grid;
use super::plot::{sparkline, spread_bar};
use super::plot_chart::chart;
use super::style::{Style, clean, wrap};
use crate::explain::Sentence;
use crate::table::Tone;
use crate::view::{Cause, Line, NAMED_MAX, Part, Subject, Told, View, by_cause, case_text, listed};
use wirespeed_schema::run::{CaseResult, Severity};

/// How much of a View is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Every chart, how sure the result is, and what was measured.
    pub whole: bool,
    /// Every remark by itself, not only the gravest causes.
    pub remarks: bool,
}

impl Extent {
    /// The screen of the verb that measured it.
    pub const SCREEN: Extent = Extent {
        whole: false,
        remarks: false,
    };
    /// Everything.
    pub const WHOLE: Extent = Extent {
        whole: true,
        remarks: true,
    };
}

/// Charts on the screen of a verb; `report` draws all.
const CHARTS_MAX: usize = 4;
/// Causes of remarks on the screen of a verb; what makes a result suspect is always told.
const CAUSES_MAX: usize = 3;

/// The answer, then tables, charts and remarks.
pub fn text(view: &View, extent: Extent, style: &Style) -> String {
    let mut paper = Paper {
        style,
        lines: Vec::new(),
    };
    let several = view.subjects.len() > 1;
    for subject in &view.subjects {
        if several {
            paper.say(Some(Tone::Strong), &subject.name);
        }
        paper.head(subject, extent);
        paper.gap();
        let cases = subject.every_case.iter().filter(|_| extent.whole);
        for part in subject.parts.iter().chain(cases) {
            paper.part(part);
            paper.gap();
        }
    }
    paper.charts(view, extent);
    for subject in &view.subjects {
        paper.foot(subject, extent);
    }
    finish(paper.lines, style)
}

/// One line on a finished case, for progress output, without a line end.
pub fn case_line(result: &CaseResult, style: &Style) -> String {
    style.finish(clean(&case_text(result)))
}

/// Lines as they are written, sections apart by one empty line.
struct Paper<'a> {
    style: &'a Style,
    lines: Vec<String>,
}

impl Paper<'_> {
    fn say(&mut self, tone: Option<Tone>, text: &str) {
        let lead = text.len() - text.trim_start_matches(' ').len();
        let text = wrap(&clean(text), self.style.width, lead + 2);
        self.lines
            .push(tone.map_or(text.clone(), |tone| self.style.paint(tone, &text)));
    }

    /// An empty line, unless there is one or nothing before it.
    fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    fn head(&mut self, subject: &Subject, extent: Extent) {
        for line in &subject.answer {
            self.say(Some(Tone::Strong), line);
        }
        if extent.whole {
            subject.certainty.iter().for_each(|line| self.say(None, line));
            let measured = subject.measured.iter();
            measured.for_each(|line| self.say(Some(Tone::Faint), line));
        }
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Table(table) => self.lines.extend(grid::lines(table, self.style)),
            Part::Lines(lines) => lines.iter().for_each(|line| self.line(line)),
            Part::Spread(spread) => self.lines.extend(spread_bar(spread, self.style)),
            Part::Trend(name, values) => {
                let room = self.style.width.saturating_sub(name.len() + 6).max(8);
                let line = sparkline(values, room, self.style);
                self.lines.push(format!("{name}  {line}"));
            }
        }
    }

    fn line(&mut self, line: &Line) {
        self.say(line.tone, &line.text);
        self.remedy(line.remedy.as_deref());
    }

    fn remedy(&mut self, remedy: Option<&str>) {
        if let Some(remedy) = remedy {
            let text = format!("  remedy: {}", clean(remedy));
            self.lines.push(wrap(&text, self.style.width, 4));
        }
    }

    fn charts(&mut self, view: &View, extent: Extent) {
        let of_screen = view
            .charts
            .iter()
            .filter(|picture| extent.whole || picture.is_curve);
        let all: Vec<_> = of_screen.collect();
        let most = if extent.whole { all.len() } else { CHARTS_MAX };
        for picture in all.iter().take(most) {
            self.lines.extend(chart(&picture.chart, self.style));
            // On the screen of a verb the answer has been said above.
            let answer = picture.answer.iter().filter(|_| extent.whole);
            let words = picture.words.iter().filter(|_| extent.whole || view.tells_curves);
            answer.chain(words).for_each(|line| self.say(None, line));
            self.gap();
        }
        if all.len() > most {
            let more = all.len() - most;
            self.say(
                Some(Tone::Faint),
                &format!("{more} more charts: `wirespeed report` draws all of a stored result"),
            );
        }
    }

    fn foot(&mut self, subject: &Subject, extent: Extent) {
        for table in subject.evidence.iter().filter(|_| extent.whole) {
            self.lines.extend(grid::lines(table, self.style));
            self.gap();
        }
        if let Some(trust) = &subject.trust {
            self.say(Some(Tone::Faint), trust);
        }
        match extent.remarks {
            true => subject.remarks.iter().for_each(|told| self.remark(told, &[])),
            false => self.causes(&subject.remarks),
        }
        if let Some(end) = &subject.end {
            self.say(Some(Tone::Bad), end);
        }
        subject.next.iter().for_each(|line| self.say(None, line));
    }

    /// The gravest causes, and how many there are beside them.
    fn causes(&mut self, remarks: &[Told]) {
        let causes = by_cause(remarks);
        let is_shown = |(number, cause): &(usize, &Cause)| {
            *number < CAUSES_MAX || cause.told.remark.severity == Severity::Suspect
        };
        let numbered = || causes.iter().enumerate();
        for (_, cause) in numbered().filter(is_shown) {
            self.remark(cause.told, &cause.also);
        }
        let more = numbered().filter(|cause| !is_shown(cause)).count();
        if more > 0 {
            self.say(Some(Tone::Faint), &format!("{more} more: --remarks"));
        }
    }

    fn remark(&mut self, told: &Told, also: &[&str]) {
        let remark = &told.remark;
        let codes: Vec<&str> = std::iter::once(remark.code.as_str())
            .chain(also.iter().copied())
            .collect();
        let text = format!("{}: {} [{}]", told.word(), remark.message, codes.join(", "));
        self.say(Some(told.tone()), &text);
        if !told.cases.is_empty() {
            self.say(None, &format!("  in: {}", listed(&told.cases, NAMED_MAX)));
        }
        self.remedy(remark.remedy.as_deref());
    }
}

/// The answers of a result, then the sentences of `explain`, each with what it rests on.
pub fn sentences(view: &View, found: &[Sentence], style: &Style) -> String {
    let mut paper = Paper {
        style,
        lines: Vec::new(),
    };
    let evidence = |sentence: &Sentence| {
        let rests_on = sentence.evidence.join("; ");
        format!("    [{}: {rests_on}]", sentence.rule)
    };
    let answers: Vec<&String> = view.subjects.iter().flat_map(|subject| &subject.answer).collect();
    for answer in &answers {
        paper.say(Some(Tone::Strong), answer);
        if let Some(sentence) = found.iter().find(|sentence| sentence.text == **answer) {
            paper.say(Some(Tone::Faint), &evidence(sentence));
        }
    }
    paper.gap();
    for sentence in found.iter().filter(|sentence| !answers.contains(&&sentence.text)) {
        paper.say(None, &sentence.text);
        paper.say(Some(Tone::Faint), &evidence(sentence));
    }
    if found.is_empty() {
        paper.say(
            None,
            "No rule applies: this result has too few figures to say more.",
        );
    }
    finish(paper.lines, style)
}

/// Lines as one text in the style, each with its end.
pub(super) fn finish(mut lines: Vec<String>, style: &Style) -> String {
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let mut text = lines.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    style.finish(text)
}
