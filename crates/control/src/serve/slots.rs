//! Whose turn it is: as many sessions measure at once as the server has slots, the others wait in order. Sessions that share a
//! turn have one slot.
//!
//! It knows no socket; whoever waits is told through a callback.

use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

/// Number of a session.
pub(super) type SessionId = u64;

/// News for a session that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The slot is yours.
    Yours,
    /// So many are ahead, the running ones included.
    Ahead { ahead: u32, wait_ns_min: Option<u64> },
}

type Notify = Box<dyn Fn(Turn) + Send>;

#[derive(Default)]
struct Holder {
    /// What it shares its slot by.
    turn: Option<u64>,
    /// The session's case runs now.
    running: bool,
    ends_at: Option<Instant>,
    overlapping: BTreeSet<SessionId>,
}

struct Waiting {
    session: SessionId,
    turn: Option<u64>,
    notify: Notify,
}

struct Inner {
    slots: usize,
    holders: BTreeMap<SessionId, Holder>,
    waiting: VecDeque<Waiting>,
}

/// The slots of one server.
pub(super) struct Slots(Mutex<Inner>);

impl Slots {
    pub(super) fn new(slots: usize) -> Self {
        Slots(Mutex::new(Inner {
            slots,
            holders: BTreeMap::new(),
            waiting: VecDeque::new(),
        }))
    }

    /// Ask for a slot: one of its own, or that of a session with the same `turn`. `notify` is called now and whenever something
    /// changes, until the slot is granted.
    pub(super) fn ask(&self, session: SessionId, turn: Option<u64>, notify: impl Fn(Turn) + Send + 'static) {
        let mut inner = self.0.lock();
        inner.waiting.push_back(Waiting {
            session,
            turn,
            notify: Box::new(notify),
        });
        inner.grant();
        inner.tell_ahead();
    }

    /// Give the slot, or the place in the queue, back. Nothing happens when the session has neither.
    pub(super) fn release(&self, session: SessionId) {
        let mut inner = self.0.lock();
        inner.holders.remove(&session);
        inner.waiting.retain(|waiting| waiting.session != session);
        inner.grant();
        inner.tell_ahead();
    }

    /// A holder's case begins; it lasts at least `planned`, where that is known.
    pub(super) fn run_begins(&self, session: SessionId, planned: Option<Duration>) {
        let mut inner = self.0.lock();
        let others: BTreeSet<_> = inner.strangers(session).collect();
        for other in &others {
            if let Some(holder) = inner.holders.get_mut(other) {
                holder.overlapping.insert(session);
            }
        }
        if let Some(holder) = inner.holders.get_mut(&session) {
            (holder.running, holder.overlapping) = (true, others);
            holder.ends_at = planned.and_then(|time| Instant::now().checked_add(time));
        }
        inner.tell_ahead();
    }

    /// A holder's case ends; the number of other sessions whose cases ran at some time during it.
    pub(super) fn run_ends(&self, session: SessionId) -> u32 {
        let mut inner = self.0.lock();
        let Some(holder) = inner.holders.get_mut(&session) else {
            return 0;
        };
        (holder.running, holder.ends_at) = (false, None);
        std::mem::take(&mut holder.overlapping).len() as u32
    }

    /// Whether anybody waits.
    pub(super) fn others_wait(&self) -> bool {
        !self.0.lock().waiting.is_empty()
    }
}

