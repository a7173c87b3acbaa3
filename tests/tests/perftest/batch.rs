//! Batch files: what wins over what, in which order, what a line may say, and what becomes of lines that cannot run.

use crate::{Server, home, pair, turn};
use serde_json::Value;
use wirespeed_report::perftest::PerftestSection;
use wirespeed_schema::Run;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;

fn run(home: &Home, words: &str, code: i32) -> Run {
    let ended = home
        .run(&format!("perftest -l -x inproc --json {words}"))
        .code(code);
    let run = wirespeed_report::read_run(ended.stdout.as_bytes()).unwrap_or_else(|e| panic!("{e}: {ended}"));
    assert_eq!(wirespeed_report::audit::violations(&run), Vec::<String>::new());
    run
}

/// Test, message size as the original counts it, and iterations of every case.
fn cases(run: &Run) -> Vec<(String, u64, Value)> {
    run.cases
        .iter()
        .map(|result| {
            let stop = serde_json::to_value(result.case.stop).unwrap()["count"].clone();
            let name = result.case.test.name();
            let size = wirespeed_report::perftest::original(name)
                .unwrap()
                .size_bytes(&result.case);
            (name.to_owned(), size, stop)
        })
        .collect()
}

fn labels(run: &Run) -> Vec<String> {
    let section = run.sections.get::<PerftestSection>().unwrap();
    section.lines.iter().map(|line| line.label()).collect()
}

/// Every run has its line, below the name of its test, whatever the order that they ran in.
#[test]
fn runs_that_are_repeated_all_have_a_line() {
    let _turn = turn();
    let home = home();
    home.write("tests", "lat -t am_lat -n 500\nbw -t am_bw -n 500\n");
    let finals = |words: &str| {
        let ended = home.run(&format!("perftest -l -x inproc {words}")).code(0);
        let shown = ended
            .stdout
            .lines()
            .filter(|line| line.starts_with('+') || line.starts_with("Final"));
        let kind = |line: &str| {
            if line.starts_with("Final") {
                'F'
            } else {
                line.chars().nth(1).unwrap_or('-')
            }
        };
        shown.map(kind).collect::<String>()
    };
    assert!(finals("-t am_lat -n 500 --repeats 3").ends_with("FFF"));
    let batch = finals("-b tests --repeats 2 --seed 3");
    assert!(batch.ends_with("lFFbFF") || batch.ends_with("bFFlFF"), "{batch}");
    assert!(finals("-b tests").ends_with("lFbF"));
}

#[test]
fn all_combinations_in_any_order_of_files_and_the_command_line_wins() {
    let _turn = turn();
    let home = home();
    home.write("sizes", "8 -s 8 -n 100\n64 -s 64 -n 200\n");
    home.write("tests", "lat -t am_lat\nbw -t am_bw\n");
    let slow_sizes = run(&home, "-b sizes -b tests", 0);
    let count = |n: u64| Value::from(n);
    assert_eq!(
        cases(&slow_sizes),
        [
            ("am_lat".into(), 8, count(100)),
            ("am_bw".into(), 8, count(100)),
            ("am_lat".into(), 64, count(200)),
            ("am_bw".into(), 64, count(200)),
        ]
    );
    assert_eq!(labels(&slow_sizes), ["8/lat", "8/bw", "64/lat", "64/bw"]);
    let slow_tests = run(&home, "-b tests -b sizes -n 50", 0);
    assert_eq!(labels(&slow_tests), ["lat/8", "lat/64", "bw/8", "bw/64"]);
    assert!(
        cases(&slow_tests).iter().all(|(_, _, n)| *n == 50),
        "a word of the command line wins"
    );
    assert_eq!(slow_tests.cases.len(), 4);
    // A later file wins over an earlier one.
    home.write("more", "more -s 16\n");
    let later = run(&home, "-b tests -b sizes -b more -n 50", 0);
    assert!(cases(&later).iter().all(|(_, size, _)| *size == 16));
}

#[test]
fn the_client_alone_needs_the_files_and_every_line_keeps_its_connection() {
    let _turn = turn();
    let home = home();
    home.write("tests", "one -t put_lat\ntwo -t fadd\nthree -t am_bw -W 1000\n");
    let (client, server) = pair(&home, "-b tests -x shm -n 300 --csv");
    let (client, server) = (client.code(0), server.code(0));
    let boxes = server.stdout.matches("| Test: ").count();
    assert_eq!(boxes, 3, "{server}");
    let mut lines = client.stdout.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let of = |name: &str| -> Vec<&str> { rows.iter().map(|row| row[column(name)]).collect() };
    assert_eq!(of("name"), ["one", "two", "three"]);
    assert_eq!(of("test"), ["put_lat", "fadd", "am_bw"]);
    assert_eq!(of("window_msgs"), ["", "", "1000"]);
    assert_eq!(of("status"), ["ok", "ok", "ok"]);
    assert_eq!(of("transport"), ["shm", "shm", "shm"]);
}

