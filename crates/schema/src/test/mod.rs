//! What can be measured: the tests by their names in the field, and the parameters that each kind takes.
//!
//! A test never carries parameters that it does not use; each kind has a struct of its own, in a file with the definitions of
//! its parameters and the code that reads them.

pub(crate) mod asked;
pub(crate) mod bulk;
pub(crate) mod defined;
pub(crate) mod hub;
mod layout;
pub(crate) mod msgrate;
mod one_sided;
mod pingpong;
pub(crate) mod stream;
mod tagged;

pub use asked::{Parameters, Value};
pub use bulk::Bulk;
pub use hub::Hub;
pub use layout::Layout;
pub use one_sided::{Atomic, Rma};
pub use pingpong::PingPong;
pub use stream::Stream;
pub use tagged::Tagged;

use defined::Defined;
use msgrate::MsgRate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    pub const ALL: [Capability; 4] = [
        Capability::Messages,
        Capability::Tagged,
        Capability::OneSided,
        Capability::Bulk,
    ];

    /// What it offers, in a sentence.
    pub fn in_words(self) -> &'static str {
        match self {
            Capability::Messages => "messages",
            Capability::Tagged => "tagged messages",
            Capability::OneSided => "one-sided operations",
            Capability::Bulk => "bulk transfers",
        }
    }

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

impl Test {
    /// The name, and what the parameters tell: the one list of all tests.
    fn parts(&self) -> (&'static str, &dyn Parameters) {
        match self {
            Test::AmLat(p) => ("am_lat", p),
            Test::PutLat(p) => ("put_lat", p),
            Test::AddLat(p) => ("add_lat", p),
            Test::Get(p) => ("get", p),
            Test::Fadd(p) => ("fadd", p),
            Test::Swap(p) => ("swap", p),
            Test::Cswap(p) => ("cswap", p),
            Test::AmBw(p) => ("am_bw", p),
            Test::PutBw(p) => ("put_bw", p),
            Test::AddMr(p) => ("add_mr", p),
            Test::GetBw(p) => ("get_bw", p),
            Test::AmBibw(p) => ("am_bibw", p),
            Test::TagLat(p) => ("tag_lat", p),
            Test::TagBw(p) => ("tag_bw", p),
            Test::HubLat(p) => ("hub_lat", p),
            Test::AmAlltoall(p) => ("am_alltoall", p),
            Test::Msgrate(p) => ("msgrate", p),
            Test::OsuLatency(p) => ("osu_latency", p),
            Test::OsuBw(p) => ("osu_bw", p),
            Test::OsuBibw(p) => ("osu_bibw", p),
            Test::OsuMbwMr(p) => ("osu_mbw_mr", p),
            Test::OsuMultiLat(p) => ("osu_multi_lat", p),
            Test::ImbPingpong(p) => ("imb_pingpong", p),
            Test::ImbUniband(p) => ("imb_uniband", p),
            Test::ImbBiband(p) => ("imb_biband", p),
            Test::BulkGet(p) => ("bulk_get", p),
            Test::BulkPut(p) => ("bulk_put", p),
        }
    }

    /// Whether its ranks work one after the other, so that all but a pair of them wait at any time.
    pub fn takes_turns(&self) -> bool {
        matches!(self, Test::HubLat(hub) if !hub.fan_out)
    }

    /// The test's name in the field.
    pub fn name(&self) -> &'static str {
        self.parts().0
    }

    /// Payload of one operation.
    pub fn size_bytes(&self) -> u64 {
        self.parts().1.size_bytes()
    }

    /// The layout, where the test has one.
    pub fn layout(&self) -> Option<Layout> {
        self.parts().1.layout()
    }

    /// Messages or operations that may be outstanding at once (1 for a ping-pong).
    pub fn window(&self) -> u64 {
        self.parts().1.window()
    }

    /// The rate that is offered, in messages or requests a second, where the test has one.
    pub fn pace_per_s(&self) -> Option<f64> {
        self.parts().1.pace_per_s()
    }

    /// The largest message of the test, in either direction.
    pub fn largest_message_bytes(&self) -> u64 {
        self.parts().1.largest_message_bytes()
    }

    /// What tells cases of this test apart beside its size: `pre-post, 6 peers`; empty for most tests.
    pub fn variant(&self) -> String {
        self.parts().1.variant()
    }

    /// Every parameter with its value: payload, layout, and what else there is.
    pub fn values(&self) -> Vec<Value> {
        let parameters = self.parts().1;
        let layout = parameters.layout();
        let mut values = vec![(&asked::SIZE, parameters.size_bytes().to_string())];
        values.extend(layout.map(|layout| (&asked::LAYOUT, layout.name().to_owned())));
        values.extend(parameters.values());
        values
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

    /// The parameters of streams of active messages.
    pub fn stream(&self) -> Option<&Stream> {
        match self {
            Test::AmBw(p) | Test::AmBibw(p) | Test::AmAlltoall(p) => Some(p),
            _ => None,
        }
    }

    /// The parameters of a hub and its workers.
    pub fn hub(&self) -> Option<&Hub> {
        match self {
            Test::HubLat(p) => Some(p),
            _ => None,
        }
    }

    /// The parameters of iterations with every neighbour.
    pub fn msgrate(&self) -> Option<&MsgRate> {
        match self {
            Test::Msgrate(p) => Some(p),
            _ => None,
        }
    }

    /// The parameters of a bulk transfer.
    pub fn bulk(&self) -> Option<&Bulk> {
        match self {
            Test::BulkGet(p) | Test::BulkPut(p) => Some(p),
            _ => None,
        }
    }
}
