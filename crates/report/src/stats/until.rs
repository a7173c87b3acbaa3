//! When to stop repeating: as soon as the interval of a statistic over runs is narrow enough, or a cap is reached.
//!
//! Looking after every run and stopping at the first lucky one would make intervals too narrow. So there are few looks,
//! each a third further on, none before ten runs; `wirespeed selftest` checks the coverage that is left.

use super::outliers::{Mark, mark};
use super::{LEVEL, summarize};
use crate::wording::counted;
use statrs::distribution::{ContinuousCDF, Normal};

/// No look before so many runs.
pub const RUNS_MIN: u32 = 10;
/// Each look is at so many times the runs of the one before.
const NEXT_LOOK: f64 = 1.3;
/// A trend with a smaller p-value than this is called a drift.
const DRIFT_P_MAX: f64 = 0.01;

/// How narrow the interval has to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Half of the interval's width over the median, 0.02 for ±2 %.
    pub half_width_ratio: f64,
}

/// What ends the repetitions even when the target is not reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Most runs.
    pub runs: u32,
    /// Most time for all runs of all cases; `None` for no limit.
    pub time_ns: Option<u64>,
}

/// Target and caps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopRule {
    /// How narrow.
    pub target: Target,
    /// How long at most.
    pub caps: Caps,
}

/// What a look at the runs so far says.
#[derive(Debug, Clone, PartialEq)]
pub enum Look {
    /// More runs.
    Continue,
    /// Narrow enough.
    Reached {
        /// What was reached.
        half_width_ratio: f64,
    },
    /// A cap ended it.
    NotReached {
        /// What there is; `None` where there is no interval at all.
        half_width_ratio: Option<f64>,
        /// Why, for people.
        why: String,
    },
}

/// What ended a goal that was not reached, where its own limits did.
pub(crate) const TIME_USED: &str = "the time is used up";
/// The same, of runs.
pub(crate) const RUNS_DONE: &str = "the most runs that were allowed are done";

impl StopRule {
    /// Look at the statistic's values, one a run in order of time, after `elapsed_ns` of measuring.
    ///
    /// `last`: there will be no further run whatever this says (an interruption, or a budget that is used up).
    pub fn look(&self, values: &[f64], runs: u32, elapsed_ns: u64, last: bool) -> Look {
        let out_of_runs = runs >= self.caps.runs;
        let out_of_time = self.caps.time_ns.is_some_and(|cap| elapsed_ns >= cap);
        let ended = out_of_runs || out_of_time || last;
        if !ended && !is_look(runs) {
            return Look::Continue;
        }
        // A figure that some run lacks is withheld from the case: nothing is known of it, however narrow the others are.
        let is_whole = values.len() == runs as usize;
        let reached = half_width_ratio(values).filter(|_| is_whole);
        match reached {
            Some(ratio) if ratio <= self.target.half_width_ratio => Look::Reached {
                half_width_ratio: ratio,
            },
            _ if !ended => Look::Continue,
            half_width_ratio => {
                let cap = match (out_of_time, out_of_runs) {
                    (true, _) => TIME_USED,
                    (_, true) => RUNS_DONE,
                    _ => "the measurement ended",
                };
                let reason = reason(values, runs).map(|reason| format!("; {reason}"));
                Look::NotReached {
                    half_width_ratio,
                    why: format!("{cap}{}", reason.unwrap_or_default()),
                }
            }
        }
    }
}

/// Half of the width of the order-statistic interval of the median over runs, by the median. `None` below six runs, or
/// where the median is not above 0.
pub fn half_width_ratio(values: &[f64]) -> Option<f64> {
    let summary = summarize(values, LEVEL)?;
    summary.level?;
    let ratio = (summary.upper - summary.lower) / 2.0 / summary.median;
    (summary.median > 0.0 && ratio.is_finite()).then_some(ratio)
}

/// Whether a look is due after `runs`: 10, 13, 17, 22, 29, 38, 49, ...
fn is_look(runs: u32) -> bool {
    let mut next = f64::from(RUNS_MIN);
    while (next.ceil() as u32) < runs {
        next *= NEXT_LOOK;
    }
    next.ceil() as u32 == runs
}

/// What the runs show that may have kept the interval wide.
fn reason(values: &[f64], runs: u32) -> Option<String> {
    if values.len() < runs as usize {
        return Some(format!(
            "{} of {} had no such figure: run each longer",
            runs as usize - values.len(),
            counted(u64::from(runs), "run")
        ));
    }
    if values.len() < 6 {
        return Some("below six runs there is no interval".to_owned());
    }
    if drifts(values) {
        return Some("the runs drift".to_owned());
    }
    let far = mark(values, 0.002)
        .into_iter()
        .filter(|mark| *mark == Mark::Far)
        .count();
    (far > 0).then(|| format!("far out of the others: {far} of {runs} runs"))
}

/// Whether the runs drift: a trend over their order that chance shows in one of a hundred series.
pub fn drifts(values: &[f64]) -> bool {
    trend_p(values).is_some_and(|p| p < DRIFT_P_MAX)
}

