//! Places for connections. Strangers must never hold them all: whoever has asked for nothing yet makes room for others, and
//! so does whoever keeps the service waiting. Whom the service keeps waiting never does.

use super::pace::Pace;
use crate::http::progress::{Progress, Wait};
use crate::sys;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a client that has asked before may be silent without making room.
const REST: Duration = Duration::from_secs(1);

/// What a connection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It has not asked for anything yet, nor proven who it is.
    Unproven,
    /// Its request is being read or answered.
    Busy,
    /// Its request was answered then.
    Idle(Instant),
}

struct Open {
    socket: TcpStream,
    state: State,
    progress: Arc<Progress>,
    pace: Pace,
}

/// All of them, the oldest first.
#[derive(Default)]
struct All {
    open: BTreeMap<u64, Open>,
    next: u64,
}

/// Places for so many connections.
#[derive(Clone)]
pub(super) struct Places {
    all: Arc<Mutex<All>>,
    max: usize,
}

/// A connection's place; free again when dropped.
pub(super) struct Place {
    places: Places,
    id: u64,
    progress: Arc<Progress>,
}

impl Places {
    pub fn new(max: usize) -> Self {
        Places {
            all: Arc::default(),
            max,
        }
    }

    /// A place for `stream`, where need be that of another one: the oldest that has not asked for anything, else the one
    /// that has been idle for longest, else the slowest that keeps the service waiting. `None`: all are busy.
    pub fn take(&self, stream: &TcpStream) -> io::Result<Option<Place>> {
        let socket = stream.try_clone()?;
        let mut all = self.all.lock();
        if all.open.len() >= self.max {
            let Some(id) = all.least() else {
                return Ok(None);
            };
            if let Some(shed) = all.open.remove(&id) {
                // It may be gone already. Its thread wakes and ends.
                let _ = shed.socket.shutdown(Shutdown::Both);
            }
        }
        let id = all.next;
        all.next += 1;
        let state = State::Unproven;
        let progress = Arc::<Progress>::default();
        let open = Open {
            socket,
            state,
            progress: progress.clone(),
            pace: Pace::default(),
        };
        all.open.insert(id, open);
        drop(all);
        let places = self.clone();
        Ok(Some(Place { places, id, progress }))
    }

    /// Look how fast everybody is: to be called several times a second.
    pub fn look(&self, now: Instant) {
        let mut all = self.all.lock();
        for open in all.open.values_mut() {
            if open.state == State::Busy {
                let sent = sys::sent(&open.socket);
                open.pace.look(&open.progress.seen(), sent, now);
            }
        }
    }
}

impl All {
    fn least(&self) -> Option<u64> {
        let unproven = self.open.iter().find(|(_, open)| open.state == State::Unproven);
        let idle = self.open.iter().filter_map(|(id, open)| {
            let since = open.idle_since().filter(|since| since.elapsed() >= REST);
            since.map(|since| (since, *id))
        });
        unproven
            .map(|(id, _)| *id)
            .or_else(|| idle.min().map(|(_, id)| id))
            .or_else(|| self.slowest())
    }

    /// Of those that are slow and waited for at present the slowest; of several, the one waited for longest.
    fn slowest(&self) -> Option<u64> {
        let slow = self.open.iter().filter_map(|(id, open)| {
            let pace = open.pace.slow().filter(|_| open.state == State::Busy)?;
            match open.progress.seen().wait {
                Some((Wait::Rest | Wait::Room, since)) => Some((pace, since, *id)),
                Some((Wait::Message, _)) | None => None,
            }
        });
        slow.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            .map(|(_, _, id)| id)
    }
}

impl Open {
    /// Since when nothing is asked: a bulk stream is busy to its end, and idle between its requests.
    fn idle_since(&self) -> Option<Instant> {
        match (self.state, self.progress.seen().wait) {
            (State::Idle(since), _) | (State::Busy, Some((Wait::Message, since))) => Some(since),
            _ => None,
        }
    }
}

