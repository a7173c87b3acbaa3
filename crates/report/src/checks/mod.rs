//! Invariants and circumstances of a result: remarks, worst first, each with a stable code, a cause and a remedy.
//!
//! `data` and `laws` check what must hold whatever the machine does; `conditions` and `clock` say what may have
//! bent the number; `shape` what the samples themselves show. No check may alter a figure.

mod at_once;
mod clock;
mod conditions;
mod data;
mod generator;
mod laws;
mod shape;
mod wire;
mod workers;

pub(crate) use conditions::{is_of_busy_machine, is_of_disturbed_machine};
pub(crate) use shape::convergence_remark;

use std::collections::BTreeMap;
use wirespeed_schema::Finite;
use wirespeed_schema::host::HostFingerprint;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::run::{CaseResult, Metric, Remark, Repetition, Severity};
use wirespeed_schema::{Case, Outcome};

/// What is known of the medium, to check results against.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// Fastest that data can move over this case's medium, both directions together: a measured memory copy, a link's
    /// rate. `None` when unknown: then nothing is checked.
    pub medium_bytes_per_s: Option<f64>,
}

/// One thing found, before findings with the same code are folded into one remark.
struct Finding {
    severity: Severity,
    code: &'static str,
    /// Orders findings of one code: the largest is told.
    weight: f64,
    message: String,
    remedy: &'static str,
}

/// Everything found on one case.
#[derive(Default)]
struct Findings {
    list: Vec<Finding>,
    /// The data that arrived were not the data that were sent.
    wrong_data: bool,
}

impl Findings {
    fn note(&mut self, code: &'static str, weight: f64, message: String, remedy: &'static str) {
        self.add(Severity::Note, code, weight, message, remedy);
    }

    fn warn(&mut self, code: &'static str, weight: f64, message: String, remedy: &'static str) {
        self.add(Severity::Warning, code, weight, message, remedy);
    }

    fn suspect(&mut self, code: &'static str, weight: f64, message: String, remedy: &'static str) {
        self.add(Severity::Suspect, code, weight, message, remedy);
    }

    fn add(
        &mut self,
        severity: Severity,
        code: &'static str,
        weight: f64,
        message: String,
        remedy: &'static str,
    ) {
        self.list.push(Finding {
            severity,
            code,
            weight,
            message,
            remedy,
        });
    }
}

/// Remarks on a case, worst first and each code once, and whether its data were wrong. Of what was cut short only wrong data
/// are told: no figure is over it.
pub(crate) fn remarks(
    case: &Case,
    (repetitions, cut_short): (&[Repetition], &[Repetition]),
    metrics: &BTreeMap<String, Metric>,
    limits: &Limits,
) -> (Vec<Remark>, bool) {
    let mut findings = Findings::default();
    for repetition in repetitions.iter().chain(cut_short) {
        data::check(&mut findings, case, &repetition.outcomes);
    }
    for repetition in repetitions {
        laws::check(&mut findings, case, repetition, limits);
        clock::check(&mut findings, case, repetition);
        conditions::check(&mut findings, case, repetition);
        generator::check(&mut findings, case, repetition);
        at_once::check(&mut findings, case, repetition);
        wire::check(&mut findings, case, repetition);
    }
    wire::check_manner(&mut findings, repetitions);
    workers::check(&mut findings, repetitions);
    conditions::check_case(&mut findings, metrics, repetitions.len());
    shape::check(&mut findings, repetitions);
    (fold(findings.list), findings.wrong_data)
}

/// Why a measurement has no figures that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// The reason.
    pub why: String,
    /// What arrived is not what was sent.
    pub is_wrong_data: bool,
}

impl From<String> for Unusable {
    fn from(why: String) -> Self {
        Unusable {
            why,
            is_wrong_data: false,
        }
    }
}

