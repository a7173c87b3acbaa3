//! Every verb that measures, walked as a user sees it: on terminals of 40, 80 and 200 columns, with and without colour, on one
//! that can only write lines, in another locale, and into a pipe. It must never judge a figure.

use crate::{home, serve_file, turn};
use std::collections::BTreeSet;
use std::process::Command;
use wirespeed_tests::home::Home;
use wirespeed_tests::mpi;
use wirespeed_tests::skip;
use wirespeed_tests::terminal::{on_terminal, screen};

/// Where a verb is walked.
#[derive(Debug, Clone, Copy)]
struct Place {
    columns: u16,
    term: &'static str,
    locale: &'static str,
    no_color: bool,
}

const XTERM: Place = Place {
    columns: 80,
    term: "xterm-256color",
    locale: "C.UTF-8",
    no_color: false,
};

const PLACES: [Place; 5] = [
    XTERM,
    Place { columns: 40, ..XTERM },
    Place {
        columns: 200,
        no_color: true,
        ..XTERM
    },
    Place {
        term: "dumb",
        ..XTERM
    },
    Place { locale: "C", ..XTERM },
];

/// Every verb that measures, as briefly as it can; `URL` is a file of a service.
const LINES: [&str; 14] = [
    "quick --budget 2s --via inproc,shm",
    "run latency,am_bw --via inproc,shm -t 30ms",
    "run tag_lat --via shm,udp -t 30ms --repeats 6",
    "sweep --repeats 1 --points 5 -- am_bw --via inproc -t 10ms --warmup 0 --size 64..4K:x8",
    "load --repeats 1 --points 3 -- --via inproc -t 20ms --warmup 0",
    "ab --pairs 2 --allow-inconclusive -- latency --via inproc -t 20ms -- latency --via shm -t 20ms",
    "msgrate -t 20ms --ranks 2",
    "workers -w 2 --via shm -p 10,1000 -n 20",
    "mesh --ranks 2 --repeats 2 -- am_lat --via shm -n 500",
    "session --benchmarkPath=client_to_computation --requestMb=0 --bytes=1,1K --duration=0.2",
    "session --requestMb=0 --duration=0.2",
    "perftest -l -t am_lat -x inproc -n 10000",
    "byteio bench URL --repeats 2",
    "byteio get URL copy --overwrite",
];

/// What no line may have: Rust's own words, the system's numbers of errors, words for those who wrote it.
const FOREIGN: [&str; 8] = [
    "(os error",
    "Some(",
    "None)",
    "panicked",
    "internal:",
    "unwrap",
    "NaN",
    " inf ",
];

/// The longest line into a pipe, but for paths and commands, and the longest of half of the lines.
const LINE_MAX: usize = 100;
const LINE_MEDIAN_MAX: usize = 80;

/// What `line` leaves on a terminal at `place`, and all that it wrote there.
fn walked(home: &Home, line: &str, place: Place) -> (Vec<(String, bool)>, String) {
    let mut command = Command::new("timeout");
    command
        .args(["120", &home.program().display().to_string()])
        .args(line.split_whitespace());
    home.adopt(&mut command);
    command
        .env_remove("COLUMNS")
        .env("TERM", place.term)
        .env("LC_ALL", place.locale);
    if place.no_color {
        command.env("NO_COLOR", "1");
    }
    let mut written = String::new();
    let status = on_terminal(&mut command, (place.columns, 50), |_, said| {
        written.push_str(said)
    })
    .unwrap();
    // A mesh may find something slow, and two pairs of runs may tell that B is.
    assert!(
        matches!(status.code(), Some(0 | 3)),
        "{line}: {status}\n{written}"
    );
    (screen(&written, place.columns), written)
}

fn assert_plain(line: &str, text: &str) {
    for word in FOREIGN {
        assert!(!text.contains(word), "{line}: {word:?} in\n{text}");
    }
}

/// Whether a line may be longer than the terminal: it has a path or a command.
fn may_be_long(text: &str) -> bool {
    text.contains("wirespeed ") || text.contains('/') && text.contains(".json") || text.contains("://")
}

fn assert_fits(line: &str, place: Place, (lines, written): &(Vec<(String, bool)>, String)) {
    let text: Vec<&str> = lines.iter().map(|(text, _)| text.as_str()).collect();
    let text = text.join("\n");
    for (number, (row, broken)) in lines.iter().enumerate() {
        let next = lines.get(number + 1).map_or("", |(next, _)| next.as_str());
        let both = format!("{row}{next}");
        assert!(
            // The rows of ucx_perftest are as wide as it writes them.
            !broken || may_be_long(&both) || line.starts_with("perftest "),
            "{line} at {place:?}: the terminal breaks {both:?} in\n{text}"
        );
    }
    assert_plain(line, &text);
    assert!(
        !text.contains("=>"),
        "{line} at {place:?}: a bar is left in\n{text}"
    );
    let colours = written.contains("\u{1b}[3") || written.contains("\u{1b}[1");
    if place.no_color || place.term == "dumb" {
        assert!(!colours, "{line} at {place:?}: colours in\n{written}");
    }
    if place.term == "dumb" {
        assert!(!written.contains('\u{1b}'), "{line} at {place:?}: {written:?}");
    }
    if place.locale == "C" {
        assert!(written.is_ascii(), "{line} at {place:?}: {written:?}");
    }
}

