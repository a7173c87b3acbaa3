//! One-sided operations, one type each, so that the loops have no branch on the kind of operation; for ports whose
//! operations are slow, one type for all.

use super::payload::{self, Check};
use super::placed::Placed;
use super::region::Layout;
use crate::sync::{SharedBytes, copy};
use crate::transport::port::{AtomicOp, OneSidedPort, Posted, Width, WordOp};
use core::marker::PhantomData;

/// One kind of one-sided operation. `number` counts all operations of the test, from 0.
pub trait Operation {
    /// Whether what it moves is checked.
    type Checks: Check;

    /// True when completions are counted by the port (gets, zero-copy puts, fetching atomics).
    fn counted(&self) -> bool;
    /// Post operation `number`.
    fn post<P: OneSidedPort>(&mut self, port: &mut P, number: u64) -> Posted;
    /// Whether what operation `number` fetched is right; called once it has completed.
    fn verify<P: OneSidedPort>(&mut self, port: &P, number: u64) -> bool {
        let _ = (port, number);
        true
    }
}

/// The mark that a receiver waits for in the last byte: never twice the same in a row.
#[inline(always)]
pub fn mark(number: u64) -> u8 {
    (number as u8).wrapping_add(1)
}

fn fill_marked(number: u64, data: &mut [u8]) {
    payload::fill(number, data);
    if let Some(last) = data.last_mut() {
        *last = mark(number);
    }
}

/// Whether `data` is what put `number` wrote.
pub fn is_marked(number: u64, data: &[u8]) -> bool {
    let Some((last, rest)) = data.split_last() else {
        return true;
    };
    *last == mark(number) && payload::begins(number, rest)
}

const WORD_BYTES: usize = 8;

/// How the mark comes into data that are otherwise the same again and again. A word that is put is copied by one load, which
/// waits for a byte that was just written into it: so of a word all is written.
#[derive(Clone, Copy)]
struct Marker {
    /// The word's other bytes, above an empty one: turned, so that a loop does not carry a second count for the mark.
    rest: u64,
}

impl Marker {
    fn of(data: &[u8]) -> Self {
        let word = data.try_into().map_or(0, u64::from_le_bytes);
        Marker { rest: word << 8 }
    }

    /// The word of put `number`.
    #[inline(always)]
    fn word(self, number: u64) -> [u8; WORD_BYTES] {
        (self.rest | u64::from(mark(number)))
            .rotate_right(8)
            .to_le_bytes()
    }

    #[inline(always)]
    fn renew(self, number: u64, data: &mut [u8]) {
        if let Ok(word) = <&mut [u8; WORD_BYTES]>::try_from(&mut *data) {
            *word = self.word(number);
        } else if let Some(last) = data.last_mut() {
            *last = mark(number);
        }
    }
}

/// Put that is copied: from the caller's bytes, or with `PACKED` by a callback.
pub struct PutCopied<C, const PACKED: bool> {
    layout: Layout,
    data: Placed,
    marker: Marker,
    checks: C,
}

/// Put from the caller's bytes.
pub type PutShort<C> = PutCopied<C, false>;
/// Put that a callback packs.
pub type PutBcopy<C> = PutCopied<C, true>;

impl<C: Check, const PACKED: bool> PutCopied<C, PACKED> {
    /// For `layout`.
    pub fn new(layout: Layout, checks: C) -> Self {
        // Slots of a region begin at cache lines.
        let data = payload::first(layout.size, 0);
        PutCopied {
            layout,
            marker: Marker::of(data.bytes()),
            data,
            checks,
        }
    }
}

impl<C: Check, const PACKED: bool> Operation for PutCopied<C, PACKED> {
    type Checks = C;

    #[inline(always)]
    fn counted(&self) -> bool {
        false
    }

    #[inline(always)]
    fn post<P: OneSidedPort>(&mut self, port: &mut P, number: u64) -> Posted {
        let data = self.data.bytes_mut();
        match self.checks.on() {
            true => fill_marked(number, data),
            false => self.marker.renew(number, data),
        }
        let (to, data) = (self.layout.slot(number), &*data);
        match PACKED {
            true => port.put_bcopy(0, to, data.len(), |room| copy(data, room)),
            false => port.put_short(0, to, data),
        }
    }
}

