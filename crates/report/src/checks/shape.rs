//! What the samples themselves show: two modes, a warm-up that had not ended, runs that stand out, goals not reached.

use super::Findings;
use crate::assemble::merged_samples;
use crate::figures::{figure_text, spoken};
use crate::stats::until::{RUNS_DONE, TIME_USED};
use crate::stats::{self, Group, Mark, WarmUp};
use crate::thresholds::{RESOLUTION_RATIO, STEADY_SHARE};
use crate::wording::{counted, percent, spread};
use wirespeed_schema::HistogramData;
use wirespeed_schema::outcome::{Outcome, SampleKind};
use wirespeed_schema::run::{Convergence, Remark, Repetition, Severity};
use wirespeed_schema::units::{format_ns, significant};

/// Kinds of sample whose shape is looked at, the first that there is.
const SHAPE_OF: [SampleKind; 2] = [SampleKind::RoundTrip, SampleKind::Completion];

/// Look at all repetitions together.
pub(super) fn check(findings: &mut Findings, repetitions: &[Repetition]) {
    check_modes(findings, repetitions);
    check_runs(findings, repetitions);
    for repetition in repetitions {
        repetition
            .outcomes
            .iter()
            .for_each(|outcome| check_warm_up(findings, outcome));
    }
}

/// All samples of the case whose shape says something, of all repetitions. Samples of batches are means, whose shape is
/// not that of operations.
fn all_samples(repetitions: &[Repetition]) -> Option<HistogramData> {
    let mut all = HistogramData::default();
    for repetition in repetitions {
        let batched = repetition
            .outcomes
            .iter()
            .flat_map(|o| &o.samples)
            .any(|s| s.batch_ops > 1);
        let found = SHAPE_OF
            .iter()
            .find_map(|&kind| merged_samples(&repetition.outcomes, kind));
        if let Some(samples) = found.filter(|_| !batched) {
            all.merge(&samples);
        }
    }
    (!all.is_empty()).then_some(all)
}

fn check_modes(findings: &mut Findings, repetitions: &[Repetition]) {
    let Some(samples) = all_samples(repetitions) else {
        return;
    };
    let modes = stats::modes(&samples);
    if modes.len() < 2 {
        return;
    }
    let named: Vec<String> = modes
        .iter()
        .map(|mode| format!("{} ({})", format_ns(mode.at), percent(mode.share)))
        .collect();
    let message = format!("the samples have {} modes: {}", modes.len(), named.join(", "));
    let remedy = "read each mode by itself: a mean or a median of both describes neither";
    findings.note("modes", modes.len() as f64, message, remedy);
}

fn check_runs(findings: &mut Findings, repetitions: &[Repetition]) {
    let headline = crate::tags::HEADLINES
        .iter()
        .find(|(tag, _, _)| repetitions.iter().all(|r| r.metrics.contains_key(*tag)));
    let Some((tag, _, _)) = headline else {
        return;
    };
    let values: Vec<f64> = repetitions.iter().filter_map(|run| run.figure(tag)).collect();
    let groups = stats::groups(&values);
    check_groups(findings, tag, &groups);
    if stats::drifts(&values) {
        let message = format!(
            "{}: the runs drift: their interval describes these minutes only",
            spoken(tag)
        );
        let remedy = "compare only sides whose runs took turns, as those of `wirespeed ab` do";
        findings.note("runs_drift", values.len() as f64, message, remedy);
    }
    let marks = marks(&values, &groups);
    let far: Vec<String> = repetitions
        .iter()
        .zip(&marks)
        .filter(|(_, mark)| **mark == Mark::Far)
        .map(|(repetition, _)| repetition.index.to_string())
        .collect();
    if !far.is_empty() {
        let message = format!(
            "{}: {} of {} runs far out of the others (repetition {}), marked and counted like all",
            spoken(tag),
            far.len(),
            values.len(),
            far.join(", ")
        );
        let remedy = "look at what disturbed them; the median over runs hardly moves";
        findings.note("runs_stand_out", far.len() as f64, message, remedy);
    }
}

/// Each run beside those of its own group: a state of the machine that other runs were not in is no outlier.
fn marks(values: &[f64], groups: &[Group]) -> Vec<Mark> {
    if groups.len() < 2 {
        return stats::mark(values, RESOLUTION_RATIO);
    }
    let of_group = |value: &f64| {
        let (group, at) = groups
            .iter()
            .find_map(|group| Some((group, group.values.iter().position(|v| v == value)?)))?;
        stats::mark(&group.values, RESOLUTION_RATIO).get(at).copied()
    };
    values
        .iter()
        .map(|value| of_group(value).unwrap_or(Mark::Far))
        .collect()
}

/// Tell that the runs fall into groups.
fn check_groups(findings: &mut Findings, tag: &str, groups: &[Group]) {
    if groups.len() < 2 {
        return;
    }
    let named: Vec<String> = groups
        .iter()
        .map(|group| {
            format!(
                "{} ({})",
                match tag.ends_with("_ratio") {
                    true => significant(group.median(), 4),
                    false => figure_text(tag, group.median()),
                },
                counted(group.values.len() as u64, "run")
            )
        })
        .collect();
    let message = format!(
        "{}: the runs fall into {} groups: {}",
        spoken(tag),
        groups.len(),
        named.join(", ")
    );
    let remedy = "the machine has more than one state, such as where a hypervisor keeps its CPUs: read each group by itself";
    findings.note("run_groups", groups.len() as f64, message, remedy);
}

