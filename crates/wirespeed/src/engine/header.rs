//! The engine's 8-byte message header: two flags and a 62-bit number.
//!
//! Data carry their sequence number, from 0 in each phase. Acknowledgements carry how many data messages have been
//! received in the phase, cumulatively; they have no payload.

/// The sender stops here: the last message of a phase.
const LAST: u64 = 1 << 63;
/// An acknowledgement.
const ACK: u64 = 1 << 62;
const NUMBER: u64 = ACK - 1;
const SEQUENCE: u64 = (1 << ADDRESS_SHIFT) - 1;

/// A data message.
#[inline(always)]
pub fn data(sequence: u64, last: bool) -> u64 {
    (sequence & NUMBER) | if last { LAST } else { 0 }
}

/// An acknowledgement of `received` messages.
#[inline(always)]
pub fn ack(received: u64) -> u64 {
    (received & NUMBER) | ACK
}

/// Bits of the number that hold an address in [`addressed`] headers.
const ADDRESS_SHIFT: u32 = 48;

/// `header` with the number of a member of a group: at most 2^14 members, numbers below 2^48.
#[inline(always)]
pub fn addressed(header: u64, member: usize) -> u64 {
    header & !(NUMBER & !SEQUENCE) | (member as u64) << ADDRESS_SHIFT
}

/// The member in an [`addressed`] header.
#[inline(always)]
pub fn address(header: u64) -> usize {
    ((header & NUMBER) >> ADDRESS_SHIFT) as usize
}

/// The number in an [`addressed`] header.
#[inline(always)]
pub fn sequence(header: u64) -> u64 {
    header & SEQUENCE
}

/// Whether it is an acknowledgement.
#[inline(always)]
pub fn is_ack(header: u64) -> bool {
    header & ACK != 0
}

/// Whether it ends its phase.
#[inline(always)]
pub fn is_last(header: u64) -> bool {
    header & LAST != 0
}

/// The sequence number or count.
#[inline(always)]
pub fn number(header: u64) -> u64 {
    header & NUMBER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_do_not_disturb_numbers() {
        for n in [0, 1, 127, 128, u64::from(u32::MAX) + 1, NUMBER] {
            assert_eq!(number(data(n, true)), n);
            assert_eq!(number(ack(n)), n);
            assert!(is_last(data(n, true)) && !is_last(data(n, false)) && !is_ack(data(n, true)));
            assert!(is_ack(ack(n)) && !is_last(ack(n)));
        }
    }

    #[test]
    fn addresses_stand_beside_numbers_and_flags() {
        for member in [0, 1, (1 << 14) - 1] {
            let header = addressed(data(12_345, true), member);
            assert_eq!((address(header), sequence(header)), (member, 12_345));
            assert!(is_last(header) && !is_ack(header));
            let passed_on = addressed(addressed(ack(SEQUENCE), member), 3);
            assert_eq!((address(passed_on), sequence(passed_on)), (3, SEQUENCE));
            assert!(is_ack(passed_on));
        }
    }
}
