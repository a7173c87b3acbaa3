//! The verbs that read results or measure curves, as users run them: sweep, load, report, explain, import, selftest,
//! `--until`. No speed is asserted.

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

fn wirespeed(dir: &Path, line: &str) -> std::process::Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("wirespeed"));
    command
        .timeout(Duration::from_secs(120))
        .env("NO_COLOR", "1")
        .current_dir(dir);
    command.args(line.split_whitespace()).output().unwrap()
}

/// The command's stdout; it must end with `code`.
fn ends(dir: &Path, line: &str, code: i32) -> String {
    let output = wirespeed(dir, line);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{line}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(dir: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(dir.join(name)).unwrap()).unwrap()
}

#[test]
fn repeating_until_says_how_it_ended() {
    let dir = tempfile::tempdir().unwrap();
    ends(
        dir.path(),
        "run latency --via inproc --iters 200 --warmup 0 --until p50:100% --repeats 12 -q -o wide.json",
        0,
    );
    let goal = &json(dir.path(), "wide.json")["cases"][0]["convergence"];
    assert_eq!(
        (&goal["reached"], &goal["tag"]),
        (&true.into(), &"rtt_p50_ns".into()),
        "{goal}"
    );
    assert!(
        goal["repetitions"]
            .as_u64()
            .is_some_and(|runs| (10..=12).contains(&runs)),
        "{goal}"
    );
    // Three runs have no interval, however narrow they are: with --strict that is inconclusive.
    ends(
        dir.path(),
        "run latency --via inproc --iters 50 --warmup 0 --until p50:0.01% --repeats 3 --strict -q -o narrow.json",
        4,
    );
    let goal = &json(dir.path(), "narrow.json")["cases"][0]["convergence"];
    assert_eq!(goal["reached"], false);
    assert!(
        goal["why"].as_str().is_some_and(|why| why.contains("six runs")),
        "{goal}"
    );
    ends(dir.path(), "run latency --via inproc --until p50", 2);
    ends(dir.path(), "run latency --via inproc --until-time 5s", 2);
}

/// Lines that are refused with words in their cause or remedy.
const REFUSED: &[(&str, &str)] = &[
    ("run plan.txt -o plan.txt -q", "is named twice"),
    ("ab -q -o plan.txt -- plan.txt -- plan.txt", "is named twice"),
    ("ab --junit plan.txt -- plan.txt -- plan.txt", "is named twice"),
    (
        "sweep -- latency --via inproc --mpi /x",
        "--mpi is not allowed behind",
    ),
    (
        "ab -- latency --via inproc -- latency --via inproc -q",
        "--quiet is not allowed",
    ),
    (
        "ab --aa -- latency --via inproc --color never",
        "--color is not allowed",
    ),
    (
        "ab --aa -- latency --via inproc --remarks",
        "--remarks is not allowed",
    ),
    (
        "ab --aa -- latency --via inproc --include-host-name",
        "--include-host-name is not",
    ),
    (
        "ab --aa -- latency --via inproc --until-time 5s",
        "--until-time is not allowed",
    ),
    ("run latency --via inproc --dry-run --csv", "--dry-run"),
    ("load --dry-run --ndjson -- --via inproc", "--dry-run"),
    ("quick --dry-run -o quick.json", "--dry-run"),
    ("perftest --json", "the client has the result"),
    ("perftest --repeats 3", "the client has the result"),
    ("perftest --live", "the client has the result"),
    ("ab --aa --github --csv -- latency --via inproc", "--github"),
    ("ab --aa --github --ndjson -- latency --via inproc", "--github"),
    (
        "sweep --over window -- latency --via inproc",
        "am_lat has no window",
    ),
    (
        "serve --listen loopback,192.0.2.2",
        "write --listen 127.0.0.1,192.0.2.2",
    ),
    ("serve --listen 192.0.2.2,all", "write --listen all"),
    (
        "run bulk_get --via byteio --to http://localhost:1/x -p 99",
        "write the port into the URL",
    ),
    ("import plan.txt --window 10q", "--window"),
];

