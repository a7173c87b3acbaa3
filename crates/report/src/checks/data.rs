//! Did the data arrive, once, in order and unchanged, and do both ends count the same?

use super::{Findings, is_unreliable};
use crate::assemble::flows;
use crate::wording::{counted, grouped, percent};
use wirespeed_schema::case::Role;
use wirespeed_schema::outcome::{Count, Faults};
use wirespeed_schema::run::Severity;
use wirespeed_schema::test::Capability;
use wirespeed_schema::{Case, Outcome};

const BROKEN_PATH: &str =
    "do not use this number; run it with --check and look for a fault of the path or the transport";
const SLOWER: &str =
    "offer less (a smaller --window) or give the receiver larger buffers and a core of its own";

/// Check counts and faults of one repetition.
pub(super) fn check(findings: &mut Findings, case: &Case, outcomes: &[Outcome]) {
    let unreliable = is_unreliable(outcomes);
    let faults: Faults = outcomes.iter().map(|outcome| outcome.faults).sum();
    let received: Count = outcomes.iter().map(|outcome| outcome.received).sum();
    check_corruption(findings, faults);
    check_faults(findings, faults, received.messages, unreliable);
    let broken = outcomes
        .iter()
        .flat_map(|outcome| &outcome.samples)
        .find_map(|s| s.histogram.check().err());
    if let Some(reason) = broken {
        let message = format!("a rank delivered inconsistent samples: {reason}; they were left out");
        findings.suspect(
            "broken_samples",
            0.0,
            message,
            "use the same version at both ends",
        );
    }
    // Messages under way when a run is cut short are neither received nor lost.
    let complete = outcomes.iter().all(Outcome::is_complete);
    if complete && outcomes.len() == case.ranks.len() {
        check_counts(findings, case, outcomes, unreliable);
    }
}

fn check_corruption(findings: &mut Findings, faults: Faults) {
    let corrupt = faults.corrupt_messages;
    if corrupt > 0 {
        let message = format!(
            "{} arrived with other data than sent",
            counted(corrupt, "message")
        );
        findings.suspect("corrupt_data", corrupt as f64, message, BROKEN_PATH);
        findings.wrong_data = true;
    }
}

fn check_faults(findings: &mut Findings, faults: Faults, received: u64, unreliable: bool) {
    let kinds = [
        (
            "lost_messages",
            faults.lost_messages,
            "were lost",
            Severity::Warning,
        ),
        (
            "reordered_messages",
            faults.reordered_messages,
            "came after a later one",
            Severity::Note,
        ),
        (
            "duplicate_messages",
            faults.duplicate_messages,
            "came twice",
            Severity::Note,
        ),
    ];
    let expected = received.saturating_add(faults.lost_messages).max(1) as f64;
    for (code, count, what, severity_where_allowed) in kinds {
        if count == 0 {
            continue;
        }
        let ratio = count as f64 / expected;
        let message = format!("{} ({}) {what}", counted(count, "message"), percent(ratio));
        if unreliable {
            findings.add(severity_where_allowed, code, ratio, message, SLOWER);
        } else {
            let message = format!("{message} on a transport that must not let that happen");
            findings.suspect(code, ratio, message, BROKEN_PATH);
            findings.wrong_data = true;
        }
    }
}

/// sent = received + lost, for every flow of a stream and for the whole group of any other test.
fn check_counts(findings: &mut Findings, case: &Case, outcomes: &[Outcome], unreliable: bool) {
    if case.test.capability() == Capability::OneSided && !target_counts(outcomes) {
        return;
    }
    // Totals: both ways of a ping-pong, and one-sided operations, whose target has no way back.
    if case.test.is_round_trip() || case.test.capability() == Capability::OneSided {
        let sent = outcomes.iter().map(|outcome| outcome.sent).sum();
        let received = outcomes.iter().map(|outcome| outcome.received).sum();
        let faults = outcomes.iter().map(|outcome| outcome.faults).sum();
        check_sum(findings, sent, received, faults, unreliable);
    } else {
        for flow in flows(case, outcomes) {
            if let Some(delivered) = flow.delivered {
                check_sum(findings, flow.sent, delivered, flow.faults, unreliable);
            }
        }
    }
}

/// The target of one-sided operations takes no part, unless it counted what came to its memory.
fn target_counts(outcomes: &[Outcome]) -> bool {
    let mut sinks = outcomes.iter().filter(|outcome| outcome.role == Role::Sink);
    sinks.any(|sink| sink.received.messages > 0)
}

fn check_sum(findings: &mut Findings, sent: Count, received: Count, faults: Faults, unreliable: bool) {
    let lost = faults.lost_messages;
    let accounted = received.messages.saturating_add(lost);
    // A receiver may count a message that came twice once or twice.
    let distinct = accounted.saturating_sub(faults.duplicate_messages);
    if (distinct..=accounted).contains(&sent.messages) {
        let whole = lost == 0 && faults.duplicate_messages == 0;
        if !whole || sent.bytes == received.bytes {
            return;
        }
    }
    let message = format!(
        "the ends disagree: sent {} ({} bytes), received {} ({} bytes), lost {lost}",
        counted(sent.messages, "message"),
        grouped(sent.bytes),
        grouped(received.messages),
        grouped(received.bytes)
    );
    let weight = sent.messages.abs_diff(accounted) as f64;
    findings.suspect("ends_disagree", weight, message, BROKEN_PATH);
    findings.wrong_data |= !unreliable;
}
