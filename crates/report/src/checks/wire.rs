//! What passed over the sockets of a bulk transfer beside its payload, and under which congestion control.

use super::Findings;
use crate::byteio::{WIRE_OVERHEAD, look_at_wire};
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
    use crate::byteio::result_of;
    use wirespeed_schema::byteio::{Connection, Pair, TcpInfo, Transfer};

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
