//! The ring against a model, between two threads, and against a peer that writes nonsense.

use super::*;
use crate::sync::SharedBytes;
use proptest::prelude::*;
use std::collections::VecDeque;

fn ring(capacity: usize) -> (Producer<RingMemory>, Consumer<RingMemory>, SharedBytes) {
    let bytes = SharedBytes::heap(RingMemory::size_bytes(capacity)).unwrap();
    let memory = RingMemory::new(bytes.clone()).unwrap();
    (Producer::new(memory.clone()), Consumer::new(memory), bytes)
}

fn pattern(seed: u64, len: usize) -> Vec<u8> {
    (0..len)
        .map(|i| (seed as usize).wrapping_mul(31).wrapping_add(i * 7) as u8)
        .collect()
}

/// Take one message; `None` when there is none.
fn take(consumer: &mut Consumer<RingMemory>) -> Result<Option<(u64, Vec<u8>)>, RingError> {
    let mut got = None;
    let any = consumer.next(|header, payload| got = Some((header, payload.to_vec())))?;
    assert_eq!(any, got.is_some());
    Ok(got)
}

#[test]
fn takes_only_memory_of_a_fitting_size() {
    for capacity in [0, 128, 300, 4096 + 64] {
        let bytes = SharedBytes::heap(RingMemory::size_bytes(capacity)).unwrap();
        assert!(RingMemory::new(bytes).is_none(), "{capacity}");
    }
    let bytes = SharedBytes::heap(RingMemory::size_bytes(4096) + 8).unwrap();
    let unaligned = bytes.slice(8, RingMemory::size_bytes(4096));
    assert!(RingMemory::new(unaligned).is_none());
}

#[test]
fn the_largest_message_always_fits_again() {
    for capacity in [1024, 4096, 65536] {
        let (mut producer, mut consumer, _bytes) = ring(capacity);
        let largest = payload_max(capacity);
        for i in 0..200u64 {
            // Lengths that end a record anywhere, so that the large one meets every place in the ring.
            let small = pattern(i, i as usize * 4 % largest);
            for data in [&small, &pattern(i + 1, largest)] {
                assert!(producer.send(i, data).unwrap(), "no room at {i} in {capacity}");
                assert_eq!(take(&mut consumer).unwrap(), Some((i, data.clone())));
            }
        }
        assert_eq!(take(&mut consumer).unwrap(), None);
        assert!(producer.send(0, &vec![0; largest + 1]).is_err());
        assert!(producer.send_packed(0, usize::MAX, |_| ()).is_err());
    }
}

#[test]
fn four_messages_of_the_size_asked_for_fit() {
    for size in [0, 8, 64, 600, 4096, 65536, 100_000] {
        let capacity = capacity_for(size).unwrap();
        assert!(size <= payload_max(capacity), "{size}");
    }
    assert_eq!(capacity_for(usize::MAX), None);
}

proptest! {
    #[test]
    fn behaves_like_a_queue(
        capacity in prop::sample::select(vec![1024usize, 2048, 8192]),
        steps in prop::collection::vec((any::<bool>(), any::<bool>(), 0usize..3000), 1..400),
    ) {
        let (mut producer, mut consumer, _bytes) = ring(capacity);
        let mut model: VecDeque<(u64, Vec<u8>)> = VecDeque::new();
        for (i, (send, pack, len)) in steps.into_iter().enumerate() {
            let header = i as u64 | 1 << 63;
            if send {
                let data = pattern(header, len % (payload_max(capacity) + 1));
                let accepted = if pack {
                    producer.send_packed(header, data.len(), |slot| slot.copy_from_slice(&data)).unwrap()
                } else {
                    producer.send(header, &data).unwrap()
                };
                // An empty ring has room for anything.
                prop_assert!(accepted || !model.is_empty());
                if accepted {
                    model.push_back((header, data));
                }
            } else {
                prop_assert_eq!(take(&mut consumer).unwrap(), model.pop_front());
            }
        }
        while let Some(expected) = model.pop_front() {
            prop_assert_eq!(take(&mut consumer).unwrap(), Some(expected));
        }
        prop_assert_eq!(take(&mut consumer).unwrap(), None);
    }

    /// Whatever a peer writes anywhere, both sides answer with an error or go on; the test would crash or hang else.
    #[test]
    fn survives_any_bytes(seed in prop::collection::vec(any::<u32>(), 64), steps in 1usize..200) {
        let (mut producer, mut consumer, bytes) = ring(1024);
        for step in 0..steps {
            let word = seed[step % seed.len()];
            let at = (word as usize >> 3) % (bytes.len() / 4) * 4;
            bytes.write(at, &seed[(step + 1) % seed.len()].to_ne_bytes());
            let _ = producer.send(step as u64, &pattern(1, word as usize % 250));
            let _ = take(&mut consumer);
        }
    }
}

#[test]
fn a_peer_that_corrupts_any_word_gets_an_error_at_most() {
    let capacity = 1024;
    let bad_words = [
        1,
        2,
        60,
        300,
        0x7fff_ffff,
        NEXT_LINE,
        NEXT_LINE | 1,
        WRAP - 1,
        WRAP,
    ];
    let mut refused = 0;
    for at in (0..RingMemory::size_bytes(capacity)).step_by(4) {
        for bad in bad_words {
            let (mut producer, mut consumer, bytes) = ring(capacity);
            for i in 0..60u64 {
                let _ = producer.send(i, &pattern(i, i as usize % 50));
                if i == 3 {
                    bytes.write(at, &bad.to_ne_bytes());
                }
                for _ in 0..2 {
                    refused += u32::from(take(&mut consumer).is_err());
                }
            }
        }
    }
    assert!(refused > 0, "no bad word was noticed");
}

#[test]
fn impossible_words_are_refused_by_name() {
    let (_, mut consumer, bytes) = ring(1024);
    let data = RingMemory::size_bytes(1024) - 1024;
    for bad in [WRAP, 300, NEXT_LINE, NEXT_LINE | 0x7fff_fffe] {
        bytes.write(data, &bad.to_ne_bytes());
        assert!(take(&mut consumer).is_err(), "{bad:#x}");
    }
    let (mut producer, _, bytes) = ring(1024);
    bytes.write(0, &u64::MAX.to_ne_bytes());
    let result = (0..100).try_for_each(|i| producer.send(i, &[0; 8]).map(drop));
    assert!(result.is_err());
}

#[test]
fn two_threads_lose_nothing() {
    for capacity in [1024, 4096, 65536] {
        let (mut producer, mut consumer, _bytes) = ring(capacity);
        let count = if cfg!(miri) { 300 } else { 100_000u64 };
        let size = move |i: u64| {
            (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % (payload_max(capacity).min(2000))
        };
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for i in 0..count {
                    let data = pattern(i, size(i));
                    while !producer.send(i, &data).unwrap() {
                        std::thread::yield_now();
                    }
                }
            });
            for i in 0..count {
                let expected = pattern(i, size(i));
                loop {
                    let mut right = true;
                    if consumer
                        .next(|header, payload| right = header == i && payload == expected)
                        .unwrap()
                    {
                        assert!(right, "message {i} arrived changed");
                        break;
                    }
                    std::thread::yield_now();
                }
            }
        });
    }
}
