//! The options of the small verbs.

use super::OutputArgs;
use clap::Args;
use std::path::PathBuf;

/// `wirespeed quick`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed quick
  wirespeed quick --json > machine.json
  wirespeed quick --budget 10s --via shm,tcp

The first answer, not the last word: each case runs for a fraction of a second. `wirespeed run` measures longer,
repeats, and says how sure it is.")]
pub struct QuickArgs {
    /// Only these roads
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
  wirespeed serve                      on loopback: for trying it out
  wirespeed serve --listen 0.0.0.0     for other machines; prints the identity that they need

Beyond loopback both ends need the same key. It is made on first use in a key file of mode 0600; a shared home gives it
to both ends. Without one, copy the printed line into WIRESPEED_IDENTITY on the other machine.")]
pub struct ServeArgs {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub listen: String,

    /// Port to listen on
    #[arg(short, long, value_name = "PORT")]
    pub port: Option<u16>,

    /// Measure clients side by side instead of one after the other; their results are labelled so
    #[arg(long)]
    pub share: bool,

    /// Key file [default: in the configuration directory of the home]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
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

/// `wirespeed __man-all`.
#[derive(Debug, Args)]
pub struct ManAllArgs {
    /// Where to
    pub directory: PathBuf,
}
