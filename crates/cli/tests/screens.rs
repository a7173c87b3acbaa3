//! What verbs print: help for whoever names no verb, a near name for every slip, lines that fit a terminal. Nothing here
//! measures longer than it must.

use assert_cmd::Command;
use serde_json::Value;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(60);
/// Columns of half of the lines, and of every line that holds no path or command.
const MEDIAN_MAX: usize = 80;
const WIDEST_MAX: usize = 100;

fn wirespeed() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("wirespeed"));
    command
        .timeout(DEADLINE)
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS");
    command
}

fn said(line: &str) -> (i32, String, String) {
    let output = wirespeed().args(line.split_whitespace()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let code = output.status.code().unwrap();
    (code, text(&output.stdout), text(&output.stderr))
}

#[test]
fn whoever_names_no_verb_is_shown_the_help() {
    for (line, usage) in [
        ("", "Usage: wirespeed "),
        ("help", "Usage: wirespeed "),
        ("help quick", "Usage: wirespeed quick "),
        ("byteio", "Usage: wirespeed byteio "),
        ("help byteio get", "Usage: wirespeed byteio get "),
    ] {
        let (code, out, err) = said(line);
        assert_eq!((code, err.as_str()), (0, ""), "{line:?}");
        assert!(out.contains(usage), "{line:?}: {out}");
    }
}

/// `word` with two letters swapped that differ; `None` where that is another of `choices`, or too short to tell.
fn slip(word: &str, choices: &[&str]) -> Option<String> {
    let mut letters: Vec<char> = word.chars().collect();
    let at = letters.windows(2).rposition(|pair| pair[0] != pair[1])?;
    letters.swap(at, at + 1);
    let slip: String = letters.into_iter().collect();
    (word.len() > 2 && !choices.contains(&slip.as_str())).then_some(slip)
}

fn is_told(line: &str, meant: &str) {
    let (code, out, err) = said(line);
    assert_eq!((code, out.as_str()), (2, ""), "{line}: {err}");
    assert!(
        err.contains(&format!("did you mean \"{meant}\"?")),
        "{line}: {err}"
    );
}

#[test]
fn a_slip_in_a_value_is_told_by_every_option_with_names() {
    for (line, meant) in [
        ("quick --via smh", "shm"),
        ("list smh", "shm"),
        ("run latency --via shm,unxi", "unix"),
        ("run latnecy --via shm", "latency"),
        ("run am_bw --via shm --layout bcpoy", "bcopy"),
        ("run latency --via shm --load cup=1", "cpu"),
        ("run latency --via shm --load cpu=1,place=aprat", "apart"),
        ("run latency --via shm --interference=meomry", "memory"),
        ("run latency --via shm --interference=cpu@aprat", "apart"),
        ("run latency --via shm --until p5O:5%", "p50"),
        ("run hub_lat --via shm --procs 2 --roles hbu,worker", "hub"),
        ("sweep --over widnow -- am_bw --via shm", "window"),
        ("msgrate --pattern piar", "pair"),
        ("msgrate --grid rign", "ring"),
        ("msgrate --cache-state flsuhed", "flushed"),
        ("mesh --ranks 3 --pattern incsat -- am_lat --via tcp", "incast"),
        ("perftest -l -x shm -t am_lta", "am_lat"),
        ("perftest -l -x shm -t am_lat -D shotr", "short"),
        ("perftest -l -x shm -t am_lat -M mutli", "multi"),
        (
            "session --bandwidthPath=client_to_computatoin",
            "client_to_computation",
        ),
        ("session --env pord", "prod"),
        ("session --format clasisc", "classic"),
        ("session --launch slrum", "slurm"),
        (
            "session --route dierct --bandwidthPath=client_to_computation",
            "direct",
        ),
        ("import /dev/null --format iperf", "iperf3"),
        ("byteio get http://127.0.0.1:1/x out --mechanism mtmo", "mtom"),
        (
            "byteio bench http://127.0.0.1:1/x --profile byteio209",
            "byteio2009",
        ),
        ("byteio peers --movers crul x", "curl"),
        ("completions bsah", "bash"),
        ("list --color nevre", "never"),
    ] {
        is_told(line, meant);
    }
}

#[test]
fn what_is_far_from_every_name_gets_no_guess_and_a_path_is_a_file() {
    let (code, _, err) = said("run latency --via shm --group threads");
    assert!(code == 2 && !err.contains("did you mean"), "{err}");
    for path in ["plan.tml", "none/plan"] {
        let (code, _, err) = said(&format!("run {path}"));
        assert!(code == 2 && err.contains(&format!("cannot read {path}")), "{err}");
    }
}

/// Options of transports are found by themselves, so that a new one is tried too.
#[test]
fn a_slip_in_an_option_of_a_transport_is_told() {
    let listed: Value = serde_json::from_str(&said("list --json").1).unwrap();
    let mut tried = 0;
    for transport in listed["transports"].as_array().unwrap() {
        let name = transport["name"].as_str().unwrap();
        let options = transport["options"].as_array().unwrap();
        let names: Vec<&str> = options
            .iter()
            .map(|option| option["name"].as_str().unwrap())
            .collect();
        let place = match transport["capabilities"]["bulk"]["support"] == "native" {
            true => format!("run bulk_get --via {name} --to http://127.0.0.1:1/x --total 1MiB"),
            false => format!("run latency --via {name}"),
        };
        for option in options {
            let (key, values) = (
                option["name"].as_str().unwrap(),
                option["values"].as_str().unwrap(),
            );
            if let Some(slip) = slip(key, &names) {
                is_told(&format!("{place} -O {slip}=1"), key);
                tried += 1;
            }
            let choices: Vec<&str> = values.split('|').collect();
            // Capitals stand for something else, such as COUNT.
            let named = |value: &&&str| choices.len() > 1 && value.chars().all(|c| !c.is_uppercase());
            for value in choices.iter().filter(named) {
                if let Some(slip) = slip(value, &choices) {
                    is_told(&format!("{place} -O {key}={slip}"), value);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 20, "{tried}");
}

#[test]
fn what_verbs_print_fits_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (result, other) = (at("a.json"), at("b.json"));
    let measured = "latency,rate --via shm,inproc --size 8,512 --iters 2k --warmup 10 --repeats 2";
    let mut lines = vec![
        "help".to_owned(),
        "list".to_owned(),
        "doctor".to_owned(),
        "quick --dry-run".to_owned(),
        format!("run {measured} -o {result}"),
        format!("run {measured} -o {other}"),
        format!("run {measured} --dry-run --remarks"),
        format!("explain {result}"),
        format!("report {result}"),
        format!("compare {result} {other} --allow-inconclusive"),
        "sweep --over window --dry-run -- am_bw --via tcp --size 64".to_owned(),
        "load --offered 1k,2k --dry-run -- am_bw --via tcp --size 64".to_owned(),
        "ab --pairs 2 --dry-run -- latency --via unix -- latency --via shm".to_owned(),
        "msgrate --ranks 4 --peers 2 --dry-run".to_owned(),
        "workers --dry-run".to_owned(),
        "perftest -l -x shm -t am_lat --dry-run".to_owned(),
    ];
    let listed: Value = serde_json::from_str(&said("list --json").1).unwrap();
    let transports = listed["transports"].as_array().unwrap().iter();
    lines.extend(transports.map(|one| format!("list {}", one["name"].as_str().unwrap())));
    for line in lines {
        let (_, out, err) = said(&line);
        let mut widths: Vec<usize> = out
            .lines()
            .filter(|line| !line.is_empty())
            .map(|line| line.chars().count())
            .collect();
        widths.sort_unstable();
        assert!(!widths.is_empty(), "{line}: {err}");
        assert!(
            widths[widths.len() / 2] <= MEDIAN_MAX,
            "{line}: {widths:?}\n{out}"
        );
        let is_long = |line: &&str| line.chars().count() > WIDEST_MAX;
        // What is copied into a shell stays whole.
        let of_shell = |line: &&str| line.contains('/') || line.contains("wirespeed ");
        let long = out.lines().filter(is_long).find(|line| !of_shell(line));
        assert_eq!(long, None, "{line}");
    }
}

/// On a terminal, lines of stdout stand where the view of `--live` was, and no later picture takes their place.
#[test]
fn a_live_view_gives_way_to_lines() {
    let wipe = "F\u{1b}[J";
    for line in [
        "perftest -l -x inproc -t am_lat -n 200000 --live",
        "run am_lat --via inproc -t 700ms --warmup 0 --interval 100ms --live --ndjson",
    ] {
        let mut command = Command::new("script");
        let program = assert_cmd::cargo::cargo_bin!("wirespeed").display();
        command.args(["-qec", &format!("stty cols 90; {program} {line}"), "/dev/null"]);
        let Ok(output) = command.timeout(DEADLINE).env("TERM", "xterm").output() else {
            continue;
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let pictures: Vec<&str> = text.split(wipe).collect();
        assert!(pictures.len() > 2, "{text}");
        // What is wiped is the last picture alone: as many rows as follow the lines that stay.
        for pair in pictures.windows(2) {
            let rows: usize = pair[0].rsplit("\u{1b}[").next().unwrap().parse().unwrap();
            let drawn = pair[0].lines().rev().skip(1).take(rows);
            let mut lost = drawn.filter(|line| line.starts_with(['{', '[', 'F']));
            assert_eq!(lost.next(), None, "{text}");
        }
    }
}
