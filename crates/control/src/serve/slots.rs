//! Whose turn it is: as many sessions measure at once as the server has slots, the others wait in order.
//!
//! It knows no socket; whoever waits is told through a callback.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
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
    /// The session's case runs now.
    running: bool,
    ends_at: Option<Instant>,
    overlapping: BTreeSet<SessionId>,
}

struct Inner {
    slots: usize,
    holders: BTreeMap<SessionId, Holder>,
    waiting: VecDeque<(SessionId, Notify)>,
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

    /// Ask for a slot. `notify` is called now and whenever something changes, until the slot is granted.
    pub(super) fn ask(&self, session: SessionId, notify: impl Fn(Turn) + Send + 'static) {
        let mut inner = self.lock();
        inner.waiting.push_back((session, Box::new(notify)));
        inner.grant();
        inner.tell_ahead();
    }

    /// Give the slot, or the place in the queue, back. Nothing happens when the session has neither.
    pub(super) fn release(&self, session: SessionId) {
        let mut inner = self.lock();
        inner.holders.remove(&session);
        inner.waiting.retain(|(waiting, _)| *waiting != session);
        inner.grant();
        inner.tell_ahead();
    }

    /// A holder's case begins; it lasts at least `planned`, where that is known.
    pub(super) fn run_begins(&self, session: SessionId, planned: Option<Duration>) {
        let mut inner = self.lock();
        let others: BTreeSet<_> = inner.running().filter(|other| *other != session).collect();
        for other in &others {
            if let Some(holder) = inner.holders.get_mut(other) {
                holder.overlapping.insert(session);
            }
        }
        if let Some(holder) = inner.holders.get_mut(&session) {
            *holder = Holder {
                running: true,
                ends_at: planned.and_then(|time| Instant::now().checked_add(time)),
                overlapping: others,
            };
        }
        inner.tell_ahead();
    }

    /// A holder's case ends; the number of other sessions whose cases ran at some time during it.
    pub(super) fn run_ends(&self, session: SessionId) -> u32 {
        let mut inner = self.lock();
        let ended = inner.holders.get_mut(&session).map(std::mem::take);
        ended.map_or(0, |holder| holder.overlapping.len() as u32)
    }

    /// Whether anybody waits.
    pub(super) fn others_wait(&self) -> bool {
        !self.lock().waiting.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn running(&self) -> impl Iterator<Item = SessionId> + '_ {
        self.holders
            .iter()
            .filter(|(_, holder)| holder.running)
            .map(|(session, _)| *session)
    }

    fn grant(&mut self) {
        while self.holders.len() < self.slots {
            let Some((session, notify)) = self.waiting.pop_front() else {
                return;
            };
            self.holders.insert(session, Holder::default());
            notify(Turn::Yours);
        }
    }

    fn tell_ahead(&self) {
        let soonest = self.holders.values().filter_map(|holder| holder.ends_at).min();
        let wait = soonest.map(|end| end.saturating_duration_since(Instant::now()).as_nanos() as u64);
        for ((_, notify), place) in self.waiting.iter().zip(0u32..) {
            notify(Turn::Ahead {
                ahead: self.holders.len() as u32 + place,
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
        let (tx, rx) = channel();
        slots.ask(session, move |turn| tx.send(turn).unwrap());
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
