//! The options of `sweep` and `load`.

use super::experiment::repeats;
use super::{ExperimentArgs, OutputArgs};
use clap::Args;

/// `wirespeed sweep`.
#[derive(Debug, Args)]
#[command(mut_arg("repeats", |option| repeats(option, "Fresh runs of every point [default: 3; 10 with --interference]")))]
#[command(after_long_help = "\
Examples:
  wirespeed sweep --repeats 2 -- bandwidth --via tcp -t 20ms --warmup 5ms --size 64..64K:x4
  wirespeed sweep --over window -- am_bw --via unix -t 20ms --size 64 --window 1..64:x4
  wirespeed sweep --over loggp -- --via tcp -t 20ms --warmup 5ms

What follows `--` is one test as `wirespeed run` takes it. Over sizes: the grid is refined where the curve changes, each \
threshold is narrowed down by halving and confirmed by interleaved probes at its two edges, and each piece gets its fit \
T = a + s/b with the size at which half of b is reached. Over windows: windows double until the rate no longer rises, and \
the smallest that reaches 95 % of the best is named, with the messages that are really in flight (Little's law). LogGP: \
windows of one and of 16 messages (--window 1,N for others) over sizes give L, o, g and G with residuals, over every transport \
with posted sends.

Show it as pictures: wirespeed sweep .. -o sweep.json, then wirespeed report sweep.json.")]
pub struct SweepArgs {
    /// What varies: size, window, or loggp to fit the parameters of LogGP
    #[arg(long, value_enum, default_value_t = Over::Size, value_name = "WHAT")]
    pub over: Over,

    /// Most points to measure, those of the first grid included
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(3..=1000))]
    pub points: u32,

    #[command(flatten)]
    pub experiment: ExperimentArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    /// A test and its options, as for `wirespeed run`; --size or --window gives the first grid
    #[arg(
        last = true,
        required = true,
        value_name = "TEST..",
        help_heading = "Arguments"
    )]
    pub words: Vec<String>,
}

/// What a sweep varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Over {
    /// The message size: find thresholds.
    Size,
    /// The window of a stream: find the one that is enough.
    Window,
    /// Windows of one and of several messages over sizes: latency, overhead, gap.
    Loggp,
}

/// `wirespeed load`.
#[derive(Debug, Args)]
#[command(mut_arg("repeats", |option| repeats(option.alias("trials"), "Runs of each rate [default: 3; 10 with --interference]")))]
#[command(after_long_help = "\
Examples:
  wirespeed load --repeats 1 --points 6 --p99 1ms -- --via unix --size 64 -t 40ms --warmup 5ms
  wirespeed load --repeats 1 --points 5 -q -o load.json -- --via inproc -t 40ms --warmup 5ms

An open loop: messages are due at a fixed rate whether or not earlier ones are done, and response time counts from the \
moment at which each was due, so that a stall is not hidden by a sender that waits for it. First the most that can be \
carried is measured, then rates from a tenth of it to a little above, in random order. Told are: offered against achieved \
rate, service time (from the send) and response time (from the due moment), the knee beyond which more load buys mostly \
waiting, and, with --p99, the highest rate that keeps the bound.")]
pub struct LoadArgs {
    /// Messages per second to offer: a list, a range 10k..90k:+10k, or auto, from a tenth of what is carried to a little above
    #[arg(long, value_name = "RATES|auto", default_value = "auto")]
    pub offered: String,

    /// Number of rates that auto offers [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(3..=100))]
    pub points: Option<u32>,

    /// Find the highest rate whose 99th percentile of response time stays within TIME
    #[arg(long, value_name = "TIME")]
    pub p99: Option<String>,

    #[command(flatten)]
    pub experiment: ExperimentArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    /// Options of the stream, as for `wirespeed run am_bw`
    #[arg(
        last = true,
        required = true,
        value_name = "OPTIONS..",
        help_heading = "Arguments"
    )]
    pub words: Vec<String>,
}
