//! UCX's own batch files (`ucx_config`, unchanged, with UCX's licence beside them): every line is understood, what this
//! machine can do runs, and what it cannot is left out with its reason.

use crate::{Server, home, turn};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wirespeed_report::perftest::{PerftestLine, PerftestSection};
use wirespeed_schema::Run;
use wirespeed_schema::run::CaseStatus;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;
use wirespeed_tests::running::Running;
use wirespeed_tests::ucx::installed;

/// Why tests on memory of a GPU are left out.
const ONLY_HOST: &str = "is not offered, only host";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/perftest/ucx_config")
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
    let section = PerftestSection::of(run).unwrap();
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
fn the_command_of_the_files_own_readme_is_understood() {
    if installed().is_empty() {
        return;
    }
    let home = home();
    let words = files(&["msg_pow2", "test_types_uct", "transports"]);
    let ended = home
        .start(format!("perftest -l {words} -d no:1 --dry-run").split_whitespace())
        .end(PATIENCE);
    let is_told = |words: &'static str| ended.stderr.lines().filter(|line| line.contains(words)).count();
    // 19 sizes, 22 tests, 2 transports, which no machine of the tests has; the 5 atomics have one size only.
    let atomics = is_told("4 or 8");
    assert_eq!(atomics, 18 * 5 * 2, "{ended}");
    assert_eq!(ended.stderr.lines().count(), atomics, "{ended}");
    assert_eq!(
        ended.stdout.matches("skipped: ").count(),
        19 * 22 * 2 - atomics,
        "{ended}"
    );
}

#[test]
fn every_file_is_shown_by_a_dry_run() {
    let home = home();
    for name in [
        "msg_pow2_iov",
        "test_types_ucp",
        "test_types_ucp_amo",
        "test_types_ucp_daemon",
        "test_types_ucp_device_cuda",
        "test_types_ucp_rma",
    ] {
        let test = if name.starts_with("msg") {
            "-t tag_bw -D iov"
        } else {
            ""
        };
        let ended = home.run(&format!("perftest -l {test} {} --dry-run", files(&[name])));
        let cuda = |line: &&str| line.contains(ONLY_HOST);
        let others: Vec<_> = ended.stderr.lines().filter(|line| !cuda(line)).collect();
        assert!(
            others.is_empty() || name.ends_with("device_cuda"),
            "{name}: {ended}"
        );
    }
}

#[test]
fn the_tests_of_the_protocol_layer_run() {
    let _turn = turn();
    let home = home();
    if installed().is_empty() {
        return;
    }
    let words = format!("{} -n 100 -w 0 -V", files(&["test_types_ucp"]));
    let run_by_threads = run(&home, &format!("-l {words}"));
    assert_eq!(all_ok_or(&run_by_threads, &[ONLY_HOST]), 17);
    let between = run_between_ends(&home, &words);
    assert_eq!(all_ok_or(&between, &[ONLY_HOST]), 17);
    for name in [
        "test_types_ucp_rma",
        "test_types_ucp_amo",
        "test_types_ucp_daemon",
    ] {
        let words = format!("{} -n 100 -w 0 -V", files(&[name]));
        let count = if name.ends_with("rma") {
            3
        } else if name.ends_with("amo") {
            4
        } else {
            2
        };
        let run = run_between_ends(&home, &words);
        assert_eq!(all_ok_or(&run, &[ONLY_HOST]), count, "{name}");
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
    for (road, least) in [("-x posix -d memory", 14), ("-x tcp -d lo", 8)] {
        let words = format!("{} {road} -n 100 -w 0 -V", files(&["test_types_uct"]));
        let run = run_between_ends(&home, &words);
        let measured = all_ok_or(&run, &lacks);
        assert!(measured >= least, "{road}: only {measured}");
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
        let run = run(
            &home,
            &format!("-l {} {words} -n 20 -w 0 -V", files(&["msg_pow2_iov"])),
        );
        assert_eq!(all_ok_or(&run, &[]), 11, "{words}");
        let facts = &run.cases[8].repetitions[0].outcomes[0].transport_facts;
        assert_eq!(facts["iov"], "4308+4308+8192+8192", "{words}");
        assert_eq!(facts["stride"], "8192");
    }
    let run = run(
        &home,
        &format!("-l {} -t tag_lat -n 5 -w 0 -V", files(&["msg_pow2"])),
    );
    assert_eq!(all_ok_or(&run, &[]), 19);
}
