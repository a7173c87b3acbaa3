//! Codes of MPI as errors of a port. Cold: nothing here runs while messages flow.

use core::ffi::{CStr, c_char, c_int};
use wirespeed::transport::port::LinkError;
use wirespeed_mpi_sys::{Handle, Mpi, SUCCESS};

/// `MPI_MAX_ERROR_STRING` is at most 512 in all families.
const TEXT_BYTES: usize = 512 + 1;

/// What the library says about `code`.
pub fn text_of<H: Handle>(mpi: &Mpi<H>, code: c_int) -> String {
    let mut text = [0 as c_char; TEXT_BYTES];
    let mut length = 0;
    // SAFETY: the text has the largest size of all families; the code came from this library.
    let told = unsafe { (mpi.functions.error_string)(code, text.as_mut_ptr(), &mut length) };
    if told != SUCCESS {
        return format!("error {code}");
    }
    // SAFETY: the library has ended the text, which is one byte longer than the longest, with a zero.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// An error of the function `op`. A message that was too long is the peer's fault.
#[cold]
#[inline(never)]
pub fn cold_error<H: Handle>(mpi: &'static Mpi<H>, op: &'static str, code: c_int) -> LinkError {
    let mut class = 0;
    // SAFETY: plain numbers in and out.
    unsafe { (mpi.functions.error_class)(code, &mut class) };
    if class == mpi.constants.err_truncate {
        return LinkError::Corrupt("a message longer than its receive");
    }
    // An error ends the run: its text may live as long as the process.
    let why: &'static str = Box::leak(text_of(mpi, code).into_boxed_str());
    LinkError::Library { op, why }
}
