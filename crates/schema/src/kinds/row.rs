//! What the table says of a test.

use crate::case::Role;
use crate::parameter::Parameter;
use crate::plan::error::PlanError;
use crate::test::asked::{Asked, LAYOUT};
use crate::test::{Capability, Layout, Test};

/// Which roles the ranks of a test have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Roles {
    /// Each source has a sink; rank i pairs with rank i + n/2.
    Pairs,
    /// One hub, and workers.
    Hub,
    /// All are neighbours of each other.
    Neighbours,
    /// Every source exchanges with every other one.
    Everybody,
    /// One rank with this role; its far end is a service, and none of ours.
    Near(Role),
}

/// Which payloads a test can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// Any, also none.
    Any,
    /// At least 1 byte.
    NotEmpty,
    /// A word of 4 or 8 bytes.
    Word,
}

/// Messages or operations under way where the user says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnderWay {
    /// This many.
    Fixed(u64),
    /// This many while they hold at most 8 MiB together, then fewer, but at least 4.
    Fitting(u64),
}

impl UnderWay {
    const BYTES_MAX: u64 = 8 << 20;
    const COUNT_MIN: u64 = 4;

    /// How many, where each has `size_bytes`.
    pub fn count(self, size_bytes: u64) -> u64 {
        match self {
            UnderWay::Fixed(count) => count,
            UnderWay::Fitting(count) => {
                count.min((UnderWay::BYTES_MAX / size_bytes.max(1)).max(UnderWay::COUNT_MIN))
            }
        }
    }
}

/// What a transport does in a test, again and again. It decides which capability the test needs, and which sizes it can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Send an active message.
    Message,
    /// Send a message that is matched with a receive.
    Tagged,
    /// Write into a peer's memory.
    Put,
    /// Read a peer's memory.
    Get,
    /// Add to a word of a peer.
    Add,
    /// The same, and fetch what was there.
    FetchAdd,
    /// Exchange a word of a peer.
    Swap,
    /// The same, if it is as expected.
    CompareSwap,
    /// Move blocks of a resource at a service.
    Block,
}

impl Operation {
    /// What a transport must have for it.
    pub fn capability(self) -> Capability {
        match self {
            Operation::Message => Capability::Messages,
            Operation::Tagged => Capability::Tagged,
            Operation::Block => Capability::Bulk,
            Operation::Put
            | Operation::Get
            | Operation::Add
            | Operation::FetchAdd
            | Operation::Swap
            | Operation::CompareSwap => Capability::OneSided,
        }
    }
}

/// One test, as the table has it.
pub struct Kind {
    /// The name in the field.
    pub name: &'static str,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// What a transport does for it.
    pub operation: Operation,
    /// What it takes beside the parameters that all tests take.
    pub takes: &'static [&'static [&'static Parameter]],
    /// What its ranks do.
    pub roles: Roles,
    /// Payload where none is given; less on a transport that does not take it.
    pub size_bytes: u64,
    /// Which payloads make sense.
    pub payload: Payload,
    /// Whether data leave, so that a layout may inline them.
    pub inlines: bool,
    /// Window or outstanding operations where none are given.
    pub under_way: UnderWay,
    /// Whether a sample is a round trip between two ranks.
    pub is_round_trip: bool,
    /// Whether both ends of a pair send at once, of their own accord.
    pub is_both_ways: bool,
    /// Whether its ranks go through iterations of posted sends and receives together.
    pub is_posted: bool,
    /// Iterations and warm-up that its definition has for a payload.
    pub repeats: Option<fn(u64) -> (u64, u64)>,
    pub(crate) read: fn(&Asked) -> Result<Test, PlanError>,
}

impl Kind {
    /// What a transport must have for it.
    pub fn capability(&self) -> Capability {
        self.operation.capability()
    }

    /// Whether it takes `parameter` beside those that all tests take.
    pub fn has(&self, parameter: &Parameter) -> bool {
        self.takes
            .iter()
            .flat_map(|own| own.iter())
            .any(|own| own.key == parameter.key)
    }

    /// Layouts to try where none is asked for: inline while a message is small, packed while it is middling, registered
    /// memory above; inline always where a transport sends payloads from where they are. Tests without a layout get one that
    /// is not used.
    pub(crate) fn layouts(&self, size_bytes: u64, in_place: bool) -> &'static [Layout] {
        use Layout::{Bcopy, Short, Zcopy};
        match size_bytes {
            _ if !self.has(&LAYOUT) => &[Short],
            _ if !self.inlines => &[Zcopy, Bcopy],
            _ if in_place => &[Short, Bcopy, Zcopy],
            0..=1024 => &[Short, Bcopy, Zcopy],
            1025..=16_384 => &[Bcopy, Zcopy, Short],
            _ => &[Zcopy, Bcopy, Short],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::kind;

    #[test]
    fn as_many_are_under_way_as_eight_mebibytes_hold_but_at_least_four() {
        for (size_bytes, count) in [
            (0, 128),
            (1, 128),
            (1 << 16, 128),
            (1 << 17, 64),
            (2 << 20, 4),
            (1 << 30, 4),
        ] {
            assert_eq!(UnderWay::Fitting(128).count(size_bytes), count, "{size_bytes}");
            assert_eq!(UnderWay::Fixed(128).count(size_bytes), 128);
        }
        assert_eq!(UnderWay::Fitting(2).count(1 << 30), 2);
    }

    #[test]
    fn layouts_are_tried_by_size_and_place() {
        use Layout::{Bcopy, Short, Zcopy};
        let first = |name: &str, size_bytes, in_place| kind(name).unwrap().layouts(size_bytes, in_place)[0];
        for (size_bytes, elsewhere) in [
            (0, Short),
            (1024, Short),
            (1025, Bcopy),
            (16_384, Bcopy),
            (16_385, Zcopy),
        ] {
            assert_eq!(first("am_lat", size_bytes, false), elsewhere, "{size_bytes}");
            assert_eq!(first("am_lat", size_bytes, true), Short);
            assert_eq!(
                first("get", size_bytes, true),
                Zcopy,
                "there is nothing to inline"
            );
            assert_eq!(first("fadd", size_bytes, false), Short, "none is used");
        }
    }
}
