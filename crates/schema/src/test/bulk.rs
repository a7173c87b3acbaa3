//! A resource moved in blocks over several connections: `bulk_get`, `bulk_put`.

use super::asked::{OUTSTANDING, Parameters, Value};
use super::stream::PACE;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
        let outstanding = (&OUTSTANDING, self.window().to_string());
        std::iter::once(outstanding).chain(pace).collect()
    }
}
