//! The screen of `quick`: one small terminal, whatever the machine is like. And the README shows such a screen.

use crate::fixture::*;
use crate::golden::check;
use wirespeed_report::Input;
use wirespeed_report::render::{Extent, Style, text};
use wirespeed_report::view::{QuickSection, QuickTransport, View};
use wirespeed_report::{read_run, skipped_case};
use wirespeed_schema::Test;
use wirespeed_schema::outcome::Outcome;
use wirespeed_schema::run::{CaseResult, CaseStatus, Run};

const TRANSPORTS: [&str; 8] = ["inproc", "shm", "unix", "tcp", "udp", "uct", "ucp", "mpi"];
const SIZES: [u64; 7] = [8, 64, 512, 4 << 10, 32 << 10, 128 << 10, 1 << 20];
/// Lines and columns of the smallest terminal in use, and what the command and the next prompt take of it.
const ROWS: usize = 24 - 2;
const COLUMNS: usize = 80;
const NO_UCX: &str =
    "libucp.so.0 was not found in /usr/lib, /usr/local/lib or WIRESPEED_UCX; install UCX 1.11 or newer";
const NO_MPI: &str = "no MPI library was found: install one, or name it with --mpi";

/// A result of `quick` over all transports, of which those in `without` are not here; `disturb` acts on every rank.
fn quick(without: &[(&str, &str)], disturb: fn(&mut Outcome)) -> Run {
    let mut cases = Vec::new();
    let mut transports = Vec::new();
    for (number, name) in TRANSPORTS.into_iter().enumerate() {
        let absent = without.iter().find(|(absent, _)| *absent == name);
        transports.push(QuickTransport {
            transport: name.into(),
            title: format!("what {name} is, in some words"),
            unavailable: absent.map(|(_, why)| (*why).to_owned()),
        });
        if absent.is_none() {
            cases.extend(of_transport(name, 1.0 + 1.37 * number as f64, disturb));
        }
    }
    let mut document = run(cases);
    document.sections.put(&QuickSection {
        transports,
        next: vec![
            "Plots, and all remarks with remedies: wirespeed report wirespeed-quick.json".into(),
            "How sure is that? wirespeed run latency --via inproc --repeats 10".into(),
        ],
    });
    document
}

fn of_transport(name: &str, slower: f64, disturb: fn(&mut Outcome)) -> Vec<CaseResult> {
    let disturbed = |mut outcomes: Vec<Outcome>| {
        outcomes.iter_mut().for_each(disturb);
        outcomes
    };
    let lat = result(case(name, am_lat(8), 4000), 1, |_| {
        disturbed(ping_pong(8, 4000, 103.27 * slower))
    });
    let streams = SIZES.map(|size| {
        let elapsed_ns = (10_371.0 * slower * (150.0 + size as f64 / 9.0)) as u64;
        result(case(name, Test::AmBw(stream(size, 64)), 10_000), 1, |_| {
            disturbed(one_way_stream(
                size,
                10_000,
                elapsed_ns,
                elapsed_ns as f64 / 257.3,
            ))
        })
    });
    std::iter::once(lat).chain(streams).collect()
}

/// Everything that other work does to a rank, and some more that goes wrong.
fn busy(outcome: &mut Outcome) {
    outcome.disturbance.involuntary_switches = outcome.elapsed_ns / 100_000 + 54;
    outcome.disturbance.run_queue_wait_ns = Some(outcome.elapsed_ns / 3);
    outcome.disturbance.steal_ns = Some(outcome.elapsed_ns / 5);
    outcome.disturbance.migrations = Some(3);
    outcome.disturbance.major_faults = 12;
    outcome.disturbance.minor_faults = 1_000_000;
    outcome.host.load_average_1min = Some(finite(7.3));
    outcome.host.cpus_online = 2;
    outcome.noise.as_mut().unwrap().lost_ratio = finite(0.66);
    outcome.clock.step_ns = finite(10.01);
}

