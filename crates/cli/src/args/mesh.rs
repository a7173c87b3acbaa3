//! The options of `mesh`.

use super::experiment::repeats;
use super::{ExperimentArgs, OutputArgs};
use clap::Args;
use std::path::PathBuf;

/// `wirespeed mesh`.
#[derive(Debug, Args)]
#[command(mut_arg("repeats", |option| repeats(option, "Cycles of the survey, each over all pairs [default: 3; 10 with --pattern or --interference]")))]
#[command(after_long_help = "\
Examples:
  wirespeed mesh --ranks 2 --repeats 2 -- am_lat --via shm -n 2000        the CPUs of this machine, pair by pair
  wirespeed mesh --ranks 4 --dry-run -- am_bw --via tcp --size 64K        rounds, pairs and time, nothing measured

Hosts that ssh reaches, with nothing installed there; a job of a launcher, a rank a host:
  wirespeed mesh --hosts node1,node2,node3,node4 --dry-run               leave out --dry-run to measure
  mpirun -n 16 --map-by node wirespeed mesh -- am_lat,am_bw --via mpi

What follows `--` is what `wirespeed run` takes, between two ranks: any test, size and transport; without it, latency and \
bandwidth. Rounds of disjoint pairs cover every pair in both directions. What seems slow is measured again with other \
partners before it is named, so that a slow host is told from a slow link; the result says how likely such a sentence is \
false.

Exit code 3: something is slow. 4: cannot tell, because noise would hide a slow host. 1: pairs failed, or hosts were lost.")]
pub struct MeshArgs {
    #[command(flatten)]
    pub hosts: HostsArgs,

    /// Measure one pair at a time [default: where the hosts share too few CPUs]
    #[arg(long, conflicts_with = "loaded", help_heading = "Schedule")]
    pub isolated: bool,

    /// Measure all pairs of a round at once [default: where the hosts have the CPUs for it]
    #[arg(long, help_heading = "Schedule")]
    pub loaded: bool,

    /// Measure the pairs of this many random matchings, or what fits into a time, start and checks included: 20, 5m [default: all pairs]
    #[arg(
        long,
        value_name = "N|TIME",
        allow_negative_numbers = true,
        conflicts_with = "pairs",
        help_heading = "Schedule"
    )]
    pub budget: Option<String>,

    /// Measure the pairs of FILE only: a line FROM TO each, names of hosts
    #[arg(long, value_name = "FILE", help_heading = "Schedule")]
    pub pairs: Option<PathBuf>,

    /// Measure each case also while other hosts send, and show what that costs: incast, outcast (@HOST: to or from that host),
    /// bisection, permutation, alltoall
    #[arg(
        long,
        value_name = "PATTERN[@HOST],..",
        value_delimiter = ',',
        conflicts_with_all = ["pairs", "budget"],
        help_heading = "Congestion"
    )]
    pub pattern: Vec<String>,

    /// With --pattern: hosts whose pairs are measured [default: a fifth of them, two at least]
    #[arg(
        long,
        value_name = "HOST,..",
        value_delimiter = ',',
        requires = "pattern",
        conflicts_with_all = ["pairs", "budget"],
        help_heading = "Congestion"
    )]
    pub victims: Vec<String>,

    /// Probability, for each case, that a mesh without anything slow is called slow: lower names fewer hosts
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.01,
        allow_negative_numbers = true,
        help_heading = "Judgement"
    )]
    pub false_alarm: f64,

    /// Name only what is slower than the median by more than this
    #[arg(
        long,
        value_name = "PERCENT",
        default_value = "5%",
        allow_negative_numbers = true,
        help_heading = "Judgement"
    )]
    pub material: String,

    #[command(flatten)]
    pub experiment: ExperimentArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    /// What is measured between two hosts, as for `wirespeed run` [default: latency,bandwidth]
    #[arg(last = true, value_name = "TEST..", help_heading = "Arguments")]
    pub words: Vec<String>,
}

/// Where the hosts come from. In a launcher's job they are its ranks.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Hosts")]
pub struct HostsArgs {
    /// Hosts that ssh reaches without a password, as ssh names them; nothing needs to be installed there
    #[arg(long, value_name = "HOST[,..]", value_delimiter = ',', conflicts_with_all = ["to", "ranks"])]
    pub hosts: Vec<String>,

    /// File of hosts: a line NAME [slots=N] [unit=RACK] [address=IP] [rail=NAME:IP].. [cpu=N] [option=KEY=VALUE].. each; in a job and
    /// with --to, it gives units and options
    #[arg(long, value_name = "FILE", conflicts_with_all = ["hosts", "ranks"])]
    pub hostfile: Option<PathBuf>,

    /// ssh's configuration, as `ssh -F` [default: the user's]
    #[arg(long, value_name = "FILE")]
    pub ssh_config: Option<PathBuf>,

    /// Networks to measure apart, by the names that rail=NAME:IP gives them in the host file, or all [default: the one by which a
    /// host is reached]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', conflicts_with_all = ["to", "ranks"])]
    pub rail: Vec<String>,

    /// Hosts where `wirespeed serve` listens; a name with several addresses counts as several hosts
    #[arg(
        long,
        value_name = "HOST[,..]",
        value_delimiter = ',',
        conflicts_with = "ranks"
    )]
    pub to: Vec<String>,

    /// Measure between N ranks of this machine in place of hosts [default: one a CPU, at most 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1024))]
    pub ranks: Option<u32>,

    /// Credential for the servers: the line that `wirespeed serve --print-identity` shows there
    #[arg(long, value_name = "LINE", env = "WIRESPEED_IDENTITY", hide_env_values = true)]
    pub identity: Option<String>,

    /// Drop a host that is silent this long [default: 10s]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub silence: Option<String>,
}
