//! Other movers beside ours, and a path of known speed.

use crate::{LONG, SIZE, content, home, run};
use serde_json::Value;
use wirespeed_tests::deadline::{PATIENCE, SOON};
use wirespeed_tests::{ports, skip};

/// Ports that the verb takes: its own server's, and one for each other mover.
const PORTS: u16 = 16;

/// What is installed is measured, the rest is said; servers are gone afterwards.
#[test]
fn other_movers_stand_beside_ours_or_are_skipped_with_the_reason() {
    let home = home();
    std::fs::write(home.path("f"), &content()[..6_000_000]).unwrap();
    let file = home.path("f").display().to_string();
    let port = ports::free(PORTS);
    let line = format!(
        "byteio peers {file} --threads 2 --block-size 1M --repeats 2 --port {port} --mounted {file} --json"
    );
    let ended = run(&home, &line);
    let document = ended.json();
    let cases = document["cases"].as_array().unwrap();
    let status = |name: &str| {
        let case = cases.iter().find(|case| case["case"]["transport"] == name);
        let case = case.unwrap_or_else(|| panic!("{name} is missing: {ended}"));
        (
            case["status"].as_str().unwrap().to_owned(),
            case["error"].as_str().unwrap_or_default().to_owned(),
        )
    };
    for name in ["byteio-mtom", "byteio-http", "byteio-bulk", "mounted"] {
        assert_eq!(status(name), ("ok".to_owned(), String::new()), "{name}: {ended}");
    }
    for name in ["iperf3", "curl", "aria2"] {
        let (status, why) = status(name);
        let absent = status == "skipped" && why.contains("is not installed");
        assert!(status == "ok" || absent, "{name}: {status}: {why}");
    }
    let (xrootd, why) = status("xrootd");
    assert!(xrootd == "skipped" && !why.is_empty(), "{why}");
    // Whoever refuses to serve as root may not be able to read a file in a private folder; it must say so.
    let (gridftp, why) = status("gridftp");
    assert!(gridftp == "ok" || !why.is_empty());
    home.assert_nothing_left(PATIENCE);
    // In the table as well; and nonsense is refused.
    let shown = run(
        &home,
        &format!("byteio peers {file} --movers http,mounted --repeats 1 --port {port}"),
    )
    .code(0);
    assert!(
        shown.stdout.starts_with("byteio-http") && shown.stdout.contains("skipped: no path is given"),
        "{shown}"
    );
    for bad in ["--movers pigeon", "--block-size 0", "--at nowhere", "--limit 0s"] {
        run(&home, &format!("byteio peers {file} {bad}"))
            .code(2)
            .complaint();
    }
    run(&home, "byteio peers none").code(1).complaint();
}

/// The other way round: what was sent is as long as the file, whoever cannot send says so, and nothing of it stays.
#[test]
fn other_movers_send_beside_ours_on_this_machine_alone() {
    let home = home();
    std::fs::write(home.path("f"), content()).unwrap();
    let port = ports::free(PORTS);
    let line = format!("byteio peers f --put --threads 3 --block-size 1M --repeats 2 --port {port} --json");
    let ended = run(&home, &line).code(0);
    let document = ended.json();
    for case in document["cases"].as_array().unwrap() {
        let name = case["case"]["transport"].as_str().unwrap();
        let (status, why) = (
            case["status"].as_str().unwrap(),
            case["error"].as_str().unwrap_or_default(),
        );
        match name {
            "byteio-mtom" | "byteio-http" | "byteio-bulk" => assert_eq!(status, "ok", "{name}: {ended}"),
            "iperf3" | "curl" => {
                let absent = why.contains("installed") || why.contains("module dav");
                assert!(
                    status == "ok" || (status == "skipped" && absent),
                    "{name}: {status}: {why}"
                );
            }
            _ => assert!(
                status == "skipped" && why.contains("is only fetched with"),
                "{name}: {ended}"
            ),
        }
        if status == "ok" {
            assert_eq!(case["case"]["test"], "bulk_put", "{name}");
            let bytes = case["repetitions"][0]["outcomes"][0]["sent"]["bytes"].as_u64();
            let whole = match name {
                // Three equal parts.
                "curl" => SIZE as u64 / 3 * 3,
                // Its receiver stops counting when its sender says that it has sent.
                "iperf3" => 1,
                _ => SIZE as u64,
            };
            assert!(
                bytes.is_some_and(|bytes| bytes >= whole),
                "{name}: {bytes:?} {case}"
            );
        }
    }
    home.assert_nothing_left(PATIENCE);
    for bad in ["--at 192.0.2.2", "--run ssh", "--mounted f"] {
        run(&home, &format!("byteio peers f --put {bad}"))
            .code(2)
            .complaint();
    }
}

#[test]
fn the_lab_has_the_delay_and_rate_that_it_was_given() {
    let home = home();
    if run(&home, "lab --lan -- true").code != Some(0)
        || run(&home, "lab --delay 1ms -- true").code != Some(0)
    {
        return skip("the lab: network namespaces and tunnels need root and /dev/net/tun");
    }
    let program = home.program().display().to_string();
    std::fs::create_dir(home.path("served")).unwrap();
    std::fs::write(home.path("served/f"), &content()[..4_000_000]).unwrap();
    let far = format!("{program} byteio serve served --listen 192.0.2.2 --plain");
    for path in ["--rate 50Mb/s --delay 10ms", "--lan --rate 50Mb/s"] {
        let mut words: Vec<&str> = std::iter::once("lab").chain(path.split(' ')).collect();
        words.extend(["--far", &far, "--", &program]);
        let bench =
            "byteio bench http://192.0.2.2:7412/f --block-size 256K --nominal 50Mb/s --repeats 1 --json";
        words.extend(bench.split(' '));
        let ended = home.start(words).end(LONG).code(0);
        let from = ended.stdout.find('{').unwrap();
        let document: Value = serde_json::from_str(&ended.stdout[from..]).unwrap();
        let summary = &document["sections"]["byteio"]["pairs"][0]["summary"];
        // Physics that no load of the machine can break: never above the ceiling, never below the delay.
        let ratio = summary["ceiling_ratio"].as_f64().unwrap();
        assert!(ratio > 0.0 && ratio < 1.1, "{path}: {summary}");
        if path.contains("delay") {
            let rtt = summary["rtt_ns"].as_u64().unwrap();
            assert!(rtt >= 20_000_000, "{path}: {summary}");
        }
    }
    assert_eq!(run(&home, "lab -- false").code, Some(1));
    assert_eq!(
        home.start(["lab", "--", "sh", "-c", "kill -9 $$"]).end(SOON).code,
        Some(137)
    );
}
