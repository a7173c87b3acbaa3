//! Digests of blocks, the same at both ends.

use ring::rand::{SecureRandom as _, SystemRandom};
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use wirespeed::bulk::BlockDigest;

/// Bytes read at once.
const WINDOW_BYTES: usize = 256 << 10;

/// Which digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigestKind {
    /// CRC-32C (Castagnoli), for accidents.
    Crc32c,
    /// BLAKE3, for adversaries too.
    Blake3,
}

impl DigestKind {
    /// The name as typed.
    pub fn name(self) -> &'static str {
        match self {
            DigestKind::Crc32c => "crc32c",
            DigestKind::Blake3 => "blake3",
        }
    }

    /// The kind with this name.
    pub fn of_name(name: &str) -> Option<DigestKind> {
        [DigestKind::Crc32c, DigestKind::Blake3]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// CRC-32C of a block.
#[derive(Debug, Default)]
pub struct Crc32c(u32);

impl BlockDigest for Crc32c {
    fn update(&mut self, bytes: &[u8]) {
        self.0 = crc32c::crc32c_append(self.0, bytes);
    }

    fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0).to_be_bytes().to_vec()
    }
}

/// BLAKE3 of a block.
#[derive(Debug, Default)]
pub struct Blake3(blake3::Hasher);

impl BlockDigest for Blake3 {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&mut self) -> Vec<u8> {
        let digest = self.0.finalize().as_bytes().to_vec();
        self.0.reset();
        digest
    }
}

/// The digest of a part of a file; an error when the file ends before it.
pub fn of_file(kind: DigestKind, file: &File, offset_bytes: u64, size_bytes: u64) -> io::Result<Vec<u8>> {
    match kind {
        DigestKind::Crc32c => feed(Crc32c::default(), file, offset_bytes, size_bytes),
        DigestKind::Blake3 => feed(Blake3::default(), file, offset_bytes, size_bytes),
    }
}

fn feed(
    mut digest: impl BlockDigest,
    file: &File,
    mut offset_bytes: u64,
    size_bytes: u64,
) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; WINDOW_BYTES];
    let mut left = size_bytes;
    while left > 0 {
        let want = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        file.read_exact_at(&mut buffer[..want], offset_bytes)?;
        digest.update(&buffer[..want]);
        offset_bytes += want as u64;
        left -= want as u64;
    }
    Ok(digest.finish())
}

/// 128 random bits as hexadecimal digits.
pub(crate) fn random_hex() -> io::Result<String> {
    let mut bytes = [0; 16];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| io::Error::other("no random numbers"))?;
    Ok(hex(&bytes))
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Hexadecimal digits as bytes.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CRC-32C of 32 zero bytes is 8A9136AA (RFC 3720, B.4); BLAKE3 of nothing begins AF1349B9 (its test vectors).
    #[test]
    fn known_digests() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(40).unwrap();
        let crc = of_file(DigestKind::Crc32c, &file, 8, 32).unwrap();
        assert_eq!(hex(&crc), "8a9136aa");
        assert_eq!(from_hex("8a9136aa"), Some(crc));
        let nothing = of_file(DigestKind::Blake3, &file, 0, 0).unwrap();
        assert!(hex(&nothing).starts_with("af1349b9"));
        assert!(of_file(DigestKind::Crc32c, &file, 8, 33).is_err());
        assert_eq!((from_hex("8"), from_hex("zz"), from_hex("é")), (None, None, None));
    }
}
