//! Is the instrument fine enough for what it measured: clock step, calibration, the harness's own share, run length.

use super::Findings;
use crate::thresholds::{
    CALIBRATION_PPM_MAX, CLOCK_STEPS_MIN, FIRST_OPERATION_TIMES, FLOOR_SHARE_MAX, RUN_NS_MIN,
};
use crate::wording::{percent, times};
use wirespeed_schema::Case;
use wirespeed_schema::case::Stop;
use wirespeed_schema::host::Floor;
use wirespeed_schema::outcome::{Outcome, SampleKind, Samples};
use wirespeed_schema::run::Repetition;
use wirespeed_schema::units::{format_ns, significant};

/// Kinds of sample whose median is compared with the clock and the floor, the most telling first.
const KINDS: [SampleKind; 6] = [
    SampleKind::RoundTrip,
    SampleKind::Completion,
    SampleKind::Response,
    SampleKind::SendInterval,
    SampleKind::ReceiveInterval,
    SampleKind::Acknowledged,
];

/// Check the instrument on one repetition.
pub(super) fn check(findings: &mut Findings, case: &Case, repetition: &Repetition) {
    for outcome in &repetition.outcomes {
        let samples = KINDS.iter().find_map(|&kind| outcome.samples_of(kind));
        let median = samples
            .and_then(|samples| samples.histogram.quantile_ns(0.5))
            .filter(|&median| median > 0.0);
        if let (Some(samples), Some(median)) = (samples, median) {
            check_step(findings, outcome, samples, median);
            check_floor(findings, case, outcome, median);
            check_first(findings, outcome, samples, median);
        }
        check_calibration(findings, outcome);
    }
    let longest = repetition
        .outcomes
        .iter()
        // Where nothing was measured nothing was too short.
        .filter(|outcome| outcome.elapsed_ns > 0)
        .map(Outcome::observed_ns)
        .max()
        .unwrap_or(0);
    if longest > 0 && longest < RUN_NS_MIN {
        let message = format!("the run took only {}", format_ns(longest as f64));
        let remedy = match case.test.bulk() {
            Some(bulk) if bulk.pace_interval_ns.is_some() => "offer for longer: --duration",
            Some(_) => "move more: a larger file",
            None => match case.stop {
                Stop::Iterations { .. } => "run longer: a larger --iters",
                Stop::Duration { .. } => "run longer, such as --duration 1s",
            },
        };
        findings.warn("too_short", 1.0 / longest as f64, message, remedy);
    }
}

fn check_step(findings: &mut Findings, outcome: &Outcome, samples: &Samples, median: f64) {
    let step = outcome.clock.step_ns.get();
    let timed = median * samples.batch_ops.max(1) as f64;
    if step > 0.0 && timed < CLOCK_STEPS_MIN * step {
        let message = format!(
            "what was timed lasts {} but the clock ({}) moves in steps of {}",
            format_ns(timed),
            outcome.clock.source,
            format_ns(step)
        );
        let remedy = "use a machine with a finer clock, or trust the rate rather than single samples";
        findings.warn("clock_step", step / timed, message, remedy);
    }
    if samples.batch_ops > 1 {
        // Some tests time whole windows of messages, however long one of them takes.
        let cause = match median < CLOCK_STEPS_MIN * step.max(outcome.clock.cost_ns.get()) {
            true => ", which are too short for the clock",
            false => "",
        };
        let message = format!(
            "batched: each sample is the mean of {} operations{cause}; extremes are those of batches",
            samples.batch_ops
        );
        findings.note("batched", samples.batch_ops as f64, message, "");
    }
}

fn check_floor(findings: &mut Findings, case: &Case, outcome: &Outcome, median: f64) {
    let Some(floor) = &outcome.floor else {
        return;
    };
    let share = floor.loop_ns.get() / median;
    // The null transport is the floor.
    if share > FLOOR_SHARE_MAX && case.transport != Floor::TRANSPORT {
        let message = format!(
            "the harness itself takes {}, {} the median of {}",
            format_ns(floor.loop_ns.get()),
            match share <= 1.0 {
                true => format!("{} of", percent(share)),
                false => times(share),
            },
            format_ns(median)
        );
        let remedy = "compare such figures with each other only, never with those of another tool";
        findings.warn("harness_share", share, message, remedy);
    }
}

fn check_first(findings: &mut Findings, outcome: &Outcome, samples: &Samples, median: f64) {
    let comparable = matches!(samples.kind, SampleKind::RoundTrip | SampleKind::Completion);
    let Some(first) = outcome.first_operation_ns.filter(|_| comparable) else {
        return;
    };
    let times = first.get() / median;
    if times > FIRST_OPERATION_TIMES {
        let message = format!(
            "the first operation took {}, {} times the median: cold caches, first touch, connection",
            format_ns(first.get()),
            significant(times, 2)
        );
        findings.note("cold_start", times, message, "");
    }
}

fn check_calibration(findings: &mut Findings, outcome: &Outcome) {
    let ppm = outcome.clock.calibration_error_ppm.get();
    if ppm > CALIBRATION_PPM_MAX {
        let message = format!(
            "the clock's rate ({}) is known only to {} ppm",
            outcome.clock.source,
            significant(ppm, 2)
        );
        let remedy = "run longer; if it stays, the machine's frequency or its clock is unstable";
        findings.warn("calibration", ppm, message, remedy);
    }
}
