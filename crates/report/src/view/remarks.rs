//! What went wrong, what may have skewed the figures, and how the run ended.

use super::cases;
use super::model::{Line, Part};
use crate::assemble::is_unreached;
use crate::checks::{is_of_busy_machine, run_remarks};
use crate::figures::spoken;
use crate::names::Names;
use crate::table::Tone;
use crate::wording::counted;
use std::collections::BTreeMap;
use wirespeed_schema::Run;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::run::{CaseResult, CaseStatus, Remark, Severity, Status};

/// Cases that a line about them names.
pub const NAMED_MAX: usize = 3;
const NO_REASON: &str = "no reason was given";

/// A remark, and the cases that it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The remark.
    pub remark: Remark,
    /// Labels of the cases; empty where it is about most of them, or about the run.
    pub cases: Vec<String>,
}

impl Told {
    /// Whether it tells of other work on the machine.
    pub fn is_of_busy_machine(&self) -> bool {
        is_of_busy_machine(&self.remark.code)
    }

    /// The word for its severity.
    pub fn word(&self) -> &'static str {
        match self.remark.severity {
            Severity::Suspect => "suspect",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }

    /// How it is to be read.
    pub fn tone(&self) -> Tone {
        match self.remark.severity {
            Severity::Suspect => Tone::Bad,
            Severity::Warning => Tone::Warning,
            Severity::Note => Tone::Faint,
        }
    }
}

/// Remarks with one cause: these that the same remedy mends.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause<'a> {
    /// The gravest of them.
    pub told: &'a Told,
    /// Codes of the others.
    pub also: Vec<&'a str>,
}

/// `remarks` by what causes them, the gravest first. What has no remedy stands by itself.
pub fn by_cause(remarks: &[Told]) -> Vec<Cause<'_>> {
    let mut causes: Vec<Cause> = Vec::new();
    for told in remarks {
        let remedy = &told.remark.remedy;
        let known = causes
            .iter_mut()
            .find(|cause| remedy.is_some() && cause.told.remark.remedy == *remedy);
        match known {
            Some(cause) => cause.also.push(&told.remark.code),
            None => causes.push(Cause {
                told,
                also: Vec::new(),
            }),
        }
    }
    causes
}

/// Remarks of the run and of its cases, each code once, the gravest first.
pub fn remarks(run: &Run) -> Vec<Told> {
    let mut remarks = run.remarks.clone();
    for remark in run_remarks(&run.cases) {
        if !remarks.iter().any(|known| known.code == remark.code) {
            remarks.push(remark);
        }
    }
    remarks.order_by_key(|remark| std::cmp::Reverse(remark.severity));
    let names = Names::among(&run.cases);
    let told = remarks.into_iter().map(|remark| Told {
        cases: about(&remark, &run.cases, &names),
        remark,
    });
    told.collect()
}

/// What other work on the machine did to the cases, in a sentence for all remarks on it.
pub fn busy(run: &Run) -> Option<String> {
    let tells = |remark: &Remark| remark.severity >= Severity::Warning && is_of_busy_machine(&remark.code);
    let is_disturbed = |case: &&CaseResult| case.remarks.iter().any(tells);
    let measured = run.cases.iter().filter(|case| !case.metrics.is_empty()).count();
    let count = run.cases.iter().filter(is_disturbed).count();
    (count > 0).then(|| {
        let measured = counted(measured as u64, "case");
        format!("the machine is busy: other work disturbed {count} of {measured}, tails most")
    })
}

