//! From outcomes to published figures: repetitions, cases, the status of a run.
//!
//! Every figure is listed in [`crate::tags`] and defined in docs/metrics.md. Outcomes come from other processes: they
//! may be missing, inconsistent or absurd, and nothing here may panic on them.

mod flows;
mod latency;
mod merged;
mod over_runs;
mod posted;
mod resampled;
mod runs;
mod until;
mod waiting;

pub(crate) use flows::peer_of;
pub use flows::{Flow, TakenIn, flows, in_flight_mean_msgs};
pub use merged::merged_samples;
pub use runs::Runs;
pub(crate) use runs::is_whole;
pub use until::Goal;
pub use waiting::{busy_shares, sleeps, way_of_waiting};

use crate::checks::{self, Limits};
use crate::wording::counted;
use std::collections::BTreeMap;
use wirespeed_schema::case::Role;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::outcome::StopReason;
use wirespeed_schema::run::{
    CaseResult, CaseStatus, Convergence, Metric, Repetition, Resampled, Status, Withheld,
};
use wirespeed_schema::{Case, Outcome};

/// Figures by tag.
pub type Metrics = BTreeMap<String, Metric>;

/// Figures of one repetition from what every rank saw (any order), and the quantiles that lack samples.
pub fn repetition_metrics(case: &Case, outcomes: &[Outcome]) -> (Metrics, Vec<Withheld>) {
    let mut metrics = Metrics::new();
    latency::add(&mut metrics, case, outcomes);
    flows::add(&mut metrics, case, outcomes);
    if case.test.is_posted() {
        posted::add(&mut metrics, case, outcomes);
    }
    crate::byteio::add(&mut metrics, outcomes);
    let withheld = latency::withheld(&metrics);
    (metrics, withheld)
}

/// Whether every rank that has a part is among `outcomes`, or every one of this role: a sum over ranks is none without.
fn are_all_there(case: &Case, outcomes: &[Outcome], role: Option<Role>) -> bool {
    (0..).zip(&case.ranks).all(|(rank, spec)| {
        let counts = spec.role != Role::Idle && role.is_none_or(|role| spec.role == role);
        !counts || outcomes.iter().any(|outcome| outcome.rank == rank)
    })
}

/// A repetition with its figures. `setup_ns` is the time from the start of the ranks to the first barrier,
/// `overlapping_sessions` the number of other sessions that the far end measured meanwhile.
pub fn repetition(
    case: &Case,
    index: u32,
    mut outcomes: Vec<Outcome>,
    setup_ns: u64,
    overlapping_sessions: u32,
) -> Repetition {
    outcomes.order_by_key(|outcome| outcome.rank);
    let (mut metrics, _) = repetition_metrics(case, &outcomes);
    insert(&mut metrics, "setup_ns", setup_ns as f64, 1);
    Repetition {
        index,
        outcomes,
        metrics,
        setup_ns,
        overlapping_sessions,
    }
}

/// A case with figures over all repetitions, status and remarks. No repetition at all gives `Failed`.
pub fn case_result(case: Case, repetitions: Vec<Repetition>, limits: &Limits) -> CaseResult {
    let runs = Runs::of(&case, repetitions);
    result_of(case, runs, limits)
}

/// The same, where it is known which of the repetitions came to their end.
pub fn result_of(case: Case, runs: Runs, limits: &Limits) -> CaseResult {
    if runs.is_empty() {
        return failed_case(case, "no repetition was measured", None);
    }
    let (repetitions, cut_short) = runs.apart();
    let end = early_end(&case, repetitions.iter().chain(&cut_short));
    let (metrics, withheld) = over_runs::figures(&repetitions);
    let resampled = resampled::figures(&repetitions, &metrics);
    let (remarks, wrong_data) = checks::remarks(&case, (&repetitions, &cut_short), &metrics, limits);
    let measured = repetitions
        .iter()
        .any(|repetition| repetition.metrics.keys().any(|tag| tag != "setup_ns"));
    let status = match (&end, wrong_data) {
        (_, true) => CaseStatus::WrongData,
        (Some(_), _) if measured => CaseStatus::Partial,
        (Some(_), _) => CaseStatus::Failed,
        (None, _) => CaseStatus::Ok,
    };
    let (error, remedy) = end.map_or((None, None), |(error, remedy)| (Some(error), Some(remedy)));
    CaseResult {
        case,
        arm: None,
        under: None,
        status,
        error,
        remedy,
        metrics,
        resampled,
        convergence: None,
        withheld,
        remarks,
        repetitions,
        cut_short,
    }
}

