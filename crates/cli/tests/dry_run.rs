//! `--dry-run` of every verb that has it: what would be done is said, and nothing is started, written or asked.

use assert_cmd::Command;
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Programs that verbs start to measure; no other is found.
const PROGRAMS: [&str; 8] = ["sh", "ssh", "srun", "mpirun", "iperf3", "curl", "aria2c", "xrdcp"];

/// FAR is an address at which somebody would be heard.
const LINES: [&str; 25] = [
    "quick",
    "run latency --via tcp --to FAR",
    "sweep -- latency --via tcp --to FAR",
    "sweep --over loggp -- --via tcp --to FAR",
    "load -- --via tcp --to FAR",
    "ab -- latency --via tcp --to FAR -- latency --via shm",
    "ab -- byteio bench http://FAR/f -- byteio bench http://FAR/f -m http",
    "msgrate",
    "workers --log trips.log",
    "mesh --ranks 3 -- latency --via tcp",
    "mesh --hosts a,b -- latency --via tcp",
    "mesh --to FAR,127.0.0.2:1 -- latency --via tcp",
    "perftest FAR -x tcp -t am_lat",
    "perftest FAR -x tcp -t am_lat -l",
    "perftest -x tcp -t am_lat",
    "session --benchmarkPath=computation_to_client",
    "session --benchmarkPath=computation_to_client --launch ssh --on a",
    "session --benchmarkPath=computation_to_client --launch slurm",
    "session --benchmarkPath=computation_to_client --host FAR",
    "session --benchmarkPath=computation_to_client --dc here --site http://FAR",
    "byteio bench http://FAR/f",
    "byteio bench --profile byteio2009 --emulated",
    "byteio bench --pairs pairs.toml",
    "byteio peers f",
    "byteio peers f --run ssh",
];

/// What cannot be done is not done in earnest either: `-l` of perftest names no server.
const REFUSED: &str = "perftest FAR -x tcp -t am_lat -l";

const PAIRS: &str = "pairs = [\"a -> b\"]
[[machine]]
name = \"a\"
run = [\"ssh\", \"a\"]
[[machine]]
name = \"b\"
url = \"http://FAR/f\"
";

/// Every file below a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let below = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path),
            false => BTreeSet::from([path]),
        }
    };
    std::fs::read_dir(folder).unwrap().flat_map(below).collect()
}

/// A folder with stand-ins for all programs, each of which leaves a file when it is started.
fn stand_ins(home: &Path) {
    let folder = home.join("bin");
    std::fs::create_dir(&folder).unwrap();
    for name in PROGRAMS {
        let path = folder.join(name);
        let script = format!("#!/bin/sh\n: >'{}.started'\n", path.display());
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn wirespeed(home: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("wirespeed"));
    command
        .timeout(Duration::from_secs(60))
        .env_clear()
        .env("PATH", home.join("bin"))
        .env("HOME", home)
        // Whoever has no key connects to nobody anyway; 64 bytes are one.
        .env("WIRESPEED_IDENTITY", format!("WS1:{}", "A".repeat(86)))
        // No file can be made among temporary ones, however short its life.
        .env("TMPDIR", home.join("no such folder"))
        .current_dir(home);
    command
}

#[test]
fn a_dry_run_has_no_effect() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    stand_ins(home);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let far = listener.local_addr().unwrap().to_string();
    std::fs::write(home.join("f"), "some bytes").unwrap();
    std::fs::write(home.join("pairs.toml"), PAIRS.replace("FAR", &far)).unwrap();
    let before = files(home);
    for line in LINES {
        let mut words: Vec<String> = line.split(' ').map(|word| word.replace("FAR", &far)).collect();
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        words.insert(end, "--dry-run".to_owned());
        let output = wirespeed(home).args(&words).output().unwrap();
        let code = if line == REFUSED { 2 } else { 0 };
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {said}");
        assert_eq!(output.stdout.is_empty(), line == REFUSED, "{line}");
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(!told.contains("total=0"), "{line}: {told}");
        assert_eq!(files(home), before, "{line}");
        assert!(listener.accept().is_err(), "{line}: somebody came");
    }
}

