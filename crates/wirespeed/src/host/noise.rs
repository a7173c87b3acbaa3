//! How quiet a CPU is: a fixed piece of work, repeated; what takes longer than the fastest turn is a detour (the
//! fixed-work-quantum benchmark). It must never pin a thread or own a clock: both are the caller's.

use std::hint::black_box;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::host::Noise;

/// The work takes at least this long, so that the clock's own step and cost stay below a percent of it.
const QUANTUM_MIN_NS: f64 = 10_000.0;
/// Tries of each length of the work; the fastest counts.
const TRIES: u32 = 5;
/// Ends the search for a length with a clock that does not advance; some 300 µs of work.
const STEPS_MAX: u64 = 1 << 17;

/// Scan the CPU of the calling thread (pinned to `cpu`, which is only noted) for about `duration_ms`. `now` reads a
/// monotonic clock in ticks of `ns_per_tick`.
///
/// `lost_ratio` = 1 - count · min / total; the longest detour is the slowest turn less the fastest.
pub fn scan(cpu: u32, now: impl Fn() -> u64, ns_per_tick: f64, duration_ms: u32) -> Noise {
    let steps = calibrate(&now, ns_per_tick);
    let duration_ns = f64::from(duration_ms) * 1e6;
    // No turn is shorter than the minimum, so a clock that stands still cannot keep us here.
    let count_max = (duration_ns / QUANTUM_MIN_NS).ceil().max(1.0) as u64;
    let first = now();
    let (mut last, mut count, mut least, mut most) = (first, 0u64, u64::MAX, 0u64);
    while count < count_max {
        work(steps);
        let read = now();
        let turn = read.saturating_sub(last);
        last = read;
        count += 1;
        least = least.min(turn);
        most = most.max(turn);
        if read.saturating_sub(first) as f64 * ns_per_tick >= duration_ns {
            break;
        }
    }
    summarise(
        (cpu, count, steps),
        [least, most, last.saturating_sub(first)],
        ns_per_tick,
    )
}

/// Steps of work that take at least the minimum.
fn calibrate(now: &impl Fn() -> u64, ns_per_tick: f64) -> u64 {
    let mut steps = 1024;
    while steps < STEPS_MAX {
        let turn = |_| {
            let start = now();
            work(steps);
            now().saturating_sub(start)
        };
        let fastest = (0..TRIES).map(turn).min().unwrap_or(0);
        if fastest as f64 * ns_per_tick >= QUANTUM_MIN_NS {
            break;
        }
        steps *= 2;
    }
    steps
}

/// A chain of six dependent operations a step (xorshift, Marsaglia 2003): no memory, nothing to run side by side. A chain of
/// multiplications would not do: a compiler makes one out of eight.
#[inline(never)]
pub(crate) fn work(steps: u64) {
    let mut x = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..steps {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    black_box(x);
}

/// `ticks`: fastest and slowest turn and the sum of all.
fn summarise((cpu, count, steps): (u32, u64, u64), ticks: [u64; 3], ns_per_tick: f64) -> Noise {
    let [least, most, total] = ticks;
    let ns = |ticks: u64| Finite::maybe(ticks as f64 * ns_per_tick).unwrap_or(Finite::ZERO);
    let lost = 1.0 - count as f64 * least as f64 / total as f64;
    Noise {
        cpu,
        count,
        quantum_ns: ns(least),
        step_ns: Finite::maybe(least as f64 * ns_per_tick / steps as f64),
        // A clock that stood still lost nothing.
        lost_ratio: Finite::maybe(lost).unwrap_or(Finite::ZERO),
        detour_max_ns: ns(most - least),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Advances by 20 µs a read; every 100th read by 120 µs.
    fn scripted() -> impl Fn() -> u64 {
        let (reads, time) = (Cell::new(0u64), Cell::new(0u64));
        move || {
            reads.set(reads.get() + 1);
            let step = if reads.get().is_multiple_of(100) { 120 } else { 20 };
            time.set(time.get() + step);
            time.get()
        }
    }

    #[test]
    fn finds_detours_in_a_scripted_clock() {
        let noise = scan(3, scripted(), 1000.0, 100);
        assert_eq!(noise.cpu, 3);
        assert_eq!(noise.quantum_ns.get(), 20_000.0);
        assert_eq!(noise.detour_max_ns.get(), 100_000.0);
        // Of 100 turns 99 take 20 and one takes 120: 100 of 2100 are lost.
        assert!(
            (noise.lost_ratio.get() - 100.0 / 2100.0).abs() < 0.01,
            "{noise:?}"
        );
        assert!((4_000..=5_000).contains(&noise.count), "{noise:?}");
    }

    #[test]
    fn a_clock_that_stands_still_ends_too() {
        let noise = scan(0, || 42, 1.0, 1);
        assert_eq!(noise.count, 100);
        assert_eq!(
            (noise.lost_ratio, noise.detour_max_ns),
            (Finite::ZERO, Finite::ZERO)
        );
    }

    #[test]
    fn nonsense_rates_stay_finite() {
        for rate in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            let _ = scan(0, scripted(), rate, 1);
        }
        assert!(scan(0, scripted(), 1000.0, 0).count >= 1);
    }

    #[test]
    fn a_real_clock_gives_a_real_quantum() {
        let start = std::time::Instant::now();
        let noise = scan(0, || start.elapsed().as_nanos() as u64, 1.0, 5);
        assert!(noise.count >= 1);
        assert!(noise.quantum_ns.get() > 0.0);
        assert!((0.0..1.0).contains(&noise.lost_ratio.get()), "{noise:?}");
    }
}
