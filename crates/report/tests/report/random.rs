//! Whatever ranks deliver, nothing panics, and only listed figures come out.

use crate::fixture::*;
use proptest::prelude::*;
use wirespeed_report::audit::untrue;
use wirespeed_report::render::{CsvRows, JsonForm, Style, case_line, csv, hdr, json};
use wirespeed_report::{Limits, case_result, read_run, repetition, run_status, tags};
use wirespeed_schema::case::{IdlePolicy, Role};
use wirespeed_schema::outcome::{Count, Faults, Outcome, SampleKind, Samples, StopReason};
use wirespeed_schema::posted::{Buffers, CacheState, Defined, MsgRate, Pattern};
use wirespeed_schema::test::{Atomic, Tagged, Test};
use wirespeed_schema::{Finite, HistogramData};

pub fn any_finite() -> impl Strategy<Value = Finite> {
    prop_oneof![any::<f64>(), -1.0..1e4f64, Just(0.0)]
        .prop_map(|value| Finite::maybe(value).unwrap_or_default())
}

fn any_test() -> impl Strategy<Value = Test> {
    let window = prop_oneof![Just(0), Just(1), 1..100u64, any::<u64>()];
    (0..12usize, prop_oneof![0..2000u64, any::<u64>()], window).prop_map(|(kind, size_bytes, window)| {
        let atomic = Atomic::new(size_bytes, window);
        let tagged = Tagged::new(size_bytes, window);
        match kind {
            0 => am_lat(size_bytes),
            1 => get(size_bytes),
            2 => Test::AmBw(stream(size_bytes, window)),
            3 => Test::AmBibw(stream(size_bytes, window)),
            4 => hub(window > 1),
            5 => Test::Fadd(atomic),
            6 => Test::AddMr(atomic),
            7 => Test::TagBw(tagged),
            8 => msgrate(size_bytes, window),
            9 => Test::OsuMbwMr(defined(size_bytes, window)),
            10 => Test::ImbPingpong(defined(size_bytes, window)),
            _ => Test::TagLat(tagged),
        }
    })
}

fn msgrate(size_bytes: u64, window_msgs: u64) -> Test {
    let pattern = Pattern::ALL[(size_bytes % 4) as usize];
    Test::Msgrate(
        MsgRate::new(size_bytes, pattern, window_msgs as u32, window_msgs)
            .with_caches(CacheState::Rotating, size_bytes),
    )
}

fn defined(size_bytes: u64, window_msgs: u64) -> Defined {
    Defined::new(size_bytes, window_msgs, Buffers::Multiple)
}

pub fn any_histogram() -> impl Strategy<Value = HistogramData> {
    let sound = prop::collection::vec(prop_oneof![0.0..1e12f64, 10.0..20.0f64], 0..400);
    let step = prop_oneof![Just(0.0), 0.0..20.0f64];
    let sound =
        (sound, step).prop_map(|(samples, step)| HistogramData::from_samples_ns(&samples).with_step_ns(step));
    let buckets = prop::collection::vec((any::<u32>(), any::<u64>()), 0..6);
    let times = (any_finite(), any_finite(), any_finite(), any_finite());
    let broken =
        (any::<u64>(), times, buckets).prop_map(|(count, (min_ns, max_ns, sum_ns, step_ns), buckets)| {
            HistogramData {
                count,
                min_ns,
                max_ns,
                sum_ns,
                buckets,
                step_ns,
            }
        });
    // Consistent, but with counts and values at the ends of their ranges.
    let huge = (0u32..14_000, 1..=u64::MAX, any_finite()).prop_map(|(index, count, value)| HistogramData {
        count,
        min_ns: Finite::ZERO,
        max_ns: Finite::maybe(value.get().abs()).unwrap_or_default(),
        sum_ns: Finite::maybe(value.get().abs()).unwrap_or_default(),
        buckets: vec![(index, count)],
        step_ns: Finite::ZERO,
    });
    prop_oneof![3 => sound, 1 => broken, 1 => huge]
}

fn any_count() -> impl Strategy<Value = Count> {
    let number = || prop_oneof![Just(0u64), 0..10_000u64, any::<u64>()];
    (number(), number()).prop_map(|(messages, bytes)| Count { messages, bytes })
}

fn any_samples() -> impl Strategy<Value = Samples> {
    let kinds = [
        SampleKind::RoundTrip,
        SampleKind::Completion,
        SampleKind::Acknowledged,
        SampleKind::SendInterval,
        SampleKind::ReceiveInterval,
        SampleKind::Iteration,
        SampleKind::SlowestIteration,
    ];
    let batch_ops = prop_oneof![Just(1), any::<u64>()];
    (prop::sample::select(kinds.to_vec()), batch_ops, any_histogram()).prop_map(
        |(kind, batch_ops, histogram)| Samples {
            kind,
            batch_ops,
            histogram,
            raw_ns: Vec::new(),
        },
    )
}

