//! Statuses and messages: how an error reaches C.

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use wirespeed::MeasureError;
use wirespeed_schema::plan::PlanError;
use wirespeed_schema::shown::is_obeyed;

/// Room of each message of `ws_error`, the closing zero included.
pub const WS_ERROR_BYTES: usize = 256;

/// How a call ended. The numbers are those of the program's exit codes.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ws_status {
    /// Done.
    WS_OK = 0,
    /// The measurement failed: no connection, a lost peer, no memory.
    WS_FAILED = 1,
    /// The parameters make no sense, or the transport cannot do it.
    WS_USAGE = 2,
    /// The system does not permit it.
    WS_REFUSED = 5,
    /// Data arrived that were not sent, or twice, or out of order, or not at all; the result is there and says which.
    WS_WRONG_DATA = 6,
    /// It was stopped before its end; the result is there as far as it got.
    WS_INTERRUPTED = 130,
}

/// One line of cause and one of remedy (which may be empty), in UTF-8, ended by a zero, cut where too long.
#[repr(C)]
pub struct ws_error {
    /// What went wrong.
    pub cause: [c_char; WS_ERROR_BYTES],
    /// What to do about it.
    pub remedy: [c_char; WS_ERROR_BYTES],
}

/// An error on its way to C.
pub struct Problem {
    pub status: ws_status,
    pub cause: String,
    pub remedy: String,
}

impl Problem {
    pub fn usage(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Problem {
            status: ws_status::WS_USAGE,
            cause: cause.into(),
            remedy: remedy.into(),
        }
    }

    pub fn failed(cause: impl Into<String>) -> Self {
        Problem {
            status: ws_status::WS_FAILED,
            cause: cause.into(),
            remedy: String::new(),
        }
    }
}

impl From<PlanError> for Problem {
    fn from(error: PlanError) -> Self {
        Problem::usage(error.cause, error.remedy)
    }
}

impl From<MeasureError> for Problem {
    fn from(error: MeasureError) -> Self {
        let status = match &error {
            MeasureError::Usage(_) | MeasureError::Unsupported(_) => ws_status::WS_USAGE,
            MeasureError::System(_) => ws_status::WS_REFUSED,
            _ => ws_status::WS_FAILED,
        };
        Problem {
            status,
            cause: error.to_string(),
            remedy: error.remedy().unwrap_or_default().to_owned(),
        }
    }
}

/// Run `body`; an error or a panic becomes a status, with its words in `error` where that is not NULL.
///
/// # Safety
/// `error` is NULL or points to a `ws_error` that may be written.
pub unsafe fn guarded(error: *mut ws_error, body: impl FnOnce() -> Result<ws_status, Problem>) -> ws_status {
    let ended = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        Err(Problem::failed(
            "internal: a defect of wirespeed; please report it",
        ))
    });
    // SAFETY: the caller's promise.
    let error = unsafe { error.as_mut() };
    let (status, cause, remedy) = match ended {
        Ok(status) => (status, String::new(), String::new()),
        Err(problem) => (problem.status, problem.cause, problem.remedy),
    };
    if let Some(error) = error {
        write(&mut error.cause, &cause);
        write(&mut error.remedy, &remedy);
    }
    status
}

/// `text` without control characters, cut at a character's edge, and a zero.
fn write(room: &mut [c_char; WS_ERROR_BYTES], text: &str) {
    let clean: String = text.chars().map(|c| if is_obeyed(c) { ' ' } else { c }).collect();
    let most = clean.len().min(WS_ERROR_BYTES - 1);
    let end = (0..=most)
        .rev()
        .find(|&end| clean.is_char_boundary(end))
        .unwrap_or(0);
    room.fill(0);
    for (slot, byte) in room.iter_mut().zip(&clean.as_bytes()[..end]) {
        *slot = byte.cast_signed() as c_char;
    }
}

/// The text of a C string.
///
/// # Safety
/// `text` is NULL or points to a string ended by a zero, which nobody changes during the call.
pub unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Problem> {
    if text.is_null() {
        return Err(Problem::usage(format!("{what} is NULL"), "give a string"));
    }
    // SAFETY: not NULL; the rest is the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str()
        .map_err(|_| Problem::usage(format!("{what} is not UTF-8"), "give ASCII or UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> ws_error {
        ws_error {
            cause: [1; WS_ERROR_BYTES],
            remedy: [1; WS_ERROR_BYTES],
        }
    }

    fn said(room: &[c_char; WS_ERROR_BYTES]) -> String {
        let bytes: Vec<u8> = room.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn messages_are_cut_at_a_character_and_ended() {
        let mut error = empty();
        let long = "é".repeat(WS_ERROR_BYTES);
        // SAFETY: `error` lives through the call.
        let status = unsafe { guarded(&mut error, || Err(Problem::usage(long, "two\nlines"))) };
        assert_eq!(status, ws_status::WS_USAGE);
        assert_eq!(said(&error.cause), "é".repeat((WS_ERROR_BYTES - 1) / 2));
        assert_eq!(said(&error.remedy), "two lines");
    }

    #[test]
    fn success_leaves_empty_messages_and_no_place_is_needed() {
        let mut error = empty();
        // SAFETY: `error` lives through the call; NULL is allowed.
        unsafe {
            assert_eq!(guarded(&mut error, || Ok(ws_status::WS_OK)), ws_status::WS_OK);
            assert_eq!(
                guarded(std::ptr::null_mut(), || Err(Problem::failed("x"))),
                ws_status::WS_FAILED
            );
        }
        assert_eq!(said(&error.cause), "");
    }

    #[test]
    fn a_panic_becomes_a_status() {
        // SAFETY: NULL is allowed.
        let status = unsafe { guarded(std::ptr::null_mut(), || panic!("no")) };
        assert_eq!(status, ws_status::WS_FAILED);
    }
}
