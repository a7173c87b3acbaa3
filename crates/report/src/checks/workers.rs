//! Is one worker of a hub slower than the others?

use super::Findings;
use crate::thresholds::SLOW_RATIO;
use crate::workers::slow_workers;
use wirespeed_schema::run::Repetition;
use wirespeed_schema::units::significant;

/// Compare the workers over all repetitions.
pub(super) fn check(findings: &mut Findings, repetitions: &[Repetition]) {
    for (worker, ratio) in slow_workers(repetitions) {
        let message = format!(
            "in this cell worker {worker} takes {} times as long as the median worker (above {SLOW_RATIO} counts as slow)",
            significant(ratio, 3)
        );
        let remedy = "look at what else runs on its machine or CPU, and at its link; the row of each worker is in the result";
        findings.warn("slow_worker", ratio, message, remedy);
    }
}
