//! Whoever belongs to a session and vanishes or falls silent: its run fails, says why, and keeps what was measured.

use super::{Site, assert_nothing_left, computations, section, workers};
use crate::silence::threads;
use crate::{SILENT, SOON, home, turn};
use rustix::process::Signal;
use wirespeed_schema::run::{CaseStatus, Status};
use wirespeed_tests::deadline::{PATIENCE, reached};
use wirespeed_tests::home::{Home, crash, kill};
use wirespeed_tests::running::Running;

/// The load of its computations begins with the session.
fn wait_until_it_is_held(client: &Running, home: &Home) {
    client.wait_until("its load", PATIENCE, |_| {
        let mut names = workers(home).into_iter().flat_map(threads);
        names.any(|name| name.trim() == "wirespeed-load")
    });
}

/// Sessions with a stream: one as quick as can be, one whose ends sleep while nothing comes, one that is read slowly.
const MEASURED: &str = "--benchmarkPath=computation_to_computation --bytes=1 --credits=10";
const ASLEEP: &str = "--benchmarkPath=computation_to_computation --bytes=1 --credits=10 --wait block";
const SLOW: &str = "--benchmarkPath=computation_to_client --bytes=1 --credits=1 --messageSleep=10ms";
/// One that is only held.
const HELD: &str = "--threads=1";

/// Whoever vanishes from a session at a coordinator, or falls silent, ends it: the document says that it failed and why,
/// keeps what was measured, and accounts for every computation; nothing of the session goes on.
#[test]
fn whoever_vanishes_from_a_session_is_a_failure_of_its_run() {
    let _turn = turn();
    // Streams that go on until the silence is over share the CPUs; most others sleep meanwhile.
    std::thread::scope(|scope| {
        for (more, victim, signal) in [
            (MEASURED, "coordinator", Signal::KILL),
            (SLOW, "coordinator", Signal::STOP),
            (MEASURED, "node", Signal::KILL),
            (MEASURED, "node", Signal::STOP),
            (MEASURED, "computation", Signal::SEGV),
            (ASLEEP, "computation", Signal::STOP),
            (HELD, "coordinator", Signal::KILL),
            (HELD, "node", Signal::STOP),
            (HELD, "computation", Signal::KILL),
        ] {
            scope.spawn(move || one_that_vanishes_fails_its_run(more, victim, signal));
        }
    });
    assert_nothing_left(&home());
}

fn one_that_vanishes_fails_its_run(more: &str, victim: &str, signal: Signal) {
    let what = format!("{more}: {victim}, {signal:?}");
    let least = if more == HELD { 1 } else { 2 };
    let home = home();
    let site = Site::start(&home);
    let often = if more == HELD {
        ""
    } else {
        "--report-frequency=0.2"
    };
    let line = format!(
        "{} {often} --duration 600 --ndjson -o result.json",
        site.line(more)
    );
    let client = home.start(line.split_whitespace());
    client.wait_until("its computations", PATIENCE, |_| workers(&home).len() >= least);
    match more == HELD {
        true => wait_until_it_is_held(&client, &home),
        false => crate::wait_until_it_measures(&client),
    }
    let pid = match victim {
        "coordinator" => site.coordinator.pid(),
        "node" => site.node.pid(),
        _ => workers(&home)[0],
    };
    match signal {
        Signal::SEGV => crash(pid),
        signal => kill(pid, signal),
    }
    let ended = client.end(SILENT);
    assert_eq!(ended.code, Some(1), "{what}: {ended}");
    let (cause, remedy) = ended.complaint();
    assert!(!remedy.is_empty(), "{what}: {ended}");
    let run = crate::file(&home, "result.json");
    assert_eq!(run.status, Status::Failed, "{what}: {ended}");
    assert!(run.error.is_some(), "{what}: {ended}");
    let told = &section(&run)["sessions"][0]["computations"];
    assert!(told.is_array(), "{what}: {ended}");
    assert!(
        computations(&run).len() >= least,
        "{what}: {:?}",
        computations(&run)
    );
    if more != HELD {
        assert!(!run.cases[0].repetitions.is_empty(), "{what}: {ended}");
        // A node takes all its computations with it, and their figures.
        let expected = match victim {
            "node" => CaseStatus::Failed,
            _ => CaseStatus::Partial,
        };
        assert_eq!(run.cases[0].status, expected, "{what}: {ended}");
    }
    if victim == "coordinator" {
        assert!(cause.contains("the coordinator at"), "{what}: {ended}");
        assert!(reached(SOON, || workers(&home).is_empty()), "{what}");
    }
    kill(pid, Signal::CONT);
    for daemon in [site.coordinator, site.node] {
        daemon.signal(Signal::TERM);
        daemon.end(SOON);
    }
    // Sessions beside it may have their silence before them.
    home.assert_nothing_left(SILENT);
}
