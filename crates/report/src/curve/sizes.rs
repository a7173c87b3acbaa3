//! Time against message size: straight pieces T = a + s/b, and the sizes at which one turns into the next.

use crate::fit::{Hockney, Observation, hockney};
use crate::stats::LEVEL;
use crate::thresholds::{CHANGE_MIN, FIT_POINTS_MIN, FIT_RESIDUAL_MAX};
use wirespeed_schema::order::InOrder;

/// The time of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizePoint {
    /// Message size.
    pub size_bytes: u64,
    /// Time of a message of that size.
    pub time_ns: f64,
    /// How well it is known: half of its interval's width over it; `None` where nobody knows.
    pub uncertainty_ratio: Option<f64>,
}

/// A piece on which one line holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// First size.
    pub from_bytes: u64,
    /// Last size.
    pub to_bytes: u64,
    /// The line, with intervals and residuals.
    pub fit: Hockney,
    /// Root mean square of the relative residuals.
    pub residual_ratio: f64,
    /// Points of the piece.
    pub points: Vec<SizePoint>,
}

/// What may be told of a piece: a model with parameters that a path can have, enough points and small residuals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Model {
    /// T = a + s/b.
    Line {
        /// a.
        latency_ns: f64,
        /// b.
        bandwidth_bytes_per_s: f64,
    },
    /// T = s/b.
    Proportional {
        /// b.
        bandwidth_bytes_per_s: f64,
    },
    /// T = a.
    Flat {
        /// a.
        latency_ns: f64,
    },
}

impl Model {
    /// The time that the model gives for `size_bytes`: never below zero.
    pub fn time_ns(&self, size_bytes: f64) -> f64 {
        match *self {
            Model::Line {
                latency_ns,
                bandwidth_bytes_per_s,
            } => latency_ns + size_bytes * 1e9 / bandwidth_bytes_per_s,
            Model::Proportional {
                bandwidth_bytes_per_s,
            } => size_bytes * 1e9 / bandwidth_bytes_per_s,
            Model::Flat { latency_ns } => latency_ns,
        }
    }

    /// b, where size matters.
    pub fn bandwidth_bytes_per_s(&self) -> Option<f64> {
        match *self {
            Model::Line {
                bandwidth_bytes_per_s,
                ..
            }
            | Model::Proportional {
                bandwidth_bytes_per_s,
            } => Some(bandwidth_bytes_per_s),
            Model::Flat { .. } => None,
        }
    }

    /// Root mean square of the relative residuals.
    pub fn residual_ratio(&self, points: &[SizePoint]) -> f64 {
        let squares = points
            .iter()
            .map(|p| (self.time_ns(p.size_bytes as f64) / p.time_ns - 1.0).powi(2));
        (squares.sum::<f64>() / points.len() as f64).sqrt()
    }
}

impl Segment {
    /// The model that describes this piece and its residuals; `None` where none does.
    pub fn model(&self) -> Option<(Model, f64)> {
        if self.points.len() < FIT_POINTS_MIN {
            return None;
        }
        let sum = |term: &dyn Fn(f64, f64) -> f64| {
            let terms = self.points.iter().map(|p| term(p.size_bytes as f64, p.time_ns));
            terms.sum::<f64>()
        };
        let line = self
            .fit
            .bandwidth_bytes_per_s
            .filter(|_| self.fit.latency_ns.value > 0.0)
            .map(|bandwidth_bytes_per_s| Model::Line {
                latency_ns: self.fit.latency_ns.value,
                bandwidth_bytes_per_s,
            });
        // Least squares of the relative residuals with one parameter.
        let proportional = Model::Proportional {
            bandwidth_bytes_per_s: 1e9 * sum(&|s, t| (s / t).powi(2)) / sum(&|s, t| s / t),
        };
        let flat = Model::Flat {
            latency_ns: sum(&|_, t| 1.0 / t) / sum(&|_, t| (1.0 / t).powi(2)),
        };
        // A line only where its slope can be told from none, or nothing else describes the piece.
        let is_told = self.fit.bandwidth_upper_bytes_per_s.is_some();
        let models = line
            .filter(|_| is_told)
            .into_iter()
            .chain([flat])
            .chain(line)
            .chain([proportional]);
        let mut told = models.map(|model| (model, model.residual_ratio(&self.points)));
        told.find(|(_, residual)| *residual <= FIT_RESIDUAL_MAX)
    }
}

