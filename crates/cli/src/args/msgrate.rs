//! The options of `msgrate`: those of the original by their letters, and what wirespeed adds by words.

use super::parameters::{Form, Parameters, Taken};
use super::{ExperimentArgs, OutputArgs};
use clap::{Args, ValueEnum};
use wirespeed_schema::parameter::Parameter;

/// How `msgrate` shows its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MsgrateFormat {
    /// wirespeed's table: rates from the median iteration, with their intervals
    #[value(alias = "sound")]
    Native,
    /// The original's text: means, in its form
    Classic,
}

/// `wirespeed msgrate`.
#[derive(Debug, Args)]
#[command(args_override_self = true, after_long_help = AFTER_HELP,
    after_help = "--help shows examples and explains every option.")]
#[command(mut_arg("repeats", |repeats| repeats.short('r')), mut_arg("output", |output| output.short(None)))]
pub struct MsgrateArgs {
    /// Iterations of each pattern [default: as many as 1s holds; 4096 in classic form]
    #[arg(
        short = 'i',
        long = "iters",
        value_name = "N",
        allow_hyphen_values = true,
        conflicts_with = "duration",
        help_heading = "The original's"
    )]
    pub iters: Option<String>,

    /// Ranks of each node: neighbours on the ring are this many ranks apart, 1 for neighbours within a node
    /// [default: as found]
    #[arg(
        short = 'n',
        long = "ranks-per-node",
        value_name = "N",
        allow_hyphen_values = true,
        help_heading = "The original's"
    )]
    pub ranks_per_node: Option<String>,

    /// Print one line for programs, in the original's order: ranks peers iterations messages bytes cache ranks-per-node, then
    /// the rates of single direction, pair-based, pre-post and all-start
    #[arg(short = 'o', help_heading = "The original's")]
    pub one_line: bool,

    #[command(flatten)]
    pub case: Parameters<OfMsgrate>,

    /// Form of the output: wirespeed's table or the original's text [default: native; classic under the name msgrate]
    #[arg(long, value_enum, value_name = "FORM")]
    pub format: Option<MsgrateFormat>,

    /// The same as --format native, also under the name msgrate
    #[arg(long, alias = "sound", conflicts_with = "one_line")]
    pub native: bool,

    /// Number of processes on this machine, where no launcher started the ranks [default: 2]
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
        classic && !self.native
    }
}

/// The parameters of `msgrate`, by the original's letters.
#[derive(Debug, Clone)]
pub struct OfMsgrate;

impl Taken for OfMsgrate {
    const LAST_WINS: bool = true;

    fn form(parameter: &'static Parameter) -> Option<Form> {
        let original = |letters, long, help| Form {
            letters,
            long,
            help: Some(help),
            heading: Some("The original's"),
        };
        let beyond = Form {
            heading: Some("Beyond the original"),
            ..Form::of(parameter)
        };
        Some(match parameter.key {
            "peers" => original(
                &['p'],
                None,
                "Peers: ranks that each rank sends to and receives from [default: 6, fewer where there are fewer ranks]",
            ),
            "window" => original(
                &['m'],
                Some("messages"),
                "Messages to each peer in an iteration [default: 128]",
            ),
            "size" => original(
                &['s'],
                None,
                "Bytes of a message: 8, 64K, a list 8,1M or a range 1..16M:x2 [default: 8]",
            ),
            "cache_size" => original(
                &['c'],
                None,
                "Memory of a rank that is filled (or walked through) between iterations, so that no message is in a cache \
                 [default: 2 x the largest cache, see --cache-state; 8M in classic form]",
            ),
            "via" => Form {
                help: Some("Transports, where no launcher started the ranks [default: shm]"),
                heading: Some("Ranks"),
                ..beyond
            },
            "pattern" => Form {
                help: Some("Patterns to measure: single, pair, pre-post, all-start [default: all four]"),
                ..beyond
            },
            "warmup" => Form {
                help: Some(
                    "Iterations or time before anything counts: 10, 100ms [default: 10000 iterations, at most 100ms]",
                ),
                ..beyond
            },
            "check" => Form {
                help: Some("Check the contents of every message, outside of the measured time"),
                ..beyond
            },
            "grid" | "cache_state" | "duration" => beyond,
            _ => return None,
        })
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