/// Of round trips and of bandwidths alike.
#[test]
fn what_cannot_be_told_from_the_best_is_named_beside_it() {
    let mut document = quick(&[], |_| ());
    for case in &mut document.cases {
        for tag in ["rtt_p50_ns", "bandwidth_bytes_per_s"] {
            let Some(metric) = case.metrics.get_mut(tag) else {
                continue;
            };
            let width = match case.case.transport.as_str() {
                "inproc" | "shm" => 0.6,
                _ => 0.01,
            };
            metric.lower = Some(finite(metric.value.get() * (1.0 - width)));
            metric.upper = Some(finite(metric.value.get() * (1.0 + width)));
        }
    }
    let input = Input {
        name: "run",
        run: &document,
    };
    let answer = &View::of(&[input]).subjects[0].answer;
    for (best, level) in [
        ("Shortest round trip: inproc", "shm: too close to call)"),
        ("Highest bandwidth: inproc", "(shm: too close to call)"),
    ] {
        let said = answer.iter().find(|line| line.starts_with(best)).unwrap();
        assert!(said.contains(level), "{said}");
    }
}

/// Every kind of machine on which somebody tries `quick`.
fn documents() -> Vec<(&'static str, Run)> {
    let quiet: fn(&mut Outcome) = |_| ();
    let bare = [("uct", NO_UCX), ("ucp", NO_UCX), ("mpi", NO_MPI)];
    let mut failed = quick(&[], busy);
    for case in failed
        .cases
        .iter_mut()
        .filter(|case| case.case.transport == "udp")
    {
        *case = skipped_case(case.case.clone(), "rank 1 was dropped: silent for 20 s", None);
        case.status = CaseStatus::Failed;
    }
    let mut cut = quick(&[], busy);
    let remedy = Some("give more time with --budget, or fewer transports with --via".to_owned());
    for case in cut.cases.iter_mut().skip(20) {
        *case = skipped_case(
            case.case.clone(),
            "the budget left no time for it",
            remedy.clone(),
        );
    }
    vec![
        ("quiet", quick(&[], quiet)),
        ("busy", quick(&[], busy)),
        ("without libraries", quick(&bare, quiet)),
        ("busy without libraries", quick(&bare, busy)),
        ("one failed", failed),
        ("cut by the budget", cut),
        ("stored", stored()),
    ]
}

fn at(width: usize) -> Style {
    Style {
        width,
        ..Style::PLAIN
    }
}

#[test]
fn the_screen_fits_a_small_terminal_on_every_machine() {
    for (machine, document) in documents() {
        let said = screen(&document, &at(COLUMNS));
        let lines: Vec<&str> = said.lines().collect();
        let widest = lines.iter().map(|line| line.chars().count()).max().unwrap();
        assert!(lines.len() <= ROWS, "{machine}: {} lines\n{said}", lines.len());
        assert!(widest <= COLUMNS, "{machine}: {widest} columns\n{said}");
        assert!(said.starts_with("Shortest round trip: "), "{machine}: {said}");
        assert!(!said.contains("left out"), "{machine}: {said}");
        assert!(
            said.matches("the machine is busy").count() <= 1,
            "{machine}: {said}"
        );
        let remarks = lines.iter().filter(|line| {
            ["suspect: ", "warning: ", "note: "]
                .iter()
                .any(|word| line.starts_with(word))
        });
        assert!(remarks.count() <= 3, "{machine}: {said}");
    }
}

#[test]
fn a_tie_is_no_victory() {
    let mut tied = quick(&[], |_| ());
    assert!(!screen(&tied, &at(COLUMNS)).contains("too close to call"));
    let upper = tied.cases[0].metrics["rtt_p50_ns"].upper;
    let cases = tied.cases.iter_mut();
    let shm = cases.filter(|case| case.case.transport == "shm");
    for metric in shm.filter_map(|case| case.metrics.get_mut("rtt_p50_ns")) {
        metric.lower = upper;
    }
    let said = screen(&tied, &at(COLUMNS));
    assert!(said.starts_with("Shortest round trip: inproc, "), "{said}");
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(" (one run; shm: too close to call). "), "{said}");
}

