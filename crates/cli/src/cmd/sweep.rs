//! `wirespeed sweep`: a curve over sizes or windows, refined where it changes.

use super::dry_run;
use super::front::Front;
use super::probe::{given, plan_of, prepared};
use crate::args::{ColorChoice, Over, SweepArgs};
use crate::errors::{Ended, Failure};
use crate::experiment::{Found, How, Points, Ranks};
use crate::group::{Groups, Reach};
use crate::stderr;
use wirespeed::Registry;
use wirespeed_report::curve::section::{Probe, SweepSection};
use wirespeed_report::curve::{self, SizePoint, WindowPoint};
use wirespeed_report::stats::{LEVEL, paired_shift, summarize};
use wirespeed_report::thresholds::REACHED_SHARE;
use wirespeed_schema::plan::{Plan, canonical_test, takes};
use wirespeed_schema::run::Repetition;
use wirespeed_schema::units;

/// The first grids where the words give none.
const SIZES: &str = "8..4M:x4";
const WINDOWS: &str = "1..16:x2";
/// Largest window that is tried.
const WINDOW_MAX: f64 = 65536.0;
/// Edges of a threshold this close together are close enough.
const EDGE_RATIO: f64 = 1.1;
/// Runs of every point where the words do not say.
pub const REPEATS: u32 = 3;
/// Pairs of runs at the two edges of a threshold.
const PROBES: u32 = 6;

/// Measure a curve.
pub fn sweep(registry: &Registry, arguments: &SweepArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let (key, grid) = match arguments.over {
        Over::Size => ("size", SIZES),
        Over::Window => ("window", WINDOWS),
        Over::Loggp => return super::loggp::loggp(registry, arguments, color),
    };
    let (mut plan, run) = plan_of(&arguments.words)?;
    let how = How::of(
        &arguments.experiment,
        (&mut plan, REPEATS),
        (&arguments.output, color),
    )?;
    let machine = crate::job::machine(registry);
    let at = |value: f64| prepared((registry, &machine), &plan, (key, value));
    varies(&plan, key)?;
    let grid = first_grid(&plan, (key, grid), arguments, |value| at(value).map(drop))?;
    if arguments.experiment.dry_run {
        let cases: Result<_, Failure> = grid.iter().map(|value| at(*value)).collect();
        return dry_run::show(&plan, how.listed(cases?)?, arguments.output.json);
    }
    let seed = how.seed;
    let mut ranks = Ranks::new(Groups::new(registry, Reach::of(&run.far)?));
    let mut front = Front::open((&arguments.output, color), Some(plan.clone()))?;
    let curve = Curve {
        points: Points::new(front.experiment(how, &mut ranks), at),
        points_max: arguments.points as usize,
    };
    let (found, probes) = curve.measure(&grid, arguments.over)?;
    let section = SweepSection {
        over: key.to_owned(),
        seed,
        probes,
    };
    front.draft.put(&section);
    front.publish(found)
}

/// The first grid: the values that the words give for `key`, or else those of `usual`.
fn values(plan: &Plan, key: &str, usual: &str) -> Result<Vec<f64>, Failure> {
    let mut texts = given(plan, key);
    if texts.is_empty() {
        texts = wirespeed_schema::plan::split_axis(key, usual)?;
    }
    let mut grid = Vec::new();
    for text in texts {
        let value = match key {
            "size" => units::parse_size(&text),
            _ => units::parse_count(&text),
        };
        let value = value.map_err(|e| Failure::usage(e.to_string(), "see `wirespeed sweep --help`"))?;
        grid.push(value as f64);
    }
    grid.sort_by(f64::total_cmp);
    grid.dedup();
    Ok(grid)
}

/// The values at which a curve is measured first.
pub fn first_grid(
    plan: &Plan,
    (key, usual): (&str, &str),
    arguments: &SweepArgs,
    check: impl Fn(f64) -> Result<(), Failure>,
) -> Result<Vec<f64>, Failure> {
    let is_usual = given(plan, key).is_empty();
    let mut grid = values(plan, key, usual)?;
    if is_usual {
        grid = possible(grid, key, check)?;
    }
    within(grid, is_usual, arguments.points as usize)
}

