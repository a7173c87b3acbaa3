//! Two ends by `serve` and `--to`: one client at a time or several side by side, limits, identity, and servers that
//! are not there.

use crate::{SILENT, SOON, Server, document, home, turn, wait_until_it_measures};
use rustix::process::Signal;
use wirespeed_schema::run::CaseStatus;
use wirespeed_tests::deadline::PATIENCE;

#[test]
fn every_host_transport_measures_through_a_server() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    let line = format!(
        "run am_lat,am_bw,get,tag_lat --via tcp,udp {} --iters 50 --check --json",
        server.to()
    );
    let encrypted = format!(
        "run am_lat,am_bw,get,tag_lat --via tcp,udp {} -O encrypt=aes-256-gcm --iters 50 --check --json",
        server.to()
    );
    for (line, said) in [
        (line, "none: only the control channel is encrypted"),
        (encrypted, "aes-256-gcm"),
    ] {
        let run = document(&home.run(&line).code(0).stdout);
        let ok = || run.cases.iter().filter(|c| c.status == CaseStatus::Ok);
        assert_eq!((run.cases.len(), ok().count()), (8, 6));
        for outcome in ok().flat_map(|c| &c.repetitions[0].outcomes) {
            assert_eq!(outcome.transport_facts["data_encryption"], said);
        }
    }
    let reverse = format!("run am_bw --via tcp {} --reverse --iters 50 --json", server.to());
    home.run(&reverse).code(0);
    let ipv6 = format!(
        "run am_lat --via tcp --to [::1]:{} --iters 50 --json",
        server.port
    );
    home.run(&ipv6).code(0);
    // The family of a name is the user's to choose, and an address has but one.
    for (to, family, code) in [
        ("localhost", "--ipv4", 0),
        ("127.0.0.1", "--ipv4", 0),
        ("127.0.0.1", "--ipv6", 1),
        ("[::1]", "--ipv6", 0),
        ("[::1]", "--ipv4", 1),
    ] {
        let line = format!(
            "run am_lat --via tcp --to {to}:{} {family} --iters 50",
            server.port
        );
        let ended = home.run(&line).code(code);
        let wrong = format!("{} has no", to.trim_matches(['[', ']']));
        assert_eq!(ended.stderr.contains(&wrong), code == 1, "{line}: {ended}");
    }
    server.stop();
    home.assert_nothing_left(SOON);
}

#[test]
fn a_second_client_waits_is_told_so_and_served() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    let line = format!(
        "run am_lat --via tcp {} --duration 10m --interval 100ms --ndjson",
        server.to()
    );
    let first = home.start(line.split_whitespace());
    wait_until_it_measures(&first);
    let line = format!("run am_lat --via tcp {} --iters 50 --json", server.to());
    let second = home.start(line.split_whitespace());
    second.wait_until("its place in the queue", PATIENCE, |second| {
        second.stderr().contains("queued: ")
    });
    first.signal(Signal::INT);
    let first = first.end(PATIENCE).code(130);
    let second = second.end(PATIENCE).code(0);
    assert_eq!(document(&second.stdout).cases[0].status, CaseStatus::Ok);
    assert!(!first.stderr.contains("queued: "), "{first}");
    server.stop();
}

#[test]
fn clients_side_by_side_are_labelled() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "--share 2");
    let line = format!(
        "run am_lat --via tcp {} --duration 10m --interval 100ms --ndjson -o first.json",
        server.to()
    );
    let first = home.start(line.split_whitespace());
    wait_until_it_measures(&first);
    let second = home
        .run(&format!("run am_lat --via tcp {} --iters 50 --json", server.to()))
        .code(0);
    let of = |run: &wirespeed_schema::Run| run.cases[0].repetitions[0].overlapping_sessions;
    assert_eq!(of(&document(&second.stdout)), 1, "{second}");
    first.signal(Signal::INT);
    first.end(PATIENCE).code(130);
    assert_eq!(of(&crate::file(&home, "first.json")), 1);
    let remarks = &document(&second.stdout).cases[0].remarks;
    assert!(!remarks.is_empty());
    server.stop();
}

#[test]
fn limits_are_stated_and_kept() {
    let _turn = turn();
    let home = home();
    let server = Server::start(
        &home,
        "--size-max 1K --duration-max 2s --memory-max 1M --ranks-max 1 --queue 1",
    );
    for (asked, limit) in [
        ("am_lat --size 2K --iters 10", "1 KiB"),
        ("am_lat --duration 10s", "2 s"),
        ("am_bw --size 8 --window 1000000 --iters 10", "1 MiB"),
    ] {
        let ended = home
            .run(&format!("run {asked} --via tcp {} --json", server.to()))
            .code(5);
        let (cause, remedy) = ended.complaint();
        assert!(cause.contains("limit") && cause.contains(limit), "{ended}");
        assert!(remedy.starts_with("use "), "{ended}");
        assert_eq!(ended.json()["status"], "refused", "{ended}");
    }
    server.assert_serves(&home);
    server.stop();
}

#[test]
fn a_server_ends_a_case_that_takes_too_long() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "--duration-max 1s");
    let line = format!("run am_lat --via tcp {} --iters 1e12 --json", server.to());
    let ended = home.start(line.split_whitespace()).end(SILENT);
    assert_ne!(ended.code, Some(0), "{ended}");
    assert!(ended.stderr.contains("limit"), "{ended}");
    server.assert_serves(&home);
    server.stop();
}

#[test]
fn a_stranger_without_the_key_is_refused() {
    let _turn = turn();
    let (owner, other) = (home(), home());
    let server = Server::start(&owner, "");
    let line = format!("run am_lat --via tcp {} --iters 10 --json", server.to());
    // No key at all; then a key of its own, made by a server of its own.
    let keyless = other.run(&line);
    assert!(matches!(keyless.code, Some(1 | 5)), "{keyless}");
    keyless.complaint();
    Server::start(&other, "").stop();
    let refused = other.run(&line).code(5);
    assert_eq!(refused.json()["status"], "refused", "{refused}");
    refused.complaint();
    server.assert_serves(&owner);
    let log = server.stop();
    assert!(
        !log.stderr.contains("runs") || log.stderr.matches("runs").count() == 1,
        "{log}"
    );
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = home();
    Server::start(&home, "").stop();
    let mode = |mode| std::fs::set_permissions(home.path("key"), std::fs::Permissions::from_mode(mode));
    mode(0o644).unwrap();
    let ended = home.run("serve --port 0");
    assert_ne!(ended.code, Some(0), "{ended}");
    assert!(ended.complaint().1.contains("chmod"), "{ended}");
}

#[test]
fn servers_that_are_not_there_are_said_at_once() {
    let home = home();
    Server::start(&home, "").stop();
    let port = wirespeed_tests::ports::free(1);
    for (target, word) in [
        (format!("127.0.0.1:{port}"), "refused"),
        ("no.such.host.invalid".to_owned(), "no.such.host.invalid"),
    ] {
        let ended = home
            .run(&format!("run am_lat --via tcp --to {target} --iters 10 --json"))
            .code(1);
        assert!(ended.complaint().0.contains(word), "{ended}");
        assert_eq!(document(&ended.stdout).cases[0].status, CaseStatus::Failed);
    }
}

#[test]
fn a_taken_port_is_said() {
    let home = home();
    let server = Server::start(&home, "");
    let ended = home.run(&format!("serve --port {}", server.port)).code(1);
    let (cause, _) = ended.complaint();
    assert!(cause.contains(&server.port.to_string()), "{ended}");
    server.stop();
}
