//! Whoever dies, falls silent or is interrupted in mid-run: the others end by themselves, write what they have, and
//! leave nothing; a server serves the next.

use crate::{SILENT, SOON, Server, document, file, home, turn, wait_until_it_measures};
use rustix::process::Signal;
use std::time::Duration;
use wirespeed_schema::run::{CaseStatus, Status};
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::{Home, is_heard, kill};
use wirespeed_tests::running::{Ended, Running};

/// Start a case that lasts far longer than any test, and wait until it measures.
fn endless(home: &Home, more: &str) -> Running {
    let line = format!("run {more} --duration 10m --interval 100ms --ndjson -o result.json");
    let client = home.start(line.split_whitespace());
    wait_until_it_measures(&client);
    client
}

/// The client failed, says why, and has kept what was measured.
fn assert_partial(home: &Home, ended: &Ended) {
    assert_eq!(ended.code, Some(1), "{ended}");
    ended.complaint();
    let run = file(home, "result.json");
    assert_eq!(run.status, Status::Failed, "{ended}");
    assert_eq!(run.cases[0].status, CaseStatus::Partial, "{ended}");
    assert!(
        !run.cases[0].repetitions.is_empty() && run.cases[0].error.is_some(),
        "{ended}"
    );
}

#[test]
fn a_killed_rank_ends_the_run_at_once() {
    let _turn = turn();
    for (via, victim) in [("shm", 0), ("shm", 1), ("unix", 1), ("tcp", 1), ("udp", 1)] {
        let home = home();
        let client = endless(&home, &format!("am_bw --via {via}"));
        let ranks = home.ranks_of(client.pid());
        assert_eq!(ranks.len(), 2, "{via}");
        kill(ranks[victim], Signal::KILL);
        let ended = client.end(SOON);
        assert_partial(&home, &ended);
        let (cause, _) = ended.complaint();
        assert!(
            cause.contains("killed") || cause.contains("signal"),
            "it names the death: {ended}"
        );
        home.assert_nothing_left(SOON);
    }
}

#[test]
fn a_rank_killed_in_a_quiet_wait_ends_the_run_too() {
    let _turn = turn();
    for case in [
        "am_lat --via shm --wait block",
        "put_lat --via shm",
        "hub_lat --via tcp --procs 3",
        "tag_bw --via unix",
    ] {
        let home = home();
        let client = endless(&home, case);
        let ranks = home.ranks_of(client.pid());
        kill(*ranks.last().unwrap(), Signal::KILL);
        assert_partial(&home, &client.end(SOON));
        home.assert_nothing_left(SOON);
    }
}

#[test]
fn a_rank_that_falls_silent_is_given_up() {
    let _turn = turn();
    let home = home();
    let client = endless(&home, "am_lat --via shm --silence 2s");
    kill(home.ranks_of(client.pid())[1], Signal::STOP);
    assert_partial(&home, &client.end(SILENT));
    home.assert_nothing_left(SOON);
}

#[test]
fn a_killed_client_leaves_nothing() {
    let _turn = turn();
    for via in ["shm", "unix", "tcp", "udp"] {
        let home = home();
        let client = endless(&home, &format!("am_bw --via {via}"));
        client.signal(Signal::KILL);
        assert_eq!(client.end(SOON).code, None);
        home.assert_nothing_left(SOON);
    }
}

#[test]
fn ctrl_c_ends_in_order_with_what_was_measured() {
    let _turn = turn();
    for (more, signal) in [
        ("am_lat --via shm", Signal::INT),
        ("am_bw --via inproc,shm --repeats 5", Signal::INT),
        ("am_lat --via unix", Signal::TERM),
        ("am_lat --via tcp", Signal::HUP),
    ] {
        if !is_heard(signal) {
            continue;
        }
        let home = home();
        let client = endless(&home, more);
        client.signal(signal);
        let ended = client.end(SOON).code(130);
        ended.complaint();
        let run = file(&home, "result.json");
        assert_eq!(run.status, Status::Interrupted);
        // Which of several begins is as the seed has it, and the others never began.
        let begun = run.cases.iter().filter(|case| case.status != CaseStatus::Skipped);
        let begun: Vec<_> = begun.map(|case| (case.status, case.metrics.is_empty())).collect();
        assert_eq!(begun, [(CaseStatus::Partial, false)], "{ended}");
        let last: serde_json::Value = serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
        assert_eq!(
            (&last["event"], &last["status"]),
            (&"run_finished".into(), &"interrupted".into())
        );
        home.assert_nothing_left(SOON);
    }
}

