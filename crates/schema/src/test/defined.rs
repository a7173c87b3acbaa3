//! Tests of the well-known MPI benchmarks by their own definitions: `osu_bw`, `imb_pingpong` and their kin.

use super::asked::{Asked, Parameters, Value, WINDOW};
use crate::parameter::{Parameter, Section};
use crate::plan::error::PlanError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `--buffers`.
pub static BUFFERS: Parameter = Parameter {
    key: "buffers",
    section: Section::ManyRanks,
    value_name: "single|multiple",
    help: "Memory of the messages of a window: single (one place for all, as the originals do) or multiple [default: single]",
    remedy: "choose from: single, multiple",
    example: "buffers = [\"single\", \"multiple\"]",
    column: "buffers",
    ..Parameter::NAME
};

/// What only windows of OSU and IMB have.
pub(crate) static OWN: [&Parameter; 1] = [&BUFFERS];

/// Whether a definition sends every message of a window from one place, and receives it in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Buffers {
    /// One place a side, as the originals do unless told otherwise.
    Single,
    /// A place for each message of the window.
    Multiple,
}

impl Buffers {
    /// Both, in the order of the tables.
    pub const ALL: [Buffers; 2] = [Buffers::Single, Buffers::Multiple];

    /// The name as typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Buffers::Single => "single",
            Buffers::Multiple => "multiple",
        }
    }
}

/// A test of a well-known MPI benchmark, by its own definition: `osu_bw`, `imb_pingpong` and their kin.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Defined {
    /// Payload of each message.
    pub size_bytes: u64,
    /// Messages before the acknowledgement; 1 for a ping-pong.
    pub window_msgs: u64,
    /// Reuse of memory within a window.
    pub buffers: Buffers,
}

impl Parameters for Defined {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn window(&self) -> u64 {
        self.window_msgs
    }

    fn values(&self) -> Vec<Value> {
        vec![
            (&WINDOW, self.window_msgs.to_string()),
            (&BUFFERS, self.buffers.name().to_owned()),
        ]
    }
}

impl Defined {
    /// Windows of `window_msgs`; 1 for a ping-pong.
    pub fn new(size_bytes: u64, window_msgs: u64, buffers: Buffers) -> Self {
        Self {
            size_bytes,
            window_msgs,
            buffers,
        }
    }

    pub(crate) fn read(asked: &Asked) -> Result<Self, PlanError> {
        let window_msgs = asked.window()?;
        let choices = Buffers::ALL.map(|buffers| (buffers.name(), buffers));
        let buffers = asked.words.named(&BUFFERS, Buffers::Single, &choices)?;
        Ok(Defined::new(asked.size_bytes, window_msgs, buffers))
    }

    /// As [`Defined::read`], for a test that is defined for one pair of ranks.
    pub(crate) fn read_pair(asked: &Asked) -> Result<Self, PlanError> {
        match asked.paired_ranks {
            2 => Defined::read(asked),
            ranks => Err(PlanError::new(
                format!("{} is defined for 2 ranks, not {ranks}", asked.test),
                "use 2 ranks, or osu_multi_lat, osu_mbw_mr, imb_uniband or imb_biband for several pairs",
            )),
        }
    }

    /// Bytes of the messages' memory of a rank. Saturates.
    pub fn buffer_bytes(&self) -> u64 {
        let places = match self.buffers {
            Buffers::Single => 1,
            Buffers::Multiple => self.window_msgs,
        };
        self.size_bytes.saturating_mul(places).saturating_mul(2)
    }
}
