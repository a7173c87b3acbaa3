//! From ticks to nanoseconds: two anchors against CLOCK_MONOTONIC, one before and one after the run, so that the
//! calibration covers the measured time itself and costs nothing in it.

use super::learned::Rate;
use super::step::{self, Step};
use super::{Clock, learned, monotonic_ns};
use crate::host::work;
use wirespeed_schema::Finite;
use wirespeed_schema::host::ClockInfo;

/// Attempts at one anchor; the tightest bracket wins.
const ANCHOR_ATTEMPTS: usize = 32;
/// Shortest time between the first two anchors.
const ROUGH_NS: u64 = 2_000_000;
/// The same where a rate is known and only checked.
const CHECK_NS: u64 = 200_000;
/// A known rate holds where the check is within this part of it: brackets of 100 ns are half as much, and adjusting the
/// kernel's clock is less. One from before the machine slept is far off.
const CHECK_SLACK: f64 = 1e-3;

/// One moment on both clocks.
#[derive(Debug, Clone, Copy)]
pub struct Anchor {
    ticks: u64,
    monotonic_ns: u64,
    bracket_ticks: u64,
}

impl Anchor {
    /// Read both clocks as close together as possible.
    pub fn take(clock: Clock) -> Self {
        Self::tightest(|| clock.now(), monotonic_ns)
    }

    /// Of several looks at `ns` between two at `ticks`, that with the least time between those.
    fn tightest(mut ticks: impl FnMut() -> u64, mut ns: impl FnMut() -> u64) -> Self {
        let mut look = || {
            let before = ticks();
            let monotonic_ns = ns();
            let bracket_ticks = ticks().saturating_sub(before);
            Anchor {
                ticks: before + bracket_ticks / 2,
                monotonic_ns,
                bracket_ticks,
            }
        };
        let mut best = look();
        for _ in 1..ANCHOR_ATTEMPTS {
            let next = look();
            if next.bracket_ticks < best.bracket_ticks {
                best = next;
            }
        }
        best
    }

    /// Nanoseconds of a tick between this moment and a later one, and its error in ppm; `None` where no time has passed.
    fn rate_until(&self, last: &Anchor) -> Option<(f64, f64)> {
        let ticks = last.ticks.saturating_sub(self.ticks) as f64;
        let ns = last.monotonic_ns.saturating_sub(self.monotonic_ns) as f64;
        // Each anchor is off by at most half its bracket.
        let slack = (last.bracket_ticks as f64 + self.bracket_ticks as f64) / 2.0;
        (ticks > 0.0 && ns > 0.0).then(|| (ns / ticks, slack / ticks * 1e6))
    }
}

/// A clock with its cost, its step and its rate.
#[derive(Debug, Clone, Copy)]
pub struct Timebase {
    /// The clock.
    pub clock: Clock,
    first: Anchor,
    ns_per_tick: f64,
    error_ppm: f64,
    /// Cost of one read, median, in ticks.
    pub cost_ticks: f64,
    /// What two reads can tell apart.
    pub step: Step,
}

impl Timebase {
    /// Characterise the best clock; takes some 6 ms in the first runs of a process, and 0.3 ms in later ones.
    pub fn start() -> Self {
        Self::with_clock(Clock::best())
    }

    /// Characterise `clock`.
    pub fn with_clock(clock: Clock) -> Self {
        if clock.is_virtual() {
            return Self::of_virtual_time(clock);
        }
        let first = Anchor::take(clock);
        let cost_ticks = cost_of_read(clock);
        let step = learned::step(clock.source, || step::find(|| clock.now(), work));
        let mut timebase = Timebase {
            clock,
            first,
            ns_per_tick: 1.0,
            error_ppm: 0.0,
            cost_ticks,
            step,
        };
        timebase.calibrate();
        timebase
    }

    /// The rate that the run begins with: a known one that still holds, else one over a short while.
    fn calibrate(&mut self) {
        if let Some(known) = learned::rate(self.clock.source) {
            self.wait_until(CHECK_NS);
            self.anchor();
            if is_same_rate(self.ns_per_tick, known.ns_per_tick) {
                self.ns_per_tick = known.ns_per_tick;
                return;
            }
        }
        self.wait_until(ROUGH_NS);
        self.recalibrate();
    }

