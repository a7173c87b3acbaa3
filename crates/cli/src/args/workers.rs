//! The options of `workers`. Parameters are kept as text: lists and ranges are split by the schema.

use super::run::TransportArgs;
use super::{ExperimentArgs, OutputArgs};
use clap::Args;
use std::path::PathBuf;

/// `wirespeed workers`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP, after_help = "--help shows examples and explains every option.")]
#[command(mut_arg("repeats", |repeats| repeats.short('r')))]
pub struct WorkersArgs {
    /// Workers beside the master: N + 1 ranks, started by wirespeed [default: 5; in an MPI job all ranks but the first]
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    pub workers: Option<String>,

    /// Payload in 4-byte integers: 1000, a list 10,100 or a range 10..1000000:x10 [default: 1000]
    #[arg(
        short,
        long,
        value_name = "INTS",
        allow_negative_numbers = true,
        conflicts_with = "size"
    )]
    pub payload: Vec<String>,

    /// Payload in bytes instead: 64, 8K, 1MB, a list or a range
    #[arg(short, long, value_name = "SIZE", allow_negative_numbers = true)]
    pub size: Vec<String>,

    /// Tests per worker: round trips with each, a list makes rows [default: 100]
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub tests: Vec<String>,

    /// The payload goes to the worker only, its answer is empty; times are then not halved
    #[arg(long)]
    pub one_way: bool,

    /// A message to every worker outstanding at once, instead of one worker after the other
    #[arg(long)]
    pub fan_out: bool,

    /// The whole grid: tests 2,10,20,50,100,1000 with payloads of 10 to 10000000 integers, and the figures
    #[arg(long)]
    pub grid: bool,

    /// Transports, one table each [default: tcp; mpi in an MPI job]
    #[arg(long, value_name = "T[,T..]")]
    pub via: Vec<String>,

    /// Every round trip in a line, in ns; FILE.csv: with worker, payload and sequence
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub log: Option<PathBuf>,

    /// Write figure3.svg and figure4.svg into DIR [default with --grid: workers-figures]
    #[arg(long, value_name = "DIR", help_heading = "Results")]
    pub figures: Option<PathBuf>,

    /// Round trips or time before anything counts: 1k, 100ms, 0 for none [default: 10000, at most 100ms]
    #[arg(long, value_name = "N|TIME", allow_negative_numbers = true)]
    pub warmup: Option<String>,

    /// How data is handed over: short, bcopy, zcopy [default: by size]
    #[arg(long, value_name = "LAYOUT")]
    pub layout: Option<String>,

    /// Check every payload byte; wrong data exits with 6
    #[arg(long)]
    pub check: bool,

    /// Report every so often while a cell is measured: 1s; shown with --ndjson, kept in JSON
    #[arg(short, long, value_name = "TIME", allow_negative_numbers = true)]
    pub interval: Option<String>,

    /// The master is here and all workers are on HOST, where `wirespeed serve` listens
    #[arg(short = 'c', long, value_name = "HOST[:PORT]", help_heading = "Ranks")]
    pub to: Option<String>,

    /// Port of `wirespeed serve`, where --to names none
    #[arg(long, value_name = "PORT", requires = "to", help_heading = "Ranks")]
    pub port: Option<u16>,

    /// Who we are to the far end: the line that `wirespeed serve` printed there
    ///
    /// Better kept in WIRESPEED_IDENTITY, or in the key file that a shared home gives to both ends.
    #[arg(
        long,
        value_name = "LINE",
        env = "WIRESPEED_IDENTITY",
        hide_env_values = true,
        help_heading = "Ranks"
    )]
    pub identity: Option<String>,

    /// Load beside the measurement, by rank (0 is the master): [RANK:]cpu=N,memory=SIZE,touch=SIZE,log=N
    #[arg(long, value_name = "[RANK:]KEY=V,..", help_heading = "Ranks")]
    pub load: Vec<String>,

    /// A rank that says nothing for so long is given up [default: 10s]
    #[arg(
        long,
        value_name = "TIME",
        allow_negative_numbers = true,
        help_heading = "Ranks"
    )]
    pub silence: Option<String>,

    #[command(flatten)]
    pub transport: TransportArgs,

    #[command(flatten)]
    pub experiment: ExperimentArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

const AFTER_HELP: &str = "\
Examples:
  wirespeed workers                                    5 workers over tcp, 1000 integers, 100 tests each
  wirespeed workers -w 2 -p 10..10000:x10 -n 10,100    a small grid of payloads and tests
  wirespeed workers -w 3 --via shm,tcp -s 8,64K        two transports, payload in bytes
  wirespeed workers -w 3 --fan-out --log trips.csv     all workers at once, every round trip in a file
  wirespeed workers -w 3 --one-way -p 1000             payload to the workers, empty answers
  wirespeed workers -w 3 --load 2:cpu=2                does a busy machine stand out?
  wirespeed workers -w 3 --to 192.0.2.2                the workers on another machine, over tcp
  wirespeed workers --grid --dry-run                   what the whole grid would measure

A message goes to a worker, which sends it back at once. Figure 1 is half of the mean round trip, as is usual where the \
payload travels both ways; medians stand below it. The very first round trip with each worker is timed apart: connection, \
first touch and cold caches are what makes a program without warm-up look slow with few tests. A worker that takes 1.2 \
times as long as the others, beyond its interval, is marked slow.

Exit codes: 0 ok, 1 a run failed, 2 usage, 4 inconclusive (--strict), 6 wrong data, 130 interrupted.";
