//! What the machine itself costs, without any transport: the bounce of a cache line between two CPUs, and a memory copy.
//! They are the limits against which transports are judged.
//!
//! Nothing here may be part of a measurement; each call takes some tens of milliseconds of its own.

use crate::clock::{Clock, Timebase};
use crate::host::{HostError, pin_thread};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Bounces of one round.
const BOUNCES: u64 = 20_000;
/// Rounds; the fastest counts, because everything that disturbs one only adds.
const ROUNDS: usize = 7;
/// Bounces after which a waiting side gives its CPU away, should both share one.
const SPINS_PER_YIELD: u32 = 10_000;
/// How long copies are repeated.
const COPY_TIME: Duration = Duration::from_millis(60);
/// Bytes that are copied between two looks at the clock: a look takes as long as some kilobytes of a first cache.
const COPIED_BYTES: usize = 256 << 10;
const PAGE_BYTES: usize = 4096;

/// A cache line of its own; two, because the hardware fetches lines in pairs.
#[repr(align(128))]
struct Line(AtomicU64);

/// Time for one cache line to go from CPU `a` to CPU `b` and back, in ns: the least that a round trip of two threads
/// through shared memory can take. Minimum of several rounds.
pub fn line_round_trip_ns(a: u32, b: u32) -> Result<f64, HostError> {
    let (there, back) = (Line(AtomicU64::new(0)), Line(AtomicU64::new(0)));
    let meet = Barrier::new(2);
    std::thread::scope(|scope| {
        let echo = scope.spawn(|| -> Result<(), HostError> {
            let pinned = pin_thread(b);
            meet.wait();
            for turn in 1..=BOUNCES * ROUNDS as u64 {
                await_value(&there.0, turn);
                back.0.store(turn, Ordering::Release);
            }
            pinned.map(drop)
        });
        let pinned = pin_thread(a);
        meet.wait();
        let timebase = Timebase::start();
        let mut fastest = u64::MAX;
        for round in 0..ROUNDS as u64 {
            let start = timebase.clock.now();
            for turn in round * BOUNCES + 1..=(round + 1) * BOUNCES {
                there.0.store(turn, Ordering::Release);
                await_value(&back.0, turn);
            }
            fastest = fastest.min(timebase.clock.now().saturating_sub(start));
        }
        if let Ok(result) = echo.join() {
            result?;
        }
        pinned.map(drop)?;
        Ok(fastest as f64 * timebase.ns_per_tick() / BOUNCES as f64)
    })
}

#[inline(always)]
fn await_value(line: &AtomicU64, value: u64) {
    let mut spins = 0u32;
    while line.load(Ordering::Acquire) != value {
        spins = spins.wrapping_add(1);
        if spins.is_multiple_of(SPINS_PER_YIELD) {
            std::thread::yield_now();
        }
        core::hint::spin_loop();
    }
}

/// Speed of a memory copy of blocks of `bytes` on CPU `cpu`, in bytes copied per second. The fastest of many, between blocks
/// that begin with a page, as those of ports do.
pub fn copy_bytes_per_s(cpu: u32, bytes: usize) -> Result<f64, HostError> {
    let pinned = pin_thread(cpu)?;
    let bytes = bytes.max(1);
    let (mut from, mut to) = (vec![0x5a; bytes + PAGE_BYTES], vec![0; bytes + PAGE_BYTES]);
    let (source, target) = (in_page(&mut from, bytes), in_page(&mut to, bytes));
    let copies = (COPIED_BYTES / bytes).max(1);
    let timebase = Timebase::start();
    let clock: Clock = timebase.clock;
    let began = Instant::now();
    let mut fastest = u64::MAX;
    while began.elapsed() < COPY_TIME {
        let start = clock.now();
        for _ in 0..copies {
            target.copy_from_slice(std::hint::black_box(source));
            std::hint::black_box(&mut *target);
        }
        fastest = fastest.min(clock.now().saturating_sub(start).max(1));
    }
    drop(pinned);
    Ok((bytes * copies) as f64 * 1e9 / (fastest as f64 * timebase.ns_per_tick()))
}

/// The `bytes` of `memory` that begin with a page.
fn in_page(memory: &mut [u8], bytes: usize) -> &mut [u8] {
    let at = memory.as_ptr().align_offset(PAGE_BYTES).min(PAGE_BYTES);
    &mut memory[at..at + bytes]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::allowed_cpus;

    #[test]
    fn both_give_a_number_even_on_one_cpu() {
        let cpus = allowed_cpus();
        let (Some(first), Some(last)) = (cpus.first(), cpus.last()) else {
            return;
        };
        if first != last {
            assert!(line_round_trip_ns(*first, *last).unwrap() > 0.0);
        }
        assert!(copy_bytes_per_s(*first, 4096).unwrap() > 0.0);
        assert!(line_round_trip_ns(*first, 1 << 20).is_err());
    }
}
