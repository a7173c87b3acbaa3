//! The options of `doctor`.

use clap::Args;
use std::path::PathBuf;

/// `wirespeed doctor`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed doctor                                   what on this machine skews a measurement?
  wirespeed doctor --cpus 0,1                        the same for these CPUs
  wirespeed doctor --interface lo --rate 10Gbit --rtt 20ms     are the socket buffers large enough for this path?
  wirespeed doctor --json                            the same for programs

Each check says ok, warn or cannot tell, the figure that it rests on and, for a warning, why it matters and the command \
that fixes it. Nothing is changed, and no privilege is needed.

Exit codes: 0 nothing to warn of, 2 usage, 3 a check warns, 4 nothing warns but some check cannot tell (--strict).")]
pub struct DoctorArgs {
    /// CPUs that will be measured on, and are checked [default: those that two ranks get]
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,

    /// Interfaces to check, which the data will go through [default: all that are up and have a device]
    #[arg(long, value_name = "NAME[,..]", value_delimiter = ',')]
    pub interface: Vec<String>,

    /// Rate of the path, to check socket buffers for: 10Gbit, 400Mb/s, or in bytes 1.25GB/s [default: the interface's]
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,

    /// Round-trip time of the path, to check socket buffers for: 200us, 20ms [default: not checked]
    #[arg(long, value_name = "TIME")]
    pub rtt: Option<String>,

    /// Exit 4 when a check cannot tell [default: exit 0]
    #[arg(long)]
    pub strict: bool,

    /// Check another machine from a copy of its proc and sys below DIR
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub root: PathBuf,

    /// Print JSON instead of text
    #[arg(short = 'J', long)]
    pub json: bool,
}
