//! Options on where results go and how they look.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorChoice {
    /// Colour on a terminal, unless NO_COLOR is set or TERM is dumb.
    #[default]
    Auto,
    /// Colour in files and pipes too.
    Always,
    /// No colour.
    Never,
}

/// Results: the table is the default on stdout; files come on top of it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Results")]
pub struct OutputArgs {
    /// Print the whole result as one JSON document instead of the table
    #[arg(short = 'J', long, group = "stdout_form")]
    pub json: bool,

    /// Print one JSON event a line as it happens, instead of the table
    #[arg(long, group = "stdout_form")]
    pub ndjson: bool,

    /// Print CSV instead of the table: a header, then one row a case
    #[arg(long, group = "stdout_form")]
    pub csv: bool,

    /// Write the result to FILE too, in the form of its ending: .json .csv .ndjson .txt .md .html, or .hlog for HdrHistogram
    ///
    /// May be given several times. compare, report and explain read the .json form.
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,

    /// Show every remark on what may have skewed the figures [default: the three gravest]
    #[arg(long)]
    pub remarks: bool,

    /// Show no progress, and no table when -o writes the result to a file
    #[arg(short, long)]
    pub quiet: bool,

    /// Put host names into the result, which otherwise keeps them out
    #[arg(long)]
    pub include_host_name: bool,

    /// Exit 4 when the result carries a warning, 1 when a case was skipped [default: exit 0 for both]
    #[arg(long)]
    pub strict: bool,
}

impl OutputArgs {
    /// Whether the result goes anywhere but to the table.
    pub fn is_given(&self) -> bool {
        self.json || self.ndjson || self.csv || !self.output.is_empty()
    }
}