/// Put from registered memory.
pub struct PutZcopy<C> {
    layout: Layout,
    data: Vec<u8>,
    marker: Marker,
    checks: C,
}

impl<C: Check> PutZcopy<C> {
    /// For `layout`.
    pub fn new(layout: Layout, checks: C) -> Self {
        let data = vec![0; layout.size];
        PutZcopy {
            layout,
            marker: Marker::of(&data),
            data,
            checks,
        }
    }
}

impl<C: Check> Operation for PutZcopy<C> {
    type Checks = C;

    #[inline(always)]
    fn counted(&self) -> bool {
        true
    }

    #[inline(always)]
    fn post<P: OneSidedPort>(&mut self, port: &mut P, number: u64) -> Posted {
        let slot = self.layout.slot(number);
        if self.checks.on() {
            fill_marked(number, &mut self.data);
            port.local().write(slot, &self.data);
        } else if self.layout.size == WORD_BYTES {
            port.local().write(slot, &self.marker.word(number));
        } else {
            port.local().store_u8(slot + self.layout.size - 1, mark(number));
        }
        port.put_zcopy(0, slot, slot, self.layout.size)
    }
}

/// Get into local memory; `ZCOPY` straight, else through the transport's storage.
pub struct Get<C, const ZCOPY: bool> {
    layout: Layout,
    checks: PhantomData<C>,
    scratch: Vec<u8>,
}

impl<C: Check, const ZCOPY: bool> Get<C, ZCOPY> {
    /// For `layout`.
    pub fn new(layout: Layout) -> Self {
        Get {
            layout,
            checks: PhantomData,
            scratch: vec![0; layout.size],
        }
    }
}

impl<C: Check, const ZCOPY: bool> Operation for Get<C, ZCOPY> {
    type Checks = C;

    #[inline(always)]
    fn counted(&self) -> bool {
        true
    }

    #[inline(always)]
    fn post<P: OneSidedPort>(&mut self, port: &mut P, number: u64) -> Posted {
        let slot = self.layout.slot(number);
        if ZCOPY {
            port.get_zcopy(0, slot, slot, self.layout.size)
        } else {
            port.get_bcopy(0, slot, slot, self.layout.size)
        }
    }

    fn verify<P: OneSidedPort>(&mut self, port: &P, number: u64) -> bool {
        let slot = number % self.layout.slots as u64;
        port.local().read(self.layout.slot(number), &mut self.scratch);
        let right = payload::matches(slot, self.layout.size, &self.scratch);
        spoil(slot, &mut self.scratch);
        port.local().write(self.layout.slot(number), &self.scratch);
        right
    }
}

/// Fill `data` with what no byte of slot `slot` is: what stays must not pass for what the next get of the slot brings.
fn spoil(slot: u64, data: &mut [u8]) {
    payload::fill(slot, data);
    data.iter_mut().for_each(|byte| *byte = !*byte);
}

/// Leave nothing in local memory that a get which brings nothing could be taken for.
pub fn prepare_to_get(layout: Layout, local: &SharedBytes) {
    fill_slots(layout, local, spoil);
}

fn fill_slots(layout: Layout, memory: &SharedBytes, fill: impl Fn(u64, &mut [u8])) {
    let mut data = vec![0; layout.size];
    for slot in 0..layout.slots as u64 {
        fill(slot, &mut data);
        memory.write(layout.slot(slot), &data);
    }
}

/// Give the target's slots the contents that gets expect.
pub fn prepare_for_gets(layout: Layout, region: &SharedBytes) {
    fill_slots(layout, region, payload::fill);
}

/// An atomic operation on the word at the start of the region; fetching ones rotate through result slots.
pub struct Atomic<C, const OP: u8> {
    checks: PhantomData<C>,
    width: Width,
    slots: u64,
}

/// [`Atomic`] of posted addition.
pub const ADD: u8 = 0;
/// [`Atomic`] of fetch-and-add.
pub const FADD: u8 = 1;
/// [`Atomic`] of swap.
pub const SWAP: u8 = 2;
/// [`Atomic`] of compare-and-swap.
pub const CSWAP: u8 = 3;

