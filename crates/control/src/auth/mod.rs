//! Who may talk to whom. A server is known by the fingerprint of its certificate, a client by its token; both are in one
//! [`Identity`], which a key file or one line of text carries from the server to its clients.
//!
//! The token itself never travels: a client proves it over a value that only this TLS connection has.

pub mod http;
pub mod keyfile;
pub(crate) mod tls;

use crate::error::ControlError;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use std::fmt;
use std::path::Path;

/// Environment variable with an identity's text.
pub const IDENTITY_VARIABLE: &str = "WIRESPEED_IDENTITY";

/// The option of a program that has the same.
const IDENTITY_OPTION: &str = "--identity";

/// Environment variable with the path of the key file.
pub const KEY_FILE_VARIABLE: &str = "WIRESPEED_KEY_FILE";

const PREFIX: &str = "WS1:";
const PART_BYTES: usize = 32;

/// What a client needs to know a server and to be known by it.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    pub(crate) fingerprint: [u8; PART_BYTES],
    pub(crate) token: [u8; PART_BYTES],
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity(..)")
    }
}

impl Identity {
    /// The identity as text: `WS1:` and base64. A secret.
    pub fn to_text(&self) -> String {
        let bytes = [self.fingerprint, self.token].concat();
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Read what [`Identity::to_text`] wrote.
    pub fn from_text(text: &str) -> Result<Self, ControlError> {
        Identity::from_text_of(None, text)
    }

    /// The same, of text that the option or variable `from` has.
    fn from_text_of(from: Option<&'static str>, text: &str) -> Result<Self, ControlError> {
        let damaged = |why| ControlError::BadIdentity { from, why };
        let encoded = text.trim().strip_prefix(PREFIX);
        let encoded = encoded.ok_or_else(|| damaged("it does not begin with WS1:"))?;
        let bytes = URL_SAFE_NO_PAD
            .decode(encoded)
            .map_err(|_| damaged("it is not base64"))?;
        let (fingerprint, token) = bytes
            .split_first_chunk()
            .and_then(|(fingerprint, rest)| Some((*fingerprint, <[u8; PART_BYTES]>::try_from(rest).ok()?)))
            .ok_or_else(|| damaged("it has the wrong length"))?;
        Ok(Identity { fingerprint, token })
    }

    /// Errors where text that was typed is damaged, whether it will be needed or not. The environment's is for whoever needs one.
    pub fn check(given: Option<&str>) -> Result<(), ControlError> {
        let environments = std::env::var(IDENTITY_VARIABLE).ok();
        let typed = typed(given, environments.as_deref());
        let read = typed.map(|text| Identity::from_text_of(Some(IDENTITY_OPTION), text));
        read.transpose().map(drop)
    }

    /// The client's identity: `given` text, else that of the key file at `key_file`, else the environment's, else that of the
    /// key file at the environment's path, or at the default path. Text that is empty is none.
    pub fn find(given: Option<&str>, key_file: Option<&Path>) -> Result<Self, ControlError> {
        let environments = std::env::var(IDENTITY_VARIABLE).ok();
        if let Some((text, from)) = chosen(given, environments.as_deref(), key_file.is_some()) {
            return Identity::from_text_of(Some(from), text);
        }
        let path = keyfile::path(key_file)?;
        keyfile::KeyFile::load(&path).map(|key| key.identity().clone())
    }

    /// The proof of the token over `channel`, a value that only one TLS connection has.
    pub(crate) fn prove(&self, channel: &[u8]) -> Vec<u8> {
        hmac::sign(&self.hmac_key(), channel).as_ref().to_vec()
    }

    /// Whether `proof` is that of the token over `channel`; takes the same time whatever the proof is.
    pub(crate) fn verify(&self, channel: &[u8], proof: &[u8]) -> bool {
        hmac::verify(&self.hmac_key(), channel, proof).is_ok()
    }

    fn hmac_key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.token)
    }
}

/// The fingerprint of a certificate: SHA-256 of its DER form.
pub(crate) fn fingerprint(certificate: &[u8]) -> [u8; PART_BYTES] {
    let digest = ring::digest::digest(&ring::digest::SHA256, certificate);
    let mut bytes = [0; PART_BYTES];
    bytes.copy_from_slice(digest.as_ref());
    bytes
}

/// `given`, where a program did not hand on the environment's as if it was.
pub fn typed<'a>(given: Option<&'a str>, environments: Option<&str>) -> Option<&'a str> {
    given.filter(|text| Some(*text) != environments)
}

/// The text of an identity that goes before a key file, and where it is from.
fn chosen<'a>(
    given: Option<&'a str>,
    environments: Option<&'a str>,
    key_is_given: bool,
) -> Option<(&'a str, &'static str)> {
    let typed = typed(given, environments).map(|text| (text, IDENTITY_OPTION));
    let environments = environments.filter(|_| !key_is_given);
    typed
        .or(environments.map(|text| (text, IDENTITY_VARIABLE)))
        .filter(|(text, _)| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            fingerprint: [7; 32],
            token: [9; 32],
        }
    }

    #[test]
    fn text_reads_back_and_damage_is_named() {
        let text = identity().to_text();
        assert_eq!(Identity::from_text(&format!(" {text}\n")).unwrap(), identity());
        for bad in [
            "",
            "WS1:",
            "WS2:AAAA",
            "WS1:====",
            &text[..20],
            &format!("{text}AAAA"),
        ] {
            let error = Identity::from_text(bad).unwrap_err();
            assert_eq!(error.exit_code(), 5, "{bad}");
            let given = Identity::check(Some(bad)).unwrap_err();
            assert!(
                given
                    .to_string()
                    .starts_with("--identity: the identity is damaged"),
                "{given}"
            );
            assert_eq!(given.exit_code(), 2, "{bad}");
            for error in [error, given] {
                assert!(error.remedy().contains("--print-identity"), "{}", error.remedy());
            }
        }
        assert!(!format!("{:?}", identity()).contains('9'));
    }

    #[test]
    fn a_proof_holds_for_one_token_and_one_channel() {
        let proof = identity().prove(b"this connection");
        assert!(identity().verify(b"this connection", &proof));
        assert!(!identity().verify(b"another connection", &proof));
        assert!(!identity().verify(b"this connection", &proof[1..]));
        let mut other = identity();
        other.token[31] ^= 1;
        assert!(!other.verify(b"this connection", &proof));
    }

    #[test]
    fn what_was_typed_goes_before_a_key_file_and_that_before_the_environment() {
        const TYPED: Option<(&str, &str)> = Some(("a", IDENTITY_OPTION));
        const OF_ENVIRONMENT: Option<(&str, &str)> = Some(("e", IDENTITY_VARIABLE));
        for (given, environments, key_is_given, expected) in [
            (Some("a"), Some("e"), true, TYPED),
            (Some("a"), None, false, TYPED),
            (Some("e"), Some("e"), false, OF_ENVIRONMENT),
            (None, Some("e"), false, OF_ENVIRONMENT),
            (Some("e"), Some("e"), true, None),
            (Some(""), Some(""), false, None),
            (None, Some(""), false, None),
            (None, None, false, None),
        ] {
            let found = chosen(given, environments, key_is_given);
            assert_eq!(found, expected, "{given:?} {environments:?} {key_is_given}");
        }
    }
}
