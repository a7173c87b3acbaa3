//! The bytes on the wire: the header of every datagram, and the blob in which a rank gives its address to the others.
//!
//! Whatever arrives may be forged: decoding must never panic and never accept a length that the datagram does not have.

use crate::sync::{put, take};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Bytes before the payload of every datagram.
pub const HEADER_BYTES: usize = 24;

/// Most payload bytes of one datagram: what IPv4 leaves (65 535 less 20 for IP and 8 for UDP) less the header. IPv6
/// would leave 20 more; one limit for both keeps results comparable.
pub const PAYLOAD_BYTES_MAX: usize = 65_507 - HEADER_BYTES;

/// What a datagram is. The first four bytes on the wire: two of magic, the format's version, the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// A message of the engine.
    Data = u32::from_le_bytes(*b"WU1d"),
    /// "Answer with this nonce if my tag is right": asks for the proof that an address is its owner's.
    Hello = u32::from_le_bytes(*b"WU1h"),
    /// The nonce of a hello, sent back.
    Answer = u32::from_le_bytes(*b"WU1a"),
}

/// A datagram's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// What it is.
    pub kind: Kind,
    /// Rank of the sender.
    pub rank: u16,
    /// The receiver's tag: proof that the sender was told it through the bootstrap.
    pub tag: u64,
    /// The engine's header, or the nonce of a handshake.
    pub value: u64,
}

impl Head {
    /// The header as it travels before `payload_bytes` (at most [`PAYLOAD_BYTES_MAX`]).
    #[inline(always)]
    pub fn encode(&self, payload_bytes: usize) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        put(&mut bytes, 0, (self.kind as u32).to_le_bytes());
        put(&mut bytes, 4, (payload_bytes as u16).to_le_bytes());
        put(&mut bytes, 6, self.rank.to_le_bytes());
        put(&mut bytes, 8, self.tag.to_le_bytes());
        put(&mut bytes, 16, self.value.to_le_bytes());
        bytes
    }

    /// The header of `datagram`, when magic, version and length are right.
    #[inline(always)]
    pub fn decode(datagram: &[u8]) -> Option<Head> {
        let (bytes, payload) = datagram.split_first_chunk::<HEADER_BYTES>()?;
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let kind = match word {
            w if w == Kind::Data as u32 => Kind::Data,
            w if w == Kind::Hello as u32 => Kind::Hello,
            w if w == Kind::Answer as u32 => Kind::Answer,
            _ => return None,
        };
        if usize::from(u16::from_le_bytes([bytes[4], bytes[5]])) != payload.len() {
            return None;
        }
        Some(Head {
            kind,
            rank: u16::from_le_bytes([bytes[6], bytes[7]]),
            tag: u64::from_le_bytes(take(bytes, 8)),
            value: u64::from_le_bytes(take(bytes, 16)),
        })
    }
}

/// The tag that a receiver's token stands for on the wire.
pub fn tag_of(token: &[u8; 16]) -> u64 {
    let (low, high) = token.split_at(8);
    let half = |bytes: &[u8]| bytes.iter().fold(0u64, |word, b| word << 8 | u64::from(*b));
    half(low) ^ half(high).rotate_left(32)
}

/// Format of the blob; another build with another format is told so.
const BLOB_VERSION: u8 = 1;
/// Version, address family, port, address, token.
const BLOB_BYTES: usize = 1 + 1 + 2 + 16 + 16;

/// The blob of a rank: where it listens and its token.
pub fn encode_blob(address: SocketAddr, token: &[u8; 16]) -> Vec<u8> {
    let mut blob = Vec::with_capacity(BLOB_BYTES);
    blob.push(BLOB_VERSION);
    let (family, ip) = match address.ip() {
        IpAddr::V4(ip) => (4, ip.to_ipv6_mapped()),
        IpAddr::V6(ip) => (6, ip),
    };
    blob.push(family);
    blob.extend_from_slice(&address.port().to_be_bytes());
    blob.extend_from_slice(&ip.octets());
    blob.extend_from_slice(token);
    blob
}

/// Address and token of a blob, or what is wrong with it.
pub fn decode_blob(blob: &[u8]) -> Result<(SocketAddr, [u8; 16]), String> {
    match blob.first() {
        Some(&BLOB_VERSION) => {}
        Some(other) => return Err(format!("address format {other}, this build knows {BLOB_VERSION}")),
        None => return Err("no address at all".to_owned()),
    }
    if blob.len() != BLOB_BYTES {
        return Err(format!("{} bytes instead of {BLOB_BYTES}", blob.len()));
    }
    let port = u16::from_be_bytes([blob[2], blob[3]]);
    let mut octets = [0; 16];
    octets.copy_from_slice(&blob[4..20]);
    let mut token = [0; 16];
    token.copy_from_slice(&blob[20..36]);
    let ip = match blob[1] {
        4 => IpAddr::V4(Ipv4Addr::new(octets[12], octets[13], octets[14], octets[15])),
        6 => IpAddr::V6(Ipv6Addr::from(octets)),
        other => return Err(format!("unknown address family {other}")),
    };
    if port == 0 || ip.is_unspecified() || ip.is_multicast() {
        return Err("an address that no datagram can be sent to".to_owned());
    }
    Ok((SocketAddr::new(ip, port), token))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_header_reads_back_and_its_length_is_checked() {
        let head = Head {
            kind: Kind::Data,
            rank: 513,
            tag: 0x0123_4567_89ab_cdef,
            value: u64::MAX - 1,
        };
        let mut datagram = head.encode(3).to_vec();
        assert_eq!(Head::decode(&datagram), None, "the payload is missing");
        datagram.extend_from_slice(b"abc");
        assert_eq!(Head::decode(&datagram), Some(head));
        datagram.push(0);
        assert_eq!(Head::decode(&datagram), None, "one byte too many");
        datagram[0] ^= 1;
        datagram.pop();
        assert_eq!(Head::decode(&datagram), None, "wrong magic");
    }

    #[test]
    fn blobs_read_back_in_both_families() {
        for address in ["127.0.0.1:9", "[::1]:65535", "[fe80::1]:1"] {
            let address: SocketAddr = address.parse().unwrap();
            let token = [7; 16];
            assert_eq!(decode_blob(&encode_blob(address, &token)), Ok((address, token)));
        }
    }

    #[test]
    fn addresses_that_cannot_be_sent_to_are_refused() {
        for address in ["127.0.0.1:0", "0.0.0.0:1", "224.0.0.1:1", "[ff02::1]:1"] {
            let blob = encode_blob(address.parse().unwrap(), &[0; 16]);
            assert!(decode_blob(&blob).is_err(), "{address}");
        }
    }

    #[test]
    fn both_halves_of_a_token_reach_its_tag() {
        let mut token = [0; 16];
        let zero = tag_of(&token);
        token[0] = 1;
        let first = tag_of(&token);
        token[0] = 0;
        token[15] = 1;
        assert!(zero != first && zero != tag_of(&token) && first != tag_of(&token));
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = (Head::decode(&bytes), decode_blob(&bytes));
        }
    }
}
