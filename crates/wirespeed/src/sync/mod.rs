//! Memory that two ranks touch at once: the only place, with `clock/`, `host/` and the transports' link files, where
//! unsafe code may stand.

mod atomic;
mod bytes;
mod copies;
mod doorbell;
pub mod mapping;
pub mod ring;

pub use bytes::SharedBytes;
pub use copies::{copy, put, take};
pub(crate) use doorbell::Doorbell;
