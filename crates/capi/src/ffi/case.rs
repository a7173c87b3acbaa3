//! A case in the making.

use super::error::{guarded, text, ws_error, ws_status};
use crate::build::Words;
use std::ffi::c_char;

/// Parameters of one measurement. Make it with `ws_case_new`, free it with `ws_case_free`.
pub struct ws_case {
    pub(super) words: Words,
}

/// An empty case; never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn ws_case_new() -> *mut ws_case {
    Box::into_raw(Box::new(ws_case {
        words: Words::default(),
    }))
}

/// Set a parameter by its name on the command line: "test" ("am_lat", "put_bw", ...), "via" (the transport), "size",
/// "layout", "window", "outstanding", "iters" or "duration" ("500ms"), "warmup", "interval" (time between two reports),
/// "check" ("true"), "cpus", "roles"; an option of the transport as "option.NAME". A later value replaces an earlier one.
///
/// The name is checked here, the value when the case is measured, because values depend on each other.
///
/// # Safety
/// `given` comes from `ws_case_new`; `key` and `value` are C strings; `error` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ws_case_set(
    given: *mut ws_case,
    key: *const c_char,
    value: *const c_char,
    error: *mut ws_error,
) -> ws_status {
    // SAFETY: the caller's promises, handed on; a NULL case is refused.
    unsafe {
        guarded(error, || {
            let case = given
                .as_mut()
                .ok_or_else(|| super::error::Problem::usage("the case is NULL", "use ws_case_new"))?;
            case.words.set(text(key, "the key")?, text(value, "the value")?)?;
            Ok(ws_status::WS_OK)
        })
    }
}

/// Free a case. NULL is allowed.
///
/// # Safety
/// `given` is NULL or comes from `ws_case_new`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ws_case_free(given: *mut ws_case) {
    if !given.is_null() {
        // SAFETY: made by Box::into_raw in ws_case_new, freed once: the caller's promise.
        drop(unsafe { Box::from_raw(given) });
    }
}