    fn wait_until(&self, since_first_ns: u64) {
        while monotonic_ns().saturating_sub(self.first.monotonic_ns) < since_first_ns {
            core::hint::spin_loop();
        }
    }

    /// A tick is a nanosecond by definition, and so is the cost of a read.
    fn of_virtual_time(clock: Clock) -> Self {
        let now = clock.now();
        Timebase {
            clock,
            first: Anchor {
                ticks: now,
                monotonic_ns: now,
                bracket_ticks: 0,
            },
            ns_per_tick: 1.0,
            error_ppm: 0.0,
            cost_ticks: 1.0,
            step: Step::DEFINED,
        }
    }

    /// Take the closing anchor: the rate now covers all the time since `start`, or more where an earlier run agrees and knows it
    /// better. The error stays that of this run.
    pub fn recalibrate(&mut self) {
        if self.clock.is_virtual() {
            return;
        }
        self.anchor();
        let found = Rate {
            ns_per_tick: self.ns_per_tick,
            error_ppm: self.error_ppm,
        };
        let best = found.or_better(learned::rate(self.clock.source));
        learned::saw_rate(self.clock.source, best);
        self.ns_per_tick = best.ns_per_tick;
    }

    /// The same, as of now.
    #[must_use]
    pub fn recalibrated(&self) -> Self {
        let mut now = *self;
        now.recalibrate();
        now
    }

    /// The rate since the first anchor.
    fn anchor(&mut self) {
        let last = Anchor::take(self.clock);
        if let Some((ns_per_tick, error_ppm)) = self.first.rate_until(&last) {
            (self.ns_per_tick, self.error_ppm) = (ns_per_tick, error_ppm);
        }
    }

    /// Nanoseconds of one tick.
    pub fn ns_per_tick(&self) -> f64 {
        self.ns_per_tick
    }

    /// `ticks` in nanoseconds, rounded.
    pub fn to_ns(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.ns_per_tick).round() as u64
    }

    /// `ns` in ticks, rounded; saturates.
    pub fn to_ticks(&self, ns: u64) -> u64 {
        (ns as f64 / self.ns_per_tick).round() as u64
    }

    /// The step in ns.
    pub fn step_ns(&self) -> f64 {
        self.step.ticks * self.ns_per_tick
    }

    /// What the result says about the clock.
    pub fn info(&self) -> ClockInfo {
        let finite = |v: f64| Finite::maybe(v).unwrap_or_default();
        ClockInfo {
            source: self.clock.source().to_owned(),
            cost_ns: finite(self.cost_ticks * self.ns_per_tick),
            step_ns: finite(self.step_ns()),
            step_found: self.step.found.name().to_owned(),
            on_step_ratio: finite(self.step.share),
            ticks_per_ns: finite(1.0 / self.ns_per_tick),
            calibration_error_ppm: finite(self.error_ppm),
        }
    }
}

/// Whether a rate that was found over a short while is one that is known.
fn is_same_rate(found: f64, known: f64) -> bool {
    (found / known - 1.0).abs() <= CHECK_SLACK
}

