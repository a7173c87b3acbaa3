//! The cases of a result as values to copy: the CSV of the result without the columns that say nothing in it.

use crate::render::csv::{CsvRows, csv, tamed};
use wirespeed_schema::Run;

/// CSV with a header, a row a case; empty where the result has none.
pub fn cases(run: &Run) -> String {
    // What cannot be written as CSV is in the tables all the same.
    let Ok(text) = csv(run, CsvRows::Cases) else {
        return String::new();
    };
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
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    for row in rows {
        // Rows are of one length, and writing to a Vec cannot fail.
        let _ = writer.write_record(tamed(row));
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
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
