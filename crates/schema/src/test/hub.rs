//! One hub exchanging messages with every worker: `hub_lat`.

use super::asked::{Asked, Parameters, SIZE_MAX_BYTES, Value};
use super::layout::Layout;
use crate::parameter::{Parameter, Section};
use crate::plan::error::PlanError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `--reply`.
pub static REPLY: Parameter = Parameter {
    key: "reply",
    section: Section::Hub,
    help: "Payload of the answers: 0, 64, 8K [default: as much as the request]",
    remedy: "give sizes such as 0, 64 or 8K, or leave it out for answers as large as requests",
    example: "reply = \"64\"",
    column: "reply_bytes",
    ..Parameter::SIZE
};

/// `--fan-out`.
pub static FAN_OUT: Parameter = Parameter {
    key: "fan_out",
    section: Section::Hub,
    help: "Send a request to all workers at once [default: one after the other]",
    example: "fan_out = true",
    column: "fan_out",
    ..Parameter::FLAG
};

/// What only a hub has.
pub(crate) static OWN: [&Parameter; 2] = [&REPLY, &FAN_OUT];

/// One hub exchanging messages with every worker: `hub_lat`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Hub {
    /// Payload from the hub to a worker.
    pub size_bytes: u64,
    /// Payload of the answer; absent: as much as the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_bytes: Option<u64>,
    /// How it is handed over.
    pub layout: Layout,
    /// True: a request to every worker is outstanding at once. False: one worker after the other.
    pub fan_out: bool,
}

impl Hub {
    /// Requests of `size_bytes`, answers as large, one worker after the other.
    pub fn new(size_bytes: u64, layout: Layout) -> Self {
        Self {
            size_bytes,
            layout,
            reply_bytes: None,
            fan_out: false,
        }
    }

    /// Answers of another size.
    #[must_use]
    pub fn with_reply(mut self, reply_bytes: impl Into<Option<u64>>) -> Self {
        self.reply_bytes = reply_bytes.into();
        self
    }

    /// Requests to all workers at once, or to one after the other.
    #[must_use]
    pub fn with_fan_out(mut self, fan_out: bool) -> Self {
        self.fan_out = fan_out;
        self
    }

    pub(crate) fn read(asked: &Asked) -> Result<Self, PlanError> {
        let hub = Hub::new(asked.size_bytes, asked.layout);
        let hub = hub.with_reply(asked.words.size(&REPLY, 0..=SIZE_MAX_BYTES)?);
        Ok(hub.with_fan_out(asked.words.flag(&FAN_OUT)?))
    }

    /// Payload of an answer, in bytes.
    pub fn reply(&self) -> u64 {
        self.reply_bytes.unwrap_or(self.size_bytes)
    }

    /// Whether answers are as large as requests, so that half a round trip is a way.
    pub fn is_symmetric(&self) -> bool {
        self.reply() == self.size_bytes
    }
}

impl Parameters for Hub {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn layout(&self) -> Option<Layout> {
        Some(self.layout)
    }

    fn largest_message_bytes(&self) -> u64 {
        self.size_bytes.max(self.reply())
    }

    fn values(&self) -> Vec<Value> {
        vec![
            (&FAN_OUT, self.fan_out.to_string()),
            (&REPLY, self.reply().to_string()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_round_trip_is_a_way_where_both_ways_carry_the_same() {
        let mut hub = Hub::new(64, Layout::Short);
        assert!(hub.is_symmetric());
        hub.reply_bytes = Some(0);
        assert!(!hub.is_symmetric() && hub.largest_message_bytes() == 64);
        hub.reply_bytes = Some(65);
        assert!(!hub.is_symmetric() && hub.largest_message_bytes() == 65);
        hub.reply_bytes = Some(64);
        assert!(hub.is_symmetric());
    }
}
