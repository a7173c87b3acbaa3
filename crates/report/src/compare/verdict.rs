//! From the runs of two sides to a verdict: median ratio, interval, and how many more runs would tell.

use super::section::{Method, Row, Unjudged, Verdict};
use crate::names::Parameters;
use crate::stats::{LEVEL, Shift, paired_shift, summarize, unpaired_shift};
use crate::thresholds::{DRIFT_RATIO, MORE_RUNS_MAX, POWER};
use crate::wording::counted;
use statrs::distribution::{ContinuousCDF, Normal};
use wirespeed_schema::finite::Finite;

/// The runs of one figure on both sides.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sides {
    /// The case, for people.
    pub label: String,
    /// The figure.
    pub tag: String,
    /// Values of A, one a run.
    pub a: Vec<f64>,
    /// Values of B; with [`Method::Paired`] the i-th beside the i-th of A.
    pub b: Vec<f64>,
    /// What may have bent either side.
    pub remarks: Vec<String>,
    /// Those of the remarks that tell of a disturbed machine: `A: steal`.
    pub disturbed: Vec<String>,
    /// What the case is told from others by.
    pub parameters: Parameters,
}

/// Figures besides rates and bandwidths of which more is better.
const MORE: [&str; 4] = [
    "delivered_msgs",
    "ceiling_ratio",
    "nominal_ratio",
    "effective_samples_ratio",
];

/// Whether more of the figure is better: rates and bandwidths, what was delivered, as opposed to times and losses.
pub fn more_is_better(tag: &str) -> bool {
    tag.ends_with("_per_s") || MORE.contains(&tag)
}

/// Rows with verdicts, for all figures at once: the chance of even one false "faster" or "slower" is at most 5 %.
///
/// On logarithms, so that a ratio and its inverse weigh alike: the Hodges-Lehmann estimate, its interval and the p-value
/// of the signed ranks (paired) or the rank sums (unpaired), Holm over the rows. Faster or slower: the interval lies wholly
/// beyond the margin, and the adjusted p-value, which is against the margin's nearer edge, is below 5 %. Same: the interval
/// is wholly within the margin, which is two one-sided tests at 2.5 %. Of two files of which one was disturbed nothing below
/// a factor of 3 is faster or slower. Figures that are not above 0 in all runs have no ratio: they are told with the reason, and
/// have a verdict where all runs of one side have some and none of the other has; those that are 0 in every run of both are told
/// apart.
pub fn judge(sides: &[Sides], method: Method, within_ratio: f64) -> (Vec<Row>, Vec<Unjudged>) {
    let rows = judge_each(sides, method, within_ratio);
    let unjudged = without_row(sides, &rows, (method, least_runs(method, rows.len())));
    (rows.into_iter().flatten().collect(), unjudged)
}

/// Those of `sides` that have none of the first of `rows`, unless both sides agree that there is nothing.
/// `least` runs a side, or pairs, are needed for a verdict.
pub(super) fn without_row(
    sides: &[Sides],
    rows: &[Option<Row>],
    (method, least): (Method, usize),
) -> Vec<Unjudged> {
    let lacking = sides.iter().zip(rows).filter(|(_, row)| row.is_none());
    let told = lacking.filter(|(sides, _)| !is_nought(sides, method));
    told.map(|(sides, _)| why_not(sides, (method, least))).collect()
}

/// Runs with a figure that is not above 0, of those that have it.
fn without(runs: &[f64]) -> (usize, usize) {
    let known = || runs.iter().filter(|value| !value.is_nan());
    (known().filter(|value| **value <= 0.0).count(), known().count())
}

/// Whether both sides agree that there is nothing: in every run that is compared, and each side has one.
fn is_nought(sides: &Sides, method: Method) -> bool {
    compared(sides, method).iter().all(|runs| {
        let mut known = runs.iter().filter(|value| !value.is_nan()).peekable();
        known.peek().is_some() && known.all(|value| *value == 0.0)
    })
}

