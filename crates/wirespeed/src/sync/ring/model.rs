//! The ring under loom: every order in which two threads' loads and stores may be seen.

use super::{Consumer, Memory, Producer};
use crate::sync::doorbell;
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

    unsafe fn commit(&self, offset: usize) -> u32 {
        self.0.data[offset / 4].load(Ordering::Acquire)
    }

    unsafe fn publish(&self, offset: usize, word: u32) {
        self.0.data[offset / 4].store(word, Ordering::Release);
    }

    unsafe fn clear(&self, offset: usize) {
        self.0.data[offset / 4].store(0, Ordering::Relaxed);
    }

    // Of a payload only the first and the last word are modelled: each word costs the checker thousands of runs.
    unsafe fn write(&self, offset: usize, data: &[u8]) {
        let words = data.len() / 4;
        for i in [0, words - 1] {
            let word = u32::from_ne_bytes([data[4 * i], data[4 * i + 1], data[4 * i + 2], data[4 * i + 3]]);
            self.0.owned[offset / 4 + i].with_mut(|_| ());
            self.0.data[offset / 4 + i].store(word, Ordering::Relaxed);
        }
    }

    unsafe fn pack(&self, offset: usize, len: usize, pack: impl FnOnce(&mut [u8])) {
        let mut copy = vec![0; len];
        pack(&mut copy);
        // SAFETY: the same range, by the caller's promise.
        unsafe { self.write(offset, &copy) }
    }

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

/// Send `count` messages of `len` bytes from one thread to another, through a ring in which one thread before sent and
/// took `used` messages and then sent `ahead`.
fn exchange(capacity: usize, len: usize, used: u64, ahead: u64, count: u64) {
    let mut limits = loom::model::Builder::new();
    limits.preemption_bound = Some(3);
    limits.check(move || {
        let memory = Model::new(capacity);
        let mut producer = Producer::new(memory.clone());
        let mut consumer = Consumer::new(memory);
        let data = move |i: u64| vec![0x40 + i as u8; len];
        let both_ends = move |i: u64| vec![0x40 + i as u8; 8];
        for i in 0..used {
            assert!(producer.send(i, &data(i)).unwrap());
            assert!(consumer.next(|header, _| assert_eq!(header, i)).unwrap());
        }
        for i in used..used + ahead {
            assert!(producer.send(i, &data(i)).unwrap());
        }
        let sender = loom::thread::spawn(move || {
            for i in used + ahead..used + ahead + count {
                while !producer.send(i, &data(i)).unwrap() {
                    loom::thread::yield_now();
                }
            }
        });
        for i in used..used + ahead + count {
            let check = |header, payload: &[u8]| assert_eq!((header, payload), (i, &both_ends(i)[..]));
            while !consumer.next(check).unwrap() {
                loom::thread::yield_now();
            }
        }
        assert!(!consumer.next(|_, _| ()).unwrap());
        sender.join().unwrap();
    });
}

#[test]
fn loom_orders_are_kept() {
    exchange(512, 8, 0, 0, 3);
}

#[test]
fn loom_wraps_around_without_loss() {
    // Records of one line: the eighth ends the lap, the ninth overwrites the first.
    exchange(512, 52, 6, 0, 3);
}

#[test]
fn loom_skips_the_end_of_the_ring() {
    // Records of three lines: after the fifth one line is left, so the sixth begins at 0.
    exchange(1024, 150, 4, 0, 2);
}

#[test]
fn loom_waits_while_full() {
    // Seven lines are taken, and the word behind an eighth record is not free: it must wait for the receiver.
    exchange(512, 52, 0, 7, 1);
}

#[test]
fn loom_a_sleeper_is_never_missed() {
    loom::model(|| {
        let word = Arc::new(AtomicU32::new(doorbell::AWAKE));
        let record = Arc::new(AtomicU32::new(0));
        let (bell, published) = (word.clone(), record.clone());
        let sender = loom::thread::spawn(move || {
            published.store(1, Ordering::Release);
            doorbell::is_asleep(&*bell)
        });
        let sleeps = doorbell::fall_asleep(&*word, || record.load(Ordering::Acquire) == 0);
        let woken = sender.join().unwrap();
        assert!(!sleeps || woken, "the receiver sleeps and nobody wakes it");
    });
}
