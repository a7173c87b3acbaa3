//! byteio as a program: transfers that are killed and go on, services that are killed, full disks, bounded memory, pairs,
//! and a path of known speed.

use rustix::process::Signal;
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wirespeed_tests::home::{Home, PATIENCE};
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::skip;

const SIZE: usize = 40_000_003;
/// Time for the transfers here on a busy machine.
const LONG: Duration = Duration::from_secs(180);

fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_wirespeed-under-test"))
}

fn content() -> Vec<u8> {
    (0..SIZE as u64)
        .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8)
        .collect()
}

/// A service over `served/`, and the address of its root.
fn serve(home: &Home, more: &str) -> (Running, String) {
    let folder = home.path("served");
    // A second service serves the same folder.
    let _ = std::fs::create_dir(&folder);
    let line = format!("byteio serve served --port 0 {more}");
    let server = home.start(line.split_whitespace());
    server.wait_until("listening", PATIENCE, |s| s.stdout().contains('\n'));
    let line = server.stdout().lines().next().unwrap().to_owned();
    let address = line
        .strip_prefix("listening on ")
        .unwrap()
        .trim_end_matches('/')
        .to_owned();
    (server, address)
}

fn run(home: &Home, line: &str) -> Ended {
    home.start(line.split_whitespace()).end(LONG)
}

fn transfer(ended: &Ended) -> Value {
    ended.json()["sections"]["byteio"]["pairs"][0]["runs"][0].clone()
}

/// Peak resident memory of a process, in bytes; nothing once it has ended.
fn peak_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

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
    let refused = run(&home, &format!("byteio bench {url}/f --sweep --interference=cpu")).code(2);
    assert!(refused.complaint().0.contains("--sweep"), "{refused}");
}

#[test]
fn a_killed_transfer_goes_on_and_is_whole() {
    let home = home();
    let (_server, url) = serve(&home, "");
    std::fs::write(home.path("served/f"), content()).unwrap();
    let line =
        format!("byteio get {url}/f copy --block-size 16K --threads 2 --depth 1 --mechanism simple --json");
    let first = home.start(line.split(' '));
    let journal = home.path("copy.wirespeed-journal");
    first.wait_until("some blocks are there", PATIENCE, |_| {
        std::fs::metadata(&journal).is_ok_and(|m| m.len() > 2000)
    });
    first.signal(Signal::KILL);
    assert_eq!(first.end(PATIENCE).code, None);
    let second = run(&home, &line).code(0);
    let seen = transfer(&second);
    let (resumed, moved) = (
        seen["resumed_bytes"].as_u64().unwrap(),
        seen["payload_bytes"].as_u64().unwrap(),
    );
    assert!(
        resumed > 0 && resumed + moved == SIZE as u64,
        "{resumed} + {moved}"
    );
    assert_eq!(seen["verified"], true);
    assert!(std::fs::read(home.path("copy")).unwrap() == content());
    assert!(!journal.exists());
    // A second get of the same file is refused, with the way out.
    let (cause, remedy) = run(&home, &format!("byteio get {url}/f copy"))
        .code(2)
        .complaint();
    assert!(
        cause.contains("is there already") && remedy.contains("--overwrite"),
        "{cause} {remedy}"
    );
    run(
        &home,
        &format!("byteio get {url}/f copy --overwrite --map --verify blake3 -q -o r.json"),
    )
    .code(0);
    assert!(std::fs::read(home.path("copy")).unwrap() == content());
}