impl<C: Check, const OP: u8> Atomic<C, OP> {
    const KIND: AtomicOp = match OP {
        ADD => AtomicOp::Add,
        FADD => AtomicOp::FetchAdd,
        SWAP => AtomicOp::Swap,
        _ => AtomicOp::CompareSwap,
    };

    /// On words of `size_bytes`, with `outstanding` at once.
    pub fn new(size_bytes: u64, outstanding: u64) -> Self {
        Atomic {
            checks: PhantomData,
            width: Width::of(size_bytes),
            slots: outstanding.max(1),
        }
    }

    /// `value` as a word of this width holds it.
    fn truncated(&self, value: u64) -> u64 {
        match self.width {
            Width::W4 => value & u64::from(u32::MAX),
            Width::W8 => value,
        }
    }
}

impl<C: Check, const OP: u8> Operation for Atomic<C, OP> {
    type Checks = C;

    #[inline(always)]
    fn counted(&self) -> bool {
        OP != ADD
    }

    /// Every operation takes the word from `number` to `number + 1`, so each fetched value is known beforehand.
    #[inline(always)]
    fn post<P: OneSidedPort>(&mut self, port: &mut P, number: u64) -> Posted {
        let operand = if OP == ADD || OP == FADD { 1 } else { number + 1 };
        let slot = if self.slots == 1 {
            0
        } else {
            (number % self.slots) as usize
        };
        let asked = WordOp::new(Self::KIND, self.width, 0, operand, number, slot);
        port.atomic(0, asked)
    }

    fn verify<P: OneSidedPort>(&mut self, port: &P, number: u64) -> bool {
        port.fetched((number % self.slots) as usize) == self.truncated(number)
    }
}

/// Any operation, chosen when it is made: for ports beside whose operations the choice costs nothing.
pub enum Any<C> {
    /// Put from the caller's bytes.
    PutShort(PutShort<C>),
    /// Put that a callback packs.
    PutBcopy(PutBcopy<C>),
    /// Put from registered memory.
    PutZcopy(PutZcopy<C>),
    /// Get through the transport's storage.
    GetBcopy(Get<C, false>),
    /// Get straight into local memory.
    GetZcopy(Get<C, true>),
    /// Addition.
    Add(Atomic<C, ADD>),
    /// Fetch-and-add.
    Fadd(Atomic<C, FADD>),
    /// Swap.
    Swap(Atomic<C, SWAP>),
    /// Compare-and-swap.
    Cswap(Atomic<C, CSWAP>),
}

macro_rules! chosen {
    ($self:expr, $operation:ident => $call:expr) => {
        match $self {
            Any::PutShort($operation) => $call,
            Any::PutBcopy($operation) => $call,
            Any::PutZcopy($operation) => $call,
            Any::GetBcopy($operation) => $call,
            Any::GetZcopy($operation) => $call,
            Any::Add($operation) => $call,
            Any::Fadd($operation) => $call,
            Any::Swap($operation) => $call,
            Any::Cswap($operation) => $call,
        }
    };
}

impl<C: Check> Operation for Any<C> {
    type Checks = C;

    #[inline(always)]
    fn counted(&self) -> bool {
        chosen!(self, operation => operation.counted())
    }

    #[inline(always)]
    fn post<P: OneSidedPort>(&mut self, port: &mut P, number: u64) -> Posted {
        chosen!(self, operation => operation.post(port, number))
    }

    fn verify<P: OneSidedPort>(&mut self, port: &P, number: u64) -> bool {
        chosen!(self, operation => operation.verify(port, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_the_last_byte_and_leaves_the_others() {
        for size in 0..=17 {
            let before = payload::first(size, 0);
            let (marker, mut data) = (Marker::of(before.bytes()), before.bytes().to_vec());
            for number in [0, 1, 254, 255, 256, u64::MAX] {
                marker.renew(number, &mut data);
                if let Some((last, rest)) = data.split_last() {
                    assert_eq!((*last, rest), (mark(number), &before.bytes()[..size - 1]));
                }
            }
        }
    }
}
