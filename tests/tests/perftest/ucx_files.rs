//! Batch files in ucx_perftest's grammar (`batches`), and UCX's own where an installation has them: every line is
//! understood, what this machine can do runs, and what it cannot is left out with its reason.

use crate::{Server, home, turn};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wirespeed_report::perftest::{PerftestLine, PerftestSection};
use wirespeed_schema::Run;
use wirespeed_schema::run::CaseStatus;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::ucx::installed;

/// Why tests on memory of a GPU are left out.
const ONLY_HOST: &str = "is not offered, only host";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/perftest/batches")
        .join(name)
}

/// `-b FILE` for each.
fn files(names: &[&str]) -> String {
    let words = names.iter().map(|name| format!("-b {}", file(name).display()));
    words.collect::<Vec<_>>().join(" ")
}

fn run(home: &Home, words: &str) -> Run {
    let line = format!("perftest {words} --json");
    let ended = home.start(line.split_whitespace()).end(PATIENCE);
    wirespeed_report::read_run(ended.stdout.as_bytes()).unwrap_or_else(|e| panic!("{e}: {ended}"))
}

/// The same between a server and a client.
fn run_between_ends(home: &Home, words: &str) -> Run {
    let server = Server::start(home, "");
    let client: Running = server.client(home, &format!("{words} --json"));
    let client = client.end(PATIENCE);
    server.end();
    wirespeed_report::read_run(client.stdout.as_bytes()).unwrap_or_else(|e| panic!("{e}: {client}"))
}

/// What became of each line, by its name: `ok`, or why not.
fn fates(run: &Run) -> BTreeMap<String, String> {
    let section = run.sections.get::<PerftestSection>().unwrap();
    let fate = |line: &PerftestLine| match (line.case, &line.failed, &line.skipped) {
        (_, Some(why), _) => format!("failed: {why}"),
        (_, _, Some(why)) => format!("skipped: {why}"),
        (Some(case), ..) => match (&run.cases[case].status, &run.cases[case].error) {
            (CaseStatus::Ok, _) => "ok".to_owned(),
            (CaseStatus::Skipped, why) => format!("skipped: {}", why.as_deref().unwrap_or("")),
            (status, why) => format!("{status:?}: {why:?}"),
        },
        (None, None, None) => "nothing".to_owned(),
    };
    let with_number =
        |(number, line): (usize, &PerftestLine)| (format!("{number} {}", line.label()), fate(line));
    section.lines.iter().enumerate().map(with_number).collect()
}

/// Every line is `ok` or skipped with one of `reasons`; how many are ok.
fn all_ok_or(run: &Run, reasons: &[&str]) -> usize {
    let fates = fates(run);
    for (name, fate) in &fates {
        let known = reasons.iter().any(|reason| fate.contains(reason)) && fate.starts_with("skipped");
        assert!(fate == "ok" || known, "{name}: {fate}");
    }
    fates.values().filter(|fate| *fate == "ok").count()
}

#[test]
fn several_files_are_a_product() {
    if installed().is_empty() {
        return;
    }
    let home = home();
    let words = files(&["sizes", "transport", "verbs"]);
    let ended = home
        .start(format!("perftest -l {words} -d no:1 --dry-run").split_whitespace())
        .end(PATIENCE);
    // 5 sizes, 22 tests, 2 transports, which no machine of the tests has; the 5 atomics take one of the sizes.
    let told = reasons(&ended);
    let atomics = told.iter().filter(|line| line.contains("4 or 8")).count();
    assert_eq!(atomics, 4 * 5 * 2, "{ended}");
    assert_eq!(told.len(), atomics, "{ended}");
    assert_eq!(
        ended.stdout.matches("skipped: ").count(),
        5 * 22 * 2 - atomics,
        "{ended}"
    );
}

/// What a dry run says of its lines; at the end it may say that none of them can run here.
fn reasons(ended: &Ended) -> Vec<&str> {
    let lines = ended.stderr.lines();
    lines
        .filter(|line| !line.starts_with("error: no test can run") && !line.starts_with("help: "))
        .collect()
}