#[test]
fn words_that_would_not_hold_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let plan = "[[case]]\ntest = \"latency\"\nvia = \"inproc\"\niters = 9\n";
    std::fs::write(dir.path().join("plan.txt"), plan).unwrap();
    for (line, said) in REFUSED {
        let output = wirespeed(dir.path(), line);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && text.contains(said),
            "{line}: {text}"
        );
    }
    let left = std::fs::read_to_string(dir.path().join("plan.txt"));
    assert_eq!(left.unwrap(), plan);
    let stream = "# OSU MPI Bandwidth Test v5.8\n# Size      Bandwidth (MB/s)\n8  12.5\n";
    std::fs::write(dir.path().join("osu.txt"), stream).unwrap();
    let told = ends(dir.path(), "import osu.txt --window 10k", 0);
    assert!(told.contains("\"window_msgs\": 10000"), "{told}");
}

#[test]
fn what_a_curve_would_not_have_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let sizes = ends(dir.path(), "sweep --dry-run -- bandwidth --via udp", 0);
    assert!(
        sizes.contains("size=32KiB") && !sizes.contains("size=128KiB"),
        "{sizes}"
    );
    let rates = ends(dir.path(), "load --dry-run --points 4 -- --via inproc", 0);
    assert!(
        rates
            .lines()
            .next()
            .is_some_and(|line| line.contains("4 rates up to")),
        "{rates}"
    );
}

#[test]
fn curves_are_measured_and_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let line = "sweep --repeats 1 --points 8 -q -o sizes.json -- am_bw --via inproc --iters 200 --warmup 0 --size 8..4K:x8";
    ends(dir.path(), line, 0);
    let sizes = json(dir.path(), "sizes.json");
    assert_eq!(sizes["sections"]["sweep"]["over"], "size");
    assert!(sizes["cases"].as_array().unwrap().len() >= 4);
    let line = "sweep --over window --repeats 1 --points 5 --json -- am_bw --via inproc --iters 200 --warmup 0 --window 1,2,4";
    let windows: Value = serde_json::from_str(&ends(dir.path(), line, 0)).unwrap();
    assert_eq!(windows["sections"]["sweep"]["over"], "window");
    let line = "load --trials 1 --points 4 --p99 1s -q -o load.json -- --via inproc --iters 300 --warmup 0";
    ends(dir.path(), line, 0);
    let load = json(dir.path(), "load.json");
    assert!(
        load["sections"]["load"]["most_msg_per_s"]
            .as_f64()
            .is_some_and(|most| most > 0.0)
    );
    let paced = load["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["metrics"]["response_p50_ns"].is_object());
    assert!(paced.count() >= 4);
    let page = "report sizes.json load.json -o curves.html --charts charts";
    ends(dir.path(), page, 0);
    let page = std::fs::read_to_string(dir.path().join("curves.html")).unwrap();
    assert!(
        page.contains("response time against offered load")
            && page.contains("bandwidth against message size")
    );
    let charts = std::fs::read_dir(dir.path().join("charts")).unwrap().count();
    assert!(charts >= 4 && charts.is_multiple_of(2), "{charts} files");
    assert!(ends(dir.path(), "explain load.json", 0).contains("are carried"));
    for (line, code) in [
        ("sweep -- latency,rate --via inproc", 2),
        ("sweep -- latency --via inproc --repeats 3", 2),
        ("sweep -- plan.toml", 2),
        ("sweep", 2),
        ("load -- latency --via inproc", 2),
        ("load -- --via inproc --pace 100", 2),
        ("load --p99 5 -- --via inproc", 2),
    ] {
        ends(dir.path(), line, code);
    }
}

