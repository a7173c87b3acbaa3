//! The front end of ucx_perftest from outside: its output beside that of the real tool, batch files, and everything that
//! can be typed, sent or killed wrongly. Tests that kill or wait take turns; every wait has a deadline.

mod bad_input;
mod batch;
mod original;
mod sides;
mod ucx_files;
mod ucx_roads;

use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wirespeed_tests::deadline::{PATIENCE, SOON};
use wirespeed_tests::home::Home;
use wirespeed_tests::ports;
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::under_test::program;

static TURN: Mutex<()> = Mutex::new(());

/// One test at a time: each has two ends that spin.
fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A user with the program under test.
fn home() -> Home {
    Home::new(program(env!("CARGO_BIN_EXE_wirespeed-under-test")))
}

/// A server of `perftest`, or the real one, that listens.
struct Server {
    running: Running,
    port: u16,
}

impl Server {
    fn start(home: &Home, more: &str) -> Server {
        let port = ports::free(1);
        let line = format!("perftest -p {port} {more}");
        Server::listening(home.start(line.split_whitespace()), port)
    }

    /// The real tool's.
    fn of_the_original(home: &Home, more: &str) -> Server {
        let port = ports::free(1);
        let mut command = Command::new("ucx_perftest");
        command
            .args(["-p", &port.to_string()])
            .args(more.split_whitespace());
        home.adopt(&mut command);
        let server = Server {
            running: Running::start(command),
            port,
        };
        // It says that it listens only when its output is flushed: the kernel's table of sockets tells.
        server
            .running
            .wait_until("it listens", PATIENCE, |_| is_listening(port));
        server
    }

    fn listening(running: Running, port: u16) -> Server {
        running.wait_until("it listens", PATIENCE, |r| {
            r.stdout().contains("Waiting for connection...")
        });
        Server { running, port }
    }

    /// The command line of its client on this machine.
    fn client(&self, home: &Home, words: &str) -> Running {
        let line = format!("perftest -p {} localhost {words}", self.port);
        home.start(line.split_whitespace())
    }

    fn end(self) -> Ended {
        self.running.end(SOON)
    }
}

/// Whether a socket listens on this port of IPv4.
fn is_listening(port: u16) -> bool {
    let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let local = format!(":{port:04X} ");
    sockets.lines().any(|line| {
        let mut fields = line.split_whitespace();
        let here = fields
            .nth(1)
            .is_some_and(|address| format!("{address} ").ends_with(&local));
        here && fields.nth(1) == Some("0A")
    })
}

/// A client and a server on loopback to their ends.
fn pair(home: &Home, words: &str) -> (Ended, Ended) {
    let server = Server::start(home, "");
    let client = server.client(home, words).end(PATIENCE);
    (client, server.end())
}
