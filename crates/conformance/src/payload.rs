//! Bytes that belong to one message: of this sender, of this number.

/// Bytes that are made and compared at a time: tests are built without optimisation, where every step of a loop costs.
const WORD: usize = 8;

/// The bytes of message `number` from `sender`.
pub fn fill(sender: u32, number: u64, bytes: &mut [u8]) {
    for (index, part) in bytes.chunks_mut(WORD).enumerate() {
        part.copy_from_slice(&word_of(sender, number, index)[..part.len()]);
    }
}

/// Whether `bytes` are those of message `number` from `sender`.
pub fn matches(sender: u32, number: u64, bytes: &[u8]) -> bool {
    let mut parts = bytes.chunks(WORD).enumerate();
    parts.all(|(index, part)| *part == word_of(sender, number, index)[..part.len()])
}

/// Eight bytes of it, each of which depends on the sender, the number and the place.
fn word_of(sender: u32, number: u64, index: usize) -> [u8; WORD] {
    let mixed = (number ^ (u64::from(sender) << 40) ^ ((index as u64) << 20))
        .wrapping_add(1)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    // A product's low bits know nothing of the high ones: they are folded back, twice.
    let folded = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (folded ^ (folded >> 32)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_not_another() {
        let mut bytes = [0; 32];
        fill(1, 7, &mut bytes);
        assert!(matches(1, 7, &bytes));
        assert!(!matches(2, 7, &bytes) && !matches(1, 8, &bytes));
        for wrong in 0..bytes.len() {
            let mut bytes = bytes;
            bytes[wrong] ^= 1;
            assert!(!matches(1, 7, &bytes), "byte {wrong}");
        }
        // As long as no word is, and not of another sender anywhere.
        assert!(matches(1, 7, &bytes[..13]));
        let mut other = [0; 32];
        fill(2, 7, &mut other);
        let same = bytes.iter().zip(&other).filter(|(one, two)| one == two).count();
        assert!(same < 4, "{same} bytes of 32 are the same");
    }
}
