//! Two machines, each in a network namespace of its own: a server beyond loopback, and a cable that breaks.

use crate::{SILENT, SOON, Server, document, file, home, turn, wait_until_it_measures};
use std::process::Command;
use wirespeed_schema::run::{CaseStatus, Status};
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;
use wirespeed_tests::lab::{Lab, Side};
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::skip;

fn lab() -> Option<Lab> {
    match Lab::new() {
        Ok(lab) => Some(lab),
        Err(reason) => {
            skip(&reason);
            None
        }
    }
}

/// The program on one machine, as the user of `home`.
fn on(lab: &Lab, side: Side, home: &Home, line: &str) -> Command {
    let mut command = lab.command(side, home.program());
    command.args(line.split_whitespace());
    home.adopt(&mut command);
    command
}

fn serve(lab: &Lab, home: &Home, more: &str) -> Server {
    let line = format!("serve --listen all --port 7411 {more}");
    Server::listening(Running::start(on(lab, Side::B, home, &line)))
}

fn run(lab: &Lab, home: &Home, line: &str) -> Ended {
    Running::start(on(lab, Side::A, home, line)).end(PATIENCE)
}

#[test]
fn two_machines_measure_with_a_shared_key_over_both_protocols() {
    let _turn = turn();
    let Some(lab) = lab() else { return };
    let home = home();
    let server = serve(&lab, &home, "");
    for target in [lab.ipv4(Side::B).to_string(), format!("[{}]", lab.ipv6(Side::B))] {
        let line = format!("run am_lat,am_bw,get --via tcp,udp --to {target} --iters 50 --check --json");
        let cases = document(&run(&lab, &home, &line).code(0).stdout).cases;
        let ok = cases.iter().filter(|c| c.status == CaseStatus::Ok).count();
        assert_eq!((cases.len(), ok), (6, 5), "{target}");
    }
    server.stop();
    home.assert_nothing_left(SOON);
}

#[test]
fn a_machine_of_its_own_home_needs_the_identity() {
    let _turn = turn();
    let Some(lab) = lab() else { return };
    let (there, here) = (home(), home());
    let server = serve(&lab, &there, "--print-identity");
    let said = server.running.stdout();
    let identity = said
        .rsplit_once("WIRESPEED_IDENTITY=")
        .unwrap()
        .1
        .trim()
        .to_owned();
    let line = format!(
        "run am_lat --via tcp --to {} --iters 50 --json",
        lab.ipv4(Side::B)
    );
    let none = run(&lab, &here, &line);
    assert!(matches!(none.code, Some(1 | 5)), "{none}");
    none.complaint();
    let given = run(&lab, &here, &format!("{line} --identity {identity}")).code(0);
    assert!(
        !given.stdout.contains(&identity),
        "a secret stays out of the result"
    );
    let mut command = on(&lab, Side::A, &here, &line);
    command.env("WIRESPEED_IDENTITY", &identity);
    let given = Running::start(command).end(PATIENCE).code(0);
    assert!(!given.stdout.contains(&identity) && !given.stderr.contains(&identity));
    // Another machine's identity: well formed, and wrong.
    let stranger = home();
    let other = Server::start(&stranger, "--print-identity");
    let said = other.running.stdout();
    let wrong = said
        .rsplit_once("WIRESPEED_IDENTITY=")
        .unwrap()
        .1
        .trim()
        .to_owned();
    other.stop();
    run(&lab, &here, &format!("{line} --identity {wrong}"))
        .code(5)
        .complaint();
    let nonsense = run(&lab, &here, &format!("{line} --identity nonsense")).code(2);
    assert!(!nonsense.complaint().0.contains("token"), "{nonsense}");
    server.stop();
}

#[test]
fn a_server_on_loopback_is_not_reached_from_elsewhere() {
    let _turn = turn();
    let Some(lab) = lab() else { return };
    let home = home();
    let server = Server::listening(Running::start(on(&lab, Side::B, &home, "serve --port 7411")));
    let line = format!("run am_lat --via tcp --to {} --iters 50", lab.ipv4(Side::B));
    let ended = run(&lab, &home, &line).code(1);
    assert!(ended.complaint().0.contains("refused"), "{ended}");
    server.stop();
}

#[test]
fn a_cut_cable_ends_the_run_and_the_server_goes_on() {
    let _turn = turn();
    let Some(lab) = lab() else { return };
    let home = home();
    let server = serve(&lab, &home, "");
    let line = format!(
        "run am_bw --via tcp --wait block --to {} --duration 10m --interval 100ms --ndjson -o result.json",
        lab.ipv4(Side::B)
    );
    let client = Running::start(on(&lab, Side::A, &home, &line));
    wait_until_it_measures(&client);
    lab.cut().unwrap();
    let ended = client.end(SILENT).code(1);
    ended.complaint();
    let result = file(&home, "result.json");
    assert_eq!(
        (result.status, result.cases[0].status),
        (Status::Failed, CaseStatus::Partial),
        "{ended}"
    );
    server.running.wait_until("the ranks there end", SILENT, |s| {
        home.ranks_of(s.pid()).is_empty()
    });
    let near = "run am_lat --via tcp --to 127.0.0.1 --iters 50 --json";
    Running::start(on(&lab, Side::B, &home, near))
        .end(PATIENCE)
        .code(0);
    server.stop();
    home.assert_nothing_left(SOON);
}
