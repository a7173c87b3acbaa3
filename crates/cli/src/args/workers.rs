//! The options of `workers`. Parameters are kept as text: lists and ranges are split by the schema.

use super::parameters::{Form, Parameters, Taken};
use super::run::{FarArgs, TransportArgs};
use super::{ExperimentArgs, OutputArgs};
use clap::Args;
use std::path::PathBuf;
use wirespeed_schema::parameter::Parameter;

/// `wirespeed workers`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP, after_help = "--help shows examples and explains every option.")]
#[command(mut_arg("repeats", |repeats| repeats.short('r')), mut_arg("port", |port| port.short(None)))]
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

    /// Send the payload to the worker only, whose answer is empty; times are then not halved
    #[arg(long)]
    pub one_way: bool,

    /// Measure the original's whole grid: 2,10,20,50,100,1000 tests with payloads of 10 to 10000000 integers, and the figures
    #[arg(long)]
    pub grid: bool,

    #[command(flatten)]
    pub case: Parameters<OfWorkers>,

    #[command(flatten)]
    pub far: FarArgs,

    /// Write every round trip to FILE, a line each in ns; to FILE.csv with worker, payload and sequence
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub log: Option<PathBuf>,

    /// Draw figure3.svg and figure4.svg into DIR [default: none; workers-figures with --grid]
    #[arg(long, value_name = "DIR", help_heading = "Results")]
    pub figures: Option<PathBuf>,

    #[command(flatten)]
    pub transport: TransportArgs,

    #[command(flatten)]
    pub experiment: ExperimentArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// The parameters of `hub_lat`, in the words of a master and its workers.
#[derive(Debug, Clone)]
pub struct OfWorkers;

impl Taken for OfWorkers {
    fn form(parameter: &'static Parameter) -> Option<Form> {
        let own = Form::of(parameter);
        Some(match parameter.key {
            "via" => Form {
                help: Some("Transports, one table each [default: tcp; mpi in an MPI job]"),
                ..own
            },
            "size" => Form {
                letters: &['s'],
                help: Some("Payload in bytes instead: 64, 8K, 1MB, a list or a range"),
                ..own
            },
            "iters" => Form {
                long: Some("tests"),
                help: Some("Tests per worker: round trips with each, a list makes rows [default: 100]"),
                ..own
            },
            "to" => Form {
                help: Some("Run the master here and all workers on HOST, where `wirespeed serve` listens"),
                ..own
            },
            "fan_out" => Form {
                heading: Some("Test"),
                ..own
            },
            "warmup" | "layout" | "check" | "interval" | "load" => own,
            _ => return None,
        })
    }
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
