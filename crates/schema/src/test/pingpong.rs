//! Ping-pongs of messages and puts: `am_lat`, `put_lat`.

use super::asked::{Asked, Parameters, Value};
use super::layout::Layout;
use crate::plan::error::PlanError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ping-pong of messages or puts: `am_lat`, `put_lat`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PingPong {
    /// Payload of each message.
    pub size_bytes: u64,
    /// How it is handed over.
    pub layout: Layout,
}

impl PingPong {
    /// Messages of `size_bytes`, handed over as `layout` says.
    pub fn new(size_bytes: u64, layout: Layout) -> Self {
        Self { size_bytes, layout }
    }

    pub(crate) fn read(asked: &Asked) -> Result<Self, PlanError> {
        Ok(PingPong::new(asked.size_bytes, asked.layout))
    }
}

impl Parameters for PingPong {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn layout(&self) -> Option<Layout> {
        Some(self.layout)
    }

    fn values(&self) -> Vec<Value> {
        Vec::new()
    }
}
