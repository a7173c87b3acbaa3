//! What can be typed: types for clap, without any meaning. What words mean is decided in `crate::cmd`.

mod output;
mod run;
mod verbs;

pub use output::{ColorChoice, OutputArgs};
pub use run::{GroupArgs, RunArgs};
pub use verbs::{CalibrateArgs, CompletionsArgs, ListArgs, ManAllArgs, QuickArgs, ServeArgs};

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
}

/// One verb a variant; each has a file in `crate::cmd`.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Every transport of this machine, side by side, in under 30 seconds
    Quick(QuickArgs),
    /// Measure one test, a sweep, or a plan file
    Run(Box<RunArgs>),
    /// What this machine can do, and why the rest cannot be done
    List(ListArgs),
    /// Be the far end for `run --to`
    Serve(ServeArgs),
    /// The instrument itself: clock, harness floor, recording, cache-line bounce, copy speed, noise
    Calibrate(CalibrateArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man,
    /// One rank of a group; started by wirespeed itself
    #[command(name = "__rank", hide = true)]
    Rank,
    /// Write the manual page of every verb into a directory
    #[command(name = "__man-all", hide = true)]
    ManAll(ManAllArgs),
}

const LONG_ABOUT: &str = "\
wirespeed tells how fast messages and data move between threads, processes and machines, how sure that number is, \
and what limits it. Results go to stdout, progress and warnings to stderr.";

const AFTER_HELP: &str = "\
Examples:
  wirespeed quick                               how fast is this machine? every transport side by side
  wirespeed list                                which transports are there, and what each can do
  wirespeed run latency --via shm               one number, well measured
  wirespeed run bandwidth --via tcp --json      the same as one JSON document
  wirespeed run plan.toml                       many cases from a file

Two machines:
  there:  wirespeed serve --listen all
  here:   wirespeed run latency --via tcp --to THERE

Exit codes:
  0 ok   1 a run failed   2 usage   4 inconclusive (--strict)   5 refused
  6 wrong data   130 interrupted (partial result written)";
