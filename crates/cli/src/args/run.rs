//! The options of `run`. Every parameter of a case is kept as text here: lists and ranges are split by the schema.

use super::{ExperimentArgs, OutputArgs};
use clap::Args;

/// `wirespeed run`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP, after_help = "--help shows examples and explains every option.")]
#[command(mut_arg("repeats", |repeats| repeats.short('r')))]
pub struct RunArgs {
    /// A test (latency, rate, bandwidth, am_lat, put_bw, ...), a list of tests, or a plan file PLAN.toml
    ///
    /// Friendly names: latency is am_lat with 8 bytes; rate is am_bw with 8 bytes and a window of 1024; bandwidth is
    /// am_bw with 128 KiB (or the largest half of it that the transport takes).
    ///
    /// Tests: am_lat put_lat add_lat get fadd swap cswap am_bw put_bw add_mr get_bw am_bibw tag_lat tag_bw hub_lat
    /// am_alltoall msgrate osu_latency osu_bw osu_bibw osu_mbw_mr osu_multi_lat imb_pingpong imb_uniband imb_biband. Those of OSU and
    /// IMB follow the definitions of these benchmarks.
    #[arg(value_name = "TEST|PLAN.toml")]
    pub what: String,

    #[command(flatten)]
    pub case: CaseArgs,

    #[command(flatten)]
    pub group: GroupArgs,

    #[command(flatten)]
    pub transport: TransportArgs,

    #[command(flatten)]
    pub experiment: ExperimentArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// What is measured, and how long.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Test")]
pub struct CaseArgs {
    /// Transports to measure (see `wirespeed list`)
    #[arg(long, value_name = "T[,T..]")]
    pub via: Vec<String>,

    /// Payload of a message or operation: 64, 8K, 1MiB, 10MB, a list 64,1K or a range 8..1M:x2
    ///
    /// Bare K, M, G are binary; kB, MB, GB decimal. Default: 8 for latency, rate and atomics, 128K for bandwidth.
    #[arg(
        short,
        long,
        short_alias = 'l',
        value_name = "SIZE",
        allow_negative_numbers = true
    )]
    pub size: Vec<String>,

    /// Stop after so many operations: 1000, 10k, 1e6
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub iters: Vec<String>,

    /// Stop after so much time: 500ms, 10s, 2m [default: 1s]
    #[arg(short = 't', long, value_name = "TIME", allow_negative_numbers = true)]
    pub duration: Vec<String>,

    /// Operations or time before anything counts: 10k, 100ms, 0 for none [default: 10000 operations, at most 100ms]
    #[arg(long, value_name = "N|TIME", allow_negative_numbers = true)]
    pub warmup: Vec<String>,

    /// Messages that may be unacknowledged at once in a stream (credits) [default: 128, at most 8 MiB of them]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub window: Vec<String>,

    /// One-sided operations that may be uncompleted at once [default: 32 for put_bw, get_bw, add_mr, else 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub outstanding: Vec<String>,

    /// How data is handed over: short (inlined), bcopy (packed), zcopy (registered memory), shortiov (gathered, inlined)
    ///
    /// Default: short up to 1 KiB, bcopy up to 16 KiB, zcopy above; the next one where a transport lacks it. The
    /// result names the layout that was used. A layout that a test or transport does not have is refused.
    #[arg(long, value_name = "LAYOUT")]
    pub layout: Vec<String>,

    /// Offer a stream no faster than so many messages per second: 10k, or none
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub pace: Vec<String>,

    /// hub_lat: requests to all workers at once instead of one after the other
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    pub fan_out: Vec<String>,

    /// msgrate: order of posting: single, pair, pre-post, all-start [default: pre-post]
    #[arg(long, value_name = "NAME")]
    pub pattern: Vec<String>,

    /// msgrate: who is whose neighbour: ring, 2d (9-point stencil), 3d (27-point stencil) [default: ring]
    #[arg(long, value_name = "NAME")]
    pub grid: Vec<String>,

    /// msgrate: neighbours of a rank on the ring [default: 6, fewer where there are fewer ranks]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub peers: Vec<String>,

    /// msgrate: ranks between two neighbours on the ring [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub stride: Vec<String>,

    /// msgrate: the caches when an iteration begins: hot, rotating, touched, flushed [default: flushed]
    #[arg(long, value_name = "NAME")]
    pub cache_state: Vec<String>,

    /// msgrate: memory of a rank that fills the caches [default: 2 x the largest, shared among the ranks that share it]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub cache_size: Vec<String>,

    /// osu_*, imb_*: one place for all messages of a window, as the originals do, or multiple [default: single]
    #[arg(long, value_name = "single|multiple")]
    pub buffers: Vec<String>,

    /// hub_lat: payload of the answers: 0, 64, 8K [default: as much as the request]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub reply: Vec<String>,

    /// Check every payload byte and every fetched value; wrong data exits with 6
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    pub check: Vec<String>,

    /// Report every so often while a case runs: 1s; shown with --ndjson, kept in JSON
    #[arg(short, long, value_name = "TIME", allow_negative_numbers = true)]
    pub interval: Vec<String>,

    /// Keep the first N raw samples of every rank, at most 10M
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub raw: Vec<String>,
}

