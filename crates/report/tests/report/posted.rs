//! Figures of posted sends and receives, sound and classic, against numbers worked out by hand.

use crate::fixture::*;
use std::collections::BTreeMap;
use wirespeed_report::render::{self, Style};
use wirespeed_report::{case_result, repetition, repetition_metrics};
use wirespeed_schema::case::{Case, RankSpec, Role};
use wirespeed_schema::outcome::{Outcome, SampleKind, Samples};
use wirespeed_schema::posted::{Buffers, CacheState, Defined, MsgRate, Pattern};
use wirespeed_schema::run::Metric;
use wirespeed_schema::{HistogramData, Test};

fn value(metrics: &BTreeMap<String, Metric>, tag: &str) -> f64 {
    metrics.get(tag).unwrap_or_else(|| panic!("no {tag}")).value.get()
}

/// Within what a histogram rounds.
fn is_about(metrics: &BTreeMap<String, Metric>, tag: &str, expected: f64) {
    let found = value(metrics, tag);
    assert!(
        (found / expected - 1.0).abs() < 0.005,
        "{tag}: {found} for {expected}"
    );
}

fn of(kind: SampleKind, times_ns: &[f64]) -> Vec<Samples> {
    vec![Samples {
        kind,
        batch_ops: 1,
        histogram: HistogramData::from_samples_ns(times_ns),
        raw_ns: Vec::new(),
    }]
}

fn msgrate_case(pattern: Pattern, ranks: usize) -> Case {
    let rank = RankSpec::new(Role::Neighbour);
    case(
        "shm",
        Test::Msgrate(MsgRate::new(8, pattern, 1, 100).with_caches(CacheState::Flushed, 8 << 20)),
        10,
    )
    .with_ranks(vec![rank; ranks])
    .with_warmup(0, 100_000_000)
}

/// Ten iterations: nine take `usual_ns`, one ten times as long.
fn rank(number: u32, usual_ns: f64, sent: u64, received: u64) -> Outcome {
    let mut times = vec![usual_ns; 9];
    times.push(usual_ns * 10.0);
    Outcome {
        samples: of(SampleKind::Iteration, &times),
        sent: count(sent, 8),
        received: count(received, 8),
        warmup_operations: 0,
        first_operation_ns: Some(finite(usual_ns * 21.0)),
        ..outcome(number, Role::Neighbour, (usual_ns * 19.0) as u64)
    }
}

#[test]
fn a_disturbed_iteration_moves_the_classic_rate_and_not_ours() {
    let mut outcomes = [rank(0, 1000.0, 1000, 1000), rank(1, 2000.0, 1000, 1000)];
    outcomes[0]
        .samples
        .extend(of(SampleKind::SlowestIteration, &[2000.0; 9]));
    let (metrics, _) = repetition_metrics(&msgrate_case(Pattern::PrePost, 2), &outcomes);
    // 200 messages in the 2 µs of the slower rank.
    is_about(&metrics, "rate_msg_per_s", 100e6);
    is_about(&metrics, "bandwidth_bytes_per_s", 0.8e9);
    is_about(&metrics, "rank_rate_msg_per_s", 50e6);
    is_about(&metrics, "node_rate_msg_per_s", 100e6);
    is_about(&metrics, "slowest_iteration_p50_ns", 2000.0);
    is_about(&metrics, "slowest_rank_rate_msg_per_s", 50e6);
    is_about(&metrics, "fastest_rank_rate_msg_per_s", 100e6);
    let rate = &metrics["rate_msg_per_s"];
    assert!(rate.lower.unwrap() <= rate.value && rate.value <= rate.upper.unwrap());
    // 11 iterations with the first, 200 messages each, over the mean of 40 and 80 µs.
    is_about(&metrics, "classic_rate_msg_per_s", 2200.0 / 60e-6);
    is_about(&metrics, "iteration_max_ns", 20_000.0);
    assert_eq!(value(&metrics, "delivered_msgs"), 2000.0);
}

#[test]
fn ranks_that_are_not_there_leave_no_sum() {
    let outcomes = [rank(0, 1000.0, 1000, 1000), rank(1, 2000.0, 1000, 1000)];
    let case = msgrate_case(Pattern::PrePost, 2);
    let (whole, _) = repetition_metrics(&case, &outcomes);
    for own in &outcomes {
        let (alone, _) = repetition_metrics(&case, std::slice::from_ref(own));
        let sums = ["rate", "bandwidth", "delivered_msgs", "cpu_ns_per_message"];
        let is_sum = |tag: &&String| sums.iter().any(|sum| tag.contains(sum));
        assert_eq!(alone.keys().find(is_sum), None);
        assert!(alone.contains_key("iteration_max_ns") && whole.contains_key("rate_msg_per_s"));
    }
}

#[test]
fn the_single_direction_counts_what_came_and_leaves_idle_ranks_out() {
    let left_out = outcome(2, Role::Neighbour, 0);
    let outcomes = [rank(0, 500.0, 1000, 0), rank(1, 1000.0, 0, 1000), left_out];
    let (metrics, _) = repetition_metrics(&msgrate_case(Pattern::Single, 3), &outcomes);
    is_about(&metrics, "rate_msg_per_s", 100e6);
    // 1100 messages over the mean of 20 and 40 µs: the third rank is no divisor.
    is_about(&metrics, "classic_rate_msg_per_s", 1100.0 / 30e-6);
}

