//! Places for connections. Strangers must never hold them all: whoever has asked for nothing yet makes room for others.

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
}

impl Places {
    pub fn new(max: usize) -> Self {
        Places {
            all: Arc::default(),
            max,
        }
    }

    /// A place for `stream`, where need be that of another one: the oldest that has not asked for anything, else the one
    /// that has been idle for longest. `None`: all are busy.
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
        all.open.insert(id, Open { socket, state });
        drop(all);
        let places = self.clone();
        Ok(Some(Place { places, id }))
    }
}

impl All {
    fn least(&self) -> Option<u64> {
        let unproven = self.open.iter().find(|(_, open)| open.state == State::Unproven);
        let idle = self.open.iter().filter_map(|(id, open)| match open.state {
            State::Idle(since) if since.elapsed() >= REST => Some((since, *id)),
            _ => None,
        });
        unproven
            .map(|(id, _)| *id)
            .or_else(|| idle.min().map(|(_, id)| id))
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

    /// Its request was answered.
    pub fn idle(&self) {
        self.set(State::Idle(Instant::now()));
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

    #[test]
    fn who_asked_for_nothing_makes_room_and_who_is_busy_does_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connect = || {
            let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (near, listener.accept().unwrap().0)
        };
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
}
