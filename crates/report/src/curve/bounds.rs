//! Streams in words: whether data back up, what bounds small messages. Each sentence carries its figures; what a curve shows is
//! the curve's to say.

use crate::assemble::{busy_shares, sleeps};
use crate::thresholds::{BACKLOG_MSGS, BUSY_SHARE, SMALL_BYTES};
use wirespeed_schema::case::Role;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::{format_asked_size, format_ns, format_size, significant};

/// What bounds small messages of `results`, and what backs up, one sentence each.
pub fn bounds(results: &[CaseResult]) -> Vec<String> {
    let mut said: Vec<String> = results.iter().filter_map(bound).collect();
    said.extend(results.iter().filter_map(backlog));
    said
}

/// Its transport, with the way that its messages take.
pub(crate) fn transport_of(result: &CaseResult) -> String {
    let relayed = result.case.ranks.iter().any(|rank| rank.role == Role::Relay);
    let route = if relayed { " through the daemon" } else { "" };
    format!("{}{route}", result.case.transport)
}

/// What bounds the rate of small messages: the CPUs of the ends, or the wait for credits. Ends that poll are busy whatever
/// bounds them: of these nothing is said.
fn bound(result: &CaseResult) -> Option<String> {
    let test = &result.case.test;
    if test.size_bytes() > SMALL_BYTES || !sleeps(result) {
        return None;
    }
    let (rate, cpu_ns) = (
        result.figure("rate_msg_per_s")?,
        result.figure("cpu_ns_per_message")?,
    );
    let verdict = match (busy(result)?, test.window()) {
        // Each run had that end busy, and an end that sleeps while it waits is busy with work.
        ((least, _), _) if least >= BUSY_SHARE => "the CPU bounds it",
        ((_, most), 1) if most < BUSY_SHARE => "the round trip bounds it",
        ((_, most), _) if most < BUSY_SHARE => "waiting for credits and wake-ups bounds it",
        _ => "what bounds it differs from run to run",
    };
    Some(format!(
        "{}, {}, credits {}: {} of CPU and {} between two messages; {verdict}",
        transport_of(result),
        format_asked_size(test.size_bytes()),
        test.window(),
        format_ns(cpu_ns),
        format_ns(1e9 / rate)
    ))
}

/// The share of its time that the busiest end works: in its least busy run, and in any.
fn busy(result: &CaseResult) -> Option<(f64, f64)> {
    let shares = busy_shares(result).into_values();
    shares.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)))
}