#[test]
fn a_line_that_fails_is_recorded_and_the_others_run() {
    let _turn = turn();
    let home = home();
    let long = "n".repeat(300);
    let tests = format!(
        "good -t am_lat -n 100\nunknown -t am_lta\nletter -t am_lat -k\nzero -t am_lat -n 0\n\
         gpu -t am_lat -m cuda\nkernel -t put_lat -L warp\nzcopy -t am_lat -D zcopy -n 100\n\
         get -t get -D short\n{long} -t put_lat -n 100\n"
    );
    home.write("tests", &tests);
    let ended = home.run("perftest -l -x inproc -b tests -o --csv --output all.json");
    assert_eq!(ended.code, Some(1), "{ended}");
    let ended = home
        .run("perftest -l -x inproc -b tests --csv --output all.json")
        .code(1);
    let text = std::fs::read_to_string(home.path("all.json")).unwrap();
    let run = wirespeed_report::read_run(text.as_bytes()).unwrap();
    let section = run.sections.get::<PerftestSection>().unwrap();
    let fate: Vec<&str> = section
        .lines
        .iter()
        .map(|line| match (line.case, &line.failed, &line.skipped) {
            (Some(_), None, None) => "case",
            (None, Some(_), None) => "failed",
            (None, None, Some(_)) => "skipped",
            _ => "confused",
        })
        .collect();
    assert_eq!(
        fate,
        [
            "case", "failed", "failed", "failed", "skipped", "skipped", "case", "skipped", "case"
        ]
    );
    assert!(section.lines[1].failed.as_ref().unwrap().contains("am_lta"));
    assert!(
        section.lines[2].failed.as_ref().unwrap().contains("tests:3"),
        "it names the line"
    );
    assert_eq!(
        ended.stdout.lines().count(),
        10,
        "CSV has a row for every line: {ended}"
    );
    assert!(ended.stdout.contains(&long));
    // The same in the classic form: names and reasons on stderr, figures on stdout.
    let classic = home.run("perftest -l -x inproc -b tests").code(1);
    assert!(classic.stderr.contains("gpu: skipped: "), "{classic}");
    assert!(classic.stderr.contains("zcopy: skipped: "), "{classic}");
    assert!(classic.stdout.contains(&format!("+{long}\n")), "{classic}");
    assert_eq!(classic.stdout.matches("Final:").count(), 2, "{classic}");
    let final_only = home.run("perftest -l -x inproc -b tests -f").code(1);
    assert!(final_only.stdout.contains(&long), "{final_only}");
}

#[test]
fn a_batch_of_nothing_that_can_run_says_so() {
    let _turn = turn();
    let home = home();
    home.write("tests", "gpu -t am_lat -m cuda\n");
    let ended = home.run("perftest -l -x inproc -b tests").code(1);
    assert!(ended.complaint().0.contains("no test can run"), "{ended}");
    home.write("empty", "# nothing\n\n");
    let ended = home.run("perftest -l -x inproc -b empty").code(2);
    assert!(ended.complaint().0.contains("no tests"), "{ended}");
    let ended = home.run("perftest -l -x inproc -b missing").code(2);
    assert!(ended.complaint().0.contains("missing"), "{ended}");
}

#[test]
fn includes_variables_and_ranges() {
    let _turn = turn();
    let home = home();
    home.write("common", "common -t am_lat -s ${SIZE}\n");
    home.write(
        "tests",
        "@set SIZE=32\n@include common\nsweep -t am_bw -s 8..32:x2 -W 1..2:+1\n",
    );
    let all = run(&home, "-b tests -n 50", 0);
    assert_eq!(
        labels(&all),
        [
            "common",
            "sweep:s8:W1",
            "sweep:s8:W2",
            "sweep:s16:W1",
            "sweep:s16:W2",
            "sweep:s32:W1",
            "sweep:s32:W2"
        ]
    );
    assert_eq!(all.cases[0].case.test.size_bytes(), 24);
    let given = run(&home, "-b tests -n 50 --set SIZE=128", 0);
    assert_eq!(given.cases[0].case.test.size_bytes(), 120);
    let line = run(&home, "-t am_lat -s 8,16..32:x2 -n 50", 0);
    assert_eq!(labels(&line), ["s8", "s16", "s32"]);
    // A list without a range is one message, as in the original.
    let one = run(&home, "-t am_lat -s 8,16,40 -n 50", 0);
    assert_eq!(cases(&one)[0].1, 64);
}

