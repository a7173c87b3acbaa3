//! Tests on posted sends and receives between many ranks: `msgrate`, and the tests of well-known MPI benchmarks by their
//! own definitions.
//!
//! All ranks go through iterations together. Before each (or before some milliseconds of them, where the definition has
//! no barrier) they meet, and rank 0 says how many follow. The first iteration is a phase of its own and timed apart.

mod bodies;
mod cache;
mod defined;
mod group;
mod patterns;
mod peers;
mod phase;
mod places;
mod run;

pub use peers::peers_of;
pub use run::posted;
