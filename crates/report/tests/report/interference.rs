//! What background load does: a load with an effect is found, none is not, and every odd result is said.

use crate::fixture::*;
use wirespeed_report::compare::{Row, Verdict};
use wirespeed_report::interference::{
    Arms, Interference, InterferenceRow, Loaded, Under, under_load, undisturbed,
};
use wirespeed_report::render::Style;
use wirespeed_report::stats::Random;
use wirespeed_schema::Test;
use wirespeed_schema::run::{CaseResult, CaseStatus};

const RUNS: u32 = 12;

fn loaded(load: &str) -> Loaded {
    Loaded {
        load: load.to_owned(),
        place: "same".to_owned(),
    }
}

/// Runs of a ping-pong, each with its own noise of a percent; `times` as slow as without load.
fn arm(times: f64, seed: u64, done: u64) -> CaseResult {
    result(case("shm", am_lat(8), 4000), RUNS, |index| {
        let mut random = Random::new(seed * 1000 + u64::from(index));
        let mut ends = ping_pong(8, 4000, 1000.0 * times * (0.01 * random.normal()).exp());
        if done > 0 {
            ends[0].load_done = [
                ("cpu_loops".to_owned(), done),
                ("load_ns".to_owned(), 2_000_000_000),
            ]
            .into();
        }
        ends
    })
}

fn judged(on: Vec<(Loaded, CaseResult)>) -> Interference {
    Interference::judged(
        &[Arms {
            off: arm(1.0, 1, 0),
            on: on.into_iter().map(Under::from).collect(),
        }],
        7,
        RUNS,
    )
}

#[test]
fn a_load_that_slows_is_found_and_the_control_is_not() {
    let found = judged(vec![
        (loaded("cpu"), arm(1.5, 2, 8_000_000)),
        (loaded("none"), arm(1.0, 3, 0)),
    ]);
    assert_eq!((found.seed, found.rounds, found.missing.len()), (7, RUNS, 0));
    let row = |load: &str, tag: &str| {
        let rows = found.rows.iter();
        let mut of_load = rows.filter(|row| row.loaded.load == load && row.row.tag == tag);
        of_load
            .next()
            .unwrap_or_else(|| panic!("{load} {tag}: {found:?}"))
            .row
            .clone()
    };
    for tag in ["rtt_p50_ns", "rtt_p90_ns", "rtt_p99_ns", "rtt_p999_ns"] {
        let slowed = row("cpu", tag);
        assert_eq!(slowed.verdict, Verdict::Slower, "{slowed:?}");
        assert!((slowed.ratio.get() - 1.5).abs() < 0.03, "{slowed:?}");
        let (lower, upper) = (slowed.lower.unwrap().get(), slowed.upper.unwrap().get());
        assert!(lower < slowed.ratio.get() && slowed.ratio.get() < upper && lower > 1.4);
        let control = row("none", tag);
        assert_ne!(control.verdict, Verdict::Slower, "{control:?}");
        assert!(
            control.lower.unwrap().get() <= 1.0 && control.upper.unwrap().get() >= 1.0,
            "{control:?}"
        );
    }
    assert_eq!(found.work.len(), 1);
    assert_eq!(found.work[0].per_s["cpu_loops"], finite(4_000_000.0));
}

/// Runs over other pairs have other medians, and those of the whole results are over all of their own.
#[test]
fn what_the_runs_that_are_alike_lack_is_not_taken_from_the_results() {
    let (off, on) = (arm(1.0, 1, 0), arm(1.5, 2, 0));
    let tag = "rtt_p50_ns";
    assert!(on.metrics.contains_key(tag));
    let judged = |lacks: bool| {
        let mut alike = [&off, &on].map(|result| result.repetitions[..1].to_vec());
        for repetition in alike.iter_mut().flatten().filter(|_| lacks) {
            repetition.metrics.remove(tag);
        }
        let on = vec![Under {
            loaded: loaded("cpu"),
            result: on.clone(),
            alike: Some(alike),
        }];
        let off = off.clone();
        let found = Interference::judged(&[Arms { off, on }], 7, RUNS);
        found.rows.iter().any(|row| row.row.tag == tag)
    };
    assert_eq!([false, true].map(judged), [true, false]);
}