/// Who takes part, and where.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Ranks")]
pub struct GroupArgs {
    /// N threads of one process
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Vec<String>,

    /// N processes of this machine, started by wirespeed [default: 2, threads for transports that need them]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub procs: Vec<String>,

    /// The other rank runs on HOST, where `wirespeed serve` listens
    #[arg(short = 'c', long, value_name = "HOST[:PORT]")]
    pub to: Vec<String>,

    /// Port of `wirespeed serve`, where --to names none
    #[arg(short, long, value_name = "PORT", requires = "to")]
    pub port: Option<u16>,

    /// Who we are to the far end: the line that `wirespeed serve` printed there
    ///
    /// Better kept in WIRESPEED_IDENTITY, or in the key file that a shared home gives to both ends: a command line can
    /// be read by every user of a machine. It never enters a result.
    #[arg(long, value_name = "LINE", env = "WIRESPEED_IDENTITY", hide_env_values = true)]
    pub identity: Option<String>,

    /// What each rank does: source,sink,idle or hub,worker,worker [default: rank i sends to rank i + N/2]
    #[arg(long, value_name = "LIST")]
    pub roles: Vec<String>,

    /// The far end sends: --roles sink,source
    #[arg(short = 'R', long, conflicts_with = "roles")]
    pub reverse: bool,

    /// Load beside the measurement, of one rank or of all: cpu=N, memory=SIZE, touch=SIZE, touch-once=SIZE, log=N,
    /// bandwidth=N, cache=N, place=beside|apart|sibling|same; several add up
    #[arg(long, value_name = "[RANK:]KEY=V,..")]
    pub load: Vec<String>,

    /// A rank or server that says nothing for so long is given up [default: 10s]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub silence: Option<String>,

    /// IPv4 only
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub ipv4: bool,

    /// IPv6 only
    #[arg(short = '6', long)]
    pub ipv6: bool,
}

/// Options of the transports themselves.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Transport options")]
pub struct TransportArgs {
    /// An option of the transport (see `wirespeed list TRANSPORT`); several values make a sweep
    #[arg(short = 'O', long = "option", value_name = "NAME=VALUE[,..]")]
    pub options: Vec<String>,

    /// tcp, udp: source address
    #[arg(long, value_name = "ADDRESS")]
    pub source: Vec<String>,

    /// tcp: congestion control
    #[arg(short = 'C', long, value_name = "NAME")]
    pub congestion: Vec<String>,

    /// Sockets: send buffer
    #[arg(long, value_name = "SIZE")]
    pub sndbuf: Vec<String>,

    /// Sockets: receive buffer
    #[arg(long, value_name = "SIZE")]
    pub rcvbuf: Vec<String>,

