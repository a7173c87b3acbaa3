//! The options of the verbs that read results, and of `selftest`.

use clap::Args;
use std::path::PathBuf;

/// `wirespeed report`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed quick --budget 5s -q -o machine.json
  wirespeed report machine.json                            words and pictures in the terminal
  wirespeed report machine.json -o report.html             one page for the browser
  wirespeed report machine.json -o report.html --charts charts

The page needs nothing else: no other file, no network, light and dark. It says first what was measured, the answer and how \
sure it is; then come the pictures that the results have (transports side by side, bandwidth and latency against size with \
their thresholds, rate against window, percentiles, distributions, slices of time, comparisons), each with its table; \
then every case, what may have skewed it, and the environment. Several results share one page.")]
pub struct ReportArgs {
    /// Results to show, written by --json or -o FILE.json; - reads stdin
    #[arg(value_name = "RESULT.json", required = true)]
    pub results: Vec<PathBuf>,

    /// Write it to FILE, in the form of its ending: one HTML page as .html, or .md .txt [default: text and plots in the terminal]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Write each picture into DIR too, as NAME.svg and as NAME.vl.json for Vega-Lite
    #[arg(long, value_name = "DIR")]
    pub charts: Option<PathBuf>,
}

/// `wirespeed selftest`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed selftest            every law, 1000 replicates of each coverage: under a minute
  wirespeed selftest --quick    200 replicates
  wirespeed selftest --json     the same for programs

A simulated transport with known laws runs in virtual time through the engine's own loops, the recorder, the statistics \
and the published document: constant and lognormal latency, two modes, a slow start, stalls, correlation, loss, a \
protocol switch, a pipe that a window fills, a queue. What comes out is compared with the truth: quantiles, how often \
intervals hold it, thresholds and knees found and none invented, stalls not hidden by a sender that waits. It measures \
the instrument, not the machine: load does not change its answer.

Exit codes: 0 every check passed, 1 some did not.")]
pub struct SelftestArgs {
    /// Use a fifth of the replicates: 200 instead of 1000, in seconds
    #[arg(long)]
    pub quick: bool,

    /// Print one JSON document instead of text
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// `wirespeed explain`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed quick --budget 5s -q -o machine.json
  wirespeed explain machine.json            what the figures say, in sentences
  wirespeed explain machine.json --json     the same for programs

Each sentence comes from a rule and cites the figures that it rests on: wake-ups against polling, what each transport costs \
over the one before, a window that holds a stream back, a CPU that is the limit, a tail that tells of the machine, first \
touch, the harness itself, thresholds and fits of sweeps, the knee of a load, the end of a cache. A rule that lacks a \
figure says nothing.")]
pub struct ExplainArgs {
    /// Result to explain, written by --json or -o FILE.json; - reads stdin
    #[arg(value_name = "RESULT.json")]
    pub result: PathBuf,

    /// Print JSON instead of text
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// `wirespeed import`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  echo 1200 | wirespeed import - --format workers --size 8 --transport tcp

Reads what other tools wrote and writes it as a result, so that `compare` and `report` work against history: iperf3 --json, \
osu_latency and osu_bw, IMB-MPI1 PingPong and Uniband, Sandia's msgrate -o, sockperf, ucx_perftest -v, the workers' log and arras4benchmark's lines. \
What a file does not say is unknown, or the tool's default with a note; --test, --size, --window and --transport say it. \
Only figures of the same definition are taken (OSU's latency is half of a mean: it becomes rtt_mean_ns). `compare` and \
`report` read such files themselves; this verb shows what is taken from them.")]
pub struct ImportArgs {
    /// File of another tool; - reads stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Which tool wrote it: iperf3, osu, imb, smb, sockperf, ucx_perftest, workers, arras [default: found out]
    #[arg(long, value_name = "TOOL")]
    pub format: Option<String>,

    /// Which test it was, where the file does not say: a name of ucx_perftest -t
    #[arg(long, value_name = "TEST")]
    pub test: Option<String>,

    /// Message size, where the file does not say: 64, 8K
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,

    /// Messages that may be unacknowledged at once, where the file does not say
    #[arg(long, value_name = "COUNT")]
    pub window: Option<String>,

    /// Transport, where the file does not say: tcp
    #[arg(long, value_name = "NAME")]
    pub transport: Option<String>,

    /// Write the result to FILE.json instead of stdout
    #[arg(short, long, value_name = "FILE.json")]
    pub output: Option<PathBuf>,
}