#[test]
fn what_was_not_measured_is_part_of_the_answer() {
    let documents = documents();
    let said = |machine: &str| {
        let (_, document) = documents.iter().find(|(name, _)| *name == machine).unwrap();
        let view = View::of(&[Input {
            name: "x",
            run: document,
        }]);
        view.subjects[0].answer.join("\n")
    };
    let bare = said("without libraries");
    assert!(
        bare.contains(&format!("Not measured: uct, ucp ({NO_UCX}).")),
        "{bare}"
    );
    assert!(bare.contains(&format!("Not measured: mpi ({NO_MPI}).")), "{bare}");
    let failed = said("one failed");
    assert!(
        failed.contains("Not measured: udp (rank 1 was dropped: silent for 20 s)."),
        "{failed}"
    );
    let cut = said("cut by the budget");
    assert!(
        cut.contains("Not measured: tcp, udp, uct, ucp, mpi (the budget left no time for it)."),
        "{cut}"
    );
    assert!(
        cut.contains("4 of 24 cases of the others not measured: the budget left no time for it."),
        "{cut}"
    );
}

#[test]
fn a_busy_machine_is_told_once_and_the_rest_is_a_word_away() {
    let document = quick(&[], busy);
    let said = screen(&document, &at(COLUMNS));
    check("tests/golden/quick.txt", &said);
    assert!(
        said.contains("the machine is busy: other work disturbed 64 of 64 cases"),
        "{said}"
    );
    for code in ["noise", "steal", "involuntary", "load average"] {
        let below = said.split("the machine is busy").nth(1).unwrap();
        assert!(!below.contains(code), "{code}: {said}");
    }
    let all = Extent {
        remarks: true,
        ..Extent::SCREEN
    };
    let view = View::of(&[Input {
        name: "x",
        run: &document,
    }]);
    let long = text(&view, all, &at(COLUMNS));
    for part in ["[noise]", "[steal]", "remedy: ", "bandwidth against message size"] {
        assert!(
            long.contains(part) && !said.contains(part),
            "{part}: {said}\n{long}"
        );
    }
}

#[test]
fn a_chart_of_many_transports_names_their_test_once() {
    let document = quick(&[], |_| ());
    let drawn = whole(
        &[Input {
            name: "x",
            run: &document,
        }],
        &at(COLUMNS),
    );
    assert!(drawn.contains("bandwidth against message size: am_bw"), "{drawn}");
    assert!(drawn.contains("a inproc   b mpi   c shm"), "{drawn}");
}

/// A result that a release build measured, without the samples that no screen shows.
fn stored() -> Run {
    read_run(include_bytes!("../documents/quick.json")).unwrap()
}

#[test]
fn the_readme_shows_the_screen_of_a_stored_result() {
    let path = "../../README.md";
    let readme = std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let (begin, end) = ("<!-- quick:begin -->\n```text\n", "```\n<!-- quick:end -->");
    let (before, rest) = readme.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    let said = screen(&stored(), &at(COLUMNS));
    check(path, &format!("{before}{begin}{said}{end}{after}"));
}

#[test]
fn what_was_measured_is_answered_though_it_is_not_what_was_asked_for() {
    let mut document = quick(&[], |_| {});
    document.cases = vec![result(case("null", am_lat(8), 400), 1, |_| {
        ping_pong(8, 400, 100.0)
    })];
    let input = Input {
        name: "run",
        run: &document,
    };
    let shown = text(&View::of(&[input]), Extent::SCREEN, &Style::PLAIN);
    assert!(shown.starts_with("null am_lat 8 B: RTT p50 "), "{shown}");
}
