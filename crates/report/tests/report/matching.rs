//! Which cases and figures of two results meet, what of their circumstances differs, and what is said where none do.

use crate::fixture::*;
use wirespeed_report::compare::{CompareError, Comparison, Question, compare, compare_arms};
use wirespeed_report::render::Style;
use wirespeed_schema::run::{CaseResult, CaseStatus, Run, Severity};
use wirespeed_schema::test::{Layout, PingPong, Test};

fn ping_pongs(transport: &str, size: u64, rtt_ns: f64) -> CaseResult {
    result(case(transport, am_lat(size), 400), 8, |index| {
        ping_pong(size, 400, rtt_ns * (1.0 + 0.001 * f64::from(index)))
    })
}

fn streamed(transport: &str, window: u64) -> CaseResult {
    result(
        case(transport, Test::AmBw(stream(64, window)), 1000),
        8,
        |index| one_way_stream(64, 1000, 1_000_000 + u64::from(index), 100.0),
    )
}

fn question(figures: &[&str], across: &[&str]) -> Question {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Question {
        figures: owned(figures),
        across: owned(across),
        allow_shared: false,
    }
}

fn compared(a: Vec<CaseResult>, b: Vec<CaseResult>, question: &Question) -> Result<Comparison, CompareError> {
    compare(("a.json", &run(a)), ("b.json", &run(b)), question, 0.02)
}

/// Cause and remedy, in a line.
fn refused(a: Vec<CaseResult>, b: Vec<CaseResult>, question: &Question) -> String {
    let error = compared(a, b, question).unwrap_err();
    format!("{error}: {}", error.remedy())
}

/// Label and figure of each row.
fn rows(found: &Comparison) -> Vec<String> {
    let name = |row: &wirespeed_report::compare::Row| format!("{}: {}", row.label, row.tag);
    found.rows.iter().map(name).collect()
}

#[test]
fn what_differs_between_the_nearest_cases_is_named() {
    let shm = || vec![ping_pongs("shm", 8, 200.0)];
    let none = question(&[], &[]);
    assert_eq!(
        refused(shm(), vec![ping_pongs("shm", 64, 200.0)], &none),
        "no case is on both sides: the nearest pair differs in size_bytes: compare across it: --across size_bytes"
    );
    // Another test is another question, whatever is left out.
    let other = refused(shm(), vec![streamed("shm", 64)], &none);
    assert!(
        other.ends_with("measure the same test on both sides") && other.contains("test"),
        "{other}"
    );
    // Of several the pair that differs in least.
    let far = vec![ping_pongs("tcp", 64, 200.0), ping_pongs("tcp", 8, 200.0)];
    let nearest = refused(shm(), far, &none);
    assert!(
        nearest.contains("differs in transport: compare across"),
        "{nearest}"
    );
    let mut deep = ping_pongs("shm", 8, 200.0);
    deep.case.options.insert("depth".into(), "2".into());
    let option = refused(shm(), vec![deep], &none);
    assert!(option.ends_with("compare across it: --across depth"), "{option}");
    let both = refused(shm(), vec![ping_pongs("tcp", 64, 200.0)], &none);
    assert!(
        both.ends_with("compare across them: --across size_bytes,transport"),
        "{both}"
    );
    assert_eq!(
        refused(vec![], shm(), &none),
        "A has no measured case: name a result with at least one measured case"
    );
}

#[test]
fn parameters_are_left_out_by_their_names() {
    let shm = || vec![ping_pongs("shm", 8, 200.0)];
    let tcp = || vec![ping_pongs("tcp", 8, 900.0)];
    for name in ["transport", "via"] {
        let found = compared(shm(), tcp(), &question(&[], &[name])).unwrap();
        assert_eq!(rows(&found), ["shm am_lat 8 B / tcp am_lat 8 B: rtt_p50_ns"]);
        assert_eq!(found.environment, [], "of another transport every fact differs");
    }
    for name in ["size", "size_bytes"] {
        let other = vec![ping_pongs("shm", 64, 300.0)];
        let found = compared(shm(), other, &question(&[], &[name])).unwrap();
        assert_eq!(rows(&found), ["shm am_lat 8 B / 64 B: rtt_p50_ns"]);
    }
    let unknown = refused(shm(), tcp(), &question(&[], &["via", "colour"]));
    assert!(
        unknown.starts_with("--across: no case has a parameter \"colour\": choose from: ")
            && unknown.contains("transport")
            && !unknown.contains("options."),
        "{unknown}"
    );
}

