//! Copies that become a few instructions of the loop around them, or a call of `memcpy` alone. The standard library's
//! `copy_from_slice` is a function of its own wherever nothing is optimised across the pieces of a crate.
//!
//! They must never write or read outside of the slices: what does not fit is left out.

/// Copy `from` to the start of `to`, as far as both reach.
#[inline(always)]
pub fn copy(from: &[u8], to: &mut [u8]) {
    let len = from.len().min(to.len());
    // SAFETY: both slices hold `len` bytes; one is borrowed for writing, so they do not overlap.
    unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), to.as_mut_ptr(), len) }
}

/// Write `bytes` at `at`.
#[inline(always)]
pub fn put<const N: usize>(to: &mut [u8], at: usize, bytes: [u8; N]) {
    if let Some(place) = to.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *place = bytes;
    }
}

/// The bytes at `at`; zeros where there are not as many.
#[inline(always)]
pub fn take<const N: usize>(from: &[u8], at: usize) -> [u8; N] {
    match from.get(at..).and_then(<[u8]>::first_chunk) {
        Some(bytes) => *bytes,
        None => [0; N],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_copied_and_nothing_else() {
        let mut to = [0; 4];
        copy(&[1, 2], &mut to);
        assert_eq!(to, [1, 2, 0, 0]);
        copy(&[3, 4, 5, 6, 7], &mut to);
        assert_eq!(to, [3, 4, 5, 6]);
        copy(&[], &mut []);
        put(&mut to, 2, [8, 9]);
        assert_eq!(to, [3, 4, 8, 9]);
        put(&mut to, 3, [1, 1]);
        put(&mut to, 9, [1]);
        assert_eq!(to, [3, 4, 8, 9]);
        assert_eq!(take(&to, 1), [4, 8]);
        assert_eq!(take(&to, 3), [0, 0]);
        assert_eq!(take(&to, 9), [0]);
    }
}
