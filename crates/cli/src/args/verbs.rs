//! The options of the small verbs.

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
    /// Only these transports
    #[arg(long, value_name = "T[,T..]", value_delimiter = ',')]
    pub via: Vec<String>,

    /// Time for all of it; cases shorten when the machine is slow
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
    /// Show this transport in full
    pub transport: Option<String>,

    /// JSON on stdout
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
    /// CPUs to measure on: the first for everything, both for the bounce of a cache line
    #[arg(long, value_name = "A,B")]
    pub cpus: Option<String>,

    /// JSON on stdout
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// `wirespeed serve`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed serve                                on loopback: for trying it out
  wirespeed serve --listen all                   for other machines; on a terminal, shows the line that those need
                                                 which do not share this home

Clients are measured one at a time, the others wait and are told so. Every client must prove that it has the key, \
which is made on first use in a file that only its owner may read. Ctrl-C finishes the running case, then ends the server.")]
pub struct ServeArgs {
    /// loopback, all, or addresses of this machine
    #[arg(
        long,
        value_name = "ADDRESS[,..]",
        default_value = "loopback",
        value_delimiter = ','
    )]
    pub listen: Vec<String>,

    /// Port to listen on; 0 for any free one
    #[arg(short, long, value_name = "PORT", help = format!(
        "Port to listen on; 0 for any free one [default: {}]", wirespeed_control::DEFAULT_PORT))]
    pub port: Option<u16>,

    /// Key file [default: wirespeed/key in the configuration directory, or WIRESPEED_KEY_FILE]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,

    /// Print the secret line that another machine needs in WIRESPEED_IDENTITY, even where stdout is no terminal
    #[arg(long)]
    pub print_identity: bool,

    /// No log
    #[arg(short, long)]
    pub quiet: bool,

    /// Measure up to N clients side by side; their results are labelled so
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "Limits")]
    pub share: Option<u32>,

    /// Clients that may wait [default: 16]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub queue: Option<u32>,

    /// Ranks of one case on this machine [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Limits")]
    pub ranks_max: Option<u32>,

    /// Time of one case [default: 1h]
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    pub duration_max: Option<String>,

    /// Payload of one message [default: 1G]
    #[arg(long, value_name = "SIZE", help_heading = "Limits")]
    pub size_max: Option<String>,

    /// Memory of one rank: buffers, raw samples, background load [default: 8G]
    #[arg(long, value_name = "SIZE", help_heading = "Limits")]
    pub memory_max: Option<String>,

    /// Threads of background load of one rank [default: 256]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub load_threads_max: Option<u32>,

    /// Bytes per second: only streams paced at or below it are accepted [default: no limit]
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
    /// The shell
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
    /// Where to
    pub directory: PathBuf,
}
