//! What can be typed: types for clap, without any meaning. What words mean is decided in `crate::cmd`.

mod byteio;
mod compare;
mod doctor;
mod experiment;
mod known;
mod lab;
mod mesh;
#[cfg(feature = "mpi")]
mod mpi;
mod msgrate;
mod open_loop;
mod output;
mod parameters;
mod perftest;
mod report;
mod run;
mod session;
mod sweep;
mod verbs;
mod workers;

pub use byteio::{
    ByteioArgs, ByteioBenchArgs, ByteioGetArgs, ByteioPeersArgs, ByteioPutArgs, ByteioServeArgs, ByteioVerb,
    Mechanism as ByteioMechanism, Profile, TransferArgs, Verify,
};
pub use compare::{AbArgs, CompareArgs, GateArgs};
pub use doctor::DoctorArgs;
pub use experiment::ExperimentArgs;
pub use lab::LabArgs;
pub use mesh::{HostsArgs, MeshArgs};
#[cfg(feature = "mpi")]
pub use mpi::MpiArgs;
pub use msgrate::MsgrateArgs;
pub use open_loop::OpenLoopArgs;
pub use output::{ColorChoice, OutputArgs};
pub use perftest::{Format, Generation, PerftestArgs, TestArgs};
pub use report::{ExplainArgs, ImportArgs, ReportArgs, SelftestArgs};
pub use run::{FarArgs, RunArgs, TransportArgs};
pub use session::{CoordinatorArgs, DoorArgs, NodeArgs, SessionArgs, SessionFormat, StdioNodeArgs};
pub use sweep::{LoadArgs, Over, SweepArgs};
pub use verbs::{CalibrateArgs, CompletionsArgs, ListArgs, ManAllArgs, QuickArgs, RanksArgs, ServeArgs};
pub use workers::WorkersArgs;

use clap::{Parser, Subcommand};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "wirespeed",
    version = crate::version::long(),
    about = "Measure how fast messages move between threads, processes and machines",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 110
)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,

    /// Colours on the screen
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    #[arg(help_heading = "Screen")]
    pub color: ColorChoice,

    #[cfg(feature = "mpi")]
    #[command(flatten)]
    pub mpi: MpiArgs,
}

/// One verb a variant; each has a file in `crate::cmd`.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Compare every transport of this machine, in under 30 seconds
    Quick(QuickArgs),
    /// Measure one test, a sweep, or a plan file
    Run(Box<RunArgs>),
    /// Measure a curve over sizes or windows, refined where it changes; find thresholds and the window that is enough
    Sweep(SweepArgs),
    /// Measure response time against offered load; find the knee and the highest rate within a bound
    Load(LoadArgs),
    /// Compare two stored results: faster, slower or the same, and how sure
    Compare(CompareArgs),
    /// Measure two variants in turn and compare them
    Ab(AbArgs),
    /// Show stored results as one HTML page, or as text and plots in the terminal
    Report(ReportArgs),
    /// Explain a result in sentences that cite its figures
    Explain(ExplainArgs),
    /// Convert a result of another tool (iperf3, OSU, IMB, sockperf, ..)
    Import(ImportArgs),
    /// Measure message rates between many ranks, with the patterns and options of Sandia's msgrate
    Msgrate(Box<MsgrateArgs>),
    /// Measure a master and its workers: latency and bandwidth by payload, a row for each worker
    Workers(Box<WorkersArgs>),
    /// Measure pairs of many hosts; find the host or link that is slow
    Mesh(Box<MeshArgs>),
    /// List transports; say why any are unavailable
    List(ListArgs),
    /// Run the tests of ucx_perftest, with its options and output
    Perftest(Box<PerftestArgs>),
    /// Listen as the remote peer for `run --to`
    Serve(ServeArgs),
    /// Measure message paths between a client and placed computations, under real resource limits
    Session(Box<SessionArgs>),
    /// Place sessions on nodes
    Coordinator(CoordinatorArgs),
    /// Run computations of sessions on this host
    Node(NodeArgs),
    /// Transfer and measure bulk data between machines: ByteIO, HTTP ranges, own stream
    Byteio(ByteioArgs),
    /// Run a command at one end of an emulated path of known rate, delay and loss
    Lab(LabArgs),
    /// Find conditions on this machine that skew results; print fixes
    Doctor(DoctorArgs),
    /// Verify the statistics on simulated data: quantiles, intervals, thresholds, knees
    Selftest(SelftestArgs),
    /// Measure the instrument itself: clock, harness overhead, recording, cache-line bounce, copy speed, noise
    Calibrate(CalibrateArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man,
    /// One rank of a group; started by wirespeed itself
    #[command(name = "__rank", hide = true)]
    Rank,
    /// One computation of a session; started by a node
    #[command(name = "__computation", hide = true)]
    Computation,
    /// The computations of one session on this host; started by srun or ssh
    #[command(name = "__node", hide = true)]
    StdioNode(StdioNodeArgs),
    /// Starts ranks on this host; started by ssh or srun
    #[command(name = "__ranks", hide = true)]
    Ranks(RanksArgs),
    /// Write the manual page of every verb into a directory
    #[command(name = "__man-all", hide = true)]
    ManAll(ManAllArgs),
}

impl Verb {
    /// Whether it measures between ranks, so that a launcher's job is its business.
    pub fn measures(&self) -> bool {
        match self {
            Verb::Quick(arguments) => !arguments.experiment.dry_run,
            Verb::Run(arguments) => !arguments.experiment.dry_run,
            Verb::Sweep(arguments) => !arguments.experiment.dry_run,
            Verb::Load(arguments) => !arguments.experiment.dry_run,
            Verb::Msgrate(arguments) => !arguments.experiment.dry_run,
            Verb::Workers(arguments) => !arguments.experiment.dry_run,
            // Its hosts are the ranks, for a dry run, too.
            Verb::Mesh(_) => true,
            Verb::Perftest(arguments) => arguments.server.is_none() && !arguments.experiment.dry_run,
            _ => false,
        }
    }
}

const LONG_ABOUT: &str = "\
wirespeed tells how fast messages and data move between threads, processes and machines, how sure that number is, \
and what limits it. Results go to stdout, progress and warnings to stderr.";

const AFTER_HELP: &str = "\
Examples:
  wirespeed quick                               how fast is this machine? every transport side by side
  wirespeed list                                which transports are there, and what each can do
  wirespeed doctor                              is this machine fit to measure on?
  wirespeed run latency --via shm               one number, well measured
  wirespeed run bandwidth --via tcp --json      the same as one JSON document
  wirespeed run plan.toml                       many cases from a file
  wirespeed ab --pairs 6 -- latency --via unix -t 50ms -- latency --via shm -t 50ms   which is faster?

Two machines:
  there:  wirespeed serve --listen all
  here:   wirespeed run latency --via tcp --to THERE

A job of an MPI launcher:
  mpirun -n 2 wirespeed run tag_lat --via mpi

Exit codes:
  0 ok   1 a run failed   2 usage   3 slower, slow, off, a warning (compare, ab, mesh, lab --check, doctor)
  4 inconclusive   5 refused   6 wrong data   130 interrupted (partial result written)";
