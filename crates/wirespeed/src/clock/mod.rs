//! The clock of the loops: ticks, read in a few nanoseconds, turned into time only after the run.
//!
//! On x86-64 with an invariant time-stamp counter a tick is a TSC tick, on aarch64 one of the virtual counter, else a
//! nanosecond of CLOCK_MONOTONIC. Reads are not fenced: a read may move by a few nanoseconds against its neighbours,
//! which no sample above the clock's step can show. No other module may read a counter.

mod counter;
mod learned;
mod step;
mod timebase;
pub mod virtual_time;

pub use step::{Found, Step};
pub use timebase::{Anchor, Timebase};

/// A source of ticks. Copy it into the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    source: Source,
}

/// What the kernel takes its time from.
const CLOCKSOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Counter,
    Os,
    Virtual,
}

impl Clock {
    /// The hardware counter where it is trustworthy, else the operating system's clock. In a thread whose time is virtual,
    /// that.
    pub fn best() -> Self {
        let source = match counter::is_invariant() && !is_distrusted() {
            _ if virtual_time::is_on() => Source::Virtual,
            true => Source::Counter,
            false => Source::Os,
        };
        Clock { source }
    }

    /// CLOCK_MONOTONIC, in nanoseconds.
    pub fn os() -> Self {
        Clock { source: Source::Os }
    }

    /// Ticks since some moment.
    #[inline(always)]
    pub fn now(self) -> u64 {
        if self.source == Source::Counter {
            counter::read()
        } else {
            other_ns(self.source)
        }
    }

    /// Whether time only moves when told to.
    pub fn is_virtual(self) -> bool {
        self.source == Source::Virtual
    }

    /// The name in results.
    pub fn source(self) -> &'static str {
        match self.source {
            Source::Counter => counter::NAME,
            Source::Os => "clock_monotonic",
            Source::Virtual => "virtual",
        }
    }
}

/// Whether the kernel has given the counter up, as where those of several sockets disagree: ticks of two threads then say nothing
/// of each other, however steady each of them is.
fn is_distrusted() -> bool {
    static DISTRUSTED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *DISTRUSTED.get_or_init(|| std::fs::read_to_string(CLOCKSOURCE).is_ok_and(|name| stands_in(&name)))
}

/// Whether a source of the kernel's is one that it takes only for want of the counter.
fn stands_in(name: &str) -> bool {
    ["hpet", "acpi_pm", "pit", "jiffies"].contains(&name.trim())
}

/// Where there is no counter: the operating system's clock, or time that only moves when told to.
#[cold]
#[inline(never)]
fn other_ns(source: Source) -> u64 {
    match source {
        Source::Virtual => virtual_time::read_ns().unwrap_or_default(),
        Source::Counter | Source::Os => monotonic_ns(),
    }
}

/// CLOCK_MONOTONIC in nanoseconds: for anchors, and the fallback clock.
#[cold]
#[inline(never)]
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    (now.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(now.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_the_kernel_gave_up_is_not_taken() {
        for (name, given_up) in [
            ("hpet\n", true),
            ("acpi_pm", true),
            ("tsc\n", false),
            ("kvm-clock\n", false),
        ] {
            assert_eq!(stands_in(name), given_up, "{name}");
        }
    }

    #[test]
    fn clocks_do_not_run_backwards() {
        for clock in [Clock::best(), Clock::os()] {
            let began = clock.now();
            let mut last = began;
            for _ in 0..10_000 {
                let now = clock.now();
                assert!(now >= last, "{}", clock.source());
                last = now;
            }
            // Ten thousand reads take longer than any clock's step.
            assert!(last > began, "{}", clock.source());
        }
    }

    #[test]
    fn each_clock_reads_what_its_name_says() {
        let (before, os, after) = (monotonic_ns(), Clock::os().now(), monotonic_ns());
        assert!(before > 0 && before <= os && os <= after, "{before} {os} {after}");
        assert_eq!(Clock::os().source(), "clock_monotonic");
        assert!(!Clock::best().is_virtual() && !Clock::os().is_virtual());
        let counter = counter::is_invariant();
        assert_eq!(Clock::best().source() == counter::NAME, counter);
        let _time = virtual_time::VirtualTime::begin();
        let clock = Clock::best();
        assert!(clock.is_virtual() && clock.source() == "virtual");
        let began = clock.now();
        virtual_time::advance(500);
        assert_eq!(clock.now(), began + 501);
    }

    /// The kernel reads the same bit.
    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
    #[test]
    fn the_counter_is_trusted_where_the_kernel_does() {
        let Ok(info) = std::fs::read_to_string("/proc/cpuinfo") else {
            return;
        };
        assert_eq!(counter::is_invariant(), info.contains("nonstop_tsc"));
    }
}
