//! Open streams: a position in a resource under a name that cannot be guessed. Idle ones end.

use crate::digest::random_hex;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One stream. Its own lock: two operations on one stream have an order, streams do not wait for each other.
pub(super) struct Stream {
    /// Path of the resource.
    pub path: String,
    /// The name of a version of it that is being written, instead of what is there. The stream does not keep it.
    pub version: Option<String>,
    /// Where it stands.
    pub position: u64,
    touched: Instant,
}

/// All of them.
pub(super) struct Streams {
    open: Mutex<HashMap<String, Arc<Mutex<Stream>>>>,
    max: usize,
}

impl Stream {
    /// Its life begins anew.
    pub fn touch(&mut self) {
        self.touched = Instant::now();
    }
}

impl Streams {
    pub fn new(max: usize) -> Self {
        Streams {
            open: Mutex::default(),
            max,
        }
    }

    /// End those that nobody has touched for as long as `life`.
    pub fn forget(&self, life: Duration) {
        // One in use is being touched, and its data may still be on their way.
        self.open.lock().retain(|_, stream| {
            Arc::strong_count(stream) > 1 || stream.try_lock().is_none_or(|s| s.touched.elapsed() < life)
        });
    }

    /// Open one; its name, or `None` when there are too many.
    pub fn open(&self, path: &str, version: Option<String>) -> Option<String> {
        let id = random_hex().ok()?;
        let mut open = self.open.lock();
        if open.len() >= self.max {
            return None;
        }
        let stream = Stream {
            path: path.to_owned(),
            version,
            position: 0,
            touched: Instant::now(),
        };
        open.insert(id.clone(), Arc::new(Mutex::new(stream)));
        Some(id)
    }

    /// The stream of this name.
    pub fn find(&self, id: &str) -> Option<Arc<Mutex<Stream>>> {
        let found = self.open.lock().get(id).cloned()?;
        found.lock().touch();
        Some(found)
    }

    /// End one; false when there is none.
    pub fn close(&self, id: &str) -> bool {
        self.open.lock().remove(id).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_bounded_and_end() {
        let streams = Streams::new(2);
        let one = streams.open("/a", None).unwrap();
        let two = streams.open("/a", None).unwrap();
        assert_ne!(one, two);
        assert_eq!(streams.open("/a", None), None);
        assert!(streams.close(&one) && !streams.close(&one));
        assert!(streams.find(&one).is_none());
        assert_eq!(streams.find(&two).unwrap().lock().position, 0);
        let three = streams.open("/b", None).unwrap();
        let used = streams.find(&two).unwrap();
        streams.forget(Duration::ZERO);
        assert!(streams.find(&two).is_some() && streams.find(&three).is_none());
        drop(used);
        streams.forget(Duration::from_secs(60));
        assert!(streams.find(&two).is_some());
    }
}
