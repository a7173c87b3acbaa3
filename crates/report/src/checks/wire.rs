//! What passed over the sockets of a bulk transfer beside its payload, and under which congestion control.

use super::Findings;
use crate::byteio::{CODING, NO_RANGES, RANGES, WIRE_OVERHEAD, look_at_wire, manner_told};
use wirespeed_schema::Case;
use wirespeed_schema::byteio::Transfer;
use wirespeed_schema::case::Role;
use wirespeed_schema::run::{Repetition, Severity};

pub(super) fn check(findings: &mut Findings, case: &Case, repetition: &Repetition) {
    let (Some(shape), Some(mechanism)) = (case.test.bulk(), case.transport.strip_prefix("byteio-")) else {
        return;
    };
    let runs = repetition
        .outcomes
        .iter()
        .filter_map(|outcome| outcome.transfer.as_deref());
    for run in runs {
        control(findings, case, run);
        if let Some(found) = look_at_wire(mechanism, shape.size_bytes, run) {
            findings.add(
                found.severity,
                WIRE_OVERHEAD,
                found.ratio,
                found.message,
                found.remedy,
            );
        }
    }
}

/// How the service sent: the same at every run, so it is said once.
pub(super) fn check_manner(findings: &mut Findings, repetitions: &[Repetition]) {
    let mut facts = repetitions
        .iter()
        .flat_map(|repetition| &repetition.outcomes)
        .map(|outcome| &outcome.transport_facts);
    let Some(facts) = facts.find(|facts| facts.contains_key(CODING) || facts.contains_key(RANGES)) else {
        return;
    };
    let fact = |name| facts.get(name).map(String::as_str);
    for (severity, code, message, remedy) in manner_told(fact(RANGES) == Some(NO_RANGES), fact(CODING)) {
        findings.add(severity, code, 0.0, message, remedy);
    }
}

/// The congestion control that was asked for, and is in the name of the case, beside the one that the sender had.
fn control(findings: &mut Findings, case: &Case, run: &Transfer) {
    let is_put = case.ranks.first().is_some_and(|rank| rank.role == Role::Source);
    let mut senders = run
        .connections
        .iter()
        .filter_map(|c| if is_put { c.near.as_ref() } else { c.far.as_ref() });
    let Some(asked) = case.options.get("congestion") else {
        return;
    };
    if let Some(other) = senders.find(|info| !info.congestion.is_empty() && info.congestion != *asked) {
        findings.add(
            Severity::Warning,
            "other_congestion",
            0.0,
            format!(
                "the sender did not take congestion control {asked}: it had {}",
                other.congestion
            ),
            "choose one that it permits: sysctl net.ipv4.tcp_allowed_congestion_control there, or have root load others",
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::Limits;
    use crate::byteio::{BulkRun, case_of, repetition, result_of};
    use wirespeed_schema::byteio::{Connection, Pair, TcpInfo, Transfer};

    #[test]
    fn how_a_server_sends_is_said_once_a_case() {
        let case = case_of(&Pair {
            direction: "get".to_owned(),
            mechanism: "http".to_owned(),
            ..Pair::default()
        });
        let told = |facts: &[(&str, &str)]| -> Vec<String> {
            let facts = facts
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let run = BulkRun {
                payload_bytes: 1000,
                blocks: 1,
                elapsed_ns: 1000,
                facts: facts.collect(),
                ..BulkRun::default()
            };
            let runs = (0..3)
                .map(|index| repetition(&case, run.clone(), index))
                .collect();
            let remarks = crate::case_result(case.clone(), runs, &Limits::default()).remarks;
            let ours = remarks
                .into_iter()
                .filter(|remark| ["content_coded", "no_ranges"].contains(&remark.code.as_str()));
            ours.map(|remark| remark.message).collect()
        };
        let both = told(&[
            ("url", "http://h/f"),
            ("ranges", "none"),
            ("content_coding", "gzip"),
        ]);
        assert_eq!(both.len(), 2, "{both:?}");
        assert!(
            both[0].contains("coded as gzip") && both[1].contains("no ranges"),
            "{both:?}"
        );
        assert!(!both.iter().any(|message| message.contains("of 3")), "{both:?}");
        assert_eq!(told(&[("url", "http://h/f")]), Vec::<String>::new());
    }

    #[test]
    fn a_control_that_the_sender_did_not_have_is_told() {
        let info = |name: &str| {
            Some(TcpInfo {
                congestion: name.to_owned(),
                ..TcpInfo::default()
            })
        };
        for direction in ["get", "put"] {
            let told = |asked: Option<&str>, had: &str| {
                let (sender, receiver) = (info(had), info("vegas"));
                let (near, far) = match direction {
                    "put" => (sender, receiver),
                    _ => (receiver, sender),
                };
                let run = Transfer {
                    elapsed_ns: 1000,
                    payload_bytes: 1000,
                    connections: vec![Connection {
                        near,
                        far,
                        ..Connection::default()
                    }],
                    ..Transfer::default()
                };
                let result = result_of(&Pair {
                    direction: direction.to_owned(),
                    mechanism: "http".to_owned(),
                    congestion: asked.map(str::to_owned),
                    runs: vec![run],
                    ..Pair::default()
                });
                result
                    .remarks
                    .iter()
                    .any(|remark| remark.code == "other_congestion")
            };
            assert!(told(Some("nope"), "bbr"), "{direction}");
            assert!(!told(Some("bbr"), "bbr"), "{direction}");
            assert!(!told(None, "bbr"), "{direction}");
            // Of a server of others nothing is known.
            assert!(!told(Some("bbr"), ""), "{direction}");
        }
    }
}
