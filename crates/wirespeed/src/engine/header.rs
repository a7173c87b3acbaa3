//! The engine's 8-byte message header: two flags and a 62-bit number.
//!
//! Data carry their sequence number, from 0 in each phase. Acknowledgements carry how many data messages have been
//! received in the phase, cumulatively; they have no payload.

/// The sender stops here: the last message of a phase.
const LAST: u64 = 1 << 63;
/// An acknowledgement.
const ACK: u64 = 1 << 62;
const NUMBER: u64 = ACK - 1;

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
}
