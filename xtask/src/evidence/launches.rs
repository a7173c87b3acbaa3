//! How much the headline of one launch differs from that of the next.

use super::Context;
use super::archive::Archive;
use anyhow::{Context as _, Result};
use std::process::Command;
use wirespeed_report::stats::{Group, groups};
use wirespeed_report::{read_run, stats};

const LAUNCHES: usize = 30;
/// Interquartile range over median.
const SPREAD_MAX: f64 = 0.05;
const TAG: &str = "rtt_p50_ns";

/// The spread of the shm 8 B round trip over launches, whole and by the groups that launches fall into.
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
    let median = stats::summarize(&values, stats::LEVEL).map_or(f64::NAN, |over| over.median);
    let whole = Group {
        values: values.clone(),
    }
    .spread_ratio();
    archive.note(&format!(
        "Median of {LAUNCHES} launches {median:.1} ns, interquartile range {:.1} % of it: {}.",
        whole * 100.0,
        verdict(whole)
    ));
    let groups = groups(&values);
    for group in groups.iter().filter(|_| groups.len() > 1) {
        archive.note(&format!(
            "A group of its own: {} launches about {:.1} ns, interquartile range {:.1} % of it: {}.",
            group.values.len(),
            group.median(),
            group.spread_ratio() * 100.0,
            verdict(group.spread_ratio())
        ));
    }
    Ok(())
}

fn verdict(ratio: f64) -> &'static str {
    if ratio <= SPREAD_MAX { "met" } else { "missed" }
}
