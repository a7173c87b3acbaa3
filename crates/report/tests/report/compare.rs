//! Comparisons of whole documents: matching, refusals, environment, the text.

use crate::fixture::screen;
use crate::fixture::*;
use wirespeed_report::compare::{CompareError, Comparison, Question, Verdict, compare, compare_arms};
use wirespeed_report::render::Style;
use wirespeed_schema::run::{CaseResult, CaseStatus, Remark, Run, Severity};
use wirespeed_schema::test::Test;

/// Runs of one ping-pong case around `rtt_ns`, each a little different.
fn ping_pongs(transport: &str, size: u64, rtt_ns: f64, runs: u32) -> CaseResult {
    result(case(transport, am_lat(size), 400), runs, |index| {
        let wobble = 1.0 + 0.001 * f64::from((index * 7) % 5);
        ping_pong(size, 400, rtt_ns * wobble)
    })
}

fn of(cases: Vec<CaseResult>) -> Run {
    run(cases)
}

fn compared(a: &Run, b: &Run) -> Result<Comparison, CompareError> {
    compare(("a.json", a), ("b.json", b), &Question::default(), 0.02)
}

#[test]
fn slower_faster_and_same_are_told_apart() {
    let a = of(vec![
        ping_pongs("shm", 8, 200.0, 8),
        ping_pongs("shm", 64, 300.0, 8),
        ping_pongs("tcp", 8, 9000.0, 8),
    ]);
    let b = of(vec![
        ping_pongs("tcp", 8, 9020.0, 8),
        ping_pongs("shm", 64, 250.0, 8),
        ping_pongs("shm", 8, 220.0, 8),
    ]);
    let found = compared(&a, &b).unwrap();
    let verdicts: Vec<Verdict> = found.rows.iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts, [Verdict::Slower, Verdict::Faster, Verdict::Same]);
    assert_eq!(found.worst(), Some(Verdict::Slower));
    let mut shown = of(Vec::new());
    shown.sections.put(&found);
    let text = screen(&shown, &Style::PLAIN);
    assert!(
        text.contains("environment: the same") && text.contains("1 slower, 1 faster, 1 same within 2 %"),
        "{text}"
    );
}

/// What fell to nothing has no ratio, and is never left out: not in the text, not in the verdict, not for machines.
#[test]
fn a_figure_that_is_nought_is_told_and_passes_no_gate() {
    let rates = |nought: usize| {
        let mut found = ping_pongs("shm", 64, 300.0, 8);
        for (index, repetition) in found.repetitions.iter_mut().enumerate() {
            let figure = repetition.metrics.get_mut("rtt_p50_ns").unwrap();
            if index < nought {
                figure.value = finite(0.0);
            }
        }
        of(vec![ping_pongs("shm", 8, 200.0, 8), found])
    };
    for nought in [1, 8] {
        for (a, b, letter) in [(rates(0), rates(nought), "B"), (rates(nought), rates(0), "A")] {
            let found = compared(&a, &b).unwrap();
            assert_eq!(found.rows.len(), 1);
            assert_eq!(found.worst(), Some(Verdict::Inconclusive));
            let why = format!("0 in {nought} of 8 runs of {letter}");
            assert_eq!(found.unjudged[0].why, why);
            let mut shown = of(Vec::new());
            shown.sections.put(&found);
            let text = screen(&shown, &Style::PLAIN)
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            assert!(
                text.contains(&format!("RTT p50 of shm am_lat 64 B ({why})")),
                "{text}"
            );
            let xml = wirespeed_report::render::junit(&found, false);
            assert!(
                xml.contains("tests=\"2\" failures=\"1\"") && xml.contains(&why),
                "{xml}"
            );
        }
    }
    // Nothing on both sides is no difference, and is told as that, beside other figures and alone.
    let both = compared(&rates(8), &rates(8)).unwrap();
    assert_eq!((both.rows.len(), both.unjudged.len()), (1, 0));
    let alone = Comparison {
        rows: Vec::new(),
        ..both.clone()
    };
    for (found, tests) in [(both, 2), (alone, 1)] {
        let mut shown = of(Vec::new());
        shown.sections.put(&found);
        let text = screen(&shown, &Style::PLAIN);
        assert!(
            text.contains("The same, 0 in every run of both: RTT p50 of shm am_lat 64 B."),
            "{text}"
        );
        assert!(!text.contains("Nothing was measured"), "{text}");
        let xml = wirespeed_report::render::junit(&found, false);
        let counts = format!("tests=\"{tests}\" failures=\"0\"");
        assert!(
            xml.contains(&counts) && xml.contains("same: 0 in every run of both"),
            "{xml}"
        );
    }
}

