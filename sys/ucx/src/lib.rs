//! Thin bindings of UCX (libucp, libuct, libucs), loaded at run time: no headers, no link dependency, no C.
//!
//! It must never hold a policy: what is opened, chosen or measured is for its user. What is inline in UCX's headers
//! goes over an interface's table of operations ([`ops`]); that table is the same in every release from 1.13 on.

#[allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    dead_code,
    unsafe_op_in_unsafe_fn,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    rustdoc::all
)]
mod bindings;
mod load;
mod log;
pub mod ops;

pub use bindings::*;
pub use load::{LoadError, Loaded, Version, load};
pub use log::said;

use std::ffi::CStr;

/// What UCX calls `status`.
pub fn status_text(ucx: &Ucx, status: ucs_status_t) -> String {
    // SAFETY: the function takes any number and returns a static string.
    unsafe { CStr::from_ptr(ucx.ucs_status_string(status)) }
        .to_string_lossy()
        .into_owned()
}