/// Those of the usual values that the test can have.
fn possible(
    mut grid: Vec<f64>,
    key: &str,
    check: impl Fn(f64) -> Result<(), Failure>,
) -> Result<Vec<f64>, Failure> {
    let (all, mut refused) = (grid.len(), None);
    grid.retain(|value| match check(*value) {
        Ok(()) => true,
        Err(failure) => {
            refused = Some(failure);
            false
        }
    });
    match (grid.len(), refused) {
        (0, Some(failure)) => Err(failure),
        (1, Some(failure)) => Err(Failure::usage(
            failure.cause,
            format!("name at least two values with --{key} behind the `--`"),
        )),
        (left, refused) => {
            if let Some(failure) = refused {
                let out = units::counted((all - left) as u64, "usual value");
                stderr::say(&format!("note: without {out}: {}", failure.cause));
            }
            Ok(grid)
        }
    }
}

/// Errors where the test has nothing that could vary.
fn varies(plan: &Plan, key: &str) -> Result<(), Failure> {
    let named = given(plan, "test");
    let mut tests = named.iter().filter_map(|test| canonical_test(test).ok());
    match tests.find(|test| key == "window" && !takes(test, key)) {
        Some(test) => Err(Failure::usage(
            format!("--over window: {test} has no window"),
            "name a stream such as am_bw",
        )),
        None => Ok(()),
    }
}

/// The grid with at most `most` points: the usual one has fewer, both ends among them; one that was named is refused.
fn within(grid: Vec<f64>, is_usual: bool, most: usize) -> Result<Vec<f64>, Failure> {
    let last = grid.len().saturating_sub(1);
    match grid.len() > most {
        false => Ok(grid),
        true if is_usual => Ok((0..most).map(|at| grid[at * last / (most - 1)]).collect()),
        true => Err(Failure::usage(
            format!("--points {most}: {} values are named", grid.len()),
            "name fewer, or allow more --points",
        )),
    }
}

struct Curve<'a> {
    points: Points<'a>,
    points_max: usize,
}

/// Time of an operation, or of a message at the rate of a stream.
fn time_ns(repetition: &Repetition) -> Option<f64> {
    let latency = repetition
        .figure("rtt_p50_ns")
        .or_else(|| repetition.figure("completion_p50_ns"));
    latency.or_else(|| {
        rate_per_s(repetition)
            .filter(|rate| *rate > 0.0)
            .map(|rate| 1e9 / rate)
    })
}

/// Messages a second of a stream.
fn rate_per_s(repetition: &Repetition) -> Option<f64> {
    repetition.figure("rate_msg_per_s")
}

