//! The options of `perftest`: those of ucx_perftest under their letters, each with a long name beside it. Everything is
//! kept as text; `crate::perftest` says what it means.

use super::known::Known;
use super::{ExperimentArgs, OutputArgs};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `wirespeed perftest`.
#[derive(Debug, Args)]
#[command(args_override_self = true, after_long_help = AFTER_HELP, after_help = "--help shows the tests and examples.")]
#[command(mut_arg("json", |json| json.short(None)), mut_arg("output", |output| output.short(None)),
    mut_arg("quiet", |quiet| quiet.short(None)), mut_arg("cpus", |cpus| cpus.short('c')
    .help("CPUs for this end, one a thread (off)")))]
pub struct PerftestArgs {
    /// The server's host; without it, this is the server
    #[arg(value_name = "SERVER")]
    pub server: Option<String>,

    #[command(flatten)]
    pub test: TestArgs,

    /// Tests from a file, one a line: a name, then options; several files give all combinations, the first slowest
    #[arg(short, long, value_name = "FILE", help_heading = "Batch")]
    pub batch: Vec<PathBuf>,

    /// A variable for batch files, where it stands as ${NAME}
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Batch")]
    pub set: Vec<String>,

    /// TCP port of the server
    #[arg(short, long, value_name = "PORT", default_value_t = 13337, help_heading = "Ends",
        value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,

    /// IPv6 for the control connection
    #[arg(short = '6', long, help_heading = "Ends")]
    pub ipv6: bool,

    /// Server: serve one client after the other, for ever (also -l without a test)
    #[arg(long, conflicts_with_all = ["server", "loopback_only"], help_heading = "Ends")]
    pub forever: bool,

    /// No server: both ends are threads of this process (also -l with a test)
    #[arg(long = "loopback", conflicts_with = "server", help_heading = "Ends")]
    pub loopback_only: bool,

    /// 1: the ends are the ranks of a launcher; 0: ignore the launcher [default: found by itself]
    #[arg(short = 'P', value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1), help_heading = "Ends")]
    pub launched: Option<u8>,

    /// Server: loopback, all, or addresses of this machine
    #[arg(
        long,
        value_name = "ADDRESS[,..]",
        default_value = "loopback",
        value_delimiter = ',',
        overrides_with = "listen",
        help_heading = "Ends"
    )]
    pub listen: Vec<String>,

    /// Client: credential for the server, where the two share no home: the line that the server shows
    #[arg(
        long,
        value_name = "LINE",
        env = "WIRESPEED_IDENTITY",
        hide_env_values = true,
        help_heading = "Ends"
    )]
    pub identity: Option<String>,

    /// Server: print the secret line that a client without our home needs
    #[arg(long, help_heading = "Ends")]
    pub print_identity: bool,

    /// Thousands separators
    #[arg(short = 'N', help_heading = "Classic output")]
    pub numeric: bool,

    /// Only the final line of each test
    #[arg(short = 'f', help_heading = "Classic output")]
    pub final_only: bool,

    /// The original's CSV (--csv is wirespeed's, with every parameter in every row)
    #[arg(short = 'v', help_heading = "Classic output")]
    pub classic_csv: bool,

    /// Add what the transport did to the final line (so does -I)
    #[arg(short = 'X', help_heading = "Classic output")]
    pub extra: bool,

    /// Whose table and defaults
    #[arg(
        long,
        value_enum,
        default_value_t = Generation::Today,
        value_name = "WHEN",
        help_heading = "Classic output"
    )]
    pub generation: Generation,

    /// What goes to stdout
    #[arg(long, value_enum, default_value_t = Format::Classic, value_name = "FORM", help_heading = "Results")]
    pub format: Format,

    #[command(flatten)]
    pub experiment: ExperimentArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// Which of the original's releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Generation {
    /// Today's table; window 127, outstanding operations by test.
    Today,
    /// The table of 2015: `typical`, no stage; window 128, one outstanding operation; rates of ping-pongs not doubled.
    #[value(name = "2015")]
    Y2015,
}