/// Two-sided p-value of a trend over the order of the runs: Mann and Kendall's S with its normal approximation
/// (Kendall, Rank Correlation Methods, 1948). `None` below eight values.
fn trend_p(values: &[f64]) -> Option<f64> {
    let n = values.len();
    if n < 8 {
        return None;
    }
    let mut score = 0.0;
    for (i, a) in values.iter().enumerate() {
        for b in &values[i + 1..] {
            score += match b.partial_cmp(a)? {
                std::cmp::Ordering::Less => -1.0,
                std::cmp::Ordering::Equal => 0.0,
                std::cmp::Ordering::Greater => 1.0,
            };
        }
    }
    let count = n as f64;
    let variance = count * (count - 1.0) * (2.0 * count + 5.0) / 18.0;
    let z = (f64::abs(score) - 1.0).max(0.0) / variance.sqrt();
    Some(2.0 * Normal::new(0.0, 1.0).ok()?.sf(z))
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;
    use proptest::prelude::*;

    fn rule(half_width_ratio: f64, runs: u32) -> StopRule {
        StopRule {
            target: Target { half_width_ratio },
            caps: Caps {
                runs,
                time_ns: Some(1_000),
            },
        }
    }

    #[test]
    fn looks_are_few() {
        let looks: Vec<u32> = (0..60).filter(|&runs| is_look(runs)).collect();
        assert_eq!(looks, [10, 13, 17, 22, 29, 38, 49]);
    }

    #[test]
    fn narrow_runs_stop_and_wide_ones_say_why() {
        let narrow: Vec<f64> = (0..10).map(|i| 100.0 + f64::from(i % 3) / 10.0).collect();
        assert!(
            matches!(rule(0.02, 50).look(&narrow, 10, 0, false), Look::Reached { half_width_ratio } if half_width_ratio < 0.01)
        );
        assert_eq!(rule(0.02, 50).look(&narrow[..9], 9, 0, false), Look::Continue);
        let drift: Vec<f64> = (0..13).map(|i| 100.0 + 10.0 * f64::from(i)).collect();
        assert_eq!(rule(0.02, 50).look(&drift, 13, 0, false), Look::Continue);
        let said = |look: Look| match look {
            Look::NotReached {
                why,
                half_width_ratio,
            } => (why, half_width_ratio),
            other => panic!("{other:?}"),
        };
        let (why, ratio) = said(rule(0.02, 13).look(&drift, 13, 0, false));
        assert!(
            why.contains("most runs") && why.contains("drift") && ratio.is_some(),
            "{why}"
        );
        assert!(
            said(rule(0.02, 50).look(&drift, 13, 2_000, false))
                .0
                .contains("time")
        );
        let (why, ratio) = said(rule(0.02, 4).look(&narrow[..4], 4, 0, false));
        assert!(why.contains("six runs") && ratio.is_none(), "{why}");
        assert_eq!(
            rule(0.02, 50).look(&narrow, 13, 0, false),
            Look::Continue,
            "three runs lack it"
        );
        let (why, ratio) = said(rule(0.02, 13).look(&narrow, 13, 0, false));
        assert!(
            why.contains("3 of 13 runs had no such figure") && ratio.is_none(),
            "{why}"
        );
        assert!(
            said(rule(0.02, 12).look(&[], 12, 0, false))
                .0
                .contains("no such figure")
        );
        assert!(
            said(rule(0.02, 50).look(&drift[..3], 3, 0, true))
                .0
                .contains("the measurement ended")
        );
    }

    #[test]
    fn half_of_the_interval_is_compared_with_the_median() {
        // The interval of ten runs is from the second to the ninth.
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        assert!((half_width_ratio(&ten).unwrap() - 3.5 / 5.5).abs() < 1e-12);
        assert_eq!(half_width_ratio(&ten[..5]), None);
        assert_eq!(half_width_ratio(&[0.0; 10]), None);
        let outlier = [&[100.0; 12][..], &[900.0]].concat();
        let far = reason(&outlier, 13).unwrap();
        assert_eq!(far, "far out of the others: 1 of 13 runs");
        assert_eq!(reason(&[100.0; 6], 6), None);
        // Whatever is due: the target itself is narrow enough.
        let at = |target: f64| rule(target, 50).look(&ten, 10, 0, false);
        assert!(matches!(
            at(half_width_ratio(&ten).unwrap()),
            Look::Reached { .. }
        ));
        assert_eq!(at(0.6), Look::Continue);
        let out_of_time = rule(0.6, 50).look(&ten, 10, 1_000, false);
        assert!(
            matches!(out_of_time, Look::NotReached { half_width_ratio: Some(_), why } if why.contains("time"))
        );
    }

    /// Reference: SciPy 1.17 `norm.sf` of Kendall's S for 0..9 in order: S = 45, z = 44 / sqrt(125), p = 8.3e-05.
    #[test]
    fn a_trend_is_seen_and_noise_is_none() {
        let rising: Vec<f64> = (0..10).map(f64::from).collect();
        assert!((trend_p(&rising).unwrap() - 8.303_070_332_638e-5).abs() < 1e-9);
        let falling: Vec<f64> = rising.iter().rev().copied().collect();
        assert_eq!(trend_p(&falling), trend_p(&rising));
        assert!(trend_p(&rising[..7]).is_none() && trend_p(&rising[..8]).is_some());
        assert_eq!(trend_p(&[5.0; 10]), Some(1.0), "equal ones have no order");
        let mut random = Random::new(9);
        let false_alarms = (0..1000)
            .filter(|_| {
                let noise: Vec<f64> = (0..20).map(|_| random.normal()).collect();
                trend_p(&noise).unwrap() < 0.01
            })
            .count();
        assert!(false_alarms < 20, "{false_alarms}");
    }

    proptest! {
        #[test]
        fn it_always_ends(values in prop::collection::vec(1.0..1e3f64, 0..80), target in 0.0001..0.5f64, cap in 1u32..80) {
            let rule = rule(target, cap);
            let end = (1..=cap).find(|&runs| {
                let seen = &values[..values.len().min(runs as usize)];
                rule.look(seen, runs, 0, false) != Look::Continue
            });
            prop_assert!(end.is_some());
        }
    }
}
