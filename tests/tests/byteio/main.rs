//! byteio as a program: a service, its clients, and what they say.

mod crowd;
mod failures;
mod lab;
mod memory;
mod movers;
mod odd;
mod plans;
mod results;
mod told;
mod waits;
mod wire;

use serde_json::Value;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::under_test::program;

/// Long enough for a transfer of any of these tests.
const LONG: std::time::Duration = PATIENCE;
const SIZE: usize = 40_000_003;
fn home() -> Home {
    Home::new(program(env!("CARGO_BIN_EXE_wirespeed-under-test")))
}

fn content() -> Vec<u8> {
    (0..SIZE as u64)
        .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8)
        .collect()
}

/// A service over `served/`, and the address of its root.
fn serve(home: &Home, more: &str) -> (Running, String) {
    let folder = home.path("served");
    // A second service serves the same folder.
    let _ = std::fs::create_dir(&folder);
    let line = format!("byteio serve served --port 0 {more}");
    let server = home.start(line.split_whitespace());
    server.wait_until("listening", PATIENCE, |s| s.stdout().contains('\n'));
    let line = server.stdout().lines().next().unwrap().to_owned();
    let address = line
        .strip_prefix("listening on ")
        .unwrap()
        .trim_end_matches('/')
        .to_owned();
    (server, address)
}

fn run(home: &Home, line: &str) -> Ended {
    home.start(line.split_whitespace()).end(LONG)
}

fn transfer(ended: &Ended) -> Value {
    ended.json()["sections"]["byteio"]["pairs"][0]["runs"][0].clone()
}
