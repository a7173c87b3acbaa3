//! A resource moved in blocks over several connections: `bulk_get`, `bulk_put`.

use super::asked::{Asked, OUTSTANDING, Parameters, SIZE_MAX_BYTES, Value};
use super::stream::PACE;
use crate::parameter::{Parameter, Section};
use crate::plan::error::PlanError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Payload of a block where nothing is said.
pub(crate) const BLOCK_BYTES: u64 = 8 << 20;
/// Connections where nothing is said, and the most.
const CONNECTIONS: u64 = 4;
const CONNECTIONS_MAX: u64 = 1024;

/// `--total`.
pub static TOTAL: Parameter = Parameter {
    key: "total",
    section: Section::Test,
    help: "Bytes that bulk_get and bulk_put move in all, the size of the file: 1GiB",
    remedy: "give the size of the file that is moved, such as 1GiB",
    example: "total = \"1GiB\"",
    ..Parameter::SIZE
};

/// `--connections`.
pub static CONNECTIONS_OF: Parameter = Parameter {
    key: "connections",
    section: Section::Test,
    help: "Connections over which bulk_get and bulk_put move their blocks [default: 4]",
    remedy: "give a count from 1 to 1024, such as 4, or a range 1..16:x2",
    example: "connections = [1, 4]",
    column: "connections",
    ..Parameter::COUNT
};

/// What only bulk transfers have.
pub(crate) static OWN: [&Parameter; 2] = [&TOTAL, &CONNECTIONS_OF];

/// A resource moved in blocks over several connections: `bulk_get`, `bulk_put`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Bulk {
    /// Payload of one block, which is one request.
    pub size_bytes: u64,
    /// Payload of the whole.
    pub total_bytes: u64,
    /// Connections, or streams.
    pub connections: u64,
    /// Blocks outstanding on each.
    pub outstanding_ops: u64,
    /// Offered rate: a request is due every so often, whether or not earlier ones are done, and the resource is moved
    /// round and round; absent where the whole is moved once, as fast as it can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace_interval_ns: Option<u64>,
}

impl Bulk {
    /// `total_bytes` in blocks of `size_bytes`, as fast as they come.
    pub fn new(size_bytes: u64, total_bytes: u64, connections: u64, outstanding_ops: u64) -> Self {
        Self {
            size_bytes,
            total_bytes,
            connections,
            outstanding_ops,
            pace_interval_ns: None,
        }
    }

    pub(crate) fn read(asked: &Asked) -> Result<Self, PlanError> {
        let Some(total_bytes) = asked.words.size(&TOTAL, 0..=SIZE_MAX_BYTES)? else {
            return Err(PlanError::new(
                format!(
                    "{} needs --total: the service is not asked for the size beforehand",
                    asked.test
                ),
                "give --total, or let `wirespeed byteio bench` ask",
            ));
        };
        let connections = asked.words.count(&CONNECTIONS_OF, 1..=CONNECTIONS_MAX)?;
        Ok(Bulk::new(
            asked.size_bytes,
            total_bytes,
            connections.unwrap_or(CONNECTIONS),
            asked.outstanding()?,
        ))
    }

    /// Requests that move the whole once; at least one.
    pub fn blocks(&self) -> u64 {
        self.total_bytes.div_ceil(self.size_bytes.max(1)).max(1)
    }

    /// A request every `interval_ns`, or as soon as there is room.
    #[must_use]
    pub fn with_pace_interval_ns(mut self, interval_ns: impl Into<Option<u64>>) -> Self {
        self.pace_interval_ns = interval_ns.into();
        self
    }
}

impl Parameters for Bulk {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn window(&self) -> u64 {
        self.connections.saturating_mul(self.outstanding_ops)
    }

    fn pace_per_s(&self) -> Option<f64> {
        let interval_ns = self.pace_interval_ns?;
        Some(1e9 / interval_ns.max(1) as f64)
    }

    fn variant(&self) -> String {
        format!("{} x {}", self.connections, self.outstanding_ops)
    }

    fn values(&self) -> Vec<Value> {
        let pace = self.pace_per_s().map(|rate| (&PACE, rate.to_string()));
        let own = [
            (&TOTAL, self.total_bytes.to_string()),
            (&CONNECTIONS_OF, self.connections.to_string()),
            (&OUTSTANDING, self.outstanding_ops.to_string()),
        ];
        own.into_iter().chain(pace).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_holds_connections_and_blocks_outstanding() {
        let bulk = Bulk::new(1 << 20, 1 << 30, 3, 4);
        assert_eq!((bulk.variant().as_str(), bulk.window()), ("3 x 4", 12));
        assert_eq!((bulk.pace_per_s(), bulk.blocks()), (None, 1 << 10));
        let paced = bulk.with_pace_interval_ns(2_000);
        assert_eq!(paced.pace_per_s(), Some(5e5));
        assert!(
            paced
                .values()
                .iter()
                .any(|(of, rate)| of.key == "pace" && rate == "500000")
        );
    }
}
