//! Measured data encrypted: a message port around another, whose messages are sealed before they reach it.
//!
//! Not a transport: those whose data leave a process's memory take the option [`OPTION`], and open a [`Sealed`] port where
//! a cipher was asked for. Ports in the clear are other types and know nothing of it. What a run with a cipher measures
//! includes the cipher; the fact `data_encryption` says which.
//!
//! It must never know which transport it is around, nor let a plain byte or a used number through.

#[cfg(not(feature = "seal"))]
mod absent;
#[cfg(feature = "seal")]
mod agree;
#[cfg(feature = "seal")]
mod cipher;
mod either;
#[cfg(feature = "seal")]
mod port;

#[cfg(not(feature = "seal"))]
pub use absent::{Keys, sealed};
pub use either::Either;
#[cfg(feature = "seal")]
pub use port::{Keys, sealed};

use super::options::{ENCRYPT, OptionError, OptionReader, OptionSpec};
use super::{Connect, Needs};

/// Name of the fact that says how measured data were encrypted.
pub const FACT: &str = "data_encryption";

/// The option, for a transport's own list.
pub const OPTION: OptionSpec = OptionSpec::new(
    ENCRYPT,
    "off|aes-256-gcm|chacha20-poly1305",
    "encrypt and authenticate every message; what is measured then includes the cipher",
)
.with_default("off");

/// Bytes of the engine's header.
const WORD_BYTES: usize = 8;

/// Bytes of a tag, of either cipher.
const TAG_BYTES: usize = 16;

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
        match reader.choice(ENCRYPT, &Self::CHOICES)? {
            #[cfg(not(feature = "seal"))]
            Some(_) => Err(reader.refuse(ENCRYPT, absent::WHY)),
            chosen => Ok(chosen),
        }
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
    ctx.with_needs(Needs {
        message_bytes: sealed_bytes(ctx.needs.message_bytes),
        ..ctx.needs.clone()
    })
}

/// Largest sealed message, where payloads have up to `message_bytes`.
pub fn sealed_bytes(message_bytes: usize) -> usize {
    message_bytes.max(ENGINE_BYTES).saturating_add(OVERHEAD_BYTES)
}
