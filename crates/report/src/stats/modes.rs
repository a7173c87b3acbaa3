//! Names the modes of samples: where a second one is, a mean or a median says little, and the two are told apart.

use wirespeed_schema::HistogramData;
use wirespeed_schema::histogram::bucket_middle;
use wirespeed_schema::order::InOrder;

/// Cells of the grid over the logarithm of the values.
const CELLS: usize = 512;
/// A mode holds at least this share of the samples.
const SHARE_MIN: f64 = 0.05;
/// Between two modes the density falls at least to this part of the lower one.
const VALLEY_MAX: f64 = 0.5;
/// Two modes are at least this far apart.
const RATIO_MIN: f64 = 1.15;
/// Fewer samples than this show no shape.
const SAMPLES_MIN: u64 = 40;
/// How many standard deviations of counting the valley lies below the lower mode.
const SIGNIFICANCE: f64 = 4.0;

/// One mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Median of the samples on its side of the valleys.
    pub at: f64,
    /// Share of the samples on its side of the valleys.
    pub share: f64,
}

/// The modes of a histogram, from the smallest value up; one alone where there is no second that counts. Empty below 40
/// samples.
///
/// Density on a logarithmic axis, smoothed with a normal kernel; two neighbouring peaks are modes of their own when each
/// side holds 5 % of the samples, they are 15 % apart, and the density between them falls to half of the lower one by
/// more than counting explains.
pub fn modes(data: &HistogramData) -> Vec<Mode> {
    let weighted = data.buckets.iter().map(|&(bucket, count)| {
        let middle = bucket_middle(bucket as usize).max(1) as f64 / 1000.0;
        (middle, count as f64)
    });
    modes_of(weighted.collect(), data.count)
}

fn modes_of(mut weighted: Vec<(f64, f64)>, count: u64) -> Vec<Mode> {
    weighted.retain(|(value, weight)| *value > 0.0 && *weight > 0.0);
    weighted.order_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    if count < SAMPLES_MIN || total <= 0.0 {
        return Vec::new();
    }
    // A far tail must not take the grid's resolution: it ends at the quantiles 0.2 % and 99.5 %.
    let (low, high) = (
        quantile(&weighted, 0.002 * total),
        quantile(&weighted, 0.995 * total),
    );
    let span = (high / low).ln();
    if span < RATIO_MIN.ln() {
        return vec![Mode {
            at: quantile(&weighted, 0.5 * total),
            share: 1.0,
        }];
    }
    let cell_width = span / CELLS as f64;
    let bandwidth = bandwidth(&weighted, total, span) / cell_width;
    let mut cells = vec![0.0; CELLS];
    // The last cell has its upper end: where samples have few values, many of them are the quantile itself.
    let cell_of = |value: f64| (((value / low).ln() / cell_width) as usize).min(CELLS - 1);
    weighted.retain(|(value, _)| *value >= low && *value <= high);
    let mut whole = 0.0;
    for (value, weight) in &weighted {
        cells[cell_of(*value)] += weight;
        whole += weight;
    }
    let shape = Shape {
        density: smooth(&cells, bandwidth),
        cells,
        total,
        bandwidth,
        cells_apart: RATIO_MIN.ln() / cell_width,
    };
    let peaks = shape.peaks();
    let mode = |peak: &Peak| {
        let (mut at, mut below) = (low, 0.0);
        for (value, weight) in &weighted {
            if 2.0 * below < peak.mass && cell_of(*value) >= peak.from {
                (at, below) = (*value, below + weight);
            }
        }
        Mode {
            at,
            share: peak.mass / whole,
        }
    };
    peaks.iter().map(mode).collect()
}

/// Value below which `below` of the weight lies.
fn quantile(weighted: &[(f64, f64)], below: f64) -> f64 {
    let mut seen = 0.0;
    let found = weighted.iter().find(|(_, weight)| {
        seen += weight;
        seen >= below
    });
    found.or(weighted.last()).map_or(1.0, |(value, _)| *value)
}

