//! Fields of CSV that say what they say, whoever wrote them and whatever reads them. It must never change a figure.

use super::style::clean;

/// Fields that neither a terminal obeys nor a spreadsheet computes: text that begins as a formula does has an apostrophe before
/// it, which spreadsheets take for the mark of text.
pub(crate) fn tamed(fields: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    let tame = |field: &str| {
        let field = clean(&field.replace("\r\n", " ").replace(['\r', '\n', '\t'], " "));
        let (number, unit) = field.split_once(' ').unwrap_or((&field, ""));
        let is_figure =
            number.parse::<f64>().is_ok() && unit.chars().all(|c| c.is_alphanumeric() || "%/ ".contains(c));
        let is_formula = field.len() > 1 && field.starts_with(['=', '+', '-', '@']) && !is_figure;
        match is_formula {
            true => format!("'{field}"),
            false => field,
        }
    };
    fields.into_iter().map(|field| tame(field.as_ref())).collect()
}
