//! The options of `session` and of the daemons behind it. Options of the original keep the original's spelling.

use super::experiment::repeats;
use super::{ExperimentArgs, OpenLoopArgs, OutputArgs};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// How `session` shows its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SessionFormat {
    /// wirespeed's own table.
    #[default]
    Table,
    /// The original's line for every report.
    Classic,
}

/// `wirespeed session`.
#[derive(Debug, Args)]
#[command(args_override_self = true, after_long_help = AFTER_HELP)]
#[command(mut_arg("repeats", |option| repeats(option.visible_alias("repeat"), "Times to create, run and end the sessions [default: 1]; rounds in one session with --interference and --offered")))]
pub struct SessionArgs {
    /// Who sends to whom: client_to_computation, computation_to_client, computation_to_computation or
    /// computations_to_computations (everybody to everybody) [default: nobody, the session is only held]
    #[arg(
        long = "benchmarkPath",
        visible_alias = "bandwidthPath",
        alias = "path",
        value_name = "PATH",
        help_heading = "Messages"
    )]
    pub path: Option<String>,

    /// Size of a message in MiB, added to --bytes: 1, a list 1,2,4 or a range 1..32:x2
    #[arg(long, value_name = "N", default_value = "0", help_heading = "Messages")]
    pub mb: String,

    /// Size of a message: 1, 16K, a list or a range 1..1M:x4
    #[arg(long, value_name = "SIZE", default_value = "0", help_heading = "Messages")]
    pub bytes: String,

    /// Messages that may be unacknowledged: 1 is a synchronous round trip; a list or a range 1..1000:x10
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        allow_negative_numbers = true,
        help_heading = "Messages"
    )]
    pub credits: String,

    /// Measure for this long: seconds, or with a unit
    #[arg(long, value_name = "TIME", default_value = "30", help_heading = "Messages")]
    pub duration: String,

    /// Report at this interval: seconds, or with a unit
    #[arg(long, value_name = "TIME", default_value = "5", help_heading = "Messages")]
    pub report_frequency: String,

    /// Way of the messages: direct (peers connect to each other), daemon (all pass the node's daemon), or both
    #[arg(
        long,
        value_name = "ROUTE[,..]",
        default_value = "direct",
        value_delimiter = ',',
        help_heading = "Messages"
    )]
    pub route: Vec<String>,

    /// Transports that carry the messages: shm, unix, tcp [default: unix on one machine, tcp between machines]
    #[arg(long, value_name = "T[,..]", value_delimiter = ',', help_heading = "Messages")]
    pub via: Vec<String>,

    /// How ends wait: poll, or block in the kernel [default: poll where every end has a core]
    #[arg(long, value_name = "MODE", help_heading = "Messages")]
    pub wait: Option<String>,

    /// An option of the transport; `wirespeed list TRANSPORT` shows which there are
    #[arg(
        short = 'O',
        long = "option",
        value_name = "NAME=VALUE",
        help_heading = "Messages"
    )]
    pub options: Vec<String>,

    /// Check every payload byte; wrong data exits with 6
    #[arg(long, help_heading = "Messages")]
    pub check: bool,

    /// Let the client sleep after each message it receives, as a slow reader: microseconds, or with a unit
    #[arg(
        long = "messageSleep",
        value_name = "TIME",
        default_value = "0",
        help_heading = "Messages"
    )]
    pub message_sleep: String,

    /// Data centre whose coordinator the site names; local embeds the session [default: STUDIO in lower case, or the only
    /// one of the site's file]
    #[arg(long, value_name = "NAME", help_heading = "Coordinator")]
    pub dc: Option<String>,

    /// Environment: prod, usn, stb, stb2, or local for an embedded session [default: prod, with --dc or --site]
    #[arg(long, value_name = "NAME", help_heading = "Coordinator")]
    pub env: Option<String>,

    /// Host of the coordinator [default: none; without --dc, --env and --site too, all runs on this machine]
    #[arg(long, value_name = "HOST", help_heading = "Coordinator")]
    pub host: Option<String>,

    /// Port of the coordinator [default: 8087]
    #[arg(long, value_name = "PORT", help_heading = "Coordinator")]
    pub port: Option<u16>,

    /// File of coordinators, {"DC": {"ENV": "HOST:PORT"}}, or the http:// address of a service that tells them
    /// [default: WIRESPEED_SITE, or DWA_CONFIG_SERVICE]
    #[arg(long, value_name = "FILE|URL", help_heading = "Coordinator")]
    pub site: Option<String>,

    /// Run everything on this machine, whatever the environment says of a coordinator
    #[arg(long, help_heading = "Coordinator")]
    pub local_only: bool,

    /// Credential for the coordinator: the line that `wirespeed serve --print-identity` shows
    #[arg(
        long,
        value_name = "LINE",
        env = "WIRESPEED_IDENTITY",
        hide_env_values = true,
        help_heading = "Coordinator"
    )]
    pub identity: Option<String>,

    /// Who starts the computations, instead of this process or a coordinator: slurm (srun, inside or outside of an
    /// allocation), ssh (hosts on which nothing needs to be installed)
    #[arg(long, value_name = "LAUNCHER", help_heading = "Coordinator")]
    pub launch: Option<String>,

    /// Hosts for --launch ssh: HOST or USER@HOST
    #[arg(
        long,
        value_name = "HOST[,..]",
        value_delimiter = ',',
        help_heading = "Coordinator"
    )]
    pub on: Vec<String>,

    /// ssh's configuration, as `ssh -F` [default: the user's]
    #[arg(long, value_name = "FILE", help_heading = "Coordinator")]
    pub ssh_config: Option<PathBuf>,

    /// Cores to reserve for the main computation [default: the definition's]
    #[arg(long, value_name = "N", help_heading = "Resources")]
    pub cores: Option<f64>,

    /// MiB of memory to reserve for the main computation; 0 reserves none [default: the definition's; 2048, or what the
    /// buffers of large messages take]
    #[arg(long = "requestMb", value_name = "N", help_heading = "Resources")]
    pub request_mb: Option<u64>,

    /// Threads that keep cores busy in the main computation; may be more than it has
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Load")]
    pub threads: u32,

    /// MiB that the main computation allocates
    #[arg(
        long = "allocateMb",
        value_name = "N",
        default_value_t = 0,
        help_heading = "Load"
    )]
    pub allocate_mb: u64,

    /// MiB of the allocated memory that the main computation writes to, again and again
    #[arg(
        long = "touchMb",
        value_name = "N",
        default_value_t = 0,
        help_heading = "Load"
    )]
    pub touch_mb: u64,

    /// Write to the memory of --touchMb once only
    #[arg(
        long = "touchOnce",
        value_name = "0|1",
        num_args = 0..=1,
        default_missing_value = "1",
        default_value = "0",
        require_equals = true,
        help_heading = "Load"
    )]
    pub touch_once: String,

    /// Threads of the main computation that write log lines
    #[arg(
        long = "logThreads",
        visible_alias = "logthreads",
        value_name = "N",
        default_value_t = 12,
        help_heading = "Load"
    )]
    pub log_threads: u32,

    /// Log lines of 80 characters that all threads together write
    #[arg(
        long = "logCount",
        value_name = "N",
        default_value_t = 0,
        help_heading = "Load"
    )]
    pub log_count: u64,

    /// Where log lines go: stderr (the computation's), null, or a file on its host
    #[arg(long, value_name = "WHERE", default_value = "stderr", help_heading = "Load")]
    pub log_to: String,

    /// Print the main computation's environment variables
    #[arg(long = "printEnv", help_heading = "Load")]
    pub print_env: bool,

    #[command(flatten)]
    pub open_loop: OpenLoopArgs,

    /// Directory to put before the computations' search paths: rez's packages path where rez is present, else PATH and
    /// LD_LIBRARY_PATH
    #[arg(long, value_name = "DIR", help_heading = "Load")]
    pub prepend: Option<PathBuf>,

    /// Run the session that FILE (JSON) defines instead of the benchmark's own; --schema describes it
    #[arg(long, value_name = "FILE", help_heading = "Sessions")]
    pub session: Option<PathBuf>,

    /// Number of computations in the benchmark's own session [default: 2; 4 for computations_to_computations; 1 without a path]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256), help_heading = "Sessions")]
    pub computations: Option<u32>,

    /// Number of sessions at once; messages are measured in the first
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256),
          help_heading = "Sessions")]
    pub sessions: u32,

    /// Start no session before all are ready
    #[arg(long, help_heading = "Sessions")]
    pub phased_start: bool,

    /// Wait this long between the starts of two sessions: seconds, or with a unit
    #[arg(long, value_name = "TIME", default_value = "0", help_heading = "Sessions")]
    pub delay_start: String,

    /// Stay connected this long after the test, uncounted: seconds, or with a unit
    /// [default: 0; 10 under the original's name]
    #[arg(
        long,
        value_name = "TIME",
        default_value = "0",
        hide_default_value = true,
        help_heading = "Sessions"
    )]
    pub stay_connected: String,

    /// Print the JSON Schema of session definitions, and end
    #[arg(long, help_heading = "Sessions")]
    pub schema: bool,

    /// Draw bandwidth against message size into FILE, a line for each transport, route and credits
    #[arg(
        long,
        value_name = "FILE.svg",
        conflicts_with = "offered",
        help_heading = "Results"
    )]
    pub chart: Option<PathBuf>,

    /// How the result looks on stdout
    #[arg(long, value_enum, default_value_t = SessionFormat::Table, value_name = "FORM", help_heading = "Results")]
    pub format: SessionFormat,

    #[command(flatten)]
    pub experiment: ExperimentArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// Where a daemon listens, and its key.