#[test]
fn reports_name_what_they_cannot_read_and_show_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    ends(
        dir.path(),
        "run latency --via inproc --iters 300 --warmup 0 -q -o good.json",
        0,
    );
    std::fs::write(
        dir.path().join("cut.json"),
        "{\"document_version\": \"1.0\", \"cases\": [",
    )
    .unwrap();
    let output = wirespeed(dir.path(), "report good.json cut.json missing.json -o page.html");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.contains("2 of 3 files could not be read; the first: cut.json"),
        "{said}"
    );
    assert!(
        std::fs::read_to_string(dir.path().join("page.html"))
            .unwrap()
            .contains("RTT p50")
    );
    let many = "good.json ".repeat(200);
    ends(dir.path(), &format!("report {many} -o many.html"), 0);
    let shown = ends(dir.path(), "report good.json", 0);
    assert!(
        shown.contains("RTT p50") && shown.contains("distribution"),
        "{shown}"
    );
    for (line, code) in [
        ("report cut.json -o page.html", 2),
        ("report good.json -o page.pdf", 2),
        ("report", 2),
        ("report good.json -o no/such/folder.html", 1),
        ("explain cut.json", 2),
    ] {
        ends(dir.path(), line, code);
    }
    let explained: Value = serde_json::from_str(&ends(dir.path(), "explain good.json --json", 0)).unwrap();
    assert!(explained["sentences"].is_array());
}

/// A document of this version, own.json, and copies of it that say to be of later ones.
fn of_later_versions(dir: &Path, named: &[(&str, &str)]) {
    let line = "run latency --via inproc --iters 50 --warmup 0 -q -o own.json";
    ends(dir, line, 0);
    for (name, version) in named {
        let mut later = json(dir, "own.json");
        later["document_version"] = (*version).into();
        std::fs::write(dir.join(name), later.to_string()).unwrap();
    }
}

/// Whoever reads a document of a later version remarks on it once, in words and in JSON.
#[test]
fn a_document_of_a_later_version_is_remarked_on_by_every_reader() {
    let dir = tempfile::tempdir().unwrap();
    of_later_versions(dir.path(), &[("later.json", "1.99")]);
    for (line, is_json) in [
        ("report FILE", false),
        ("explain FILE", false),
        ("explain FILE --json", true),
        ("compare FILE FILE --allow-inconclusive", false),
        ("compare FILE FILE --allow-inconclusive --json", true),
    ] {
        let told = |file: &str| {
            let said = ends(dir.path(), &line.replace("FILE", file), 0);
            said.matches("newer_document").count()
        };
        assert_eq!((told("own.json"), told("later.json")), (0, 1), "{line}");
        if is_json {
            let said = ends(dir.path(), &line.replace("FILE", "later.json"), 0);
            let said: Value = serde_json::from_str(&said).unwrap();
            let remarks = said["remarks"].as_array().unwrap().iter();
            assert_eq!(
                remarks.filter(|one| one["code"] == "newer_document").count(),
                1,
                "{line}"
            );
        }
    }
}

/// Of two documents of later versions both are named.
#[test]
fn a_comparison_names_each_document_of_a_later_version() {
    let dir = tempfile::tempdir().unwrap();
    of_later_versions(dir.path(), &[("a.json", "1.98"), ("b.json", "1.99")]);
    let said = ends(dir.path(), "compare a.json b.json --allow-inconclusive", 0);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "A is a document of version 1.98",
        "B is a document of version 1.99",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn results_of_other_tools_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let osu = "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n8   0.25\n1024     0.75\n";
    std::fs::write(dir.path().join("osu.txt"), osu).unwrap();
    let run: Value = serde_json::from_str(&ends(dir.path(), "import osu.txt", 0)).unwrap();
    assert_eq!(run["cases"][0]["metrics"]["rtt_mean_ns"]["value"], 500.0);
    ends(dir.path(), "import osu.txt --format osu -o osu.json", 0);
    // A comparison with history has a ratio and no verdict.
    let shown = ends(
        dir.path(),
        "compare osu.txt osu.json --figure mean --allow-inconclusive",
        0,
    );
    assert!(shown.contains("inconclusive"), "{shown}");
    ends(dir.path(), "report osu.txt -o osu.html", 0);
    std::fs::write(dir.path().join("other.txt"), "neither this nor that\n").unwrap();
    ends(dir.path(), "import other.txt", 2);
    ends(dir.path(), "import osu.txt --format ocu", 2);
    ends(dir.path(), "import osu.txt --format iperf3", 2);
}

