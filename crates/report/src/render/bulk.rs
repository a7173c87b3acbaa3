//! Bulk transfers as CSV: one row a run.

use super::RenderError;
use super::tamed::{Rows, tamed};
use wirespeed_schema::byteio::{ByteioSection, Connection};

/// A part of a connection's time.
type Part = fn(&Connection) -> u64;

const COLUMNS: [&str; 27] = [
    "pair",
    "url",
    "direction",
    "mechanism",
    "run",
    "total_bytes",
    "block_bytes",
    "threads",
    "depth_ops",
    "destination",
    "payload_bytes",
    "elapsed_ns",
    "bandwidth_bytes_per_s",
    "socket_read_bytes",
    "socket_written_bytes",
    "wire_ratio",
    "repeated_bytes",
    "lookup_ns",
    "connect_ns",
    "verify_ns",
    "verified",
    "retries_count",
    "steals_count",
    "cpu_near_ns",
    "cpu_far_ns",
    "nominal_bytes_per_s",
    "error",
];

/// One row a run.
pub(super) fn csv(section: &ByteioSection) -> Result<String, RenderError> {
    let mut text = Rows::new(csv::Terminator::Any(b'\n'));
    text.add(&COLUMNS.map(str::to_owned))?;
    for pair in &section.pairs {
        for (number, run) in pair.runs.iter().enumerate() {
            let retries: u64 = run.connections.iter().map(|c| c.retries_count).sum();
            let sum = |part: Part| run.connections.iter().map(part).sum::<u64>().to_string();
            let optional = |value: Option<String>| value.unwrap_or_default();
            let row = [
                pair.name.clone(),
                pair.url.clone(),
                pair.direction.clone(),
                pair.mechanism.clone(),
                number.to_string(),
                pair.total_bytes.to_string(),
                pair.block_bytes.to_string(),
                pair.threads.to_string(),
                pair.depth_ops.to_string(),
                pair.destination.clone(),
                run.payload_bytes.to_string(),
                run.elapsed_ns.to_string(),
                optional(run.rate_bytes_per_s().map(|rate| rate.to_string())),
                sum(|c| c.socket_read_bytes),
                sum(|c| c.socket_written_bytes),
                optional(run.wire_ratio().map(|ratio| ratio.to_string())),
                sum(|c| c.repeated_bytes),
                run.lookup_ns.to_string(),
                run.connect_ns.to_string(),
                run.verify_ns.to_string(),
                run.verified.to_string(),
                retries.to_string(),
                run.steals_count.to_string(),
                run.cpu_near_ns.to_string(),
                optional(run.cpu_far_ns.map(|ns| ns.to_string())),
                optional(pair.nominal_bytes_per_s.map(|n| n.get().to_string())),
                optional(run.error.clone()),
            ];
            text.add(&tamed(row))?;
        }
    }
    text.text()
}
