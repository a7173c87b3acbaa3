//! What transports over memory that two ranks can both see have in common: how ranks hand each other their memory, and
//! the ports over it. `inproc` and `shm` differ only in where the memory comes from.
//!
//! It must never know which of them uses it: that is the [`Medium`].
//!
//! Loops may call: futex.

mod link_messages;
mod link_one_sided;
mod meet;
mod options;
mod place;
#[cfg(test)]
mod tests;

pub use link_messages::open_messages;
pub use link_one_sided::open_one_sided;
pub use meet::{Address, Medium};
pub use options::{LocalOptions, RING, SPIN, WAIT};
pub use place::Place;

use super::{Atomics, Limits, NO_SHORTIOV, SizeLimit};
use crate::sync::ring;
use wirespeed_schema::case::GroupKind;

/// Largest message: a ring holds four, and is at most 256 MiB.
pub const MESSAGE_BYTES_MAX: u64 = 64 << 20;
/// Largest put or get.
const RMA_BYTES_MAX: u64 = 1 << 30;
/// Most ranks of one group: a hub keeps a ring for each worker.
const RANKS_MAX: u32 = 1024;

const ZCOPY: &str = "no device copies for the CPU here: short and bcopy already copy once";
const GET_SHORT: &str = "a get has nothing to inline";

/// What ports over shared memory can do.
pub fn limits(options: &LocalOptions, groups: &'static [GroupKind]) -> Limits {
    let message = match options.ring_bytes {
        Some(capacity) => (ring::payload_max(capacity) as u64).min(MESSAGE_BYTES_MAX),
        None => MESSAGE_BYTES_MAX,
    };
    let message = SizeLimit::UpTo(message);
    let rma = SizeLimit::UpTo(RMA_BYTES_MAX);
    Limits {
        messages: [
            message.clone(),
            message.clone(),
            SizeLimit::never(ZCOPY),
            NO_SHORTIOV,
        ],
        put: [rma.clone(), rma.clone(), SizeLimit::never(ZCOPY), NO_SHORTIOV],
        get: [
            SizeLimit::never(GET_SHORT),
            rma,
            SizeLimit::never(ZCOPY),
            NO_SHORTIOV,
        ],
        atomics: Atomics::ALL,
        tagged: message,
        groups,
        ranks_max: RANKS_MAX,
    }
}
