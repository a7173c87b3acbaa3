//! Plans of many cases: repetition, dry runs, cases that cannot run, and every form of output.

use crate::{document, file, home, turn};
use serde_json::Value;
use wirespeed_schema::run::{CaseStatus, Event};

const PLAN: &str = r#"
repeats = 2

[defaults]
iters = 40
warmup = 0

[[case]]
test = ["am_lat", "am_bw"]
via = ["shm", "inproc"]
size = "8..64:x8"

[[case]]
test = "get"
via = ["udp", "inproc"]
"#;

#[test]
fn a_case_that_cannot_run_is_skipped_and_the_others_go_on() {
    let _turn = turn();
    let home = home();
    home.write("plan.toml", PLAN);
    let ended = home.run("run plan.toml --json").code(0);
    let run = document(&ended.stdout);
    assert_eq!(run.cases.len(), 10);
    let skipped: Vec<_> = run
        .cases
        .iter()
        .filter(|c| c.status == CaseStatus::Skipped)
        .collect();
    assert_eq!(skipped.len(), 1);
    assert!(
        skipped[0].error.as_deref().unwrap().contains("lost"),
        "{:?}",
        skipped[0].error
    );
    for case in run.cases.iter().filter(|c| c.status != CaseStatus::Skipped) {
        assert_eq!((case.status, case.repetitions.len()), (CaseStatus::Ok, 2));
    }
    home.run("run plan.toml --strict --quiet -o out.json").code(1);
    let alone = home.run("run get --via udp").code(2);
    assert!(alone.complaint().0.contains("udp"), "{alone}");
}

#[test]
fn a_case_that_fails_is_recorded_and_the_others_go_on() {
    let _turn = turn();
    let home = home();
    // Nobody has this address, so the port cannot be bound there.
    let ended = home
        .run("run am_lat --via tcp --source 192.0.2.77,127.0.0.1 --iters 40 --json")
        .code(1);
    ended.complaint();
    let statuses: Vec<_> = document(&ended.stdout).cases.iter().map(|c| c.status).collect();
    assert_eq!(statuses, [CaseStatus::Failed, CaseStatus::Ok], "{ended}");
}

#[test]
fn a_dry_run_lists_and_measures_nothing() {
    let home = home();
    home.write("plan.toml", PLAN);
    let ended = home.run("run plan.toml --dry-run").code(0);
    for word in ["am_lat", "am_bw", "get", "shm", "inproc", "udp"] {
        assert!(ended.stdout.contains(word), "{word}: {ended}");
    }
    let ended = home.run("run plan.toml --dry-run --json").code(0);
    let text = ended.json().to_string();
    assert!(
        !text.contains("rtt_p50_ns") && !text.contains("rate_msg_per_s"),
        "{ended}"
    );
}

#[test]
fn events_are_lines_and_the_last_is_the_end() {
    let _turn = turn();
    let home = home();
    let ended = home
        .run("run am_bw --via shm,inproc --duration 300ms --interval 50ms --ndjson")
        .code(0);
    let event =
        |line: &str| -> Event { serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")) };
    let events: Vec<Event> = ended.stdout.lines().map(event).collect();
    let count = |kind: fn(&Event) -> bool| events.iter().filter(|e| kind(e)).count();
    assert_eq!(count(|e| matches!(e, Event::CaseStarted { .. })), 2);
    assert_eq!(count(|e| matches!(e, Event::CaseFinished { .. })), 2);
    assert!(count(|e| matches!(e, Event::Interval { .. })) >= 2);
    assert!(matches!(
        events.last(),
        Some(Event::RunFinished { error: None, .. })
    ));
}

#[test]
fn csv_is_strict() {
    let _turn = turn();
    let home = home();
    home.write("plan.toml", PLAN);
    let ended = home.run("run plan.toml --csv").code(0);
    let rows: Vec<Vec<String>> = ended.stdout.lines().map(columns).collect();
    assert_eq!(rows.len(), 11, "a header and a row a case: {ended}");
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{ended}");
    let test = rows[0].iter().position(|name| name == "test").unwrap();
    assert!(
        rows[1..]
            .iter()
            .all(|row| ["am_lat", "am_bw", "get"].contains(&row[test].as_str()))
    );
}

/// One line of CSV (RFC 4180) that holds no line end within a value.
fn columns(line: &str) -> Vec<String> {
    let (mut columns, mut value, mut quoted) = (Vec::new(), String::new(), false);
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => columns.push(std::mem::take(&mut value)),
            other => value.push(other),
        }
    }
    assert!(!quoted, "an open quotation: {line}");
    columns.push(value);
    columns
}

#[test]
fn files_are_written_by_their_endings() {
    let _turn = turn();
    let home = home();
    let ended = home
        .run("run am_lat --via inproc --iters 40 -q -o r.json -o r.csv -o r.ndjson -o r.txt -o r.hlog")
        .code(0);
    assert_eq!(ended.stdout, "", "quiet, and everything in files");
    assert_eq!(file(&home, "r.json").cases.len(), 1);
    let text = |name: &str| std::fs::read_to_string(home.path(name)).unwrap();
    assert_eq!(text("r.csv").lines().count(), 2);
    let last: Value = serde_json::from_str(text("r.ndjson").lines().last().unwrap()).unwrap();
    assert_eq!(last["event"], "run_finished");
    assert!(
        text("r.hlog").contains("Tag=0.0.0.round_trip,"),
        "{}",
        text("r.hlog")
    );
    assert!(text("r.txt").contains("am_lat") && !text("r.txt").contains('\u{1b}'));
}

#[test]
fn repetitions_are_kept_apart() {
    let _turn = turn();
    let home = home();
    let ended = home
        .run("run am_lat --via inproc,shm --iters 40 --repeats 3 --seed 7 --json")
        .code(0);
    let run = document(&ended.stdout);
    assert!(run.cases.iter().all(|case| case.repetitions.len() == 3));
    assert_eq!(run.sections.named("order").unwrap()["seed"], 7);
}
