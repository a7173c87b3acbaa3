//! The step of a counter: the grid that its readings lie on, estimated from many differences of reads.
//!
//! Many counters advance by more than one tick at a time, and add an odd tick now and then, so that neither the smallest
//! difference nor the commonest one (the cost of a read) is the step. The step is the period with which the differences
//! repeat: the largest s for which the mean of cos(2πd/s) over differences d is near 1 (the first trigonometric moment;
//! Mardia and Jupp, *Directional Statistics*). It must never be taken from a single read, nor read a clock of its own.

use std::f64::consts::TAU;

/// Differences taken.
const DIFFERENCES: usize = 512;
/// Reads without work between them, to see what a read costs.
const TIGHT_READS: usize = 256;
/// Least steps to see of a counter that stands still over many reads, and the most reads spent on them.
const COARSE_STEPS: usize = 16;
const COARSE_READS_MAX: usize = 1 << 20;
/// Turns of work between two reads, at most, in units of a read's cost: the differences then cover many multiples of any
/// step that could be mistaken for that cost.
const SPREAD: u64 = 8;
/// A step finer than this part of a read's cost is of no account, and is not looked for.
const FINEST_SHARE: f64 = 1.0 / 32.0;
/// First trigonometric moment from which differences are multiples of a step. Differences without a step have one near 0;
/// one read in ten that is an odd tick off a step of 26 leaves more than 0.9.
const MOMENT_MIN: f64 = 0.7;
/// A difference within this part of a step of a multiple is one.
const NEAR_SHARE: f64 = 1.0 / 8.0;

/// How a step was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The differences of reads are multiples of it.
    Grid,
    /// No grid coarser than one tick is to be seen: the step is the tick.
    Tick,
    /// It is so by definition.
    Defined,
}

impl Found {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Found::Grid => "grid",
            Found::Tick => "tick",
            Found::Defined => "defined",
        }
    }
}

/// What a counter can tell apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Length in ticks; a scaled counter's need not be whole.
    pub ticks: f64,
    /// How it was found.
    pub found: Found,
    /// Share of the differences that are multiples of it, within an eighth of a step (or a tick, where that is more).
    pub share: f64,
}

impl Step {
    /// One tick, by definition.
    pub const DEFINED: Step = Step {
        ticks: 1.0,
        found: Found::Defined,
        share: 1.0,
    };
    const TICK: Step = Step {
        ticks: 1.0,
        found: Found::Tick,
        share: 1.0,
    };
}

/// Estimate the step of the counter that `read` reads. `work` passes time, more for a larger argument.
pub fn find(mut read: impl FnMut() -> u64, mut work: impl FnMut(u64)) -> Step {
    let mut tight = differences(TIGHT_READS, &mut read, |_| {});
    tight.sort_unstable();
    let cost = tight[tight.len() / 2];
    let seen = match cost {
        0 => coarse(&mut read),
        _ => {
            let turns = turns_for(SPREAD * cost, &mut read, &mut work);
            // Weyl's sequence, by the golden ratio: evenly spread, in no order that a counter could follow.
            differences(DIFFERENCES, &mut read, |i| {
                let part = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                work((part * turns) >> 32);
            })
        }
    };
    of_differences(&seen, (cost as f64 * FINEST_SHARE).max(2.0))
}

fn differences(count: usize, read: &mut impl FnMut() -> u64, mut between: impl FnMut(usize)) -> Vec<u64> {
    let mut last = read();
    (0..count)
        .map(|i| {
            between(i);
            let now = read();
            let difference = now.saturating_sub(last);
            last = now;
            difference
        })
        .collect()
}

/// The steps of a counter that most reads find where it was.
fn coarse(read: &mut impl FnMut() -> u64) -> Vec<u64> {
    let (mut seen, mut last) = (Vec::new(), read());
    for _ in 0..COARSE_READS_MAX {
        let now = read();
        if now > last {
            seen.push(now - last);
        }
        last = now;
        // The first is cut short by the moment at which we began.
        if seen.len() > COARSE_STEPS {
            break;
        }
    }
    seen
}

/// Turns of work that take about `ticks`.
fn turns_for(ticks: u64, read: &mut impl FnMut() -> u64, work: &mut impl FnMut(u64)) -> u64 {
    let mut turns = 16;
    while turns < 1 << 20 {
        let mut took = differences(5, read, |_| work(turns));
        took.sort_unstable();
        if took[2] >= ticks {
            break;
        }
        turns *= 2;
    }
    turns
}

/// The step of at least `finest` ticks that `differences` of reads show.
fn of_differences(differences: &[u64], finest: f64) -> Step {
    let mut moved: Vec<u64> = differences.iter().copied().filter(|&d| d > 0).collect();
    moved.sort_unstable();
    let Some(&median) = moved.get(moved.len() / 2) else {
        return Step::TICK;
    };
    // What was interrupted says little, and would need the step to more digits.
    moved.retain(|&d| d <= 8 * median);
    let common = commonest(&moved);
    for parts in 1..=(common / finest) as u64 {
        let ticks = refine(&moved, common / parts as f64);
        if ticks >= finest && moment(&moved, ticks) >= MOMENT_MIN {
            return Step {
                ticks,
                found: Found::Grid,
                share: share(&moved, ticks),
            };
        }
    }
    Step::TICK
}