/// What happens between two pieces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Last size of the piece before.
    pub above_bytes: u64,
    /// First size of the piece after.
    pub until_bytes: u64,
    /// Time that the piece after gives at its first size, over what the piece before would give there. Above 1: a step
    /// up, such as a switch of protocol; below 1: larger messages become cheaper.
    pub step_ratio: f64,
    /// Bandwidth after over bandwidth before, where both have one.
    pub bandwidth_ratio: Option<f64>,
}

/// A curve in pieces.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Segments {
    /// At least one, by size.
    pub pieces: Vec<Segment>,
    /// One fewer.
    pub changes: Vec<Change>,
}

/// Points of a piece at least: two fix a line, one more shows whether it holds.
const POINTS_MIN: usize = 3;
/// Most pieces.
const PIECES_MAX: usize = 6;
/// Times are not believed to be better known than this.
const UNCERTAINTY_MIN: f64 = 0.01;
/// Where nobody knows how well times are known.
const UNCERTAINTY_GUESS: f64 = 0.05;
/// By so much the criterion must fall for one more piece (Kass and Raftery 1995: above 10 the evidence is very strong).
const EVIDENCE: f64 = 10.0;

/// The pieces of a curve by segmented regression: for each number of pieces the partition with the smallest weighted
/// squares (Bellman, "On the approximation of curves by line segments using dynamic programming", CACM 4, 1961), and the
/// number of pieces by Schwarz's criterion. Neighbours that do not differ by a tenth are one.
///
/// `None` below three different sizes.
pub fn segments(points: &[SizePoint]) -> Option<Segments> {
    let points = in_order(points);
    if points.len() < POINTS_MIN {
        return None;
    }
    let costs = Costs::of(&points);
    let mut best = (costs.criterion(&[points.len()]), vec![points.len()]);
    for pieces in 2..=PIECES_MAX.min(points.len() / POINTS_MIN) {
        let ends = costs.partition(pieces)?;
        let criterion = costs.criterion(&ends);
        // Two bends together can be worth it where one is not.
        if criterion + EVIDENCE * (ends.len() - best.1.len()) as f64 <= best.0 {
            best = (criterion, ends);
        }
    }
    let mut ends = best.1;
    loop {
        let found = build(&points, &ends)?;
        let mut sides = found.changes.iter().zip(found.pieces.windows(2));
        let slight = sides.position(|(change, sides)| is_slight(change, sides));
        match slight {
            Some(at) => drop(ends.remove(at)),
            None => return Some(found),
        }
    }
}

/// The pieces between thresholds that are known, each as its last size before and its first size behind. `None` where a piece
/// has too few points for a line.
pub(crate) fn segments_between(points: &[SizePoint], thresholds: &[(u64, u64)]) -> Option<Segments> {
    let points = in_order(points);
    let before = |until: u64| points.partition_point(|point| point.size_bytes < until);
    let mut ends: Vec<usize> = thresholds.iter().map(|(_, until)| before(*until)).collect();
    ends.push(points.len());
    ends.sort_unstable();
    ends.dedup();
    build(&points, &ends)
}

/// Points with a time, by size, one of each.
fn in_order(points: &[SizePoint]) -> Vec<SizePoint> {
    let mut points: Vec<SizePoint> = points
        .iter()
        .copied()
        .filter(|p| p.time_ns.is_finite() && p.time_ns > 0.0)
        .collect();
    points.order_by_key(|point| point.size_bytes);
    points.dedup_by_key(|point| point.size_bytes);
    points
}