/// The gravest invariant that a repetition breaks: what arrived is not what was sent, else its figures contradict each other.
/// `None` where all hold.
pub fn broken_law(case: &Case, repetition: &Repetition) -> Option<Unusable> {
    let mut findings = Findings::default();
    data::check(&mut findings, case, &repetition.outcomes);
    let is_wrong_data = findings.wrong_data;
    if !is_wrong_data {
        laws::check(&mut findings, case, repetition, &Limits::default());
    }
    let found = findings.list.into_iter();
    let broken = found.filter(|finding| finding.severity == Severity::Suspect);
    let gravest = broken.max_by(|a, b| a.weight.total_cmp(&b.weight))?;
    Some(Unusable {
        why: gravest.message,
        is_wrong_data,
    })
}

/// Remarks of all cases, each code once and with its gravest words, worst first: for the foot of a table and `Run::remarks`.
pub fn run_remarks(cases: &[CaseResult]) -> Vec<Remark> {
    let mut all: Vec<(usize, Remark)> = Vec::new();
    for remark in cases.iter().flat_map(|case| &case.remarks) {
        match all.iter_mut().find(|(_, known)| known.code == remark.code) {
            Some((count, known)) => {
                *count += 1;
                let rank = |one: &Remark| (one.severity, one.weight.map_or(0.0, Finite::get));
                if rank(remark) > rank(known) {
                    *known = remark.clone();
                }
            }
            None => all.push((1, remark.clone())),
        }
    }
    all.order_by_key(|(_, remark)| std::cmp::Reverse(remark.severity));
    let total = cases.len();
    all.into_iter()
        .map(|(count, mut remark)| {
            if total > 1 {
                remark.message = format!("{}; in {count} of {total} cases", remark.message);
            }
            remark
        })
        .collect()
}

/// Remarks on the machine that the plan was given to, for `Run::remarks`: ranks on one machine leave it out of their
/// outcomes, because the document's own `host` says it once.
pub fn host_remarks(host: &HostFingerprint) -> Vec<Remark> {
    let mut findings = Findings::default();
    conditions::check_machine(&mut findings, host);
    fold(findings.list)
}

/// One remark a code: the gravest finding speaks, and says of how many it is the worst.
fn fold(findings: Vec<Finding>) -> Vec<Remark> {
    let mut folded: Vec<(usize, Finding)> = Vec::new();
    for finding in findings {
        match folded.iter_mut().find(|(_, known)| known.code == finding.code) {
            Some((count, known)) => {
                *count += 1;
                if (finding.severity, finding.weight) > (known.severity, known.weight) {
                    *known = finding;
                }
            }
            None => folded.push((1, finding)),
        }
    }
    // A stable sort: among equals the order of the checks, most telling first.
    folded.order_by_key(|(_, finding)| std::cmp::Reverse(finding.severity));
    folded
        .into_iter()
        .map(|(count, finding)| Remark {
            severity: finding.severity,
            code: finding.code.to_owned(),
            message: match count {
                1 => finding.message,
                // A statement, not a complaint: of equal ones none is the worst.
                _ if finding.weight == 0.0 && finding.remedy.is_empty() => finding.message,
                _ => format!("{}; the worst of {count}", finding.message),
            },
            remedy: (!finding.remedy.is_empty()).then(|| finding.remedy.to_owned()),
            weight: Finite::maybe(finding.weight),
        })
        .collect()
}

/// Whether messages may be lost, doubled or reordered without a fault of the program: the transport states the fact
/// `delivery = unreliable`.
pub fn is_unreliable(outcomes: &[Outcome]) -> bool {
    outcomes.iter().any(|outcome| {
        outcome
            .transport_facts
            .get("delivery")
            .is_some_and(|delivery| delivery == "unreliable")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_code_the_gravest_speaks_wherever_it_stands() {
        let finding = |severity, weight: f64| Finding {
            severity,
            code: "noise",
            weight,
            message: format!("{weight}"),
            remedy: "none",
        };
        let (note, warning) = (Severity::Note, Severity::Warning);
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let all = [(note, 9.0), (warning, 2.0), (warning, 1.0)];
            let found = fold(order.map(|at| finding(all[at].0, all[at].1)).into());
            let told = &found[0];
            assert_eq!((found.len(), told.severity), (1, warning), "{order:?}");
            assert!(told.message.starts_with('2'), "{order:?}: {}", told.message);
        }
    }
}
