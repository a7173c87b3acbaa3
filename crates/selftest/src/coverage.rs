//! How often published intervals hold the truth, against the level that each states itself.

use crate::law::Law;
use crate::pipeline::{ping_pong, published, run_once};
use crate::port::Medium;
use crate::{Check, Effort};
use statrs::distribution::{ContinuousCDF, Normal};
use wirespeed_report::stats::{Caps, LEVEL, Look, Random, StopRule, Target, summarize};
use wirespeed_schema::run::CaseResult;

/// Within one run, over runs, and after stopping as soon as the interval is narrow.
pub fn all(effort: &Effort) -> Vec<Check> {
    let mut checks =
        within_a_run(effort).unwrap_or_else(|error| vec![Check::broken("coverage within a run", &error)]);
    checks
        .extend(over_runs(effort).unwrap_or_else(|error| vec![Check::broken("coverage over runs", &error)]));
    checks.push(after_stopping(effort));
    checks
}

/// Hits and the sum of the levels stated.
#[derive(Default)]
struct Tally {
    covered: f64,
    stated: f64,
    count: f64,
}

impl Tally {
    fn add(&mut self, result: &CaseResult, tag: &str, truth: f64) {
        let Some(metric) = result.metrics.get(tag) else {
            return;
        };
        let (Some(lower), Some(upper), Some(level)) = (metric.lower, metric.upper, metric.level) else {
            return;
        };
        self.note(lower.get() <= truth && truth <= upper.get(), level.get());
    }

    fn note(&mut self, covered: bool, level: f64) {
        self.covered += f64::from(u8::from(covered));
        self.stated += level;
        self.count += 1.0;
    }

    fn check(&self, name: &str, effort: &Effort) -> Check {
        let (covered, stated) = (self.covered / self.count, self.stated / self.count);
        let slack = effort.coverage_slack();
        Check::holds(
            name,
            &format!(
                "{:.2} % ± {:.1} points over {} replicates",
                stated * 100.0,
                slack * 100.0,
                effort.replicates
            ),
            format!("{:.2} %", covered * 100.0),
            (covered - stated).abs() <= slack && self.count == f64::from(effort.replicates),
        )
    }
}

fn within_a_run(effort: &Effort) -> Result<Vec<Check>, String> {
    let (median_ns, sigma) = (200_000.0, 0.5);
    let normal = Normal::new(0.0, 1.0).map_err(|e| e.to_string())?;
    let quantiles = [("rtt_p50_ns", 0.5), ("rtt_p90_ns", 0.9), ("rtt_p99_ns", 0.99)];
    let mut tallies = [(); 3].map(|()| Tally::default());
    let case = ping_pong(8, 400);
    for seed in 0..u64::from(effort.replicates) {
        let result = published(
            &case,
            vec![run_once(
                &case,
                Medium::Law(Law::Lognormal { median_ns, sigma }, seed + 1),
                0,
            )?],
        )?;
        for ((tag, p), tally) in quantiles.iter().zip(&mut tallies) {
            tally.add(
                &result,
                tag,
                median_ns * (sigma * normal.inverse_cdf(*p)).exp() + 1.0,
            );
        }
    }
    let named = quantiles.iter().zip(&tallies);
    Ok(named
        .map(|((tag, _), tally)| tally.check(&format!("coverage of {tag} within a run"), effort))
        .collect())
}

/// Runs that differ by more than what is within them: the interval over runs holds, one within a run would not.
fn over_runs(effort: &Effort) -> Result<Vec<Check>, String> {
    let mut random = Random::new(77);
    let (mut tally, mut drawn) = (Tally::default(), 0.0);
    let case = ping_pong(8, 60);
    for replicate in 0..u64::from(effort.replicates) {
        let mut repetitions = Vec::new();
        for index in 0..8u32 {
            let median_ns = 200_000.0 * (0.1 * random.normal()).exp();
            let law = Law::Lognormal {
                median_ns,
                sigma: 0.05,
            };
            repetitions.push(run_once(
                &case,
                Medium::Law(law, replicate * 8 + u64::from(index) + 1),
                index,
            )?);
        }
        let (result, truth) = (published(&case, repetitions)?, 200_001.0);
        tally.add(&result, "rtt_p50_ns", truth);
        let resampled = result.resampled.get("rtt_p50_ns").ok_or("not resampled")?;
        let held = resampled.lower.get() <= truth && truth <= resampled.upper.get();
        drawn += f64::from(u8::from(held));
    }
    // What draws from eight runs lack is made up for, and a median takes few values: rather too wide than too narrow.
    let share = drawn / f64::from(effort.replicates);
    let slack = effort.coverage_slack();
    Ok(vec![
        tally.check("coverage of rtt_p50_ns over 8 runs", effort),
        Check::holds(
            "coverage of its bootstrap over 8 runs",
            &match 0.97 + slack {
                most if most >= 1.0 => format!("at least {:.0} %", (0.95 - slack) * 100.0),
                most => format!("{:.0} to {:.0} %", (0.95 - slack) * 100.0, most * 100.0),
            },
            format!("{:.2} %", share * 100.0),
            (0.95 - slack..=0.97 + slack).contains(&share),
        ),
    ])
}

/// Stopping at a narrow interval makes intervals too narrow; with few looks only by little.
fn after_stopping(effort: &Effort) -> Check {
    let rule = StopRule {
        target: Target {
            half_width_ratio: 0.02,
        },
        caps: Caps {
            runs: 60,
            time_ns: None,
        },
    };
    let mut random = Random::new(78);
    let (mut covered, mut reached) = (0u32, 0u32);
    for _ in 0..effort.replicates {
        let mut values = Vec::new();
        let look = loop {
            values.push(100.0 * (0.04 * random.normal()).exp());
            match rule.look(&values, values.len() as u32, 0, false) {
                Look::Continue => {}
                ended => break ended,
            }
        };
        reached += u32::from(matches!(look, Look::Reached { .. }));
        let summary = summarize(&values, LEVEL);
        covered += u32::from(summary.is_some_and(|s| s.lower <= 100.0 && 100.0 <= s.upper));
    }
    let share = f64::from(covered) / f64::from(effort.replicates);
    let least = 0.93 - effort.coverage_slack();
    Check::holds(
        "coverage after repeating until ±2 %",
        &format!("at least {:.1} %, and the goal reached", least * 100.0),
        format!(
            "{:.2} %, reached {reached} of {} times",
            share * 100.0,
            effort.replicates
        ),
        share >= least && reached * 10 > effort.replicates * 9,
    )
}