impl Curve<'_> {
    /// The grid, then what the curve asks for.
    fn measure(mut self, grid: &[f64], over: Over) -> Result<(Found, Vec<Probe>), Failure> {
        self.points.measure(grid)?;
        let mut probes = Vec::new();
        match over {
            Over::Size => probes = self.refine()?,
            _ => self.widen()?,
        }
        Ok((self.points.finish()?, probes))
    }

    fn has_room(&self) -> bool {
        self.points.values().len() < self.points_max && !self.points.is_over()
    }

    /// The points of all sizes so far.
    fn sizes(&self) -> Vec<SizePoint> {
        let point = |&size: &f64| {
            let summary = summarize(&self.points.figures(size, time_ns), LEVEL)?;
            let spread = (summary.upper - summary.lower) / 2.0 / summary.median;
            let uncertainty_ratio = (summary.runs > 1).then_some(spread);
            Some(SizePoint {
                size_bytes: size as u64,
                time_ns: summary.median,
                uncertainty_ratio,
            })
        };
        self.points.values().iter().filter_map(point).collect()
    }

    /// Halve the gap of every change until its edges are close, then probe both edges in turn.
    fn refine(&mut self) -> Result<Vec<Probe>, Failure> {
        let mut probes = Vec::new();
        while let Some(found) = curve::segments(&self.sizes()) {
            let wide = found.changes.iter().find(|change| {
                change.until_bytes as f64 > EDGE_RATIO * change.above_bytes as f64
                    && change.until_bytes > change.above_bytes + 2
            });
            let Some(change) = wide.filter(|_| self.has_room()) else {
                break;
            };
            let middle = (change.above_bytes as f64 * change.until_bytes as f64)
                .sqrt()
                .round() as u64;
            let middle = middle.clamp(change.above_bytes + 1, change.until_bytes - 1) as f64;
            // A size that failed tells nothing the second time.
            if self.points.values().contains(&middle) {
                break;
            }
            self.points.measure(&[middle])?;
        }
        let Some(found) = curve::segments(&self.sizes()) else {
            return Ok(probes);
        };
        for (change, before) in found.changes.iter().zip(&found.pieces) {
            let [above, until] =
                [change.above_bytes, change.until_bytes].map(|size| before.fit.time_ns(size as f64));
            // A line that ends below zero says nothing of how the curve would have gone on.
            if above <= 0.0 || until <= 0.0 {
                continue;
            }
            let smooth = until / above;
            probes.extend(self.probe((change.above_bytes, change.until_bytes), smooth)?);
        }
        Ok(probes)
    }

    /// Both edges in turn, and whether their ratio differs from that of the smooth piece before.
    fn probe(&mut self, (above, until): (u64, u64), smooth_ratio: f64) -> Result<Option<Probe>, Failure> {
        let edges = [above as f64, until as f64];
        let before = edges.map(|edge| self.points.repetitions(edge).len());
        self.points.rounds(&edges, PROBES)?;
        let times = |which: usize| {
            let runs = self.points.repetitions(edges[which]);
            runs.iter().skip(before[which]).map(time_ns).collect::<Vec<_>>()
        };
        let pairs = times(0).into_iter().zip(times(1));
        let ratios: Vec<f64> = pairs
            .filter_map(|(above, until)| Some((until? / above?).ln()))
            .collect();
        let Some((lower, upper, _)) = paired_shift(&ratios, LEVEL).and_then(|shift| shift.interval) else {
            return Ok(None);
        };
        let expected = smooth_ratio.ln();
        Ok(Probe::new(
            (above, until),
            smooth_ratio,
            (lower.exp(), upper.exp()),
            expected < lower || expected > upper,
        ))
    }

    /// Double the largest window until the rate is sure to rise no more.
    fn widen(&mut self) -> Result<(), Failure> {
        while self.has_room() {
            let windows = self.points.values();
            let point = |&window: &f64| {
                let summary = summarize(&self.points.figures(window, rate_per_s), LEVEL)?;
                Some(WindowPoint {
                    window_msgs: window as u64,
                    rate_msg_per_s: summary.median,
                    interval: (summary.runs > 1).then_some((summary.lower, summary.upper)),
                    acknowledged_mean_ns: None,
                    in_use: None,
                })
            };
            let points: Vec<WindowPoint> = windows.iter().filter_map(point).collect();
            let is_open = curve::enough(&points, REACHED_SHARE).is_some_and(|found| found.is_open);
            let next = windows.last().copied().unwrap_or(1.0) * 2.0;
            if !is_open || next > WINDOW_MAX {
                return Ok(());
            }
            self.points.measure(&[next])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_no_more_points_than_asked_for() {
        let grid: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(within(grid.clone(), true, 10).unwrap(), grid);
        assert_eq!(within(grid.clone(), true, 3).unwrap(), [0.0, 4.0, 9.0]);
        let refused = within(grid, false, 3).unwrap_err();
        assert!(refused.cause.contains("10 values"), "{}", refused.cause);
    }
}
