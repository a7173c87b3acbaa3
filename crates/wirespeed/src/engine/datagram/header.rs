//! The 8-byte header of messages that may get lost: what it is, in which phase, and a number.
//!
//! Phases carry a number of 6 bits, so that what is late from one is not taken for the next. A phase ends when the
//! sender's `Last`, repeated until answered, has met the receiver's `Closed`.

use crate::engine::header;

const PHASE_SHIFT: u32 = 56;
const VALUE: u64 = (1 << PHASE_SHIFT) - 1;
/// Phases are counted modulo this.
pub const PHASES: u64 = 64;

/// What a message is; each with its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A message of the test and its sequence number.
    Data(u64),
    /// An acknowledgement: the highest sequence number that has come, plus one.
    Ack(u64),
    /// The sender has sent so many messages and is done.
    Last(u64),
    /// The receiver has counted so many different ones and is done.
    Closed(u64),
}

/// The header of `kind` in `phase`.
#[inline(always)]
pub fn encode(phase: u64, kind: Kind) -> u64 {
    let number = |value: u64| (phase % PHASES) << PHASE_SHIFT | (value & VALUE);
    match kind {
        Kind::Data(value) => header::data(number(value), false),
        Kind::Ack(value) => header::ack(number(value)),
        Kind::Last(value) => header::data(number(value), true),
        Kind::Closed(value) => header::data(number(value), true) | header::ack(0),
    }
}

/// How many phases ahead of `phase` the message is (modulo [`PHASES`]), and what it is.
#[inline(always)]
pub fn decode(phase: u64, bits: u64) -> (u64, Kind) {
    let number = header::number(bits);
    let value = number & VALUE;
    let kind = match (header::is_ack(bits), header::is_last(bits)) {
        (false, false) => Kind::Data(value),
        (true, false) => Kind::Ack(value),
        (false, true) => Kind::Last(value),
        (true, true) => Kind::Closed(value),
    };
    ((number >> PHASE_SHIFT).wrapping_sub(phase) % PHASES, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_phases_and_numbers_read_back() {
        for phase in [0, 1, 63, 64, 200] {
            for value in [0, 1, VALUE] {
                for kind in [
                    Kind::Data(value),
                    Kind::Ack(value),
                    Kind::Last(value),
                    Kind::Closed(value),
                ] {
                    assert_eq!(decode(phase, encode(phase, kind)), (0, kind));
                    assert_eq!(decode(phase, encode(phase + 1, kind)), (1, kind));
                    assert_eq!(decode(phase + 1, encode(phase, kind)), (PHASES - 1, kind));
                }
            }
        }
    }
}
