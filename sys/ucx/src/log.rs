//! What UCX has to say: its messages are kept, the last few of them, instead of being printed between our results.
//!
//! Whoever sets `UCX_LOG_FILE` gets them there, as UCX does it.

use std::collections::VecDeque;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Messages kept.
const KEPT: usize = 16;
/// Characters kept of each.
const LINE_BYTES: usize = 512;
/// UCX's level of a warning; more important ones are lower.
const WARNING: c_uint = 2;
/// Do not hand the message on to the next handler, which prints it.
const STOP: c_uint = 0;
const CONTINUE: c_uint = 1;

static SAID: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());
static TO_FILE: AtomicBool = AtomicBool::new(false);

/// The last argument is a `va_list`, which every supported machine passes as a pointer.
type Handler = unsafe extern "C" fn(
    *const c_char,
    c_uint,
    *const c_char,
    c_uint,
    *const c_void,
    *const c_char,
    *mut c_void,
) -> c_uint;

unsafe extern "C" {
    // SAFETY: the C library's own; its last argument is a `va_list`.
    unsafe fn vsnprintf(
        buffer: *mut c_char,
        size: usize,
        format: *const c_char,
        arguments: *mut c_void,
    ) -> c_int;
}

/// Warnings and errors since the last call, oldest first.
pub fn said() -> Vec<String> {
    SAID.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .drain(..)
        .collect()
}

/// UCX's function that takes a handler of messages.
pub type Push = unsafe extern "C" fn(Handler);

/// Keep messages from now on.
pub fn capture(push: Push) {
    TO_FILE.store(std::env::var_os("UCX_LOG_FILE").is_some(), Ordering::Relaxed);
    // SAFETY: the handler is as UCX expects, and stays.
    unsafe { push(keep) };
}

/// # Safety
/// UCX calls it with a format and the arguments that belong to it.
unsafe extern "C" fn keep(
    _file: *const c_char,
    _line: c_uint,
    _function: *const c_char,
    level: c_uint,
    _component: *const c_void,
    format: *const c_char,
    arguments: *mut c_void,
) -> c_uint {
    if TO_FILE.load(Ordering::Relaxed) {
        return CONTINUE;
    }
    if level <= WARNING {
        let mut line = [0u8; LINE_BYTES];
        // SAFETY: the buffer has the size that is stated; format and arguments come from UCX and belong together.
        let length = unsafe { vsnprintf(line.as_mut_ptr().cast(), line.len(), format, arguments) };
        let length = usize::try_from(length).unwrap_or(0).min(line.len() - 1);
        let text = String::from_utf8_lossy(&line[..length]).into_owned();
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() == KEPT {
            said.pop_front();
        }
        said.push_back(text);
    }
    STOP
}
