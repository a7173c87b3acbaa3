//! Connections whose other end has not proven who it is: few, and the oldest makes room for the next. It must never count, nor
//! shut out, one that has.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;

struct Inside {
    most: usize,
    next: u64,
    strangers: VecDeque<(u64, TcpStream)>,
}

/// The strangers of a door, oldest first.
#[derive(Clone)]
pub(crate) struct Strangers(Arc<Mutex<Inside>>);

/// One that has not proven who it is, and makes room for others; dropped, it is known.
pub struct Stranger {
    strangers: Strangers,
    id: u64,
}

impl Strangers {
    /// A door with room for `most` strangers: more than may honestly come at once.
    pub(crate) fn new(most: usize) -> Self {
        Strangers(Arc::new(Mutex::new(Inside {
            most,
            next: 0,
            strangers: VecDeque::new(),
        })))
    }

    /// A stranger comes. When there are too many, the oldest is shown out: its thread's next read fails.
    pub(crate) fn enter(&self, stream: &TcpStream) -> io::Result<Stranger> {
        let stream = stream.try_clone()?;
        let mut inside = self.0.lock();
        if inside.strangers.len() >= inside.most
            && let Some((_, oldest)) = inside.strangers.pop_front()
        {
            // It may have gone by itself.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        inside.next += 1;
        let id = inside.next;
        inside.strangers.push_back((id, stream));
        drop(inside);
        Ok(Stranger {
            strangers: self.clone(),
            id,
        })
    }

    /// Show everybody out.
    pub(crate) fn close(&self) {
        for (_, stream) in self.0.lock().strangers.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let mut inside = self.strangers.0.lock();
        inside.strangers.retain(|(id, _)| *id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::net::TcpListener;

    const MOST: usize = 4;

    #[test]
    fn who_is_known_is_not_shown_out_for_strangers() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let strangers = Strangers::new(MOST);
        let mut ends = Vec::new();
        let come = |ends: &mut Vec<(TcpStream, TcpStream)>| {
            let far = TcpStream::connect(address).unwrap();
            let near = listener.accept().unwrap().0;
            let visitor = strangers.enter(&near).unwrap();
            ends.push((far, near));
            visitor
        };
        drop(come(&mut ends));
        let visitors: Vec<Stranger> = (0..=MOST).map(|_| come(&mut ends)).collect();
        // The first has proven itself, the second is the oldest stranger.
        let ended = |far: &mut TcpStream| {
            far.set_nonblocking(true).unwrap();
            matches!(far.read(&mut [0]), Ok(0))
        };
        let found: Vec<bool> = ends.iter_mut().take(3).map(|(far, _)| ended(far)).collect();
        assert_eq!(found, [false, true, false]);
        drop(visitors);
        assert!(strangers.0.lock().strangers.is_empty());
    }
}
