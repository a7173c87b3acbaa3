//! Whether a case has been repeated often enough: the user's goal against the figures of the runs so far.

use super::Runs;
use crate::stats::{Caps, Look, StopRule, Target};
use wirespeed_schema::finite::Finite;
use wirespeed_schema::plan::{PlanError, Until};
use wirespeed_schema::run::{Convergence, Repetition};

/// A goal, ready to be looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    statistic: String,
    rule: StopRule,
}

/// Families of latency figures in the order in which a statistic's name is looked for.
const FAMILIES: [&str; 4] = ["rtt", "completion", "response", "ack"];

impl Goal {
    /// The goal that the user's words mean, with at most `runs_max` runs. Errors where they make no sense.
    pub fn new(until: &Until, runs_max: u32) -> Result<Goal, PlanError> {
        let target = Target {
            half_width_ratio: until.half_width_ratio()?,
        };
        let caps = Caps {
            runs: runs_max,
            time_ns: until.time_ns()?,
        };
        Ok(Goal {
            statistic: until.statistic.clone(),
            rule: StopRule { target, caps },
        })
    }

    /// The tag of the figure that the goal waits for, as any of the runs has it: the last may lack it. The statistic's own
    /// name where none has.
    fn tag(&self, repetitions: &[Repetition]) -> String {
        let candidates: Vec<String> = match self.statistic.as_str() {
            "rate" => vec!["rate_msg_per_s".to_owned()],
            "bandwidth" => vec!["bandwidth_bytes_per_s".to_owned()],
            latency => FAMILIES.map(|family| format!("{family}_{latency}_ns")).to_vec(),
        };
        let published = |tag: &&String| repetitions.iter().any(|run| run.metrics.contains_key(*tag));
        let found = candidates.iter().find(published);
        found.cloned().unwrap_or_else(|| self.statistic.clone())
    }

    /// How it stands after these runs and `elapsed_ns` of measuring: `None` for more, else how it ended. `last`:
    /// there will be no more repetitions in any case.
    pub fn look(&self, all: &Runs, elapsed_ns: u64, last: bool) -> Option<Convergence> {
        let repetitions = all.counting();
        let tag = self.tag(repetitions);
        let values: Vec<f64> = repetitions
            .iter()
            .filter_map(|repetition| repetition.figure(&tag))
            .collect();
        let runs = u32::try_from(repetitions.len()).unwrap_or(u32::MAX);
        let mut rule = self.rule;
        // A run that was cut short is one of those that were allowed, too.
        rule.caps.runs = rule.caps.runs.saturating_sub(all.made().saturating_sub(runs));
        let (ratio, why) = match rule.look(&values, runs, elapsed_ns, last) {
            Look::Continue => return None,
            Look::Reached { half_width_ratio } => (Some(half_width_ratio), None),
            Look::NotReached {
                half_width_ratio,
                why,
            } => (half_width_ratio, Some(why)),
        };
        Some(Convergence {
            tag,
            target_ratio: Finite::maybe(self.rule.target.half_width_ratio).unwrap_or_default(),
            reached_ratio: ratio.and_then(Finite::maybe),
            repetitions: runs,
            reached: why.is_none(),
            why,
        })
    }
}