/// The cases that have `remark`, each label once; none where most have it.
fn about(remark: &Remark, cases: &[CaseResult], names: &Names) -> Vec<String> {
    let has = |case: &&CaseResult| case.remarks.iter().any(|known| known.code == remark.code);
    // Most of them are told by their number: names would not tell them from the rest.
    if 2 * cases.iter().filter(has).count() > cases.len() {
        return Vec::new();
    }
    let mut labels: Vec<String> = Vec::new();
    for case in cases.iter().filter(has) {
        let label = names.of(case);
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// Why a case has no figures, or only some.
pub fn cause(result: &CaseResult) -> String {
    let status = cases::status(result.status);
    let why = result.error.as_deref().unwrap_or(NO_REASON);
    format!("{status}: {why}")
}

/// The reasons for which cases have no figures or only some, each with its cases.
fn causes(results: &[CaseResult]) -> Vec<(&str, Vec<&CaseResult>)> {
    let mut causes: Vec<(&str, Vec<&CaseResult>)> = Vec::new();
    for result in results {
        let why = result.error.as_deref();
        let is_whole = why.is_none() && !result.metrics.is_empty();
        let why = why.unwrap_or(NO_REASON);
        match causes
            .iter_mut()
            .find(|(known, cases)| *known == why && cases[0].status == result.status)
        {
            _ if is_whole => {}
            Some((_, cases)) => cases.push(result),
            None => causes.push((why, vec![result])),
        }
    }
    causes
}

/// Why nothing was measured at all; `None` where something was.
pub fn why_nothing(results: &[CaseResult]) -> Option<String> {
    if results.iter().any(|result| !result.metrics.is_empty()) {
        return None;
    }
    let count = |status: CaseStatus| results.iter().filter(|result| result.status == status).count();
    Some(match causes(results).as_slice() {
        [] => "the result has no case".to_owned(),
        [(why, _)] => (*why).to_owned(),
        _ => match (count(CaseStatus::Failed), count(CaseStatus::Skipped)) {
            (failed, 0) => format!("{failed} cases failed"),
            (0, skipped) => format!("{skipped} cases were skipped"),
            (failed, skipped) => format!("cases failed ({failed}) or were skipped ({skipped})"),
        },
    })
}

/// How many of the cases the end of the run left unmeasured, and which.
pub fn unreached(results: &[CaseResult]) -> Option<String> {
    let names = Names::among(results);
    let those = results.iter().filter(|result| is_unreached(result));
    let labels: Vec<String> = those.map(|result| names.of(result)).collect();
    let them = if labels.len() == 1 { "it" } else { "them" };
    (!labels.is_empty()).then(|| {
        format!(
            "{} of {} not measured, for the run ended before {them}: {}.",
            labels.len(),
            counted(results.len() as u64, "case"),
            listed(&labels, NAMED_MAX)
        )
    })
}

/// Cases without figures, each with its remedy and the reason, where `answer` does not have that already; and quantiles that
/// have too few samples. Which the run did not reach, the answer says.
pub fn failures(results: &[CaseResult], answer: &[String]) -> Vec<Part> {
    let names = Names::among(results);
    let line = |(why, cases): (&str, Vec<&CaseResult>)| {
        let labels: Vec<String> = cases.iter().map(|result| names.of(result)).collect();
        let (labels, status) = (listed(&labels, NAMED_MAX), cases::status(cases[0].status));
        Line {
            text: match answer.iter().any(|said| said.contains(why)) {
                true => format!("{labels}: {status}"),
                false => format!("{labels}: {status}: {why}"),
            },
            tone: Some(match cases[0].status {
                CaseStatus::Skipped => Tone::Faint,
                _ => Tone::Bad,
            }),
            remedy: cases.iter().find_map(|result| result.remedy.clone()),
        }
    };
    let causes = causes(results)
        .into_iter()
        .filter(|(_, cases)| !is_unreached(cases[0]));
    let parts = [causes.map(line).collect(), withheld(results)];
    parts
        .into_iter()
        .filter(|lines| !lines.is_empty())
        .map(Part::Lines)
        .collect()
}

/// The first `most` of some names, and how many more there are.
pub fn listed(names: &[String], most: usize) -> String {
    let shown = names[..names.len().min(most)].join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// What each withheld quantile needs; figures of one family and quantile once.
fn withheld(results: &[CaseResult]) -> Vec<Line> {
    let mut needs: BTreeMap<(u64, &str), u64> = BTreeMap::new();
    for withheld in results.iter().flat_map(|result| &result.withheld) {
        let key = (withheld.samples_needed, withheld.tag.as_str());
        let fewest = needs.entry(key).or_insert(u64::MAX);
        *fewest = (*fewest).min(withheld.samples);
    }
    let parts: Vec<String> = needs
        .iter()
        .map(|((needed, tag), samples)| format!("{} (needs {needed} samples, has {samples})", spoken(tag)))
        .collect();
    if parts.is_empty() {
        return Vec::new();
    }
    let text = format!("withheld for lack of samples: {}", parts.join(", "));
    vec![Line::toned(Tone::Faint, text)]
}

/// How the run ended, where it did not end well.
pub fn end(run: &Run) -> Option<String> {
    let all_are = |status: CaseStatus| run.cases.iter().all(|case| case.status == status);
    let text = match run.status {
        Status::Ok => return None,
        Status::Failed if !run.cases.is_empty() && all_are(CaseStatus::Skipped) => "every case was skipped",
        Status::Failed => "the run failed",
        // The answer says so.
        Status::Interrupted
            if run.error.is_none() && run.cases.iter().any(|case| !case.metrics.is_empty()) =>
        {
            return None;
        }
        Status::Interrupted => "the run was interrupted",
        Status::Refused => "the run was refused",
        Status::WrongData => "the data were wrong: do not use these numbers",
    };
    Some(match &run.error {
        Some(error) => format!("{text}: {error}"),
        None => text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::{UNREACHED, failed_case, skipped_case};
    use crate::tests::stream;
    use serde_json::json;

    /// What the end of a run left is said of the run. A case that failed is no such case, whatever its error says.
    #[test]
    fn a_failure_is_told_whatever_its_text() {
        let case = stream(json!({}), &[]).case;
        let failed = [failed_case(case.clone(), UNREACHED, None)];
        assert_eq!((failures(&failed, &[]).len(), unreached(&failed)), (1, None));
        let skipped = [skipped_case(case, UNREACHED, None)];
        assert_eq!(failures(&skipped, &[]).len(), 0);
        assert!(unreached(&skipped).is_some());
    }
}
