//! One verb a file. Each takes its arguments and the registry, and returns how it ended.

pub mod ab;
pub mod byteio;
pub mod calibrate;
pub mod compare;
pub mod daemons;
pub mod doctor;
pub mod dry_run;
pub mod explain;
pub mod front;
pub mod import;
pub mod lab;
mod lab_check;
pub mod list;
pub mod load;
mod loggp;
pub mod mesh;
pub mod msgrate;
mod probe;
pub mod quick;
pub mod report;
pub mod run;
pub mod selftest;
pub mod serve;
pub mod session;
pub mod shell;
mod speed;
pub mod sweep;
pub mod workers;

use crate::document::Draft;
use crate::errors::{Ended, Failure, exit};
use crate::{outlet, output};
use std::ffi::{OsStr, OsString};
use wirespeed_control::StopFlag;
use wirespeed_report::render::{self, JsonForm};
use wirespeed_schema::Run;
use wirespeed_schema::run::{CaseResult, CaseStatus, Event, Severity, Status};
use wirespeed_schema::units::counted;

/// Whoever asked for JSON gets the error as a document too, and nothing else on stdout.
pub fn failure_document(argv: &[OsString], failure: &Failure) {
    if failure.documented {
        return;
    }
    // What stands behind `--` is said to others.
    let words = || argv.iter().skip(1).take_while(|word| *word != "--");
    let text = if words().any(|word| word == "--json" || is_json_letter(word)) {
        let run = Draft::begin(None, false).fail(failure.status(), failure.cause.clone());
        render::json(&run, JsonForm::Pretty)
    } else if words().any(|word| word == "--ndjson") {
        render::event_line(&Event::RunFinished {
            status: failure.status(),
            error: Some(failure.cause.clone()),
        })
    } else {
        return;
    };
    // The error itself follows on stderr; a stdout that cannot be written adds nothing to it.
    if let Ok(text) = text {
        let _ = output::print(&text);
    }
}

/// Whether a word is `-J`, also behind the letter that takes no value, `-qJ`: behind another one it is a value.
fn is_json_letter(word: &OsStr) -> bool {
    let letters = word.to_str().and_then(|word| word.strip_prefix('-'));
    letters.is_some_and(|letters| letters.trim_start_matches('q').starts_with('J'))
}

/// Ends of a case that fail its run, the worst first.
const BAD: [CaseStatus; 3] = [CaseStatus::WrongData, CaseStatus::Failed, CaseStatus::Partial];

/// The exit code of a published run and what to say last.
pub fn ended(run: &Run, strict: bool) -> Ended {
    let count = |status: CaseStatus| run.cases.iter().filter(|c| c.status == status).count();
    let total = run.cases.len();
    if run.status == Status::Interrupted {
        return Ended::badly(Failure::interrupted("run again for a whole result"));
    }
    let skipped = count(CaseStatus::Skipped);
    let is_bad = |case: &CaseResult| BAD.contains(&case.status);
    if run.status != Status::Ok && (skipped == 0 || run.error.is_some() || run.cases.iter().any(is_bad)) {
        return Ended::badly(worst(run));
    }
    if skipped > 0 && (strict || skipped == total) {
        return Ended::badly(left_out(run, skipped));
    }
    let least = match strict {
        true => Severity::Warning,
        false => Severity::Suspect,
    };
    weighty(run, least).map_or(Ended::OK, Ended::badly)
}

/// Cases were skipped: for one reason, or several.
fn left_out(run: &Run, skipped: usize) -> Failure {
    let cases = run.cases.iter();
    let mut whys = cases
        .filter(|case| case.status == CaseStatus::Skipped)
        .map(|case| (&case.error, &case.remedy));
    let first = whys.next();
    let of = format!("{skipped} of {}", counted(run.cases.len() as u64, "case"));
    match first {
        Some((Some(why), Some(remedy))) if whys.all(|one| Some(one) == first) => {
            Failure::failed(format!("{of} skipped: {why}"), remedy.clone())
        }
        _ => Failure::failed(
            format!("{of} cannot run here"),
            "the result gives the reason of each; see `wirespeed list`",
        ),
    }
}

/// The heaviest remark of at least this weight, as a result that tells nothing.
fn weighty(run: &Run, least: Severity) -> Option<Failure> {
    let of_cases = run.cases.iter().flat_map(|case| &case.remarks);
    let remark = of_cases
        .chain(&run.remarks)
        .filter(|remark| remark.severity >= least)
        .max_by_key(|remark| remark.severity)?;
    let remedy = remark
        .remedy
        .clone()
        .unwrap_or_else(|| "measure longer, or repeat".to_owned());
    let what = match remark.severity {
        Severity::Suspect => "the result cannot be trusted",
        _ => "the result has a warning, and --strict was given",
    };
    let cause = format!("{what}: {}", remark.message);
    Some(Failure::with(exit::INCONCLUSIVE, cause, remedy))
}

/// The first case that ended worst, in two lines.
fn worst(run: &Run) -> Failure {
    let mut found = BAD
        .iter()
        .filter_map(|status| run.cases.iter().find(|case| case.status == *status));
    let code = run.status.exit_code();
    let Some(case) = found.next() else {
        let cause = run.error.clone().unwrap_or_else(|| "the run failed".to_owned());
        return Failure::with(code, cause, "run again");
    };
    let said = match (case.status, &case.error) {
        (_, Some(error)) => error.clone(),
        (CaseStatus::WrongData, None) => "the data that arrived were wrong".to_owned(),
        _ => "it did not run to its end".to_owned(),
    };
    let failed = run.cases.iter().filter(|c| BAD.contains(&c.status)).count();
    let more = match failed {
        1 => String::new(),
        _ => format!(" ({failed} of {} cases did not end well)", run.cases.len()),
    };
    let remedy = case
        .remedy
        .clone()
        .or_else(|| case.remarks.iter().find_map(|r| r.remedy.clone()));
    Failure::with(
        code,
        format!("{}: {said}{more}", case.case.label()),
        remedy.unwrap_or_else(|| "see the remarks of the result".to_owned()),
    )
}

/// A flag that Ctrl-C raises.
pub fn stop_on_signals() -> Result<StopFlag, Failure> {
    let stop = StopFlag::new();
    stop.on_signals().map_err(|e| {
        Failure::failed(
            format!("cannot watch for signals: {e}"),
            "close some files and run again",
        )
    })?;
    outlet::heed(&stop);
    Ok(stop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Draft;
    use wirespeed_schema::run::Remark;

    #[test]
    fn a_broken_invariant_sets_the_exit_code() {
        let codes = [
            (None, false, 0),
            (Some(Severity::Note), true, 0),
            (Some(Severity::Warning), false, 0),
            (Some(Severity::Warning), true, exit::INCONCLUSIVE),
            (Some(Severity::Suspect), false, exit::INCONCLUSIVE),
            (Some(Severity::Suspect), true, exit::INCONCLUSIVE),
        ];
        for (severity, strict, code) in codes {
            let mut run = Draft::begin(None, false).finish(Vec::new(), false);
            run.remarks.extend(severity.map(|severity| Remark {
                severity,
                code: "littles_law".to_owned(),
                message: "too many in flight".to_owned(),
                remedy: None,
                weight: None,
            }));
            assert_eq!(ended(&run, strict).code, code, "{severity:?}, strict {strict}");
        }
    }
}