/// Between `sides` that are both flat a slope is noise: only one that can be told from none is a bandwidth.
fn is_slight(change: &Change, sides: &[Segment]) -> bool {
    let is_told = |side: &Segment| side.fit.bandwidth_upper_bytes_per_s.is_some();
    let is_other = sides.iter().any(is_told) && change.bandwidth_ratio.is_none_or(is_change);
    !is_change(change.step_ratio) && !is_other
}

/// Whether a ratio is far enough from 1 to be a change.
pub(crate) fn is_change(ratio: f64) -> bool {
    !(1.0 - CHANGE_MIN..=1.0 / (1.0 - CHANGE_MIN)).contains(&ratio)
}

/// Weighted squares of one line through every run of points.
struct Costs {
    n: usize,
    /// `squares[from][to]`, both inclusive.
    squares: Vec<Vec<f64>>,
}

impl Costs {
    fn of(points: &[SizePoint]) -> Costs {
        let n = points.len();
        let mut squares = vec![vec![f64::INFINITY; n]; n];
        for (from, row) in squares.iter_mut().enumerate() {
            let mut sums = [0.0; 6];
            for (to, point) in points.iter().enumerate().skip(from) {
                let (x, y) = (point.size_bytes as f64, point.time_ns);
                let known = point
                    .uncertainty_ratio
                    .unwrap_or(UNCERTAINTY_GUESS)
                    .max(UNCERTAINTY_MIN);
                let w = 1.0 / (known * y).powi(2);
                for (sum, term) in sums
                    .iter_mut()
                    .zip([w, w * x, w * y, w * x * x, w * x * y, w * y * y])
                {
                    *sum += term;
                }
                if to + 1 >= from + POINTS_MIN {
                    row[to] = residual_squares(&sums);
                }
            }
        }
        Costs { n, squares }
    }

    /// Ends (exclusive) of the best partition into `pieces`.
    fn partition(&self, pieces: usize) -> Option<Vec<usize>> {
        let n = self.n;
        // best[k][end]: least cost of the first `end` points in k + 1 pieces, and where the last of them begins.
        let mut best = vec![vec![(f64::INFINITY, 0); n + 1]; pieces];
        for (slot, cost) in best[0].iter_mut().skip(1).zip(&self.squares[0]) {
            *slot = (*cost, 0);
        }
        for k in 1..pieces {
            for end in 1..=n {
                let options =
                    (1..end).map(|start| (best[k - 1][start].0 + self.squares[start][end - 1], start));
                if let Some(least) = options.min_by(|a, b| a.0.total_cmp(&b.0)) {
                    best[k][end] = least;
                }
            }
        }
        let mut ends = vec![n];
        for k in (1..pieces).rev() {
            let (cost, start) = best[k][*ends.last()?];
            if !cost.is_finite() {
                return None;
            }
            ends.push(start);
        }
        ends.reverse();
        Some(ends)
    }

    /// Schwarz's criterion: χ² + parameters·ln n, with two parameters a piece and one a boundary.
    fn criterion(&self, ends: &[usize]) -> f64 {
        let mut start = 0;
        let mut squares = 0.0;
        for &end in ends {
            squares += self.squares[start][end - 1];
            start = end;
        }
        squares + (3 * ends.len() - 1) as f64 * (self.n as f64).ln()
    }
}

/// Σ w (y - a - b x)² of the best line, from its sums.
fn residual_squares([w, x, y, xx, xy, yy]: &[f64; 6]) -> f64 {
    let determinant = w * xx - x * x;
    if determinant <= 0.0 {
        return f64::INFINITY;
    }
    let slope = (w * xy - x * y) / determinant;
    let intercept = (y - slope * x) / w;
    (yy - intercept * y - slope * xy).max(0.0)
}