#[derive(Debug, Args)]
pub struct DoorArgs {
    /// loopback, all, or addresses of this machine
    #[arg(
        long,
        value_name = "ADDRESS[,..]",
        default_value = "loopback",
        value_delimiter = ','
    )]
    pub listen: Vec<String>,

    /// Key file, the same for all daemons and clients of a site
    /// [default: wirespeed/key in the configuration directory, or WIRESPEED_KEY_FILE]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,

    /// Print the secrets that other machines need: the identity for wirespeed, the bearer token for other clients
    #[arg(long)]
    pub print_identity: bool,
}

/// `wirespeed coordinator`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed coordinator                  on loopback, port 8087
  wirespeed coordinator --listen all     for other hosts that have the same key file

It places sessions on nodes (`wirespeed node`) and serves HTTPS with the key's certificate; \
GET /coordinator/1/openapi.json describes it. docs/session.md has the whole story.")]
pub struct CoordinatorArgs {
    #[command(flatten)]
    pub door: DoorArgs,

    /// Port to listen on; 0 for any free one
    #[arg(short, long, value_name = "PORT", default_value_t = 8087)]
    pub port: u16,
}

/// `wirespeed node`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed node                                 for a coordinator on this host
  wirespeed node --coordinator there --listen all    for one on another host

