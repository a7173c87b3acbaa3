//! Is the sender of a paced stream itself what limits it? Then its figures describe the sender, not the path.

use super::Findings;
use crate::assemble::in_flight_mean_msgs;
use crate::curve::UNLIMITED_PER_S;
use crate::thresholds::{CARRIED_SHARE_MIN, WINDOW_FULL_SHARE, WINDOW_ROOM_SHARE};
use crate::wording::times;
use wirespeed_schema::Case;
use wirespeed_schema::kinds::Roles;
use wirespeed_schema::outcome::{Outcome, SampleKind, StopReason};
use wirespeed_schema::run::{Repetition, Severity};
use wirespeed_schema::units::{format_ns, format_rate};

/// Check every sender of a paced stream.
pub(super) fn check(findings: &mut Findings, case: &Case, repetition: &Repetition) {
    let pairs = case.test.roles() == Some(Roles::Pairs);
    let Some(stream) = case.test.stream().filter(|_| pairs) else {
        return;
    };
    let Some(pace) = stream.pace_msg_per_s.filter(|&pace| pace < UNLIMITED_PER_S) else {
        return;
    };
    for outcome in &repetition.outcomes {
        if outcome.stop == StopReason::Completed {
            check_rate(findings, outcome, (pace, stream.window_msgs));
            check_lateness(findings, outcome, pace);
        }
    }
}

/// Less was sent than was due. Where the window was full, the path did not take more; where it had room, the sender did
/// not offer it; between the two no limit is named.
fn check_rate(findings: &mut Findings, outcome: &Outcome, (pace, window): (u64, u64)) {
    let achieved = outcome.sent.messages as f64 * 1e9 / outcome.elapsed_ns as f64;
    let share = achieved / pace as f64;
    // A run of a few messages ends between two of them.
    let due = pace as f64 * outcome.elapsed_ns as f64 / 1e9;
    if share >= CARRIED_SHARE_MIN || due - outcome.sent.messages as f64 <= 1.0 {
        return;
    }
    let Some(in_flight) = in_flight_mean_msgs(outcome, window) else {
        return;
    };
    let said = format!(
        "rank {} sent {} of the {} that were due, with {in_flight:.1} of {window} messages in flight",
        outcome.rank,
        format_rate(achieved, "msg/s"),
        format_rate(pace as f64, "msg/s")
    );
    let used = in_flight / window as f64;
    let queue = "read these times as those of a queue that grows, or offer less";
    let (severity, code, limit, remedy) = match (used < WINDOW_ROOM_SHARE, used >= WINDOW_FULL_SHARE) {
        (true, _) => (
            Severity::Warning,
            "generator_limit",
            ": the generator is the limit, not the path",
            "offer less, let the sender poll on a core of its own, or start more senders",
        ),
        (_, true) => (Severity::Note, "saturated", ": the path takes no more", queue),
        // Neither room nor a full window: what the limit is, these figures do not tell.
        _ => (Severity::Note, "saturated", "", queue),
    };
    findings.add(severity, code, 1.0 - share, format!("{said}{limit}"), remedy);
}

/// Messages leave later than they were due: response time counts from then, service time from the send.
fn check_lateness(findings: &mut Findings, outcome: &Outcome, pace: u64) {
    let median = |kind| outcome.samples_of(kind)?.histogram.quantile_ns(0.5);
    let (Some(response), Some(service)) = (median(SampleKind::Response), median(SampleKind::Acknowledged))
    else {
        return;
    };
    let late = response - service;
    let interval = 1e9 / pace as f64;
    // Typically later by a whole interval: the schedule is not kept, whatever the rate says.
    if late > interval {
        let message = format!(
            "rank {}'s median response time is {} above its service time, {} the interval between messages: they leave late",
            outcome.rank,
            format_ns(late),
            times(late / interval)
        );
        let remedy = "read response times, which count from when a message was due; offer less for times of the path alone";
        findings.note("send_lateness", late / interval, message, remedy);
    }
}
