//! Where messages of posted tests lie in the port's buffer, and what they carry. A message to the j-th neighbour has its
//! place in the sending half, one from the j-th neighbour in the receiving half; where all share one place, the step is
//! nought.

use super::super::payload;
use super::group::CONTROL_BYTES;
use crate::sync::SharedBytes;

/// Bytes that are written or read at once outside of samples.
const PIECE: usize = 16 << 10;
const LINE: usize = 64;

/// The layout of one rank's messages.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    /// Payload of a message.
    pub size: usize,
    /// Messages of one half in an iteration; their places follow each other.
    pub messages: usize,
    /// From one place to the next; 0 where they are one.
    step: usize,
    /// Bytes of one half in an iteration.
    once: usize,
    /// From a place in the sending half to that in the receiving one.
    apart: usize,
    /// Iterations until places come back.
    rotations: usize,
    rotation: usize,
    /// Where this iteration's memory begins in its half.
    base: usize,
}

impl Places {
    /// Every message of an iteration has a place of its own, and `rotations` iterations have their own memory.
    pub fn own(size: usize, messages: usize, rotations: usize) -> Self {
        let (once, rotations) = (size.saturating_mul(messages), rotations.max(1));
        Places {
            size,
            messages,
            step: size,
            once,
            apart: once.saturating_mul(rotations),
            rotations,
            rotation: 0,
            base: 0,
        }
    }

    /// All messages share one place a side.
    pub fn shared(size: usize, messages: usize) -> Self {
        Places {
            step: 0,
            once: size,
            apart: size,
            ..Self::own(size, messages, 1)
        }
    }

    /// Places of whole cache lines: one for all messages, or one each. Where messages go one way, both halves are one.
    pub fn lines(size: usize, messages: usize, shared: bool, one_way: bool) -> Self {
        let line = size.saturating_add(LINE - 1) & !(LINE - 1);
        let once = if shared {
            line
        } else {
            line.saturating_mul(messages)
        };
        Places {
            step: if shared { 0 } else { line },
            once,
            apart: if one_way { 0 } else { once },
            ..Self::own(size, messages, 1)
        }
    }

    /// Length of the whole buffer; saturates.
    pub fn bytes(&self) -> usize {
        self.half()
            .saturating_add(self.apart)
            .saturating_add(CONTROL_BYTES)
    }

    fn half(&self) -> usize {
        self.once.saturating_mul(self.rotations)
    }

    /// Whether all messages of a side share one place.
    pub fn is_shared(&self) -> bool {
        self.step == 0
    }

    /// Go on to the next iteration's memory.
    pub fn rotate(&mut self) {
        self.rotation = self.next();
        self.base = self.rotation * self.once;
    }

    #[inline(always)]
    fn next(&self) -> usize {
        (self.rotation + 1) % self.rotations
    }

    /// Place of the `index`-th message to be sent.
    #[inline(always)]
    pub fn outgoing(&self, index: usize) -> usize {
        CONTROL_BYTES + self.base + index * self.step
    }

    /// Place of the `index`-th message to be received.
    #[inline(always)]
    pub fn incoming(&self, index: usize) -> usize {
        self.apart + self.outgoing(index)
    }

    /// Place of the `index`-th message to be received in the iteration after this one.
    #[inline(always)]
    pub fn incoming_next(&self, index: usize) -> usize {
        CONTROL_BYTES + self.apart + self.next() * self.once + index * self.step
    }

    /// Write all the memory once, so that no sample holds a page fault.
    pub fn touch_all(&self, buffer: &SharedBytes) {
        write_range(buffer, CONTROL_BYTES, self.half().saturating_add(self.apart));
    }

    /// Write what this iteration sends, read what it received before, as an application would.
    pub fn touch(&self, buffer: &SharedBytes) {
        write_range(buffer, self.outgoing(0), self.once);
        let mut piece = [0u8; PIECE];
        let (start, end) = (self.incoming(0), self.incoming(0) + self.once);
        for at in (start..end).step_by(PIECE) {
            let len = PIECE.min(end - at);
            buffer.read(at, &mut piece[..len]);
            std::hint::black_box(&piece);
        }
    }

