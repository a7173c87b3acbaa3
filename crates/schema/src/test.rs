//! What can be measured: the tests by their names in the field, and the parameters that each kind takes.
//!
//! A test never carries parameters that it does not use; each kind has a struct of its own.

use crate::posted::{Defined, MsgRate};
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
    /// As short, gathered by the send call from several pieces.
    Shortiov,
}

impl Layout {
    /// Every layout, in the order of the tables.
    pub const ALL: [Layout; Layout::COUNT] = [Layout::Short, Layout::Bcopy, Layout::Zcopy, Layout::Shortiov];

    /// How many there are.
    pub const COUNT: usize = 4;

    /// The name as typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Short => "short",
            Layout::Bcopy => "bcopy",
            Layout::Zcopy => "zcopy",
            Layout::Shortiov => "shortiov",
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

/// A stream of active messages under credit flow control: `am_bw`, `am_bibw`, `am_alltoall`.
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
    /// Payload of an answer, in bytes.
    pub fn reply(&self) -> u64 {
        self.reply_bytes.unwrap_or(self.size_bytes)
    }

    /// Whether answers are as large as requests, so that half a round trip is a way.
    pub fn is_symmetric(&self) -> bool {
        self.reply() == self.size_bytes
    }
}

/// A resource moved in blocks over several connections: `bulk_get`, `bulk_put`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
    /// Streams of active messages from every rank to every other at once.
    AmAlltoall(Stream),
    /// Iterations of posted sends and receives with every neighbour.
    Msgrate(MsgRate),
    /// OSU: blocking ping-pong.
    OsuLatency(Defined),
    /// OSU: windows one way, acknowledged.
    OsuBw(Defined),
    /// OSU: windows both ways at once, acknowledged.
    OsuBibw(Defined),
    /// OSU: windows of several pairs, all pairs in step.
    OsuMbwMr(Defined),
    /// OSU: ping-pong of several pairs, all pairs in step.
    OsuMultiLat(Defined),
    /// IMB: blocking ping-pong.
    ImbPingpong(Defined),
    /// IMB: windows one way, acknowledged.
    ImbUniband(Defined),
    /// IMB: windows both ways at once, acknowledged.
    ImbBiband(Defined),
    /// A resource fetched in blocks.
    BulkGet(Bulk),
    /// A resource sent in blocks.
    BulkPut(Bulk),
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
    /// Blocks of a resource at a service. No transport of the registry has it: the far end may be anybody's.
    Bulk,
}

impl Capability {
    /// Every capability of a transport, in the order of the tables.
    pub const ALL: [Capability; 3] = [Capability::Messages, Capability::Tagged, Capability::OneSided];

    /// The name as printed and as in the document.
    pub fn name(self) -> &'static str {
        match self {
            Capability::Messages => "messages",
            Capability::Tagged => "tagged",
            Capability::OneSided => "one_sided",
            Capability::Bulk => "bulk",
        }
    }
}