/// How many ranks delivered a result, and how many have a part, where these are more.
fn lacking(case: &Case, repetition: &Repetition) -> Option<(usize, usize)> {
    // A repetition of figures alone stands for more ranks than the case has: those of a mesh.
    let has_figures_alone =
        repetition.outcomes.is_empty() && repetition.metrics.keys().any(|tag| tag != "setup_ns");
    let parts = case.ranks.iter().filter(|rank| rank.role != Role::Idle).count();
    let with_part = repetition.outcomes.iter().filter(|o| o.role != Role::Idle);
    let delivered = with_part.count();
    (!has_figures_alone && delivered < parts).then_some((delivered, parts))
}

/// Figures over `repetitions`, and their intervals by resampling.
pub(crate) fn over_repetitions(repetitions: &[Repetition]) -> (Metrics, BTreeMap<String, Resampled>) {
    let (metrics, _) = over_runs::figures(repetitions);
    let resampled = resampled::figures(repetitions, &metrics);
    (metrics, resampled)
}

/// The same result with how repeating it ended, and a remark on that.
#[must_use]
pub fn with_convergence(mut result: CaseResult, convergence: Convergence) -> CaseResult {
    result.remarks.push(checks::convergence_remark(&convergence));
    // Stable: among equals the order of the checks stays.
    result
        .remarks
        .order_by_key(|remark| std::cmp::Reverse(remark.severity));
    result.convergence = Some(convergence);
    result
}

/// A case that an error kept from being measured.
pub fn failed_case(case: Case, error: impl Into<String>, remedy: Option<String>) -> CaseResult {
    unmeasured(case, CaseStatus::Failed, error.into(), remedy)
}

/// A case that the transport cannot do here; `reason` says why.
pub fn skipped_case(case: Case, reason: impl Into<String>, remedy: Option<String>) -> CaseResult {
    unmeasured(case, CaseStatus::Skipped, reason.into(), remedy)
}

/// Why a case was not measured that was to run when its run ended.
pub const UNREACHED: &str = "the run ended before it";

/// Whether the end of its run kept a case from being measured.
pub fn is_unreached(result: &CaseResult) -> bool {
    result.status == CaseStatus::Skipped && result.error.as_deref() == Some(UNREACHED)
}

/// The same result without raw outcomes, for [`wirespeed_schema::run::Event::CaseFinished`].
pub fn without_outcomes(result: &CaseResult) -> CaseResult {
    let bare = |repetition: &Repetition| Repetition {
        index: repetition.index,
        outcomes: Vec::new(),
        metrics: repetition.metrics.clone(),
        setup_ns: repetition.setup_ns,
        overlapping_sessions: repetition.overlapping_sessions,
    };
    CaseResult {
        case: result.case.clone(),
        arm: result.arm.clone(),
        under: result.under.clone(),
        status: result.status,
        error: result.error.clone(),
        remedy: result.remedy.clone(),
        metrics: result.metrics.clone(),
        resampled: result.resampled.clone(),
        convergence: result.convergence.clone(),
        withheld: result.withheld.clone(),
        remarks: result.remarks.clone(),
        repetitions: result.repetitions.iter().map(bare).collect(),
        cut_short: result.cut_short.iter().map(bare).collect(),
    }
}