#[test]
fn a_ratio_apart_from_the_two_medians_is_explained() {
    // Two states of one machine: the median jumps with one run more in the upper one.
    let runs = |upper: u32| {
        let case = result(case("shm", am_lat(8), 400), 9, |index| {
            let state = if index < upper { 540.0 } else { 170.0 };
            ping_pong(8, 400, state * (1.0 + 0.001 * f64::from(index)))
        });
        of(vec![case])
    };
    let said = |a: &Run, b: &Run| {
        let mut shown = of(Vec::new());
        let found = compared(a, b).unwrap();
        shown.sections.put(&found);
        let text = screen(&shown, &Style::PLAIN);
        (found, text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (found, text) = said(&runs(4), &runs(5));
    let row = &found.rows[0];
    assert!(
        row.b.get() / row.a.get() > 3.0 && row.ratio.get() < 1.5,
        "{row:?}"
    );
    assert!(
        text.contains("which is not the quotient of the two medians"),
        "{text}"
    );
    let (_, text) = said(&runs(9), &runs(9));
    assert!(!text.contains("quotient"), "{text}");
}

#[test]
fn the_environment_comes_first() {
    let a = of(vec![ping_pongs("shm", 8, 200.0, 8)]);
    let mut b = a.clone();
    b.host.governor = Some("powersave".into());
    b.host.facts.insert("mtu".into(), "9000".into());
    b.host.load_average_1min = Some(finite(7.0));
    let found = compared(&a, &b).unwrap();
    let names: Vec<&str> = found.environment.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["facts.mtu", "governor"]);
    let mut shown = of(Vec::new());
    shown.sections.put(&found);
    let text = screen(&shown, &Style::PLAIN);
    let place = |word: &str| text.find(word).unwrap_or_else(|| panic!("{word}: {text}"));
    assert!(place("governor: not stated -> powersave") < place("B/A"));
}

#[test]
fn what_would_mislead_is_refused() {
    let a = of(vec![ping_pongs("shm", 8, 200.0, 8)]);
    let nothing = of(Vec::new());
    assert_eq!(compared(&a, &nothing), Err(CompareError::Empty { side: "B" }));
    let other = of(vec![ping_pongs("tcp", 8, 200.0, 8)]);
    let error = compared(&a, &other).unwrap_err();
    assert_eq!(error.remedy(), "compare across it: --across transport");
    let across = Question {
        across: vec!["via".into()],
        ..Question::default()
    };
    assert!(compare(("a", &a), ("b", &other), &across, 0.02).is_ok());
    let stream_case = result(case("shm", Test::AmBw(stream(8, 64)), 1000), 6, |_| {
        one_way_stream(8, 1000, 1_000_000, 100.0)
    });
    let error = compared(&a, &of(vec![stream_case])).unwrap_err();
    assert!(
        matches!(&error, CompareError::NothingInCommon { across, .. } if across.is_empty()),
        "{error}"
    );

    let mut wrong = a.clone();
    wrong.cases[0].status = CaseStatus::WrongData;
    assert!(matches!(
        compared(&a, &wrong),
        Err(CompareError::Suspect { side: "B", .. })
    ));
    let mut suspect = a.clone();
    suspect.cases[0].remarks.insert(
        0,
        Remark {
            severity: Severity::Suspect,
            code: "littles_law".into(),
            message: "impossible".into(),
            remedy: None,
            weight: None,
        },
    );
    assert!(matches!(
        compared(&suspect, &a),
        Err(CompareError::Suspect { side: "A", .. })
    ));
    let mut shared = a.clone();
    shared.cases[0].repetitions[3].overlapping_sessions = 2;
    assert!(matches!(compared(&a, &shared), Err(CompareError::Shared { .. })));
    let allowed = Question {
        allow_shared: true,
        ..Question::default()
    };
    assert!(compare(("a", &a), ("b", &shared), &allowed, 0.02).is_ok());
    let unknown = Question {
        figures: vec!["p51".into()],
        ..Question::default()
    };
    let error = compare(("a", &a), ("b", &a), &unknown, 0.02).unwrap_err();
    assert!(error.remedy().contains("p50, p90"), "{error}");
}

#[test]
fn one_run_a_side_is_inconclusive_and_says_what_it_needs() {
    let a = of(vec![ping_pongs("shm", 8, 200.0, 1)]);
    let b = of(vec![ping_pongs("shm", 8, 400.0, 1)]);
    let found = compared(&a, &b).unwrap();
    assert_eq!(
        (found.rows[0].verdict, found.rows[0].more_runs),
        (Verdict::Inconclusive, Some(3))
    );
    // Imported history has a figure and no runs.
    let mut bare = b.clone();
    bare.cases[0].repetitions.clear();
    assert_eq!(compared(&a, &bare).unwrap().rows[0].b_runs, 1);
}

#[test]
fn arms_are_paired_by_repetition() {
    let mut both = of(vec![
        ping_pongs("shm", 8, 200.0, 8),
        ping_pongs("unix", 8, 400.0, 8),
    ]);
    both.cases[1].repetitions.remove(2);
    let found = compare_arms(
        &both,
        ("latency --via shm", "latency --via unix"),
        &Question::default(),
        0.02,
    )
    .unwrap();
    let row = &found.rows[0];
    assert_eq!((row.a_runs, row.b_runs, row.verdict), (7, 7, Verdict::Slower));
    assert!(
        (row.ratio.get() - 2.0).abs() < 0.01 && row.label == "shm am_lat 8 B / unix am_lat 8 B",
        "{row:?}"
    );
    let mut shown = of(Vec::new());
    shown.sections.put(&found);
    let text = screen(&shown, &Style::PLAIN);
    let said = "B is slower: RTT p50 of B (unix am_lat 8 B) is 2 [2 .. 2] times that of A (shm am_lat 8 B)";
    assert!(
        text.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .starts_with(said),
        "{text}"
    );
    let none = of(vec![ping_pongs("shm", 8, 200.0, 8)]);
    assert!(compare_arms(&none, ("a", "b"), &Question::default(), 0.02).is_err());
}

/// `case` with a remark of its own.
fn remarked(mut case: CaseResult, severity: Severity, code: &str) -> CaseResult {
    case.remarks.push(Remark {
        severity,
        code: code.to_owned(),
        message: "as it was".to_owned(),
        remedy: None,
        weight: None,
    });
    case
}

/// What the screen says of a comparison.
fn said(found: &Comparison, style: &Style) -> String {
    let mut shown = of(Vec::new());
    shown.sections.put(found);
    screen(&shown, style)
}

#[test]
fn a_disturbed_side_is_named_in_place_of_a_verdict() {
    let of_a = |severity, code| of(vec![remarked(ping_pongs("shm", 8, 200.0, 8), severity, code)]);
    let b = of(vec![ping_pongs("shm", 8, 300.0, 8)]);
    let found = compared(&of_a(Severity::Warning, "run_queue_wait"), &b).unwrap();
    assert_eq!(found.rows[0].verdict, Verdict::Inconclusive);
    let text = said(&found, &Style::PLAIN).replace("\n  ", " ");
    let why = "but A was disturbed while it was measured (run queue wait): measure both in turn with `wirespeed ab`";
    assert!(
        text.contains(why) && text.contains("inconclusive (disturbed)"),
        "{text}"
    );
    for (severity, code) in [
        (Severity::Note, "run_queue_wait"),
        (Severity::Warning, "too_short"),
    ] {
        let found = compared(&of_a(severity, code), &b).unwrap();
        assert_eq!(found.rows[0].verdict, Verdict::Slower, "{code}");
    }
    // The load of a machine is said of the run as a whole.
    let mut loaded = b.clone();
    loaded.host.load_average_1min = Some(finite(9.0));
    let a = of(vec![ping_pongs("shm", 8, 200.0, 8)]);
    assert_eq!(
        compared(&a, &loaded).unwrap().rows[0].withheld,
        ["B: load_average"]
    );
}

#[test]
fn the_answer_has_the_interval_and_names_the_worst_and_the_best() {
    let rtts = |factors: [f64; 4]| {
        let sizes = [8, 64, 512, 4096].into_iter().zip(factors);
        of(sizes
            .map(|(size, factor)| ping_pongs("shm", size, 200.0 * factor, 8))
            .collect())
    };
    let found = compared(&rtts([1.0; 4]), &rtts([1.1, 1.3, 0.8, 0.9])).unwrap();
    let text = said(&found, &Style::PLAIN).replace("\n  ", " ");
    for sentence in [
        "B is slower, most of all at shm am_lat 64 B: RTT p50 of B is 1.3 [1.298 .. 1.303] times",
        "B is faster, most of all at shm am_lat 512 B: RTT p50 of B is 0.8002 [0.799 .. 0.8017] times",
        "B against A, 4 figures: 2 slower, 2 faster",
    ] {
        assert!(text.contains(sentence), "{sentence}: {text}");
    }
    for width in [40, 60, 80, 120] {
        let style = Style {
            width,
            ..Style::PLAIN
        };
        let text = said(&found, &style);
        let table = text.split("environment: the same").nth(1).unwrap();
        for row in &found.rows {
            let (ratio, verdict) = (format!("{:.1}", row.ratio.get()), row.verdict.name());
            assert!(table.contains(&ratio) && table.contains(&row.label), "{text}");
            let count = found
                .rows
                .iter()
                .filter(|other| other.verdict == row.verdict)
                .count();
            assert_eq!(table.matches(verdict).count(), count, "{width}: {text}");
        }
    }
    let one = compared(
        &of(vec![ping_pongs("shm", 8, 200.0, 8)]),
        &of(vec![ping_pongs("shm", 8, 300.0, 8)]),
    );
    let text = said(&one.unwrap(), &Style::PLAIN);
    assert!(
        text.starts_with("B is slower: RTT p50 of B is 1.5 [1.49"),
        "{text}"
    );
}

#[test]
fn a_figure_of_one_side_alone_is_named() {
    let a = of(vec![ping_pongs("shm", 8, 200.0, 8)]);
    let mut b = a.clone();
    b.cases[0].metrics.remove("rtt_p99_ns");
    let question = Question {
        figures: vec!["p50".into(), "p99".into()],
        ..Question::default()
    };
    let found = compare(("a", &a), ("b", &b), &question, 0.02).unwrap();
    assert_eq!(found.rows.len(), 1);
    assert_eq!(found.only_a, ["RTT p99 of shm am_lat 8 B"]);
    assert!(said(&found, &Style::PLAIN).contains("only in A, not compared: RTT p99"));
    // A headline that one side lacks is left for another one.
    b.cases[0].metrics.remove("rtt_p50_ns");
    let found = compared(&b, &a).unwrap();
    assert_eq!(found.rows[0].tag, "rtt_mean_ns");
    assert_eq!(found.only_b, ["RTT p50 of shm am_lat 8 B"]);
}

#[test]
fn points_of_a_sweep_keep_what_varies_in_their_names() {
    let at = |depth: u64, rtt_ns: f64| {
        let mut one = ping_pongs("unix", 64, rtt_ns, 8);
        one.case.options.insert("depth".to_owned(), depth.to_string());
        one
    };
    let depths = |rtt_ns: f64| of([1, 2, 4].map(|depth| at(depth, rtt_ns)).to_vec());
    let (a, mut b) = (depths(200.0), depths(220.0));
    b.cases.push(ping_pongs("unix", 64, 220.0, 8));
    let found = compared(&a, &b).unwrap();
    let named: Vec<&str> = found.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(
        named,
        [1, 2, 4].map(|depth| format!("unix am_lat 64 B depth {depth}"))
    );
    assert_eq!(found.only_b, ["unix am_lat 64 B"]);
    // One point alone needs no more than its name.
    b.cases
        .retain(|case| case.case.options.get("depth").is_some_and(|depth| depth == "2"));
    let found = compared(&a, &b).unwrap();
    assert_eq!(found.rows[0].label, "unix am_lat 64 B");
    assert_eq!(
        found.only_a,
        ["unix am_lat 64 B depth 1", "unix am_lat 64 B depth 4"]
    );
}
