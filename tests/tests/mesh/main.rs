//! A mesh of real machines: a namespace and an sshd each on a bridge, some of them slow, cut off or killed. It must never assert
//! how fast anything is, only which of them is the slow one.

mod bad_input;
mod devices;
mod rails;

use std::process::Command;
use std::time::Duration;
use wirespeed_schema::Run;
use wirespeed_schema::mesh::{MeshCulprit, MeshSection};
use wirespeed_tests::bridge::Bridge;
use wirespeed_tests::deadline::{PATIENCE, SOON, reached};
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::skip;
use wirespeed_tests::ssh::SshHosts;
use wirespeed_tests::under_test::program;

/// Rates that a link of ten times less cannot hide behind: the machine carries them with ease.
const HEALTHY: &str = "200mbit";
const SLOW: &str = "20mbit";

fn machines(count: usize) -> Option<(SshHosts, Bridge)> {
    let made = Bridge::new(count).and_then(|bridge| Ok((SshHosts::on(&bridge)?, bridge)));
    made.map_err(|reason| skip(&reason)).ok()
}

/// `wirespeed mesh` at the desk, over all machines.
fn start((hosts, bridge): (&SshHosts, &Bridge), more: &str) -> Running {
    let names: Vec<String> = (0..bridge.count()).map(|number| bridge.name(number)).collect();
    start_on((hosts, bridge), &format!("--hosts {} {more}", names.join(",")))
}

/// The same, over the hosts that the words name.
fn start_on((hosts, bridge): (&SshHosts, &Bridge), words: &str) -> Running {
    Running::start(mesh((hosts, bridge), words))
}

fn mesh((hosts, bridge): (&SshHosts, &Bridge), words: &str) -> Command {
    let mut command = bridge.at_desk(program(env!("CARGO_BIN_EXE_wirespeed-under-test")));
    command
        .args(["mesh", "--ssh-config", &hosts.config()])
        .args(words.split_whitespace());
    command
}

fn section(ended: &Ended) -> (Run, MeshSection) {
    let run =
        wirespeed_report::read_run(ended.stdout.trim().as_bytes()).unwrap_or_else(|e| panic!("{e}: {ended}"));
    assert_eq!(wirespeed_report::audit::violations(&run), Vec::<String>::new());
    let mesh = run
        .sections
        .get::<MeshSection>()
        .unwrap_or_else(|| panic!("no mesh: {ended}"));
    (run, mesh)
}

fn assert_nothing_left(hosts: &SshHosts, bridge: &Bridge, but: Option<usize>) {
    for number in (0..bridge.count()).filter(|number| Some(*number) != but) {
        let name = bridge.name(number);
        reached(SOON, || hosts.processes(&name).is_empty());
        assert_eq!(hosts.processes(&name), Vec::new(), "{name}");
    }
}

#[test]
fn the_host_behind_a_slow_link_of_its_own_is_named() {
    let Some((hosts, bridge)) = machines(6) else {
        return;
    };
    for number in 0..bridge.count() {
        let rate = if number == 2 { SLOW } else { HEALTHY };
        bridge.limit_rate(number, rate).unwrap();
    }
    let words =
        "--isolated --repeats 2 --json -- am_bw --via tcp --size 16K --window 8 -t 150ms --warmup 50ms";
    let ended = start((&hosts, &bridge), words).end(PATIENCE).code(3);
    let (_, mesh) = section(&ended);
    let verdicts = &mesh.probes[0].verdicts;
    let of_h2 = |culprit: &MeshCulprit| matches!(culprit, MeshCulprit::Host { host: 2, .. });
    assert!(
        verdicts.iter().any(|verdict| of_h2(&verdict.culprit)),
        "{verdicts:?}"
    );
    assert!(
        verdicts.iter().all(|verdict| of_h2(&verdict.culprit)),
        "{verdicts:?}"
    );
    assert!(ended.complaint().0.contains("slow: h2"), "{ended}");
    assert_nothing_left(&hosts, &bridge, None);
}

#[test]
fn a_host_that_dies_or_was_never_there_costs_its_own_pairs() {
    let Some((mut hosts, bridge)) = machines(5) else {
        return;
    };
    bridge.cut(4).unwrap();
    // So many trips that there is a figure whatever else is busy, and so many rounds that the crash is among them.
    let words = "--isolated --repeats 6 --json -- am_lat --via tcp -O wait=block -n 500 --warmup 0";
    let running = start((&hosts, &bridge), words);
    let is_measured = || {
        hosts
            .processes("h1")
            .iter()
            .any(|(_, words)| words.contains("__rank "))
    };
    assert!(reached(PATIENCE, is_measured), "ranks run on h1");
    std::thread::sleep(Duration::from_millis(500));
    hosts.crash("h1");
    let ended = running.end(PATIENCE).code(1);
    let (_, mesh) = section(&ended);
    let lost: Vec<bool> = mesh.hosts.iter().map(|host| host.lost.is_some()).collect();
    assert_eq!(lost, [false, true, false, false, true], "{ended}");
    for pair in &mesh.probes[0].pairs {
        let touched = [1, 4].iter().any(|host| [pair.from, pair.to].contains(host));
        assert_eq!(pair.failed.is_some(), touched, "{pair:?}");
        assert!(touched || pair.values.len() >= 3, "{pair:?}");
    }
    assert_nothing_left(&hosts, &bridge, Some(1));
}

#[test]
fn an_interruption_leaves_what_is_known_and_nothing_else() {
    let Some((hosts, bridge)) = machines(4) else {
        return;
    };
    let running = start(
        (&hosts, &bridge),
        "--isolated --repeats 1000 --ndjson -- am_lat --via tcp -n 300 --warmup 0",
    );
    running.wait_until("some pairs", PATIENCE, |running| {
        running.stdout().matches("pair_measured").count() > 4
    });
    running.signal(rustix::process::Signal::INT);
    let ended = running.end(PATIENCE).code(130);
    assert!(ended.stdout.contains("\"status\":\"interrupted\""), "{ended}");
    assert_nothing_left(&hosts, &bridge, None);
}