fn assert_piped(home: &Home, line: &str) {
    let ended = home.run(line);
    assert!(matches!(ended.code, Some(0 | 3)), "{ended}");
    assert!(
        !ended.stdout.contains('\u{1b}') && !ended.stderr.contains('\u{1b}'),
        "{ended}"
    );
    assert_plain(line, &ended.stdout);
    // The rows of ucx_perftest are as wide as it writes them.
    let is_ours = !line.starts_with("perftest ");
    let mut widths = Vec::new();
    for text in ended.stdout.lines().filter(|text| !text.is_empty()) {
        let width = text.chars().count();
        widths.push(width);
        assert!(
            width <= LINE_MAX || may_be_long(text) || !is_ours,
            "{line}: {width} columns: {text}"
        );
    }
    widths.sort_unstable();
    let median = widths.get(widths.len() / 2).copied().unwrap_or(0);
    assert!(median > 0, "{ended}");
    assert!(
        median <= LINE_MEDIAN_MAX || !is_ours,
        "{line}: median {median} columns: {ended}"
    );
}

/// Each verb in two of the places and in a pipe; together they meet all places.
#[test]
fn every_verb_is_readable_wherever_it_is_read() {
    let _turn = turn();
    let home = home();
    let (_server, url) = serve_file(&home);
    for (number, line) in LINES.iter().enumerate() {
        let line = line.replace("URL", &url);
        for at in [number, number + 1 + number / PLACES.len()] {
            let place = PLACES[at % PLACES.len()];
            assert_fits(&line, place, &walked(&home, &line, place));
        }
        assert_piped(&home, &line);
    }
}

/// It computes for seconds where it is not optimised, so it is asked here and not within its crate.
#[test]
fn the_self_test_passes_and_fits_a_pipe() {
    let _turn = turn();
    let home = home();
    assert_piped(&home, "selftest --quick");
    let run = home.run("selftest --quick --json").code(0).json();
    let checks = run["sections"]["selftest"]["checks"].as_array().unwrap();
    assert!(checks.len() > 30 && checks.iter().all(|check| check["passed"] == true));
}

/// The seconds left that a bar tells.
fn times_left(written: &str) -> impl Iterator<Item = &str> {
    let told = written
        .split(" · about ")
        .skip(1)
        .filter_map(|rest| rest.split_once(" s left"));
    told.map(|(seconds, _)| seconds)
        .filter(|seconds| seconds.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Within one long case the time left changes on the screen, whoever measures; nothing of it stays there.
#[test]
fn a_long_case_says_how_long_it_takes() {
    let _turn = turn();
    let home = home();
    let on_a_terminal = |line: &str| {
        // A machine that stands still for seconds lets no bar be drawn meanwhile.
        let changes = |found: &(_, String)| times_left(&found.1).collect::<BTreeSet<_>>().len() >= 3;
        let walks = || walked(&home, line, XTERM);
        let found = std::iter::repeat_with(walks).take(3).find(changes);
        let found = found.unwrap_or_else(|| panic!("{line}: no walk of three told three times"));
        assert_fits(line, XTERM, &found);
    };
    let in_lines = |line: &str| {
        let dumb = Place {
            term: "dumb",
            ..XTERM
        };
        let (lines, _) = walked(&home, line, dumb);
        let says = |(text, _): &(String, bool)| times_left(text).next().is_some();
        assert!(lines.iter().any(says), "{line}: {lines:#?}");
    };
    // Ranks that poll for seconds share the CPUs: side by side they take no more of them than one walk.
    let (on_a_terminal, in_lines) = (&on_a_terminal, &in_lines);
    std::thread::scope(|scope| {
        for line in [
            "run latency --via shm -t 4s",
            "session --benchmarkPath=client_to_computation --requestMb=0 --duration=4",
            "session --requestMb=0 --duration=4",
            "msgrate --pattern pair -t 4s",
            "mesh --ranks 2 --repeats 1 -- am_lat --via shm -t 4s",
        ] {
            scope.spawn(move || on_a_terminal(line));
            scope.spawn(move || in_lines(line));
        }
    });
}

/// A launcher hides the terminal: what takes longer than two seconds says so in a line.
#[test]
fn a_job_says_what_it_measures() {
    let _turn = turn();
    let home = home();
    let Some(mpi) = mpi::installed().into_iter().next() else {
        return skip("no MPI is installed");
    };
    let run = |line: &str| mpi.run(&home, 2, line);
    let long = run("run tag_lat --via mpi -t 3s");
    assert!(
        long.stderr.contains("tag_lat") && long.stderr.contains(" left"),
        "{long}"
    );
    // What is short by its own time is long where the machine stands still before it begins, which it does not thrice.
    let tells = |_| run("run tag_lat --via mpi -t 100ms").stderr.contains(" left");
    assert!(!(0..3).all(tells), "what is short says how long it takes");
    let quiet = run("run tag_lat --via mpi -t 3s -q");
    assert!(!quiet.stderr.contains(" left"), "{quiet}");
}
