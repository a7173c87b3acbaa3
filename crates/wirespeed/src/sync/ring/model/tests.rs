//! The ring and the bell under every order of loads and stores that up to three preemptions can make.

use super::Model;
use crate::sync::doorbell;
use crate::sync::ring::{Consumer, Producer};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};

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
    // Seven lines are taken, and the word behind an eighth record is not free: it must wait for the receiver. The ninth
    // overwrites what the receiver has read in its own thread.
    exchange(512, 52, 0, 7, 2);
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