/// Whatever the order of the cases, one that is the same in everything is compared with itself; others say in what they differ.
#[test]
fn across_a_parameter_equal_cases_meet_first() {
    let windows = |order: &[u64]| {
        order
            .iter()
            .map(|window| streamed("shm", *window))
            .collect::<Vec<_>>()
    };
    let question = question(&[], &["window"]);
    let found = compared(windows(&[1, 128]), windows(&[128, 1]), &question).unwrap();
    let labels: Vec<&str> = found.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["shm am_bw 64 B window 1", "shm am_bw 64 B window 128"]);
    assert_eq!(
        found.rows.iter().map(|row| row.ratio.get()).collect::<Vec<_>>(),
        [1.0, 1.0]
    );
    let other = compared(windows(&[1]), windows(&[128]), &question).unwrap();
    assert_eq!(other.rows[0].label, "shm am_bw 64 B window 1 / window 128");
}

#[test]
fn a_figure_that_no_case_has_on_both_sides_is_told() {
    let shm = || vec![ping_pongs("shm", 8, 200.0)];
    let found = compared(shm(), shm(), &question(&["p50", "p99.99"], &[])).unwrap();
    assert_eq!(found.rows.len(), 1);
    assert_eq!(found.unjudged[0].tag, "p99.99");
    assert_eq!(
        found.worst(),
        Some(wirespeed_report::compare::Verdict::Inconclusive)
    );
}

#[test]
fn figures_are_those_asked_for_or_the_first_headline() {
    let pair = || {
        (
            vec![ping_pongs("shm", 8, 200.0)],
            vec![ping_pongs("shm", 8, 200.0)],
        )
    };
    let asked = |figures: &[&str]| {
        let (a, b) = pair();
        compared(a, b, &question(figures, &[])).map(|found| rows(&found))
    };
    let row = |tag: &str| format!("shm am_lat 8 B: {tag}");
    assert_eq!(asked(&[]).unwrap(), [row("rtt_p50_ns")]);
    let several = ["p99", "rtt_mean_ns", "mean", "p50"];
    let tags = ["rtt_p99_ns", "rtt_mean_ns", "rtt_p50_ns"];
    assert_eq!(asked(&several).unwrap(), tags.map(row));
    assert_eq!(asked(&["p99", "bandwidth"]).unwrap(), [row("rtt_p99_ns")]);
    let (a, b) = pair();
    assert_eq!(
        refused(a, b, &question(&["bandwidth"], &[])),
        "shm am_lat 8 B: the sides have no figure in common among bandwidth: leave --figure out, or name one that both results have"
    );
    let (a, b) = pair();
    let unknown = refused(a, b, &question(&["p51"], &[]));
    assert!(
        unknown.starts_with("there is no figure \"p51\": name one of: "),
        "{unknown}"
    );
    let streams = || vec![streamed("shm", 64)];
    for (name, tag) in [("rate", "rate_msg_per_s"), ("bandwidth", "bandwidth_bytes_per_s")] {
        let found = compared(streams(), streams(), &question(&[name], &[])).unwrap();
        assert_eq!(found.rows[0].tag, tag);
    }
    // A figure of which one side has none is told, the other compared.
    let (a, mut b) = pair();
    b[0].metrics.remove("rtt_p99_ns");
    let found = compared(a.clone(), b.clone(), &question(&["p50", "p99"], &[])).unwrap();
    assert_eq!((found.only_a.len(), found.only_b.len()), (1, 0));
    let found = compared(b, a, &question(&["p50", "p99"], &[])).unwrap();
    assert_eq!((found.only_a.len(), found.only_b.len()), (0, 1));
}

