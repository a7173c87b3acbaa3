//! The wirespeed program: the built-in transports, handed to the command line.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    wirespeed_cli::main_with(wirespeed::Registry::builtin())
}