#[test]
fn what_the_far_end_alone_knows_is_not_told_as_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    stand_ins(home);
    let dry = |json: &[&str]| {
        let words = ["byteio", "peers", "f", "--run", "ssh", "--dry-run"];
        let output = wirespeed(home).args(words).args(json).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let told = dry(&[]);
    assert!(told.contains("total=?") && !told.contains("iters=1"), "{told}");
    let told: serde_json::Value = serde_json::from_str(&dry(&["--json"])).unwrap();
    for case in told["cases"].as_array().unwrap() {
        let case = &case["case"];
        assert!(case["total_bytes"].is_null() && case["stop"].is_null(), "{case}");
    }
}

#[test]
fn what_is_said_beside_the_cases_is_told_to_machines_too() {
    let folder = tempfile::tempdir().unwrap();
    for (line, about) in [
        (
            "session --benchmarkPath=computation_to_client --host there:1 --dry-run --json",
            "in a session at there:1",
        ),
        (
            "load --points 3 --dry-run --json -- --via tcp",
            "3 rates up to what is carried",
        ),
        (
            "byteio bench http://there/f --offered 5 --repeats 2 --duration 1s --dry-run --json",
            "1 named rate, 2 runs of each, 1 s each",
        ),
    ] {
        let output = wirespeed(folder.path()).args(line.split(' ')).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        let told: serde_json::Value = serde_json::from_str(&told).unwrap_or_else(|_| panic!("{output:?}"));
        assert_eq!(told["about"], about, "{line}");
    }
}

/// What needs no connection is refused as in earnest.
#[test]
fn a_session_that_could_not_be_asked_for_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    stand_ins(home);
    std::fs::write(home.join("site"), r#"{"here": {"prod": "there:1"}}"#).unwrap();
    let refused = |identity: &str, place: &str| {
        let words = ["session", "--benchmarkPath=computation_to_client", "--dry-run"];
        let mut command = wirespeed(home);
        let output = command
            .args(words)
            .args(place.split(' '))
            .env("WIRESPEED_IDENTITY", identity);
        let output = output.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            told.contains("in a session at there:1"),
            place.ends_with(" site") && said.is_empty()
        );
        (!output.status.success()).then_some(said)
    };
    let good = format!("WS1:{}", "A".repeat(86));
    assert_eq!(refused(&good, "--dc here --site site"), None);
    let said = refused(&good, "--dc nowhere --site site").unwrap();
    assert!(said.contains("no data centre \"nowhere\""), "{said}");
    for place in [
        "--host localhost",
        "--dc here --site site",
        "--dc here --site http://192.0.2.1",
    ] {
        assert!(refused("", place).is_some(), "{place}");
    }
    assert_eq!(refused("", "--local-only"), None);
}

#[test]
fn every_verb_with_a_dry_run_is_tried() {
    let home = tempfile::tempdir().unwrap();
    let pages = home.path().join("pages");
    std::fs::create_dir(&pages).unwrap();
    wirespeed(home.path())
        .arg("__man-all")
        .arg(&pages)
        .assert()
        .success();
    let mut verbs = 0;
    for page in files(&pages) {
        let has_it = std::fs::read_to_string(&page).unwrap().contains(r"\-\-dry\-run");
        let name = page.file_stem().unwrap().to_str().unwrap().to_owned();
        if has_it && let Some(verb) = name.strip_prefix("wirespeed-") {
            let verb = verb.replace('-', " ");
            assert!(LINES.iter().any(|line| line.starts_with(&verb)), "{verb}");
            verbs += 1;
        }
    }
    assert!(verbs >= 12, "{verbs}");
}