impl From<Generation> for wirespeed_report::perftest::Generation {
    fn from(asked: Generation) -> Self {
        match asked {
            Generation::Today => Self::Today,
            Generation::Y2015 => Self::Y2015,
        }
    }
}

/// How results look on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// As ucx_perftest prints them, while the test runs.
    Classic,
    /// wirespeed's own table.
    Table,
}

/// What a test is made of: on the command line, and on every line of a batch file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Test", args_override_self = true)]
pub struct TestArgs {
    /// Test to run
    #[arg(short, long, value_name = "TEST")]
    #[arg(value_parser = Known::Originals, hide_possible_values = true)]
    pub test: Option<String>,

    /// Transport: one of UCX with its device (-x posix -d memory), or one of `wirespeed list` (-x shm)
    #[arg(short = 'x', long, value_name = "TL")]
    pub transport: Option<String>,

    /// Device of a UCX transport
    #[arg(short, long, value_name = "DEVICE")]
    pub device: Option<String>,

    /// Data layout: short, shortiov, bcopy, zcopy; of the UCP tests contig or iov, one for each end (short; contig)
    #[arg(short = 'D', long, value_name = "LAYOUT")]
    pub layout: Option<String>,

    /// Message size: 64, 8K; a list for scatter-gather entries; a range 8..1M:x2 for one test each (8)
    #[arg(short, long, value_name = "SIZE", allow_negative_numbers = true)]
    pub size: Option<String>,

    /// Iterations, or unlimited (1000000)
    #[arg(short = 'n', long, value_name = "ITERS", allow_negative_numbers = true)]
    pub iters: Option<String>,

    /// Warm-up iterations, at most 100 ms of them (10000)
    #[arg(short, long, value_name = "ITERS", allow_negative_numbers = true)]
    pub warmup: Option<String>,

    /// Flow-control window of active messages, any size (127)
    #[arg(short = 'W', long, value_name = "COUNT", allow_negative_numbers = true)]
    pub window: Option<String>,

    /// Operations that may be uncompleted at once; 0 for the test's own default (0)
    #[arg(short = 'O', long, value_name = "COUNT", allow_negative_numbers = true)]
    pub outstanding: Option<String>,

    /// Active-message header, part of the size of a UCT test (8; UCP 0, which is wirespeed's own 8)
    #[arg(short = 'H', long, value_name = "SIZE", allow_negative_numbers = true)]
    pub header: Option<String>,

    /// With a test: loopback, both ends in this process; without: serve for ever
    #[arg(short)]
    pub loopback: bool,

    /// Percentile rank of the percentile column, over the whole run (50.0)
    #[arg(short = 'R', long, value_name = "RANK", allow_negative_numbers = true)]
    pub percentile: Option<String>,

    /// Threads at each end, each with worker, endpoint and CPU of its own (1)
    #[arg(short = 'T', long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<String>,

    /// How an end waits: poll or sleep (poll)
    #[arg(short = 'E', long, value_name = "MODE")]
    pub wait: Option<String>,

    /// Check every payload byte and every fetched value
    #[arg(short = 'V', long)]
    pub check: bool,

    /// One-sided tests: the target progresses once per 65,536 polls
    #[arg(short = 'o', long)]
    pub one_sided: bool,

