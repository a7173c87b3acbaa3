//! The table of tests: for each its operation, the parameters it takes, its defaults and its words.
//!
//! A new test is a row of the table, a variant of [`Test`] and a body in the engine. Plans, help, docs and the checks of what
//! a test takes read the table; none of them knows a test by name.

mod row;
mod table;

pub use row::{Kind, Operation, Payload, Roles, UnderWay};
pub use table::KINDS;

use crate::plan::error::PlanError;
use crate::test::{Capability, Test};
use table::{LARGE, SMALL};

/// A friendly name for a test with its own defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FriendlyName {
    /// As typed.
    pub name: &'static str,
    /// The test behind it.
    pub test: &'static str,
    /// The one over transports whose own messages are tagged; it moves the same.
    pub tagged: &'static str,
    /// Default payload.
    pub size_bytes: u64,
    /// Default window of `test`, where it is another than without this name. Of `tagged` it is the test's: each posted message is a
    /// request of a library, and a thousand of those leave the caches.
    pub window_msgs: Option<u64>,
    /// One line for help texts.
    pub summary: &'static str,
}

/// Friendly names: what most people want to know, without the field's vocabulary.
pub const FRIENDLY_NAMES: [FriendlyName; 3] = [
    FriendlyName {
        name: "latency",
        test: "am_lat",
        tagged: "tag_lat",
        size_bytes: SMALL,
        window_msgs: None,
        summary: "friendly name of `am_lat`; over MPI of `tag_lat`",
    },
    FriendlyName {
        name: "rate",
        test: "am_bw",
        tagged: "tag_bw",
        size_bytes: SMALL,
        window_msgs: Some(1024),
        summary: "friendly name of `am_bw`, small messages; over MPI of `tag_bw`, with its window",
    },
    FriendlyName {
        name: "bandwidth",
        test: "am_bw",
        tagged: "tag_bw",
        size_bytes: LARGE,
        window_msgs: None,
        summary: "friendly name of `am_bw`, large messages; over MPI of `tag_bw`",
    },
];

/// The row of the test called `name`, as documents call it.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// The friendly name `name`, if it is one.
pub fn friendly(name: &str) -> Option<&'static FriendlyName> {
    FRIENDLY_NAMES.iter().find(|f| f.name == name)
}

/// The names of all tests as they are typed, the friendly ones first.
pub fn names() -> Vec<&'static str> {
    let friendly = FRIENDLY_NAMES.iter().map(|friendly| friendly.name);
    friendly.chain(KINDS.iter().map(|kind| kind.name)).collect()
}

/// The test that `name` stands for, friendly or not.
pub fn named(name: &str) -> Result<&'static Kind, PlanError> {
    let test = friendly(name).map_or(name, |friendly| friendly.test);
    kind(test).ok_or_else(|| PlanError::unknown("test", name, &names()))
}

impl Test {
    /// Its row in the table.
    pub fn kind(&self) -> Option<&'static Kind> {
        kind(self.name())
    }

    /// What a transport does for it.
    pub fn operation(&self) -> Operation {
        self.kind().map_or(Operation::Block, |kind| kind.operation)
    }

    /// The capability that a transport must have for it.
    pub fn capability(&self) -> Capability {
        self.operation().capability()
    }

    /// True for tests whose ranks go through iterations of posted sends and receives together.
    pub fn is_posted(&self) -> bool {
        self.kind().is_some_and(|kind| kind.is_posted)
    }

    /// What its ranks do.
    pub fn roles(&self) -> Option<Roles> {
        self.kind().map(|kind| kind.roles)
    }

    /// True for tests in which both ends of a pair send at once, of their own accord.
    pub fn is_both_ways(&self) -> bool {
        self.kind().is_some_and(|kind| kind.is_both_ways)
    }

    /// True for tests whose sample is a round trip between two ranks.
    pub fn is_round_trip(&self) -> bool {
        self.kind().is_some_and(|kind| kind.is_round_trip)
    }
}