/// The figures of which there is nothing in every run of both: losses that nobody had.
pub(super) fn noughts(sides: &[Sides], method: Method) -> Vec<Unjudged> {
    let found = sides.iter().filter(|sides| is_nought(sides, method));
    let told = found.map(|sides| Unjudged {
        label: sides.label.clone(),
        tag: sides.tag.clone(),
        why: match method {
            Method::Unpaired => "0 in every run of both".to_owned(),
            Method::Paired => "0 in every pair of runs".to_owned(),
        },
        verdict: Verdict::Same,
        runs_min: None,
    });
    told.collect()
}

/// What B is where one side has the figure in every run, and the other in none: the ranks of at least so many runs a side cannot be
/// told more plainly. A time of 0 is none. Of each side the runs without it, and all.
fn of_one_side(tag: &str, [a, b]: [(usize, usize); 2], least: usize) -> Verdict {
    let is_b_more = match (a.0 == a.1, b.0 == b.1) {
        (true, false) if b.0 == 0 => true,
        (false, true) if a.0 == 0 => false,
        _ => return Verdict::Inconclusive,
    };
    match tag.contains("_ns") || a.1.min(b.1) < least {
        true => Verdict::Inconclusive,
        false if is_b_more == more_is_better(tag) => Verdict::Faster,
        false => Verdict::Slower,
    }
}

/// Why there is no ratio, and what can be said without one of at least so many runs a side, or whole pairs.
fn why_not(sides: &Sides, (method, least): (Method, usize)) -> Unjudged {
    let found = compared(sides, method).map(|runs| without(&runs));
    let said = |((nought, all), letter): ((usize, usize), &str)| match (nought, method) {
        (0, _) => None,
        (_, Method::Unpaired) => Some(format!(
            "0 in {nought} of {} of {letter}",
            counted(all as u64, "run")
        )),
        (_, Method::Paired) => Some(format!(
            "0 for {letter} in {nought} of {}",
            counted(all as u64, "pair")
        )),
    };
    let mut said: Vec<String> = found.into_iter().zip(["A", "B"]).filter_map(said).collect();
    let verdict = of_one_side(&sides.tag, found, least);
    // More of the same would tell.
    let runs_min = (of_one_side(&sides.tag, found, 0) != verdict).then_some(least as u64);
    said.extend(runs_min.map(|least| format!("at least {least} {} would tell", method.runs())));
    Unjudged {
        label: sides.label.clone(),
        tag: sides.tag.clone(),
        why: match said.is_empty() {
            true => "no run of one is beside one of the other".to_owned(),
            false => said.join(", "),
        },
        verdict,
        runs_min,
    }
}

/// As [`judge`], with nothing in the place of a figure that has no row.
pub(crate) fn judge_each(sides: &[Sides], method: Method, within_ratio: f64) -> Vec<Option<Row>> {
    let [rows] = judge_families([sides], method, within_ratio);
    rows
}

/// As [`judge_each`] for families of figures that are adjusted apart, so that thousands of one do not cost another its verdicts:
/// Holm within each, p-values times the number of families (Bonferroni), so that the chance of a false verdict is as before.
pub(super) fn judge_families<const N: usize>(
    families: [&[Sides]; N],
    method: Method,
    within_ratio: f64,
) -> [Vec<Option<Row>>; N] {
    let count = families.iter().filter(|family| !family.is_empty()).count().max(1);
    families.map(|sides| judge_family((sides, count), method, within_ratio))
}

fn judge_family((sides, families): (&[Sides], usize), method: Method, within_ratio: f64) -> Vec<Option<Row>> {
    let margin = within_ratio.ln_1p();
    let beyond = |sides| shift_beyond(sides, method, margin);
    let shifts: Vec<Option<Shift>> = sides.iter().map(beyond).collect();
    let p_values: Vec<f64> = shifts
        .iter()
        .map(|shift| shift.map_or(1.0, |s| s.p_value))
        .collect();
    let holm = crate::stats::holm(&p_values).into_iter();
    let adjusted: Vec<f64> = holm.map(|p_value| (p_value * families as f64).min(1.0)).collect();
    let rows = sides.iter().zip(shifts).zip(&adjusted);
    rows.map(|((sides, shift), &p_adjusted)| {
        let context = Context {
            method,
            margin,
            rows: adjusted.len() * families,
            p_adjusted,
        };
        row(sides, shift?, &context)
    })
    .collect()
}

