//! Options on where results go and how they look.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Results: the table is the default on stdout; files come on top of it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Results")]
pub struct OutputArgs {
    /// One JSON document on stdout, and nothing else there
    #[arg(short = 'J', long, group = "stdout_form")]
    pub json: bool,

    /// One JSON event a line on stdout, as they happen
    #[arg(long, group = "stdout_form")]
    pub ndjson: bool,

    /// CSV with a header on stdout, one self-describing row a case
    #[arg(long, group = "stdout_form")]
    pub csv: bool,

    /// Write the result to FILE too; its ending says how: .json .csv .ndjson .txt .md .html, or .hlog
    /// for HdrHistogram's tools
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,

    /// Show every remark on what may have skewed the figures, not only the three gravest
    #[arg(long)]
    pub remarks: bool,

    /// No progress, and no table when the result goes to a file
    #[arg(short, long)]
    pub quiet: bool,

    /// Put the names of hosts into the result
    #[arg(long)]
    pub include_host_name: bool,

    /// Warnings count: exit 4 when a result carries one, 1 when a case was skipped
    #[arg(long)]
    pub strict: bool,
}
