//! Every round trip in a line: plain nanoseconds, or CSV with worker, payload and sequence.
//!
//! The master's raw samples are in the order of its rounds, in each round by worker; that order is the engine's.

use super::cells::{master, tests};
use crate::render::{RenderError, Rows};
use wirespeed_schema::finite::Finite;
use wirespeed_schema::outcome::{SampleKind, Samples};
use wirespeed_schema::run::CaseResult;

/// One logged round trip.
struct Trip {
    worker: u32,
    sequence: usize,
    rtt_ns: f64,
}

const COLUMNS: [&str; 11] = [
    "case",
    "repetition",
    "transport",
    "fan_out",
    "size_bytes",
    "reply_bytes",
    "tests",
    "worker",
    "sequence",
    "trips",
    "rtt_ns",
];

/// The round trips of one repetition, and how many operations each covers.
fn trips(result: &CaseResult, index: usize) -> (Vec<Trip>, u64) {
    let Some(master) = result.repetitions.get(index).and_then(master) else {
        return (Vec::new(), 1);
    };
    let Some(samples) = master.samples_of(SampleKind::RoundTrip) else {
        return (Vec::new(), 1);
    };
    let Samples {
        raw_ns, batch_ops, ..
    } = samples;
    let workers: Vec<u32> = master.peers.iter().map(|peer| peer.peer).collect();
    let trip = |(number, rtt): (usize, &Finite)| {
        Some(Trip {
            worker: *workers.get(number % workers.len().max(1))?,
            sequence: number / workers.len().max(1),
            rtt_ns: rtt.get(),
        })
    };
    (raw_ns.iter().enumerate().filter_map(trip).collect(), *batch_ops)
}

/// One round-trip time a line, in whole nanoseconds, case after case.
pub fn log_lines(cases: &[CaseResult]) -> String {
    let mut text = String::new();
    for result in cases {
        for index in 0..result.repetitions.len() {
            for trip in trips(result, index).0 {
                text.push_str(&format!("{:.0}\n", trip.rtt_ns));
            }
        }
    }
    text
}

/// The same as CSV, self-describing.
pub fn log_csv(cases: &[CaseResult]) -> Result<String, RenderError> {
    let mut text = Rows::new(csv::Terminator::Any(b'\n'));
    text.add(&COLUMNS.map(str::to_owned))?;
    for (number, result) in cases.iter().enumerate() {
        let Some(hub) = result.case.test.hub() else {
            continue;
        };
        for (index, repetition) in result.repetitions.iter().enumerate() {
            let (trips, batch) = trips(result, index);
            for trip in trips {
                text.add(&[
                    number.to_string(),
                    repetition.index.to_string(),
                    result.case.transport.clone(),
                    hub.fan_out.to_string(),
                    hub.size_bytes.to_string(),
                    hub.reply().to_string(),
                    tests(result).to_string(),
                    trip.worker.to_string(),
                    trip.sequence.to_string(),
                    batch.to_string(),
                    format!("{:.1}", trip.rtt_ns),
                ])?;
            }
        }
    }
    text.text()
}
