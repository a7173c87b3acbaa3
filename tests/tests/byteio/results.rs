//! What transfers come to: tables, sweeps, comparisons, pictures.

use crate::{content, home, run, serve};
use serde_json::Value;
use wirespeed_tests::skip;

#[test]
fn transfers_are_compared_with_load_beside_them() {
    let home = home();
    let (_server, url) = serve(&home, "");
    std::fs::write(home.path("served/f"), content()).unwrap();
    let line = format!(
        "byteio bench {url}/f --mechanism bulk --threads 2 --repeats 2 --interference=memory=1@beside,none --json"
    );
    let document = run(&home, &line).code(0).json();
    let cases = document["cases"].as_array().map(Vec::len);
    assert_eq!(cases, Some(3), "one shape, without load and with two");
    let found = &document["sections"]["interference"];
    assert!(
        found["work"][0]["per_s"]["copied_bytes"].as_f64() > Some(0.0),
        "{found}"
    );
    let rows = found["rows"].as_array().unwrap();
    assert!(
        rows.iter().any(|row| row["tag"] == "bandwidth_bytes_per_s"),
        "{found}"
    );
    let refused = run(&home, &format!("byteio bench {url}/f --interference=disk")).code(2);
    assert!(refused.complaint().0.contains("no such load"), "{refused}");
}

#[test]
fn the_experiment_of_2009_prints_its_tables() {
    let home = home();
    let (_server, url) = serve(&home, "");
    std::fs::write(home.path("served/f"), &content()[..8_000_000]).unwrap();
    let program = home.program().display().to_string();
    let pairs = format!(
        "pairs = \"all\"\n[[machine]]\nname = \"Sulla\"\nnominal = \"10Gb/s\"\nurl = \"{url}/f\"\n[[machine]]\nname = \"Cicero\"\nurl = \"{url}/f\"\nrun = [\"env\", \"A=b\"]\nprogram = \"{program}\"\n"
    );
    let file = home.write("pairs.toml", &pairs);
    let line = format!("byteio bench --pairs {file} --profile byteio2009 --size 8M --repeats 4");
    let refused = run(&home, &line);
    // 8 MiB are asked for and 8 MB are there: each pair says so, and nothing is made up.
    assert!(refused.code(1).stdout.contains("fewer than"));
    let ended = run(&home, &line.replace("8M", "7M")).code(0);
    for part in [
        "Table 1: Hardware Characteristics of Machines Involved in Performance Tests",
        "Sulla -> Cicero  10,000 Mb/s",
        "Table 2: Interconnect Speeds Involved in Performance Tests",
        "Average Bandwidth (Mb/s)  Standard Deviation (Mb/s)",
        "; limit: ",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {ended}");
    }
    let missing = file.replace("pairs.toml", "none.toml");
    run(&home, &format!("byteio bench --pairs {missing}")).code(2);
}

/// A result of bulk transfers is one of cases: it can be compared, gated, explained and shown.
#[test]
fn results_meet_compare_ab_explain_and_report() {
    let home = home();
    let (_server, url) = serve(&home, "");
    std::fs::write(home.path("served/f"), &content()[..8_000_000]).unwrap();
    let bench = format!("byteio bench {url}/f --block-size 1M --threads 2 --repeats 2 -q -o");
    for name in ["a.json", "b.json"] {
        run(&home, &format!("{bench} {name}")).code(0);
    }
    let a: Value = serde_json::from_slice(&std::fs::read(home.path("a.json")).unwrap()).unwrap();
    let case = &a["cases"][0];
    assert_eq!(
        (&case["case"]["test"], &case["status"]),
        (&"bulk_get".into(), &"ok".into()),
        "{case}"
    );
    assert_eq!(case["case"]["transport"], "byteio-mtom");
    assert_eq!(case["repetitions"].as_array().unwrap().len(), 2);
    let compared = run(&home, "compare a.json b.json --json");
    assert!(matches!(compared.code, Some(0 | 3 | 4)), "{compared}");
    let row = &compared.json()["sections"]["comparison"]["rows"][0];
    assert_eq!(row["tag"], "bandwidth_bytes_per_s", "{row}");
    // Another shape is another question.
    run(
        &home,
        &format!("{} c.json", bench.replace("--threads 2", "--threads 3")),
    )
    .code(0);
    let (cause, _) = run(&home, "compare a.json c.json").code(5).complaint();
    assert!(cause.contains("connections"), "{cause}");
    let explained = run(&home, "explain a.json").code(0);
    assert!(
        explained
            .stdout
            .contains("[bulk: byteio-mtom bulk_get 2 x 2 1 MiB"),
        "{explained}"
    );
    let page = run(&home, "report a.json -o page.html").code(0);
    assert!(
        std::fs::read_to_string(home.path("page.html"))
            .unwrap()
            .contains("bulk_get"),
        "{page}"
    );
    let shown = run(&home, "report a.json").code(0);
    assert!(shown.stdout.contains("byteio-mtom"), "{shown}");

    let arm = |mechanism: &str| format!("byteio bench {url}/f --mechanism {mechanism} --block-size 1M");
    let line = format!("ab --pairs 2 --json -- {} -- {}", arm("bulk"), arm("simple"));
    let found = run(&home, &line);
    assert!(matches!(found.code, Some(0 | 3 | 4)), "{found}");
    let document = found.json();
    assert_eq!(document["cases"].as_array().unwrap().len(), 2);
    let label = document["sections"]["comparison"]["rows"][0]["label"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        label.contains("byteio-bulk") && label.contains("byteio-simple"),
        "{label}"
    );
    for bad in [
        format!("ab -- {} -- latency --via shm", arm("bulk")),
        format!("ab --aa -- {} --repeats 3", arm("bulk")),
        format!("ab --aa -- byteio bench --pairs x.toml {url}"),
    ] {
        run(&home, &bad).code(2).complaint();
    }
    let listed = run(&home, "list --json").code(0).json();
    assert_eq!(listed["bulk"].as_array().unwrap().len(), 5, "{}", listed["bulk"]);
}

