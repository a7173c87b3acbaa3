//! A result as values to copy: its CSV without the columns that say nothing in it. It must never hold more than a page can.

use crate::render::csv::{CsvRows, csv};
use crate::render::mesh;
use crate::render::tamed::{Rows, tamed};
use wirespeed_schema::Run;
use wirespeed_schema::mesh::MeshSection;

/// Pairs of a mesh that a page holds as rows; of more it holds the hosts, and the map its values.
const PAIRS_MAX: usize = 4096;

/// The values of a result.
pub struct Values {
    /// What they are.
    pub title: &'static str,
    /// CSV with a header; empty where the result has none.
    pub csv: String,
}

impl Values {
    /// A row a case; of a mesh a row a pair or, where these are too many, a row a host.
    pub fn of(run: &Run) -> Values {
        // What cannot be written as CSV is in the tables all the same.
        let (title, csv) = match run.sections.get::<MeshSection>() {
            None => ("Every case as CSV", csv(run, CsvRows::Cases)),
            Some(section) => match section
                .probes
                .iter()
                .map(|probe| probe.pairs.len())
                .sum::<usize>()
            {
                0..=PAIRS_MAX => ("Every pair as CSV", mesh::pairs(run, &section)),
                _ => (
                    "Every host as CSV; `wirespeed report --csv` writes every pair",
                    mesh::hosts(run, &section),
                ),
            },
        };
        Values {
            title,
            csv: without_empty(&csv.unwrap_or_default()),
        }
    }
}

/// `text` without the columns that say nothing in it.
fn without_empty(text: &str) -> String {
    let mut reader = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let rows: Vec<Vec<String>> = reader
        .records()
        .flatten()
        .map(|record| record.iter().map(str::to_owned).collect())
        .collect();
    let Some((header, cases)) = rows.split_first().filter(|(_, cases)| !cases.is_empty()) else {
        return String::new();
    };
    let says = |column: usize| {
        cases
            .iter()
            .any(|row| row.get(column).is_some_and(|word| !word.is_empty()))
    };
    let kept: Vec<usize> = (0..header.len()).filter(|column| says(*column)).collect();
    let pick = |row: &Vec<String>| {
        kept.iter()
            .filter_map(|column| row.get(*column).cloned())
            .collect()
    };
    written(&rows.iter().map(pick).collect::<Vec<Vec<String>>>())
}

/// Rows as CSV. A line break within a word becomes a space: a line is a row.
pub fn written(rows: &[Vec<String>]) -> String {
    let mut text = Rows::new(::csv::Terminator::Any(b'\n'));
    for row in rows {
        // Rows are of one length, and writing to a Vec cannot fail.
        let _ = text.add(&tamed(row));
    }
    text.text().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_their_commas_and_lose_their_line_breaks() {
        let rows = vec![vec!["a,b".to_owned(), "c\nd".to_owned()]];
        assert_eq!(written(&rows), "\"a,b\",c d\n");
    }
}
