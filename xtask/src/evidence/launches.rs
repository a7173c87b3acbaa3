//! How much the headline of one launch differs from that of the next.

use super::Context;
use super::archive::Archive;
use anyhow::{Context as _, Result};
use std::process::Command;
use wirespeed_report::stats::{modes_of_values, nearest_rank};
use wirespeed_report::{read_run, stats};

const LAUNCHES: usize = 30;
/// Interquartile range over median.
const SPREAD_MAX: f64 = 0.05;
const TAG: &str = "rtt_p50_ns";

/// The spread of the shm 8 B round trip over launches, with its modes.
pub fn spread(context: &Context, archive: &mut Archive) -> Result<()> {
    let mut values = Vec::new();
    for _ in 0..LAUNCHES {
        let words = [
            "run", "latency", "--via", "shm", "--size", "8", "-t", "1s", "-q", "--json",
        ];
        let text = crate::command::capture(Command::new(&context.binary).args(words))?;
        let run = read_run(text.as_bytes())?;
        let metric = run.cases.first().and_then(|case| case.metrics.get(TAG));
        values.push(metric.context("the result has no median")?.value.get());
    }
    let lines: Vec<String> = values.iter().map(f64::to_string).collect();
    archive.values("launches.csv", &format!("{TAG}\n{}\n", lines.join("\n")))?;
    let at = |p: f64| nearest_rank(&mut values.clone(), p);
    let median = stats::summarize(&values, stats::LEVEL).map_or(f64::NAN, |over| over.median);
    let ratio = (at(0.75) - at(0.25)) / median;
    let met = if ratio <= SPREAD_MAX { "met" } else { "missed" };
    let modes: Vec<String> = modes_of_values(&values)
        .iter()
        .map(|mode| format!("{:.1} ns ({:.0} %)", mode.at, mode.share * 100.0))
        .collect();
    archive.note(&format!(
        "Median of {LAUNCHES} launches {median:.1} ns, interquartile range {:.1} ns, {:.1} % of it: {met}. {}.",
        at(0.75) - at(0.25),
        ratio * 100.0,
        match modes.as_slice() {
            [] => "No modes that could be told apart".to_owned(),
            modes => format!("Modes: {}", modes.join(", ")),
        }
    ));
    Ok(())
}