    /// Distance in memory of the pieces of a scatter-gather list; 0: they lie together (0)
    #[arg(
        short = 'i',
        long,
        value_name = "BYTES",
        allow_negative_numbers = true,
        help_heading = "UCX only"
    )]
    pub stride: Option<String>,

    /// Register memory without blocking
    #[arg(short = 'B', help_heading = "UCX only")]
    pub nonblock: bool,

    /// Asynchronous progress: thread_spinlock, thread_mutex, signal
    #[arg(short = 'A', value_name = "MODE", help_heading = "UCX only")]
    pub async_mode: Option<String>,

    /// How a worker guards itself against other threads: single, serialized, multi (single)
    #[arg(short = 'M', long, value_name = "MODE", help_heading = "UCX only")]
    pub thread_mode: Option<String>,

    /// Wildcard tags in the tag tests
    #[arg(short = 'C', long, help_heading = "UCX only")]
    pub wildcard: bool,

    /// Unexpected messages in the tag tests: probe first
    #[arg(short = 'U', long, help_heading = "UCX only")]
    pub unexpected: bool,

    /// Receive of the stream tests: recv, recv_data (recv)
    #[arg(short = 'r', long, value_name = "MODE", help_heading = "UCX only")]
    pub stream_recv: Option<String>,

    /// UCX's own error handling of endpoints: none, peer (none; -e alone: peer). A lost end ends a run in any case
    #[arg(
        short = 'e',
        value_name = "MODE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "peer",
        help_heading = "UCX only"
    )]
    pub error_mode: Option<String>,

    /// Pass pre-registered memory
    #[arg(short = 'z', long, help_heading = "UCX only")]
    pub preregistered: bool,

    /// Wake-up feature of the worker
    #[arg(short = 'I', help_heading = "UCX only")]
    pub wakeup: bool,

    /// Copy active messages once more in the receive handler
    #[arg(short = 'y', help_heading = "UCX only")]
    pub receive_copy: bool,

    /// Kind of memory, one for each end: host (host)
    #[arg(short = 'm', long, value_name = "TYPE", help_heading = "UCX only")]
    pub memory: Option<String>,

    /// Devices of GPU tests: read, and recorded as skipped
    #[arg(short = 'a', value_name = "DEVICES", hide = true)]
    pub gpu_devices: Option<String>,

    /// Level of GPU tests: read, and recorded as skipped
    #[arg(short = 'L', value_name = "LEVEL", hide = true)]
    pub gpu_level: Option<String>,

    /// Completions of GPU tests: read, and recorded as skipped
    #[arg(short = 'F', value_name = "COUNT", hide = true)]
    pub gpu_completions: Option<String>,

    /// Channel of GPU tests: read, and recorded as skipped
    #[arg(short = 'Y', value_name = "MODE", hide = true)]
    pub gpu_channel: Option<String>,

    /// No error messages of UCX: wirespeed reports errors on stderr in any case
    #[arg(short = 'q', hide = true)]
    pub silent: bool,

    /// Read by the original, without an effect there
    #[arg(short = 'S', hide = true)]
    pub nothing: bool,
}

const AFTER_HELP: &str = "\
Tests:
  UCT  am_lat put_lat add_lat get fadd swap cswap am_bw put_bw get_bw add_mr
  UCP  tag_lat tag_bw tag_sync_lat tag_sync_bw ucp_put_lat ucp_put_bw ucp_get ucp_add ucp_fadd ucp_swap ucp_cswap
       stream_lat stream_bw ucp_am_lat ucp_am_bw
  both directions at once, not in the original: am_bibw ucp_am_bibw

Examples:
  wirespeed perftest -l -t am_bw -x inproc -s 64                both ends in this process
  wirespeed perftest -l -t am_lat -x inproc -s 8..8K:x4         one test for every size
  wirespeed perftest -l -b tests -b sizes -x inproc             all combinations of the lines of two files
  wirespeed perftest -b tests -b sizes -x shm --dry-run         what would be run

Two ends, on one machine or two; UCX's transports take their device, -x posix -d memory:
  there:  wirespeed perftest --listen all
  here:   wirespeed perftest THERE -t am_lat -x tcp -n 10000

A line of a batch file is a name and options; empty lines and those that begin with # are skipped. Beyond the original: \
@include FILE, @set NAME=VALUE, ${NAME}, and ranges. Options on the command line win over those of a line, and the \
client alone needs the files. The bandwidth column counts MiB, as the original's does.

Exit codes: 0 ok, 1 a test failed, 2 usage, 4 inconclusive (--strict), 5 refused, 6 wrong data, 130 interrupted.";
