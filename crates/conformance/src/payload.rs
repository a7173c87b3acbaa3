//! Bytes that belong to one message: of this sender, of this number.

/// The bytes of message `number` from `sender`.
pub fn fill(sender: u32, number: u64, bytes: &mut [u8]) {
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = byte_of(sender, number, index);
    }
}

/// Whether `bytes` are those of message `number` from `sender`.
pub fn matches(sender: u32, number: u64, bytes: &[u8]) -> bool {
    let right = |(index, &byte): (usize, &u8)| byte == byte_of(sender, number, index);
    bytes.iter().enumerate().all(right)
}

fn byte_of(sender: u32, number: u64, index: usize) -> u8 {
    let mixed = (number ^ (u64::from(sender) << 40) ^ ((index as u64) << 20))
        .wrapping_add(1)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 56) as u8
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
        bytes[31] ^= 1;
        assert!(!matches(1, 7, &bytes));
    }
}
