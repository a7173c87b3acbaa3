//! What the help of a verb says that it does where nothing is said, and what it then does.

use assert_cmd::Command;
use serde_json::Value;

fn stdout(words: &[&str]) -> String {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("wirespeed"));
    let output = command.args(words).env("NO_COLOR", "1").output().unwrap();
    assert!(
        output.status.success(),
        "{words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// What stands behind `[default: ` in the help of `--repeats`, up to its end or to other circumstances.
fn told(help: &str) -> Vec<String> {
    let words: Vec<&str> = help
        .split("--repeats <N>")
        .nth(1)
        .unwrap()
        .split("\n\n")
        .collect();
    let text = words[0].split_whitespace().collect::<Vec<_>>().join(" ");
    let defaults = text.match_indices("[default: ");
    defaults
        .map(|(at, mark)| {
            let rest = &text[at + mark.len()..];
            rest.split([']', ';']).next().unwrap().to_owned()
        })
        .collect()
}

#[test]
fn the_help_of_each_verb_states_its_own_repeats() {
    for words in [
        "quick",
        "run latency --via inproc",
        "sweep -- latency --via inproc",
        "load --offered 1k -- --via inproc",
        "ab -- latency --via inproc -- latency --via inproc -s 64",
        "mesh --ranks 2",
        "msgrate --via shm -p 1",
        "workers",
        "session --benchmarkPath=computation_to_computation",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let (verb, rest) = words.split_at(1);
        let measured = stdout(&[verb, &["--dry-run", "--json"], rest].concat());
        let measured: Value = serde_json::from_str(&measured).unwrap_or_else(|e| panic!("{verb:?}: {e}"));
        let repeats = measured["plan"]["repeats"].to_string();
        for help in ["--help", "-h"] {
            let help = stdout(&[verb, &[help]].concat());
            if let Some(told) = told(&help.replace("-r, ", "")).first() {
                assert_eq!(*told, repeats, "{verb:?}");
            }
        }
    }
}