/// The raw samples of a rank, or its slices of time where there are many: whether they are steady from the start.
fn check_warm_up(findings: &mut Findings, outcome: &Outcome) {
    let raw = outcome
        .samples
        .iter()
        .find(|s| SHAPE_OF.contains(&s.kind) && !s.raw_ns.is_empty());
    let (values, what): (Vec<f64>, &str) = match raw {
        Some(samples) => (samples.raw_ns.iter().map(|v| v.get()).collect(), "raw samples"),
        None => {
            let slices = outcome.intervals.iter().filter_map(|slice| slice.p50_ns);
            (slices.map(|v| v.get()).collect(), "slices of time")
        }
    };
    let Some(found) = stats::warm_up(&values) else {
        return;
    };
    let median = |part: &[f64]| stats::median(&mut part.to_vec());
    let (share, message) = match found {
        WarmUp::Until(0) => return,
        WarmUp::Until(cut) => {
            let (before, after) = (median(&values[..cut]), median(&values[cut..]));
            let moved = (before / after - 1.0).abs();
            let message = format!(
                "rank {}: the first {cut} of {} {what} are not yet steady: median {} against {} afterwards",
                outcome.rank,
                values.len(),
                format_ns(before),
                format_ns(after)
            );
            (moved, message)
        }
        WarmUp::NoSteadyState => {
            let half = values.len() / 2;
            let moved = (median(&values[..half]) / median(&values[half..]) - 1.0).abs();
            let message = format!(
                "rank {}: the {what} never become steady: the halves' medians differ by {}",
                outcome.rank,
                spread(moved)
            );
            (moved, message)
        }
    };
    // Single stalls move the standard error as a warm-up does; only what moves the median matters.
    if share > STEADY_SHARE {
        let remedy = "warm up longer (--warmup 500ms), and look at the samples over time";
        findings.warn("not_steady", share, message, remedy);
    }
}

/// What is said of a goal that was or was not reached.
pub(crate) fn convergence_remark(convergence: &Convergence) -> Remark {
    let as_percent = |ratio: f64| format!("±{} %", significant(ratio * 100.0, 2));
    let target = as_percent(convergence.target_ratio.get());
    let reached = convergence.reached_ratio.map(|ratio| as_percent(ratio.get()));
    let runs = counted(u64::from(convergence.repetitions), "run");
    let (severity, code, said, remedy) = match (convergence.reached, reached) {
        (true, reached) => {
            let said = format!("{} reached after {runs}", reached.unwrap_or(target));
            (Severity::Note, "converged", said, None)
        }
        (false, reached) => {
            let reached = reached.map(|reached| format!(" ({reached})")).unwrap_or_default();
            let why = convergence.why.as_deref().unwrap_or("it was stopped");
            let said = format!("{target} not reached after {runs}{reached}: {why}");
            // Only what ended it can be given more of.
            let remedy = match why {
                why if why.starts_with(TIME_USED) => {
                    "allow more time (--until-time), or a wider goal (--until)"
                }
                why if why.starts_with(RUNS_DONE) => "allow more runs (--repeats), or a wider goal (--until)",
                _ => "let it go on longer (--budget), or set a wider goal (--until)",
            };
            (Severity::Warning, "not_converged", said, Some(remedy))
        }
    };
    Remark::new(severity, code, format!("{}: {said}", convergence.tag), remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_stands_out_of_its_own_group() {
        let near = [125.3, 130.4, 128.4, 125.3, 127.5, 130.4];
        let far = [531.5, 541.7, 535.2, 533.0, 600.0];
        let values = [&near[..], &far[..]].concat();
        let found = marks(&values, &stats::groups(&values));
        let standing_out: Vec<f64> = values
            .iter()
            .zip(&found)
            .filter(|(_, mark)| **mark == Mark::Far)
            .map(|(value, _)| *value)
            .collect();
        assert_eq!(standing_out, [600.0]);
    }

    #[test]
    fn goals_in_words() {
        let finite = |value| wirespeed_schema::Finite::new(value).unwrap();
        let mut goal = Convergence {
            tag: "rtt_p50_ns".into(),
            target_ratio: finite(0.02),
            reached_ratio: Some(finite(0.013)),
            reached: true,
            repetitions: 6,
            why: None,
        };
        let said = |goal: &Convergence| {
            let remark = convergence_remark(goal);
            (remark.code, remark.message, remark.remedy.is_some())
        };
        let message = |words: &str| format!("rtt_p50_ns: {words}");
        assert_eq!(
            said(&goal),
            ("converged".into(), message("±1.3 % reached after 6 runs"), false)
        );
        goal.reached_ratio = None;
        assert_eq!(said(&goal).1, message("±2 % reached after 6 runs"));
        goal.reached = false;
        assert_eq!(
            said(&goal),
            (
                "not_converged".into(),
                message("±2 % not reached after 6 runs: it was stopped"),
                true
            )
        );
        (goal.reached_ratio, goal.why, goal.repetitions) = (Some(finite(0.05)), Some("no time".into()), 1);
        assert_eq!(
            said(&goal).1,
            message("±2 % not reached after 1 run (±5 %): no time")
        );
        for (why, option) in [
            (TIME_USED, "--until-time"),
            (RUNS_DONE, "--repeats"),
            ("it ended", "--budget"),
        ] {
            goal.why = Some(format!("{why}; below six runs there is no interval"));
            let remedy = convergence_remark(&goal).remedy.unwrap();
            assert!(remedy.contains(&format!("({option})")), "{why}: {remedy}");
            assert_eq!(remedy.matches("--").count(), 2, "{why}: {remedy}");
        }
    }
}
