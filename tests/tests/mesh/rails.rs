//! Hosts with two networks, measured apart: what is slow on one of them is named there, and there alone.

use super::{HEALTHY, SLOW, assert_nothing_left, section, start_on};
use wirespeed_report::mesh::outcome::cannot_tell;
use wirespeed_schema::mesh::MeshCulprit;
use wirespeed_tests::bridge::Bridge;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::skip;
use wirespeed_tests::ssh::SshHosts;

fn machines(count: usize) -> Option<(SshHosts, Bridge)> {
    let made = Bridge::with_networks(count, 2).and_then(|bridge| Ok((SshHosts::on(&bridge)?, bridge)));
    made.map_err(|reason| skip(&reason)).ok()
}

/// A host file with both networks of every machine, as rails `a` and `b`.
fn host_file(bridge: &Bridge, folder: &tempfile::TempDir) -> String {
    let line = |host| {
        let [a, b] = [0, 1].map(|network| bridge.address_in(network, host));
        format!("{} rail=a:{a} rail=b:{b}\n", bridge.name(host))
    };
    let path = folder.path().join("hosts");
    std::fs::write(&path, (0..bridge.count()).map(line).collect::<String>()).unwrap();
    path.display().to_string()
}

#[test]
fn a_host_that_is_slow_on_one_rail_is_named_there_alone() {
    let Some((hosts, bridge)) = machines(5) else {
        return;
    };
    for number in 0..bridge.count() {
        for network in 0..2 {
            let is_slow = (number, network) == (2, 1);
            let rate = if is_slow { SLOW } else { HEALTHY };
            bridge.limit_rate_in(network, number, rate).unwrap();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let file = host_file(&bridge, &folder);
    let [json, csv, page] = ["m.json", "m.csv", "m.html"].map(|name| folder.path().join(name));
    let words = format!(
        "--hostfile {file} --rail all --isolated --repeats 2 --json -o {} -o {} -o {} -- am_bw --via tcp --size 16K --window 8 -t 150ms \
         --warmup 50ms",
        json.display(),
        csv.display(),
        page.display()
    );
    let ended = start_on((&hosts, &bridge), &words).end(PATIENCE).code(3);
    let (run, mesh) = section(&ended);
    let rails: Vec<Option<&str>> = run.cases.iter().map(|case| case.case.rail.as_deref()).collect();
    assert_eq!(rails, [Some("a"), Some("b")]);
    assert_eq!(mesh.probes[0].verdicts, [], "{ended}");
    let verdicts = &mesh.probes[1].verdicts;
    let is_h2 = |culprit: &MeshCulprit| matches!(culprit, MeshCulprit::Host { host: 2, .. });
    assert!(
        !verdicts.is_empty() && verdicts.iter().all(|verdict| is_h2(&verdict.culprit)),
        "{verdicts:?}"
    );
    assert_eq!(ended.complaint().0, "slow: h2 on rail b", "{ended}");
    let rows = std::fs::read_to_string(csv).unwrap();
    assert_eq!(
        rows.lines().filter(|row| row.contains(",a,am_bw,")).count(),
        20,
        "{rows}"
    );
    let page = std::fs::read_to_string(page).unwrap();
    // Whether the other rail was quiet enough for that is the machine's.
    let other = &mesh.probes[0];
    let is_known = !cannot_tell(&mesh, other) && !other.not_judged_hosts.contains(&2);
    assert_eq!(page.contains("on this rail only"), is_known, "{ended}");

    // Compared with itself, each rail meets itself.
    let mut compare = bridge.at_desk(env!("CARGO_BIN_EXE_wirespeed-under-test"));
    compare.arg("compare").arg(&json).arg(&json).arg("--json");
    let compared = wirespeed_tests::running::Running::start(compare).end(PATIENCE);
    for rail in ["on rail a", "on rail b"] {
        assert!(compared.stdout.contains(rail), "{compared}");
    }
    assert_nothing_left(&hosts, &bridge, None);
}

#[test]
fn a_rail_that_a_host_is_not_on_is_told_before_anything_starts() {
    let Some((hosts, bridge)) = machines(2) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = host_file(&bridge, &folder);
    let other = folder.path().join("other");
    std::fs::write(&other, "h0 rail=a:10.77.0.1\nh1\n").unwrap();
    let other = other.display();
    let name_it = "rail=NAME:IP";
    for (words, said, advised) in [
        (
            format!("--hostfile {file} --rail c"),
            "there is no rail \"c\"",
            "choose from: a, b",
        ),
        (
            format!("--hostfile {other} --rail a"),
            "h1 has no address on rail a",
            name_it,
        ),
        (
            "--hosts h0,h1 --rail all".to_owned(),
            "no host is on a rail \"all\"",
            name_it,
        ),
    ] {
        let words = format!("{words} -- am_lat --via tcp -n 10");
        let ended = start_on((&hosts, &bridge), &words).end(PATIENCE).code(2);
        let (cause, remedy) = ended.complaint();
        assert!(cause.contains(said) && remedy.contains(advised), "{ended}");
    }
    // An address that is none of the host's costs its pairs there, and names the address.
    let wrong = folder.path().join("wrong");
    std::fs::write(&wrong, "h0 rail=a:10.77.0.1\nh1 rail=a:10.77.0.99\n").unwrap();
    let words = format!(
        "--hostfile {} --rail a -- am_lat --via tcp -n 10 --warmup 0",
        wrong.display()
    );
    let ended = start_on((&hosts, &bridge), &words).end(PATIENCE).code(1);
    assert!(ended.stderr.contains("10.77.0.99"), "{ended}");
    assert_nothing_left(&hosts, &bridge, None);
}
