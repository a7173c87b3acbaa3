//! The program as users run it, measuring for real over threads and processes of this machine. No speed is asserted;
//! every run has a deadline.

use assert_cmd::Command;
use serde_json::Value;
use std::ffi::OsStr;
use std::io::BufRead as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(60);

fn wirespeed() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("wirespeed"));
    command.timeout(DEADLINE).env("NO_COLOR", "1");
    command
}

/// A program that is signalled while it runs.
fn running(arguments: &[&str], key: Option<&std::path::Path>) -> Child {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("wirespeed"));
    if let Some(key) = key {
        command.env("WIRESPEED_KEY_FILE", key);
    }
    command
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).expect("stdout is one JSON document and nothing else")
}

#[test]
fn threads_and_processes_give_one_document() {
    for place in ["--threads", "--procs"] {
        let output = wirespeed()
            .args([
                "run",
                "latency,rate",
                "--via",
                "shm",
                "--iters",
                "200",
                "--warmup",
                "10",
            ])
            .args(["--check", "--json", place, "2"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let run = json(&output.stdout);
        assert_eq!(run["status"], "ok");
        assert_eq!(run["cases"].as_array().unwrap().len(), 2);
        let p50 = run["cases"][0]["metrics"]["rtt_p50_ns"]["value"].as_f64();
        assert!(p50.is_some_and(|ns| ns > 0.0), "{run}");
        assert_eq!(run["command"][0], "wirespeed");
    }
}

#[test]
fn repetitions_are_fresh_and_the_seed_is_recorded() {
    let output = wirespeed()
        .args([
            "run",
            "latency",
            "--via",
            "inproc,shm",
            "--iters",
            "50",
            "--warmup",
            "0",
        ])
        .args(["--repeats", "3", "--seed", "7", "--json"])
        .output()
        .unwrap();
    let run = json(&output.stdout);
    assert_eq!(run["sections"]["order"]["seed"], 7);
    for case in run["cases"].as_array().unwrap() {
        assert_eq!(case["repetitions"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn files_are_written_by_their_endings() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let files = ["r.json", "r.csv", "r.ndjson", "r.txt"];
    wirespeed()
        .args(["run", "latency", "--via", "inproc", "--iters", "50", "--quiet"])
        .args(files.iter().flat_map(|name| ["-o".into(), path(name)]))
        .assert()
        .code(0)
        .stdout("");
    let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
    assert_eq!(json(read("r.json").as_bytes())["status"], "ok");
    assert_eq!(read("r.csv").lines().count(), 2);
    assert!(read("r.txt").contains("inproc"));
    let text = read("r.ndjson");
    let events: Vec<Value> = text.lines().map(|line| json(line.as_bytes())).collect();
    assert_eq!(events.first().unwrap()["event"], "case_started");
    assert_eq!(events.last().unwrap()["event"], "run_finished");
}

#[test]
fn a_case_that_cannot_run_is_skipped_among_others_and_an_error_alone() {
    let output = wirespeed()
        .args([
            "run", "put_bw", "--via", "shm,unix", "--iters", "50", "--procs", "2",
        ])
        .args(["--size", "64", "--layout", "short", "--json"])
        .output()
        .unwrap();
    let run = json(&output.stdout);
    let cases = run["cases"].as_array().unwrap();
    assert_eq!(cases[0]["status"], "ok", "{run}");
    if cases[1]["status"] == "skipped" {
        assert!(cases[1]["error"].as_str().is_some_and(|e| !e.is_empty()));
        assert_eq!(output.status.code(), Some(0));
    }
    let alone = wirespeed()
        .args(["run", "put_bw", "--via", "null", "--json"])
        .output()
        .unwrap();
    assert_eq!(alone.status.code(), Some(2));
    assert!(json(&alone.stdout)["error"].as_str().is_some());
    let late = wirespeed()
        .args(["run", "latency", "--via", "inproc", "--size", "8,16,32"])
        .args(["--until", "p50:1%", "--until-time", "1ns"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&late.stdout);
    assert!(
        said.contains("skipped: the time of the goal") && said.contains("give more --until-time"),
        "{said}"
    );
}

#[test]
fn errors_are_documents_and_two_last_lines() {
    let output = wirespeed()
        .args(["run", "latency", "--via", "shn", "-qJ"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let run = json(&output.stdout);
    assert_eq!(run["status"], "failed");
    assert_eq!(run["error"], "there is no transport \"shn\"");
    let stderr = String::from_utf8(output.stderr).unwrap();
    let last: Vec<_> = stderr.lines().rev().take(2).collect();
    assert!(
        last[0].starts_with("help: ") && last[1].starts_with("error: "),
        "{stderr}"
    );
    let named = wirespeed()
        .args(["run", "latency", "--via", "shn", "-oJ"])
        .output();
    assert!(named.unwrap().stdout.is_empty(), "J is a file");
    let events = wirespeed().args(["run", "latency", "--ndjson"]).output().unwrap();
    assert_eq!(json(&events.stdout)["event"], "run_finished");
}

#[test]
fn an_interrupted_run_writes_what_it_has() {
    let arguments = [
        "run",
        "latency",
        "--via",
        "shm",
        "--duration",
        "50s",
        "--interval",
        "100ms",
        "--ndjson",
    ];
    let mut child = running(&arguments, None);
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    // The first interval says that it measures; before that a signal would find nothing to stop.
    let measuring = lines
        .by_ref()
        .find(|line| line.as_ref().is_ok_and(|l| l.contains("\"interval\"")));
    assert!(measuring.is_some());
    let began = Instant::now();
    signal(&child, rustix::process::Signal::INT);
    let last = lines.map_while(Result::ok).last().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(began.elapsed() < DEADLINE);
    let last = json(last.as_bytes());
    assert_eq!(
        (&last["event"], &last["status"]),
        (&"run_finished".into(), &"interrupted".into())
    );
}

#[test]
fn a_self_test_that_is_interrupted_shows_what_was_checked() {
    let shown = interrupted(&["selftest", "--quick"]);
    assert!(shown.starts_with("Incomplete: "), "{shown}");
}

#[test]
fn a_calibration_that_is_interrupted_shows_what_was_measured() {
    let shown = interrupted(&["calibrate"]);
    assert!(shown.contains("clock read"), "{shown}");
}

/// What a verb shows that is interrupted as soon as it can hear.
fn interrupted(words: &[&str]) -> String {
    let child = running(words, None);
    let caught = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let mask = status
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:"))
            .unwrap()
            .trim();
        u64::from_str_radix(mask, 16).unwrap() & (1 << (rustix::process::Signal::INT.as_raw() - 1)) != 0
    };
    // Before it watches for signals there is nothing that could end well.
    while !caught() {
        std::thread::sleep(Duration::from_millis(5));
    }
    signal(&child, rustix::process::Signal::INT);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(
        said.contains("interrupted") && said.contains("help: run again"),
        "{said}"
    );
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

#[test]
fn names_from_outside_move_no_cursor() {
    let dir = tempfile::tempdir().unwrap();
    let result = dir.path().join("r.json");
    let run = ["run", "latency", "--via", "inproc", "-n", "50", "-q", "-o"];
    wirespeed().args(run).arg(&result).assert().success();
    let strange = dir.path().join("e\u{1b}[31m\u{202e}z.md");
    for words in [
        &["report"][..],
        &["report", "/nonexistent/\u{1b}[31m.json"],
        &["explain"],
        &["compare"],
    ] {
        let ended = wirespeed()
            .args(words)
            .arg(&result)
            .arg("-o")
            .arg(&strange)
            .output()
            .unwrap();
        for shown in [&ended.stdout, &ended.stderr] {
            let shown = String::from_utf8_lossy(shown);
            assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{words:?}: {shown:?}");
        }
    }
}

#[test]
fn a_folder_that_no_command_can_name_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let odd = home.path().join(OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir(&odd).unwrap();
    let words = "byteio bench --profile byteio2009 --emulated --size 64K";
    let refused = wirespeed().args(words.split(' ')).env("TMPDIR", &odd).output();
    let refused = refused.unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(
        said.contains(r"caf\xe9") && said.contains("help: point TMPDIR"),
        "{said}"
    );
}

#[test]
fn a_reader_that_leaves_is_no_panic() {
    let mut child = running(&["completions", "bash"], None);
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn list_shows_every_transport_to_programs_too() {
    let output = wirespeed().args(["list", "--json"]).output().unwrap();
    let list = json(&output.stdout);
    let entries = list["transports"].as_array().unwrap();
    let names: Vec<&str> = entries.iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"null") && names.contains(&"tcp"), "{names:?}");
    let shown = wirespeed().arg("list").output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    for name in names {
        assert!(shown.contains(name));
        wirespeed().args(["list", name]).assert().success();
    }
}

#[test]
fn quick_names_its_file_and_brings_the_floor() {
    let dir = tempfile::tempdir().unwrap();
    let output = wirespeed()
        .current_dir(dir.path())
        .args(["quick", "--budget", "2s", "--via", "inproc"])
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(
        shown.contains("inproc") && shown.contains("wirespeed-quick.json"),
        "{shown}"
    );
    let run = json(&std::fs::read(dir.path().join("wirespeed-quick.json")).unwrap());
    let cases = run["cases"].as_array().unwrap();
    assert!(cases.iter().any(|c| c["case"]["transport"] == "null"));
}

#[test]
fn a_server_measures_and_ends_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let key = dir.path().join("key");
    let mut server = running(&["serve", "--port", "0", "--quiet"], Some(&key));
    let mut first = String::new();
    let mut lines = std::io::BufReader::new(server.stdout.take().unwrap());
    lines.read_line(&mut first).unwrap();
    let address = first
        .trim()
        .strip_prefix("listening on ")
        .expect("its address first")
        .to_owned();
    let ask = |key: &std::path::Path| {
        wirespeed()
            .env("WIRESPEED_KEY_FILE", key)
            .args([
                "run", "latency", "--via", "tcp", "--iters", "50", "--json", "--to", &address,
            ])
            .output()
    };
    let (run, stranger) = (ask(&key), ask(&dir.path().join("none")));
    signal(&server, rustix::process::Signal::TERM);
    assert_eq!(server.wait().unwrap().code(), Some(0));
    let run = run.unwrap();
    assert_eq!(
        run.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert_eq!(json(&run.stdout)["cases"][0]["case"]["group"], "hosts");
    let stranger = stranger.unwrap();
    assert_eq!(stranger.status.code(), Some(5));
    assert_eq!(json(&stranger.stdout)["status"], "refused");
}

#[test]
fn shells_are_served() {
    for shell in ["bash", "zsh", "fish"] {
        wirespeed().args(["completions", shell]).assert().success();
    }
    let dir = tempfile::tempdir().unwrap();
    wirespeed().arg("__man-all").arg(dir.path()).assert().success();
    assert!(dir.path().join("wirespeed-run.1").is_file());
    let version = wirespeed().arg("--version").output().unwrap();
    assert!(
        String::from_utf8(version.stdout)
            .unwrap()
            .starts_with("wirespeed ")
    );
}

#[test]
fn a_case_that_a_mesh_cannot_run_leaves_no_question_open() {
    let line =
        "mesh --ranks 4 --repeats 1 --material 99% --json -- am_lat,put_lat --via udp -n 200 --warmup 0";
    let run = json(&wirespeed().args(line.split(' ')).output().unwrap().stdout);
    assert_eq!(run["cases"][1]["status"], "skipped");
    let probes = run["sections"]["mesh"]["probes"].as_array().unwrap();
    assert_eq!((probes.len(), &probes[0]["case"]), (1, &json(b"0")));
}
