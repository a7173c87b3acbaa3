//! Ten million raw samples of one run through all statistics, from the outcome to the published case; says how long it took.
//!
//! `cargo run --release -p wirespeed-report --example ten_million`

use std::time::Instant;
use wirespeed_report::stats::Random;
use wirespeed_report::{Limits, case_result, repetition};
use wirespeed_schema::outcome::Outcome;
use wirespeed_schema::{Case, Finite, HistogramData};

const SAMPLES: usize = 10_000_000;

fn main() -> Result<(), serde_json::Error> {
    let mut random = Random::new(1);
    let values: Vec<f64> = (0..SAMPLES)
        .map(|_| 2000.0 * (0.3 * random.normal()).exp())
        .collect();
    let case: Case = serde_json::from_value(serde_json::json!({
        "test": "am_lat", "size_bytes": 8, "layout": "short", "transport": "shm", "group": "threads",
        "ranks": [{"role": "source", "peer": 1}, {"role": "sink", "peer": 0}],
        "stop": {"by": "iterations", "count": SAMPLES}, "warmup_iterations": 0, "warmup_ns_max": 0, "idle": "spin",
    }))?;
    let mut source: Outcome = serde_json::from_value(serde_json::json!({
        "rank": 0, "role": "source", "stop": "completed", "elapsed_ns": 30_000_000_000u64,
        "sent": {"messages": SAMPLES, "bytes": 8 * SAMPLES}, "received": {"messages": SAMPLES, "bytes": 8 * SAMPLES},
        "warmup_operations": 0, "idle": "spin", "disturbance": {}, "host": {},
        "clock": {"source": "tsc", "cost_ns": 10.0, "step_ns": 1.0, "ticks_per_ns": 2.6, "calibration_error_ppm": 1.0},
        "samples": [{"kind": "round_trip", "batch_ops": 1, "histogram": HistogramData::default()}],
    }))?;
    let mut sink = source.clone();
    (sink.rank, sink.samples) = (1, Vec::new());
    let started = Instant::now();
    source.samples[0].histogram = HistogramData::from_samples_ns(&values);
    source.samples[0].raw_ns = values.iter().filter_map(|value| Finite::maybe(*value)).collect();
    let measured = repetition(&case, 0, vec![source, sink], 0, 0);
    let result = case_result(case, vec![measured], &Limits::default());
    let seconds = started.elapsed().as_secs_f64();
    let median = result
        .metrics
        .get("rtt_p50_ns")
        .map_or(f64::NAN, |metric| metric.value.get());
    println!(
        "{SAMPLES} raw samples: {} figures, {} intervals by resampling, {} remarks in {seconds:.2} s (median {median:.0} ns)",
        result.metrics.len(),
        result.resampled.len(),
        result.remarks.len()
    );
    Ok(())
}