/// The names of all tests that a plan may ask for, in the order of the tables.
pub const TEST_NAMES: [&str; 25] = [
    "am_lat",
    "put_lat",
    "add_lat",
    "get",
    "fadd",
    "swap",
    "cswap",
    "am_bw",
    "put_bw",
    "add_mr",
    "get_bw",
    "am_bibw",
    "tag_lat",
    "tag_bw",
    "hub_lat",
    "am_alltoall",
    "msgrate",
    "osu_latency",
    "osu_bw",
    "osu_bibw",
    "osu_mbw_mr",
    "osu_multi_lat",
    "imb_pingpong",
    "imb_uniband",
    "imb_biband",
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
            Test::AmAlltoall(_) => "am_alltoall",
            Test::Msgrate(_) => "msgrate",
            Test::OsuLatency(_) => "osu_latency",
            Test::OsuBw(_) => "osu_bw",
            Test::OsuBibw(_) => "osu_bibw",
            Test::OsuMbwMr(_) => "osu_mbw_mr",
            Test::OsuMultiLat(_) => "osu_multi_lat",
            Test::ImbPingpong(_) => "imb_pingpong",
            Test::ImbUniband(_) => "imb_uniband",
            Test::ImbBiband(_) => "imb_biband",
            Test::BulkGet(_) => "bulk_get",
            Test::BulkPut(_) => "bulk_put",
        }
    }

    /// The capability that a transport must have for it.
    pub fn capability(&self) -> Capability {
        match self {
            Test::AmLat(_) | Test::AmBw(_) | Test::AmBibw(_) | Test::HubLat(_) | Test::AmAlltoall(_) => {
                Capability::Messages
            }
            Test::TagLat(_) | Test::TagBw(_) => Capability::Tagged,
            Test::BulkGet(_) | Test::BulkPut(_) => Capability::Bulk,
            test if test.is_posted() => Capability::Tagged,
            _ => Capability::OneSided,
        }
    }

    /// Payload of one operation.
    pub fn size_bytes(&self) -> u64 {
        match self {
            Test::AmLat(p) | Test::PutLat(p) => p.size_bytes,
            Test::AmBw(p) | Test::AmBibw(p) | Test::AmAlltoall(p) => p.size_bytes,
            Test::Get(p) | Test::PutBw(p) | Test::GetBw(p) => p.size_bytes,
            Test::AddLat(p) | Test::Fadd(p) | Test::Swap(p) | Test::Cswap(p) | Test::AddMr(p) => p.size_bytes,
            Test::TagLat(p) | Test::TagBw(p) => p.size_bytes,
            Test::HubLat(p) => p.size_bytes,
            Test::Msgrate(p) => p.size_bytes,
            Test::BulkGet(p) | Test::BulkPut(p) => p.size_bytes,
            other => other.defined().map_or(0, |p| p.size_bytes),
        }
    }

    /// The parameters of a test that is defined by a well-known benchmark.
    pub fn defined(&self) -> Option<&Defined> {
        match self {
            Test::OsuLatency(p)
            | Test::OsuBw(p)
            | Test::OsuBibw(p)
            | Test::OsuMbwMr(p)
            | Test::OsuMultiLat(p)
            | Test::ImbPingpong(p)
            | Test::ImbUniband(p)
            | Test::ImbBiband(p) => Some(p),
            _ => None,
        }
    }

    /// True for tests whose ranks go through iterations of posted sends and receives together.
    pub fn is_posted(&self) -> bool {
        matches!(self, Test::Msgrate(_)) || self.defined().is_some()
    }

    /// What tells cases of this test apart beside its size: `pre-post, 6 peers`; empty for most tests.
    pub fn variant(&self) -> String {
        match self {
            Test::Msgrate(p) if p.pattern == crate::posted::Pattern::Single => {
                format!("{} {}", p.pattern.name(), p.cache_state.name())
            }
            Test::Msgrate(p) => format!(
                "{} {} p={} {}",
                p.pattern.name(),
                p.grid.name(),
                p.peers,
                p.cache_state.name()
            ),
            Test::BulkGet(p) | Test::BulkPut(p) => format!("{} x {}", p.connections, p.outstanding_ops),
            _ => String::new(),
        }
    }

    /// The parameters of a bulk transfer.
    pub fn bulk(&self) -> Option<&Bulk> {
        match self {
            Test::BulkGet(p) | Test::BulkPut(p) => Some(p),
            _ => None,
        }
    }

    /// The rate that is offered, in messages or requests a second, where the test has one.
    pub fn pace_per_s(&self) -> Option<f64> {
        match self {
            Test::AmBw(p) | Test::AmBibw(p) | Test::AmAlltoall(p) => p.pace_msg_per_s.map(|rate| rate as f64),
            other => {
                let interval_ns = other.bulk()?.pace_interval_ns?;
                Some(1e9 / interval_ns.max(1) as f64)
            }
        }
    }

    /// The largest message of the test, in either direction.
    pub fn largest_message_bytes(&self) -> u64 {
        match self {
            Test::HubLat(hub) => hub.size_bytes.max(hub.reply()),
            _ => self.size_bytes(),
        }
    }

    /// The layout, where the test has one.
    pub fn layout(&self) -> Option<Layout> {
        match self {
            Test::AmLat(p) | Test::PutLat(p) => Some(p.layout),
            Test::AmBw(p) | Test::AmBibw(p) | Test::AmAlltoall(p) => Some(p.layout),
            Test::Get(p) | Test::PutBw(p) | Test::GetBw(p) => Some(p.layout),
            Test::HubLat(p) => Some(p.layout),
            _ => None,
        }
    }

    /// Messages or operations that may be outstanding at once (1 for a ping-pong).
    pub fn window(&self) -> u64 {
        match self {
            Test::AmBw(p) | Test::AmBibw(p) | Test::AmAlltoall(p) => p.window_msgs,
            Test::Get(p) | Test::PutBw(p) | Test::GetBw(p) => p.outstanding_ops,
            Test::AddLat(p) | Test::Fadd(p) | Test::Swap(p) | Test::Cswap(p) | Test::AddMr(p) => {
                p.outstanding_ops
            }
            Test::TagBw(p) => p.window_msgs,
            Test::AmLat(_) | Test::PutLat(_) | Test::TagLat(_) | Test::HubLat(_) => 1,
            Test::Msgrate(p) => p.window_msgs,
            Test::BulkGet(p) | Test::BulkPut(p) => p.connections.saturating_mul(p.outstanding_ops),
            other => other.defined().map_or(1, |p| p.window_msgs),
        }
    }

    /// True for tests whose sample is a round trip between two ranks.
    pub fn is_round_trip(&self) -> bool {
        matches!(
            self,
            Test::AmLat(_)
                | Test::PutLat(_)
                | Test::AddLat(_)
                | Test::TagLat(_)
                | Test::HubLat(_)
                | Test::OsuLatency(_)
                | Test::OsuMultiLat(_)
                | Test::ImbPingpong(_)
        )
    }
}