/// The commonest difference: of those within a tick of the mode, the mean.
fn commonest(sorted: &[u64]) -> f64 {
    let run = sorted.chunk_by(|a, b| a == b).max_by_key(|run| run.len());
    let mode = run.map_or(1, |run| run[0]);
    let near = || sorted.iter().filter(|&&d| d.abs_diff(mode) <= 1);
    near().sum::<u64>() as f64 / near().count().max(1) as f64
}

/// Least squares over the differences that are multiples of about `ticks`: Σdn / Σn², n the nearest multiple.
fn refine(differences: &[u64], ticks: f64) -> f64 {
    let (mut upper, mut lower) = (0.0, 0.0);
    for &d in differences.iter().filter(|&&d| is_near(d, ticks)) {
        let n = (d as f64 / ticks).round();
        upper += d as f64 * n;
        lower += n * n;
    }
    match lower > 0.0 {
        true => upper / lower,
        false => ticks,
    }
}

fn is_near(difference: u64, ticks: f64) -> bool {
    let off = difference as f64 - (difference as f64 / ticks).round() * ticks;
    off.abs() <= (ticks * NEAR_SHARE).max(1.0)
}

fn moment(differences: &[u64], ticks: f64) -> f64 {
    let sum: f64 = differences.iter().map(|&d| (TAU * d as f64 / ticks).cos()).sum();
    sum / differences.len().max(1) as f64
}

