//! What people give a mesh by mistake, and hosts that are not what they seem: a cause, a remedy, and nothing left running.

use super::{assert_nothing_left, machines, mesh, section, start, start_on};
use wirespeed_schema::mesh::MeshPair;
use wirespeed_tests::bridge::Bridge;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::skip;
use wirespeed_tests::ssh::SshHosts;

const PROBE: &str = "-- am_lat --via tcp -n 200 --warmup 0";

fn refused(ended: &Ended, said: &str, help: &str) {
    let (cause, remedy) = ended.complaint();
    assert!(cause.contains(said) && remedy.contains(help), "{ended}");
}

#[test]
fn two_names_of_one_machine_are_refused() {
    let Some((hosts, bridge)) = machines(2) else {
        return;
    };
    hosts.alias("other", bridge.address(1));
    let words = format!("--hosts h0,h1,other {PROBE}");
    let ended = start_on((&hosts, &bridge), &words).end(PATIENCE).code(2);
    refused(&ended, "h1 and other are one machine", "slots=N");
    assert_nothing_left(&hosts, &bridge, None);
}

#[test]
fn a_host_of_another_architecture_costs_itself() {
    let Some((hosts, bridge)) = machines(4) else {
        return;
    };
    hosts.pretend_other_processor("h2");
    let words = format!("--isolated --repeats 1 --json {PROBE}");
    let ended = start((&hosts, &bridge), &words).end(PATIENCE).code(1);
    let (_, mesh) = section(&ended);
    let why = mesh.hosts[2].lost.as_deref().unwrap_or_default();
    assert!(why.contains("its processor is riscv64"), "{ended}");
    let well = mesh.probes[0].pairs.iter().filter(|pair| pair.failed.is_none());
    assert_eq!(well.count(), 6, "{ended}");
    assert_nothing_left(&hosts, &bridge, None);
}

#[test]
fn clocks_that_are_hours_apart_do_not_matter() {
    let made = Bridge::new(3)
        .and_then(|bridge| Ok((SshHosts::with_hours(&bridge, |host| 7 * host as u32)?, bridge)));
    let Ok((hosts, bridge)) = made.map_err(|reason| skip(&reason)) else {
        return;
    };
    let words = format!("--isolated --repeats 2 --json {PROBE}");
    let ended = start((&hosts, &bridge), &words).end(PATIENCE);
    let (_, mesh) = section(&ended);
    assert!(
        mesh.probes[0].complete && mesh.probes[0].failed_count == 0,
        "{ended}"
    );
    let values: Vec<f64> = mesh.probes[0]
        .pairs
        .iter()
        .flat_map(|pair| pair.values.iter().map(|value| value.get()))
        .collect();
    // A round trip takes some time, and no hours.
    let is_sane = |value: &f64| (1_000.0..1e9).contains(value);
    assert!(values.len() >= 12 && values.iter().all(is_sane), "{values:?}");
    assert_nothing_left(&hosts, &bridge, None);
}

#[test]
fn a_firewall_between_two_hosts_costs_their_pairs_alone() {
    let Some((hosts, bridge)) = machines(4) else {
        return;
    };
    bridge.part(1, 3).unwrap();
    // At once, the two fail in the run of another pair that is well.
    let words = [
        format!("--isolated --repeats 1 --json {PROBE}"),
        "--loaded --repeats 1 --json -- am_lat --via udp -t 300ms --warmup 0".to_owned(),
    ];
    for words in words {
        let ended = start((&hosts, &bridge), &words).end(PATIENCE).code(1);
        let (_, mesh) = section(&ended);
        assert!(mesh.hosts.iter().all(|host| host.lost.is_none()), "{ended}");
        for pair in &mesh.probes[0].pairs {
            let parted = [(1, 3), (3, 1)].contains(&(pair.from, pair.to));
            assert_eq!(pair.failed.is_some(), parted, "{words}: {pair:?}");
            let address = [bridge.address(1), bridge.address(3)].map(|address| format!("{address}:"));
            let told = pair.failed.as_deref().unwrap_or_default();
            assert!(
                !parted || address.iter().any(|address| told.contains(address)),
                "{words}: {told}"
            );
        }
    }
    assert_nothing_left(&hosts, &bridge, None);
}

#[test]
fn a_host_that_answers_nobody_is_set_aside_within_a_cycle() {
    let Some((hosts, bridge)) = machines(8) else {
        return;
    };
    // It hears at once that it may not, where a firewall that drops would cost a wait each time.
    for (from, to) in (0..7).flat_map(|other| [(other, 7), (7, other)]) {
        let mut ip = bridge.command(from, "ip");
        ip.args(["route", "add", "prohibit", &bridge.address(to).to_string()]);
        assert!(ip.status().unwrap().success());
    }
    let words = format!("--isolated --repeats 1 --json {PROBE}");
    let ended = start((&hosts, &bridge), &words).end(PATIENCE);
    let (_, mesh) = section(&ended);
    assert!(mesh.hosts.iter().all(|host| host.lost.is_none()), "{ended}");
    let of_h7 = |pair: &&MeshPair| [pair.from, pair.to].contains(&7);
    let pairs: Vec<&MeshPair> = mesh.probes[0].pairs.iter().filter(of_h7).collect();
    let tried: u64 = pairs.iter().map(|pair| pair.failed_count).sum();
    assert!((6..=9).contains(&tried), "{tried}: {pairs:?}");
    let why = |pair: &&MeshPair| {
        pair.failure()
            .is_some_and(|why| why.starts_with("left out: its "))
    };
    let left_out = pairs.iter().copied().filter(|pair| why(pair));
    assert_eq!(
        (pairs.len(), left_out.count() as u64),
        (14, 14 - tried),
        "{pairs:?}"
    );
    assert_eq!(mesh.probes[0].not_judged_hosts, [7]);
    assert_nothing_left(&hosts, &bridge, None);
}

#[test]
fn more_hosts_than_files_may_be_open_are_refused_before_any_is_reached() {
    let Some((hosts, bridge)) = machines(2) else {
        return;
    };
    let names: Vec<String> = (0..320).map(|number| format!("node{number}")).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hosts");
    std::fs::write(&file, names.join("\n")).unwrap();
    let limited = |words: &str, limits: &str| {
        let whole = mesh((&hosts, &bridge), words);
        let words: Vec<String> = std::iter::once(whole.get_program())
            .chain(whole.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let mut command = std::process::Command::new("bash");
        command.args(["-c", &format!("ulimit {limits}; exec \"$@\""), "bash"]);
        command.args(words);
        Running::start(command)
    };
    let words = format!("--hostfile {} {PROBE}", file.display());
    let ended = limited(&words, "-n 256").end(PATIENCE).code(1);
    refused(
        &ended,
        "320 hosts need 4608 open files, this process may have 256",
        "ulimit -n 4608",
    );

    // A limit that the program may raise is raised.
    let words = format!("--hosts h0,h1 {PROBE}");
    limited(&words, "-Sn 64").end(PATIENCE).code(0);
    assert_nothing_left(&hosts, &bridge, None);
}
