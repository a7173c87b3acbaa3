//! Memory for the ring under loom, which tries every order in which two threads' loads and stores may be seen.
//!
//! It must never grow: each word costs the checker thousands of runs.

mod tests;

use super::Memory;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// A tiny ring of checked words. Headers and payloads are relaxed atomics, so that an old value can be read and is found
/// by value; beside each word stands a cell whose accesses the checker wants ordered, so that overwriting what the
/// other side may still be reading is found too.
#[derive(Clone)]
struct Model(Arc<Words>);

struct Words {
    data: Vec<AtomicU32>,
    owned: Vec<UnsafeCell<()>>,
    tail: AtomicUsize,
}

impl Model {
    fn new(capacity: usize) -> Self {
        Model(Arc::new(Words {
            data: (0..capacity / 4).map(|_| AtomicU32::new(0)).collect(),
            owned: (0..capacity / 4).map(|_| UnsafeCell::new(())).collect(),
            tail: AtomicUsize::new(0),
        }))
    }
}

impl Memory for Model {
    fn capacity(&self) -> usize {
        self.0.data.len() * 4
    }

    /// # Safety
    /// As the trait says; offsets are checked here.
    unsafe fn commit(&self, offset: usize) -> u32 {
        self.0.data[offset / 4].load(Ordering::Acquire)
    }

    /// # Safety
    /// As the trait says; offsets are checked here.
    unsafe fn publish(&self, offset: usize, word: u32) {
        self.0.data[offset / 4].store(word, Ordering::Release);
    }

    /// # Safety
    /// As the trait says; offsets are checked here.
    unsafe fn clear(&self, offset: usize) {
        self.0.data[offset / 4].store(0, Ordering::Relaxed);
    }

    /// # Safety
    /// As the trait says; offsets are checked here. Of a payload only the first and the last word are modelled.
    unsafe fn write(&self, offset: usize, data: &[u8]) {
        let words = data.len() / 4;
        for i in [0, words - 1] {
            let word = u32::from_ne_bytes([data[4 * i], data[4 * i + 1], data[4 * i + 2], data[4 * i + 3]]);
            self.0.owned[offset / 4 + i].with_mut(|_| ());
            self.0.data[offset / 4 + i].store(word, Ordering::Relaxed);
        }
    }

    /// # Safety
    /// As the trait says; offsets are checked here.
    unsafe fn pack(&self, offset: usize, len: usize, pack: impl FnOnce(&mut [u8])) {
        let mut copy = vec![0; len];
        pack(&mut copy);
        // SAFETY: the same range, by the caller's promise.
        unsafe { self.write(offset, &copy) }
    }

    /// # Safety
    /// As the trait says; offsets are checked here.
    unsafe fn read<R>(&self, offset: usize, len: usize, read: impl FnOnce(&[u8]) -> R) -> R {
        let words = &self.0.data[offset / 4..(offset + len) / 4];
        let load = |i: usize| {
            let word = words[i].load(Ordering::Relaxed).to_ne_bytes();
            self.0.owned[offset / 4 + i].with(|_| ());
            word
        };
        let copy = [load(0), load(words.len() - 1)].concat();
        read(&copy)
    }

    fn tail(&self) -> usize {
        self.0.tail.load(Ordering::Acquire)
    }

    fn set_tail(&self, position: usize) {
        self.0.tail.store(position, Ordering::Release);
    }
}
