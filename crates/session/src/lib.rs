//! Sessions: computations placed on hosts with the resources that were asked for, and message paths between them and a
//! client. [`definition`] is what a session is, as data; [`node`] starts, limits and watches computations on one host;
//! [`coordinator`] places them on several; [`live`] is a session that runs, embedded or through a coordinator;
//! [`path`] turns a message path into a case for the library's engine.
//!
//! Nothing here measures: messages, clocks and statistics belong to the library and the report. It must never leave a
//! process, a control group or an open port behind.
#![forbid(unsafe_code)]

pub mod api;
mod ask;
pub mod computation;
pub mod coordinator;
pub mod daemon;
pub mod definition;
pub mod groups;
mod http;
pub mod launched;
pub mod live;
pub mod lookup;
mod members;
pub mod memory;
pub mod node;
pub mod openapi;
mod outpost;
pub mod path;
pub mod places;
mod registration;
mod remote;
pub mod report;
pub mod running;
pub mod say;
pub mod stdio_node;

use wirespeed_control::Failure;
use wirespeed_schema::message::FailureClass;

/// Receives lines about what a daemon sees, or a launcher says, from any thread.
pub use wirespeed_control::launch::child::Tell;

pub use http::fuzz_http;

/// Most computations of one session.
pub const COMPUTATIONS_MAX: usize = 256;

/// The words do not make sense.
pub(crate) fn usage(message: impl Into<String>, remedy: impl Into<String>) -> Failure {
    Failure::with_remedy(FailureClass::Usage, message, remedy)
}

/// Refused: limits or identity.
pub(crate) fn refused(message: impl Into<String>, remedy: impl Into<String>) -> Failure {
    Failure::with_remedy(FailureClass::Refused, message, remedy)
}

/// It went wrong.
pub(crate) fn failed(message: impl Into<String>, remedy: impl Into<String>) -> Failure {
    Failure::with_remedy(FailureClass::Failed, message, remedy)
}
