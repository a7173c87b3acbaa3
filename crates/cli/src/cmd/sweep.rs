//! `wirespeed sweep`: a curve over sizes or windows, refined where it changes.

use super::ended;
use super::probe::{Prober, plan_of};
use crate::args::{ColorChoice, Over, SweepArgs};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::order::fresh_seed;
use crate::output::Output;
use wirespeed::Registry;
use wirespeed_report::curve::section::{self, Probe, SweepSection};
use wirespeed_report::curve::{self, SizePoint, WindowPoint};
use wirespeed_report::render;
use wirespeed_report::stats::{LEVEL, Random, paired_shift, summarize};
use wirespeed_report::thresholds::REACHED_SHARE;
use wirespeed_schema::run::Repetition;
use wirespeed_schema::units;

/// The first grids where the words give none.
const SIZES: &str = "8..4M:x4";
const WINDOWS: &str = "1..16:x2";
/// Largest window that is tried.
const WINDOW_MAX: u64 = 1 << 16;
/// Edges of a threshold this close together are close enough.
const EDGE_RATIO: f64 = 1.1;
/// Pairs of runs at the two edges of a threshold.
const PROBES: u32 = 6;

/// Measure a curve.
pub fn sweep(registry: &Registry, arguments: &SweepArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let (key, grid) = match arguments.over {
        Over::Size => ("size", SIZES),
        Over::Window => ("window", WINDOWS),
        Over::Loggp => return super::loggp::loggp(registry, arguments, color),
    };
    let over_sizes = arguments.over == Over::Size;
    let (plan, run) = plan_of(&arguments.words)?;
    let mut output = Output::open(&arguments.output, color, render::sweep)?;
    let mut draft = Draft::begin(Some(plan.clone()), arguments.output.include_host_name);
    let prober = Prober::new(
        registry,
        (plan, &run),
        key,
        &mut output,
        (&arguments.output, color),
    )?;
    let mut values = prober.given();
    if values.is_empty() {
        values = wirespeed_schema::plan::split_axis(key, grid)?;
    }
    let mut grid = Vec::new();
    for text in values {
        let value = match over_sizes {
            true => units::parse_size(&text),
            false => units::parse_count(&text),
        };
        grid.push(value.map_err(|e| Failure::usage(e.to_string(), "see `wirespeed sweep --help`"))?);
    }
    grid.sort_unstable();
    grid.dedup();
    let seed = fresh_seed();
    let mut curve = Curve {
        prober,
        arguments,
        random: Random::new(seed),
    };
    curve.measure_all(&grid)?;
    let mut probes = Vec::new();
    match over_sizes {
        true => probes = curve.refine()?,
        false => curve.widen()?,
    }
    let finished = curve.prober.finish()?;
    let section = SweepSection {
        over: key.to_owned(),
        seed,
        probes,
    };
    draft.section(section::SWEEP, section.to_value());
    let results = finished.results.into_iter().map(|(_, result)| result).collect();
    let run = draft.finish(results, finished.stopped);
    output.finish(&run)?;
    Ok(ended(&run, arguments.output.strict))
}

struct Curve<'a> {
    prober: Prober<'a>,
    arguments: &'a SweepArgs,
    random: Random,
}

/// Time of an operation, or of a message at the rate of a stream.
fn time_ns(repetition: &Repetition) -> Option<f64> {
    let figure = |tag: &str| repetition.metrics.get(tag).map(|metric| metric.value.get());
    let latency = figure("rtt_p50_ns").or_else(|| figure("completion_p50_ns"));
    latency.or_else(|| {
        figure("rate_msg_per_s")
            .filter(|rate| *rate > 0.0)
            .map(|rate| 1e9 / rate)
    })
}

impl Curve<'_> {
    /// Every value as often as asked for, round after round in random order.
    fn measure_all(&mut self, values: &[u64]) -> Result<(), Failure> {
        for _ in 0..self.arguments.repeats {
            let mut round = values.to_vec();
            self.random.shuffle(&mut round);
            for value in round {
                self.prober.measure(value)?;
            }
        }
        Ok(())
    }

    fn has_room(&self) -> bool {
        self.prober.count() < self.arguments.points as usize && !self.prober.is_stopped()
    }

    fn size_points(&self, sizes: &[u64]) -> Vec<SizePoint> {
        let point = |&size_bytes: &u64| {
            let times: Vec<f64> = self
                .prober
                .repetitions(size_bytes)
                .iter()
                .filter_map(time_ns)
                .collect();
            let summary = summarize(&times, LEVEL)?;
            let spread = (summary.upper - summary.lower) / 2.0 / summary.median;
            let uncertainty_ratio = (summary.runs > 1).then_some(spread);
            Some(SizePoint {
                size_bytes,
                time_ns: summary.median,
                uncertainty_ratio,
            })
        };
        sizes.iter().filter_map(point).collect()
    }

    /// Halve the gap of every change until its edges are close, then probe both edges in turn.
    fn refine(&mut self) -> Result<Vec<Probe>, Failure> {
        let mut sizes = self.prober.values();
        let mut probes = Vec::new();
        while let Some(found) = curve::segments(&self.size_points(&sizes)) {
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
            let middle = middle.clamp(change.above_bytes + 1, change.until_bytes - 1);
            self.measure_all(&[middle])?;
            sizes.push(middle);
            sizes.sort_unstable();
        }
        let Some(found) = curve::segments(&self.size_points(&sizes)) else {
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
        let mut ratios = Vec::new();
        for number in 0..PROBES {
            let mut pair = [0.0; 2];
            for turn in 0..2 {
                let which = (turn + number as usize) % 2;
                let size = [above, until][which];
                let time = self.prober.measure(size)?.and_then(time_ns);
                pair[which] = time.unwrap_or(f64::NAN);
            }
            ratios.push((pair[1] / pair[0]).ln());
        }
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

    /// Double the largest window until the rate no longer rises.
    fn widen(&mut self) -> Result<(), Failure> {
        while self.has_room() {
            let windows = self.prober.values();
            let points: Vec<WindowPoint> = windows
                .iter()
                .filter_map(|&window_msgs| {
                    let rates = self.prober.repetitions(window_msgs).iter();
                    let rates: Vec<f64> = rates
                        .filter_map(|r| r.metrics.get("rate_msg_per_s"))
                        .map(|m| m.value.get())
                        .collect();
                    let summary = summarize(&rates, LEVEL)?;
                    Some(WindowPoint {
                        window_msgs,
                        rate_msg_per_s: summary.median,
                        interval: (summary.runs > 1).then_some((summary.lower, summary.upper)),
                        acknowledged_mean_ns: None,
                        in_use: None,
                    })
                })
                .collect();
            let rising = curve::enough(&points, REACHED_SHARE).is_some_and(|found| found.still_rising);
            let next = windows.last().copied().unwrap_or(1).saturating_mul(2);
            if !rising || next > WINDOW_MAX {
                return Ok(());
            }
            self.measure_all(&[next])?;
        }
        Ok(())
    }
}
