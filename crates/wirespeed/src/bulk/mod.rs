//! Bulk: many outstanding reads or writes of (offset, length) over several connections. The engine owns order, depth,
//! retries and the clock; a link ([`BulkPort`]) only posts one operation and completes the oldest.
//!
//! Blocks are mebibytes, so nothing here is a `hot_` loop: links may allocate and say so. No worker may hold another up,
//! and nothing may count as done before its last byte is where it belongs.

mod course;
mod engine;
mod offered;
mod port;
mod schedule;
#[cfg(test)]
mod simulated;
mod stall;
mod target;
mod walk;
mod wire;

pub use course::Course;
pub use engine::{BulkOutcome, BulkPlan, Hooks, Worker, offer, run};
pub use offered::{Answers, Pace};
pub use port::{Block, BlockDigest, BulkError, BulkErrorKind, BulkPort, Connector, NoDigest, Receiver};
pub use target::{Destination, WINDOW_BYTES};
pub use wire::{Line, Wire};