fn any_faults() -> impl Strategy<Value = Faults> {
    let numbers = prop_oneof![3 => Just([0; 4]), 1 => any::<[u64; 4]>()];
    numbers.prop_map(
        |[
            lost_messages,
            reordered_messages,
            duplicate_messages,
            corrupt_messages,
        ]| Faults {
            lost_messages,
            reordered_messages,
            duplicate_messages,
            corrupt_messages,
        },
    )
}

/// A rank that did something, in circumstances of its own.
fn any_outcome() -> impl Strategy<Value = Outcome> {
    let elapsed_ns = prop_oneof![Just(0u64), any::<u64>()];
    let samples = prop::collection::vec(any_samples(), 0..4);
    (
        any_rank(),
        any_count(),
        any_count(),
        elapsed_ns,
        any_faults(),
        samples,
    )
        .prop_map(
            |(circumstances, sent, received, elapsed_ns, faults, samples)| Outcome {
                sent,
                received,
                elapsed_ns,
                faults,
                samples,
                ..circumstances
            },
        )
}

fn any_rank() -> impl Strategy<Value = Outcome> {
    let roles = [
        Role::Source,
        Role::Sink,
        Role::Hub,
        Role::Worker,
        Role::Neighbour,
        Role::Idle,
    ];
    let stops = [
        StopReason::Completed,
        StopReason::Completed,
        StopReason::Interrupted,
        StopReason::PeerLost,
        StopReason::Failed,
    ];
    let rank = prop_oneof![0..4u32, any::<u32>()];
    let (role, stop) = (
        prop::sample::select(roles.to_vec()),
        prop::sample::select(stops.to_vec()),
    );
    let numbers = prop::collection::vec(any_finite(), 6);
    (rank, role, stop, numbers, any::<[u64; 6]>(), any::<bool>()).prop_map(
        |(rank, role, stop, numbers, disturbed, flag)| {
            let mut outcome = outcome(rank, role, 0);
            outcome.stop = stop;
            outcome.clock.cost_ns = numbers[0];
            outcome.clock.step_ns = numbers[1];
            outcome.clock.calibration_error_ppm = numbers[2];
            outcome.floor.as_mut().unwrap().loop_ns = numbers[3];
            outcome.first_operation_ns = flag.then_some(numbers[4]);
            outcome.noise.as_mut().unwrap().lost_ratio = numbers[0];
            outcome.host.load_average_1min = flag.then_some(numbers[5]);
            outcome.disturbance.user_ns = disturbed[0];
            outcome.disturbance.system_ns = disturbed[1];
            outcome.disturbance.involuntary_switches = disturbed[2];
            outcome.disturbance.steal_ns = flag.then_some(disturbed[3]);
            outcome.disturbance.run_queue_wait_ns = Some(disturbed[4]);
            outcome.disturbance.minor_faults = disturbed[5];
            outcome.idle = if flag { IdlePolicy::Yield } else { IdlePolicy::Spin };
            outcome
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn nothing_panics_and_only_listed_figures_are_published(
        test in any_test(),
        transport in prop::sample::select(vec!["tcp", "udp", "null"]),
        runs in prop::collection::vec(prop::collection::vec(any_outcome(), 0..5), 0..8),
        limit in prop::option::of(any::<f64>()),
        width in 0usize..150,
        unicode: bool,
    ) {
        let case = case(transport, test, 1000);
        let repetitions: Vec<_> = runs
            .into_iter()
            .enumerate()
            .map(|(index, outcomes)| repetition(&case, index as u32, outcomes, 1, index as u32))
            .collect();
        let result = case_result(case, repetitions, &Limits { medium_bytes_per_s: limit });
        let all = result.metrics.iter().chain(result.repetitions.iter().flat_map(|repetition| &repetition.metrics));
        for (tag, metric) in all {
            prop_assert!(tags::find(tag).is_some(), "{tag} is not listed");
            if let (Some(lower), Some(upper)) = (metric.lower, metric.upper) {
                prop_assert!(lower <= metric.value && metric.value <= upper, "{tag}: {metric:?}");
            }
        }
        prop_assert!(result.remarks.windows(2).all(|pair| pair[0].severity >= pair[1].severity));
        let style = Style { width, color: unicode, unicode };
        let _ = case_line(&result, &style);
        let status = run_status(std::slice::from_ref(&result), false);
        let mut run = run(vec![result]);
        run.status = status;
        for text in [screen(&run, &style), screen(&run, &style), case_line(&run.cases[0], &style)] {
            let shares = untrue(&text).into_iter().filter(|found| found.contains(" % in: ") && !found.starts_with('-')).collect::<Vec<_>>();
            prop_assert!(shares.is_empty(), "{:?}", shares);
        }
        let _ = hdr::log(&run);
        prop_assert!(csv(&run, CsvRows::Cases).is_ok() && csv(&run, CsvRows::Repetitions).is_ok());
        let text = json(&run, JsonForm::Pretty).unwrap();
        // Broken histograms are refused on reading; everything else comes back as it was.
        if let Ok(back) = read_run(text.as_bytes()) {
            prop_assert_eq!(back, run);
        }
    }

    #[test]
    fn reading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_run(&bytes);
    }
}