#[test]
fn ctrl_c_on_a_json_run_still_gives_one_document() {
    let _turn = turn();
    let home = home();
    let client = home.start("run am_lat --via shm --duration 10m --json".split_whitespace());
    client.wait_until("its ranks", SILENT, |c| home.ranks_of(c.pid()).len() == 2);
    client.signal(Signal::INT);
    let ended = client.end(SOON).code(130);
    assert_eq!(document(&ended.stdout).status, Status::Interrupted, "{ended}");
    home.assert_nothing_left(SOON);
}

#[test]
fn a_client_killed_on_a_server_frees_its_slot() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    // Until a stopped client is given up, the rank here sleeps.
    for (via, signal) in [("tcp", Signal::KILL), ("tcp --wait block", Signal::STOP)] {
        let client = endless(&home, &format!("am_bw --via {via} {}", server.to()));
        let ranks = home.ranks_of(client.pid());
        client.signal(signal);
        for rank in ranks {
            kill(rank, signal);
        }
        let line = format!("run am_lat --via tcp {} --iters 50 --json", server.to());
        home.start(line.split_whitespace()).end(SILENT).code(0);
    }
    server.stop();
    home.assert_nothing_left(SILENT);
}

#[test]
fn ctrl_c_against_a_server_ends_in_order() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    let client = endless(&home, &format!("am_lat --via udp {}", server.to()));
    client.signal(Signal::INT);
    client.end(SOON).code(130);
    assert_eq!(file(&home, "result.json").status, Status::Interrupted);
    server.assert_serves(&home);
    server.stop();
    home.assert_nothing_left(SOON);
}

#[test]
fn a_rank_killed_or_stopped_at_the_server_ends_the_run() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    for (via, signal, patience) in [
        ("tcp", Signal::KILL, SOON),
        ("udp", Signal::KILL, SOON),
        // Until it is given up, the other end sleeps.
        ("tcp --wait block", Signal::STOP, SILENT),
    ] {
        let client = endless(&home, &format!("am_bw --via {via} {}", server.to()));
        let ranks = home.ranks_of(server.running.pid());
        assert_eq!(ranks.len(), 1);
        kill(ranks[0], signal);
        assert_partial(&home, &client.end(patience));
        server.assert_serves(&home);
    }
    server.stop();
    home.assert_nothing_left(SOON);
}

#[test]
fn a_killed_or_stopped_server_ends_the_run() {
    let _turn = turn();
    // Until it is given up, the other end of one that is stopped sleeps.
    for (via, signal, patience) in [
        ("tcp", Signal::KILL, SOON),
        ("tcp --wait block", Signal::STOP, SILENT),
    ] {
        let home = home();
        let server = Server::start(&home, "");
        let client = endless(&home, &format!("am_lat --via {via} {}", server.to()));
        server.running.signal(signal);
        assert_partial(&home, &client.end(patience));
        drop(server);
        home.assert_nothing_left(SILENT);
    }
}

#[test]
fn a_server_that_is_told_to_stop_tells_its_clients() {
    let _turn = turn();
    for signal in [Signal::INT, Signal::TERM] {
        let home = home();
        let server = Server::start(&home, "");
        let client = endless(&home, &format!("am_lat --via tcp {}", server.to()));
        server.running.signal(signal);
        server.running.end(SOON).code(0);
        let ended = client.end(SOON).code(1);
        let run = file(&home, "result.json");
        assert_eq!(
            (run.status, run.cases[0].status),
            (Status::Failed, CaseStatus::Partial)
        );
        assert!(
            ended.complaint().0.contains("shutting down"),
            "the client is told: {ended}"
        );
        home.assert_nothing_left(SOON);
    }
}

/// A machine that was suspended, or a job that was put aside with Ctrl-Z, blames nobody for the time in which it stood still.
#[test]
fn a_run_that_stood_still_goes_on() {
    let home = home();
    let server = Server::start(&home, "");
    let begin = |name: &str, more: &str| {
        let line = format!("run am_lat --via tcp {more} --duration 14s --interval 100ms --ndjson -o {name}");
        let client = home.start(line.split_whitespace());
        wait_until_it_measures(&client);
        client
    };
    let clients = [
        begin("local.json", "--procs 2 --cpus none"),
        begin("far.json", &server.to()),
    ];
    let all = home.processes();
    all.iter().for_each(|(pid, _)| kill(*pid, Signal::STOP));
    // Longer than any end may be silent.
    std::thread::sleep(Duration::from_secs(11));
    all.iter().for_each(|(pid, _)| kill(*pid, Signal::CONT));
    for (client, name) in clients.into_iter().zip(["local.json", "far.json"]) {
        client.end(PATIENCE).code(0);
        assert_eq!(file(&home, name).status, Status::Ok, "{name}");
    }
    server.stop();
    home.assert_nothing_left(SOON);
}