/// Median cost of a read over batches.
fn cost_of_read(clock: Clock) -> f64 {
    const BATCHES: usize = 101;
    const READS: usize = 64;
    let mut costs = [0u64; BATCHES];
    for cost in &mut costs {
        let start = clock.now();
        for _ in 1..READS {
            clock.now();
        }
        *cost = clock.now().saturating_sub(start);
    }
    costs.sort_unstable();
    costs[BATCHES / 2] as f64 / READS as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Found;
    use crate::clock::virtual_time::VirtualTime;
    use std::cell::Cell;

    const FIRST: Anchor = Anchor {
        ticks: 1000,
        monotonic_ns: 5000,
        bracket_ticks: 10,
    };

    /// A tick of a quarter of a nanosecond.
    fn quarter() -> Timebase {
        Timebase {
            clock: Clock::os(),
            first: FIRST,
            ns_per_tick: 0.25,
            error_ppm: 3.0,
            cost_ticks: 40.0,
            step: Step {
                ticks: 26.0,
                found: Found::Grid,
                share: 0.9,
            },
        }
    }

    #[test]
    fn the_rate_agrees_with_the_kernel() {
        let mut timebase = Timebase::start();
        let (t0, m0) = (timebase.clock.now(), monotonic_ns());
        std::thread::sleep(std::time::Duration::from_millis(20));
        let (t1, m1) = (timebase.clock.now(), monotonic_ns());
        timebase.recalibrate();
        let ratio = timebase.to_ns(t1 - t0) as f64 / (m1 - m0) as f64;
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
        assert!(timebase.step.ticks >= 1.0 && timebase.cost_ticks > 0.0);
    }

    #[test]
    fn the_tightest_of_several_looks_is_the_anchor() {
        // The look of a nanosecond takes so long; that of ticks takes none.
        let (now, looks) = (Cell::new(1000), Cell::new(0));
        let ns = || {
            let took = if looks.get() == 7 { 10 } else { 100 - looks.get() };
            looks.set(looks.get() + 1);
            now.set(now.get() + took);
            5000 + looks.get()
        };
        let anchor = Anchor::tightest(|| now.get(), ns);
        assert_eq!(looks.get(), ANCHOR_ATTEMPTS as u64);
        // Seven looks have passed, and half of the eighth.
        let before: u64 = 1000 + (0..7).map(|look| 100 - look).sum::<u64>();
        let found = (anchor.ticks, anchor.monotonic_ns, anchor.bracket_ticks);
        assert_eq!(found, (before + 5, 5008, 10));
    }

    #[test]
    fn two_anchors_are_a_rate_with_its_error() {
        let last = Anchor {
            ticks: 3000,
            monotonic_ns: 6000,
            bracket_ticks: 30,
        };
        assert_eq!(FIRST.rate_until(&last), Some((0.5, 10_000.0)));
        for still in [
            Anchor { ticks: 1000, ..last },
            Anchor {
                monotonic_ns: 5000,
                ..last
            },
            FIRST,
        ] {
            assert_eq!(FIRST.rate_until(&still), None, "{still:?}");
        }
    }

    #[test]
    fn a_known_rate_holds_within_a_thousandth() {
        for (found, holds) in [
            (0.4, true),
            (0.4003, true),
            (0.3997, true),
            (0.401, false),
            (0.399, false),
            (4.0, false),
        ] {
            assert_eq!(is_same_rate(found, 0.4), holds, "{found}");
        }
    }

    #[test]
    fn ticks_become_time_by_the_rate() {
        let timebase = quarter();
        assert_eq!((timebase.ns_per_tick(), timebase.step_ns()), (0.25, 6.5));
        assert_eq!((timebase.to_ns(10), timebase.to_ns(9)), (3, 2));
        assert_eq!(
            (timebase.to_ticks(10), timebase.to_ticks(u64::MAX)),
            (40, u64::MAX)
        );
        let info = timebase.info();
        assert_eq!(info.source, "clock_monotonic");
        assert_eq!((info.cost_ns.get(), info.step_ns.get()), (10.0, 6.5));
        assert_eq!(
            (info.step_found.as_str(), info.on_step_ratio.get()),
            ("grid", 0.9)
        );
        assert_eq!(
            (info.ticks_per_ns.get(), info.calibration_error_ppm.get()),
            (4.0, 3.0)
        );
    }

    #[test]
    fn virtual_time_is_known_by_definition() {
        let _time = VirtualTime::begin();
        assert_eq!(cost_of_read(Clock::best()), 1.0);
        let mut timebase = Timebase::start();
        timebase.recalibrate();
        assert!(timebase.clock.is_virtual());
        assert_eq!(
            (
                timebase.ns_per_tick,
                timebase.error_ppm,
                timebase.cost_ticks,
                timebase.step
            ),
            (1.0, 0.0, 1.0, Step::DEFINED)
        );
    }

    #[test]
    fn a_rate_is_found_after_a_wait() {
        let found = Timebase::with_clock(Clock::os());
        assert!((found.ns_per_tick - 1.0).abs() < 0.05, "{found:?}");
        // A call of the kernel's costs more than a tick of a nanosecond.
        assert!(found.cost_ticks > 1.0, "{found:?}");
        found.wait_until(ROUGH_NS);
        assert!(monotonic_ns() - found.first.monotonic_ns >= ROUGH_NS);
    }
}
