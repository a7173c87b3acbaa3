//! Messages between UCX's callbacks and the engine: handed over at once while a poll waits for them, else kept.
//!
//! UCX also calls back outside of polls: when a loopback send arrives at once, or while sends are flushed. It must
//! never hold more than it was made for: a sender that could overfill it is told to wait.

use crate::options::{HEADER_BYTES, IN_FRONT_BYTES_MAX};
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::ptr::null_mut;
use wirespeed::transport::port::{LinkError, OnMessage};

/// Most memory for kept messages; what is not used is not touched. A window that fills it gets more, for its acknowledgements.
pub const KEPT_BYTES_MAX: usize = 1 << 30;
const PAGE: usize = 4096;
const LINE: usize = 64;
/// Messages kept beyond the window: acknowledgements, first and last ones.
const SPARE: usize = 64;
/// As many at least, if they are long: a window of one still has no more places than it would without.
const SPARE_MIN: usize = 3;

/// Nobody's handler, before the first poll.
pub struct Nobody;

impl OnMessage for Nobody {
    fn message(&mut self, _: usize, _: u64, _: &[u8]) {}
}

#[derive(Clone, Copy, Default)]
struct Record {
    slot: usize,
    /// `None`: in front of its bytes, and a part of `len`.
    header: Option<u64>,
    len: usize,
    /// Where its bytes are, or will be: a room's number.
    room: usize,
    /// Its bytes are there.
    is_whole: bool,
}

struct Kept {
    records: Vec<Record>,
    bytes: Vec<u8>,
    /// Numbers of rooms, of which the first `taken` are in use: the next one was used last, and is still in the caches.
    rooms: Box<[usize]>,
    taken: usize,
    size: usize,
    /// Where the first room begins, and from one to the next: where the far end's memory is aligned, copies are fastest into
    /// memory that is, too.
    start: usize,
    step: usize,
    first: usize,
    count: usize,
}

/// Places for a window of messages from each peer: a power of two, so that they are found with a mask.
fn places(size: usize, window: u64, peers: usize) -> usize {
    let window = usize::try_from(window).unwrap_or(usize::MAX);
    let of_all = |spare| window.saturating_add(spare).saturating_mul(peers.max(1));
    let fit = (KEPT_BYTES_MAX / size.max(64)).max(4);
    let least = if of_all(0) <= fit { of_all(SPARE_MIN) } else { 0 };
    of_all(SPARE).min(fit).max(least).next_power_of_two()
}

/// Where arrivals go. Shared by the port and UCX's callbacks, which run in the port's own thread.
pub struct Inbox {
    /// The handler of the poll that runs now; null outside of polls.
    on: Cell<*mut c_void>,
    handled: Cell<usize>,
    fault: Cell<Option<LinkError>>,
    kept_count: Cell<usize>,
    kept_max: usize,
    header_bytes: usize,
    kept: UnsafeCell<Kept>,
}

impl Inbox {
    /// For messages of up to `size` bytes behind a header of `header_bytes`, of which `window` may be under way from each
    /// of `peers` peers. The engine's header is at the start of the header.
    pub fn new(size: usize, window: u64, peers: usize, header_bytes: usize) -> Self {
        let count = places(size, window, peers);
        let with_header = size.min(IN_FRONT_BYTES_MAX) + HEADER_BYTES;
        let step = size.max(with_header).next_multiple_of(LINE);
        let bytes = vec![0u8; count * step + PAGE];
        Inbox {
            on: Cell::new(null_mut()),
            handled: Cell::new(0),
            fault: Cell::new(None),
            kept_count: Cell::new(0),
            kept_max: count,
            header_bytes: header_bytes.max(HEADER_BYTES),
            kept: UnsafeCell::new(Kept {
                records: vec![Record::default(); count],
                start: bytes.as_ptr().align_offset(PAGE),
                step,
                bytes,
                rooms: (0..count).collect(),
                taken: 0,
                size,
                first: 0,
                count: 0,
            }),
        }
    }

