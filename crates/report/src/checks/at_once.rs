//! Were pairs whose rates are added under way at once? Else their sum was never there.

use super::Findings;
use crate::thresholds::AT_ONCE_SHARE_MIN;
use crate::wording::percent;
use wirespeed_schema::case::{GroupKind, Stop};
use wirespeed_schema::kinds::Roles;
use wirespeed_schema::run::Repetition;
use wirespeed_schema::{Case, Outcome};

/// Compare the times of senders on one host, which has one clock for them.
pub(super) fn check(findings: &mut Findings, case: &Case, repetition: &Repetition) {
    let on_one_host = matches!(case.group, GroupKind::Threads | GroupKind::Processes);
    let adds_up = case.test.roles() == Some(Roles::Pairs) && !case.test.is_round_trip();
    if !on_one_host || !adds_up {
        return;
    }
    let senders = repetition
        .outcomes
        .iter()
        .filter(|outcome| outcome.sent.messages > 0);
    let times: Option<Vec<(u64, u64)>> = senders.map(times).collect();
    let Some(share) = times.and_then(|times| share_at_once(&times)) else {
        return;
    };
    if share >= AT_ONCE_SHARE_MIN {
        return;
    }
    let remedy = match case.stop {
        Stop::Iterations { .. } => {
            "give a duration instead of a number of messages, or each rank a CPU of its own"
        }
        Stop::Duration { .. } => "measure for longer, or give each rank a CPU of its own",
    };
    let said = format!(
        "all senders were under way in {} of the time only: the sum of their rates is more than was ever there",
        percent(share)
    );
    findings.warn("not_at_once", 1.0 - share, said, remedy);
}

/// When a rank began and ended.
fn times(outcome: &Outcome) -> Option<(u64, u64)> {
    let began = outcome.began_ns?;
    Some((began, began.saturating_add(outcome.elapsed_ns)))
}

/// Share of the time from the first beginning to the last end in which all were under way.
fn share_at_once(times: &[(u64, u64)]) -> Option<f64> {
    let began = || times.iter().map(|time| time.0);
    let ended = || times.iter().map(|time| time.1);
    let whole = ended().max()?.saturating_sub(began().min()?);
    let together = ended().min()?.saturating_sub(began().max()?);
    (times.len() > 1 && whole > 0).then(|| together as f64 / whole as f64)
}
