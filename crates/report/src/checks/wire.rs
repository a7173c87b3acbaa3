//! Bytes on the sockets of a bulk transfer beside its payload.

use super::Findings;
use crate::byteio::{WIRE_OVERHEAD, look_at_wire};
use wirespeed_schema::Case;
use wirespeed_schema::run::Repetition;

pub(super) fn check(findings: &mut Findings, case: &Case, repetition: &Repetition) {
    let (Some(shape), Some(mechanism)) = (case.test.bulk(), case.transport.strip_prefix("byteio-")) else {
        return;
    };
    let runs = repetition
        .outcomes
        .iter()
        .filter_map(|outcome| outcome.transfer.as_ref());
    for found in runs.filter_map(|run| look_at_wire(mechanism, shape.size_bytes, run)) {
        findings.add(
            found.severity,
            WIRE_OVERHEAD,
            found.ratio,
            found.message,
            found.remedy,
        );
    }
}
