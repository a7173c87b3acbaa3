//! The options of the small verbs.

use super::known::Known;
use super::{ExperimentArgs, OutputArgs};
use clap::Args;
use std::path::PathBuf;

/// `wirespeed quick`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed quick
  wirespeed quick --json > machine.json
  wirespeed quick --budget 10s --via shm,tcp

The first answer, not the last word: each case runs for a fraction of a second. `wirespeed run` measures longer, \
repeats, and says how sure it is.")]
pub struct QuickArgs {
    /// Measure only these transports [default: all that work here]
    #[arg(long, value_name = "T[,T..]", value_delimiter = ',')]
    #[arg(value_parser = Known::Transports, hide_possible_values = true)]
    pub via: Vec<String>,

    /// Finish within this long: cases become shorter, and the last are left out
    #[arg(
        long,
        value_name = "TIME",
        default_value = "25s",
        allow_negative_numbers = true
    )]
    pub budget: String,

    #[command(flatten)]
    pub experiment: ExperimentArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// `wirespeed list`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed list          transports and their capabilities
  wirespeed list tcp      one transport: its options with their defaults, its limits
  wirespeed list --json   the same for programs")]
pub struct ListArgs {
    /// Show this transport in full: its options with their defaults, its limits
    #[arg(value_parser = Known::Transports, hide_possible_values = true)]
    pub transport: Option<String>,

    /// Print JSON instead of text
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// `wirespeed calibrate`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed calibrate               what the instrument itself costs
  wirespeed calibrate --cpus 0,1    the same, with the cache line bouncing between these two
  wirespeed calibrate --json        the same for programs")]
pub struct CalibrateArgs {
    /// CPUs to measure on: A for everything, A and B for the bounce of a cache line [default: different cores]
    #[arg(long, value_name = "A,B")]
    pub cpus: Option<String>,

    /// Print JSON instead of text
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// `wirespeed serve`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed serve                                on loopback: for trying it out
  wirespeed serve --listen all                   for other machines; on a terminal, shows their key

Clients are measured one at a time, the others wait and are told so. Every client must prove that it has the key, \
which is made on first use in a file that only its owner may read. Ctrl-C ends the running case in order: its client keeps what was measured.")]
pub struct ServeArgs {
    /// Addresses to listen on: loopback, all (other machines too), or addresses of this machine
    #[arg(
        long,
        value_name = "ADDRESS[,..]",
        default_value = "loopback",
        value_delimiter = ','
    )]
    pub listen: Vec<String>,

    /// Port to listen on; 0 for any free one
    #[arg(short, long, value_name = "PORT", help = format!(
        "Port to listen on; 0 takes any free one, and prints it [default: {}]", wirespeed_control::DEFAULT_PORT))]
    pub port: Option<u16>,

    /// File of the key that both ends share, made on first use [default: WIRESPEED_KEY_FILE, else ~/.config/wirespeed/key]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,

    /// Print the secret line that clients without this home need in WIRESPEED_IDENTITY [default: only on a terminal]
    #[arg(long)]
    pub print_identity: bool,

    /// Do not log clients and cases
    #[arg(short, long)]
    pub quiet: bool,

    /// Measure up to N clients at once, for capacity tests; their results are marked as shared [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "Limits")]
    pub share: Option<u32>,

    /// Refuse clients when this many wait already [default: 16]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub queue: Option<u32>,

    /// Most ranks of one case on this machine [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Limits")]
    pub ranks_max: Option<u32>,

    /// Longest time of one case [default: 1h]
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    pub duration_max: Option<String>,

    /// Largest payload of one message [default: 1G]
    #[arg(long, value_name = "SIZE", help_heading = "Limits")]
    pub size_max: Option<String>,

    /// Most memory of one rank: buffers, raw samples, background load [default: 8G]
    #[arg(long, value_name = "SIZE", help_heading = "Limits")]
    pub memory_max: Option<String>,

    /// Most threads of background load of one rank [default: 256]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub load_threads_max: Option<u32>,

    /// Refuse all but streams that are paced at or below this many bytes per second [default: no limit]
    #[arg(long, value_name = "SIZE", help_heading = "Limits")]
    pub rate_max: Option<String>,
}

/// `wirespeed completions`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed completions bash > ~/.local/share/bash-completion/completions/wirespeed
  wirespeed completions zsh  > ~/.zfunc/_wirespeed
  wirespeed completions fish > ~/.config/fish/completions/wirespeed.fish")]
pub struct CompletionsArgs {
    /// Shell to print completions for
    pub shell: clap_complete::Shell,
}

/// `wirespeed __ranks`.
#[derive(Debug, Args)]
pub struct RanksArgs {
    /// This program is a copy that was sent ahead
    #[arg(long)]
    pub travelled: bool,
}

/// `wirespeed __man-all`.
#[derive(Debug, Args)]
pub struct ManAllArgs {
    /// Directory to write to
    pub directory: PathBuf,
}
