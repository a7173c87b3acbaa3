//! How two ranks come to keys that nobody else has: each makes a key pair for each peer (X25519, RFC 7748), gives the public
//! halves to the group, and derives one key for each direction from what only the two can compute (HKDF-SHA-256, RFC 5869).
//!
//! Private halves live as long as this call, so keys differ between any two measurements and peers, and cannot be made
//! again afterwards. Whoever reads what the ranks exchange learns nothing; that it reaches them unchanged is what the
//! group's own connections are for.

use super::Cipher;
use super::cipher::{Opener, Pair, Sealer};
use crate::transport::{Connect, ConnectError};
use ring::aead::{LessSafeKey, UnboundKey};
use ring::agreement::{EphemeralPrivateKey, PublicKey, UnparsedPublicKey, X25519, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, Prk, Salt};
use ring::rand::SystemRandom;

/// What the keys are for; another format of messages gets another name.
const PURPOSE: &[u8] = b"wirespeed encrypted messages 1";

/// Bytes of a public key.
const PUBLIC_BYTES: usize = 32;

/// One entry of a blob: whom it is for, and the public key.
const ENTRY_BYTES: usize = 4 + PUBLIC_BYTES;

/// A key pair whose private half is used once.
struct Own {
    private: EphemeralPrivateKey,
    public: PublicKey,
}

impl Own {
    fn draw() -> Result<Self, ConnectError> {
        let failed = |_| ConnectError::Other("making a key to encrypt with: no random bytes".to_owned());
        let private = EphemeralPrivateKey::generate(&X25519, &SystemRandom::new()).map_err(failed)?;
        let public = private.compute_public_key().map_err(failed)?;
        Ok(Own { private, public })
    }
}

/// Keys with every peer, by slot. Collective: one exchange, peers or none.
pub fn agree(ctx: &Connect, cipher: Cipher) -> Result<Vec<Pair>, ConnectError> {
    let own: Vec<Own> = ctx.peers.iter().map(|_| Own::draw()).collect::<Result<_, _>>()?;
    let mut blob = Vec::with_capacity(own.len() * ENTRY_BYTES);
    for (peer, key) in ctx.peers.iter().zip(&own) {
        blob.extend_from_slice(&peer.to_le_bytes());
        blob.extend_from_slice(key.public.as_ref());
    }
    let blobs = ctx.exchange(&blob)?;
    let me = ctx.bootstrap.rank();
    let pairs = ctx.peers.iter().zip(own).map(|(&peer, own)| {
        let blob = blobs.get(peer as usize).map_or(&[][..], Vec::as_slice);
        pair(cipher, (me, own), (peer, blob))
    });
    pairs.collect()
}

/// The keys of one peer.
fn pair(cipher: Cipher, (me, own): (u32, Own), (peer, blob): (u32, &[u8])) -> Result<Pair, ConnectError> {
    let bad = |what: &str| ConnectError::BadPeer {
        rank: peer,
        what: what.to_owned(),
    };
    let theirs = entry(blob, me).ok_or_else(|| bad("it has no key for this rank to encrypt with"))?;
    let ours = own.public;
    agree_ephemeral(own.private, &UnparsedPublicKey::new(&X25519, theirs), |secret| {
        let root = Salt::new(HKDF_SHA256, PURPOSE).extract(secret);
        let ours = (me, ours.as_ref());
        let theirs = (peer, &theirs[..]);
        Some(Pair {
            out: Sealer::new(derive(&root, cipher, ours, theirs)?),
            into: Opener::new(derive(&root, cipher, theirs, ours)?),
        })
    })
    .ok()
    .flatten()
    .ok_or_else(|| bad("its key is not one to encrypt with"))
}

/// The public key that `blob` has for `rank`.
fn entry(blob: &[u8], rank: u32) -> Option<[u8; PUBLIC_BYTES]> {
    let (entries, []) = blob.as_chunks::<ENTRY_BYTES>() else {
        return None;
    };
    let mine = entries
        .iter()
        .find(|entry| entry.starts_with(&rank.to_le_bytes()));
    mine?.last_chunk().copied()
}

/// The key of one direction: bound to cipher, ranks and public keys.
fn derive(root: &Prk, cipher: Cipher, from: (u32, &[u8]), to: (u32, &[u8])) -> Option<LessSafeKey> {
    let (from_rank, to_rank) = (from.0.to_le_bytes(), to.0.to_le_bytes());
    let context = [cipher.name().as_bytes(), &from_rank, from.1, &to_rank, to.1];
    let key = root.expand(&context, cipher.algorithm()).ok()?;
    Some(LessSafeKey::new(UnboundKey::from(key)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::bootstrap::ThreadBootstrap;
    use crate::transport::{Needs, fixtures};
    use wirespeed_schema::case::IdlePolicy;

    /// The keys of each of two ranks, whose peers are themselves and each other.
    fn agreed() -> Vec<Vec<Pair>> {
        let case = fixtures::case().with_idle(IdlePolicy::Spin);
        let ranks = ThreadBootstrap::group(2);
        std::thread::scope(|scope| {
            let agreeing = ranks.iter().map(|bootstrap| {
                let case = &case;
                scope.spawn(move || {
                    let ctx = Connect::new(bootstrap, case, &[0, 1], Needs::default());
                    agree(&ctx, Cipher::Aes256Gcm).unwrap()
                })
            });
            let agreeing: Vec<_> = agreeing.collect();
            agreeing.into_iter().map(|rank| rank.join().unwrap()).collect()
        })
    }

    /// What becomes of one message from `rank` to `peer`.
    fn sealed(ranks: &mut [Vec<Pair>], rank: usize, peer: usize) -> Vec<u8> {
        let mut room = vec![0; 5 + super::super::OVERHEAD_BYTES];
        ranks[rank][peer]
            .out
            .seal(7, &mut room, |to| to.copy_from_slice(b"hello"));
        room
    }

    #[test]
    fn only_the_two_have_the_key_of_a_direction() {
        let mut ranks = agreed();
        let mut all = Vec::new();
        for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let room = sealed(&mut ranks, from, to);
            let mut scratch = [0; 64];
            let opened = ranks[to][from].into.open(0, &room, &mut scratch, true);
            assert_eq!(opened, Ok((7, &b"hello"[..])), "{from} to {to}");
            for (rank, peer) in [(0, 0), (0, 1), (1, 0), (1, 1)]
                .into_iter()
                .filter(|&p| p != (to, from))
            {
                let opener = &mut ranks[rank][peer].into;
                let opened = opener.open(0, &room, &mut scratch, false).is_ok();
                assert!(!opened, "{from} to {to} was opened by {rank} as from {peer}");
            }
            all.push(room);
        }
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 4, "two directions share a key");
    }

    #[test]
    fn keys_of_another_time_are_others() {
        let (mut first, mut second) = (agreed(), agreed());
        let room = sealed(&mut first, 0, 1);
        assert!(second[1][0].into.open(0, &room, &mut [0; 64], true).is_err());
        assert_ne!(room, sealed(&mut second, 0, 1));
    }

    #[test]
    fn blobs_that_are_none_have_no_entry() {
        let mut blob = vec![1, 0, 0, 0];
        blob.extend([9; PUBLIC_BYTES]);
        assert_eq!(entry(&blob, 1), Some([9; PUBLIC_BYTES]));
        assert_eq!(entry(&blob, 0), None);
        assert_eq!(entry(&blob[1..], 1), None);
        assert_eq!(entry(&[], 1), None);
    }
}