#[test]
fn a_killed_service_is_waited_for_or_told() {
    let home = home();
    let (server, url) = serve(&home, "");
    std::fs::write(home.path("served/f"), content()).unwrap();
    let line = format!("byteio get {url}/f copy --block-size 16K --threads 2 --mechanism simple --json");
    let client = home.start(line.split(' '));
    let journal = home.path("copy.wirespeed-journal");
    client.wait_until("some blocks are there", PATIENCE, |_| {
        std::fs::metadata(&journal).is_ok_and(|m| m.len() > 2000)
    });
    server.signal(Signal::KILL);
    server.end(PATIENCE);
    let broken = client.end(LONG).code(1);
    let seen = transfer(&broken);
    assert!(seen["error"].is_string());
    assert!(
        seen["connections"][0]["retries_count"].as_u64().unwrap() > 0,
        "{broken}"
    );
    // What was reported as done is right; the rest comes from a new service at the same port.
    let port = url.rsplit(':').next().unwrap();
    let line_serve = format!("byteio serve served --port {port}");
    let again = home.start(line_serve.split(' '));
    again.wait_until("listening", PATIENCE, |s| s.stdout().contains('\n'));
    let seen = transfer(&run(&home, &line).code(0));
    assert!(seen["resumed_bytes"].as_u64().unwrap() > 0);
    assert!(std::fs::read(home.path("copy")).unwrap() == content());
}

#[test]
fn a_full_disk_is_told_before_anything_moves() {
    let home = home();
    let (_server, url) = serve(&home, "");
    let large = std::fs::File::create(home.path("served/large")).unwrap();
    // More than any disk of a test machine has, and nothing of it is on this one.
    if large.set_len(1 << 50).is_err() && large.set_len(1 << 43).is_err() {
        return skip("a full disk: the file system knows no sparse file of 8 TiB");
    }
    let ended = run(
        &home,
        &format!("byteio get {url}/large copy --block-size 1G --json"),
    )
    .code(1);
    let said = ended.json()["error"].as_str().unwrap().to_owned();
    assert!(said.contains("reserve room"), "{said}");
}

/// Time for 64 GiB: a service in a debug build, on cores that others share.
const HOUR: Duration = Duration::from_secs(3600);
/// What a process may hold, whatever it moves.
const MEMORY_BYTES_MAX: u64 = 64 << 20;

/// Peak memory of the client while it moves a sparse file of so many bytes.
fn peak_of_client(home: &Home, url: &str, mechanism: &str, shape: &str, limit: Duration) -> u64 {
    let line = format!(
        "byteio bench {url}/sparse --mechanism {mechanism} {shape} --repeats 1 -q -o {mechanism}.json"
    );
    let client = home.start(line.split(' '));
    let peak = AtomicU64::new(0);
    client.wait_until("its end", limit, |client| match peak_bytes(client.pid()) {
        Some(now) => {
            peak.fetch_max(now, Ordering::Relaxed);
            false
        }
        None => true,
    });
    client.end(LONG).code(0);
    peak.into_inner()
}

#[test]
fn memory_does_not_grow_with_file_or_block() {
    let home = home();
    let (server, url) = serve(&home, "");
    let sparse = std::fs::File::create(home.path("served/sparse")).unwrap();
    sparse.set_len(3 << 30).unwrap();
    for mechanism in ["mtom", "bulk", "http"] {
        let peak = peak_of_client(&home, &url, mechanism, "--threads 4 --block-size 512M", LONG);
        assert!(
            peak > 0 && peak < MEMORY_BYTES_MAX,
            "the client held {peak} bytes"
        );
    }
    let peak = peak_bytes(server.pid()).unwrap();
    assert!(peak < MEMORY_BYTES_MAX, "the service held {peak} bytes");
}