/// Silverman's rule on the logarithms with the smaller of two spreads, halved, so that two narrow modes are not smeared
/// into one; never below what the histogram itself resolves, never above a tenth of the span.
fn bandwidth(weighted: &[(f64, f64)], total: f64, span: f64) -> f64 {
    let mean = weighted.iter().map(|(v, w)| v.ln() * w).sum::<f64>() / total;
    let variance = weighted
        .iter()
        .map(|(v, w)| (v.ln() - mean).powi(2) * w)
        .sum::<f64>()
        / total;
    let quartiles = (quantile(weighted, 0.75 * total) / quantile(weighted, 0.25 * total)).ln() / 1.34;
    let spread = match quartiles > 0.0 {
        true => variance.sqrt().min(quartiles),
        false => variance.sqrt(),
    };
    (0.45 * spread * total.powf(-0.2)).clamp(0.01, (span / 10.0).max(0.01))
}

/// Convolution with a normal kernel of `bandwidth` cells, cut at four of them; mass that would leave is reflected.
fn smooth(cells: &[f64], bandwidth: f64) -> Vec<f64> {
    let reach = (4.0 * bandwidth).ceil() as isize;
    let kernel: Vec<f64> = (-reach..=reach)
        .map(|d| (-0.5 * (d as f64 / bandwidth).powi(2)).exp())
        .collect();
    let norm: f64 = kernel.iter().sum();
    let last = cells.len() as isize - 1;
    let mut density = vec![0.0; cells.len()];
    for (at, mass) in cells.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
        for (offset, weight) in (-reach..=reach).zip(&kernel) {
            let to = at as isize + offset;
            let reflected = if to < 0 {
                -to - 1
            } else if to > last {
                2 * last + 1 - to
            } else {
                to
            };
            density[reflected.clamp(0, last) as usize] += mass * weight / norm;
        }
    }
    density
}

#[derive(Debug, Clone, Copy)]
struct Peak {
    /// Cell of the highest density.
    at: usize,
    /// First cell on its side of the valley to the peak before.
    from: usize,
    /// Last cell on its side of the valley to the next peak.
    until: usize,
    mass: f64,
}

/// The samples on the grid.
struct Shape {
    density: Vec<f64>,
    cells: Vec<f64>,
    total: f64,
    /// In cells.
    bandwidth: f64,
    /// Modes are at least so many cells apart.
    cells_apart: f64,
}

impl Shape {
    /// Peaks of the density, merged until each counts as a mode of its own.
    fn peaks(&self) -> Vec<Peak> {
        let mut peaks = self.tops();
        // The weakest separation goes first, so that noise on a slope joins its own peak.
        while peaks.len() > 1 {
            let judged = (0..peaks.len() - 1).map(|i| (i, self.separation(&peaks[i], &peaks[i + 1])));
            let Some((weakest, strength)) = judged.min_by(|a, b| a.1.total_cmp(&b.1)) else {
                break;
            };
            if strength >= 1.0 {
                break;
            }
            let next = peaks.remove(weakest + 1);
            let merged = &mut peaks[weakest];
            if self.density[next.at] > self.density[merged.at] {
                merged.at = next.at;
            }
            merged.until = next.until;
            merged.mass += next.mass;
        }
        peaks
    }

