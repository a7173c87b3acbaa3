//! The benchmark beside the peers: ucx_perftest, sockperf, iperf3 and wirespeed in turn on the same cores.
//!
//! Pairs are interleaved and their order alternates, so that a noisy machine disturbs both sides alike. This is never
//! a test: it fails only when something cannot run, not when a number is bad.

mod commands;
mod report;
mod stats;
mod table;
mod tools;

use anyhow::{Context, Result};
use commands::Side;
use report::Report;
use std::collections::BTreeMap;
use std::path::Path;
use table::{COMPARISONS, LIMITS};

/// Run `pairs` interleaved pairs of every comparison and archive output and summary under docs/runs/.
pub fn run(root: &Path, pairs: usize) -> Result<()> {
    let binary = root.join("target/release/wirespeed");
    if !binary.is_file() {
        anyhow::bail!("no target/release/wirespeed; run `make build` first");
    }
    let available = tools::install()?;
    let cores = tools::two_cores()?;
    let mut report = Report::create(root, pairs, &cores)?;
    let context = commands::Context { binary, cores };
    let mut figures = BTreeMap::<&str, Vec<(f64, f64)>>::new();
    for pair in 0..pairs.max(1) {
        for comparison in COMPARISONS {
            let needed = comparison.theirs.program();
            if needed.is_some_and(|p| !available.contains(p)) {
                report.note(&format!(
                    "skipped: {}: {} is not installed",
                    comparison.name,
                    needed.unwrap_or_default()
                ));
                continue;
            }
            let mut measure = |side: &Side| {
                let figure = side.run(&context, &mut report);
                figure.with_context(|| format!("{} (pair {})", comparison.name, pair + 1))
            };
            // Alternate who goes first.
            let (ours, theirs) = if pair % 2 == 0 {
                let theirs = measure(&comparison.theirs);
                (measure(&comparison.ours), theirs)
            } else {
                let ours = measure(&comparison.ours);
                (ours, measure(&comparison.theirs))
            };
            match (ours, theirs) {
                (Ok(ours), Ok(theirs)) => {
                    report.pair(pair, comparison, ours, theirs);
                    figures.entry(comparison.name).or_default().push((ours, theirs));
                }
                (Err(error), _) | (_, Err(error)) => report.note(&format!("failed: {error:#}")),
            }
        }
    }
    let mut limits = Vec::new();
    for limit in LIMITS {
        match (limit.measure)(&context, &mut report) {
            Ok(value) => limits.push((limit, value)),
            Err(error) => report.note(&format!("failed: {}: {error:#}", limit.name)),
        }
    }
    report.finish(&figures, &limits)
}
