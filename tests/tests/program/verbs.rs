//! The verbs that measure this machine or only tell about it, and interruptions of them.

use crate::{SOON, document, home, turn};
use rustix::process::Signal;
use serde_json::Value;
use wirespeed::transport::registry::Entry;
use wirespeed_schema::run::Status;

#[test]
fn quick_writes_a_document_and_names_it() {
    let _turn = turn();
    let home = home();
    let ended = home.run("quick --budget 2s --via inproc,shm").code(0);
    let json = std::fs::read_dir(home.path(".")).unwrap().flatten();
    let names: Vec<String> = json
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    let name = names.iter().find(|n| n.ends_with(".json")).unwrap();
    assert!(ended.stdout.contains(name.as_str()), "{name}: {ended}");
    let run = crate::file(&home, name);
    assert!(run.cases.iter().any(|c| c.case.transport == "shm"), "{ended}");
    assert!(run.sections.named("quick").is_some());
    home.assert_nothing_left(SOON);
}

#[test]
fn quick_names_every_road_even_without_time_for_it() {
    let _turn = turn();
    let home = home();
    let ended = home.run("quick --budget 1s").code(0);
    let registry = wirespeed::Registry::builtin();
    let joins_two = |entry: &&Entry| (entry.limits)(&Default::default()).unwrap().ranks_max > 1;
    for entry in registry.entries().iter().filter(joins_two) {
        assert!(ended.stdout.contains(entry.name), "{}: {ended}", entry.name);
    }
}

#[test]
fn quick_can_be_interrupted() {
    let _turn = turn();
    let home = home();
    let quick = home.start(["quick", "--json"]);
    quick.wait_until("ranks", crate::SILENT, |q| !home.ranks_of(q.pid()).is_empty());
    quick.signal(Signal::INT);
    let ended = quick.end(SOON).code(130);
    assert_eq!(document(&ended.stdout).status, Status::Interrupted, "{ended}");
    home.assert_nothing_left(SOON);
}

/// Every transport of the program, in order: the library's list, then those of other crates.
fn transports() -> Vec<&'static str> {
    let registry = wirespeed::Registry::builtin();
    let mut names: Vec<&str> = registry.entries().iter().map(|entry| entry.name).collect();
    names.extend(["uct", "ucp", "mpi"]);
    names.extend([
        "byteio-simple",
        "byteio-mtom",
        "byteio-dime",
        "byteio-http",
        "byteio-bulk",
    ]);
    names
}

#[test]
fn figures_are_read_to_the_last_digit() {
    // A quotient of whole numbers, as parsers that are quick make it, is the number beside this one.
    const HARD_TO_READ: f64 = 13018.990443518745;
    let _turn = turn();
    let home = home();
    home.run("run am_lat --via inproc -n 10k -o a.json").code(0);
    let run = std::fs::read_to_string(home.path("a.json")).unwrap();
    let figure = serde_json::from_str::<Value>(&run).unwrap()["cases"][0]["metrics"]["rtt_p50_ns"]["value"]
        .to_string();
    let run = run.replace(&figure, &HARD_TO_READ.to_string());
    std::fs::write(home.path("a.json"), run).unwrap();
    let ended = home.run("compare a.json a.json --figure p50 --allow-inconclusive --json");
    let said = &ended.code(0).stdout;
    assert!(said.contains(&format!(": {HARD_TO_READ}")), "{said}");
}

#[test]
fn who_names_no_transport_is_told_of_those_that_have_the_test() {
    let home = home();
    let remedy = |line: &str| home.run(line).code(2).complaint().1;
    let is_of_services = |name: &&str| name.starts_with("byteio-");
    let (services, ranks): (Vec<&str>, Vec<&str>) = transports().into_iter().partition(is_of_services);
    for (test, some) in [("latency", &ranks), ("bulk_get", &services)] {
        assert_eq!(
            remedy(&format!("run {test}")),
            format!("add --via TRANSPORT: {}", some.join(", "))
        );
    }
    let joins_two = |name: &&str| *name != "null";
    let some: Vec<&str> = ranks.into_iter().filter(joins_two).collect();
    assert_eq!(
        remedy("quick --via elephant"),
        format!("choose from: {}", some.join(", "))
    );
}

#[test]
fn calibrate_and_list_tell_programs_too() {
    let _turn = turn();
    let home = home();
    let clock = home.run("calibrate --json").code(0).json()["clock"].clone();
    assert!(
        clock["cost_ns"].as_f64().is_some_and(|cost| cost > 0.0),
        "{clock}"
    );
    let list = home.run("list --json").code(0).json();
    let names: Vec<&str> = list["transports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, transports());
    for name in names {
        let told = home.run(&format!("list {name}")).code(0);
        assert!(!told.stdout.is_empty());
    }
}

/// Each line, and words of which a shell must offer all behind it. The last word of a line is what was typed of the next one.
const OFFERED: [(&str, &[&str]); 5] = [
    ("wirespeed run ", &["latency", "am_lat", "bulk_put"]),
    ("wirespeed run latency --via s", &["shm"]),
    ("wirespeed run latency --via ", &["inproc", "shm", "tcp", "udp"]),
    (
        "wirespeed run latency --layout ",
        &["short", "bcopy", "zcopy", "shortiov"],
    ),
    ("wirespeed perftest --test ", &["put_lat", "stream_bw"]),
];

/// What completes a line, in the words of each shell that is here.
fn asking(shell: &str, line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let before = words[words.len().saturating_sub(2)];
    let typed = words.last().unwrap();
    match shell {
        "bash" => format!(
            "source completions; COMP_WORDS=({}); COMP_CWORD={}; _wirespeed wirespeed '{typed}' '{before}'; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words
                .iter()
                .map(|word| format!("'{word}'"))
                .collect::<Vec<_>>()
                .join(" "),
            words.len() - 1
        ),
        _ => format!("source completions; complete -C '{line}'"),
    }
}

#[test]
fn shells_complete_transports_tests_and_layouts() {
    let home = home();
    for shell in ["bash", "fish"] {
        let script = home.run(&format!("completions {shell}")).code(0);
        std::fs::write(home.path("completions"), script.stdout).unwrap();
        let here = |line: &str| {
            let asked = std::process::Command::new(shell)
                .args(["-c", line])
                .current_dir(home.path("."))
                .output();
            asked.map(|asked| String::from_utf8_lossy(&asked.stdout).into_owned())
        };
        if here("true").is_err() {
            println!("skipped: {shell} is not installed");
            continue;
        }
        // The generator gives fish no words without an option in front of them.
        let is_completed = |line: &str| shell != "fish" || line.contains("--");
        for (line, expected) in OFFERED.into_iter().filter(|(line, _)| is_completed(line)) {
            let said = here(&asking(shell, line)).unwrap();
            let offered: Vec<&str> = said.lines().filter_map(|line| line.split('\t').next()).collect();
            for word in expected {
                assert!(offered.contains(word), "{shell}: {word} after {line:?}: {said}");
            }
        }
    }
}

#[test]
fn help_version_completions_and_manual_are_answers() {
    let home = home();
    for line in [
        "--help",
        "--version",
        "run --help",
        "serve -h",
        "man",
        "completions bash",
        "completions zsh",
        "completions fish",
    ] {
        let ended = home.run(line).code(0);
        assert!(!ended.stdout.is_empty() && ended.stderr.is_empty(), "{ended}");
    }
}