/// A dry run of the file understands every line but those on memory of a device.
fn is_understood(home: &Home, path: &Path) {
    let name = path.display().to_string();
    // Sizes, pieces and transports need a test; tests of the transport layer need a transport.
    let test = match std::fs::read_to_string(path).unwrap() {
        text if text.contains("-t am_lat") => "-x posix -d memory",
        text if text.contains("-t ") => "",
        text if text.contains("-i ") => "-t tag_bw -D iov",
        text if text.contains("-x ") => "-t am_lat -d no:1",
        _ => "-t am_lat -x shm",
    };
    let ended = home
        .start(format!("perftest -l {test} -b {name} --dry-run").split_whitespace())
        .end(PATIENCE);
    for line in reasons(&ended) {
        let known = [ONLY_HOST, "4 or 8", "above the limit"];
        assert!(known.iter().any(|why| line.contains(why)), "{name}: {ended}");
    }
}

#[test]
fn every_line_of_every_file_is_understood() {
    let home = home();
    for entry in std::fs::read_dir(file("")).unwrap() {
        is_understood(&home, &entry.unwrap().path());
    }
}

/// The folders of UCX's own files that installations have.
fn of_installations() -> Vec<PathBuf> {
    let places = installed().into_iter().filter_map(|library| library.place);
    let beside = places.map(|place| place.join("share/ucx/perftest"));
    let system = PathBuf::from("/usr/share/doc/libucx-dev/perftest");
    beside.chain([system]).filter(|folder| folder.is_dir()).collect()
}

#[test]
fn the_files_of_an_installation_are_understood() {
    let home = home();
    let mut tried = 0;
    for folder in of_installations() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_batch = path.file_name().is_none_or(|name| name != "README");
            if is_batch && path.extension().is_none() {
                is_understood(&home, &path);
                tried += 1;
            }
        }
    }
    if tried == 0 {
        println!("skipped: no installation of UCX here has batch files");
    }
}

#[test]
fn the_tests_of_the_protocol_layer_run() {
    let _turn = turn();
    let home = home();
    if installed().is_empty() {
        return;
    }
    for (name, count) in [("tagged", 11), ("streams", 6), ("devices", 0)] {
        let words = format!("-l {} -n 100 -w 0 -V", files(&[name]));
        assert_eq!(all_ok_or(&run(&home, &words), &[ONLY_HOST]), count, "{name}");
    }
    for (name, count) in [("tagged", 11), ("streams", 6), ("memory", 7)] {
        let words = format!("{} -n 100 -w 0 -V", files(&[name]));
        let between = run_between_ends(&home, &words);
        assert_eq!(all_ok_or(&between, &[]), count, "{name}");
    }
}

#[test]
fn the_tests_of_the_transport_layer_run() {
    let _turn = turn();
    let home = home();
    if installed().is_empty() {
        return;
    }
    let lacks = [
        "UCX has no",
        "nothing to inline",
        "there is no atomic",
        "only messages are gathered",
    ];
    for (transport, least) in [("-x posix -d memory", 14), ("-x tcp -d lo", 8)] {
        let words = format!("{} {transport} -n 100 -w 0 -V", files(&["transport"]));
        let run = run_between_ends(&home, &words);
        let measured = all_ok_or(&run, &lacks);
        assert!(measured >= least, "{transport}: only {measured}");
    }
}

#[test]
fn sizes_and_pieces_of_the_files_run() {
    let _turn = turn();
    let home = home();
    if installed().is_empty() {
        return;
    }
    for words in [
        "-t tag_bw -D iov",
        "-t tag_lat -D iov,contig",
        "-t ucp_am_bw -D iov",
        "-t stream_lat -D iov",
    ] {
        let words = format!("-l {} {words} -n 20 -w 0 -V", files(&["pieces"]));
        let run = run(&home, &words);
        assert_eq!(all_ok_or(&run, &[]), 3, "{words}");
        let facts = &run.cases[1].repetitions[0].outcomes[0].transport_facts;
        assert_eq!(facts["iov"], "700+4096+4", "{words}");
        assert_eq!(facts["stride"], "4096");
    }
    let words = format!("-l {} -t tag_lat -n 5 -w 0 -V", files(&["sizes"]));
    assert_eq!(all_ok_or(&run(&home, &words), &[]), 5);
}
