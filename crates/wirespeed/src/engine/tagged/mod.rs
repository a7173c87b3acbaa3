//! Tests on tagged messages: our own between two ends, `msgrate` between many ranks, and the tests of well-known MPI
//! benchmarks by their own definitions.
//!
//! Ranks go through rounds of iterations together. Before a round they meet, all of them or the two ends of a pair, and the
//! one that leads says how many follow. The first iteration is a phase of its own and timed apart.

mod bodies;
mod cache;
mod defined;
mod group;
mod matched;
mod patterns;
mod peers;
mod phase;
mod places;
mod run;

pub use peers::peers_of;
pub use run::tagged;