    /// Every local maximum with the samples on its side of the valleys.
    fn tops(&self) -> Vec<Peak> {
        let density = &self.density;
        let rises = |i: usize| i == 0 || density[i] > density[i - 1];
        let falls = |i: usize| i + 1 == density.len() || density[i] >= density[i + 1];
        let tops: Vec<usize> = (0..density.len())
            .filter(|&i| density[i] > 0.0 && rises(i) && falls(i))
            .collect();
        let mut peaks: Vec<Peak> = Vec::new();
        for (index, &at) in tops.iter().enumerate() {
            let valley = |next: usize| {
                (at..=next)
                    .min_by(|&a, &b| density[a].total_cmp(&density[b]))
                    .unwrap_or(at)
            };
            let until = tops
                .get(index + 1)
                .map_or(density.len() - 1, |&next| valley(next));
            let from = peaks.last().map_or(0, |peak| peak.until + 1);
            let mass = self.cells.get(from..=until).map_or(0.0, |part| part.iter().sum());
            peaks.push(Peak {
                at,
                from,
                until,
                mass,
            });
        }
        peaks
    }

    /// 1 or more where two neighbouring peaks are modes of their own: the smallest of the criteria's ratios.
    fn separation(&self, a: &Peak, b: &Peak) -> f64 {
        let lower = self.density[a.at].min(self.density[b.at]);
        let valley = self.density[a.until];
        let depth = (1.0 - valley / lower) / (1.0 - VALLEY_MAX);
        let share = a.mass.min(b.mass) / self.total / SHARE_MIN;
        let apart = (b.at - a.at) as f64 / self.cells_apart;
        // A smoothed cell stands for the samples of about 2·√π bandwidths.
        let width = (3.545 * self.bandwidth).max(1.0);
        let (high, low) = (lower * width, valley * width);
        let counted = (high - low) / (SIGNIFICANCE * (high + low).sqrt()).max(f64::MIN_POSITIVE);
        depth.min(share).min(apart).min(counted)
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;
    use proptest::prelude::*;

    fn of(n: usize, seed: u64, law: impl Fn(&mut Random) -> f64) -> Vec<Mode> {
        let mut random = Random::new(seed);
        let values: Vec<f64> = (0..n).map(|_| law(&mut random)).collect();
        modes(&HistogramData::from_samples_ns(&values))
    }

    #[test]
    fn two_modes_are_found_with_their_shares() {
        for seed in 0..30 {
            for n in [400, 20_000] {
                let found = of(n, seed, |r| match r.uniform() < 0.71 {
                    true => 1900.0 * (0.03 * r.normal()).exp(),
                    false => 6800.0 * (0.05 * r.normal()).exp(),
                });
                assert_eq!(found.len(), 2, "seed {seed} n {n}: {found:?}");
                assert!((found[0].at / 1900.0 - 1.0).abs() < 0.05, "{found:?}");
                assert!((found[1].at / 6800.0 - 1.0).abs() < 0.06, "{found:?}");
                assert!((found[0].share - 0.71).abs() < 0.08, "{found:?}");
            }
        }
    }

    #[test]
    fn no_second_mode_is_invented() {
        type Law = fn(&mut Random) -> f64;
        let laws: [(&str, Law); 6] = [
            ("lognormal", |r| 1000.0 * (0.3 * r.normal()).exp()),
            ("narrow", |r| 1000.0 + 3.0 * r.normal()),
            ("uniform", |r| 100.0 + 900.0 * r.uniform()),
            ("exponential", |r| 500.0 + 300.0 * r.exponential()),
            ("constant with a tail", |r| {
                if r.uniform() < 0.98 {
                    700.0
                } else {
                    900.0 + 5e4 * r.uniform()
                }
            }),
            ("quantised", |r| 50.0 + (20.0 * r.exponential()).floor()),
        ];
        let mut wrong = 0;
        for (name, law) in laws {
            for seed in 0..30 {
                for n in [60, 400, 20_000] {
                    let found = of(n, seed, law);
                    wrong += usize::from(found.len() != 1);
                    assert!(found.len() <= 2, "{name} seed {seed} n {n}: {found:?}");
                }
            }
        }
        assert!(wrong <= 3, "{wrong} of 540 have a mode too many");
    }

    /// Samples of a coarse clock: two values, each of them a mode, at the very ends of the grid.
    #[test]
    fn two_values_are_two_modes() {
        for (low, high, share) in [(26.0, 52.0, 0.9), (1000.0, 3000.0, 0.5), (10.0, 12.0, 0.06)] {
            let below = (share * 1000.0) as usize;
            let mut values = vec![low; below];
            values.resize(1000, high);
            let found = modes(&HistogramData::from_samples_ns(&values));
            assert_eq!(found.len(), 2, "{low} and {high}: {found:?}");
            for (mode, expected) in found.iter().zip([(low, share), (high, 1.0 - share)]) {
                assert!((mode.at / expected.0 - 1.0).abs() < 0.002, "{found:?}");
                assert!((mode.share - expected.1).abs() < 1e-9, "{found:?}");
            }
        }
    }

    #[test]
    fn few_values_show_no_shape() {
        assert!(modes_of(vec![(1.0, 1.0); 39], 39).is_empty());
        assert_eq!(modes_of(vec![(5.0, 1.0); 60], 60).len(), 1);
        assert!(modes(&HistogramData::default()).is_empty());
    }

    #[test]
    fn what_has_no_logarithm_or_no_weight_is_left_out() {
        let good: Vec<(f64, f64)> = vec![(26.0, 90.0), (52.0, 10.0)];
        let found = modes_of(good.clone(), 100);
        assert_eq!(found.len(), 2);
        for bad in [(0.0, 5.0), (-1.0, 5.0), (99.0, 0.0), (99.0, -5.0)] {
            assert_eq!(modes_of([&good[..], &[bad]].concat(), 100), found, "{bad:?}");
        }
    }

    /// Silverman's rule by hand: 0.45 times the smaller of the deviation and the quartiles' distance over 1.34, times 8^-0.2.
    #[test]
    fn the_kernel_is_as_wide_as_the_smaller_spread() {
        let of = |logs: &[(f64, f64)], span| {
            let weighted: Vec<(f64, f64)> = logs.iter().map(|(log, weight)| (log.exp(), *weight)).collect();
            bandwidth(&weighted, 8.0, span)
        };
        let (tailed, peaked) = (
            [(-5.0, 1.0), (0.0, 3.0), (1.0, 3.0), (6.0, 1.0)],
            [(-2.0, 1.0), (0.0, 6.0), (2.0, 1.0)],
        );
        let rule = |spread: f64| 0.45 * spread * 8f64.powf(-0.2);
        for (found, expected) in [
            (of(&tailed, 11.0), rule(1.0 / 1.34)),
            (of(&peaked, 4.0), rule(1.0)),
            (of(&peaked, 1.0), 0.1),
            (of(&[(1.0, 8.0)], 1.0), 0.01),
        ] {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    /// What would leave at an end is reflected there, so that a cell's density is that of all images of its mass.
    #[test]
    fn a_mass_is_spread_by_the_normal_law_and_none_is_lost() {
        let (len, mass) = (200, 7.0);
        for (at, bandwidth) in [(100, 3.0f64), (0, 3.0), (199, 3.0), (2, 10.4), (197, 10.6)] {
            let mut cells = vec![0.0; len as usize];
            cells[at as usize] = mass;
            let reach = (4.0 * bandwidth).ceil() as i32;
            let kernel = |d: i32| match d.abs() <= reach {
                true => (-f64::from(d * d) / 2.0 / bandwidth / bandwidth).exp(),
                false => 0.0,
            };
            let whole: f64 = (-reach..=reach).map(kernel).sum();
            for (cell, density) in (0..).zip(smooth(&cells, bandwidth)) {
                let images = [cell, -1 - cell, 2 * len - 1 - cell].map(|image| kernel(image - at));
                let expected = mass * images.iter().sum::<f64>() / whole;
                assert!(
                    (density - expected).abs() < 1e-12,
                    "{at} {cell}: {density} {expected}"
                );
            }
        }
    }

    fn shape(density: Vec<f64>, bandwidth: f64, cells_apart: f64) -> Shape {
        Shape {
            cells: density.clone(),
            total: density.iter().sum(),
            density,
            bandwidth,
            cells_apart,
        }
    }

    /// By hand: depth (1 - valley / lower) / 0.5, share of 1,000 / 0.05, cells / cells apart, and
    /// (lower - valley) w / (4 √((lower + valley) w)) with w = 3.545 bandwidths.
    #[test]
    fn the_weakest_criterion_tells_how_far_peaks_are_apart() {
        let of = |heights: [f64; 3], bandwidth: f64, masses: [f64; 2], cells_apart: f64| {
            let mut shape = shape(vec![0.0; 8], bandwidth, cells_apart);
            (shape.density[1], shape.density[3], shape.density[6]) = (heights[0], heights[1], heights[2]);
            shape.total = 1000.0;
            let [a, b] = [(1, 3, masses[0]), (6, 7, masses[1])].map(|(at, until, mass)| Peak {
                at,
                from: at,
                until,
                mass,
            });
            shape.separation(&a, &b)
        };
        for (found, expected) in [
            (of([90.0, 60.0, 80.0], 100.0, [500.0, 400.0], 1.0), 0.5),
            (of([90.0, 0.0, 80.0], 100.0, [30.0, 970.0], 1.0), 0.6),
            (of([80.0, 0.0, 90.0], 100.0, [980.0, 20.0], 1.0), 0.4),
            (of([80.0, 0.0, 90.0], 100.0, [500.0, 500.0], 4.0), 1.25),
            (
                of([9.0, 1.0, 80.0], 2.0, [500.0, 500.0], 1.0),
                8.0 * 7.09 / (4.0 * 70.9f64.sqrt()),
            ),
            (
                of([9.0, 1.0, 80.0], 0.1, [500.0, 500.0], 1.0),
                8.0 / (4.0 * 10f64.sqrt()),
            ),
        ] {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    proptest! {
        /// Peaks share the cells, each the highest of its own, and stay apart; between the tops lie the valleys.
        #[test]
        fn peaks_share_the_cells(density in prop::collection::vec(1.0..1e3f64, 1..60), apart in 1.0..6.0f64) {
            let shape = shape(density, 1.0, apart);
            for (peaks, is_merged) in [(shape.tops(), false), (shape.peaks(), true)] {
                let heights = |cells: std::ops::RangeInclusive<usize>| shape.density[cells].iter().copied();
                let mut next = 0;
                for peak in &peaks {
                    prop_assert!(peak.from == next && (next..=peak.until).contains(&peak.at), "{peaks:?}");
                    let most = heights(next..=peak.until).fold(0.0, f64::max);
                    prop_assert_eq!(shape.density[peak.at], most);
                    let mass: f64 = heights(next..=peak.until).sum();
                    prop_assert!((peak.mass - mass).abs() < 1e-9 * shape.total, "{peaks:?}");
                    next = peak.until + 1;
                }
                prop_assert_eq!(next, shape.density.len());
                for pair in peaks.windows(2) {
                    let valley = shape.density[pair[0].until];
                    let is_lowest = heights(pair[0].at..=pair[1].at).all(|height| height >= valley);
                    let is_apart = shape.separation(&pair[0], &pair[1]) >= 1.0;
                    prop_assert!(if is_merged { is_apart } else { is_lowest }, "{peaks:?}");
                }
            }
        }

        #[test]
        fn shares_add_up_and_modes_rise(values in prop::collection::vec(1e-2..1e9f64, 0..300)) {
            let found = modes(&HistogramData::from_samples_ns(&values));
            let sum: f64 = found.iter().map(|m| m.share).sum();
            prop_assert!(found.is_empty() || (sum - 1.0).abs() < 1e-6);
            prop_assert!(found.windows(2).all(|pair| pair[0].at < pair[1].at));
        }
    }
}
