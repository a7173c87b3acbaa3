//! A View in characters: for terminals, pipes and text files.

use super::grid;
use super::plot::{sparkline, spread_bar};
use super::plot_chart::chart;
use super::style::{Style, clean, wrap};
use crate::explain::Sentence;
use crate::read::NEWER;
use crate::svg::Chart;
use crate::table::{Table, Tone};
use crate::view::{Cause, Line, NAMED_MAX, Part, Paste, Subject, Told, View, by_cause, case_text, listed};
use wirespeed_schema::run::{CaseResult, Severity};
use wirespeed_schema::units::counted;

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

    /// Whether `subject` must fit a small screen.
    fn is_glance(self, subject: &Subject) -> bool {
        subject.is_glance && self == Extent::SCREEN
    }
}

/// Charts on the screen of a verb; `report` draws all.
const CHARTS_MAX: usize = 4;
/// Causes of remarks on the screen of a verb; what makes a result suspect is always told.
const CAUSES_MAX: usize = 3;
/// Lines of a glance: those of a small terminal, less the command before them and the prompt after them.
const GLANCE_LINES: usize = 22;

/// The answer, then tables, charts and remarks.
pub fn text(view: &View, extent: Extent, style: &Style) -> String {
    let mut paper = Paper::new(style);
    let several = view.subjects.len() > 1;
    for subject in &view.subjects {
        if several {
            paper.say(Some(Tone::Strong), &subject.name);
        }
        paper.head(subject, extent);
        paper.gap();
        let cases = subject.every_case.iter().filter(|_| extent.whole);
        for part in subject.parts.iter().chain(cases) {
            paper.part(part, extent);
            paper.gap();
        }
        paper.hidden();
    }
    if !view.subjects.iter().any(|subject| extent.is_glance(subject)) {
        paper.charts(view, extent);
    }
    for subject in &view.subjects {
        paper.foot(subject, extent);
    }
    finish(paper.lines, style)
}

/// One line on a finished case, for progress output, without a line end; broken where the terminal is narrower.
pub fn case_line(result: &CaseResult, style: &Style) -> String {
    style.finish(wrap(&clean(&case_text(result)), style.prose(), 2))
}

/// Lines as they are written, sections apart by one empty line.
struct Paper<'a> {
    style: &'a Style,
    lines: Vec<String>,
    /// Tables that had no place on the screen.
    hidden: usize,
}

impl<'a> Paper<'a> {
    fn new(style: &'a Style) -> Paper<'a> {
        Paper {
            style,
            lines: Vec::new(),
            hidden: 0,
        }
    }

    fn say(&mut self, tone: Option<Tone>, text: &str) {
        let lead = text.len() - text.trim_start_matches(' ').len();
        let text = wrap(&clean(text), self.style.prose(), lead + 2);
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
            if let Some(command) = &subject.command {
                self.say(Some(Tone::Faint), &format!("Repeat it with: {command}"));
            }
        }
    }

    fn part(&mut self, part: &Part, extent: Extent) {
        match part {
            Part::Table(table) if extent.whole => self.lines.extend(grid::lines(table, self.style)),
            Part::Table(table) => self.table_on_screen(table),
            Part::Lines(lines) => lines.iter().for_each(|line| self.line(line)),
            Part::Paste(found) => self.paste(found, extent),
            Part::Spread(spread) => self.lines.extend(spread_bar(spread, self.style)),
            Part::Trend(name, values) => {
                let room = self.style.width.saturating_sub(name.len() + 6).max(8);
                let line = sparkline(values, room, self.style);
                self.lines.push(format!("{name}  {line}"));
            }
        }
    }

    /// The rows that belong on the screen; a table without any is none.
    fn table_on_screen(&mut self, table: &Table) {
        let (shown, more) = table.for_screen();
        if shown.rows.is_empty() && more > 0 {
            self.hidden += 1;
            return;
        }
        self.lines.extend(grid::lines(&shown, self.style));
        self.rest(more, "row");
    }

    /// Each line by itself, at the left edge and whole: it is pasted elsewhere.
    fn paste(&mut self, found: &Paste, extent: Extent) {
        let most = match extent.whole {
            true => found.lines.len(),
            false => found.screen_lines.min(found.lines.len()),
        };
        if most == 0 {
            self.hidden += usize::from(!found.lines.is_empty());
            return;
        }
        self.say(Some(Tone::Strong), &found.title);
        let lines = found.lines.iter().take(most);
        self.lines.extend(lines.map(|line| clean(line)));
        self.rest(found.lines.len() - most, "line");
    }

    fn rest(&mut self, more: usize, what: &str) {
        if more > 0 {
            let more = counted(more as u64, &format!("more {what}"));
            let text =
                format!("{more}: `wirespeed report` shows all of a result that was stored (-o FILE.json)");
            self.say(Some(Tone::Faint), &text);
        }
    }

