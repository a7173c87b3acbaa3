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

#[test]
fn memory_does_not_grow_with_file_or_block() {
    let home = home();
    let (server, url) = serve(&home, "");
    std::fs::File::create(home.path("served/sparse"))
        .unwrap()
        .set_len(3 << 30)
        .unwrap();
    for mechanism in ["mtom", "bulk", "http"] {
        let line = format!(
            "byteio bench {url}/sparse --mechanism {mechanism} --threads 4 --block-size 512M --repeats 1 -q -o {mechanism}.json"
        );
        let client = home.start(line.split(' '));
        let peak = AtomicU64::new(0);
        client.wait_until("its end", LONG, |client| match peak_bytes(client.pid()) {
            Some(now) => {
                peak.fetch_max(now, Ordering::Relaxed);
                false
            }
            None => true,
        });
        let peak = peak.into_inner();
        assert!(peak > 0 && peak < 64 << 20, "the client held {peak} bytes");
        client.end(LONG).code(0);
    }
    let peak = peak_bytes(server.pid()).unwrap();
    assert!(peak < 64 << 20, "the service held {peak} bytes");
}

#[test]
fn sixty_four_gibibytes_pass_through_a_small_window() {
    if std::env::var_os("WIRESPEED_LONG_TESTS").is_none() {
        return skip("64 GiB through byteio: takes minutes; set WIRESPEED_LONG_TESTS=1");
    }
    let home = home();
    let (server, url) = serve(&home, "");
    std::fs::File::create(home.path("served/sparse"))
        .unwrap()
        .set_len(64 << 30)
        .unwrap();
    run(
        &home,
        &format!("byteio bench {url}/sparse --mechanism mtom --block-size 1G --repeats 1 --json"),
    )
    .code(0);
    assert!(peak_bytes(server.pid()).unwrap() < 64 << 20);
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
