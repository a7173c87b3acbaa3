//! What a rank saw, as figures: the tags of docs/metrics.md, and the seed's short list.

use std::ffi::CString;
use wirespeed::schema::case::Case;
use wirespeed::schema::outcome::{Count, Outcome, SampleKind};
use wirespeed_report::assemble::{Metrics, TakenIn};

/// A finished measurement of one rank.
pub struct Figures {
    metrics: Metrics,
    /// Operations of the rank within its time.
    pub within: Count,
    /// The outcome.
    pub outcome: Outcome,
    /// The repetition as JSON (see `Repetition` in docs/run.schema.json).
    pub json: CString,
}

impl Figures {
    /// The figures of `outcome`. What only both ends together tell is absent.
    pub fn new(case: &Case, outcome: Outcome) -> Result<Self, String> {
        let (metrics, _) = wirespeed_report::repetition_metrics(case, std::slice::from_ref(&outcome));
        let repetition = wirespeed_report::repetition(case, 0, vec![outcome.clone()], 0, 0);
        let json = serde_json::to_string(&repetition).map_err(|e| e.to_string())?;
        let json = CString::new(json).map_err(|e| e.to_string())?;
        let within = match outcome.sent.messages {
            0 => TakenIn::by(case, &outcome).count,
            _ => outcome.sent,
        };
        Ok(Figures {
            metrics,
            within,
            outcome,
            json,
        })
    }

    /// The figure called `tag`.
    pub fn value(&self, tag: &str) -> Option<f64> {
        self.metrics.get(tag).map(|metric| metric.value.get())
    }

    /// Median and mean of the rank's own samples, in ns: round trips where it has them, else completions, else iterations,
    /// else times between operations.
    pub fn typical_and_mean_ns(&self) -> Option<(f64, f64)> {
        let kinds = [
            SampleKind::RoundTrip,
            SampleKind::Completion,
            SampleKind::Iteration,
            SampleKind::SendInterval,
            SampleKind::ReceiveInterval,
        ];
        let samples = kinds.into_iter().find_map(|kind| self.outcome.samples_of(kind))?;
        let histogram = &samples.histogram;
        let median = histogram.quantile_ns(0.5)?;
        Some((median, histogram.sum_ns.get() / histogram.count as f64))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use wirespeed::schema::host::{ClockInfo, Disturbance};

    /// What a sink tells that has received nothing.
    pub fn outcome() -> Outcome {
        let outcome = serde_json::json!({
            "rank": 1, "role": "sink", "stop": "completed", "elapsed_ns": 1, "sent": {"messages": 0, "bytes": 0},
            "received": {"messages": 0, "bytes": 0}, "warmup_operations": 0, "samples": [],
            "clock": ClockInfo::default(), "idle": "spin", "disturbance": Disturbance::default(),
        });
        serde_json::from_value(outcome).unwrap()
    }
}