fn build(points: &[SizePoint], ends: &[usize]) -> Option<Segments> {
    let mut found = Segments::default();
    let mut start = 0;
    for &end in ends {
        let part = &points[start..end];
        let observed: Vec<Observation> = part
            .iter()
            .map(|p| Observation::relative(p.size_bytes as f64, p.time_ns))
            .collect();
        let fit = hockney(&observed, LEVEL).ok()?;
        let squares: f64 = fit
            .line
            .residuals
            .iter()
            .zip(part)
            .map(|(r, p)| (r / p.time_ns).powi(2))
            .sum();
        let (first, last) = (part.first()?, part.last()?);
        if let Some(before) = found.pieces.last() {
            let at = first.size_bytes as f64;
            found.changes.push(Change {
                above_bytes: before.to_bytes,
                until_bytes: first.size_bytes,
                step_ratio: fit.time_ns(at) / before.fit.time_ns(at),
                bandwidth_ratio: fit
                    .bandwidth_bytes_per_s
                    .zip(before.fit.bandwidth_bytes_per_s)
                    .map(|(a, b)| a / b),
            });
        }
        found.pieces.push(Segment {
            from_bytes: first.size_bytes,
            to_bytes: last.size_bytes,
            fit,
            residual_ratio: (squares / part.len() as f64).sqrt(),
            points: part.to_vec(),
        });
        start = end;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Random;
    use proptest::prelude::*;

    /// Times at powers of two from 8 B to 4 MiB, with relative noise of `noise`.
    fn curve(noise: f64, seed: u64, law: impl Fn(f64) -> f64) -> Vec<SizePoint> {
        let mut random = Random::new(seed);
        (3..=22)
            .map(|exponent| {
                let size_bytes = 1u64 << exponent;
                SizePoint {
                    size_bytes,
                    time_ns: law(size_bytes as f64) * (noise * random.normal()).exp(),
                    uncertainty_ratio: Some(noise.max(0.005) * 1.5),
                }
            })
            .collect()
    }

    #[test]
    fn a_switch_of_protocol_is_found() {
        // Eager up to 8 KiB at 1 GB/s, rendezvous above: 4 µs more, 5 GB/s.
        let law = |s: f64| if s <= 8192.0 { 1000.0 + s } else { 5000.0 + s / 5.0 };
        for seed in 0..30 {
            let found = segments(&curve(0.01, seed, law)).unwrap();
            assert_eq!(found.changes.len(), 1, "seed {seed}: {:?}", found.changes);
            let change = found.changes[0];
            assert_eq!(
                (change.above_bytes, change.until_bytes),
                (8192, 16384),
                "seed {seed}"
            );
            let bandwidth = found.pieces[1].fit.bandwidth_bytes_per_s.unwrap();
            assert!((bandwidth / 5e9 - 1.0).abs() < 0.05, "{bandwidth}");
        }
    }

    /// Eager up to 1 KiB, rendezvous above, and a cache that ends at 128 KiB.
    #[test]
    fn several_changes_are_found_and_known_ones_are_kept() {
        let law = |s: f64| match s {
            ..=1024.0 => 1000.0 + s,
            ..=131_072.0 => 5000.0 + s / 5.0,
            _ => 80_000.0 + s,
        };
        let points = curve(0.01, 1, law);
        let known = [(1024, 2048), (131_072, 262_144)];
        let bare = |thresholds: &[(u64, u64)]| segments_between(&points, thresholds).unwrap();
        for found in [segments(&points).unwrap(), bare(&known)] {
            let at = found
                .changes
                .iter()
                .map(|change| (change.above_bytes, change.until_bytes));
            assert_eq!(at.collect::<Vec<_>>(), known);
            let pieces = found
                .pieces
                .iter()
                .map(|piece| (piece.from_bytes, piece.to_bytes));
            let expected = [(8, 1024), (2048, 131_072), (262_144, 4 << 20)];
            assert_eq!(pieces.collect::<Vec<_>>(), expected);
        }
        assert_eq!((bare(&[]).pieces.len(), bare(&known[..1]).pieces.len()), (1, 2));
    }

    #[test]
    fn none_is_invented_on_a_smooth_curve() {
        let wrong = (0..200)
            .filter(|&seed| {
                let found = segments(&curve(0.02, seed, |s| 800.0 + s / 3.0)).unwrap();
                !found.changes.is_empty()
            })
            .count();
        assert!(wrong <= 2, "{wrong} of 200");
    }

    #[test]
    fn a_cache_that_ends_is_a_change_of_bandwidth() {
        let law = |s: f64| {
            if s <= 262_144.0 {
                500.0 + s / 10.0
            } else {
                500.0 + 26_214.0 + (s - 262_144.0) / 2.5
            }
        };
        let found = segments(&curve(0.01, 4, law)).unwrap();
        assert_eq!(found.changes.len(), 1, "{:?}", found.changes);
        assert!(
            found.changes[0].bandwidth_ratio.unwrap() < 0.4,
            "{:?}",
            found.changes
        );
    }

    #[test]
    fn a_step_below_a_tenth_between_flat_pieces_is_none() {
        // One slope in 40 is told from none by chance, and there are two.
        for (noise, step, least, most) in [(0.004, 1.06, 0, 4), (0.004, 1.2, 40, 40), (0.05, 1.4, 36, 40)] {
            let law = |s: f64| 1000.0 * if s <= 8192.0 { 1.0 } else { step };
            let has_change = |seed: &u64| !segments(&curve(noise, *seed, law)).unwrap().changes.is_empty();
            let found = (0..40).filter(has_change).count();
            assert!((least..=most).contains(&found), "{step}: {found} of 40");
        }
    }

    #[test]
    fn too_few_sizes_have_no_line() {
        assert_eq!(segments(&curve(0.01, 1, |s| s)[..2]), None);
        let bad = SizePoint {
            size_bytes: 1,
            time_ns: f64::NAN,
            uncertainty_ratio: None,
        };
        assert_eq!(segments(&[bad; 5]), None);
    }

    proptest! {
        #[test]
        fn pieces_cover_every_size_once(times in prop::collection::vec(1.0..1e9f64, 3..40)) {
            let points: Vec<SizePoint> = times.iter().enumerate().map(|(i, &time_ns)| SizePoint {
                size_bytes: 8 << (i / 2) | (i as u64 % 2), time_ns, uncertainty_ratio: None,
            }).collect();
            if let Some(found) = segments(&points) {
                prop_assert_eq!(found.changes.len() + 1, found.pieces.len());
                prop_assert!(found.pieces.windows(2).all(|p| p[0].to_bytes < p[1].from_bytes));
                prop_assert!(found.pieces.iter().all(|p| p.residual_ratio.is_finite()));
            }
        }
    }

    #[test]
    fn models_give_times_and_residuals() {
        let line = Model::Line {
            latency_ns: 100.0,
            bandwidth_bytes_per_s: 2e9,
        };
        let proportional = Model::Proportional {
            bandwidth_bytes_per_s: 2e9,
        };
        let flat = Model::Flat { latency_ns: 100.0 };
        let times = [line, proportional, flat].map(|model| model.time_ns(1000.0));
        assert_eq!(times, [600.0, 500.0, 100.0]);
        let bandwidths = [line, proportional, flat].map(|model| model.bandwidth_bytes_per_s());
        assert_eq!(bandwidths, [Some(2e9), Some(2e9), None]);
        let point = |time_ns| SizePoint {
            size_bytes: 1000,
            time_ns,
            uncertainty_ratio: None,
        };
        // A fifth more and a fifth less than was measured.
        let residual = flat.residual_ratio(&[point(100.0 / 1.2), point(100.0 / 0.8)]);
        assert!((residual - 0.2).abs() < 1e-12, "{residual}");
    }

    #[test]
    fn only_points_with_a_time_count_and_one_of_each_size() {
        let point = |size_bytes, time_ns| SizePoint {
            size_bytes,
            time_ns,
            uncertainty_ratio: None,
        };
        let bad = [f64::NAN, f64::INFINITY, 0.0, -1.0].map(|time_ns| point(8, time_ns));
        assert_eq!(in_order(&bad), []);
        let good = [point(64, 3.0), point(16, 2.0), point(64, 4.0)];
        assert_eq!(in_order(&good), [point(16, 2.0), point(64, 3.0)]);
    }

    /// The only piece of an exact law but for errors of `error` in turn up and down.
    fn piece(error: f64, law: impl Fn(f64) -> f64) -> Segment {
        let mut points = curve(0.0, 1, law);
        points.truncate(12);
        for (point, sign) in points.iter_mut().zip([1.0, -1.0].into_iter().cycle()) {
            point.time_ns *= 1.0 + sign * error;
        }
        let found = segments(&points).unwrap();
        assert!(found.changes.is_empty(), "{:?}", found.changes);
        found.pieces[0].clone()
    }

    #[test]
    fn a_piece_is_told_by_the_simplest_model_that_it_can_have() {
        let near = |value: f64, truth: f64| assert!((value / truth - 1.0).abs() < 1e-6, "{value} {truth}");
        let told = |law: fn(f64) -> f64| piece(0.0, law).model().unwrap();
        let (
            Model::Line {
                latency_ns,
                bandwidth_bytes_per_s,
            },
            residual,
        ) = told(|s| 1000.0 + s / 2.0)
        else {
            panic!("a line");
        };
        near(latency_ns, 1000.0);
        near(bandwidth_bytes_per_s, 2e9);
        assert!(residual < 1e-6, "{residual}");
        // No path has a latency below nought.
        let (
            Model::Proportional {
                bandwidth_bytes_per_s,
            },
            residual,
        ) = told(|s| s / 2.0 - 0.2)
        else {
            panic!("through the origin");
        };
        assert!(
            (1.95e9..2.2e9).contains(&bandwidth_bytes_per_s),
            "{bandwidth_bytes_per_s}"
        );
        assert!(residual > 1e-3, "{residual}");
        let (Model::Flat { latency_ns }, _) = told(|s| 700.0 - s / 1e4) else {
            panic!("no slope");
        };
        assert!((698.0..700.0).contains(&latency_ns), "{latency_ns}");
    }

    #[test]
    fn few_points_have_no_model() {
        let mut found = piece(0.0, |s| 1000.0 + s / 2.0);
        for count in (0..=FIT_POINTS_MIN + 1).rev() {
            found.points.truncate(count);
            assert_eq!(found.model().is_some(), count >= FIT_POINTS_MIN, "{count}");
        }
    }

    /// Weighted least squares of (1, 1), (2, 2), (3, 4) and (4, 4) by hand, each time known to 5 %.
    #[test]
    fn costs_are_the_weighted_squares_of_the_best_line() {
        let points = [(1, 1.0), (2, 2.0), (3, 4.0), (4, 4.0)].map(|(size_bytes, time_ns)| SizePoint {
            size_bytes,
            time_ns,
            uncertainty_ratio: None,
        });
        let costs = Costs::of(&points);
        for (from, to, expected) in [(0, 2, 12.121_212), (1, 3, 19.047_619), (0, 3, 19.112_628)] {
            let found = costs.squares[from][to];
            assert!((found - expected).abs() < 1e-5, "{from} to {to}: {found}");
        }
        assert!(costs.squares[0][1].is_infinite() && costs.squares[2][3].is_infinite());
    }

    #[test]
    fn residuals_of_a_piece_are_relative() {
        let found = piece(0.02, |s| 1e6 + s);
        assert!(
            (0.015..0.021).contains(&found.residual_ratio),
            "{}",
            found.residual_ratio
        );
    }

    #[test]
    fn a_piece_more_has_to_earn_three_parameters() {
        let costs = Costs {
            n: 8,
            squares: vec![vec![1.0; 8]; 8],
        };
        let log = 8f64.ln();
        let found = [&[8][..], &[4, 8], &[2, 5, 8]].map(|ends| costs.criterion(ends));
        assert_eq!(found, [1.0 + 2.0 * log, 2.0 + 5.0 * log, 3.0 + 8.0 * log]);
    }
}