fn share(differences: &[u64], ticks: f64) -> f64 {
    differences.iter().filter(|&&d| is_near(d, ticks)).count() as f64 / differences.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A counter over simulated time: what it reads at a moment, and what a read costs.
    struct Simulated<F: Fn(f64) -> f64> {
        now: Cell<f64>,
        seed: Cell<u64>,
        cost: f64,
        jitter: f64,
        reading: F,
        /// One read in so many is an odd tick late.
        odd_every: u64,
        /// One read in so many is interrupted.
        interrupted_every: u64,
    }

    impl<F: Fn(f64) -> f64> Simulated<F> {
        fn new(cost: f64, reading: F) -> Self {
            Simulated {
                now: Cell::new(1e6),
                seed: Cell::new(7),
                cost,
                jitter: 0.7,
                reading,
                odd_every: u64::MAX,
                interrupted_every: 1000,
            }
        }

        fn random(&self) -> u64 {
            let next = self
                .seed
                .get()
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            self.seed.set(next);
            next >> 33
        }

        fn pass(&self, ticks: f64) {
            self.now.set(self.now.get() + ticks);
        }

        fn step(&self) -> Step {
            let read = || {
                let noise = (self.random() % 1000) as f64 / 1000.0 * self.jitter;
                let hold = if self.random().is_multiple_of(self.interrupted_every) {
                    5e4
                } else {
                    0.0
                };
                self.pass(self.cost + noise + hold);
                let odd = u64::from(self.random().is_multiple_of(self.odd_every));
                (self.reading)(self.now.get()) as u64 + odd
            };
            // A turn of a multiplication: three cycles, of a length that no tick divides.
            find(read, |turns| self.pass(turns as f64 * 2.13))
        }
    }

    fn grid(step: f64) -> impl Fn(f64) -> f64 {
        move |now| (now / step).floor() * step
    }

    fn assert_grid(found: Step, ticks: f64) {
        assert_eq!(found.found, Found::Grid, "{found:?}");
        assert!(
            (found.ticks - ticks).abs() < 0.02 * ticks,
            "{found:?} for {ticks}"
        );
        assert!((0.8..=1.0).contains(&found.share), "{found:?}");
    }

    #[test]
    fn differences_are_those_of_neighbours_and_never_below_zero() {
        let mut readings = [5, 7, 7, 4, 10].into_iter();
        let mut between = Vec::new();
        let found = differences(4, &mut || readings.next().unwrap(), |i| between.push(i));
        assert_eq!((found, between), (vec![2, 0, 0, 6], vec![0, 1, 2, 3]));
    }

    #[test]
    fn a_coarse_counter_is_read_until_it_has_moved_often() {
        let reads = Cell::new(0);
        let mut read = || {
            reads.set(reads.get() + 1);
            reads.get() / 3 * 10
        };
        assert_eq!(coarse(&mut read), vec![10; COARSE_STEPS + 1]);
        assert_eq!(reads.get(), 3 * (COARSE_STEPS as u64 + 1));
    }

    #[test]
    fn work_is_doubled_until_it_takes_long_enough() {
        let now = Cell::new(0);
        let turns = |ticks| turns_for(ticks, &mut || now.get(), &mut |turns| now.set(now.get() + turns));
        assert_eq!([1, 16, 17, 100, 128].map(turns), [16, 16, 32, 128, 128]);
        // Work that takes no time ends too.
        assert_eq!(turns_for(1, &mut || 0, &mut |_| {}), 1 << 20);
    }

    #[test]
    fn the_parts_of_the_estimate_are_what_they_say() {
        // 26 with a tick more now and then, one multiple, one that is neither.
        let seen = [26, 26, 26, 27, 39, 52];
        assert_eq!(commonest(&seen), 105.0 / 4.0);
        assert_eq!(
            [26, 27, 29, 30, 49, 48].map(|d| is_near(d, 26.0)),
            [true, true, true, false, true, false]
        );
        // Of a fine step a tick counts, too.
        assert_eq!([4, 5, 7, 6].map(|d| is_near(d, 4.0)), [true, true, true, false]);
        assert!((share(&seen, 26.0) - 5.0 / 6.0).abs() < 1e-12);
        assert_eq!(refine(&seen, 26.0), (3.0 * 26.0 + 27.0 + 2.0 * 52.0) / 8.0);
        assert_eq!(refine(&[39], 26.0), 26.0);
        assert!((moment(&[26, 52], 26.0) - 1.0).abs() < 1e-12);
        assert!((moment(&[13, 39], 26.0) + 1.0).abs() < 1e-12);
        assert_eq!((moment(&[], 26.0), share(&[], 26.0)), (0.0, 0.0));
    }

    #[test]
    fn a_step_is_no_finer_than_asked_and_interruptions_do_not_count() {
        let mut seen: Vec<u64> = (1..40).map(|n| 26 * n).collect();
        seen.extend([26; 40]);
        let found = of_differences(&seen, 2.0);
        assert_eq!((found.ticks, found.found), (26.0, Found::Grid));
        assert_eq!(of_differences(&seen, 26.0).ticks, 26.0);
        assert_eq!(of_differences(&seen, 26.1), Step::TICK);
        assert_eq!(of_differences(&[0; 20], 2.0), Step::TICK);
        // As many that are interrupted as that are not leave the step, and are no part of the share.
        let mut disturbed = vec![26; 20];
        disturbed.extend((0..19).map(|n| 10_007 + 13 * n));
        let found = of_differences(&disturbed, 2.0);
        assert_eq!((found.ticks, found.share), (26.0, 1.0));
    }

    #[test]
    fn steps_are_found_among_odd_reads() {
        for odd_every in [u64::MAX, 1000, 100, 20, 10] {
            for (cost, step) in [
                (24.0, 26.0),
                (26.0, 26.0),
                (60.0, 26.0),
                (18.0, 100.0),
                (9.0, 12.0),
            ] {
                let mut counter = Simulated::new(cost, grid(step));
                counter.odd_every = odd_every;
                assert_grid(counter.step(), step);
            }
        }
    }

    #[test]
    fn a_counter_of_single_ticks_has_no_grid_whatever_a_read_costs() {
        for cost in [3.0, 10.0, 18.0, 24.3, 26.0, 90.0, 2000.0] {
            for jitter in [0.7, 5.0, 40.0] {
                let mut counter = Simulated::new(cost, |now| now);
                counter.jitter = jitter;
                let found = counter.step();
                assert!(
                    found.ticks < 3.0,
                    "{found:?} at a cost of {cost}, jitter {jitter}"
                );
            }
        }
    }

    #[test]
    fn virtualised_counters_have_steps_that_are_not_whole() {
        // A counter of 100 MHz that a hypervisor scales to 2.595 GHz; one that costs an exit to it.
        assert_grid(
            Simulated::new(24.0, |now| ((now / 25.95).floor() * 25.95).floor()).step(),
            25.95,
        );
        assert_grid(Simulated::new(2600.0, grid(260.0)).step(), 260.0);
        assert_grid(
            Simulated::new(3000.0, |now| ((now / 279.365).floor() * 279.365).floor()).step(),
            279.365,
        );
    }

    #[test]
    fn the_kernels_clock_instead_of_a_counter() {
        // Nanoseconds; the ACPI timer behind them; the jiffies of a coarse one.
        assert!(Simulated::new(21.0, |now| now.floor()).step().ticks < 3.0);
        assert_grid(Simulated::new(900.0, grid(279.0)).step(), 279.0);
        assert_grid(Simulated::new(25.0, grid(4e6)).step(), 4e6);
    }

    #[test]
    fn a_rate_that_drifts_leaves_the_step_what_it_is() {
        for ppm in [-5000.0, -100.0, 100.0, 5000.0] {
            let drifting = move |now: f64| {
                let at = now + ppm * 1e-6 * now * (now / 1e7);
                (at / 26.0).floor() * 26.0
            };
            assert_grid(Simulated::new(24.0, drifting).step(), 26.0);
        }
    }

    #[test]
    fn a_counter_that_stands_still_ends_too() {
        assert_eq!(find(|| 42, |_| {}), Step::TICK);
        let falling = Cell::new(u64::MAX);
        let read = || {
            falling.set(falling.get() - 1);
            falling.get()
        };
        assert_eq!(find(read, |_| {}), Step::TICK);
    }
}
