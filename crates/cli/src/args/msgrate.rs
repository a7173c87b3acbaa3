//! The options of `msgrate`: those of the original by their letters, and what wirespeed adds by words.

use super::{ExperimentArgs, OutputArgs};
use clap::{Args, ValueEnum};

/// How `msgrate` shows its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MsgrateFormat {
    /// wirespeed's table: rates from the median iteration, with their intervals
    Sound,
    /// The original's text: means, in its form
    Classic,
}

/// `wirespeed msgrate`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP, after_help = "--help shows examples and explains every option.")]
#[command(mut_arg("repeats", |repeats| repeats.short('r')), mut_arg("output", |output| output.short(None)))]
pub struct MsgrateArgs {
    /// Peers: ranks that each rank sends to and receives from [default: 6, fewer where there are fewer ranks]
    #[arg(
        short = 'p',
        long = "peers",
        value_name = "N[,..]",
        allow_hyphen_values = true
    )]
    pub peers: Vec<String>,

    /// Iterations of each pattern [default: as many as 1s holds; 4096 in classic form]
    #[arg(
        short = 'i',
        long = "iters",
        value_name = "N",
        allow_hyphen_values = true,
        conflicts_with = "duration"
    )]
    pub iters: Option<String>,

    /// Messages to each peer in an iteration [default: 128]
    #[arg(
        short = 'm',
        long = "messages",
        value_name = "N[,..]",
        allow_hyphen_values = true
    )]
    pub messages: Vec<String>,

    /// Bytes of a message: 8, 64K, a list 8,1M or a range 1..16M:x2 [default: 8]
    #[arg(short = 's', long = "size", value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Vec<String>,

    /// Memory of a rank that is filled (or walked through) between iterations, so that no message is in a cache
    /// [default: 2 x the largest cache, see --cache-state; 8M in classic form]
    #[arg(
        short = 'c',
        long = "cache-size",
        value_name = "SIZE",
        allow_hyphen_values = true
    )]
    pub cache_size: Option<String>,

    /// Ranks of each node: neighbours on the ring are so many ranks apart, 1 for neighbours within a node
    /// [default: as found]
    #[arg(
        short = 'n',
        long = "ranks-per-node",
        value_name = "N",
        allow_hyphen_values = true
    )]
    pub ranks_per_node: Option<String>,

    /// One line for programs, in the original's order: ranks peers iterations messages bytes cache ranks-per-node, then
    /// the rates of single direction, pair-based, pre-post and all-start
    #[arg(short = 'o')]
    pub one_line: bool,

    /// The original's text, or wirespeed's [default: sound; classic under the name msgrate]
    #[arg(long, value_enum, value_name = "FORM", overrides_with = "format")]
    pub format: Option<MsgrateFormat>,

    /// wirespeed's own output, also under the name msgrate: --format sound
    #[arg(long, conflicts_with = "one_line")]
    pub sound: bool,

    /// Patterns: single, pair, pre-post, all-start [default: all four]
    #[arg(long, value_name = "NAME[,..]", help_heading = "Beyond the original")]
    pub pattern: Vec<String>,

    /// Who is whose neighbour: ring, or the stencils 2d (9 points, 8 peers) and 3d (27 points, 26 peers)
    #[arg(long, value_name = "NAME[,..]", help_heading = "Beyond the original")]
    pub grid: Vec<String>,

    /// What the caches hold when an iteration begins: hot, rotating, touched, flushed [default: flushed]
    ///
    /// hot: all messages leave from one place and arrive in one. rotating: iterations walk through more memory than the
    /// caches hold. touched: what is sent was just written, what came was read. flushed: other data fill the caches.
    /// The size is 2 x the largest cache, shared among the ranks that share it, and at most 1/16 of the memory in all.
    #[arg(long, value_name = "NAME[,..]", help_heading = "Beyond the original")]
    pub cache_state: Vec<String>,

    /// Measure each case for so long [default: 1s]
    #[arg(
        short = 't',
        long,
        value_name = "TIME",
        allow_hyphen_values = true,
        help_heading = "Beyond the original"
    )]
    pub duration: Option<String>,

    /// Iterations or time before anything counts; the very first iteration is always apart
    #[arg(
        long,
        value_name = "N|TIME",
        allow_hyphen_values = true,
        help_heading = "Beyond the original"
    )]
    pub warmup: Option<String>,

    /// Check the contents of every message, outside of the measured time
    #[arg(long, help_heading = "Beyond the original")]
    pub check: bool,

    /// Transports, where no launcher started the ranks [default: shm]
    #[arg(long, value_name = "T[,..]", help_heading = "Ranks")]
    pub via: Vec<String>,

    /// Processes of this machine, where no launcher started the ranks [default: 2]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Ranks")]
    pub ranks: Option<String>,

    #[command(flatten)]
    pub experiment: ExperimentArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

impl MsgrateArgs {
    /// Whether the original's text is wanted.
    pub fn is_classic(&self) -> bool {
        let classic = self.format == Some(MsgrateFormat::Classic) || self.one_line;
        classic && !self.sound
    }
}

const AFTER_HELP: &str = "\
Examples:
  wirespeed msgrate -t 200ms                               two processes over shared memory, all four patterns
  wirespeed msgrate --ranks 8 -p 6 --pattern pre-post      eight of them, six peers each
  wirespeed msgrate --ranks 9 --grid 2d -s 8..4K:x8 -c 1M  a 9-point stencil over sizes: one table, one plot
  wirespeed msgrate --cache-state hot,flushed              what the caches are worth
  wirespeed msgrate --format classic --ranks 8 -n 1 -i 20  the original's text

A rate counts messages delivered by all ranks together. The original's rates are means of one rank, and count sends and \
receives in all patterns but the single direction: they stand beside ours as `classic`.

Exit codes: 0 ok, 1 a run failed, 2 usage, 4 inconclusive (--strict), 6 wrong data, 130 interrupted.";
