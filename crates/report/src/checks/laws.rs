//! Laws that hold on every machine: time adds up, in flight = rate x latency, no faster than the medium.

use super::{Findings, Limits};
use crate::assemble::{flows, in_flight_mean_msgs, peer_of};
use crate::thresholds::{
    ELAPSED_SLACK_NS, ELAPSED_TOLERANCE, IN_FLIGHT_TOLERANCE, LIMIT_TOLERANCE, TIME_TOLERANCE,
};
use crate::wording::times;
use wirespeed_schema::host::Disturbance;
use wirespeed_schema::outcome::{SampleKind, StopReason};
use wirespeed_schema::run::Repetition;
use wirespeed_schema::units::{format_ns, format_rate};
use wirespeed_schema::{Case, Outcome};

const REPORT: &str =
    "do not use this number; run it again, and report it with the JSON document if it comes back";

/// Check the laws on one repetition.
pub(super) fn check(findings: &mut Findings, case: &Case, repetition: &Repetition, limits: &Limits) {
    let outcomes = &repetition.outcomes;
    if outcomes
        .iter()
        .all(|outcome| outcome.stop == StopReason::Completed)
    {
        check_elapsed(findings, case, outcomes);
    }
    for outcome in outcomes {
        check_in_flight(findings, case, outcome);
        check_time(findings, case, outcome);
    }
    let bandwidth = repetition.figure("bandwidth_bytes_per_s");
    if let (Some(bandwidth), Some(limit)) = (bandwidth, limits.medium_bytes_per_s)
        && limit > 0.0
        && bandwidth > limit * LIMIT_TOLERANCE
    {
        let message = format!(
            "{} is more than the medium can move ({})",
            format_rate(bandwidth, "B/s"),
            format_rate(limit, "B/s")
        );
        findings.suspect("above_medium_limit", bandwidth / limit, message, REPORT);
    }
}

fn check_elapsed(findings: &mut Findings, case: &Case, outcomes: &[Outcome]) {
    // The times of posted tests are sums over iterations, which one rank may enter later than another.
    if case.test.is_posted() {
        return;
    }
    let mut pairs: Vec<(u64, u64)> = flows(case, outcomes)
        .iter()
        .filter_map(|flow| {
            // The sender's time of what the receiver timed.
            let (taken, all) = (flow.taken_in?, flow.delivered?.messages.max(1));
            let share = taken.count.messages as f64 / all as f64;
            Some(((flow.sender_elapsed_ns as f64 * share) as u64, taken.elapsed_ns))
        })
        .collect();
    if case.test.is_round_trip() {
        let elapsed_of = |rank| outcomes.iter().find(|o| o.rank == rank).map(|o| o.elapsed_ns);
        // Peers of each other are one pair.
        let is_seen = |rank, peer| peer < rank && peer_of(case, peer) == Some(rank);
        pairs.extend(outcomes.iter().filter_map(|outcome| {
            let peer = peer_of(case, outcome.rank).filter(|peer| !is_seen(outcome.rank, *peer))?;
            Some((outcome.elapsed_ns, elapsed_of(peer)?))
        }));
    }
    // An end that waited for its CPU saw another start or end: that has warnings of its own, and breaks no law.
    let starved_ns: u64 = outcomes
        .iter()
        .map(|outcome| waited_ns(&outcome.disturbance))
        .fold(0, u64::saturating_add);
    for (one, other) in pairs {
        let longer = one.max(other);
        // A passive end states no time.
        if one == 0 || other == 0 || one.abs_diff(other) <= ELAPSED_SLACK_NS.saturating_add(starved_ns) {
            continue;
        }
        let ratio = one.abs_diff(other) as f64 / longer as f64;
        if ratio > ELAPSED_TOLERANCE {
            let message = format!(
                "the ends measured different times, {} and {}",
                format_ns(one as f64),
                format_ns(other as f64)
            );
            let remedy =
                "look for a suspended or starved rank and for a clock that is off, then run it again";
            // A machine that stops one end for a while breaks no law of ours.
            findings.warn("elapsed_disagrees", ratio, message, remedy);
        }
    }
}

/// Time in which a rank could not run though it wanted to, as far as the system tells.
fn waited_ns(disturbance: &Disturbance) -> u64 {
    let parts = [disturbance.run_queue_wait_ns, disturbance.steal_ns];
    parts.into_iter().flatten().fold(0, u64::saturating_add)
}

/// No more can be in flight than the window lets out.
fn check_in_flight(findings: &mut Findings, case: &Case, outcome: &Outcome) {
    let window = case.test.window();
    if let Some(in_flight) = in_flight_mean_msgs(outcome, window)
        && window > 0
        && in_flight > window as f64 * IN_FLIGHT_TOLERANCE
    {
        let message = format!(
            "rate x latency puts {in_flight:.1} messages in flight at rank {}, but the window is {window}",
            outcome.rank
        );
        findings.suspect("littles_law", in_flight / window as f64, message, REPORT);
    }
}

/// Time that replies took after their request was given up, while later ones were under way.
fn late_ns(outcome: &Outcome) -> f64 {
    let fact = outcome.transport_facts.get("late_replies_ns");
    fact.and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// Round trips made one after the other cannot take longer together than the run did.
fn check_time(findings: &mut Findings, case: &Case, outcome: &Outcome) {
    if case.test.window() != 1 || case.test.hub().is_some_and(|hub| hub.fan_out) {
        return;
    }
    let Some(samples) = outcome.samples_of(SampleKind::RoundTrip) else {
        return;
    };
    let sum_ns = samples.histogram.sum_ns.get() * samples.batch_ops.max(1) as f64 - late_ns(outcome);
    let elapsed_ns = outcome.elapsed_ns as f64;
    if elapsed_ns > 0.0 && sum_ns > elapsed_ns * TIME_TOLERANCE {
        let message = format!(
            "the round trips of rank {} add up to {} its time of {}",
            outcome.rank,
            times(sum_ns / elapsed_ns),
            format_ns(elapsed_ns)
        );
        findings.suspect("time_does_not_add_up", sum_ns / elapsed_ns, message, REPORT);
    }
}