/// How far the receiver was behind, where that is much.
fn backlog(result: &CaseResult) -> Option<String> {
    let behind = |o: &wirespeed_schema::Outcome| {
        let behind = o.transport_facts.get("unacknowledged_max_msgs")?;
        behind.parse::<f64>().ok()
    };
    let behind = result.outcomes().filter_map(behind).fold(0.0, f64::max);
    if behind < BACKLOG_MSGS {
        return None;
    }
    let bytes = behind * result.case.test.size_bytes() as f64;
    let latency = result
        .figure("ack_p50_ns")
        .map(|ns| format!(", which makes a message wait {}", format_ns(ns)));
    Some(format!(
        "{}, {}, credits {}: at most {} messages ({}) back up{}",
        transport_of(result),
        format_asked_size(result.case.test.size_bytes()),
        result.case.test.window(),
        significant(behind, 3),
        format_size(bytes as u64),
        latency.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::failed_case;
    use crate::tests::stream;
    use std::collections::BTreeMap;
    use wirespeed_schema::run::Repetition;

    fn result(size: u64, credits: u64, rate: f64, cpu_ns: f64) -> CaseResult {
        let fields = serde_json::json!({
            "size_bytes": size, "window_msgs": credits, "transport": "unix", "options": {"wait": "block"},
        });
        let mut result = stream(
            fields,
            &[
                ("rate_msg_per_s", rate),
                ("bandwidth_bytes_per_s", rate * size as f64),
                ("cpu_ns_per_message", cpu_ns),
            ],
        );
        result.repetitions = vec![run([cpu_ns * rate / 2e9; 2])];
        result
    }

    /// A run whose two ends work for these shares of their time.
    fn run(shares: [f64; 2]) -> Repetition {
        let nothing = serde_json::json!({"messages": 0, "bytes": 0});
        let end = |(rank, share): (usize, f64)| {
            serde_json::json!({
                "rank": rank, "role": if rank == 0 { "source" } else { "sink" }, "stop": "completed", "elapsed_ns": 1_000_000, "sent": nothing,
                "received": nothing, "warmup_operations": 0, "samples": [], "idle": "spin",
                "disturbance": {"user_ns": (share * 4e5) as u64, "system_ns": (share * 6e5) as u64},
                "clock": {"source": "tsc", "cost_ns": 1, "step_ns": 1, "ticks_per_ns": 1, "calibration_error_ppm": 1},
            })
        };
        let ends = shares.into_iter().enumerate().map(end);
        Repetition {
            index: 0,
            outcomes: ends.map(|end| serde_json::from_value(end).unwrap()).collect(),
            metrics: BTreeMap::new(),
            setup_ns: 0,
            overlapping_sessions: 0,
        }
    }

    #[test]
    fn messages_that_back_up_are_told_with_their_bytes() {
        let backed_up = |messages: f64| {
            let mut result = result(4096, 10, 1e6, 1.0);
            let facts = &mut result.repetitions[0].outcomes[0].transport_facts;
            facts.insert("unacknowledged_max_msgs".into(), messages.to_string());
            backlog(&result)
        };
        let said = backed_up(2560.0).unwrap();
        assert!(said.contains("at most 2560 messages (10 MiB) back up"), "{said}");
        assert!(backed_up(BACKLOG_MSGS).is_some());
        assert_eq!(backed_up(BACKLOG_MSGS - 1.0), None);
    }

    #[test]
    fn ends_that_poll_say_nothing_of_what_bounds_them() {
        let sweep: Vec<_> = [(1, 1e5), (10, 9.7e5), (100, 1e6), (1000, 9.9e5)]
            .map(|(credits, rate)| result(1, credits, rate, 100.0))
            .into();
        let bound = bounds(&sweep);
        assert!(
            bound[0].contains("credits 1: ") && bound[0].ends_with("round trip bounds it"),
            "{bound:?}"
        );
        let mut polling = sweep;
        for result in &mut polling {
            result.case.options.insert("wait".into(), "poll".into());
        }
        assert_eq!(bounds(&polling), Vec::<String>::new());
    }

    #[test]
    fn what_bounds_a_rate_follows_from_how_busy_the_ends_are() {
        // At a million messages a second 2,000 ns of CPU a message are all that two ends have.
        let said = |size: u64, credits: u64, cpu_ns: f64| bounds(&[result(size, credits, 1e6, cpu_ns)]);
        for (credits, cpu_ns, verdict) in [
            (10, 2010.0 * BUSY_SHARE, "the CPU bounds it"),
            (
                10,
                1990.0 * BUSY_SHARE,
                "waiting for credits and wake-ups bounds it",
            ),
            (1, 2010.0 * BUSY_SHARE, "the CPU bounds it"),
            (1, 1990.0 * BUSY_SHARE, "the round trip bounds it"),
        ] {
            let said = said(8, credits, cpu_ns);
            assert!(said[0].ends_with(verdict), "{credits} {cpu_ns}: {said:?}");
        }
        for (runs, verdict) in [
            (&[[0.45, 0.98], [0.4, 0.97]][..], "the CPU bounds it"),
            (&[[0.45, 0.98], [0.45, 0.5]], "differs from run to run"),
            (&[[0.98, 0.45], [0.45, 0.98]], "differs from run to run"),
            (&[[0.8, 0.85]], "wake-ups bounds it"),
        ] {
            let mut uneven = result(8, 10, 1e6, 1000.0);
            uneven.repetitions = runs.iter().map(|shares| run(*shares)).collect();
            let said = bounds(&[uneven]);
            assert!(said[0].ends_with(verdict), "{runs:?}: {said:?}");
        }
        assert_eq!(said(SMALL_BYTES, 10, 1.0).len(), 1);
        assert_eq!(said(SMALL_BYTES + 1, 10, 1.0), Vec::<String>::new());
    }

    #[test]
    fn nothing_is_said_of_nothing() {
        let failed = failed_case(result(1, 1, 1.0, 1.0).case, "", None);
        for nothing in [&[][..], &[failed]] {
            assert!(bounds(nothing).is_empty());
        }
    }
}
