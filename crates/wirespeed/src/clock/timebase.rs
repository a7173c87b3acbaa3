//! From ticks to nanoseconds: two anchors against CLOCK_MONOTONIC, one before and one after the run, so that the
//! calibration covers the measured time itself and costs nothing in it.

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
        let mut best: Option<Anchor> = None;
        for _ in 0..ANCHOR_ATTEMPTS {
            let before = clock.now();
            let monotonic_ns = monotonic_ns();
            let after = clock.now();
            let bracket_ticks = after.saturating_sub(before);
            if best.is_none_or(|b| bracket_ticks < b.bracket_ticks) {
                best = Some(Anchor {
                    ticks: before + bracket_ticks / 2,
                    monotonic_ns,
                    bracket_ticks,
                });
            }
        }
        best.unwrap_or(Anchor {
            ticks: clock.now(),
            monotonic_ns: monotonic_ns(),
            bracket_ticks: u64::MAX,
        })
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
            if (self.ns_per_tick / known - 1.0).abs() <= CHECK_SLACK {
                self.ns_per_tick = known;
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

    /// Take the closing anchor: the rate now covers all the time since `start`.
    pub fn recalibrate(&mut self) {
        if self.clock.is_virtual() {
            return;
        }
        self.anchor();
        learned::saw_rate(self.clock.source, self.ns_per_tick);
    }

    /// The rate since the first anchor.
    fn anchor(&mut self) {
        let last = Anchor::take(self.clock);
        let ticks = last.ticks.saturating_sub(self.first.ticks) as f64;
        let ns = last.monotonic_ns.saturating_sub(self.first.monotonic_ns) as f64;
        if ticks > 0.0 && ns > 0.0 {
            self.ns_per_tick = ns / ticks;
            // Each anchor is off by at most half its bracket.
            let slack = (last.bracket_ticks as f64 + self.first.bracket_ticks as f64) / 2.0;
            self.error_ppm = slack / ticks * 1e6;
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
}
