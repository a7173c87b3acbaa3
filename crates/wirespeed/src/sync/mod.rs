//! Memory that two ranks touch at once: the only place, with `clock/`, `host/` and the transports' link files, where
//! unsafe code may stand.

mod bytes;
pub mod ring;

pub use bytes::SharedBytes;
