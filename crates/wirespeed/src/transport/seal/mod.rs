//! Measured data encrypted: a message port around another, whose messages are sealed before they reach it.
//!
//! Not a transport: those whose data leave a process's memory take the option [`OPTION`], and open a [`Sealed`] port where
//! a cipher was asked for. Ports in the clear are other types and know nothing of it. What a run with a cipher measures
//! includes the cipher; the fact `data_encryption` says which.
//!
//! It must never know which transport it is around, nor let a plain byte or a used number through.

mod agree;
mod cipher;
mod either;
mod port;

pub use either::Either;
pub use port::Sealed;

use super::options::{ENCRYPT, OptionError, OptionReader, OptionSpec};
use super::{Connect, ConnectError, Needs};
use cipher::{TAG_BYTES, WORD_BYTES};

/// Name of the fact that says how measured data were encrypted.
pub const FACT: &str = "data_encryption";

/// The option, for a transport's own list.
pub const OPTION: OptionSpec = OptionSpec {
    name: ENCRYPT,
    values: "off|aes-256-gcm|chacha20-poly1305",
    default: "off",
    help: "encrypt and authenticate every message; what is measured then includes the cipher",
};

/// Bytes that a sealed message is longer than a plain one.
pub const OVERHEAD_BYTES: usize = WORD_BYTES + TAG_BYTES;

/// Most ranks of a group whose data are encrypted: what a rank tells the others must fit into one blob.
pub const RANKS_MAX: u32 = 1024;

/// Why there are no zero-copy sends of encrypted data.
pub const NO_ZCOPY: &str =
    "the cipher writes every byte anew, so there is no copy to spare: take encrypt=off";

/// Receivers take messages of the engine itself up to this size whatever the case's payload is.
const ENGINE_BYTES: usize = 64;

/// The ciphers that there are, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cipher {
    /// AES with 256-bit keys in Galois/counter mode (NIST SP 800-38D): fast where the CPU has instructions for it.
    Aes256Gcm,
    /// ChaCha20 and Poly1305 (RFC 8439): fast everywhere.
    ChaCha20Poly1305,
}

impl Cipher {
    const CHOICES: [(&'static str, Option<Cipher>); 3] = [
        ("off", None),
        ("aes-256-gcm", Some(Cipher::Aes256Gcm)),
        ("chacha20-poly1305", Some(Cipher::ChaCha20Poly1305)),
    ];

    /// The one that the options name, if any.
    pub fn read(reader: &OptionReader) -> Result<Option<Cipher>, OptionError> {
        reader.choice(ENCRYPT, &Self::CHOICES)
    }

    /// The name as typed.
    pub fn name(self) -> &'static str {
        let mut choices = Self::CHOICES.iter();
        choices
            .find(|choice| choice.1 == Some(self))
            .map_or("", |choice| choice.0)
    }
}

/// The most ranks of a group, where `most` are the transport's own limit.
pub fn ranks_max(cipher: Option<Cipher>, most: u32) -> u32 {
    cipher.map_or(most, |_| most.min(RANKS_MAX))
}

/// `ctx` for the port below: its messages are longer.
pub fn below<'a>(ctx: &Connect<'a>) -> Connect<'a> {
    Connect {
        bootstrap: ctx.bootstrap,
        case: ctx.case,
        peers: ctx.peers,
        needs: Needs {
            message_bytes: sealed_bytes(ctx.needs.message_bytes),
            ..ctx.needs.clone()
        },
        cancel: ctx.cancel.clone(),
    }
}

/// Largest sealed message, where payloads have up to `message_bytes`.
pub fn sealed_bytes(message_bytes: usize) -> usize {
    message_bytes.max(ENGINE_BYTES).saturating_add(OVERHEAD_BYTES)
}

/// Keys of one measurement, one pair for each peer by slot: made anew whenever a port is opened.
pub struct Keys {
    cipher: Cipher,
    pairs: Vec<cipher::Pair>,
    message_bytes: usize,
}

impl Keys {
    /// Agree on them with every peer of `ctx`. Collective: one exchange, peers or none.
    pub fn agree(ctx: &Connect, cipher: Cipher) -> Result<Keys, ConnectError> {
        Ok(Keys {
            cipher,
            pairs: agree::agree(ctx, cipher)?,
            message_bytes: ctx.needs.message_bytes,
        })
    }
}
