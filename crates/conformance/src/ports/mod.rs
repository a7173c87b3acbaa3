//! Suites on the ports of one transport, by capability, driven directly.

pub mod cold;
pub mod messages;
pub mod one_sided;
pub mod tagged;
