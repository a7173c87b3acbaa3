//! The frame on a stream socket: a fixed 16-byte header, little endian, then the payload.
//!
//! | bytes  | field | meaning |
//! |--------|-------|---------|
//! | 0..4   | `len` | payload bytes |
//! | 4..8   | `check` | a constant folded with the other two fields: finds a stream that lost its place |
//! | 8..16  | `word` | the engine's header, opaque here |
//!
//! A length is believed only after `check` fits and it is within the limit of the run.

use crate::sync::put;
use crate::transport::port::LinkError;

/// Bytes before each payload.
pub const HEADER_BYTES: usize = 16;

/// "WSf1" as it lies on the wire.
const MAGIC: u32 = u32::from_le_bytes(*b"WSf1");

/// A header that was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Payload bytes.
    pub len: usize,
    /// The engine's header.
    pub word: u64,
}

#[inline(always)]
fn check_of(len: u32, word: u64) -> u32 {
    MAGIC ^ len.rotate_left(16) ^ (word as u32) ^ ((word >> 32) as u32)
}

/// The header of a payload of `len` bytes.
#[inline(always)]
pub fn encode(len: usize, word: u64) -> [u8; HEADER_BYTES] {
    // Ports take no message above `MESSAGE_BYTES_MAX`, which fits.
    let len = len as u32;
    let mut bytes = [0; HEADER_BYTES];
    put(&mut bytes, 0, len.to_le_bytes());
    put(&mut bytes, 4, check_of(len, word).to_le_bytes());
    put(&mut bytes, 8, word.to_le_bytes());
    bytes
}

/// The header at the start of `bytes`, if it is one and its payload is at most `max_len` bytes.
#[inline(always)]
pub fn decode(bytes: &[u8; HEADER_BYTES], max_len: usize) -> Result<Header, LinkError> {
    let [l0, l1, l2, l3, c0, c1, c2, c3, word @ ..] = *bytes;
    let len = u32::from_le_bytes([l0, l1, l2, l3]);
    let word = u64::from_le_bytes(word);
    if u32::from_le_bytes([c0, c1, c2, c3]) != check_of(len, word) {
        return Err(LinkError::Corrupt("not a frame header"));
    }
    if len as usize > max_len {
        return Err(LinkError::Corrupt("frame longer than the run allows"));
    }
    Ok(Header {
        len: len as usize,
        word,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_header_reads_back() {
        for (len, word) in [(0, 0), (1, u64::MAX), (1 << 30, 0x0123_4567_89ab_cdef)] {
            assert_eq!(decode(&encode(len, word), 1 << 30), Ok(Header { len, word }));
        }
    }

    #[test]
    fn lengths_above_the_limit_are_refused() {
        assert!(matches!(decode(&encode(65, 7), 64), Err(LinkError::Corrupt(_))));
        assert!(matches!(
            decode(&encode(u32::MAX as usize, 7), 64),
            Err(LinkError::Corrupt(_))
        ));
    }

    proptest! {
        #[test]
        fn a_flipped_bit_is_found(len in 0usize..1 << 20, word in any::<u64>(), bit in 0usize..128) {
            let mut bytes = encode(len, word);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(decode(&bytes, 1 << 20).is_err());
        }
    }
}