#[test]
fn both_directions_and_a_sweep_over_controls() {
    let home = home();
    let (_server, url) = serve(&home, "--writable");
    std::fs::write(home.path("served/f"), &content()[..3_000_000]).unwrap();
    std::fs::write(home.path("source"), &content()[..2_000_000]).unwrap();
    let both = run(
        &home,
        &format!("byteio bench {url}/f --put source --both --block-size 256K --repeats 2 --json"),
    );
    let pairs = both.code(0).json()["sections"]["byteio"]["pairs"].clone();
    let told: Vec<(&str, &str, usize)> = pairs
        .as_array()
        .unwrap()
        .iter()
        .map(|p| {
            (
                p["name"].as_str().unwrap(),
                p["direction"].as_str().unwrap(),
                p["runs"].as_array().unwrap().len(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [("service to here", "get", 2), ("here to service", "put", 2)]
    );
    assert!(std::fs::read(home.path("served/f")).unwrap() == content()[..2_000_000]);
    let swept = run(&home, &format!("byteio bench {url}/f --sweep --size 100K --json"))
        .code(0)
        .json();
    let pairs = swept["sections"]["byteio"]["pairs"].as_array().unwrap().clone();
    let recommended = pairs.iter().filter(|p| p["name"] == "recommended").count();
    assert_eq!(recommended, 1);
    // 18 shapes, and the best of them under every other control that this kernel has.
    let controls: Vec<&Value> = pairs.iter().skip(18).map(|p| &p["congestion"]).collect();
    let there = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    assert!(
        controls.len() < there.split_whitespace().count(),
        "{controls:?} of {there}"
    );
    for pair in pairs.iter().skip(18) {
        assert_eq!(
            pair["congestion"], pair["summary"]["congestion"],
            "asked for, and there"
        );
    }
}

/// The five pairs of 2009, emulated: what would be run, and one table of it where a lab can be.
#[test]
fn the_pairs_of_2009_are_emulated() {
    let home = home();
    let line = "byteio bench --profile byteio2009 --emulated --size 2M --repeats 1";
    let planned = run(&home, &format!("{line} --dry-run")).code(0);
    assert_eq!(
        planned
            .stdout
            .matches("byteio bench http://192.0.2.2:7412/file")
            .count(),
        5,
        "{planned}"
    );
    let as_json = run(&home, &format!("{line} --dry-run --json")).code(0);
    let shown: Value = serde_json::from_str(&as_json.stdout).unwrap();
    let rounds = shown["rounds"].as_array().unwrap();
    let pairs: usize = rounds.iter().map(|round| round.as_array().unwrap().len()).sum();
    assert_eq!(pairs, 5, "{as_json}");
    if run(&home, "lab --delay 1ms -- true").code != Some(0) {
        return skip("the lab: network namespaces and tunnels need root and /dev/net/tun");
    }
    let ended = run(&home, line).code(0);
    for part in [
        "Mark iMac -> Abe1196  100 Mb/s, emulated: round trip 30 ms",
        "Ranger -> BigBen      1,000 Mb/s, emulated: 1/10 of 10000 Mb/s, round trip 40 ms",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {ended}");
    }
    run(&home, "byteio bench --emulated").code(2).complaint();
}

/// A file that is moved for its own sake: its figures are in the events too, and its remedies name what can be typed.
#[test]
fn get_and_put_tell_their_case_in_events_and_name_options_that_exist() {
    let home = home();
    let (_server, url) = serve(&home, "--writable");
    std::fs::write(home.path("served/f"), &content()[..2_000_000]).unwrap();
    let (copy, back) = (home.path("copy"), home.path("served/f"));
    for line in [
        format!("byteio get {url}/f {} --overwrite", copy.display()),
        format!("byteio put {} {url}/g", back.display()),
    ] {
        let told = run(&home, &format!("{line} --ndjson")).code(0).stdout;
        let events: Vec<Value> = told
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let names: Vec<&str> = events
            .iter()
            .filter_map(|event| event["event"].as_str())
            .collect();
        assert_eq!(names, ["case_started", "case_finished", "run_finished"], "{told}");
        let rate = &events[1]["result"]["metrics"]["bandwidth_bytes_per_s"]["value"];
        assert!(rate.as_f64() > Some(0.0), "{told}");
        let ended = run(&home, &format!("{line} --remarks")).code(0);
        let words: Vec<&str> = ended.stdout.split_whitespace().collect();
        for pair in words.windows(2).filter(|pair| pair[1].starts_with("--")) {
            let name = pair[1].trim_end_matches([',', '.', ':', ';', ')']);
            let is_own = ["--block-size", "--depth", "--mechanism"].contains(&name);
            assert!(is_own || pair[0] == "bench", "{pair:?}: {ended}");
        }
    }
}