It starts computations as processes of their own, limits them by control groups where the kernel lets it, and ends \
them when their client is gone.")]
pub struct NodeArgs {
    #[command(flatten)]
    pub door: DoorArgs,

    /// Port to listen on; 0 for any free one
    #[arg(short, long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,

    /// Coordinator to join
    #[arg(long, value_name = "HOST[:PORT]", default_value = "127.0.0.1:8087")]
    pub coordinator: String,

    /// Name of this node, as results and the coordinator's list show it [default: the host's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

/// `wirespeed __node`.
#[derive(Debug, Args)]
pub struct StdioNodeArgs {
    /// This program is a copy that was sent ahead
    #[arg(long)]
    pub travelled: bool,

    /// This is a step of Slurm
    #[arg(long)]
    pub slurm: bool,
}

const AFTER_HELP: &str = "\
Examples:
  wirespeed session --benchmarkPath=client_to_computation --bytes=1 --credits=1 --duration=3
  wirespeed session --benchmarkPath=computation_to_computation --route direct,daemon --duration=1
  wirespeed session --benchmarkPath=computation_to_client --credits=1,10,100 --duration=1
  wirespeed session --benchmarkPath=client_to_computation --bytes=1K,1M --duration=1 --chart=s.svg
  wirespeed session --threads 4 --cores 1 --duration=5              are cores enforced?
  wirespeed session --requestMb 256 --allocateMb 200 --touchMb 100 --touchOnce --duration=2   allocated or resident?
  wirespeed session --benchmarkPath=computation_to_client --duration=0.1 --interference=cpu
  wirespeed session --sessions 8 --repeat 3 --duration=0 --requestMb=0       how long do sessions take to start?

With --launch ssh --on HOST,HOST or --launch slurm the computations run elsewhere, and nothing needs to run there before. \
With --host HOST the session is placed by `wirespeed coordinator` there, on hosts where `wirespeed node` runs; without \
it everything runs on this machine. Called as arras4benchmark the program takes the same options, and shows reports in \
the original's form.";
