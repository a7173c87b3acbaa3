//! Versions that clients write, each under a name that cannot be guessed. One that is in use must never be forgotten.

use super::files::{Denied, Root, Trouble};
use super::stage::Stage;
use crate::digest::random_hex;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A version and when its last use ended.
struct Held {
    stage: Stage,
    used: Mutex<Instant>,
}

/// A version in use, however long that takes: its age counts from the end of the last use.
pub(super) struct InUse(Arc<Held>);

impl Deref for InUse {
    type Target = Stage;

    fn deref(&self) -> &Stage {
        &self.0.stage
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        *self.0.used.lock() = Instant::now();
    }
}

/// A version that clients write by name.
struct Entry {
    path: String,
    held: Arc<Held>,
}

/// All of them.
pub(super) struct Versions {
    open: Mutex<HashMap<String, Entry>>,
    max: usize,
}

impl Versions {
    pub fn new(max: usize) -> Self {
        Versions {
            open: Mutex::default(),
            max,
        }
    }

    /// Drop those that nobody has used for as long as `life`.
    pub fn forget(&self, life: Duration) {
        // Whoever uses one holds it, and notes the time before letting go.
        self.open
            .lock()
            .retain(|_, one| Arc::strong_count(&one.held) > 1 || one.held.used.lock().elapsed() < life);
    }

    /// Begin one; its name, or `None` when there are too many.
    pub fn begin(&self, root: &Root, path: &str) -> Result<Option<String>, Denied> {
        let held = Arc::new(Held {
            stage: Stage::begin(root, path)?,
            used: Mutex::new(Instant::now()),
        });
        let id = random_hex().ok();
        let mut open = self.open.lock();
        let Some(id) = id.filter(|_| open.len() < self.max) else {
            return Ok(None);
        };
        let path = path.to_owned();
        open.insert(id.clone(), Entry { path, held });
        Ok(Some(id))
    }

    /// The version of `path` with this name.
    pub fn find(&self, id: &str, path: &str) -> Option<InUse> {
        let open = self.open.lock();
        let entry = open.get(id).filter(|entry| entry.path == path)?;
        Some(InUse(entry.held.clone()))
    }

    /// End one, in place or not; what became of it.
    pub fn end(&self, id: &str, path: &str, commits: bool) -> Result<(), Trouble> {
        let version = self.find(id, path).ok_or(Denied::Unknown)?;
        self.open.lock().remove(id);
        match commits {
            true => Ok(version.commit()?),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_ages_from_its_last_use_and_never_in_use() {
        let life = Duration::from_secs(10);
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path(), true).unwrap();
        let versions = Versions::new(1);
        let id = versions.begin(&root, "/f").ok().flatten().unwrap();
        assert!(matches!(versions.begin(&root, "/f"), Ok(None)), "too many");
        let long_ago = Instant::now().checked_sub(2 * life).unwrap();
        let used = versions.find(&id, "/f").unwrap();
        *used.0.used.lock() = long_ago;
        versions.forget(life);
        drop(used);
        versions.forget(life);
        let used = versions.find(&id, "/f").expect("its use has just ended");
        let held = used.0.clone();
        drop(used);
        *held.used.lock() = long_ago;
        drop(held);
        versions.forget(life);
        assert!(versions.find(&id, "/f").is_none());
    }
}
