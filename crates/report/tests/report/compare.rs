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
        matches!(&error, CompareError::NothingInCommon { across: None, .. }),
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
    let none = of(vec![ping_pongs("shm", 8, 200.0, 8)]);
    assert!(compare_arms(&none, ("a", "b"), &Question::default(), 0.02).is_err());
}