/// What a folder of history looks like: a thousand results, among them one cut off, an empty one, a newer and a hostile one.
#[test]
fn a_thousand_results_make_a_page_and_bad_ones_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    ends(
        folder,
        "run latency --via inproc --iters 50 --warmup 0 -q -o r0.json",
        0,
    );
    let text = std::fs::read_to_string(folder.join("r0.json")).unwrap();
    for number in 1..1000 {
        std::fs::write(folder.join(format!("r{number}.json")), &text).unwrap();
    }
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("r1.json", &text[..text.len() / 2]);
    write("r2.json", "");
    let versioned = text.replacen(
        "\"document_version\":",
        "\"document_version\": \"1.99\", \"was\":",
        1,
    );
    write("r3.json", &versioned);
    let mut hostile = json(folder, "r0.json");
    hostile["cases"][0]["case"]["transport"] = "<script>alert(1)</script>".into();
    write("r4.json", &hostile.to_string());
    let names: Vec<String> = (0..1000).map(|number| format!("r{number}.json")).collect();
    let output = wirespeed(folder, &format!("report {} -o page.html", names.join(" ")));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("2 of 1,000 files could not be read") && said.lines().count() == 2,
        "{said}"
    );
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(
        page.contains("998 results") && page.contains("newer_document"),
        "not the page of all"
    );
    // The page's own script, and no other.
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.len() < 8 << 20, "{} bytes", page.len());
    ends(folder, "report r0.json r3.json", 0);
}

/// Outputs of other tools are results to every verb that reads some.
#[test]
fn history_of_other_tools_is_compared_and_shown() {
    let dir = tempfile::tempdir().unwrap();
    let line = |rate: f64| {
        let part = format!("Time: 5.00s Msgs: 38876 Rate: {rate:.2}msg/s (128.61µs) 2.01MB/s");
        format!("{part} TOTALS: {part}\n")
    };
    let write = |name: &str, rate: f64| {
        let runs: String = (0..8).map(|run| line(rate + f64::from(run))).collect();
        std::fs::write(
            dir.path().join(name),
            format!("$ arras4benchmark --bytes=256 --credits=5\n{runs}"),
        )
        .unwrap();
    };
    write("before.txt", 7700.0);
    write("after.txt", 6700.0);
    assert!(ends(dir.path(), "compare before.txt after.txt", 3).contains("slower"));
    assert!(ends(dir.path(), "report before.txt after.txt", 0).contains("arras am_bw 256 B"));
    let run: Value = serde_json::from_str(&ends(dir.path(), "import before.txt", 0)).unwrap();
    assert_eq!(run["cases"][0]["repetitions"].as_array().map(Vec::len), Some(8));
}

/// The parameters of LogGP, or why there are none.
#[test]
fn loggp_is_told_or_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let words =
        "sweep --over loggp --repeats 1 -o l.json -- --via inproc --iters 60 --warmup 0 --size 8..8K:x8";
    assert!(ends(dir.path(), words, 0).contains("LogGP"));
    let run = json(dir.path(), "l.json");
    assert_eq!(
        (
            run["cases"].as_array().map(Vec::len),
            &run["sections"]["sweep"]["over"]
        ),
        (Some(8), &"loggp".into())
    );
    let refused = wirespeed(dir.path(), "sweep --over loggp -- latency --via inproc");
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("osu_bw"));
}

/// A device has no end, and `-` may be one.
#[test]
fn whatever_a_verb_reads_it_reads_to_a_bound() {
    let dir = tempfile::tempdir().unwrap();
    for line in [
        "run /dev/zero",
        "sweep -- /dev/zero",
        "mesh --hostfile /dev/zero --dry-run -- am_lat",
        "mesh --to 127.0.0.1,127.0.0.2 --pairs /dev/zero --dry-run -- am_lat --via tcp",
        "byteio bench --pairs /dev/zero --dry-run",
        "session --session /dev/zero",
        "session --site /dev/zero --dc gld",
        "perftest 127.0.0.1 -b /dev/zero",
        "report /dev/zero",
        "compare /dev/zero /dev/zero",
        "explain /dev/zero",
        "import /dev/zero",
    ] {
        let output = wirespeed(dir.path(), line);
        let said = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(matches!(code, Some(2)), "{line}: {code:?}: {said}");
        assert!(
            said.starts_with("error: ") && said.contains("help: "),
            "{line}: {said}"
        );
    }
}