    /// tcp: maximum segment size
    #[arg(short = 'M', long, value_name = "BYTES")]
    pub mss: Vec<String>,

    /// tcp, udp: DSCP code point
    #[arg(long, value_name = "DSCP")]
    pub dscp: Vec<String>,

    /// How a rank waits: poll, block, ...
    #[arg(long, value_name = "MODE")]
    pub wait: Vec<String>,

    /// Sockets: let the kernel busy-poll for so long
    #[arg(long, value_name = "MICROSECONDS")]
    pub busy_poll: Vec<String>,
}

impl RunArgs {
    /// The words given for the plan's keys, in the order of `--help`.
    pub fn words(&self) -> [(&'static str, &[String]); 25] {
        let (case, group) = (&self.case, &self.group);
        [
            ("via", &case.via),
            ("size", &case.size),
            ("iters", &case.iters),
            ("duration", &case.duration),
            ("warmup", &case.warmup),
            ("window", &case.window),
            ("outstanding", &case.outstanding),
            ("layout", &case.layout),
            ("pace", &case.pace),
            ("fan_out", &case.fan_out),
            ("pattern", &case.pattern),
            ("grid", &case.grid),
            ("peers", &case.peers),
            ("stride", &case.stride),
            ("cache_state", &case.cache_state),
            ("cache_size", &case.cache_size),
            ("buffers", &case.buffers),
            ("reply", &case.reply),
            ("check", &case.check),
            ("interval", &case.interval),
            ("raw", &case.raw),
            ("threads", &group.threads),
            ("procs", &group.procs),
            ("to", &group.to),
            ("roles", &group.roles),
        ]
    }
}

impl TransportArgs {
    /// Options with an argument of their own, by the transports' names for them.
    pub fn direct(&self) -> [(&'static str, &[String]); 8] {
        [
            ("source", &self.source),
            ("congestion", &self.congestion),
            ("sndbuf", &self.sndbuf),
            ("rcvbuf", &self.rcvbuf),
            ("mss", &self.mss),
            ("dscp", &self.dscp),
            ("wait", &self.wait),
            ("busy_poll", &self.busy_poll),
        ]
    }
}

const AFTER_HELP: &str = "\
Examples:
  wirespeed run latency --via shm                              a ping-pong between two processes
  wirespeed run latency --via inproc --threads 2               the same between two threads
  wirespeed run bandwidth --via tcp,unix --size 4K..1M:x4      a sweep: every size on both
  wirespeed run am_bw --via tcp --window 1..256:x2 --dry-run   what would be measured
  wirespeed run latency --via tcp --repeats 10 -o result.json  fresh connections, ten times
  wirespeed run latency --via shm -t 100ms --until p50:5%      repeats until the median is known within 5 %
  wirespeed run latency --via tcp --to node7 -C cubic,reno     to another machine, two congestion controls
  wirespeed run hub_lat --via shm --procs 3 --fan-out          a hub and two workers
  wirespeed run latency --via shm --procs 3 --roles source,sink,idle --load 2:cpu=1,memory=64M,touch=64M
  wirespeed run latency --via shm -t 50ms --repeats 6 --interference=cpu,memory   what does a busy machine do to it?
  wirespeed run plan.toml --json                               many cases from a file, one document

A plan file has the same keys; defaults hold for the cases that take them:
  repeats = 3

  [defaults]
  duration = \"200ms\"

  [[case]]
  test = [\"latency\", \"bandwidth\"]
  via = [\"shm\", \"tcp\"]

  [[case]]
  test = \"am_bw\"
  via = \"tcp\"
  size = \"8..8K:x32\"
  window = 64
  option.congestion = [\"cubic\", \"reno\"]

Lists and ranges make a Cartesian product. A case that a transport cannot do is recorded as skipped, a case that fails \
as failed, and the others go on. Ctrl-C once: the running case ends in order, what was measured is written. Twice: at \
once.

Exit codes: 0 ok, 1 a run failed, 2 usage, 4 inconclusive (--strict), 5 refused, 6 wrong data, 130 interrupted.";
