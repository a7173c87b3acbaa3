//! Generic suites that hold a transport to the written contract of its ports, and to what its registry entry promises.
//!
//! A transport, of this workspace or a stranger's, runs [`messages`], [`tagged`] and [`one_sided`] on its type, and
//! [`measured`] on its registry entry; [`fields`] compares what the transports of a registry publish. Every check is
//! reported as passed, failed, or skipped with the reason; nothing is passed over in silence.
//!
//! Suites must never time things: a deadline only turns a hang into a failure.

#![forbid(unsafe_code)]

mod fields;
mod group;
mod measured;
mod payload;
mod ports;
mod report;

pub use fields::fields;
pub use measured::measured;
pub use ports::messages::messages;
pub use ports::one_sided::one_sided;
pub use ports::tagged::tagged;
pub use report::{Report, Verdict, failures};