#[test]
fn cases_meet_once_and_the_rest_is_named() {
    let a = vec![
        ping_pongs("shm", 8, 200.0),
        ping_pongs("shm", 64, 210.0),
        ping_pongs("unix", 8, 900.0),
    ];
    let b = vec![
        ping_pongs("shm", 8, 200.0),
        ping_pongs("shm", 8, 400.0),
        ping_pongs("tcp", 8, 900.0),
    ];
    let found = compared(a, b, &question(&[], &[])).unwrap();
    assert_eq!(rows(&found), ["shm am_lat 8 B: rtt_p50_ns"]);
    assert_eq!(found.rows[0].ratio.get(), 1.0, "the first of two alike");
    assert_eq!(found.only_a, ["shm am_lat 64 B", "unix am_lat 8 B"]);
    assert_eq!(found.only_b, ["shm am_lat 8 B", "tcp am_lat 8 B"]);
    let side = (
        &*found.a.name,
        &*found.b.name,
        &*found.a.version,
        found.a.imported.as_deref(),
    );
    assert_eq!(side, ("a.json", "b.json", "0.1.0", None));
    assert_eq!(found.within_ratio.get(), 0.02);
}

#[test]
fn circumstances_of_cases_that_meet_are_told() {
    let a = ping_pongs("shm", 8, 200.0);
    let mut b = a.clone();
    b.case.ranks[1].cpu = None;
    // One rank of one run suffices.
    for outcome in b.repetitions[3].outcomes.iter_mut().take(1) {
        outcome.clock.source = "clock_monotonic".into();
        outcome.idle = wirespeed_schema::case::IdlePolicy::Yield;
        let facts = [("ring", "huge"), ("tcp_retransmits", "3"), ("wait_us", "7")];
        let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
        outcome.transport_facts.extend(facts);
    }
    let found = compared(vec![a], vec![b], &question(&[], &[])).unwrap();
    let said: Vec<String> = found
        .environment
        .iter()
        .map(|one| format!("{}: {:?} {:?}", one.name, one.a, one.b))
        .collect();
    assert_eq!(
        said,
        [
            r#"clock: Some("tsc") Some("clock_monotonic/tsc, tsc")"#,
            r#"cpus: Some("0,1") Some("0,none")"#,
            r#"idle: Some("spin") Some("spin/yield, spin")"#,
            r#"transport.ring: None Some("huge")"#,
        ],
        "and nothing that is measured"
    );
}

#[test]
fn a_case_without_the_figure_keeps_no_other_from_being_compared() {
    let cases = || {
        vec![
            ping_pongs("tcp", 8, 900.0),
            streamed("shm", 64),
            ping_pongs("shm", 8, 200.0),
        ]
    };
    let mut b = cases();
    b[0].metrics.remove("rtt_p50_ns");
    let both = run([cases(), b.clone()].concat());
    let p50 = question(&["rtt_p50_ns"], &[]);
    for found in [
        compared(cases(), b, &p50),
        compare_arms(&both, ("a", "b"), &p50, 0.02),
    ] {
        let found = found.unwrap();
        assert_eq!(rows(&found), ["shm am_lat 8 B: rtt_p50_ns"]);
        assert_eq!(found.only_a, ["RTT p50 of tcp am_lat 8 B"]);
        assert_eq!(found.lacking, ["shm am_bw 64 B"]);
        let mut shown = run(Vec::new());
        shown.sections.put(&found);
        let text = screen(&shown, &Style::PLAIN);
        assert!(
            text.contains("without the figure, not compared: shm am_bw 64 B"),
            "{text}"
        );
    }
}

/// What was skipped or failed on one side, or on both, is told with the reason: by stored results and by arms.
#[test]
fn a_case_that_was_not_measured_is_told_with_the_reason() {
    let lost = |mut case: CaseResult| {
        case.status = CaseStatus::Skipped;
        case.error = Some("the budget left no time for it".to_owned());
        case.metrics.clear();
        case.repetitions.clear();
        case
    };
    let [a, b, c, d] = [
        ping_pongs("tcp", 8, 900.0),
        streamed("shm", 64),
        ping_pongs("unix", 8, 400.0),
        ping_pongs("shm", 8, 200.0),
    ];
    let of_a = vec![a.clone(), lost(b.clone()), lost(c.clone()), d.clone()];
    let of_b = vec![lost(a), b, lost(c.clone()), d.clone()];
    let arms = run([of_a.clone(), of_b.clone()].concat());
    let none = question(&[], &[]);
    let why = "the budget left no time for it";
    let arms = compare_arms(&arms, ("a", "b"), &none, 0.02).unwrap();
    for found in [&compared(of_a, of_b.clone(), &none).unwrap(), &arms] {
        let [only_a, only_b, lacking] = found.told();
        // The reason is no part of the name.
        assert_eq!(found.only_a, ["tcp am_lat 8 B"]);
        let of_b = format!("tcp am_lat 8 B (not measured in B: {why})");
        assert_eq!(only_a, [of_b]);
        assert!(only_b[0].ends_with(&format!("(not measured in A: {why})")));
        assert_eq!(found.lacking, ["unix am_lat 8 B"]);
        let either = format!("unix am_lat 8 B (not measured in either: {why})");
        assert_eq!(lacking, [either]);
    }
    // Each side's own reason, where they differ.
    let mut others = of_b;
    others[2].error = Some("no route".to_owned());
    let found = compared(vec![lost(c), d], others, &none).unwrap();
    let [.., lacking] = found.told();
    let both = format!("unix am_lat 8 B (not measured in A: {why}; in B: no route)");
    assert_eq!(lacking, [both]);
}

