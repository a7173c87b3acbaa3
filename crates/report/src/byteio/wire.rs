//! More bytes on the sockets than the payload and its encoding need: how many, why, and what helps.

use crate::thresholds::WIRE_OVERHEAD_TIMES;
use crate::wording::{counted, often};
use wirespeed_schema::byteio::Transfer;
use wirespeed_schema::run::Severity;
use wirespeed_schema::units::{format_asked_size, format_size, significant};

/// Code of the remark.
pub const CODE: &str = "wire_overhead";

/// Bytes that a mechanism puts on a connection for each of payload, heads left out.
fn needed_ratio(mechanism: &str) -> f64 {
    match mechanism {
        // Four characters of base64 for three bytes.
        "simple" => 4.0 / 3.0,
        _ => 1.0,
    }
}

/// What there is to say of one run.
pub(crate) struct Overhead {
    /// How serious it is.
    pub severity: Severity,
    /// Bytes for each of payload.
    pub ratio: f64,
    /// Why.
    pub message: String,
    /// What helps.
    pub remedy: &'static str,
}

/// The bytes of a run, where they are too many for its payload in blocks of `block_bytes`.
pub(crate) fn look(mechanism: &str, block_bytes: u64, run: &Transfer) -> Option<Overhead> {
    let ratio = run.wire_ratio().filter(|_| run.error.is_none())?;
    let needed = needed_ratio(mechanism);
    let above = ratio / needed - 1.0;
    if ratio / needed <= WIRE_OVERHEAD_TIMES {
        return None;
    }
    let repeated: u64 = run.connections.iter().map(|c| c.repeated_bytes).sum();
    let repeated_share = repeated as f64 / (run.payload_bytes as f64 * needed);
    let (severity, cause, remedy) = match repeated_share >= above / 2.0 {
        true => repeated_blocks(run, repeated),
        false => heads(run.payload_bytes, block_bytes),
    };
    Some(Overhead {
        severity,
        ratio,
        message: format!(
            "{} bytes passed the sockets for each byte of payload, where {mechanism} needs {}: {cause}",
            significant(ratio, 3),
            significant(needed, 3)
        ),
        remedy,
    })
}

fn repeated_blocks(run: &Transfer, repeated: u64) -> (Severity, String, &'static str) {
    let failures: u64 = run.connections.iter().map(|c| c.retries_count).sum();
    let size = format_size(repeated);
    match run.steals_count {
        0 => (
            Severity::Warning,
            format!(
                "{size} passed again because connections failed {}",
                often(failures)
            ),
            "find out why connections fail; with a smaller --block-size each failure costs less",
        ),
        blocks => (
            Severity::Warning,
            format!(
                "{size} passed again because connections stalled while others went on: {} taken over",
                counted(blocks, "block")
            ),
            "with a larger --stall a connection may be silent for longer; with a smaller --block-size each stall costs less",
        ),
    }
}

fn heads(total_bytes: u64, block_bytes: u64) -> (Severity, String, &'static str) {
    let blocks = total_bytes.div_ceil(block_bytes.max(1)).max(1);
    match blocks {
        1 => (
            Severity::Note,
            format!(
                "the payload of {} is small beside its heads",
                format_size(total_bytes)
            ),
            "transfer a larger file",
        ),
        _ => (
            Severity::Note,
            format!(
                "heads and envelopes of blocks of {}",
                format_asked_size(block_bytes)
            ),
            "choose a larger --block-size, or --mechanism http or bulk, whose heads are shorter",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::byteio::Connection;

    const PAYLOAD: u64 = 32 << 20;

    fn found(mechanism: &str, ratio: f64, change: impl FnOnce(&mut Transfer)) -> Option<Overhead> {
        let mut run = Transfer {
            payload_bytes: PAYLOAD,
            connections: vec![Connection {
                socket_read_bytes: (PAYLOAD as f64 * ratio) as u64 - 1000,
                socket_written_bytes: 1000,
                ..Connection::default()
            }],
            ..Transfer::default()
        };
        change(&mut run);
        look(mechanism, 64 << 10, &run)
    }

    #[test]
    fn what_the_mechanism_needs_is_no_remark() {
        for (mechanism, ratio) in [
            ("mtom", 1.0),
            ("bulk", 1.019),
            ("simple", 1.334),
            ("simple", 1.359),
        ] {
            assert!(found(mechanism, ratio, |_| ()).is_none(), "{mechanism} {ratio}");
        }
        let nothing_counted = |run: &mut Transfer| run.connections.clear();
        assert!(found("mtom", 2.0, nothing_counted).is_none());
    }

    #[test]
    fn each_cause_is_told_by_its_own_evidence() {
        let heads = found("mtom", 1.05, |_| ()).unwrap();
        assert_eq!(heads.severity, Severity::Note);
        assert!(
            heads.message.contains("1.05 bytes") && heads.message.contains("64 KiB"),
            "{}",
            heads.message
        );
        let failed = found("simple", 1.5, |run| {
            run.connections[0].repeated_bytes = PAYLOAD / 6;
            run.connections[0].retries_count = 2;
        });
        let failed = failed.unwrap();
        assert_eq!(failed.severity, Severity::Warning);
        assert!(failed.message.contains("failed 2 times"), "{}", failed.message);
        let stalled = found("http", 1.5, |run| {
            run.connections[0].repeated_bytes = PAYLOAD / 2;
            run.steals_count = 2;
        });
        assert!(stalled.unwrap().message.contains("2 blocks taken over"));
    }
}