/// The word beside figures of a case that ended before it was done; `None` where it is whole.
pub fn unfinished(result: &CaseResult) -> Option<&'static str> {
    let interrupted = result
        .seen()
        .flat_map(|repetition| &repetition.outcomes)
        .any(|outcome| outcome.stop == StopReason::Interrupted);
    match (result.status, interrupted) {
        (CaseStatus::Partial, true) => Some("interrupted"),
        (CaseStatus::Partial, false) => Some("partial"),
        _ => None,
    }
}

/// Status of a run: wrong data before interruption before failure. A case that ended early fails the run; skipped
/// cases do so only when there is nothing else.
pub fn run_status(cases: &[CaseResult], interrupted: bool) -> Status {
    let any = |status: CaseStatus| cases.iter().any(|case| case.status == status);
    let nothing_but_skipped = any(CaseStatus::Skipped) && !any(CaseStatus::Ok);
    if any(CaseStatus::WrongData) {
        Status::WrongData
    } else if interrupted {
        Status::Interrupted
    } else if any(CaseStatus::Failed) || any(CaseStatus::Partial) || nothing_but_skipped {
        Status::Failed
    } else {
        Status::Ok
    }
}

fn unmeasured(case: Case, status: CaseStatus, error: String, remedy: Option<String>) -> CaseResult {
    CaseResult {
        case,
        arm: None,
        under: None,
        status,
        error: Some(error),
        remedy,
        metrics: Metrics::new(),
        resampled: BTreeMap::new(),
        convergence: None,
        withheld: Vec::new(),
        remarks: Vec::new(),
        repetitions: Vec::new(),
        cut_short: Vec::new(),
    }
}

/// Cause and remedy when some rank did not come to its end. The rank whose end explains the others' speaks: who failed,
/// then who was interrupted; others only lost their peer.
fn early_end<'a>(
    case: &Case,
    mut repetitions: impl Iterator<Item = &'a Repetition> + Clone,
) -> Option<(String, String)> {
    let look = "look at that rank's own messages, then run the case again";
    let telling = |outcome: &&Outcome| match outcome.stop {
        StopReason::Failed => 0,
        StopReason::Interrupted => 1,
        StopReason::PeerLost => 2,
        StopReason::Completed => 3,
    };
    let outcomes = repetitions.clone().flat_map(|repetition| &repetition.outcomes);
    if let Some(outcome) = outcomes
        .filter(|outcome| !outcome.is_complete())
        .min_by_key(telling)
    {
        let (what, remedy) = match outcome.stop {
            StopReason::Interrupted => ("interrupted", "run it again to its end"),
            StopReason::PeerLost => (
                "lost its peer",
                "look at what the other ranks say, then run the case again",
            ),
            StopReason::Failed | StopReason::Completed => ("failed", look),
        };
        let cause = outcome.error.as_deref().unwrap_or(what);
        // The only rank needs no number.
        let cause = match case.ranks.len() {
            1 => cause.to_owned(),
            _ => format!("rank {}: {cause}", outcome.rank),
        };
        return Some((cause, outcome.remedy().unwrap_or(remedy).to_owned()));
    }
    let lacks = |repetition: &Repetition| Some((repetition.index, lacking(case, repetition)?));
    let (index, (delivered, parts)) = repetitions.find_map(lacks)?;
    let cause = format!(
        "repetition {}: {} of {} delivered a result",
        index,
        delivered,
        counted(parts as u64, "rank")
    );
    Some((cause, look.to_owned()))
}

/// Publish `value` under `tag`, without an interval, if it is a finite number.
pub(crate) fn insert(metrics: &mut Metrics, tag: &str, value: f64, samples: u64) {
    if let Some(metric) = Metric::of(value, samples) {
        metrics.insert(tag.to_owned(), metric);
    }
}

/// A confidence level for the document, rounded to six decimals.
pub(crate) fn rounded_level(level: f64) -> Option<Finite> {
    Finite::maybe((level * 1e6).round() / 1e6)
}