/// Cases of one name have each its own reason, or none.
#[test]
fn a_reason_is_told_of_its_own_case() {
    let layouts = [Layout::Short, Layout::Bcopy, Layout::Zcopy];
    let of = |transport: &str, layout: usize, lost: Option<&str>| {
        let mut case = ping_pongs(transport, 8, 200.0);
        case.case.test = Test::AmLat(PingPong::new(8, layouts[layout - 1]));
        if let Some(why) = lost {
            (case.status, case.error) = (CaseStatus::Failed, Some(why.to_owned()));
            case.metrics.clear();
            case.repetitions.clear();
        }
        case
    };
    let a = vec![
        of("shm", 1, None),
        of("tcp", 1, None),
        of("tcp", 2, None),
        of("tcp", 3, None),
        of("unix", 1, Some("none")),
        of("unix", 1, Some("other")),
    ];
    let b = vec![
        of("shm", 1, None),
        of("tcp", 3, Some("third")),
        of("tcp", 2, Some("second")),
        of("unix", 1, Some("none")),
        of("unix", 1, Some("other")),
    ];
    let name = "tcp am_lat 8 B";
    let [second, third] = ["second", "third"].map(|why| format!("{name} (not measured in B: {why})"));
    let unix = ["none", "other"].map(|why| format!("unix am_lat 8 B (not measured in either: {why})"));
    let both_ways = [
        (
            compared(a.clone(), b.clone(), &question(&[], &[])).unwrap(),
            0,
            "B",
        ),
        (compared(b, a, &question(&[], &[])).unwrap(), 1, "A"),
    ];
    for (found, side, letter) in both_ways {
        let told = found.told();
        let own = [name, &second, &third].map(|one| one.replace("in B", &format!("in {letter}")));
        assert_eq!(told[side], own);
        assert_eq!(told[2], unix);
    }
}

#[test]
fn programs_of_two_versions_are_told() {
    let a = run(vec![ping_pongs("shm", 8, 200.0)]);
    let mut b = a.clone();
    b.tool.commit = Some("abc".into());
    let environment = |a: &Run, b: &Run| {
        let found = compare(("a", a), ("b", b), &question(&[], &[]), 0.02).unwrap();
        found.environment
    };
    let found = environment(&a, &b);
    assert_eq!(
        (found.len(), found[0].name.as_str(), found[0].b.as_deref()),
        (1, "program", Some("wirespeed 0.1.0 (abc)"))
    );
    b.tool.commit = None;
    b.host.host_name = Some("other".into());
    b.host.load_average_1min = Some(finite(0.3));
    assert_eq!(environment(&a, &b), [], "what says nothing");
}

#[test]
fn a_side_that_cannot_be_trusted_is_named() {
    let good = || ping_pongs("shm", 8, 200.0);
    let mut wrong = good();
    wrong.status = CaseStatus::WrongData;
    assert_eq!(
        refused(vec![wrong], vec![good()], &question(&[], &[])),
        "shm am_lat 8 B: A cannot be trusted: its data were wrong: look at its remarks and measure it again"
    );
    let broken = result(case("shm", am_lat(8), 400), 8, |_| {
        let mut ends = ping_pong(8, 400, 200.0);
        ends.iter_mut().for_each(|end| end.elapsed_ns /= 2);
        ends
    });
    assert_eq!(broken.remarks[0].severity, Severity::Suspect);
    let said = refused(vec![good()], vec![broken.clone()], &question(&[], &[]));
    let why = format!(
        "shm am_lat 8 B: B cannot be trusted: {}",
        broken.remarks[0].message
    );
    assert!(said.starts_with(&why), "{said}");
    let mut shared = good();
    shared.repetitions[3].overlapping_sessions = 1;
    assert_eq!(
        refused(vec![good()], vec![shared], &question(&[], &[])),
        "shm am_lat 8 B: B was measured while the server measured others too: measure it alone, or pass --allow-shared"
    );
}

