//! What can be measured: the tests by their names in the field, and the parameters that each kind takes.
//!
//! A test never carries parameters that it does not use; each kind has a struct of its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How message data is handed to the transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// The caller's bytes are inlined into the transport's own storage by the send call.
    Short,
    /// A callback packs the data directly into the transport's storage (buffered copy).
    Bcopy,
    /// The transport reads from (or writes to) registered memory; the caller learns when it may reuse it.
    Zcopy,
}

impl Layout {
    /// Every layout, in the order of the tables.
    pub const ALL: [Layout; 3] = [Layout::Short, Layout::Bcopy, Layout::Zcopy];

    /// The name as typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Short => "short",
            Layout::Bcopy => "bcopy",
            Layout::Zcopy => "zcopy",
        }
    }
}

/// A ping-pong of messages or puts: `am_lat`, `put_lat`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct PingPong {
    /// Payload of each message.
    pub size_bytes: u64,
    /// How it is handed over.
    pub layout: Layout,
}

/// A stream of active messages under credit flow control: `am_bw`, `am_bibw`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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

/// A train of one-sided operations: `get`, `get_bw`, `put_bw`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
pub struct Atomic {
    /// 4 or 8 bytes.
    pub size_bytes: u64,
    /// Operations that may be uncompleted at once.
    pub outstanding_ops: u64,
}

/// Two-sided messages matched by tag: `tag_lat`, `tag_bw`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Tagged {
    /// Payload of each message.
    pub size_bytes: u64,
    /// Sends (and receives) posted before the wait for all of them.
    pub window_msgs: u64,
}

/// One hub exchanging messages with every worker: `hub_lat`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Hub {
    /// Payload from the hub to a worker, and back.
    pub size_bytes: u64,
    /// How it is handed over.
    pub layout: Layout,
    /// True: a request to every worker is outstanding at once. False: one worker after the other.
    pub fan_out: bool,
}

/// A test with its parameters. The tag is the test's name in the field.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "test", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Test {
    /// Active-message ping-pong.
    AmLat(PingPong),
    /// Put ping-pong: the receiver polls its own memory.
    PutLat(PingPong),
    /// Ping-pong of atomic additions.
    AddLat(Atomic),
    /// Get, completion latency.
    Get(Rma),
    /// Atomic fetch-and-add.
    Fadd(Atomic),
    /// Atomic swap.
    Swap(Atomic),
    /// Atomic compare-and-swap.
    Cswap(Atomic),
    /// One-way stream of active messages.
    AmBw(Stream),
    /// One-way stream of puts.
    PutBw(Rma),
    /// Stream of posted atomic additions (message rate).
    AddMr(Atomic),
    /// Stream of gets.
    GetBw(Rma),
    /// Streams of active messages in both directions at once.
    AmBibw(Stream),
    /// Ping-pong of tagged messages.
    TagLat(Tagged),
    /// Windows of tagged messages.
    TagBw(Tagged),
    /// A hub and its workers, message ping-pong with each.
    HubLat(Hub),
}

/// Which capability of a transport a test needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Active messages.
    Messages,
    /// Matched sends and receives.
    Tagged,
    /// Put, get and atomics on a remote region.
    OneSided,
}

impl Capability {
    /// Every capability, in the order of the tables.
    pub const ALL: [Capability; 3] = [Capability::Messages, Capability::Tagged, Capability::OneSided];

    /// The name as printed and as in the document.
    pub fn name(self) -> &'static str {
        match self {
            Capability::Messages => "messages",
            Capability::Tagged => "tagged",
            Capability::OneSided => "one_sided",
        }
    }
}

/// The names of all tests, in the order of the tables.
pub const TEST_NAMES: [&str; 15] = [
    "am_lat", "put_lat", "add_lat", "get", "fadd", "swap", "cswap", "am_bw", "put_bw", "add_mr", "get_bw",
    "am_bibw", "tag_lat", "tag_bw", "hub_lat",
];

impl Test {
    /// The test's name in the field.
    pub fn name(&self) -> &'static str {
        match self {
            Test::AmLat(_) => "am_lat",
            Test::PutLat(_) => "put_lat",
            Test::AddLat(_) => "add_lat",
            Test::Get(_) => "get",
            Test::Fadd(_) => "fadd",
            Test::Swap(_) => "swap",
            Test::Cswap(_) => "cswap",
            Test::AmBw(_) => "am_bw",
            Test::PutBw(_) => "put_bw",
            Test::AddMr(_) => "add_mr",
            Test::GetBw(_) => "get_bw",
            Test::AmBibw(_) => "am_bibw",
            Test::TagLat(_) => "tag_lat",
            Test::TagBw(_) => "tag_bw",
            Test::HubLat(_) => "hub_lat",
        }
    }

    /// The capability that a transport must have for it.
    pub fn capability(&self) -> Capability {
        match self {
            Test::AmLat(_) | Test::AmBw(_) | Test::AmBibw(_) | Test::HubLat(_) => Capability::Messages,
            Test::TagLat(_) | Test::TagBw(_) => Capability::Tagged,
            _ => Capability::OneSided,
        }
    }

    /// Payload of one operation.
    pub fn size_bytes(&self) -> u64 {
        match self {
            Test::AmLat(p) | Test::PutLat(p) => p.size_bytes,
            Test::AmBw(p) | Test::AmBibw(p) => p.size_bytes,
            Test::Get(p) | Test::PutBw(p) | Test::GetBw(p) => p.size_bytes,
            Test::AddLat(p) | Test::Fadd(p) | Test::Swap(p) | Test::Cswap(p) | Test::AddMr(p) => p.size_bytes,
            Test::TagLat(p) | Test::TagBw(p) => p.size_bytes,
            Test::HubLat(p) => p.size_bytes,
        }
    }

    /// The layout, where the test has one.
    pub fn layout(&self) -> Option<Layout> {
        match self {
            Test::AmLat(p) | Test::PutLat(p) => Some(p.layout),
            Test::AmBw(p) | Test::AmBibw(p) => Some(p.layout),
            Test::Get(p) | Test::PutBw(p) | Test::GetBw(p) => Some(p.layout),
            Test::HubLat(p) => Some(p.layout),
            _ => None,
        }
    }

    /// Messages or operations that may be outstanding at once (1 for a ping-pong).
    pub fn window(&self) -> u64 {
        match self {
            Test::AmBw(p) | Test::AmBibw(p) => p.window_msgs,
            Test::Get(p) | Test::PutBw(p) | Test::GetBw(p) => p.outstanding_ops,
            Test::AddLat(p) | Test::Fadd(p) | Test::Swap(p) | Test::Cswap(p) | Test::AddMr(p) => {
                p.outstanding_ops
            }
            Test::TagBw(p) => p.window_msgs,
            Test::AmLat(_) | Test::PutLat(_) | Test::TagLat(_) | Test::HubLat(_) => 1,
        }
    }

    /// True for tests whose sample is a round trip between two ranks.
    pub fn is_round_trip(&self) -> bool {
        matches!(
            self,
            Test::AmLat(_) | Test::PutLat(_) | Test::AddLat(_) | Test::TagLat(_) | Test::HubLat(_)
        )
    }
}
