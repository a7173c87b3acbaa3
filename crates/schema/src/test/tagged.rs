//! Two-sided messages matched by tag: `tag_lat`, `tag_bw`.

use super::asked::{Asked, Parameters, Value, WINDOW};
use crate::plan::error::PlanError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two-sided messages matched by tag: `tag_lat`, `tag_bw`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Tagged {
    /// Payload of each message.
    pub size_bytes: u64,
    /// Sends (and receives) posted before the wait for all of them.
    pub window_msgs: u64,
}

impl Tagged {
    /// Messages of `size_bytes`, `window_msgs` of them posted at once.
    pub fn new(size_bytes: u64, window_msgs: u64) -> Self {
        Self {
            size_bytes,
            window_msgs,
        }
    }

    pub(crate) fn read(asked: &Asked) -> Result<Self, PlanError> {
        Ok(Tagged::new(asked.size_bytes, asked.window()?))
    }
}

impl Parameters for Tagged {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn window(&self) -> u64 {
        self.window_msgs
    }

    fn values(&self) -> Vec<Value> {
        vec![(&WINDOW, self.window_msgs.to_string())]
    }
}