#[test]
fn after_a_warm_up_the_first_iteration_is_not_counted() {
    let mut outcomes = [rank(0, 1000.0, 1000, 1000), rank(1, 1000.0, 1000, 1000)];
    outcomes.iter_mut().for_each(|o| o.warmup_operations = 5);
    let (metrics, _) = repetition_metrics(&msgrate_case(Pattern::AllStart, 2), &outcomes);
    is_about(&metrics, "classic_rate_msg_per_s", 2000.0 / 19e-6);
}

/// Makes a test of its parameters.
type Definition = fn(Defined) -> Test;

fn defined(test: Definition, window_msgs: u64, kind: SampleKind) -> BTreeMap<String, Metric> {
    let test = test(Defined::new(8, window_msgs, Buffers::Single));
    let both = test.is_round_trip() || matches!(test, Test::OsuBibw(_) | Test::ImbBiband(_));
    let messages = window_msgs * 10;
    let end = |number, role, elapsed_ns, sends: bool, receives: bool| Outcome {
        samples: of(kind, &[1000.0; 10]),
        sent: count(if sends { messages } else { 0 }, 8),
        received: count(if receives { messages } else { 0 }, 8),
        ..outcome(number, role, elapsed_ns)
    };
    let source = end(0, Role::Source, 20_000, true, both);
    let sink = end(1, Role::Sink, 40_000, both, true);
    repetition_metrics(&case("mpi", test, 10), &[source, sink]).0
}

#[test]
fn every_definition_has_its_own_divisor() {
    let latency = |test| defined(test, 1, SampleKind::RoundTrip);
    // Half of 20 µs / 10, and of the longer 40 µs / 10.
    assert_eq!(value(&latency(Test::OsuLatency), "classic_latency_ns"), 1000.0);
    assert_eq!(value(&latency(Test::OsuMultiLat), "classic_latency_ns"), 1000.0);
    assert_eq!(value(&latency(Test::ImbPingpong), "classic_latency_ns"), 2000.0);
    is_about(&latency(Test::OsuLatency), "one_way_p50_ns", 500.0);
    let rates: [(Definition, f64); 5] = [
        (Test::OsuBw, 640.0 / 20e-6),
        (Test::OsuMbwMr, 640.0 / 20e-6),
        (Test::OsuBibw, 1280.0 / 20e-6),
        (Test::ImbUniband, 640.0 / 40e-6),
        (Test::ImbBiband, 1280.0 / 40e-6),
    ];
    for (test, expected) in rates {
        let metrics = defined(test, 64, SampleKind::Iteration);
        is_about(&metrics, "classic_rate_msg_per_s", expected);
    }
    let metrics = defined(Test::OsuBibw, 64, SampleKind::Iteration);
    is_about(&metrics, "rate_msg_per_s", 128e6);
    is_about(&metrics, "classic_bandwidth_bytes_per_s", 1280.0 * 8.0 / 20e-6);
}

#[test]
fn the_classic_forms_are_the_originals() {
    let result = |pattern| {
        let case = msgrate_case(pattern, 2);
        let back = if pattern == Pattern::Single { 0 } else { 1000 };
        let outcomes = vec![rank(0, 1000.0, 1000, back), rank(1, 1000.0, back, 1000)];
        case_result(
            case.clone(),
            vec![repetition(&case, 0, outcomes, 1, 0)],
            &Default::default(),
        )
    };
    let run = run(Pattern::ALL.map(result).to_vec());
    let style = Style {
        width: 110,
        color: false,
        unicode: true,
    };
    let text = render::msgrate_classic(&run, &style);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..7],
        [
            "job size:   2",
            "npeers:     1",
            "niters:     11",
            "nmsgs:      100",
            "nbytes:     8",
            "cache size: 8388608",
            "ppn:        1"
        ]
    );
    assert!(
        lines[7].starts_with("single direction: ") && lines[8].starts_with("pair-based: "),
        "{text}"
    );
    assert!(
        lines[9].starts_with("  pre-post: ") && lines[10].starts_with(" all-start: "),
        "{text}"
    );
    assert_eq!(lines.len(), 11);
    let line = render::msgrate_line(&run, &style);
    let words: Vec<&str> = line.trim_end().split(' ').collect();
    assert_eq!(words[..7], ["2", "1", "11", "100", "8", "8388608", "1"]);
    assert!(line.ends_with(" \n") && words.len() == 11, "{line:?}");
    assert!(
        words[7..]
            .iter()
            .all(|rate| rate.rsplit_once('.').is_some_and(|(_, d)| d.len() == 2))
    );
    let mut fewer = run.clone();
    fewer.cases.pop();
    let line = render::msgrate_line(&fewer, &style);
    assert!(
        line.ends_with(" 0.00 partial\n"),
        "no rate was measured as 0: {line}"
    );
    let table = screen(&run, &style);
    assert!(table.contains("pre-post") && table.contains("classic"), "{table}");
}
