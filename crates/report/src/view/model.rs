//! What a View is made of: data alone, without width, colour or markup. It must never know how a result is recognised or
//! written.

use super::remarks::Told;
use crate::charts::Picture;
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

/// Lines to be pasted as they are: names of hosts, one a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paste {
    /// What they are.
    pub title: String,
    /// The lines.
    pub lines: Vec<String>,
    /// So many of them are on the screen of a verb; everything else that is written has all.
    pub screen_lines: usize,
}

/// A piece of a result between its answer and its remarks, in the order in which people read them.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// A table.
    Table(Table),
    /// Lines that belong together.
    Lines(Vec<Line>),
    /// Lines to be pasted.
    Paste(Paste),
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
    /// What was measured: when, by what, on which machine.
    pub measured: Vec<String>,
    /// The command that repeats it, as a shell reads it.
    pub command: Option<String>,
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
    /// What other work did to it, in one sentence for all remarks on that; absent where it did nothing.
    pub busy: Option<String>,
    /// Whether its verb must fit a small screen: no chart, and a line a remark.
    pub is_glance: bool,
    /// Whether what may have disturbed the figures was looked for.
    pub is_observed: bool,
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
