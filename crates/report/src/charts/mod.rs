//! Charts of results as data: which there are, what each answers, the words beside it and the table behind it.
//!
//! Every renderer draws the same ones: characters in the terminal, SVG in the page, Vega-Lite for other tools. No chart
//! computes a figure of its own: figures come from the documents, findings from `curve`, `fit` and `stats`. The title of a chart
//! is what it answers, made of the values that it draws.

mod all;
mod forest;
mod histogram;
mod load;
mod loggp;
mod mesh;
mod pairs;
mod pieces;
mod shapes;
mod sweeps;
mod window;

pub use all::all as pictures;
pub use pieces::probe_words;
pub use sweeps::{Swept, against_size};

use crate::svg::Chart;
use crate::table::Table;
use crate::thresholds::INTERVAL_RUNS_MIN;
use wirespeed_schema::run::CaseResult;

/// A chart with its words and the table behind it.
#[derive(Debug, Clone, Default)]
pub struct Picture {
    /// The chart.
    pub chart: Chart,
    /// What it answers, a sentence each: what belongs first in everything that is written about the result. Its title is one of
    /// them, or sums them up.
    pub answer: Vec<String>,
    /// What else it shows, in a sentence or two with figures.
    pub words: Vec<String>,
    /// The figures; without rows where a table of the result has them.
    pub table: Table,
    /// Whether it draws what was asked for, a curve over what was swept or offered or the map of a mesh, and so belongs to the
    /// result's own screen.
    pub is_curve: bool,
    /// Whether it is of LogGP, with parameters or without.
    pub is_loggp: bool,
}

/// A sentence as a title: without the full stop.
fn titled(sentence: &str) -> String {
    sentence.trim_end_matches('.').to_owned()
}

/// What the ends are where runs are too few for an interval over them.
pub(crate) const FEW_RUNS: &str = "smallest and largest of the runs";

/// What the intervals of `cases` are over: runs, or what one run holds, which says nothing of the next.
fn interval_label<'a>(cases: impl Iterator<Item = &'a CaseResult>) -> String {
    intervals_over(cases.map(|case| case.repetitions.len()))
}

/// The same of cases of so many runs.
fn intervals_over(runs: impl Iterator<Item = usize>) -> String {
    let (several, alone): (Vec<usize>, Vec<usize>) = runs.partition(|runs| *runs > 1);
    let over = match several.iter().all(|runs| *runs < INTERVAL_RUNS_MIN) {
        true => FEW_RUNS,
        false => "interval over runs",
    };
    match (several.is_empty(), alone.is_empty()) {
        (true, _) => "interval within the run".to_owned(),
        (false, true) => over.to_owned(),
        (false, false) => format!("{over}; of a lone run within it"),
    }
}

impl Picture {
    /// The same with its first answer as the title, and what it shows below.
    fn under_its_answer(mut self) -> Picture {
        if let Some(answer) = self.answer.first() {
            self.chart.subtitle = std::mem::replace(&mut self.chart.title, titled(answer));
        }
        self
    }

    /// The sentences of its answer that its title does not say.
    pub fn untitled(&self) -> impl Iterator<Item = &String> {
        let title = &self.chart.title;
        self.answer.iter().filter(move |line| titled(line) != *title)
    }
}

/// The table behind a chart.
fn behind(columns: &[&str], rows: Vec<Vec<String>>) -> Table {
    let columns = columns.iter().map(|title| crate::table::text(title, 0)).collect();
    Table {
        columns,
        rows: rows.into_iter().map(Into::into).collect(),
        ..Table::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_named_by_what_they_are_over() {
        let over = |runs: &[usize]| intervals_over(runs.iter().copied());
        assert_eq!(over(&[1, 1]), "interval within the run");
        assert_eq!(over(&[6, 2]), "interval over runs");
        assert_eq!(over(&[5, 2]), "smallest and largest of the runs");
        assert_eq!(over(&[6, 1]), "interval over runs; of a lone run within it");
    }
}
