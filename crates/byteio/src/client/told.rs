//! What is told of a transfer when its blocks were moved, or were not.

use super::asked::TransferError;
use super::lookup;
use std::collections::BTreeMap;
use wirespeed::bulk::{BulkError, BulkErrorKind, BulkOutcome};
use wirespeed_schema::Finite;
use wirespeed_schema::byteio::{Connection, TcpInfo, Transfer};
use wirespeed_schema::units::nanoseconds as ns;

/// What helps where no more is known.
pub const AGAIN: &str = "look at the service, and give the same command again";

/// What the kernel said of a connection, near end first, by worker.
pub(super) type Counters = BTreeMap<usize, (Option<TcpInfo>, Option<TcpInfo>)>;

/// CPU time that a service of ours says it used meanwhile.
pub(super) fn cpu_between(before: Option<&lookup::Facts>, after: Option<lookup::Facts>) -> Option<u64> {
    after?.cpu_ns.checked_sub(before?.cpu_ns)
}

/// That the service wants another key or token, where this is what it broke off for: where nothing came before, there was no
/// transfer at all.
pub(super) fn refusal(outcome: &BulkOutcome) -> Option<TransferError> {
    let error = outcome.error.as_ref()?;
    (error.kind == BulkErrorKind::Refused).then(|| error.clone().into())
}

/// The transfer that `outcome` is of, and what the kernel said of its connections.
pub(super) fn describe(outcome: &BulkOutcome, mut counters: Counters) -> Transfer {
    let connections = outcome.workers.iter().enumerate().map(|(worker, seen)| {
        let (near, far) = counters.remove(&worker).unwrap_or_default();
        Connection {
            payload_bytes: seen.bytes,
            request_ns: ns(seen.request),
            first_byte_ns: ns(seen.first_byte),
            stream_ns: ns(seen.stream),
            store_ns: ns(seen.store),
            digest_ns: ns(seen.verify),
            idle_ns: ns(seen.idle),
            retries_count: seen.retries,
            retries_ns: ns(seen.retrying),
            socket_read_bytes: seen.read_bytes,
            socket_written_bytes: seen.written_bytes,
            repeated_bytes: seen.repeated_bytes,
            failure: seen.failure.clone(),
            near,
            far,
        }
    });
    let seconds = outcome.elapsed.as_secs_f64();
    // Where nothing moved there is no rate.
    let rate = (outcome.bytes > 0).then(|| outcome.bytes as f64 / seconds);
    let mut transfer = Transfer {
        payload_bytes: outcome.bytes,
        elapsed_ns: ns(outcome.elapsed),
        bandwidth_bytes_per_s: rate.and_then(Finite::maybe),
        connect_ns: ns(outcome.connect),
        steals_count: outcome.taken_over,
        connections: connections.collect(),
        ..Transfer::default()
    };
    if let Some(error) = &outcome.error {
        broke_off(&mut transfer, error);
    }
    transfer
}

/// The transfer is not whole because of `error`, and what helps.
pub(super) fn broke_off(transfer: &mut Transfer, error: &BulkError) {
    transfer.error = Some(error.why.clone());
    transfer.remedy = Some(error.remedy.clone().unwrap_or_else(|| AGAIN.to_owned()));
}
