//! Sessions that ssh starts, on hosts with nothing installed: real daemons, real keys. The binary travels, works, and is
//! gone; so is everything else of it, however the session ends.

use crate::{SOON, document, home, turn, wait_until_it_measures};
use rustix::process::Signal;
use serde_json::Value;
use wirespeed_schema::Run;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::{Home, kill};
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::skip;
use wirespeed_tests::ssh::SshHosts;

/// Two hosts, or the reason why there are none.
fn hosts() -> Option<SshHosts> {
    SshHosts::start(&["alpha", "beta"])
        .map_err(|reason| skip(&reason))
        .ok()
}

fn line(hosts: &SshHosts, more: &str) -> String {
    format!("session --launch ssh --ssh-config {} {more}", hosts.config())
}

fn section(run: &Run) -> &Value {
    run.sections.named("session").unwrap()
}

/// Computations on the hosts.
fn workers(home: &Home) -> Vec<u32> {
    let all = home.processes().into_iter();
    all.filter(|(_, words)| words.contains("__computation"))
        .map(|(pid, _)| pid)
        .collect()
}

fn assert_nothing_left(home: &Home, hosts: &SshHosts) {
    home.assert_nothing_left(SOON);
    for name in ["alpha", "beta"] {
        let left: Vec<_> = std::fs::read_dir(hosts.temporary(name))
            .unwrap()
            .flatten()
            .collect();
        assert!(left.is_empty(), "{name}: {left:?}");
    }
}

fn endless(home: &Home, line: &str, computations: usize) -> Running {
    let line = format!("{line} --duration 600 --report-frequency=0.2 --ndjson");
    let client = home.start(line.split_whitespace());
    client.wait_until("its computations", PATIENCE, |_| {
        workers(home).len() == computations
    });
    wait_until_it_measures(&client);
    client
}

fn refused(ended: &Ended, code: i32, word: &str) {
    let (cause, remedy) = ended.complaint();
    assert!(ended.code == Some(code) && cause.contains(word), "{ended}");
    assert!(!remedy.is_empty());
}

#[test]
fn computations_run_on_named_hosts_and_leave_nothing() {
    let _turn = turn();
    let Some(hosts) = hosts() else { return };
    let home = home();
    let definition = r#"{"name": "render", "computations": [
        {"name": "mcrt", "node": "alpha", "resources": {"cores": 1, "memory_bytes": 268435456}},
        {"name": "merge", "node": "beta"}]}"#;
    let file = home.write("render.json", definition);
    let more = "--benchmarkPath=computation_to_computation --route direct,daemon --bytes=1 --credits=1,10 --check \
                --duration=0.3 --printEnv --json";
    let ended = home
        .run(&line(&hosts, &format!("--on alpha,beta --session {file} {more}")))
        .code(0);
    let run = document(&ended.stdout);
    assert_eq!(run.cases.len(), 4);
    for case in &run.cases {
        // Nothing was said of a transport; the hosts share nothing but the network.
        assert_eq!(case.case.transport, "tcp");
        let outcomes = &case.repetitions[0].outcomes;
        let sent: u64 = outcomes.iter().map(|o| o.sent.messages).sum();
        let received: u64 = outcomes.iter().map(|o| o.received.messages).sum();
        assert!(sent > 0 && sent == received, "{ended}");
    }
    assert_eq!(section(&run)["coordinator"], "ssh");
    let computations = section(&run)["sessions"][0]["computations"].as_array().unwrap();
    let places: Vec<_> = computations
        .iter()
        .map(|c| (c["name"].as_str().unwrap(), c["node"].as_str().unwrap()))
        .collect();
    assert_eq!(places[..2], [("mcrt", "alpha"), ("merge", "beta")], "{ended}");
    assert_eq!(computations.len(), 3, "with the daemon");
    assert_ne!(computations[0]["granted"]["cores_by"], "nothing");
    let environment = computations[0]["environment"].to_string();
    assert!(environment.contains("SSH_CONNECTION"), "{environment}");
    assert_nothing_left(&home, &hosts);
}

#[test]
fn a_host_that_gets_no_computation_is_released_and_ends_no_session() {
    let _turn = turn();
    let Some(hosts) = hosts() else { return };
    let home = home();
    let more =
        "--on alpha,beta --benchmarkPath=client_to_computation --bytes=1 --duration=0.3 --repeats 2 --json";
    let ended = home.run(&line(&hosts, more)).code(0);
    let run = document(&ended.stdout);
    assert_eq!(run.error, None, "{ended}");
    assert_eq!(run.cases[0].repetitions.len(), 2, "{ended}");
    assert_nothing_left(&home, &hosts);
}

#[test]
fn what_ssh_or_the_hosts_refuse_is_one_line() {
    let _turn = turn();
    let Some(hosts) = hosts() else { return };
    let home = home();
    let run = |more: &str| home.run(&line(&hosts, more));
    refused(&run("--on alpha --cores=4000 --duration=1"), 5, "alpha has");
    refused(&run("--duration=1"), 2, "needs hosts");
    refused(&run("--on=-oProxyCommand=true --duration=1"), 2, "-oProxyCommand");
    refused(&run("--on alpha --host localhost"), 2, "--launch");
    refused(&run("--on nowhere.invalid --duration=1"), 1, "nowhere.invalid");
    refused(
        &run("--on alpha --benchmarkPath=client_to_computation --via shm --duration=1"),
        1,
        "shm",
    );
    refused(&home.run("session --on alpha"), 2, "--on");
    refused(&home.run("session --launch teleport"), 2, "teleport");
    // Its configuration asks for no check of keys; a host that nobody knows is refused nevertheless.
    hosts.forget();
    refused(&run("--on beta --duration=1"), 5, "verification");
    assert_nothing_left(&home, &hosts);
}

#[test]
fn a_session_over_ssh_ends_with_its_client_computation_or_host() {
    let _turn = turn();
    let Some(mut hosts) = hosts() else { return };
    let home = home();
    let path = "--on alpha --benchmarkPath=client_to_computation";
    let client = endless(&home, &line(&hosts, path), 2);
    client.signal(Signal::KILL);
    client.end(SOON);
    assert_nothing_left(&home, &hosts);

    let client = endless(&home, &line(&hosts, path), 2);
    client.signal(Signal::INT);
    client.end(SOON).code(130);
    assert_nothing_left(&home, &hosts);

    let client = endless(&home, &line(&hosts, path), 2);
    kill(workers(&home)[0], Signal::KILL);
    refused(&client.end(SOON), 1, "signal 9");
    assert_nothing_left(&home, &hosts);

    let client = endless(&home, &line(&hosts, path), 2);
    hosts.crash("alpha");
    let ended = client.end(SOON);
    ended.complaint();
    assert_eq!(ended.code, Some(1), "{ended}");
    assert_nothing_left(&home, &hosts);
}
