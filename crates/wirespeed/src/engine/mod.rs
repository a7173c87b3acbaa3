//! The measuring loops: free functions, generic over the port, with nothing in them but the test itself.
//!
//! Between the two barriers a loop never allocates, locks, logs, looks at configuration or calls through a pointer of
//! ours; every function named `hot_` is held to that on its machine code. The engine does not know transports' names.

mod all_to_all;
mod attached;
mod batch;
mod bulk;
mod datagram;
#[cfg(test)]
mod example;
mod floor;
mod flow;
mod header;
mod hub;
mod messages;
mod meter;
mod one_sided;
mod operation;
mod payload;
mod phases;
mod pingpong;
mod placed;
mod rank;
mod region;
mod relay;
pub(crate) mod report;
mod schedule;
mod series;
mod stream;
mod tagged;
mod timed;
mod train;
mod volley;
mod wired;

pub use bulk::bulk;
pub use messages::messages;
pub use one_sided::one_sided;
pub use rank::absent;
pub use report::Report;
pub use tagged::tagged;
