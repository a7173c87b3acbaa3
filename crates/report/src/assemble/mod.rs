//! From outcomes to published figures.

use crate::checks::Limits;
use std::collections::BTreeMap;
use wirespeed_schema::run::{CaseResult, Metric, Repetition, Status, Withheld};
use wirespeed_schema::{Case, Outcome};

/// Figures of one repetition from what every rank saw (any order), and the quantiles that lack samples.
pub fn repetition_metrics(_case: &Case, _outcomes: &[Outcome]) -> (BTreeMap<String, Metric>, Vec<Withheld>) {
    Default::default()
}

/// A repetition with its figures.
pub fn repetition(
    _case: &Case,
    _index: u32,
    _outcomes: Vec<Outcome>,
    _setup_ns: u64,
    _overlapping_sessions: u32,
) -> Repetition {
    unimplemented!()
}

/// A case with figures over all repetitions, status and remarks. No repetition at all gives `Failed`.
pub fn case_result(_case: Case, _repetitions: Vec<Repetition>, _limits: &Limits) -> CaseResult {
    unimplemented!()
}

/// A case that an error kept from being measured.
pub fn failed_case(_case: Case, _error: impl Into<String>, _remedy: Option<String>) -> CaseResult {
    unimplemented!()
}

/// A case that the transport cannot do here.
pub fn skipped_case(_case: Case, _reason: impl Into<String>, _remedy: Option<String>) -> CaseResult {
    unimplemented!()
}

/// The same result without raw outcomes, for [`wirespeed_schema::run::Event::CaseFinished`].
pub fn without_outcomes(_result: &CaseResult) -> CaseResult {
    unimplemented!()
}

/// Status of the run: wrong data before interruption before failure. Skipped cases alone do not fail a run.
pub fn run_status(_cases: &[CaseResult], _interrupted: bool) -> Status {
    unimplemented!()
}
