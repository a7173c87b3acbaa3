//! Streams of active messages under credit flow control: `am_bw`, `am_bibw`, `am_alltoall`.

use super::asked::{Asked, Parameters, Value, WINDOW};
use super::layout::Layout;
use crate::parameter::Parameter;
use crate::plan::error::PlanError;
use crate::units;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `--pace`.
pub static PACE: Parameter = Parameter {
    key: "pace",
    value_name: "RATE",
    help: "Offer a stream no faster than this many messages per second: 10k, or none",
    remedy: "give messages per second, such as 10k, or none",
    example: "pace = \"10k\"",
    column: "pace_msg_per_s",
    ..Parameter::COUNT
};

/// What only streams have.
pub(crate) static OWN: [&Parameter; 1] = [&PACE];

const PACE_MAX: u64 = 1_000_000_000_000;

/// A stream of active messages under credit flow control: `am_bw`, `am_bibw`, `am_alltoall`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Stream {
    /// Payload of each message.
    pub size_bytes: u64,
    /// How it is handed over.
    pub layout: Layout,
    /// Messages that may be unacknowledged at once (credits).
    pub window_msgs: u64,
    /// Offered rate: send no faster than this; absent for as fast as the window allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace_msg_per_s: Option<u64>,
}

impl Stream {
    /// As fast as a window of `window_msgs` allows.
    pub fn new(size_bytes: u64, layout: Layout, window_msgs: u64) -> Self {
        Self {
            size_bytes,
            layout,
            window_msgs,
            pace_msg_per_s: None,
        }
    }

    /// Offers `msg_per_s`, or as many as the window allows.
    #[must_use]
    pub fn with_pace(mut self, msg_per_s: impl Into<Option<u64>>) -> Self {
        self.pace_msg_per_s = msg_per_s.into();
        self
    }

    pub(crate) fn read(asked: &Asked) -> Result<Self, PlanError> {
        let stream = Stream::new(asked.size_bytes, asked.layout, asked.window()?);
        Ok(stream.with_pace(asked.words.read(&PACE, pace)?.flatten()))
    }
}

/// `10k`, `10k/s`, `10k msg/s`; `none` is no pace.
fn pace(text: &str) -> Option<Option<u64>> {
    if text == "none" {
        return Some(None);
    }
    let number = text.trim_end_matches("/s").trim_end_matches("msg").trim_end();
    let rate = units::parse_count(number).ok()?;
    (1..=PACE_MAX).contains(&rate).then_some(Some(rate))
}

impl Parameters for Stream {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn layout(&self) -> Option<Layout> {
        Some(self.layout)
    }

    fn window(&self) -> u64 {
        self.window_msgs
    }

    fn pace_per_s(&self) -> Option<f64> {
        self.pace_msg_per_s.map(|rate| rate as f64)
    }

    fn values(&self) -> Vec<Value> {
        let pace = self.pace_msg_per_s.map(|rate| (&PACE, rate.to_string()));
        let window = (&WINDOW, self.window_msgs.to_string());
        std::iter::once(window).chain(pace).collect()
    }
}
