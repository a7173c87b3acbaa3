//! A stop takes less than a second, whatever a run is at: in a warm-up, between two messages that are far apart, or at a result
//! that nobody takes. It takes nothing away from the runs before it.

use crate::{SOON, document, home, turn};
use rustix::process::Signal;
use std::fs::File;
use std::process::Command;
use std::time::{Duration, Instant};
use wirespeed_schema::Outcome;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;
use wirespeed_tests::running::Running;

/// What a stop may take: less than a second on a machine that has nothing else to do. One that is busy is asked again.
const PROMPT: Duration = Duration::from_millis(1500);
const TRIES: usize = 4;
/// A run with far more to write than a pipe holds.
const LONG: &str = "run am_lat --via inproc,shm -n 20 --warmup 0 --repeats 60 --size 1..64K:x2";

/// The quickest of several stops of what `start` begins, each of which must end with the code of an interruption.
fn quickest(what: &str, start: impl Fn() -> Running) {
    let mut quickest = Duration::MAX;
    for signal in [Signal::TERM, Signal::INT].into_iter().cycle().take(TRIES) {
        let client = start();
        std::thread::sleep(Duration::from_millis(1200));
        assert!(!client.has_ended(), "{what} ended by itself");
        client.signal(signal);
        let asked = Instant::now();
        client.end(SOON).code(130);
        quickest = quickest.min(asked.elapsed());
        if quickest < PROMPT {
            return;
        }
    }
    panic!("{what}: a stop took {quickest:?}");
}

fn started(home: &Home, line: &str) -> Running {
    home.start(line.split(' '))
}

#[test]
fn a_run_is_stopped_in_its_warm_up_and_between_messages_within_a_second() {
    let _turn = turn();
    let home = home();
    for via in ["null", "inproc", "shm", "unix", "tcp", "udp"] {
        for line in [
            format!("run am_lat --via {via} --warmup 10m"),
            format!("run am_bw --via {via} --pace 1 -t 10m"),
        ] {
            quickest(&line, || started(&home, &line));
        }
    }
}

#[test]
fn a_result_that_nobody_takes_keeps_nobody_who_stops() {
    let _turn = turn();
    let home = home();
    for form in ["--json", "--csv", "--ndjson"] {
        let line = format!("{LONG} {form}");
        quickest(&line, || {
            Running::start_unread(home.command(line.split(' ')), [true, false])
        });
    }
    // Named pipes: held open and not read, or opened by nobody.
    for (name, is_held) in [("a.json", true), ("b.json", false), ("c.ndjson", true)] {
        let pipe = home.path(name);
        let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let _held = is_held.then(|| File::options().read(true).write(true).open(&pipe).unwrap());
        let line = format!("{LONG} -q -o {name}");
        quickest(&line, || started(&home, &line));
    }
}

#[test]
fn a_run_that_is_cut_short_takes_nothing_from_those_before_it() {
    let _turn = turn();
    let home = home();
    // At twenty messages a second, a part of a run has too few for a quantile that whole runs have.
    for test in [
        "am_bw --via inproc --pace 20",
        "am_lat --via shm",
        "tag_bw --via tcp",
    ] {
        let line = format!("run {test} -t 700ms --warmup 0 --repeats 50 --ndjson -o out.json");
        let cut = (0..TRIES).find_map(|_| {
            let client = started(&home, &line);
            client.wait_until("its third run", PATIENCE, |client| {
                client.stdout().matches("\"event\":\"case_started\"").count() >= 3
            });
            // Far enough for a few messages, and far from its end.
            std::thread::sleep(Duration::from_millis(300));
            client.signal(Signal::INT);
            client.end(SOON).code(130);
            let run = document(&std::fs::read_to_string(home.path("out.json")).unwrap());
            let case = run.cases.into_iter().next().unwrap();
            // A signal may also come between two runs, and a busy machine may have done only one by then.
            (!case.cut_short.is_empty() && case.repetitions.len() > 1).then_some(case)
        });
        let case = cut.unwrap_or_else(|| panic!("{test}: no run was cut short after two others"));
        assert!(case.outcomes().all(Outcome::is_complete), "{test}");
        // A run may lack a quantile that another one has.
        let has = |tag: &str| case.repetitions.iter().all(|run| run.metrics.contains_key(tag));
        let first = case.repetitions[0].metrics.keys();
        let lost: Vec<_> = first
            .filter(|tag| has(tag) && !case.metrics.contains_key(*tag))
            .collect();
        assert!(lost.is_empty(), "{test}: lost {lost:?}");
    }
}