    /// Whether one more message might not find room.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.kept_count.get() >= self.kept_max
    }

    /// A message of the peer in `slot` arrived: its header, then its payload.
    ///
    /// # Safety
    /// `data` has `len` readable bytes; `H` is the type of the handler of the poll that runs now, if one does.
    #[inline(always)]
    pub unsafe fn arrived<H: OnMessage>(&self, slot: usize, data: *const u8, len: usize) {
        let header_bytes = self.header_bytes;
        if len < header_bytes {
            return self.cold_fault(LinkError::Corrupt("a message without a header"));
        }
        // SAFETY: at least eight bytes, checked above.
        let header = unsafe { data.cast::<u64>().read_unaligned() };
        // SAFETY: the rest of the message.
        let payload = unsafe { std::slice::from_raw_parts(data.add(header_bytes), len - header_bytes) };
        // SAFETY: the caller's promise about `H`.
        unsafe { self.take::<H>(slot, header, payload) };
    }

    /// As [`Inbox::arrived`], taken apart already.
    ///
    /// # Safety
    /// `H` is the type of the handler of the poll that runs now, if one does.
    #[inline(always)]
    pub unsafe fn take<H: OnMessage>(&self, slot: usize, header: u64, payload: &[u8]) {
        let on = self.on.get();
        // Whatever is kept came before.
        if on.is_null() || self.kept_count.get() > 0 {
            return self.keep(slot, header, payload);
        }
        // SAFETY: set in `open` from a live `&mut H`, which nobody else uses until `close`.
        unsafe { &mut *on.cast::<H>() }.message(slot, header, payload);
        self.handled.set(self.handled.get() + 1);
    }

    /// Run `progress` with arrivals handed to `on`; how many were, with those that had been kept. These are handed over first:
    /// they may leave no room for more.
    #[inline(always)]
    pub fn during<H: OnMessage>(&self, on: &mut H, progress: impl FnOnce()) -> Result<usize, LinkError> {
        let before = if self.kept_count.get() > 0 {
            self.deliver(on)
        } else {
            0
        };
        self.handled.set(before);
        // SAFETY: closed below, before anybody else uses `on`.
        unsafe { self.open(on) };
        progress();
        self.close();
        if self.kept_count.get() > 0 {
            let more = self.deliver(on);
            self.handled.set(self.handled.get() + more);
        }
        match self.fault.get() {
            None => Ok(self.handled.get()),
            Some(fault) => Err(fault),
        }
    }

    /// From now on arrivals are handed to `on`.
    ///
    /// # Safety
    /// Nobody else uses `on` until [`Inbox::close`], which comes before its end.
    #[inline(always)]
    pub unsafe fn open<H: OnMessage>(&self, on: &mut H) {
        self.on.set((on as *mut H).cast());
    }

    /// From now on arrivals are kept.
    #[inline(always)]
    pub fn close(&self) {
        self.on.set(null_mut());
    }

    /// What was wrong with an arrival, if anything.
    pub fn fault(&self) -> Option<LinkError> {
        self.fault.get()
    }

    /// Something is wrong with an arrival.
    #[cold]
    #[inline(never)]
    pub fn cold_fault(&self, fault: LinkError) {
        if self.fault.get().is_none() {
            self.fault.set(Some(fault));
        }
    }

    #[inline(never)]
    fn keep(&self, slot: usize, header: u64, payload: &[u8]) {
        let Some(place) = self.reserve(slot, Some(header), payload.len()) else {
            return;
        };
        // SAFETY: the room of this place, long enough for what it was reserved for; the payload is UCX's or the caller's,
        // never ours.
        unsafe { std::ptr::copy_nonoverlapping(payload.as_ptr(), self.room(place), payload.len()) };
        self.is_whole(place);
    }

    /// A place for a message whose `len` bytes will come, with the header in front of them where none is given, in its order;
    /// `None`, and a fault, when there is none.
    pub fn reserve(&self, slot: usize, header: Option<u64>, len: usize) -> Option<usize> {
        // SAFETY: one thread; no other reference into the list is alive while one of these functions runs.
        let kept = unsafe { &mut *self.kept.get() };
        let longest = match header {
            Some(_) => kept.size,
            None => kept.size.min(IN_FRONT_BYTES_MAX) + HEADER_BYTES,
        };
        if header.is_none() && len < HEADER_BYTES {
            self.cold_fault(LinkError::Corrupt("a message without a header"));
            return None;
        }
        if len > longest {
            self.cold_fault(LinkError::Corrupt("a message longer than agreed"));
            return None;
        }
        if kept.count == self.kept_max {
            self.cold_fault(LinkError::Exhausted("messages that came while none was awaited"));
            return None;
        }
        let place = (kept.first + kept.count) & (self.kept_max - 1);
        kept.records[place] = Record {
            slot,
            header,
            len,
            room: 0,
            is_whole: false,
        };
        kept.count += 1;
        self.kept_count.set(kept.count);
        Some(place)
    }

    /// Room for the bytes of the message at `place`, once for each.
    pub fn room(&self, place: usize) -> *mut u8 {
        // SAFETY: as in `reserve`.
        let kept = unsafe { &mut *self.kept.get() };
        // There are as many rooms as places.
        let room = kept.rooms[kept.taken];
        kept.taken += 1;
        kept.records[place].room = room;
        kept.bytes[kept.start + room * kept.step..].as_mut_ptr()
    }

    /// The bytes of the message at `place` are there.
    pub fn is_whole(&self, place: usize) {
        // SAFETY: as in `reserve`.
        unsafe { (&mut (*self.kept.get()).records)[place].is_whole = true };
    }

    /// Places that there are.
    pub fn places(&self) -> usize {
        self.kept_max
    }

    /// Hand over what is whole, in order.
    #[inline(never)]
    fn deliver<H: OnMessage>(&self, on: &mut H) -> usize {
        // SAFETY: one thread; the handler is the engine's and does not come back here.
        let kept = unsafe { &mut *self.kept.get() };
        let mut handled = 0;
        while kept.count > 0 && kept.records[kept.first].is_whole {
            let record = kept.records[kept.first];
            let at = kept.start + record.room * kept.step;
            let bytes = &kept.bytes[at..at + record.len];
            let (header, payload) = match (record.header, bytes.split_first_chunk()) {
                (None, Some((header, payload))) => (u64::from_ne_bytes(*header), payload),
                (header, _) => (header.unwrap_or_default(), bytes),
            };
            on.message(record.slot, header, payload);
            kept.taken -= 1;
            kept.rooms[kept.taken] = record.room;
            kept.first = (kept.first + 1) & (self.kept_max - 1);
            kept.count -= 1;
            handled += 1;
        }
        self.kept_count.set(kept.count);
        handled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Vec<(usize, u64, Vec<u8>)>);

    impl OnMessage for Seen {
        fn message(&mut self, peer: usize, header: u64, payload: &[u8]) {
            self.0.push((peer, header, payload.to_vec()));
        }
    }

    fn message(header: u64, payload: &[u8]) -> Vec<u8> {
        [&header.to_ne_bytes()[..], payload].concat()
    }

    fn arrive(inbox: &Inbox, slot: usize, bytes: &[u8]) {
        // SAFETY: a whole slice; the only handler here is `Seen`.
        unsafe { inbox.arrived::<Seen>(slot, bytes.as_ptr(), bytes.len()) }
    }

    #[test]
    fn a_window_that_fills_the_memory_leaves_room_for_its_acknowledgements() {
        for (size, window, peers, expected) in [
            (32 << 20, 32, 1, 64),
            (16 << 20, 16, 4, 128),
            (64, 1 << 10, 1, 2048),
            // No more than before where it cannot help, or is not needed.
            (1 << 30, 1, 1, 4),
            (64, 1_000_000_000, 1, 1 << 24),
        ] {
            assert_eq!(places(size, window, peers), expected, "{window} of {size} B");
        }
    }

    #[test]
    fn what_comes_early_is_kept_in_order() {
        let inbox = Inbox::new(8, 1, 1, 8);
        let mut seen = Seen::default();
        arrive(&inbox, 0, &message(1, b"a"));
        arrive(&inbox, 1, &message(2, b""));
        let handled = inbox.during(&mut seen, || arrive(&inbox, 0, &message(3, b"12345678")));
        assert_eq!(handled, Ok(3));
        let expected = [
            (0, 1, b"a".to_vec()),
            (1, 2, vec![]),
            (0, 3, b"12345678".to_vec()),
        ];
        assert_eq!(seen.0, expected);
    }

    #[test]
    fn what_comes_within_a_send_is_heard_at_once_and_in_order() {
        let inbox = Inbox::new(8, 4, 1, HEADER_BYTES);
        let mut seen = Seen::default();
        let send = |seen: &mut Seen, header| {
            // SAFETY: closed before anybody looks at what was seen.
            unsafe { inbox.open(seen) };
            arrive(&inbox, 0, &message(header, b"a"));
            inbox.close();
            seen.0.len()
        };
        assert_eq!(send(&mut seen, 1), 1);
        arrive(&inbox, 0, &message(2, b"b"));
        // Another one that came before is still kept.
        assert_eq!(send(&mut seen, 3), 1);
        assert_eq!(inbox.during(&mut seen, || ()), Ok(2));
        assert_eq!(send(&mut seen, 4), 4);
        let headers: Vec<u64> = seen.0.iter().map(|m| m.1).collect();
        assert_eq!(headers, [1, 2, 3, 4]);
    }

    #[test]
    fn a_poll_of_a_full_inbox_makes_room_before_more_arrives() {
        let inbox = Inbox::new(8, 1, 1, 8);
        let mut seen = Seen::default();
        while !inbox.is_full() {
            arrive(&inbox, 0, &message(1, b"a"));
        }
        let handled = inbox.during(&mut seen, || arrive(&inbox, 0, &message(2, b"b")));
        assert_eq!(handled, Ok(inbox.places() + 1));
        assert_eq!(seen.0.last(), Some(&(0, 2, b"b".to_vec())));
    }

    #[test]
    fn a_longer_header_begins_with_the_engines() {
        let inbox = Inbox::new(8, 1, 1, 24);
        let mut seen = Seen::default();
        arrive(&inbox, 0, &message(7, b"0123456789abcdefdata"));
        assert_eq!(inbox.during(&mut seen, || ()), Ok(1));
        assert_eq!(seen.0, [(0, 7, b"data".to_vec())]);
        arrive(&inbox, 0, &message(7, b"0123456789abcde"));
        assert!(matches!(inbox.fault(), Some(LinkError::Corrupt(_))));
    }

    #[test]
    fn nothing_overtakes_a_message_whose_bytes_are_on_their_way() {
        let inbox = Inbox::new(8, 1, 1, 8);
        let mut seen = Seen::default();
        let mut place = 0;
        let handled = inbox.during(&mut seen, || {
            arrive(&inbox, 0, &message(1, b"a"));
            place = inbox.reserve(0, Some(2), 0).unwrap();
            inbox.room(place);
            arrive(&inbox, 0, &message(3, b"c"));
        });
        assert_eq!(handled, Ok(1));
        let handled = inbox.during(&mut seen, || inbox.is_whole(place));
        assert_eq!(handled, Ok(2));
        let headers: Vec<u64> = seen.0.iter().map(|m| m.1).collect();
        assert_eq!(headers, [1, 2, 3]);
    }

    #[test]
    fn a_header_may_come_in_front_of_bytes_that_are_on_their_way() {
        let inbox = Inbox::new(8, 1, 1, 8);
        let mut seen = Seen::default();
        let bytes = message(7, b"12345678");
        let place = inbox.reserve(0, None, bytes.len()).unwrap();
        // SAFETY: room for so many bytes, and nobody else writes it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), inbox.room(place), bytes.len()) };
        inbox.is_whole(place);
        assert_eq!(inbox.during(&mut seen, || ()), Ok(1));
        assert_eq!(seen.0, [(0, 7, b"12345678".to_vec())]);
        for wrong in [HEADER_BYTES - 1, bytes.len() + 1] {
            let inbox = Inbox::new(8, 1, 1, 8);
            assert_eq!(inbox.reserve(0, None, wrong), None);
            assert!(matches!(inbox.fault(), Some(LinkError::Corrupt(_))));
        }
        // No longer ones than the sender puts a header in front of.
        let long = Inbox::new(1 << 20, 1, 1, 8);
        assert!(long.reserve(0, None, IN_FRONT_BYTES_MAX + HEADER_BYTES).is_some());
        assert_eq!(long.reserve(0, None, IN_FRONT_BYTES_MAX + HEADER_BYTES + 1), None);
    }

    #[test]
    fn the_room_that_was_free_last_is_taken_first() {
        let inbox = Inbox::new(8, 1, 1, 8);
        let mut seen = Seen::default();
        let taken = || {
            let place = inbox.reserve(0, Some(1), 0).unwrap();
            let room = inbox.room(place);
            (place, room)
        };
        let (first, room) = taken();
        let (second, other) = taken();
        assert_ne!(room, other);
        inbox.is_whole(first);
        inbox.is_whole(second);
        assert_eq!(inbox.during(&mut seen, || ()), Ok(2));
        assert_eq!([taken().1, taken().1], [other, room]);
    }

    #[test]
    fn what_breaks_the_format_is_a_fault() {
        let mut seen = Seen::default();
        let short = Inbox::new(8, 1, 1, 8);
        arrive(&short, 0, b"1234567");
        assert!(matches!(
            short.during(&mut seen, || ()),
            Err(LinkError::Corrupt(_))
        ));
        let long = Inbox::new(2, 1, 1, 8);
        arrive(&long, 0, &message(1, b"abc"));
        assert!(matches!(
            long.during(&mut seen, || ()),
            Err(LinkError::Corrupt(_))
        ));
        let full = Inbox::new(0, 1, 1, 8);
        while !full.is_full() {
            arrive(&full, 0, &message(1, b""));
        }
        assert_eq!(full.fault(), None);
        arrive(&full, 0, &message(1, b""));
        assert!(matches!(
            full.during(&mut seen, || ()),
            Err(LinkError::Exhausted(_))
        ));
        assert!(seen.0.iter().all(|m| m.2.is_empty()));
    }
}
