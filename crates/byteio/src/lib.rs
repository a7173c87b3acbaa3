//! ByteIO (GFD.87, GFD.88) and plain bulk transfer over HTTP: codecs, service and client of `wirespeed byteio`.
//!
//! [`mime`], [`soap`] and [`http`] read and write messages; [`service`] answers them, [`client`] asks; [`transport`] makes
//! what the client does a part of the registry; [`lab`] is a path of
//! known speed to try them on. This crate must never print, and
//! never hold a block: data pass through windows of fixed size, or not through user space at all.

pub mod client;
pub mod congestion;
pub mod digest;
pub mod http;
pub mod lab;
pub mod mime;
pub mod peers;
mod room;
pub mod service;
pub mod soap;
mod sys;
pub mod transport;
