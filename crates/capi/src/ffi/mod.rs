//! The functions that C calls, and the types that it sees. The header wirespeed.h is generated from this folder by
//! `cargo xtask header`; its comments are the ones here.
//!
//! No panic may leave a function, no pointer is kept after it returns (but for handles, which belong to the caller until
//! their `free`), and every error comes back as a status with a cause and a remedy.
#![allow(non_camel_case_types)]

mod case;
mod error;
mod measure;
mod result;
mod rte;

pub use case::{ws_case, ws_case_free, ws_case_new, ws_case_set};
pub use error::{WS_ERROR_BYTES, ws_error, ws_status};
pub use measure::{
    ws_interval, ws_measure, ws_report, ws_stop, ws_stop_cancel, ws_stop_free, ws_stop_new, ws_stop_request,
};
pub use result::{ws_result, ws_result_free, ws_result_json, ws_result_summary, ws_result_value, ws_summary};
pub use rte::{WS_BLOB_BYTES_MAX, ws_barrier, ws_exchange, ws_group, ws_progress, ws_rte};

use std::ffi::c_char;

/// The version of the library, such as "0.1.0". Valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn ws_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
