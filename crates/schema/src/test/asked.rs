//! What a test's parameters are read from, what every set of parameters can tell, and the definitions that several tests share.

use super::layout::Layout;
use crate::parameter::{Parameter, Section};
use crate::plan::error::PlanError;
use crate::words::Words;

/// Largest window: sequence numbers and buffers are checked against what a transport holds, this only bounds sums.
const WINDOW_MAX: u64 = 1 << 32;
/// Largest payload: beyond it, sums of sizes could overflow.
pub(crate) const SIZE_MAX_BYTES: u64 = 1 << 40;

/// `--size`.
pub static SIZE: Parameter = Parameter {
    key: "size",
    letters: &['s', 'l'],
    section: Section::Test,
    help: "Payload of a message or operation: 64, 8K, 1MiB, 10MB, a list 64,1K or a range 8..1M:x2",
    more: "Bare K, M, G are binary; kB, MB, GB decimal. Default: 8 for latency, rate and atomics, 128K for bandwidth, \
           blocks of 8M in bulk_get and bulk_put.",
    remedy: "give sizes such as 64, 8K or 1MiB, a list 64,1K, or a rising range 8..1M:x2",
    example: "size = \"8..1M:x2\"",
    column: "size_bytes",
    ..Parameter::SIZE
};

/// `--window`.
pub static WINDOW: Parameter = Parameter {
    key: "window",
    help: "Messages of a stream that may be unacknowledged at once (credits) [default: 128, at most 8 MiB of them]",
    remedy: "give a count of at least 1, such as 64, or a range 1..256:x2",
    example: "window = [16, 64]",
    column: "window_msgs",
    ..Parameter::COUNT
};

/// `--outstanding`.
pub static OUTSTANDING: Parameter = Parameter {
    key: "outstanding",
    help: "One-sided operations that may be outstanding at once [default: 32 for put_bw, get_bw, add_mr, else 1]; in \
           bulk_get and bulk_put blocks on each connection [default: 2]",
    remedy: "give a count of at least 1, such as 64, or a range 1..256:x2",
    example: "outstanding = \"1..32:x2\"",
    column: "outstanding_ops",
    ..Parameter::COUNT
};

/// `--layout`.
pub static LAYOUT: Parameter = Parameter {
    key: "layout",
    value_name: "LAYOUT",
    section: Section::Messages,
    help: "How data is handed over: short (inlined), bcopy (packed), zcopy (registered memory), shortiov (gathered, inlined)",
    more: "Default: short over sockets; else short up to 1 KiB, bcopy up to 16 KiB, zcopy above, and the next one where a \
           transport lacks it. The result names the layout that was used. A layout that a test or transport does not have is refused.",
    remedy: "choose from: short, bcopy, zcopy, shortiov",
    example: "layout = [\"short\", \"bcopy\"]",
    column: "layout",
    ..Parameter::NAME
};

/// All that a test's parameters are read from.
pub(crate) struct Asked<'a> {
    /// The user's words.
    pub words: &'a Words<'a>,
    /// The test, as documents call it.
    pub test: &'static str,
    /// The payload to use.
    pub size_bytes: u64,
    /// The layout to use, for tests that have one.
    pub layout: Layout,
    /// Messages or operations under way where the user says nothing.
    pub under_way_ops: u64,
    /// Ranks of the case, idle ones included.
    pub ranks: u32,
    /// Ranks that have a peer.
    pub paired_ranks: usize,
    /// Memory that empties the caches of a rank, in bytes.
    pub cache_bytes: &'a dyn Fn() -> u64,
}

impl Asked<'_> {
    /// The window that is asked for, or the test's own.
    pub(crate) fn window(&self) -> Result<u64, PlanError> {
        let given = self.words.count(&WINDOW, 1..=WINDOW_MAX)?;
        Ok(given.unwrap_or(self.under_way_ops))
    }

    /// The operations that may be uncompleted, or as many as the test has of its own.
    pub(crate) fn outstanding(&self) -> Result<u64, PlanError> {
        let given = self.words.count(&OUTSTANDING, 1..=WINDOW_MAX)?;
        Ok(given.unwrap_or(self.under_way_ops))
    }
}

/// A value as documents and `--dry-run` show it, with the definition that it belongs to.
pub type Value = (&'static Parameter, String);

/// What every set of parameters tells of itself.
pub trait Parameters {
    /// Payload of one operation.
    fn size_bytes(&self) -> u64;

    /// The layout, where there is one.
    fn layout(&self) -> Option<Layout> {
        None
    }

    /// Messages or operations that may be outstanding at once; 1 for a ping-pong.
    fn window(&self) -> u64 {
        1
    }

    /// The rate that is offered, in messages or requests a second.
    fn pace_per_s(&self) -> Option<f64> {
        None
    }

    /// The largest message in either direction.
    fn largest_message_bytes(&self) -> u64 {
        self.size_bytes()
    }

    /// What tells cases of one test apart beside the size; empty for most.
    fn variant(&self) -> String {
        String::new()
    }

    /// Every parameter but payload and layout, with its value.
    fn values(&self) -> Vec<Value>;
}