struct Context {
    method: Method,
    /// Of the logarithm.
    margin: f64,
    rows: usize,
    p_adjusted: f64,
}

/// The shift, its p-value that of a shift which is not beyond the margin.
fn shift_beyond(sides: &Sides, method: Method, margin: f64) -> Option<Shift> {
    let found = shift(sides, method, 0.0)?;
    let edge = margin.copysign(found.estimate);
    let p_value = match found.estimate.abs() > margin {
        true => shift(sides, method, edge)?.p_value,
        false => 1.0,
    };
    Some(Shift { p_value, ..found })
}

/// The shift of the logarithms of B, less `edge`, against those of A; none where a run has no logarithm.
fn shift(sides: &Sides, method: Method, edge: f64) -> Option<Shift> {
    let [a, b] = compared(sides, method);
    if without(&a).0 > 0 || without(&b).0 > 0 {
        return None;
    }
    let log = |value: &f64| (*value > 0.0).then(|| value.ln()).filter(|log| log.is_finite());
    match method {
        Method::Paired => {
            let pairs = a.iter().zip(&b);
            let ratios: Vec<f64> = pairs
                .filter_map(|(a, b)| Some(log(b)? - log(a)? - edge))
                .collect();
            paired_shift(&ratios, LEVEL)
        }
        Method::Unpaired => {
            let logs = |values: &[f64], edge: f64| -> Vec<f64> {
                values.iter().filter_map(log).map(|log| log - edge).collect()
            };
            unpaired_shift(&logs(&a, 0.0), &logs(&b, edge), LEVEL)
        }
    }
}

fn row(sides: &Sides, shift: Shift, context: &Context) -> Option<Row> {
    let [a, b] = compared(sides, context.method);
    let (a, b) = (summarize(&a, LEVEL)?, summarize(&b, LEVEL)?);
    let by_interval = verdict(&shift, context, more_is_better(&sides.tag));
    let is_withheld =
        matches!(by_interval, Verdict::Faster | Verdict::Slower) && may_be_drift(sides, &shift, context);
    let verdict = match is_withheld {
        true => Verdict::Inconclusive,
        false => by_interval,
    };
    let finite = Finite::maybe;
    Some(Row {
        label: sides.label.clone(),
        tag: sides.tag.clone(),
        a: finite(a.median)?,
        b: finite(b.median)?,
        a_runs: u32::try_from(a.runs).unwrap_or(u32::MAX),
        b_runs: u32::try_from(b.runs).unwrap_or(u32::MAX),
        ratio: finite(shift.estimate.exp())?,
        lower: shift.interval.and_then(|(lower, _, _)| finite(lower.exp())),
        upper: shift.interval.and_then(|(_, upper, _)| finite(upper.exp())),
        level: shift
            .interval
            .and_then(|(_, _, level)| finite((level * 1e6).round() / 1e6)),
        p_value: finite(shift.p_value)?,
        p_adjusted: finite(context.p_adjusted)?,
        verdict,
        more_runs: match verdict {
            Verdict::Inconclusive if !is_withheld => more_runs(&shift, (a.runs, b.runs), context),
            _ => None,
        },
        remarks: sides.remarks.clone(),
        withheld: match is_withheld {
            true => sides.disturbed.clone(),
            false => Vec::new(),
        },
    })
}

/// The values behind a ratio: of pairs only the whole ones.
fn compared(sides: &Sides, method: Method) -> [Vec<f64>; 2] {
    match method {
        Method::Unpaired => [sides.a.clone(), sides.b.clone()],
        Method::Paired => {
            let pairs = sides.a.iter().copied().zip(sides.b.iter().copied());
            let (a, b) = pairs.filter(|(a, b)| !a.is_nan() && !b.is_nan()).unzip();
            [a, b]
        }
    }
}

fn verdict(shift: &Shift, context: &Context, more_is_better: bool) -> Verdict {
    let Some((lower, upper, _)) = shift.interval else {
        return Verdict::Inconclusive;
    };
    if lower > -context.margin && upper < context.margin {
        return Verdict::Same;
    }
    let beyond = lower > context.margin || upper < -context.margin;
    if !beyond || context.p_adjusted >= 1.0 - LEVEL {
        return Verdict::Inconclusive;
    }
    match (upper < 0.0) == more_is_better {
        true => Verdict::Slower,
        false => Verdict::Faster,
    }
}

