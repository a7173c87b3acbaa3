//! Summaries of a session's section: the phases of life over sessions, and what streams had queued. All statistics are the
//! report's.

use wirespeed_report::curve::section::offered_per_s;
use wirespeed_report::stats::runs::summarize;
use wirespeed_report::stats::{nearest_rank, samples_needed};
use wirespeed_schema::Finite;
use wirespeed_schema::case::Role;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::{format_asked_size, format_rate};
use wirespeed_session::report::{Phase, Queue, SessionReport};

/// Level of intervals over sessions.
const LEVEL: f64 = 0.95;

/// Picks one part of a session's life.
type Part = fn(&SessionReport) -> Option<u64>;

const PARTS: [(&str, Part); 4] = [
    ("request_to_ready", |s| Some(s.life.ready_ns)),
    ("request_to_go", |s| Some(s.life.go_ns)),
    ("request_to_first_message", |s| s.life.first_message_ns),
    ("end_to_gone", |s| Some(s.life.gone_ns)),
];

/// Every phase that was timed. A quantile is there when there are sessions enough for it.
pub fn phases(sessions: &[SessionReport]) -> Vec<Phase> {
    PARTS
        .into_iter()
        .filter_map(|part| phase(sessions, part))
        .collect()
}

fn phase(sessions: &[SessionReport], (name, part): (&str, Part)) -> Option<Phase> {
    let mut values: Vec<f64> = sessions.iter().filter_map(part).map(|ns| ns as f64).collect();
    values.sort_by(f64::total_cmp);
    let summary = summarize(&values, LEVEL)?;
    let enough = |p: f64| samples_needed(p, LEVEL).is_some_and(|needed| values.len() as u64 >= needed);
    let quantile = |p: f64| {
        enough(p)
            .then(|| Finite::maybe(nearest_rank(&mut values.clone(), p)))
            .flatten()
    };
    let interval = |end: f64| summary.level.and_then(|_| Finite::maybe(end));
    Some(Phase {
        phase: name.to_owned(),
        sessions: values.len() as u64,
        p50_ns: Finite::maybe(summary.median)?,
        p50_lower_ns: interval(summary.lower),
        p50_upper_ns: interval(summary.upper),
        p90_ns: quantile(0.9),
        p99_ns: quantile(0.99),
        max_ns: Finite::maybe(*values.last()?)?,
    })
}

/// What every stream had queued, in the order of the cases.
pub fn queues(results: &[CaseResult]) -> Vec<Queue> {
    results.iter().filter_map(queue).collect()
}

fn queue(result: &CaseResult) -> Option<Queue> {
    let fact = |name: &str| {
        let numbers = result
            .outcomes()
            .filter_map(|o| o.transport_facts.get(name)?.parse::<u64>().ok());
        numbers.max()
    };
    let metric = |tag: &str| result.metrics.get(tag).map(|metric| metric.value);
    let case = &result.case;
    let behind = fact("unacknowledged_max_msgs")?;
    let relayed = case.ranks.iter().any(|rank| rank.role == Role::Relay);
    Some(Queue {
        case: format!(
            "{} {}, credits {}{}{}",
            case.transport,
            format_asked_size(case.test.size_bytes()),
            case.test.window(),
            if relayed { ", daemon" } else { "" },
            offered_per_s(result)
                .map(|rate| format!(", {} offered", format_rate(rate, "msg/s")))
                .unwrap_or_default()
        ),
        unacknowledged_max_msgs: behind,
        unacknowledged_max_bytes: behind.saturating_mul(case.test.size_bytes()),
        resident_max_bytes: fact("resident_max_bytes"),
        ack_p50_ns: metric("ack_p50_ns"),
        ack_p99_ns: metric("ack_p99_ns"),
        ack_max_ns: metric("ack_max_ns"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_session::report::Life;

    fn sessions(count: u64) -> Vec<SessionReport> {
        let session = |n: u64| SessionReport {
            life: Life {
                ready_ns: n * 1000,
                ..Life::default()
            },
            ..SessionReport::default()
        };
        (1..=count).map(session).collect()
    }

    #[test]
    fn quantiles_need_their_sessions() {
        let few = phases(&sessions(10));
        let ready = &few[0];
        assert_eq!((ready.phase.as_str(), ready.sessions), ("request_to_ready", 10));
        assert_eq!((ready.p50_ns.get(), ready.max_ns.get()), (5500.0, 10_000.0));
        assert!(ready.p50_lower_ns.is_some() && ready.p90_ns.is_none());
        assert!(few.iter().all(|phase| phase.phase != "request_to_first_message"));
        let many = phases(&sessions(400));
        assert_eq!(many[0].p90_ns.map(Finite::get), Some(360_000.0));
        assert_eq!(many[0].p99_ns.map(Finite::get), Some(396_000.0));
        assert!(phases(&[]).is_empty());
    }
}
