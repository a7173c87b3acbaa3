//! What a test of a batch costs before it measures, from the second on: the time of a long batch less that of a short
//! one, over the tests between them, at the client of either program.

use super::launch::{Context, pair};
use super::report::Report;
use anyhow::{Context as _, Result};
use std::fmt::Write as _;
use std::time::Duration;

/// Tests of the two batches.
const SHORT: u32 = 1;
const LONG: u32 = 41;

/// Whose batch mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// `wirespeed perftest`.
    Ours,
    /// ucx_perftest.
    Theirs,
}

/// Nanoseconds for each further test of a batch of one message each over `transport` (`-x posix -d memory`).
pub fn case_ns(context: &Context, report: &mut Report, whose: Whose, transport: &str) -> Result<f64> {
    let short = batch(context, report, whose, transport, SHORT)?;
    let long = batch(context, report, whose, transport, LONG)?;
    Ok((long.as_nanos() as f64 - short.as_nanos() as f64) / f64::from(LONG - SHORT))
}

fn batch(
    context: &Context,
    report: &mut Report,
    whose: Whose,
    transport: &str,
    tests: u32,
) -> Result<Duration> {
    let mut text = String::new();
    for number in 0..tests {
        // Writing to a string never fails.
        let _ = writeln!(text, "test{number} -t am_lat -D short -s 8 -n 1 -w 1");
    }
    let folder = tempfile::tempdir().context("cannot make a folder for the batch")?;
    let file = folder.path().join("batch");
    std::fs::write(&file, text).context("cannot write the batch")?;
    let file = file.display().to_string();
    let program = match whose {
        Whose::Ours => context.binary.display().to_string(),
        Whose::Theirs => "ucx_perftest".to_owned(),
    };
    let verb: &[&str] = if whose == Whose::Ours { &["perftest"] } else { &[] };
    let transport: Vec<&str> = transport.split(' ').collect();
    let port = ["-p", "13398"];
    // The original's server wants the same files and options; ours learns them from its client.
    let server = match whose {
        Whose::Ours => [verb, &port].concat(),
        Whose::Theirs => [&port[..], &transport, &["-b", &file]].concat(),
    };
    let client = [verb, &["127.0.0.1", "-f"], &port, &transport, &["-b", &file]].concat();
    pair(context, report, &program, &server, &client).map(|(_, time)| time)
}