/// Whether the state of the machine alone may have made the difference: runs of a file share it, so that an interval over
/// them says too little where one of the files was disturbed. However large it is, where the runs of both overlap: they have
/// seen the same states, in other shares.
fn may_be_drift(sides: &Sides, shift: &Shift, context: &Context) -> bool {
    let ends = |runs: &[f64]| {
        let rising = |found: (f64, f64), run: &f64| (found.0.min(*run), found.1.max(*run));
        runs.iter().fold((f64::MAX, f64::MIN), rising)
    };
    let (a, b) = (ends(&sides.a), ends(&sides.b));
    context.method == Method::Unpaired
        && !sides.disturbed.is_empty()
        && (shift.estimate.abs() < DRIFT_RATIO.ln() || a.0.max(b.0) <= a.1.min(b.1))
}

/// Runs a side beyond the fewer of the `runs` there are, so that the interval, which narrows with the root of their number,
/// lies beyond the margin or within it, on whichever side of its edge the estimate is, with a chance of 90 % if that is the
/// truth. The error of sides with a and b runs is that of sides with 2ab / (a + b) each.
fn more_runs(shift: &Shift, (a, b): (usize, usize), context: &Context) -> Option<u64> {
    let (least, fewer) = (least_runs(context.method, context.rows), a.min(b));
    let Some((lower, upper, _)) = shift.interval else {
        return Some((least.max(fewer + 1) - fewer) as u64);
    };
    let normal = Normal::new(0.0, 1.0).ok()?;
    let half_width = (upper - shift.estimate).max(shift.estimate - lower);
    let alpha = (1.0 - LEVEL) / 2.0;
    let z = |tail: f64| normal.inverse_cdf(1.0 - tail);
    let (effect, margin) = (shift.estimate.abs(), context.margin);
    let errors = match effect > margin {
        // Holm's first step tests at the level divided by the number of rows.
        true => (z(alpha / context.rows.max(1) as f64) + z(1.0 - POWER)) / (effect - margin),
        false => errors_within(&normal, effect, margin),
    };
    let alike = 2.0 * a as f64 * b as f64 / (a + b) as f64;
    let needed = alike * (half_width / z(alpha) * errors).powi(2);
    let more = (needed.ceil() - fewer as f64)
        .max(1.0)
        .max(least as f64 - fewer as f64);
    (more <= MORE_RUNS_MAX).then_some(more as u64)
}

/// The inverse of the standard error with which both ends of the interval around `effect` lie within the margin with a chance
/// of 90 %: the power of two one-sided tests (Schuirmann, "A comparison of the two one-sided tests procedure and the power
/// approach", J. Pharmacokinet. Biopharm. 15, 1987).
fn errors_within(normal: &Normal, effect: f64, margin: f64) -> f64 {
    let z = |tail: f64| normal.inverse_cdf(1.0 - tail);
    let at_level = z((1.0 - LEVEL) / 2.0);
    let is_enough = |errors: f64| {
        let end = |distance: f64| normal.cdf(distance * errors - at_level);
        end(margin - effect) + end(margin + effect) - 1.0 >= POWER
    };
    // One end alone needs less, two as near as the nearer one more.
    let within = |tail: f64| (at_level + z(tail)) / (margin - effect);
    let (mut low, mut high) = (within(1.0 - POWER), within((1.0 - POWER) / 2.0));
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        match is_enough(middle) {
            true => high = middle,
            false => low = middle,
        }
    }
    high
}

/// The fewest runs a side with which the smallest possible p-value passes Holm's first step.
pub(super) fn least_runs(method: Method, rows: usize) -> usize {
    let level = (1.0 - LEVEL) / rows.max(1) as f64;
    let smallest_p = |n: i32| match method {
        Method::Paired => 2.0 / 2f64.powi(n),
        // 2 / (2n choose n).
        Method::Unpaired => 2.0 / (1..=n).map(|i| f64::from(n + i) / f64::from(i)).product::<f64>(),
    };
    (1..60).find(|&n| smallest_p(n) <= level).unwrap_or(60) as usize
}

#[cfg(test)]
mod tests;
