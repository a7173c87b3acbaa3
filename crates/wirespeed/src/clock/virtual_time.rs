//! Time that only moves when told to: for simulated transports, whose latencies are known exactly.
//!
//! It belongs to one thread, for as long as a guard lives. Every read of the clock takes one nanosecond of it, so that
//! loops which wait for time to pass come to their end. It must never be on in a thread that measures anything real.

use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    static NOW_NS: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Virtual time in this thread until it is dropped.
#[derive(Debug)]
pub struct VirtualTime {
    /// Time belongs to the thread that made it.
    not_send: PhantomData<*const ()>,
}

impl VirtualTime {
    /// Begin at an arbitrary moment; a second guard in the same thread goes on with the same time.
    pub fn begin() -> Self {
        NOW_NS.with(|now| now.set(now.get().or(Some(1_000_000_000))));
        VirtualTime {
            not_send: PhantomData,
        }
    }
}

impl Drop for VirtualTime {
    fn drop(&mut self) {
        NOW_NS.with(|now| now.set(None));
    }
}

/// Let `ns` pass. Nothing happens in a thread without virtual time.
#[inline]
pub fn advance(ns: u64) {
    NOW_NS.with(|now| now.set(now.get().map(|at| at.saturating_add(ns))));
}

/// Whether this thread's time is virtual.
pub fn is_on() -> bool {
    NOW_NS.with(|now| now.get().is_some())
}

/// The moment, and one nanosecond later for the next who asks; `None` without virtual time.
#[inline]
pub fn read_ns() -> Option<u64> {
    NOW_NS.with(|now| {
        let at = now.get()?;
        now.set(Some(at + 1));
        Some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_moves_when_told_and_with_every_look() {
        assert!(!is_on() && read_ns().is_none());
        {
            let _time = VirtualTime::begin();
            let start = read_ns().unwrap();
            advance(500);
            assert_eq!(read_ns(), Some(start + 501));
            let other = std::thread::spawn(is_on).join().unwrap();
            assert!(!other);
        }
        assert!(!is_on());
        advance(1);
        assert!(!is_on());
    }
}