    /// Say how many tables were left out.
    fn hidden(&mut self) {
        let hidden = std::mem::take(&mut self.hidden);
        if hidden > 0 {
            self.rest(hidden, "table");
            self.gap();
        }
    }

    fn line(&mut self, line: &Line) {
        self.say(line.tone, &line.text);
        self.remedy(line.remedy.as_deref());
    }

    fn remedy(&mut self, remedy: Option<&str>) {
        if let Some(remedy) = remedy {
            let text = format!("  remedy: {}", clean(remedy));
            self.lines.push(wrap(&text, self.style.prose(), 4));
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
            // On the screen of a verb the answer has been said above: the chart says what it shows.
            let heading = match extent.whole {
                true => picture.chart.clone(),
                false => Chart {
                    title: picture.chart.subject().to_owned(),
                    subtitle: String::new(),
                    ..picture.chart.clone()
                },
            };
            self.lines.extend(chart(&heading, self.style));
            let answer = picture.untitled().filter(|_| extent.whole);
            let words = picture.words.iter().filter(|_| extent.whole || view.tells_curves);
            answer.chain(words).for_each(|line| self.say(None, line));
            self.gap();
        }
        if all.len() > most {
            let more = counted((all.len() - most) as u64, "more chart");
            let text = format!("{more}: `wirespeed report` draws all of a stored result");
            self.say(Some(Tone::Faint), &text);
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
            _ if extent.is_glance(subject) => self.brief(subject),
            true => subject.remarks.iter().for_each(|told| self.remark(told, &[])),
            false => self.causes(&subject.remarks),
        }
        self.end(subject);
    }

    /// How the run ended, and what to do next.
    fn end(&mut self, subject: &Subject) {
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
        self.more(numbered().filter(|cause| !is_shown(cause)).count());
    }

    fn more(&mut self, remarks: usize) {
        if remarks > 0 {
            self.say(Some(Tone::Faint), &format!("{remarks} more: --remarks"));
        }
    }

    /// The gravest causes in a sentence each, as far as they fit the screen; a busy machine is one of them. Their remedies
    /// are those of `--remarks`.
    fn brief(&mut self, subject: &Subject) {
        let mut below = Paper::new(self.style);
        below.end(subject);
        let told = subject.remarks.iter();
        let others = told.filter(|told| subject.busy.is_none() || !told.is_of_busy_machine());
        let others: Vec<Told> = others.cloned().collect();
        let causes = by_cause(&others);
        let gravest = |cause: &&Cause| cause.told.remark.severity == Severity::Suspect;
        let mut sentences: Vec<(bool, Tone, String)> = Vec::new();
        let sentence = |cause: &Cause| {
            let label = match cause.told.cases.as_slice() {
                [only] => format!("{only}: "),
                _ => String::new(),
            };
            let text = format!("{}: {label}{}", cause.told.word(), cause.told.remark.message);
            (gravest(&cause), cause.told.tone(), text)
        };
        sentences.extend(causes.iter().filter(gravest).map(sentence));
        let busy = subject.busy.iter();
        sentences.extend(busy.map(|text| (false, Tone::Warning, format!("warning: {text}"))));
        sentences.extend(causes.iter().filter(|cause| !gravest(cause)).map(sentence));
        let mut left_out = 0;
        for (number, (always, tone, text)) in sentences.iter().enumerate() {
            let mut one = Paper::new(self.style);
            one.say(Some(*tone), text);
            // The line that counts the others has its place too.
            let fits = self.height() + one.height() + below.height() < GLANCE_LINES;
            match *always || (number < CAUSES_MAX && fits && left_out == 0) {
                true => self.lines.extend(one.lines),
                false => left_out += 1,
            }
        }
        self.more(left_out);
    }

    /// Lines as a screen counts them.
    fn height(&self) -> usize {
        self.lines.iter().map(|line| 1 + line.matches('\n').count()).sum()
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

/// The answers of a result, then the sentences of `explain`, each with what it rests on; and where a later version wrote the
/// document, that.
pub fn sentences(view: &View, found: &[Sentence], style: &Style) -> String {
    let mut paper = Paper::new(style);
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
    // Figures of a run that ended badly are not read without that.
    let ends = view.subjects.iter().filter_map(|subject| subject.end.as_ref());
    ends.for_each(|end| paper.say(Some(Tone::Bad), end));
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
    paper.gap();
    let remarks = view.subjects.iter().flat_map(|subject| &subject.remarks);
    let newer = remarks.filter(|told| told.remark.code == NEWER);
    newer.for_each(|told| paper.remark(told, &[]));
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
