//! Plain data of wirespeed: what is asked for ([`plan`], [`case`]), what every rank saw ([`outcome`]), what is
//! published ([`run`]), and what ranks and their coordinator tell each other ([`message`]).
//!
//! This crate must never do I/O, read a clock or use unsafe code. Every number carries its unit in its name;
//! floating-point numbers pass through [`finite::Finite`], so NaN and infinities cannot enter a document.
#![forbid(unsafe_code)]

pub mod byteio;
pub mod calendar;
pub mod case;
pub mod checkup;
pub mod circle;
pub mod finite;
pub mod histogram;
pub mod host;
pub mod job;
pub mod kinds;
pub mod mesh;
pub mod message;
pub mod neighbours;
pub mod order;
pub mod outcome;
pub mod parameter;
pub mod plan;
pub mod posted;
pub mod run;
pub mod section;
pub mod shown;
pub mod test;
pub mod units;
pub mod version;
mod words;

pub use case::{Case, Load, RankSpec, Role, Stop, TransportOptions};
pub use finite::Finite;
pub use histogram::HistogramData;
pub use outcome::Outcome;
pub use plan::Plan;
pub use run::Run;
pub use test::{Layout, Test};
