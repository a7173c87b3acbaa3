//! A disk without room: every verb that writes a file says so in two lines with exit code 1, leaves the earlier file as it
//! was, and leaves nothing of its own. The disk is a small tmpfs in a mount namespace that each program gets for itself.

use crate::{home, turn};
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::skip;

const EARLIER: &str = "an earlier result\n";

/// A line of words that writes `full/FILE`, and those files of the disk that it would write.
const WRITERS: &[(&str, &[&str])] = &[
    (
        "run am_lat --via inproc -n 100 --repeats 2 -q -o full/o.ENDING",
        &["o.ENDING"],
    ),
    (
        "sweep --repeats 2 -q -o full/o.json -- am_bw --via inproc -t 5ms --size 8,64",
        &["o.json"],
    ),
    (
        "load --trials 1 --points 3 --p99 5ms -q -o full/o.json -- --via inproc --size 64 -t 20ms",
        &["o.json"],
    ),
    ("quick --via inproc --budget 1s -q -o full/o.json", &["o.json"]),
    (
        "workers --via inproc -w 1 -n 10 -q -o full/o.json --log full/o.csv",
        &["o.json", "o.csv"],
    ),
    (
        "workers --via inproc -w 1 -n 10 -q --figures full",
        &["figure3.svg", "figure4.svg"],
    ),
    (
        "msgrate --via shm -i 10 --pattern pre-post -q --output full/o.json",
        &["o.json"],
    ),
    (
        "perftest -l -x inproc -t am_lat -n 100 --output full/o.json",
        &["o.json"],
    ),
    ("session --duration 0.1 -q -o full/o.json", &["o.json"]),
    (
        "compare good.json good.json --allow-shared -o full/o.json --junit full/o.xml",
        &["o.json", "o.xml"],
    ),
    ("report good.json -o full/o.html", &["o.html"]),
    ("report good.json --charts full", &[]),
    ("import good.txt -o full/o.json", &["o.json"]),
];

/// Endings that `run` knows.
const ENDINGS: [&str; 5] = ["json", "ndjson", "csv", "txt", "hlog"];

/// Run a line where `full` is a disk with no byte left but for what is in `files`, and tell what is on it afterwards.
fn on_a_full_disk(home: &Home, line: &str, files: &[String]) -> Ended {
    let before: String = files
        .iter()
        .map(|file| format!("printf '{}' > full/{file}; ", EARLIER.replace('\n', "\\n")))
        .collect();
    let script = format!(
        "mount -t tmpfs -o size=64k tmpfs full && {before} cat /dev/zero > full/.filler 2>/dev/null; \
         \"$0\" {line}; code=$?; for f in {}; do cat full/$f; done >after.txt; rm full/.filler; ls -A full >names.txt; \
         exit $code",
        files.join(" ")
    );
    let mut command = std::process::Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .arg(home.program());
    home.adopt(&mut command);
    Running::start(command).end(PATIENCE)
}

#[test]
fn no_verb_destroys_a_file_on_a_full_disk() {
    let _turn = turn();
    let home = home();
    std::fs::create_dir(home.path("full")).unwrap();
    let namespace = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "true"])
        .status();
    if !namespace.is_ok_and(|status| status.success()) {
        return skip("no mount namespace can be made here");
    }
    home.run("run am_lat --via inproc -n 100 -q -o good.json").code(0);
    home.write(
        "good.txt",
        "# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n8                       0.41\n",
    );
    for (line, files) in WRITERS {
        let endings: &[&str] = if line.contains("ENDING") { &ENDINGS } else { &[""] };
        for ending in endings {
            let line = line.replace("ENDING", ending);
            let files: Vec<String> = files.iter().map(|file| file.replace("ENDING", ending)).collect();
            let ended = on_a_full_disk(&home, &line, &files);
            assert_eq!(ended.code, Some(1), "{line}: {ended}");
            let (cause, remedy) = ended.complaint();
            assert!(
                cause.contains("No space left on device") && cause.contains("full/"),
                "{line}: {ended}"
            );
            assert!(remedy.contains("make room"), "{line}: {ended}");
            let after = std::fs::read_to_string(home.path("after.txt")).unwrap();
            assert_eq!(after, EARLIER.repeat(files.len()), "{line}");
            let names = std::fs::read_to_string(home.path("names.txt")).unwrap();
            let mut names: Vec<&str> = names.lines().collect();
            names.sort_unstable();
            let mut expected: Vec<&str> = files.iter().map(String::as_str).collect();
            expected.sort_unstable();
            assert_eq!(names, expected, "{line}: nothing else is left there");
        }
    }
}

#[test]
fn one_document_on_stdout_though_a_file_cannot_be_written() {
    let _turn = turn();
    let home = home();
    std::os::unix::fs::symlink("/dev/full", home.path("o.csv")).unwrap();
    let ended = home
        .run("run am_lat --via inproc -n 100 --json -o o.csv -o whole.json")
        .code(1);
    assert_eq!(crate::document(&ended.stdout).cases.len(), 1);
    assert_eq!(crate::file(&home, "whole.json").cases.len(), 1);
    assert!(ended.complaint().0.contains("o.csv"), "{ended}");
}

#[test]
fn a_run_that_cannot_begin_leaves_no_file_and_no_earlier_one_changed() {
    let home = home();
    home.write("o.json", EARLIER);
    for line in [
        "run am_lat --via moon -o o.json -o n.ndjson",
        "run am_lat --via shm -s 99G -o o.json -o n.ndjson",
    ] {
        let ended = home.run(line);
        assert_ne!(ended.code, Some(0), "{ended}");
        assert_eq!(std::fs::read_to_string(home.path("o.json")).unwrap(), EARLIER);
        assert!(!home.path("n.ndjson").exists(), "{line}");
    }
}
