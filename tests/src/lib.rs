//! Helpers of the end-to-end tests. They must leave nothing behind: no process, no file, no interface.
#![forbid(unsafe_code)]

pub mod bridge;
pub mod busy;
pub mod deadline;
pub mod home;
pub mod lab;
pub mod mpi;
pub mod ports;
pub mod product;
pub mod recording;
pub mod running;
pub mod slurm;
pub mod ssh;
pub mod terminal;
pub mod ucx;
pub mod under_test;

use std::io::Write as _;

/// Say that a test is left out, and why. The line passes by the test harness's capture, so that it is never lost.
pub fn skip(reason: &str) {
    // Nobody may be reading; then nobody misses it.
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}
