//! One direction between two ranks: a key, and the numbers of its messages. A number is used once with a key; keys are
//! used in one direction of one measurement.
//!
//! A sealed message is the engine's 8-byte header and the payload, encrypted together, and a 16-byte tag over both. Its
//! number, which counts from 0, is the nonce; it travels before the message in the place of the header.

use super::{Cipher, TAG_BYTES, WORD_BYTES};
use crate::sync::{copy, put};
use crate::transport::port::LinkError;
use ring::aead::{AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce};

/// What does not open is one of these, and never handed on.
const FORGED: LinkError = LinkError::Corrupt("an encrypted message was changed on its way");
const MISPLACED: LinkError = LinkError::Corrupt("an encrypted message came twice or out of its place");
const TOO_LONG: LinkError = LinkError::Corrupt("an encrypted message is longer than the run allows");

impl Cipher {
    /// What the library calls it.
    pub fn algorithm(self) -> &'static Algorithm {
        match self {
            Cipher::Aes256Gcm => &AES_256_GCM,
            Cipher::ChaCha20Poly1305 => &CHACHA20_POLY1305,
        }
    }
}

/// Both directions of one peer.
pub struct Pair {
    /// To it.
    pub out: Sealer,
    /// From it.
    pub into: Opener,
}

/// The number of a message as a nonce.
#[inline(always)]
fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    put(&mut bytes, NONCE_LEN - 8, number.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

/// Encrypt all of `bytes` but the last [`TAG_BYTES`], where the tag is put.
// Not inlined: the library chooses its code by the CPU, through a pointer, and loops are searched for such calls.
#[inline(never)]
fn encrypt(key: &LessSafeKey, number: u64, bytes: &mut [u8]) {
    let sealed = match bytes.split_last_chunk_mut::<TAG_BYTES>() {
        Some((plain, place)) => key
            .seal_in_place_separate_tag(nonce(number), Aad::empty(), plain)
            .map(|tag| place.copy_from_slice(tag.as_ref()))
            .is_ok(),
        None => false,
    };
    if !sealed {
        // Beyond 64 GiB alone, which no port takes. The plain bytes must not leave; the peer refuses zeros.
        bytes.fill(0);
    }
}

/// Decrypt `bytes`, a tag at their end, in place. Whether they are what was encrypted; if not, they are of no use.
#[inline(never)]
fn decrypt(key: &LessSafeKey, number: u64, bytes: &mut [u8]) -> bool {
    key.open_in_place(nonce(number), Aad::empty(), bytes).is_ok()
}

/// Seals what goes one way.
pub struct Sealer {
    key: LessSafeKey,
    /// Number of the next message. At 10^9 messages a second it lasts 584 years.
    next: u64,
}

impl Sealer {
    /// With a key that nothing was sealed with yet.
    pub fn new(key: LessSafeKey) -> Self {
        Sealer { key, next: 0 }
    }

    /// The number that the next message will have.
    #[inline(always)]
    pub fn number(&self) -> u64 {
        self.next
    }

    /// Seal one message: `header` and what `pack` writes, into `room`, which is longer by the overhead.
    #[inline(always)]
    pub fn seal(&mut self, header: u64, room: &mut [u8], pack: impl FnOnce(&mut [u8])) {
        let number = self.next;
        // Before anything else, so that no number can be used again.
        self.next += 1;
        let (word, rest) = room.split_at_mut(WORD_BYTES);
        put(word, 0, header.to_le_bytes());
        let payload_bytes = rest.len() - TAG_BYTES;
        pack(&mut rest[..payload_bytes]);
        encrypt(&self.key, number, room);
    }
}

/// Opens what comes one way.
pub struct Opener {
    key: LessSafeKey,
    next: u64,
}

impl Opener {
    /// With the peer's key.
    pub fn new(key: LessSafeKey) -> Self {
        Opener { key, next: 0 }
    }

    /// The message sealed as `number`: header and payload, opened in `scratch`. With `in_order` it must be the next one.
    #[inline(always)]
    pub fn open<'s>(
        &mut self,
        number: u64,
        sealed: &[u8],
        scratch: &'s mut [u8],
        in_order: bool,
    ) -> Result<(u64, &'s [u8]), LinkError> {
        if in_order && number != self.next {
            return Err(MISPLACED);
        }
        let room = scratch.get_mut(..sealed.len()).ok_or(TOO_LONG)?;
        copy(sealed, room);
        if !decrypt(&self.key, number, room) {
            return Err(FORGED);
        }
        self.next = number + 1;
        let plain = &room[..sealed.len() - TAG_BYTES];
        let (word, payload) = plain.split_first_chunk::<WORD_BYTES>().ok_or(FORGED)?;
        Ok((u64::from_le_bytes(*word), payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ring::aead::UnboundKey;

    const EACH: [Cipher; 2] = [Cipher::Aes256Gcm, Cipher::ChaCha20Poly1305];

    fn ends(cipher: Cipher) -> (Sealer, Opener) {
        let key = || LessSafeKey::new(UnboundKey::new(cipher.algorithm(), &[7; 32]).unwrap());
        (Sealer::new(key()), Opener::new(key()))
    }

    fn sealed(sealer: &mut Sealer, header: u64, payload: &[u8]) -> (u64, Vec<u8>) {
        let mut room = vec![0; payload.len() + WORD_BYTES + TAG_BYTES];
        let number = sealer.number();
        sealer.seal(header, &mut room, |to| to.copy_from_slice(payload));
        (number, room)
    }

    #[test]
    fn what_is_sealed_opens_and_is_not_to_be_read() {
        for cipher in EACH {
            let (mut sealer, mut opener) = ends(cipher);
            let mut scratch = [0; 100];
            for (header, payload) in [
                (u64::MAX, &b"twice the same words, twice the same words"[..]),
                (0, b""),
            ] {
                let (number, room) = sealed(&mut sealer, header, payload);
                assert!(payload.is_empty() || !room.windows(4).any(|w| payload.windows(4).any(|p| p == w)));
                assert_eq!(
                    opener.open(number, &room, &mut scratch, true),
                    Ok((header, payload))
                );
            }
        }
    }

    #[test]
    fn equal_messages_look_different() {
        let (mut sealer, _) = ends(Cipher::Aes256Gcm);
        assert_ne!(
            sealed(&mut sealer, 1, &[0; 32]).1,
            sealed(&mut sealer, 1, &[0; 32]).1
        );
    }

    #[test]
    fn replayed_reordered_and_missing_messages_are_refused_in_order_alone() {
        let (mut sealer, mut opener) = ends(Cipher::Aes256Gcm);
        let messages: Vec<_> = (0..3).map(|i| sealed(&mut sealer, i, b"payload")).collect();
        let mut scratch = [0; 64];
        let mut open = |number, at: usize, in_order| {
            let (header, payload) = opener.open(number, &messages[at].1, &mut scratch, in_order)?;
            Ok::<_, LinkError>((header, payload.to_vec()))
        };
        assert_eq!(open(1, 1, true), Err(MISPLACED), "one is missing before it");
        assert!(open(0, 0, true).is_ok());
        assert_eq!(open(0, 0, true), Err(MISPLACED), "replayed");
        assert_eq!(
            open(1, 0, true),
            Err(FORGED),
            "replayed under the number that is due"
        );
        assert_eq!(
            open(1, 2, true),
            Err(FORGED),
            "another under the number that is due"
        );
        assert!(
            open(2, 2, false).is_ok() && open(1, 1, false).is_ok(),
            "datagrams may overtake"
        );
    }

    #[test]
    fn what_is_too_short_or_too_long_is_refused() {
        let (mut sealer, mut opener) = ends(Cipher::ChaCha20Poly1305);
        let (number, room) = sealed(&mut sealer, 3, &[1; 40]);
        let mut scratch = [0; 40];
        assert_eq!(opener.open(number, &room, &mut scratch, true), Err(TOO_LONG));
        for len in 0..TAG_BYTES + WORD_BYTES {
            assert_eq!(opener.open(number, &room[..len], &mut scratch, true), Err(FORGED));
        }
    }

    proptest! {
        #[test]
        fn a_flipped_bit_is_found(payload in proptest::collection::vec(any::<u8>(), 0..80), bit in any::<prop::sample::Index>()) {
            for cipher in EACH {
                let (mut sealer, mut opener) = ends(cipher);
                let (number, mut room) = sealed(&mut sealer, 9, &payload);
                let bit = bit.index(room.len() * 8);
                room[bit / 8] ^= 1 << (bit % 8);
                let mut scratch = [0; 200];
                prop_assert_eq!(opener.open(number, &room, &mut scratch, true), Err(FORGED));
            }
        }
    }
}
