//! The transports of UCX: `uct`, its transport layer over one device, and `ucp`, its protocol layer over whatever UCX
//! chooses. The library is loaded at run time; where there is none, both are listed with the reason.
//!
//! It must never know a device or a transport of UCX by name: what there is, and what it can do, UCX is asked.

mod error;
mod link_inbox;
mod link_status;
mod options;
mod order;
mod pieces;
mod progress;
mod region;
pub mod ucp;
pub mod uct;

use wirespeed::Registry;
use wirespeed::transport::registry::Entry;

/// `registry` with the transports of UCX.
#[must_use]
pub fn join(registry: Registry) -> Registry {
    registry
        .with(Entry::of::<uct::Uct>())
        .with(Entry::of::<ucp::Ucp>())
}