impl Place {
    fn set(&self, state: State) {
        if let Some(open) = self.places.all.lock().open.get_mut(&self.id) {
            open.state = state;
        }
    }

    /// Its request is known.
    pub fn busy(&self) {
        self.set(State::Busy);
    }

    /// Its request was answered. Who was refused as a stranger remains one.
    pub fn idle(&self) {
        if let Some(open) = self.places.all.lock().open.get_mut(&self.id)
            && open.state == State::Busy
        {
            open.state = State::Idle(Instant::now());
        }
    }

    /// Where its thread tells what it waits for.
    pub fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.all.lock().open.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::net::TcpListener;

    /// Both ends of a connection.
    fn connected(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn who_asked_for_nothing_makes_room_and_who_is_busy_does_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connect = || connected(&listener);
        let places = Places::new(2);
        let (mut first, far) = connect();
        let one = places.take(&far).unwrap().unwrap();
        let (_second, far) = connect();
        let two = places.take(&far).unwrap().unwrap();
        two.busy();
        let (_third, far) = connect();
        let three = places.take(&far).unwrap().unwrap();
        assert_eq!(first.read(&mut [0; 1]).unwrap(), 0, "the oldest made room");
        three.busy();
        drop(one);
        let (_fourth, far) = connect();
        assert!(places.take(&far).unwrap().is_none(), "all are busy");
        two.idle();
        assert!(places.take(&far).unwrap().is_none(), "idle for a moment only");
        std::thread::sleep(REST);
        assert!(places.take(&far).unwrap().is_some());
    }

    #[test]
    fn who_keeps_the_service_waiting_makes_room_and_whom_it_keeps_waiting_does_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connect = || connected(&listener);
        let places = Places::new(5);
        let open: Vec<_> = (0..5).map(|_| connect()).collect();
        let held: Vec<_> = open
            .iter()
            .map(|(_, far)| places.take(far).unwrap().unwrap())
            .collect();
        let [steady, computed, slow, dead, later] = &held[..] else {
            panic!("five places")
        };
        held.iter().for_each(Place::busy);
        let (_guest, far) = connect();
        let (began, mut past_ms) = (Instant::now(), 0);
        let waits = |place: &Place, ms: u64| {
            place
                .progress
                .begins(Wait::Rest, began + Duration::from_millis(ms));
        };
        waits(dead, 0);
        waits(computed, 0);
        waits(later, 1);
        // Time passes, those who bring something do so, and a newcomer asks for a place.
        let mut at = |ms: u64| {
            for (place, bytes_per_ms) in [(steady, 20), (slow, 1)] {
                let took = ms - past_ms;
                place
                    .progress
                    .ends((took * bytes_per_ms) as usize, Duration::from_millis(took));
                waits(place, ms);
            }
            // As slow as the dead one until now, but at this moment it is the service that works.
            computed.progress.ends(0, Duration::from_millis(ms - past_ms));
            past_ms = ms;
            places.look(began + Duration::from_millis(ms));
            let guest = places.take(&far).unwrap();
            guest.iter().for_each(Place::busy);
            waits(computed, ms);
            guest
        };
        assert!(at(0).is_none() && at(900).is_none(), "too early to tell");
        let mut guests = Vec::new();
        for (ms, shed) in [(1100, dead), (1200, later), (1300, slow)] {
            guests.push(at(ms).expect("nobody made room"));
            assert!(!places.all.lock().open.contains_key(&shed.id), "after {ms} ms");
        }
        assert!(at(9000).is_none(), "only who is fast or computed for is left");
        let (mut near, _) = open.into_iter().nth(3).unwrap();
        assert_eq!(near.read(&mut [0; 1]).unwrap(), 0);
        assert!(
            places.take(&far).unwrap().is_some(),
            "nothing is computed any more"
        );
    }
}
