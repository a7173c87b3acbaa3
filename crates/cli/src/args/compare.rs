//! The options of `compare` and `ab`.

use super::experiment::repeats;
use super::{ExperimentArgs, OutputArgs};
use clap::Args;
use std::path::PathBuf;

/// What counts as a difference, and who is told.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Verdict")]
pub struct GateArgs {
    /// Figures to compare: p50, p99, rate, bandwidth or any of docs/metrics.md [default: each case's headline]
    #[arg(long, value_name = "FIGURE[,..]", value_delimiter = ',')]
    pub figure: Vec<String>,

    /// Call two figures the same when their ratio is within 1 ± this
    #[arg(long, value_name = "WIDTH", default_value = "2%")]
    pub within: String,

    /// Exit 0 instead of 4 when a figure is inconclusive
    #[arg(long)]
    pub allow_inconclusive: bool,

    /// Compare results that were measured beside other clients of a server too [default: refuse them]
    #[arg(long)]
    pub allow_shared: bool,

    /// Write the verdicts to FILE as JUnit XML too, for a CI
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Print the verdicts as annotations of GitHub's workflows instead of the table
    #[arg(long, conflicts_with_all = ["json"])]
    pub github: bool,
}

/// `wirespeed compare`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed run latency --via shm -t 100ms --repeats 8 -o before.json
  wirespeed run latency --via shm -t 100ms --repeats 8 -o after.json
  wirespeed compare before.json after.json                         was anything lost?
  wirespeed compare before.json after.json --figure p50,p90 --within 5%

What differs between the machines is printed first. Each figure gets the ratio B/A with its interval over runs and a \
verdict: faster, slower, same (the interval is within 1 ± 2 %), or inconclusive, and then how many more runs should \
tell. Over several figures the verdicts are Holm-adjusted: the chance of one false alarm among all is 5 %.

Results taken one after the other differ by whatever the machine did meanwhile; `wirespeed ab` takes them side by side.

Exit codes: 0 nothing is slower, 3 something is slower, 4 nothing is slower but something is inconclusive, \
5 the results cannot be compared.")]
pub struct CompareArgs {
    /// Result to compare with, written by --json or -o FILE.json
    #[arg(value_name = "A.json")]
    pub a: PathBuf,

    /// Result that is judged
    #[arg(value_name = "B.json")]
    pub b: PathBuf,

    /// Pair cases that differ in these parameters: transport, layout, window_msgs, an option's name [default: in none]
    #[arg(long, value_name = "KEY[,..]", value_delimiter = ',')]
    pub across: Vec<String>,

    #[command(flatten)]
    pub gate: GateArgs,

    /// Print the comparison as one JSON document instead of the table
    #[arg(short = 'J', long, help_heading = "Results")]
    pub json: bool,

    /// Write the comparison to FILE too, in the form of its ending: .json .txt .md .html
    #[arg(short, long, value_name = "FILE", help_heading = "Results")]
    pub output: Vec<PathBuf>,
}

/// `wirespeed ab`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed ab --pairs 6 -- latency --via unix -t 50ms -O wait=block -- latency --via unix -t 50ms   is polling faster?
  wirespeed ab --pairs 6 --aa --within 5% -- latency --via inproc -t 50ms

Each arm is what `wirespeed run` takes. The arms are measured in turn, fresh processes and connections each time, in \
random order within each block of two pairs (ABBA or BAAB), so that what the machine does meanwhile meets both alike. \
An arm may be a sweep: its i-th case is compared with the i-th of the other arm. Arms that begin with `byteio bench` \
are bulk transfers.

--aa measures A against itself: what it calls different is the machine's doing, and how often that may happen is 5 %.

Exit codes: 0 B is not slower, 3 B is slower, 4 inconclusive.")]
#[command(mut_arg("repeats", |option| repeats(option.visible_alias("pairs"), "Pairs of runs, one of each arm [default: 10]")))]
#[command(mut_arg("github", |option| option.conflicts_with_all(["csv", "ndjson"])))]
pub struct AbArgs {
    /// Measure A against itself, to see what the machine alone makes differ
    #[arg(long)]
    pub aa: bool,

    #[command(flatten)]
    pub experiment: ExperimentArgs,

    #[command(flatten)]
    pub gate: GateArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    /// A's words for `wirespeed run`, then `--`, then B's
    #[arg(
        last = true,
        required = true,
        value_name = "A.. -- B..",
        help_heading = "Arguments"
    )]
    pub arms: Vec<String>,
}

impl AbArgs {
    /// The files that are written.
    pub fn written(&self) -> Vec<PathBuf> {
        let files = self.output.output.iter().chain(&self.gate.junit);
        files.cloned().collect()
    }
}
