//! Names of results and cases, and figures with their intervals: what every text about a result is made of.

use crate::curve::section::{Offers, offered_per_s};
use crate::figures::{figure_text, spoken};
use crate::wording::under;
use wirespeed_schema::Run;
use wirespeed_schema::run::{CaseResult, Resampled, Resampling};
use wirespeed_schema::units::{format_rate, significant};

/// A result with the name by which people know it.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// File name, or the verb that measured it.
    pub name: &'a str,
    /// The document.
    pub run: &'a Run,
}

/// A case's name, with the name of its result where a report has several.
pub fn label(input: &Input, several: bool, case: &CaseResult) -> String {
    match several {
        true => format!("{}: {}", input.name, label_of(case)),
        false => label_of(case),
    }
}

/// The whole name of a case.
pub(crate) fn label_of(case: &CaseResult) -> String {
    let options = case.case.options_text();
    let window = match case.case.test.window() {
        0 | 1 => String::new(),
        window => format!(" window {window}"),
    };
    format!("{}{window}{options}{}", case.case.label(), beside(case))
}

/// The load beside a case, and the rate that it was offered at.
pub(crate) fn beside(case: &CaseResult) -> String {
    let unit = match case.case.test.bulk() {
        Some(_) => Offers::Requests.unit(),
        None => Offers::Messages.unit(),
    };
    let at = offered_per_s(case).map(|rate| format!(" at {}", format_rate(rate, unit)));
    format!("{}{}", under(case), at.unwrap_or_default())
}

/// Intervals by resampling: a row a figure, with the name of the method.
pub fn resampled(input: &Input) -> Vec<Vec<String>> {
    let row = |case: &CaseResult, tag: &String, one: &Resampled| {
        let metric = case.metrics.get(tag)?;
        let text = |value: f64| figure_text(tag, value);
        Some(vec![
            label(input, false, case),
            spoken(tag),
            text(metric.value.get()),
            format!("[{}, {}]", text(one.lower.get()), text(one.upper.get())),
            method(one.method).to_owned(),
        ])
    };
    let cases = input.run.cases.iter();
    let rows = cases.flat_map(|case| {
        case.resampled
            .iter()
            .filter_map(move |(tag, one)| row(case, tag, one))
    });
    rows.collect()
}

/// What was drawn, in words.
fn method(method: Resampling) -> &'static str {
    match method {
        Resampling::Runs => "runs",
        Resampling::BlocksOfSamples => "blocks of samples",
        Resampling::BlocksOfSlices => "blocks of slices",
        Resampling::RunsThenBlocksOfSamples => "runs, blocks of samples",
        Resampling::RunsThenBlocksOfSlices => "runs, blocks of slices",
    }
}

/// What raw samples are worth where they are alike: `4 000 raw samples are worth 212 independent ones`.
pub fn worth(case: &CaseResult) -> Option<String> {
    let ratio = case.metrics.get("effective_samples_ratio")?;
    let worth = (ratio.value.get() * ratio.samples as f64).max(1.0);
    Some(format!(
        "{} raw samples are worth {} independent ones",
        ratio.samples,
        significant(worth, 3)
    ))
}

/// A ratio with four digits.
pub fn ratio(value: f64) -> String {
    significant(value, 4)
}
