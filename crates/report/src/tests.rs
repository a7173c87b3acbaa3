//! Results for the unit tests of this crate. It must never stand in for a document of a whole run.

use crate::assemble::failed_case;
use serde_json::{Value, json};
use wirespeed_schema::run::{CaseResult, Metric};

/// A stream without runs, with `fields` of its case in place of the usual ones, and with these figures of 600 samples each.
pub fn stream(fields: Value, metrics: &[(&str, f64)]) -> CaseResult {
    let mut case = json!({
        "test": "am_bw", "size_bytes": 8, "layout": "short", "window_msgs": 64, "transport": "tcp", "group": "processes",
        "ranks": [{"role": "source", "peer": 1}, {"role": "sink", "peer": 0}], "idle": "spin", "options": {"a": "1"},
        "stop": {"by": "duration", "duration_ns": 1}, "warmup_iterations": 0, "warmup_ns_max": 0,
    });
    let usual = case.as_object_mut().unwrap();
    usual.extend(fields.as_object().unwrap().clone());
    let mut result = failed_case(serde_json::from_value(case).unwrap(), "", None);
    for (tag, value) in metrics {
        let metric = Metric::of(*value, 600).unwrap();
        result.metrics.insert((*tag).to_owned(), metric);
    }
    result
}