#[test]
fn a_rate_suffers_by_shrinking() {
    let stream_of = |elapsed_ns: u64| {
        result(case("tcp", Test::AmBw(stream(64, 64)), 100_000), RUNS, |index| {
            one_way_stream(64, 100_000, elapsed_ns + u64::from(index) * 10_000, 20_000.0)
        })
    };
    let arms = Arms {
        off: stream_of(50_000_000),
        on: vec![(loaded("memory"), stream_of(80_000_000)).into()],
    };
    let found = Interference::judged(&[arms], 1, RUNS);
    let rate = found
        .rows
        .iter()
        .find(|row| row.row.tag == "rate_msg_per_s")
        .unwrap();
    assert_eq!(rate.row.verdict, Verdict::Slower);
    assert!((rate.row.ratio.get() - 0.625).abs() < 0.01, "{rate:?}");
}

/// Cases that differ in what their label leaves out have names and answers of their own.
#[test]
fn cases_of_one_label_are_told_apart() {
    let of_window = |window: u64| {
        let arm = |elapsed_ns: u64| {
            result(
                case("unix", Test::AmBw(stream(64, window)), 100_000),
                RUNS,
                |index| one_way_stream(64, 100_000, elapsed_ns + u64::from(index) * 10_000, 20_000.0),
            )
        };
        Arms {
            off: arm(50_000_000),
            on: vec![(loaded("cpu"), arm(50_000_000 * (1 + window % 2))).into()],
        }
    };
    let found = Interference::judged(&[of_window(1), of_window(64)], 1, RUNS);
    let names: Vec<&str> = found.rows.iter().map(|row| row.row.label.as_str()).collect();
    for name in ["unix am_bw 64 B window 1", "unix am_bw 64 B window 64"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let mut document = run(Vec::new());
    document.sections.put(&found);
    let text = screen(&document, &Style::PLAIN);
    assert!(text.contains("window 1 ") && text.contains("window 64"), "{text}");
}

#[test]
fn it_reads_back_and_is_shown_in_words() {
    let on = vec![(loaded("cpu"), arm(1.5, 2, 8_000_000))];
    let found = judged(on.clone());
    let mut document = run(vec![arm(1.0, 1, 0), on[0].1.clone()]);
    document.sections.put(&found);
    assert_eq!(document.sections.get::<Interference>(), Some(found));
    let text = screen(&document, &Style::PLAIN);
    assert!(text.contains("cpu@same") && text.contains("slower"), "{text}");
    assert!(text.contains("4 M CPU loops/s"), "{text}");
    assert!(text.contains("times that without load"), "{text}");
    let narrow = Style {
        width: 40,
        ..Style::PLAIN
    };
    assert!(screen(&document, &narrow).contains("RTT p50"));
    let told = "@same: the ranks' own CPUs";
    assert_eq!(screen(&document, &narrow).matches(told).count(), 1);
    document.sections = serde_json::from_str(r#"{"interference": "nonsense"}"#).unwrap();
    assert!(!screen(&document, &Style::PLAIN).contains("slower"));
}

#[test]
fn a_case_without_load_stands_once_though_the_control_is_one_too() {
    let mut control = arm(1.0, 3, 0);
    control.under = Some("none".to_owned());
    let mut document = run(vec![arm(1.0, 1, 0), control.clone()]);
    document
        .sections
        .put(&judged(vec![(loaded("none"), control.clone())]));
    assert_eq!(undisturbed(&document).len(), 1);
    let text = screen(&document, &Style::PLAIN);
    assert!(!text.contains("of 2 cases: best"), "{text}");
    document.cases.insert(1, arm(1.0, 2, 0));
    assert_eq!(undisturbed(&document).len(), 2, "asked for twice");
    document.cases[2].under = None;
    assert_eq!(undisturbed(&document).len(), 1, "before `under` was told");
    document.cases[2].case.test = am_lat(64);
    assert_eq!(undisturbed(&document).len(), 2);
}

#[test]
fn rounds_that_are_asked_for_are_those_of_the_figures_that_lack_them() {
    let advised = |rows: &[(u32, Option<u64>, bool)]| {
        let row = |(runs, more, has_interval): &(u32, Option<u64>, bool)| InterferenceRow {
            loaded: loaded("cpu"),
            row: Row {
                label: "shm am_lat 8 B".to_owned(),
                verdict: Verdict::Inconclusive,
                b_runs: *runs,
                more_runs: *more,
                lower: has_interval.then(|| finite(0.9)),
                ..Row::default()
            },
        };
        let found = Interference {
            rows: rows.iter().map(row).collect(),
            rounds_option: "--repeats".to_owned(),
            ..Interference::default()
        };
        let mut document = run(Vec::new());
        document.sections.put(&found);
        let text = screen(
            &document,
            &Style {
                width: 200,
                ..Style::PLAIN
            },
        );
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = advised(&[(6, Some(2868), true), (5, Some(1), false)]);
    assert!(
        text.contains("1 of them has no interval after 5 rounds, at least 6 are needed: --repeats 6"),
        "{text}"
    );
    for (rounds, said) in [(5, "5 rounds give no interval"), (1, "1 round gives no interval")] {
        let text = advised(&[(rounds, Some(5), false), (rounds, Some(5), false)]);
        assert!(text.contains(&format!("on 2 of 2 figures: {said}")), "{text}");
    }
    let text = advised(&[(6, Some(2868), true)]);
    assert!(
        !text.contains("--repeats 2874") && text.contains("about 2,900 rounds"),
        "{text}"
    );
    assert!(advised(&[(6, Some(30), true)]).contains("--repeats 36"));
}

#[test]
fn a_control_without_a_difference_asks_for_no_rounds() {
    let found = Interference {
        rows: vec![InterferenceRow {
            loaded: loaded("none"),
            row: Row {
                label: "shm am_lat 8 B".to_owned(),
                verdict: Verdict::Inconclusive,
                b_runs: 6,
                more_runs: Some(30),
                lower: Some(finite(0.9)),
                ..Row::default()
            },
        }],
        rounds_option: "--repeats".to_owned(),
        ..Interference::default()
    };
    let mut document = run(Vec::new());
    document.sections.put(&found);
    let text = screen(&document, &Style::PLAIN);
    assert!(
        text.starts_with("shm am_lat 8 B under none: no difference can be told"),
        "{text}"
    );
    assert!(!text.contains("--repeats") && !text.contains("@same"), "{text}");
}

#[test]
fn a_side_that_cannot_be_trusted_or_has_nothing_is_named() {
    let mut wrong = arm(1.2, 4, 0);
    wrong.status = CaseStatus::WrongData;
    let mut empty = arm(1.2, 5, 0);
    empty.repetitions.clear();
    empty.metrics.clear();
    let found = judged(vec![(loaded("cpu"), wrong), (loaded("memory"), empty)]);
    assert!(found.rows.is_empty());
    assert_eq!(found.missing.len(), 2, "{found:?}");
    assert!(found.missing[0].contains("under cpu") && found.missing[1].contains("under memory"));
}

#[test]
fn a_round_that_lacks_a_figure_is_left_out_alone() {
    let mut on = arm(1.5, 6, 0);
    on.repetitions[3].metrics.remove("rtt_p50_ns");
    let found = judged(vec![(loaded("cache"), on)]);
    let row = found.rows.iter().find(|row| row.row.tag == "rtt_p50_ns").unwrap();
    assert_eq!(row.row.verdict, Verdict::Slower);
    assert_eq!(row.row.b_runs, RUNS - 1);
}

#[test]
fn remarks_under_load_are_what_the_load_was_for() {
    let mut noisy = result(case("shm", am_lat(8), 4000), 1, |_| {
        let mut ends = ping_pong(8, 4000, 1000.0);
        ends[0].disturbance.involuntary_switches = 1_000_000;
        ends
    });
    assert!(!noisy.remarks.is_empty());
    noisy = under_load(noisy);
    assert!(noisy.remarks.is_empty(), "{:?}", noisy.remarks);
}

#[test]
fn a_figure_that_most_rounds_lack_is_left_out_and_named() {
    let mut on = arm(1.5, 6, 0);
    for repetition in on.repetitions.iter_mut().skip(2) {
        repetition.metrics.remove("rtt_p90_ns");
    }
    let found = judged(vec![(loaded("cache"), on)]);
    assert!(found.rows.iter().all(|row| row.row.tag != "rtt_p90_ns"));
    assert!(found.rows.iter().any(|row| row.row.tag == "rtt_p50_ns"));
    let said = format!("p90 in 2 of {RUNS} rounds only");
    assert!(
        found.missing.iter().any(|line| line.contains(&said)),
        "{:?}",
        found.missing
    );
}
