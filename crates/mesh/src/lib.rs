//! The core of a mesh: which pairs of hosts to measure, and which host or link their figures show to be slow.
//!
//! This crate must never do I/O, read a clock or start a thread: pairs go out, figures come in, and the same seed and the
//! same figures give the same answer.
#![forbid(unsafe_code)]

mod campaign;
mod error;
pub mod judge;
mod kept;
mod pattern;
pub mod schedule;
pub mod simulate;

pub use campaign::{Campaign, Setup};
pub use error::MeshError;
pub use judge::{Culprit, Effect, Figure, HostEffects, Judgement, Looks, Options, Report, Side, Verdict};
pub use kept::Lack;
pub use pattern::{Pattern, STREAMS_MAX};
pub use schedule::{Estimate, Mode, Pair, Plan, Schedule};