#[test]
fn sixty_four_gibibytes_pass_through_a_small_window() {
    if std::env::var_os("WIRESPEED_LONG_TESTS").is_none() {
        return skip("64 GiB through byteio: takes minutes; set WIRESPEED_LONG_TESTS=1");
    }
    let home = home();
    let (server, url) = serve(&home, "");
    let sparse = std::fs::File::create(home.path("served/sparse")).unwrap();
    sparse.set_len(64 << 30).unwrap();
    let peak = peak_of_client(&home, &url, "mtom", "--threads 7 --block-size 1G", HOUR);
    assert!(
        peak > 0 && peak < MEMORY_BYTES_MAX,
        "the client held {peak} bytes"
    );
    let peak = peak_bytes(server.pid()).unwrap();
    assert!(peak < MEMORY_BYTES_MAX, "the service held {peak} bytes");
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
        "verdict: ",
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
    assert!(shown.stdout.contains("byteio-mtom bulk_get"), "{shown}");

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
        [("here -> service", "get", 2), ("service -> here", "put", 2)]
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

/// What is installed is measured, the rest is said; servers are gone afterwards.
#[test]
fn other_movers_stand_beside_ours_or_are_skipped_with_the_reason() {
    let home = home();
    std::fs::write(home.path("f"), &content()[..6_000_000]).unwrap();
    let file = home.path("f").display().to_string();
    let port = 20_000 + std::process::id() % 20_000;
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
        shown.stdout.contains("byteio-http") && shown.stdout.contains("skipped: mounted"),
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
    let port = 40_000 + std::process::id() % 20_000;
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

/// A disk that is full at the service: told by every way that writes, the service goes on, and what was there stays.
#[test]
fn a_full_disk_of_the_service_is_told() {
    let home = home();
    std::fs::create_dir(home.path("served")).unwrap();
    std::fs::write(home.path("source"), &content()[..3_000_000]).unwrap();
    let program = home.program().display().to_string();
    let script = format!(
        "mount -t tmpfs -o size=1m none served && exec {program} byteio serve served --port 0 --writable"
    );
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]);
    home.adopt(&mut command);
    let server = Running::start(command);
    server.wait_until("its end or an address", PATIENCE, |s| {
        s.stdout().contains('\n') || peak_bytes(s.pid()).is_none()
    });
    let Some(line) = server.stdout().lines().next().map(str::to_owned) else {
        return skip("a full disk of the service: a file system of its own needs root");
    };
    let url = line
        .strip_prefix("listening on ")
        .unwrap()
        .trim_end_matches('/')
        .to_owned();
    for mechanism in ["simple", "mtom", "dime", "http", "bulk"] {
        let ended = run(
            &home,
            &format!("byteio put source {url}/{mechanism} --mechanism {mechanism} --attempts 2 --json"),
        );
        let error = ended.json()["error"].as_str().unwrap_or_default().to_owned();
        assert!(ended.code == Some(1) && !error.is_empty(), "{mechanism}: {ended}");
    }
    // Room again: the service goes on.
    for mechanism in ["simple", "mtom", "dime", "http", "bulk"] {
        let clear = format!("byteio put empty {url}/{mechanism} --mechanism http --verify none -q -o r.json");
        std::fs::write(home.path("empty"), "").unwrap();
        run(&home, &clear).code(0);
    }
    std::fs::write(home.path("small"), &content()[..500_000]).unwrap();
    run(&home, &format!("byteio put small {url}/small -q -o r.json")).code(0);
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

#[test]
fn bad_words_are_refused_with_a_way_out() {
    let home = home();
    for line in [
        "byteio get nonsense",
        "byteio get http://127.0.0.1:1/",
        "byteio get http://127.0.0.1:1/f --block-size 0",
        "byteio get http://127.0.0.1:1/f --stall 0s",
        "byteio bench",
        "byteio bench http://127.0.0.1:1/f --nominal fast",
        "byteio bench http://127.0.0.1:1/f --mechanism pigeon",
        "byteio serve x --plain --writable",
        "byteio put none http://127.0.0.1:1/f --threads 0",
        "lab --loss 2 -- true",
        "lab --delay 2h -- true",
        "lab --rate 1Gb/s",
        "lab --check --rate 1Gb/s",
        "lab --check -- true",
    ] {
        run(&home, line).code(2).complaint();
    }
    run(&home, "byteio get http://127.0.0.1:1/f").code(1).complaint();
    run(&home, "byteio serve none").code(1).complaint();
    run(&home, "byteio get https://127.0.0.1:1/f").code(5).complaint();
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
}
