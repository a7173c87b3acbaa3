//! The raw cost of handing one cache line from one core to another and back: the floor under every transport that
//! moves messages through memory.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::io;

/// Batches whose median is taken.
const BATCHES: u64 = 32;

/// A line with no neighbour that anybody else uses.
#[repr(align(128))]
struct Line(AtomicU64);

/// Time for a word written on `cpu_a` to be seen on `cpu_b`, in ns: half a round trip, median over 32 batches of
/// `rounds / 32` round trips each. `now` reads a clock of `ns_per_tick`. Both ends run in threads of their own.
///
/// Errors: when a CPU cannot be pinned to. The same CPU twice is refused: the ends would wait for the scheduler.
pub fn measure_line_bounce_ns(
    cpu_a: usize,
    cpu_b: usize,
    rounds: u64,
    now: impl Fn() -> u64 + Send,
    ns_per_tick: f64,
) -> io::Result<f64> {
    if cpu_a == cpu_b {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a line bounces between two CPUs",
        ));
    }
    let per_batch = (rounds / BATCHES).max(1);
    let line = Line(AtomicU64::new(0));
    let gone = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| {
            let done = pin(cpu_b).map(|()| answer_all(&line.0, &gone, per_batch * (BATCHES + 1)));
            gone.store(true, Ordering::Release);
            done
        });
        let asked = scope.spawn(|| {
            let ticks = pin(cpu_a).map(|()| ask_all(&line.0, &gone, per_batch, now));
            gone.store(true, Ordering::Release);
            ticks
        });
        let lost = |_| io::Error::other("a thread of the line bounce panicked");
        let ticks = asked.join().map_err(lost).flatten();
        answer.join().map_err(lost).flatten()?;
        let mut ticks = ticks?;
        ticks.sort_unstable();
        let median = *ticks
            .get(ticks.len() / 2)
            .ok_or_else(|| io::Error::other("the line bounce was cut short"))?;
        Ok(median as f64 * ns_per_tick / per_batch as f64 / 2.0)
    })
}

fn pin(cpu: usize) -> io::Result<()> {
    if cpu >= rustix::thread::CpuSet::MAX_CPU {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no such CPU"));
    }
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// Wait until the line holds `value`; false when the other end is gone.
#[inline(always)]
fn await_value(line: &AtomicU64, gone: &AtomicBool, value: u64) -> bool {
    let mut polls = 0u32;
    while line.load(Ordering::Acquire) != value {
        core::hint::spin_loop();
        polls = polls.wrapping_add(1);
        if polls.is_multiple_of(1 << 16) && gone.load(Ordering::Acquire) {
            return line.load(Ordering::Acquire) == value;
        }
    }
    true
}

fn answer_all(line: &AtomicU64, gone: &AtomicBool, rounds: u64) {
    for round in 0..rounds {
        if !await_value(line, gone, 2 * round + 1) {
            return;
        }
        line.store(2 * round + 2, Ordering::Release);
    }
}

/// Ticks of every batch but the first, which warms up; fewer when the other end is gone.
fn ask_all(line: &AtomicU64, gone: &AtomicBool, per_batch: u64, now: impl Fn() -> u64) -> Vec<u64> {
    let mut ticks = Vec::with_capacity(BATCHES as usize);
    let mut round = 0;
    for batch in 0..=BATCHES {
        let start = now();
        for _ in 0..per_batch {
            line.store(2 * round + 1, Ordering::Release);
            if !await_value(line, gone, 2 * round + 2) {
                return Vec::new();
            }
            round += 1;
        }
        if batch > 0 {
            ticks.push(now().saturating_sub(start));
        }
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounces_between_two_cpus_and_refuses_nonsense() {
        let start = std::time::Instant::now();
        let now = move || start.elapsed().as_nanos() as u64;
        assert!(measure_line_bounce_ns(0, 0, 100, now, 1.0).is_err());
        assert!(measure_line_bounce_ns(0, 1 << 20, 100, now, 1.0).is_err());
        if std::thread::available_parallelism().is_ok_and(|n| n.get() >= 2) {
            assert!(measure_line_bounce_ns(0, 1, 3200, now, 1.0).unwrap() > 0.0);
        }
    }
}