impl Inner {
    /// Sessions that measure now, and have another turn than `session`.
    fn strangers(&self, session: SessionId) -> impl Iterator<Item = SessionId> + '_ {
        let turn = self.holders.get(&session).and_then(|holder| holder.turn);
        let others = self.holders.iter().filter(move |(other, holder)| {
            **other != session && holder.running && (turn.is_none() || holder.turn != turn)
        });
        others.map(|(other, _)| *other)
    }

    /// Slots that are taken.
    fn taken(&self) -> usize {
        let shared: BTreeSet<u64> = self.holders.values().filter_map(|holder| holder.turn).collect();
        let alone = self.holders.values().filter(|holder| holder.turn.is_none());
        shared.len() + alone.count()
    }

    fn is_held(&self, turn: Option<u64>) -> bool {
        turn.is_some() && self.holders.values().any(|holder| holder.turn == turn)
    }

    fn grant(&mut self) {
        loop {
            let shares = self.waiting.iter().position(|waiting| self.is_held(waiting.turn));
            let next = shares.or((self.taken() < self.slots).then_some(0));
            let Some(granted) = next.and_then(|at| self.waiting.remove(at)) else {
                return;
            };
            let holder = Holder {
                turn: granted.turn,
                ..Holder::default()
            };
            self.holders.insert(granted.session, holder);
            (granted.notify)(Turn::Yours);
        }
    }

    fn tell_ahead(&self) {
        let soonest = self.holders.values().filter_map(|holder| holder.ends_at).min();
        let wait = soonest.map(|end| end.saturating_duration_since(Instant::now()).as_nanos() as u64);
        let taken = self.taken() as u32;
        for (waiting, place) in self.waiting.iter().zip(0u32..) {
            (waiting.notify)(Turn::Ahead {
                ahead: taken + place,
                wait_ns_min: wait,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    fn ask(slots: &Slots, session: SessionId) -> Receiver<Turn> {
        ask_with(slots, session, None)
    }

    fn ask_with(slots: &Slots, session: SessionId, turn: Option<u64>) -> Receiver<Turn> {
        let (tx, rx) = channel();
        slots.ask(session, turn, move |turn| tx.send(turn).unwrap());
        rx
    }

    fn ahead(count: u32) -> Turn {
        Turn::Ahead {
            ahead: count,
            wait_ns_min: None,
        }
    }

    #[test]
    fn one_at_a_time_in_order() {
        let slots = Slots::new(1);
        let (first, second, third) = (ask(&slots, 1), ask(&slots, 2), ask(&slots, 3));
        assert_eq!(first.try_recv(), Ok(Turn::Yours));
        assert_eq!(second.try_recv(), Ok(ahead(1)));
        assert_eq!(third.try_recv(), Ok(ahead(2)));
        assert!(slots.others_wait());
        slots.release(2);
        assert_eq!(third.try_iter().last(), Some(ahead(1)), "one gave up");
        slots.release(1);
        assert_eq!(third.try_iter().last(), Some(Turn::Yours));
        assert!(!slots.others_wait());
    }

    #[test]
    fn overlap_counts_sessions_not_cases() {
        let slots = Slots::new(2);
        let _turns = (ask(&slots, 1), ask(&slots, 2));
        slots.run_begins(1, None);
        for _ in 0..3 {
            slots.run_begins(2, None);
            assert_eq!(slots.run_ends(2), 1);
        }
        assert_eq!(slots.run_ends(1), 1);
        slots.run_begins(1, None);
        assert_eq!(slots.run_ends(1), 0);
    }

    #[test]
    fn sessions_with_one_turn_share_a_slot_and_count_as_one() {
        let slots = Slots::new(1);
        let (first, stranger) = (ask_with(&slots, 1, Some(7)), ask(&slots, 2));
        let beside = ask_with(&slots, 3, Some(7));
        assert_eq!(first.try_recv(), Ok(Turn::Yours));
        assert_eq!(beside.try_recv(), Ok(Turn::Yours), "before whoever waits");
        assert_eq!(stranger.try_iter().last(), Some(ahead(1)));
        slots.run_begins(1, None);
        slots.run_begins(3, None);
        assert_eq!((slots.run_ends(3), slots.run_ends(1)), (0, 0), "no strangers");
        slots.release(1);
        assert_eq!(
            stranger.try_iter().last(),
            Some(ahead(1)),
            "the turn is held still"
        );
        let other = ask_with(&slots, 4, Some(8));
        assert_eq!(other.try_recv(), Ok(ahead(2)), "another turn");
        slots.release(3);
        assert_eq!(stranger.try_iter().last(), Some(Turn::Yours));
    }

    #[test]
    fn the_wait_is_told_where_it_is_known() {
        let slots = Slots::new(1);
        let _turn = ask(&slots, 1);
        slots.run_begins(1, Some(Duration::from_secs(1000)));
        let Ok(Turn::Ahead {
            wait_ns_min: Some(wait),
            ..
        }) = ask(&slots, 2).try_recv()
        else {
            panic!("no wait told");
        };
        assert!(wait > 900_000_000_000);
    }
}
