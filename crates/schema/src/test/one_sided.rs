//! Operations on a peer's memory: puts and gets in a train, atomics on a word.

use super::asked::{Asked, OUTSTANDING, Parameters, Value};
use super::layout::Layout;
use crate::plan::error::PlanError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A train of one-sided operations: `get`, `get_bw`, `put_bw`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Rma {
    /// Bytes moved by each operation.
    pub size_bytes: u64,
    /// How local memory is handed over.
    pub layout: Layout,
    /// Operations that may be uncompleted at once.
    pub outstanding_ops: u64,
}

/// Atomic operations on a remote word: `add_lat`, `add_mr`, `fadd`, `swap`, `cswap`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Atomic {
    /// 4 or 8 bytes.
    pub size_bytes: u64,
    /// Operations that may be uncompleted at once.
    pub outstanding_ops: u64,
}

impl Rma {
    /// Operations of `size_bytes`, `outstanding_ops` of them at once.
    pub fn new(size_bytes: u64, layout: Layout, outstanding_ops: u64) -> Self {
        Self {
            size_bytes,
            layout,
            outstanding_ops,
        }
    }

    pub(crate) fn read(asked: &Asked) -> Result<Self, PlanError> {
        Ok(Rma::new(asked.size_bytes, asked.layout, asked.outstanding()?))
    }

    /// As [`Rma::read`], for operations that bring data: there is nothing to inline.
    pub(crate) fn read_get(asked: &Asked) -> Result<Self, PlanError> {
        match asked.layout {
            Layout::Short => Err(PlanError::new(
                format!("{} has no layout short: there is nothing to inline", asked.test),
                "use --layout bcopy or --layout zcopy",
            )),
            _ => Rma::read(asked),
        }
    }
}

impl Atomic {
    /// Operations on a word of 4 or 8 bytes, `outstanding_ops` of them at once.
    pub fn new(size_bytes: u64, outstanding_ops: u64) -> Self {
        Self {
            size_bytes,
            outstanding_ops,
        }
    }

    pub(crate) fn read(asked: &Asked) -> Result<Self, PlanError> {
        Ok(Atomic::new(asked.size_bytes, asked.outstanding()?))
    }
}

impl Parameters for Rma {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn layout(&self) -> Option<Layout> {
        Some(self.layout)
    }

    fn window(&self) -> u64 {
        self.outstanding_ops
    }

    fn values(&self) -> Vec<Value> {
        vec![(&OUTSTANDING, self.outstanding_ops.to_string())]
    }
}

impl Parameters for Atomic {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn window(&self) -> u64 {
        self.outstanding_ops
    }

    fn values(&self) -> Vec<Value> {
        vec![(&OUTSTANDING, self.outstanding_ops.to_string())]
    }
}
