//! The wirespeed program: every transport that there is, handed to the command line.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    wirespeed_cli::main_with(wirespeed_cli::registry())
}