/// The load `none` leaves no trace in the case itself.
#[test]
fn the_control_of_each_arm_is_told_from_its_case_without_load() {
    let arm = |transport: &str| {
        let off = ping_pongs(transport, 8, 200.0);
        let under = Some("none".to_owned());
        let control = CaseResult { under, ..off.clone() };
        [off, control]
    };
    let both = run([arm("shm"), arm("unix")].concat());
    let found = compare_arms(&both, ("x", "y"), &question(&[], &[]), 0.02).unwrap();
    let [off, on] = [
        "shm am_lat 8 B / unix am_lat 8 B: rtt_p50_ns",
        "shm am_lat 8 B under none / unix am_lat 8 B under none: rtt_p50_ns",
    ];
    assert_eq!(rows(&found), [off, on]);
    // In whatever order two results have them.
    let [off, control] = arm("shm");
    let found = compared(
        vec![off.clone(), control.clone()],
        vec![control, off],
        &question(&[], &[]),
    )
    .unwrap();
    let [off, on] = [
        "shm am_lat 8 B: rtt_p50_ns",
        "shm am_lat 8 B under none: rtt_p50_ns",
    ];
    assert_eq!(rows(&found), [off, on]);
}

#[test]
fn arms_without_figures_are_left_out_by_name() {
    let mut empty = ping_pongs("tcp", 8, 900.0);
    empty.metrics.clear();
    let cases = vec![
        ping_pongs("shm", 8, 200.0),
        ping_pongs("unix", 8, 300.0),
        ping_pongs("shm", 8, 200.0),
        empty.clone(),
    ];
    let found = compare_arms(&run(cases), ("x", "y"), &question(&[], &[]), 0.02).unwrap();
    assert_eq!(rows(&found), ["shm am_lat 8 B: rtt_p50_ns"]);
    assert_eq!(
        (found.only_a.as_slice(), found.only_b.len()),
        (&["unix am_lat 8 B".to_owned()][..], 0)
    );
    let none = compare_arms(
        &run(vec![empty.clone(), empty]),
        ("x", "y"),
        &question(&[], &[]),
        0.02,
    );
    assert_eq!(none.unwrap_err(), CompareError::Empty { side: "each arm" });
}

#[test]
fn what_the_file_of_another_tool_does_not_tell_differs_from_nothing() {
    use wirespeed_schema::section::Imported;
    let ours = run(vec![ping_pongs("shm", 8, 200.0)]);
    let mut theirs = ours.clone();
    theirs.sections.put(&Imported { format: "osu".into() });
    theirs.tool.name = "osu".into();
    theirs.host = Default::default();
    theirs.cases[0]
        .case
        .ranks
        .iter_mut()
        .for_each(|rank| rank.cpu = None);
    let environment = |a: &Run, b: &Run| {
        let found = compare(("a", a), ("b", b), &question(&[], &[]), 0.02).unwrap();
        let names: Vec<String> = found.environment.into_iter().map(|one| one.name).collect();
        (names, found.a.imported, found.b.imported)
    };
    let none: Vec<String> = Vec::new();
    let osu = Some("osu".to_owned());
    assert_eq!(environment(&ours, &theirs), (none.clone(), None, osu.clone()));
    assert_eq!(environment(&theirs, &ours), (none, osu.clone(), None));
    // What it does tell counts.
    theirs.host.kernel = "Linux 5.4".into();
    theirs.cases[0].case.ranks[0].cpu = Some(3);
    let told = vec!["cpus".to_owned(), "kernel".to_owned()];
    let (mut names, ..) = environment(&ours, &theirs);
    names.sort();
    assert_eq!(names, told);
}
