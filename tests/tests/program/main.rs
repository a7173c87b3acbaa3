//! The whole program from outside: what a user types, sees and is left with. Tests that kill, wait or load the machine
//! take turns; every wait has a deadline.

mod browser;
mod daemons;
mod deaths;
mod doctor;
mod experiments;
mod full_disk;
mod imports;
mod interference;
mod kubernetes;
mod launchers;
mod live;
mod machine;
mod mesh;
mod msgrate;
mod networks;
mod open_loop;
mod pages;
mod pictures;
mod screen;
mod server;
mod session_figures;
mod sessions;
mod silence;
mod spellings;
mod states;
mod stops;
mod strangers;
mod sweeps;
mod transports;
mod usage;
mod verbs;
mod walks;
mod workers;

use std::sync::{Mutex, MutexGuard, PoisonError};
use wirespeed_report::audit::violations;
use wirespeed_schema::Run;
use wirespeed_tests::deadline::{PATIENCE, SILENT, SOON};
use wirespeed_tests::home::Home;
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::under_test::program;

static TURN: Mutex<()> = Mutex::new(());

/// One heavy test at a time. A test that failed has let go of everything.
fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A user with the program under test.
fn home() -> Home {
    Home::new(program(env!("CARGO_BIN_EXE_wirespeed-under-test")))
}

/// The run document in these bytes, as strictly as any reader of the project reads it.
fn document(bytes: &str) -> Run {
    let run = wirespeed_report::read_run(bytes.as_bytes()).unwrap_or_else(|e| panic!("{e}: {bytes}"));
    assert_eq!(violations(&run), Vec::<String>::new());
    run
}

/// The run document in a file of the home.
fn file(home: &Home, name: &str) -> Run {
    document(&std::fs::read_to_string(home.path(name)).unwrap())
}

/// A server on loopback, at a port of its own.
struct Server {
    running: Running,
    port: u16,
}

impl Server {
    fn start(home: &Home, more: &str) -> Server {
        let mut words = vec!["serve", "--port", "0"];
        words.extend(more.split_whitespace());
        Server::listening(home.start(words))
    }

    fn listening(running: Running) -> Server {
        running.wait_until("it listens", PATIENCE, |r| {
            r.stdout().contains("key file") || r.stdout().contains("WIRESPEED_IDENTITY=")
        });
        let greeting = running.stdout();
        let first = greeting.lines().next().unwrap();
        let port = first.rsplit_once(':').unwrap().1.parse().unwrap();
        Server { running, port }
    }

    /// The option that leads to it.
    fn to(&self) -> String {
        format!("--to 127.0.0.1:{}", self.port)
    }

    /// It still measures for whoever comes next.
    fn assert_serves(&self, home: &Home) {
        let line = format!("run am_lat --via tcp {} --iters 50 --json", self.to());
        let ended = home.run(&line).code(0);
        assert_eq!(document(&ended.stdout).cases.len(), 1);
    }

    /// End it in order.
    fn stop(self) -> Ended {
        self.running.signal(rustix::process::Signal::TERM);
        self.running.end(SILENT).code(0)
    }
}

/// A file of a megabyte that `byteio serve` offers, and its address.
fn serve_file(home: &Home) -> (Running, String) {
    std::fs::create_dir(home.path("served")).unwrap();
    std::fs::write(home.path("served/f"), vec![7; 1_000_003]).unwrap();
    let server = home.start("byteio serve served --port 0 --writable".split(' '));
    server.wait_until("listening", PATIENCE, |s| s.stdout().contains('\n'));
    let line = server.stdout().lines().next().unwrap().to_owned();
    let address = line.strip_prefix("listening on ").unwrap();
    let url = format!("{}/f", address.trim_end_matches('/'));
    (server, url)
}

/// Wait until the first report of a running case has come out, on stdout as NDJSON.
fn wait_until_it_measures(client: &Running) {
    client.wait_until("a first interval", PATIENCE, |r| {
        r.stdout().contains("\"event\":\"interval\"")
    });
}
