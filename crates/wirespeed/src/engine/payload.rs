//! What messages carry, and how it is handed over: one sender a layout, so that the loop has no branch on it; for ports
//! whose operations are slow, one for all.
//!
//! Without checking, every message carries the same incompressible bytes. With checking, each carries bytes computed
//! from its header, and the receiver computes them again.

use super::header;
use super::placed::Placed;
use crate::sync::copy;
use crate::transport::port::{LinkError, MessagePort, Post, Posted};
use wirespeed_schema::test::Layout;

/// Word `index` of the payload of message `number`: a mix with full avalanche (splitmix64, Steele et al. 2014).
#[inline(always)]
fn word(number: u64, index: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ index.wrapping_mul(0xD1B5_4A32_D192_ED03);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Fill `payload` with the bytes of message `number`.
pub fn fill(number: u64, payload: &mut [u8]) {
    fill_part(number, 0, payload);
}

/// Fill `part` with the bytes of message `number` from `start` on, a multiple of 8.
pub fn fill_part(number: u64, start: usize, part: &mut [u8]) {
    for (index, chunk) in (start / 8..).zip(part.chunks_mut(8)) {
        copy(&word(number, index as u64).to_le_bytes(), chunk);
    }
}

/// Whether `payload` is that of message `number` and `size` bytes long.
pub fn matches(number: u64, size: usize, payload: &[u8]) -> bool {
    payload.len() == size && begins(number, payload)
}

/// Whether the payload of message `number` begins with `bytes`.
pub fn begins(number: u64, bytes: &[u8]) -> bool {
    continues(number, 0, bytes)
}

/// Whether the payload of message `number` goes on with `bytes` from `start` on, a multiple of 8.
pub fn continues(number: u64, start: usize, bytes: &[u8]) -> bool {
    (start / 8..).zip(bytes.chunks(8)).all(|(index, chunk)| {
        let expected = word(number, index as u64).to_le_bytes();
        chunk == &expected[..chunk.len()]
    })
}

/// Whether payloads are checked, as a type, so that loops without a check have no trace of it: in a loop of a few
/// nanoseconds a branch that is never taken costs a fifth.
pub trait Check: Copy {
    /// Whether there is anything to decide when the loop runs.
    const DECIDES: bool;

    /// Whether they are.
    fn on(self) -> bool;

    /// Whether `payload` is not that of message `number` and `size` bytes long, where that is checked.
    #[inline(always)]
    fn find_wrong(self, number: u64, size: usize, payload: &[u8]) -> bool {
        Self::DECIDES && self.on() && differs(number, size, payload)
    }
}

/// Payloads are not checked.
#[derive(Debug, Clone, Copy)]
pub struct Never;

/// Payloads are checked if it holds true.
#[derive(Debug, Clone, Copy)]
pub struct Asked(pub bool);

impl Check for Never {
    const DECIDES: bool = false;

    #[inline(always)]
    fn on(self) -> bool {
        false
    }
}

impl Check for Asked {
    const DECIDES: bool = true;

    #[inline(always)]
    fn on(self) -> bool {
        self.0
    }
}

#[cold]
#[inline(never)]
fn differs(number: u64, size: usize, payload: &[u8]) -> bool {
    !matches(number, size, payload)
}

/// Give `payload` the bytes of message `number` under a check.
#[cold]
#[inline(never)]
fn refill(number: u64, payload: &mut [u8]) {
    fill(number, payload);
}

/// Slots that checked zero-copy sends rotate through, so that bytes in flight never change.
const ZCOPY_SLOTS: usize = 16;

/// Slots that zero-copy sends need, with a check or without: payloads that are all alike go from one place, as those of
/// other layouts do.
pub fn zcopy_slots(checked: bool) -> usize {
    if checked { ZCOPY_SLOTS } else { 1 }
}

/// Hands one message to a port in one layout.
pub trait Sender {
    /// Whether what is sent is checked, and what comes back.
    type Checks: Check;

    /// Post the message of `header`.
    fn post<P: MessagePort>(&mut self, port: &mut P, peer: usize, header: u64) -> Posted;
}

/// What every message carries, `place` bytes into a cache line.
pub fn first(size: usize, place: usize) -> Placed {
    let mut payload = Placed::new(size, place);
    fill(0, payload.bytes_mut());
    payload
}

/// The payload is inlined by the call: as it is, or with `PIECES` from several pieces.
pub struct Inlined<C, const PIECES: bool> {
    payload: Placed,
    checks: C,
}

/// Layout short.
pub type Short<C> = Inlined<C, false>;
/// Layout shortiov.
pub type Shortiov<C> = Inlined<C, true>;

impl<C: Check, const PIECES: bool> Inlined<C, PIECES> {
    /// For payloads of `size` bytes, `place` bytes into a cache line.
    pub fn new(size: usize, place: usize, checks: C) -> Self {
        let payload = first(size, place);
        Inlined { payload, checks }
    }
}

impl<C: Check, const PIECES: bool> Sender for Inlined<C, PIECES> {
    type Checks = C;

    #[inline(always)]
    fn post<P: MessagePort>(&mut self, port: &mut P, peer: usize, header: u64) -> Posted {
        if C::DECIDES && self.checks.on() {
            refill(header::number(header), self.payload.bytes_mut());
        }
        match PIECES {
            true => port.send_shortiov(peer, header, self.payload.bytes()),
            false => port.send_short(peer, header, self.payload.bytes()),
        }
    }
}

/// Layout bcopy: a callback copies the payload into the transport's storage.
pub struct Bcopy<C> {
    payload: Placed,
    checks: C,
}

impl<C: Check> Bcopy<C> {
    /// For payloads of `size` bytes, `place` bytes into a cache line.
    pub fn new(size: usize, place: usize, checks: C) -> Self {
        let payload = first(size, place);
        Bcopy { payload, checks }
    }
}

impl<C: Check> Sender for Bcopy<C> {
    type Checks = C;

    #[inline(always)]
    fn post<P: MessagePort>(&mut self, port: &mut P, peer: usize, header: u64) -> Posted {
        let (payload, checks) = (self.payload.bytes(), self.checks);
        port.send_bcopy(peer, header, payload.len(), |room| {
            if C::DECIDES && checks.on() {
                refill(header::number(header), room);
            } else {
                copy(payload, room);
            }
        })
    }
}

/// Layout zcopy: the transport reads the port's registered memory.
pub struct Zcopy<C> {
    scratch: Vec<u8>,
    posted: u64,
    checks: C,
}

impl<C: Check> Zcopy<C> {
    /// For payloads of `size` bytes; the port's buffer must hold [`zcopy_slots`] of them.
    pub fn new<P: MessagePort>(size: usize, port: &mut P, checks: C) -> Self {
        let mut scratch = vec![0; size];
        fill(0, &mut scratch);
        if let Some(buffer) = port.buffer() {
            for slot in 0..zcopy_slots(C::DECIDES && checks.on()) {
                buffer.write(slot * size, &scratch);
            }
        }
        Zcopy {
            scratch,
            posted: port.zcopy_completed(),
            checks,
        }
    }
}

impl<C: Check> Sender for Zcopy<C> {
    type Checks = C;

    #[inline(always)]
    fn post<P: MessagePort>(&mut self, port: &mut P, peer: usize, header: u64) -> Posted {
        let size = self.scratch.len();
        let mut offset = 0;
        if C::DECIDES && self.checks.on() {
            let slot = self.posted as usize % ZCOPY_SLOTS;
            // Each lap begins with nothing in flight: peers complete in an order of their own, so that a count tells no place.
            if slot == 0 && port.zcopy_completed() != self.posted {
                return Ok(Post::Busy);
            }
            offset = slot * size;
            refill(header::number(header), &mut self.scratch);
            let buffer = port
                .buffer()
                .ok_or(LinkError::Unsupported("zcopy without a buffer"))?;
            buffer.write(offset, &self.scratch);
        }
        let post = port.send_zcopy(peer, header, offset, size)?;
        if post == Post::Done {
            self.posted += 1;
        }
        Ok(post)
    }
}

/// Any layout, chosen when it is made: for ports beside whose operations the choice costs nothing.
pub enum Any {
    /// Layout short.
    Short(Short<Asked>),
    /// Layout shortiov.
    Shortiov(Shortiov<Asked>),
    /// Layout bcopy.
    Bcopy(Bcopy<Asked>),
    /// Layout zcopy.
    Zcopy(Zcopy<Asked>),
}

impl Any {
    /// For payloads of `size` bytes through `port`.
    pub fn new<P: MessagePort>(layout: Layout, size: usize, port: &mut P, checks: Asked) -> Self {
        match layout {
            Layout::Short => Any::Short(Short::new(size, P::PLACE, checks)),
            Layout::Shortiov => Any::Shortiov(Shortiov::new(size, P::PLACE, checks)),
            Layout::Bcopy => Any::Bcopy(Bcopy::new(size, P::PLACE, checks)),
            Layout::Zcopy => Any::Zcopy(Zcopy::new(size, port, checks)),
        }
    }
}

impl Sender for Any {
    type Checks = Asked;

    #[inline(always)]
    fn post<P: MessagePort>(&mut self, port: &mut P, peer: usize, header: u64) -> Posted {
        match self {
            Any::Short(sender) => sender.post(port, peer, header),
            Any::Shortiov(sender) => sender.post(port, peer, header),
            Any::Bcopy(sender) => sender.post(port, peer, header),
            Any::Zcopy(sender) => sender.post(port, peer, header),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::SharedBytes;
    use crate::transport::port::OnMessage;
    use proptest::prelude::*;

    /// A port whose peers complete when they like.
    struct Peers {
        buffer: SharedBytes,
        completed: u64,
    }

    impl MessagePort for Peers {
        const ZCOPY: bool = true;

        fn send_bcopy(&mut self, _: usize, _: u64, _: usize, _: impl FnOnce(&mut [u8])) -> Posted {
            Err(LinkError::Unsupported("bcopy"))
        }

        fn send_zcopy(&mut self, _: usize, _: u64, _: usize, _: usize) -> Posted {
            Ok(Post::Done)
        }

        fn zcopy_completed(&self) -> u64 {
            self.completed
        }

        fn buffer(&mut self) -> Option<&SharedBytes> {
            Some(&self.buffer)
        }

        fn poll<H: OnMessage>(&mut self, _: &mut H) -> Result<usize, LinkError> {
            Ok(0)
        }

        fn wait<H: OnMessage>(&mut self, _: &mut H) -> Result<usize, LinkError> {
            Ok(0)
        }

        fn flush(&mut self) -> Result<bool, LinkError> {
            Ok(true)
        }
    }

    #[test]
    fn what_one_peer_still_reads_is_not_overwritten_for_another() {
        const SIZE: usize = 8;
        let buffer = SharedBytes::heap(SIZE * zcopy_slots(true)).unwrap();
        let mut port = Peers { buffer, completed: 0 };
        let mut sender = Zcopy::new(SIZE, &mut port, Asked(true));
        let mut first = [0; SIZE];
        for number in 0..ZCOPY_SLOTS as u64 {
            let header = header::data(number, false);
            assert_eq!(
                sender.post(&mut port, number as usize % 2, header).unwrap(),
                Post::Done
            );
            // All but the first, whose peer is slow.
            port.completed = number;
        }
        port.buffer.read(0, &mut first);
        let next = header::data(ZCOPY_SLOTS as u64, false);
        assert_eq!(sender.post(&mut port, 1, next).unwrap(), Post::Busy);
        let mut still = [0; SIZE];
        port.buffer.read(0, &mut still);
        assert_eq!(still, first);
        port.completed += 1;
        assert_eq!(sender.post(&mut port, 1, next).unwrap(), Post::Done);
    }

    proptest! {
        #[test]
        fn a_changed_byte_is_found(number in any::<u64>(), size in 1usize..200, at in any::<prop::sample::Index>(), flip in 1u8..) {
            let mut payload = vec![0; size];
            fill(number, &mut payload);
            prop_assert!(matches(number, size, &payload));
            prop_assert!(!matches(number, size + 1, &payload));
            payload[at.index(size)] ^= flip;
            prop_assert!(!matches(number, size, &payload));
        }
    }
}
