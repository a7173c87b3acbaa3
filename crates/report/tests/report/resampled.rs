//! Intervals by resampling in the published document, the table and the page.

use crate::fixture::*;
use wirespeed_report::Input;
use wirespeed_report::render::Style;
use wirespeed_schema::Test;
use wirespeed_schema::outcome::{Interval, Outcome};
use wirespeed_schema::run::{CaseResult, Resampling};

/// `runs` runs of a ping-pong whose medians differ by a thousandth each, with all samples kept where `raw`.
fn round_trips(runs: u32, raw: bool) -> CaseResult {
    result(case("shm", am_lat(8), 600), runs, |index| {
        let rtt_ns = 1000.0 * (1.0 + 0.001 * f64::from(index));
        let mut outcomes = ping_pong(8, 600, rtt_ns);
        if raw {
            let values = ladder(600, rtt_ns, rtt_ns / 1000.0);
            outcomes[0].samples[0].raw_ns = values.into_iter().map(finite).collect();
        }
        outcomes
    })
}

/// One run of a stream with 60 slices, whose rates go up and down by a tenth.
fn sliced() -> CaseResult {
    result(case("tcp", Test::AmBw(stream(64, 16)), 60_000), 1, |_| {
        let mut outcomes = one_way_stream(64, 60_000, 60_000_000, 5000.0);
        outcomes[1].intervals = slices(&outcomes[1]);
        outcomes
    })
}

fn slices(sink: &Outcome) -> Vec<Interval> {
    let slice = |number: u64| Interval {
        start_ns: number * 1_000_000,
        duration_ns: 1_000_000,
        sent: count(0, 64),
        received: count(900 + 100 * (number % 3), 64),
        p50_ns: None,
        p99_ns: None,
        max_ns: None,
    };
    assert!(sink.received.messages > 0);
    (0..60).map(slice).collect()
}

#[test]
fn methods_follow_from_what_there_is() {
    let method = |case: &CaseResult, tag: &str| case.resampled.get(tag).map(|one| one.method);
    let runs = round_trips(8, false);
    assert_eq!(method(&runs, "rtt_p50_ns"), Some(Resampling::Runs));
    assert_eq!(method(&runs, "rtt_p50_trimmed_mean_ns"), Some(Resampling::Runs));
    let nested = round_trips(8, true);
    assert_eq!(
        method(&nested, "rtt_p50_ns"),
        Some(Resampling::RunsThenBlocksOfSamples)
    );
    assert_eq!(
        method(&round_trips(1, true), "rtt_p50_ns"),
        Some(Resampling::BlocksOfSamples)
    );
    assert_eq!(
        method(&sliced(), "rate_msg_per_s"),
        Some(Resampling::BlocksOfSlices)
    );
    // Too few runs to draw from, and nothing within a single one.
    assert!(round_trips(5, true).resampled.is_empty() && round_trips(1, false).resampled.is_empty());
}

#[test]
fn intervals_hold_their_figures_and_the_spread_between_runs() {
    for case in [
        round_trips(8, false),
        round_trips(8, true),
        round_trips(1, true),
        sliced(),
    ] {
        for (tag, one) in &case.resampled {
            let value = case.metrics[tag].value.get();
            assert!(
                one.lower.get() <= value && value <= one.upper.get(),
                "{tag}: {one:?} for {value}"
            );
            assert_eq!((one.level.get(), one.draws_count), (0.95, 2000));
        }
    }
    // Medians of 1049 to 1056 ns in steps of one.
    let runs = &round_trips(8, false).resampled["rtt_p50_ns"];
    let width = runs.upper.get() - runs.lower.get();
    assert!((2.0..=7.5).contains(&width), "{runs:?}");
    let rate = &sliced().resampled["rate_msg_per_s"];
    let width = (rate.upper.get() - rate.lower.get()) / 1e6;
    assert!(width > 0.001 && width < 0.1, "{rate:?}");
    assert_eq!(
        round_trips(8, true),
        round_trips(8, true),
        "the same seed, the same draws"
    );
}

#[test]
fn table_and_page_name_the_method() {
    let run = run(vec![round_trips(8, true)]);
    let text = whole(&[Input { name: "x", run: &run }], &Style::PLAIN);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("Intervals by resampling") && text.contains("runs, blocks of samples"),
        "{text}"
    );
    assert!(
        text.contains("600 raw samples are worth") || text.contains("raw samples are worth"),
        "{text}"
    );
    let html = page(&[Input { name: "x", run: &run }], "test");
    assert!(html.contains("runs, blocks of samples") && html.contains("rtt_p50_trimmed_mean_ns"));
}

#[test]
fn runs_that_drift_are_told() {
    let told = |order: [u32; 8]| {
        let runs = result(case("shm", am_lat(8), 600), 8, |index| {
            ping_pong(8, 600, 1000.0 + 10.0 * f64::from(order[index as usize]))
        });
        runs.remarks.iter().any(|remark| remark.code == "runs_drift")
    };
    assert!(told([0, 1, 2, 3, 4, 5, 6, 7]) && told([7, 6, 5, 4, 2, 3, 1, 0]));
    assert!(!told([3, 0, 6, 1, 7, 2, 5, 4]) && !told([0; 8]));
}