    /// Fill what this iteration sends; `number(index)` names the contents.
    pub fn fill(&self, buffer: &SharedBytes, number: impl Fn(usize) -> u64) {
        let mut piece = [0u8; PIECE];
        for index in 0..self.distinct() {
            for start in (0..self.size).step_by(PIECE) {
                let part = &mut piece[..PIECE.min(self.size - start)];
                payload::fill_part(number(index), start, part);
                buffer.write(self.outgoing(index) + start, part);
            }
        }
    }

    /// Messages received in this iteration whose contents are not those that `number(index)` names.
    pub fn wrong(&self, buffer: &SharedBytes, number: impl Fn(usize) -> u64) -> u64 {
        let mut piece = [0u8; PIECE];
        let wrong = (0..self.distinct()).filter(|&index| {
            !(0..self.size).step_by(PIECE).all(|start| {
                let part = &mut piece[..PIECE.min(self.size - start)];
                buffer.read(self.incoming(index) + start, part);
                payload::continues(number(index), start, part)
            })
        });
        wrong.count() as u64
    }

    fn distinct(&self) -> usize {
        if self.step == 0 { 1 } else { self.messages }
    }
}

fn write_range(buffer: &SharedBytes, start: usize, bytes: usize) {
    let mut piece = [0u8; PIECE];
    payload::fill(start as u64, &mut piece);
    let end = start + bytes;
    for at in (start..end).step_by(PIECE) {
        buffer.write(at, &piece[..PIECE.min(end - at)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_do_not_overlap_and_fit_the_buffer() {
        let mut places = Places::own(10, 3, 2);
        let mut seen = Vec::new();
        for _ in 0..2 {
            for index in 0..3 {
                seen.extend([places.outgoing(index), places.incoming(index)]);
            }
            places.rotate();
        }
        seen.sort_unstable();
        assert!(seen.windows(2).all(|pair| pair[1] - pair[0] >= 10), "{seen:?}");
        assert!(seen[0] >= CONTROL_BYTES && seen[11] + 10 <= places.bytes());
        assert_eq!(places.outgoing(0), CONTROL_BYTES);
        let next = places.incoming_next(1);
        places.rotate();
        assert_eq!(places.incoming(1), next);
        let shared = Places::shared(10, 3);
        assert_eq!(
            (shared.outgoing(2), shared.incoming(0)),
            (CONTROL_BYTES, CONTROL_BYTES + 10)
        );
    }

    #[test]
    fn places_of_lines_fit_the_buffer() {
        let end = |places: &Places, index| places.incoming(index) + places.size;
        for size in [0, 8, 64, 100] {
            let both = Places::lines(size, 1, true, false);
            assert!(both.incoming(0) >= both.outgoing(0) + size && end(&both, 0) <= both.bytes());
            let each = Places::lines(size, 3, false, true);
            assert!(each.outgoing(1) >= each.outgoing(0) + size && end(&each, 2) <= each.bytes());
            assert_eq!((each.incoming(1), each.incoming(1) % LINE), (each.outgoing(1), 0));
        }
    }

    #[test]
    fn a_wrong_byte_is_found() {
        // In one piece, and in several.
        for size in [100, PIECE + 100] {
            let places = Places::own(size, 4, 1);
            let buffer = SharedBytes::heap(places.bytes()).unwrap();
            let mut whole = vec![0; size];
            places.fill(&buffer, |index| index as u64);
            for index in 0..4 {
                buffer.read(places.outgoing(index), &mut whole);
                assert!(payload::matches(index as u64, size, &whole));
                buffer.write(places.incoming(index), &whole);
            }
            assert_eq!(places.wrong(&buffer, |index| index as u64), 0);
            buffer.write(places.incoming(2) + size - 1, &[!whole[size - 1]]);
            buffer.write(places.incoming(3), &[!whole[0]]);
            assert_eq!(places.wrong(&buffer, |index| index as u64), 2);
        }
    }
}