#[test]
fn a_dry_run_measures_nothing_and_shows_all() {
    let _turn = turn();
    let home = home();
    home.write("tests", "one -t put_lat\nbad -t nothing\n");
    for words in [
        "-b tests -x shm --dry-run",
        "-b tests -x inproc -l --dry-run",
        "far -b tests -x tcp --dry-run",
    ] {
        let ended = home.run(&format!("perftest {words}")).code(1);
        assert!(
            ended.stdout.contains("put_lat") && ended.stdout.contains("1 case"),
            "{ended}"
        );
        assert!(ended.complaint().0.contains("bad: "), "{ended}");
    }
}

/// Tests that there are not, each word of which can be read.
const UNSUPPORTED: &[&str] = &[
    "-t fadd -s 16",
    "-t put_bw -s 0",
    "-t get -D short",
    "-t fadd -D bcopy",
    "-t put_lat -D shortiov",
    "-t am_lat -D contig",
    "-t am_lat -D zcopy",
    "-t tag_lat -D bcopy",
    "-t am_lat -s 4",
    "-t am_lat -H 4",
    "-t am_lat -s 900G",
    "-t am_lat -C",
    "-t tag_lat -r recv",
    "-t am_lat -o",
    "-t am_lat -m cuda",
    "-t put_lat -L warp",
];

/// Words that nobody can read, or that are missing.
const UNREADABLE: &[&str] = &[
    "",
    "-t am_lta",
    "-t am_lat -k",
    "-t am_lat -n 0",
    "-t am_lat -D fast",
    "-t am_lat -E never",
    "-t fadd -W abc",
    "-t put_lat -O -1",
    "-t am_lat -s ${NONE}",
];

#[test]
fn what_is_unsupported_is_skipped_and_what_is_unreadable_fails() {
    let _turn = turn();
    let home = home();
    let fate = |lines: &[&str], dry: &str| {
        let named = lines.iter().map(|line| format!("name {line}\n"));
        home.write("tests", &(named.collect::<String>()));
        let ended = home.run(&format!("perftest -l -x inproc -w 0 -b tests {dry}"));
        let skipped =
            ended.stderr.matches(": skipped: ").count() + ended.stdout.matches(" skipped: ").count();
        (ended.code, skipped, ended.to_string())
    };
    const GOOD: &str = "-t am_lat -n 10";
    for dry in ["", "--dry-run"] {
        let all = [UNSUPPORTED, &[GOOD]].concat();
        let (code, skipped, told) = fate(&all, dry);
        assert_eq!((code, skipped), (Some(0), UNSUPPORTED.len()), "{told}");
        let (code, skipped, told) = fate(UNSUPPORTED, dry);
        assert_eq!((code, skipped), (Some(1), UNSUPPORTED.len()), "{told}");
        assert!(told.contains("no test can run"), "{told}");
        for line in UNREADABLE {
            for lines in [&[*line][..], &[line, GOOD]] {
                let (code, skipped, told) = fate(lines, dry);
                assert_eq!((code, skipped), (Some(1), 0), "{line}: {told}");
                assert!(told.contains("correct that line"), "{line}: {told}");
            }
        }
    }
    // One test alone is refused, whatever the reason.
    for line in UNSUPPORTED
        .iter()
        .chain(UNREADABLE)
        .filter(|line| !line.is_empty() && !line.contains('$'))
    {
        let ended = home.run(&format!("perftest -l -x inproc {line}")).code(2);
        ended.complaint();
    }
}

#[test]
fn a_terminal_obeys_no_name() {
    let _turn = turn();
    let home = home();
    home.write(
        "te\u{1b}sts",
        "red\u{1b}[31m -t am_lat -n 10\nbell\u{7} -t am_lta\nskip\u{9b}ped -t fadd -s 16\n",
    );
    for more in ["", "-f", "-v", "--csv", "--dry-run", "-n 1\u{1b}"] {
        let words = ["perftest", "-l", "-x", "inproc", "-b", "te\u{1b}sts"].into_iter();
        let ended = home.start(words.chain(more.split_whitespace())).end(PATIENCE);
        let shown = format!("{}{}", ended.stdout, ended.stderr);
        // Rows of CSV end with both.
        let obeyed = |c: char| c.is_control() && !matches!(c, '\r' | '\n' | '\t');
        assert!(!shown.contains(obeyed), "{more}: {shown:?}");
    }
}

#[test]
fn the_words_of_the_document_repeat_the_run() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    let ended = server
        .client(&home, "-t am_bibw -x shm -n 500 -s 64 --json")
        .end(PATIENCE)
        .code(0);
    server.end().code(0);
    let run = ended.json();
    assert_eq!(run["plan"]["templates"][0]["axes"]["procs"][0], "2");
    assert_eq!(
        run["cases"][0]["case"]["group"], "processes",
        "both ends are on this machine"
    );
    assert_eq!(run["sections"]["perftest"]["lines"][0]["test"], "am_bibw");
    let both = run["cases"][0]["metrics"]["backward_rate_msg_per_s"]["value"].as_f64();
    assert!(both.is_some_and(|rate| rate > 0.0), "{ended}");
}
