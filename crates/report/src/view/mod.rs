//! What results say, before anybody decides how it looks: the answer first, then tables, charts and remarks.
//!
//! ```text
//! Run documents --View::of--> View { answer, tables, charts, remarks } --render::{text, page, markdown}--> people
//! ```
//!
//! A View has no width, no colour and no markup, and its text is raw: whoever writes it escapes it. Sentences are derived
//! from the rows that are shown beside them. A kind of result is a row of `kinds::KINDS`, and a file of this folder.

mod answer;
mod bulk;
mod cases;
mod certainty;
mod comparison;
mod curves;
mod headline;
mod interference;
mod kinds;
mod movers;
mod msgrate;
mod quick;
mod remarks;
mod tables_2009;
mod trust;
mod workers;

pub use bulk::{PROFILE_2009, PROFILE_SWEEP, RECOMMENDED};
pub use headline::case_text;
pub use quick::{QuickSection, QuickTransport};
pub use remarks::{Cause, Told, by_cause, listed};

use crate::charts::{Picture, pictures};
use crate::labels::Input;
use crate::table::{Table, Tone};

/// A line of text with what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The text.
    pub text: String,
    /// What it means.
    pub tone: Option<Tone>,
    /// What can be done about it.
    pub remedy: Option<String>,
}

impl Line {
    /// A line that means nothing special.
    pub fn plain(text: impl Into<String>) -> Line {
        Line {
            text: text.into(),
            tone: None,
            remedy: None,
        }
    }

    /// A line that means `tone`.
    pub fn toned(tone: Tone, text: impl Into<String>) -> Line {
        Line {
            tone: Some(tone),
            ..Line::plain(text)
        }
    }
}

/// The spread of a latency: the ends, and where the percentiles lie between them, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The fastest.
    pub min_ns: f64,
    /// Half of all are faster.
    pub p50_ns: Option<f64>,
    /// One of a hundred is slower.
    pub p99_ns: Option<f64>,
    /// The slowest.
    pub max_ns: f64,
}

/// A piece of a result between its answer and its remarks, in the order in which people read them.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// A table.
    Table(Table),
    /// Lines that belong together.
    Lines(Vec<Line>),
    /// A latency at a glance.
    Spread(Spread),
    /// Values over time, evenly spaced: their name, and each.
    Trend(&'static str, Vec<f64>),
}

/// One result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Subject {
    /// The name by which people know it.
    pub name: String,
    /// The answer, a sentence each.
    pub answer: Vec<String>,
    /// How sure it is: runs, intervals, what failed.
    pub certainty: Vec<String>,
    /// What was measured: when, by what, on which machine, with which command.
    pub measured: Vec<String>,
    /// Tables and lines.
    pub parts: Vec<Part>,
    /// Every case, where the tables above are about something else.
    pub every_case: Vec<Part>,
    /// The instrument in one line: timer, noise, samples, runs.
    pub trust: Option<String>,
    /// The instrument in figures, and intervals by other methods, for those who doubt.
    pub evidence: Vec<Table>,
    /// Remarks, the gravest first.
    pub remarks: Vec<Told>,
    /// How the run ended, where it did not end well.
    pub end: Option<String>,
    /// What to do next.
    pub next: Vec<String>,
}

/// Everything that one or several results say.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// The results, in the order in which they came.
    pub subjects: Vec<Subject>,
    /// Charts over all of them.
    pub charts: Vec<Picture>,
    /// Whether what was asked for is a curve, so that its words belong on the screen of the verb.
    pub tells_curves: bool,
    /// The machines and programs side by side.
    pub environment: Table,
}

impl View {
    /// What `inputs` say. The same documents give the same View.
    pub fn of(inputs: &[Input]) -> View {
        let charts = pictures(inputs);
        let subject = |input: &Input| match inputs.len() {
            1 => Subject::of(input, &charts),
            _ => Subject::of(input, &pictures(&[*input])),
        };
        View {
            subjects: inputs.iter().map(subject).collect(),
            environment: certainty::environment(inputs),
            tells_curves: inputs.iter().any(|input| kinds::kind_of(input.run).tells_curves),
            charts,
        }
    }
}

impl Subject {
    /// What one result says; `charts` are its own.
    fn of(input: &Input, charts: &[Picture]) -> Subject {
        let run = input.run;
        let kind = kinds::kind_of(run);
        let mut parts = interference::parts(run);
        parts.extend((kind.parts)(run));
        let mut every_case = Vec::new();
        if !kind.shows_cases {
            let tables = cases::tables(run.cases.iter());
            every_case.extend(tables.into_iter().map(Part::Table));
        }
        match kind.tells_failures {
            true => every_case.extend(remarks::failures(&run.cases)),
            false => parts.extend(remarks::failures(&run.cases)),
        }
        Subject {
            name: input.name.to_owned(),
            answer: answer::answer(input, kind, charts),
            certainty: certainty::certainty(run),
            measured: certainty::measured(input),
            parts,
            every_case,
            trust: trust::trust_line(&run.cases),
            evidence: certainty::evidence(input),
            remarks: remarks::remarks(run),
            end: remarks::end(run),
            next: (kind.next)(run),
        }
    }
}
