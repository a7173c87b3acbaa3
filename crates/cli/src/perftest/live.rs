//! The original's lines as the tests run, and its causes of failure on stderr.

use crate::output::Live;
use crate::stderr;
use wirespeed_report::perftest::{Figures, Form, Original, Progress, box_of};
use wirespeed_schema::case::Case;
use wirespeed_schema::outcome::Outcome;
use wirespeed_schema::run::{CaseResult, CaseStatus, Event};

/// A test whose lines are written.
pub struct LiveTest {
    /// Its name in the batch files; empty on the command line.
    pub name: Vec<String>,
    /// The original's test.
    pub original: &'static Original,
    /// Its case.
    pub case: Case,
    /// Rank of its percentile.
    pub rank: f64,
}

/// Writes the classic form.
pub struct Classic {
    /// How lines look.
    pub form: Form,
    /// The tests by the number of their case.
    pub tests: Vec<LiveTest>,
    /// Whether the final line tells what the transport did.
    pub extra: bool,
    /// Whether several tests run, so that a failure needs a name.
    pub batch: bool,
    /// Whether tests run more than once, in an order of their own: a name stands above its final lines then.
    pub repeated: bool,
    /// The lines of the running test so far.
    pub progress: Progress,
}

impl Classic {
    /// What comes before the first line: with `loopback` also the box that else the server shows.
    pub fn header(&self, files: &[String], loopback: bool) -> String {
        let originals: Vec<&Original> = self.tests.iter().map(|test| test.original).collect();
        let shown = match self.tests.as_slice() {
            [only] if loopback && !self.batch => box_of(&only.case),
            _ => String::new(),
        };
        shown + &self.form.header(&originals, files)
    }

    fn complain(&self, test: &LiveTest, result: &CaseResult) {
        let what = match result.status {
            CaseStatus::Ok => return,
            CaseStatus::Skipped => "skipped: ",
            _ => "",
        };
        if self.batch {
            let why = result.error.as_deref().unwrap_or("it did not end well");
            stderr::say(&format!("{}: {what}{why}", test.name.join("/")));
        }
    }
}

impl Live for Classic {
    fn event(&mut self, event: &Event) -> String {
        match event {
            Event::CaseStarted { case, .. } => {
                self.progress = Progress::default();
                let test = self.tests.get(*case as usize).filter(|_| !self.repeated);
                test.map(|test| self.form.name_rule(&test.name))
                    .unwrap_or_default()
            }
            // Rank 0 starts the operations; what the others saw is in the result.
            Event::Interval {
                case,
                rank: 0,
                interval,
                ..
            } => {
                let Some(test) = self.tests.get(*case as usize) else {
                    return String::new();
                };
                let figures = self.progress.after(
                    test.original,
                    &test.case,
                    self.form.generation,
                    test.rank,
                    interval,
                );
                figures
                    .map(|figures| self.form.interim(&test.name, &figures))
                    .unwrap_or_default()
            }
            _ => String::new(),
        }
    }

    fn finished(&mut self, number: usize, result: &CaseResult) -> String {
        let Some(test) = self.tests.get(number) else {
            return String::new();
        };
        self.complain(test, result);
        let mut lines = match self.repeated {
            true => self.form.name_rule(&test.name),
            false => String::new(),
        };
        // A test that failed before its first run has a line without figures.
        let nothing = Vec::new();
        let mut runs: Vec<_> = result.seen().map(|run| &run.outcomes).collect();
        if runs.is_empty() {
            runs.push(&nothing);
        }
        let last = runs.len() - 1;
        for (number, outcomes) in runs.into_iter().enumerate() {
            let unfinished = wirespeed_report::unfinished(result).filter(|_| number == last);
            lines.push_str(&self.final_line(test, outcomes, unfinished));
        }
        lines
    }
}

impl Classic {
    /// The line of a run.
    fn final_line(&self, test: &LiveTest, outcomes: &[Outcome], unfinished: Option<&str>) -> String {
        let told = outcomes.iter().take(usize::from(self.extra));
        let facts = told.flat_map(|outcome| &outcome.transport_facts);
        let facts: Vec<String> = facts.map(|(name, value)| format!("{name}={value}")).collect();
        let figures = Figures::of(
            test.original,
            &test.case,
            self.form.generation,
            test.rank,
            outcomes,
        );
        figures
            .map(|figures| self.form.last(&test.name, &figures, unfinished, &facts.join(" ")))
            .unwrap_or_default()
    }
}
