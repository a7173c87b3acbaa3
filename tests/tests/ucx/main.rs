//! UCX from outside: every test in every layout over every device that it finds, checked to the byte, with each library
//! that could be installed; what a device cannot do; what happens when a rank dies. Nothing is asserted about speed.

mod bad_input;
mod coverage;

use serde_json::Value;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wirespeed_schema::Run;
use wirespeed_tests::deadline::{PATIENCE, SOON};
use wirespeed_tests::home::Home;
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::ucx::Library;
use wirespeed_tests::under_test::program;

static TURN: Mutex<()> = Mutex::new(());

/// One test at a time. A test that failed has let go of everything.
fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A user with the program under test.
fn home() -> Home {
    Home::new(program(env!("CARGO_BIN_EXE_wirespeed-under-test")))
}

/// `wirespeed LINE` with this library.
fn command(home: &Home, library: &Library, line: &str) -> Command {
    let mut command = home.command(line.split_whitespace());
    command.envs(library.variables.iter().copied());
    if let Some(place) = &library.place {
        command.env("WIRESPEED_UCX", place);
    }
    command
}

fn run(home: &Home, library: &Library, line: &str) -> Ended {
    Running::start(command(home, library, line)).end(PATIENCE)
}

/// The document on stdout, which has nothing else.
fn document(ended: &Ended) -> Run {
    let run = wirespeed_report::read_run(ended.stdout.as_bytes()).unwrap_or_else(|e| panic!("{e}: {ended}"));
    assert_eq!(wirespeed_report::audit::violations(&run), Vec::<String>::new());
    run
}

/// The devices that `wirespeed list uct` names, as options.
fn devices(home: &Home, library: &Library) -> Vec<(String, String)> {
    let ended = run(home, library, "list uct --json").code(0);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    let devices = document["transports"][0]["devices"].as_array().unwrap().clone();
    let option = |device: &Value, name: &str| device["options"][name].as_str().unwrap().to_owned();
    devices
        .iter()
        .map(|d| (option(d, "tl"), option(d, "device")))
        .collect()
}

/// A case without end, which measures by now.
fn endless(home: &Home, library: &Library, line: &str) -> Running {
    let line = format!("run {line} --duration 10m --interval 100ms --ndjson -o result.json");
    let client = Running::start(command(home, library, &line));
    client.wait_until("a first interval", PATIENCE, |r| {
        r.stdout().contains("\"event\":\"interval\"")
    });
    client
}
