//! The core of a mesh: which pairs of hosts to measure, and which host or link their figures show to be slow.
//!
//! This crate must never do I/O, read a clock or start a thread: pairs go out, figures come in, and the same seed and the
//! same figures give the same answer.
#![forbid(unsafe_code)]

mod error;
pub mod judge;
pub mod schedule;
pub mod simulate;

pub use error::MeshError;
pub use judge::{Culprit, Figure, Judgement, Looks, Options, Report, Side, Verdict};
pub use schedule::{Estimate, Mode, Pair, Plan, Schedule};
