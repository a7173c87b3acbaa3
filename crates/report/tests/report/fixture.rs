//! Hand-made cases, outcomes and runs: fixed numbers, so that golden files can hold them.

use wirespeed_report::render::{Extent, Style, text};
use wirespeed_report::view::View;
use wirespeed_report::{Input, Limits, case_result, repetition, skipped_case};
use wirespeed_schema::case::{Case, GroupKind, IdlePolicy, RankSpec, Role, Stop};
use wirespeed_schema::host::{ClockInfo, Disturbance, Floor, HostFingerprint, Noise};
use wirespeed_schema::outcome::{Count, Faults, Interval, Outcome, SampleKind, Samples, StopReason};
use wirespeed_schema::run::{CaseResult, Repetition, Run, Status, Tool};
use wirespeed_schema::test::{Hub, Layout, PingPong, Rma, Stream, Test};
use wirespeed_schema::version::DOCUMENT_VERSION;
use wirespeed_schema::{Finite, HistogramData};

pub fn finite(value: f64) -> Finite {
    Finite::new(value).unwrap()
}

pub fn am_lat(size_bytes: u64) -> Test {
    Test::AmLat(PingPong::new(size_bytes, Layout::Short))
}

pub fn stream(size_bytes: u64, window_msgs: u64) -> Stream {
    Stream::new(size_bytes, Layout::Bcopy, window_msgs)
}

pub fn get(size_bytes: u64) -> Test {
    Test::Get(Rma::new(size_bytes, Layout::Zcopy, 1))
}

pub fn hub(fan_out: bool) -> Test {
    Test::HubLat(Hub::new(8, Layout::Short).with_fan_out(fan_out))
}

/// Two ranks, pinned, that stop after `count` operations.
pub fn case(transport: &str, test: Test, count: u64) -> Case {
    let rank = |role, peer, cpu| RankSpec::new(role).with_peer(peer).with_cpu(cpu);
    Case::new(test, transport)
        .with_group(GroupKind::Processes)
        .with_ranks(vec![rank(Role::Source, 1, 0), rank(Role::Sink, 0, 1)])
        .with_stop(Stop::Iterations { count })
        .with_warmup(100, 100_000_000)
}

pub fn count(messages: u64, size_bytes: u64) -> Count {
    Count {
        messages,
        bytes: messages * size_bytes,
    }
}

/// An undisturbed rank that has done nothing yet.
pub fn outcome(rank: u32, role: Role, elapsed_ns: u64) -> Outcome {
    Outcome {
        rank,
        role,
        stop: StopReason::Completed,
        elapsed_ns,
        sent: Count::default(),
        received: Count::default(),
        received_before_msgs: 0,
        began_ns: None,
        faults: Faults::default(),
        warmup_operations: 100,
        first_operation_ns: None,
        connect_ns: None,
        samples: Vec::new(),
        intervals: Vec::new(),
        peers: Vec::new(),
        clock: ClockInfo {
            source: "tsc".into(),
            cost_ns: finite(11.0),
            step_ns: finite(0.5),
            step_found: "tick".to_owned(),
            on_step_ratio: finite(1.0),
            ticks_per_ns: finite(2.0),
            calibration_error_ppm: finite(3.0),
        },
        floor: Some(Floor {
            loop_ns: finite(24.0),
            record_ns: finite(2.0),
        }),
        cpu: Some(rank),
        idle: IdlePolicy::Spin,
        disturbance: Disturbance {
            user_ns: elapsed_ns,
            ..Disturbance::default()
        },
        noise: Some(Noise {
            cpu: rank,
            count: 1000,
            quantum_ns: finite(1000.0),
            step_ns: None,
            lost_ratio: finite(0.003),
            detour_max_ns: finite(4000.0),
        }),
        noise_after: None,
        load_done: Default::default(),
        lacking: Default::default(),
        transfer: None,
        transport_facts: Default::default(),
        host: HostFingerprint::default(),
        error: None,
    }
}

pub fn samples(kind: SampleKind, values_ns: &[f64]) -> Samples {
    Samples {
        kind,
        batch_ops: 1,
        histogram: HistogramData::from_samples_ns(values_ns),
        raw_ns: Vec::new(),
    }
}

/// `n` samples from `low_ns` upwards in steps of `step_ns`, with a tail of one in a hundred eight times as long.
pub fn ladder(n: u32, low_ns: f64, step_ns: f64) -> Vec<f64> {
    (0..n)
        .map(|i| {
            if i % 100 == 99 {
                low_ns * 8.0
            } else {
                low_ns + step_ns * f64::from(i % 100)
            }
        })
        .collect()
}

/// Both ends of a clean ping-pong of `n` round trips of about `rtt_ns`.
pub fn ping_pong(size_bytes: u64, n: u32, rtt_ns: f64) -> Vec<Outcome> {
    let values = ladder(n, rtt_ns, rtt_ns / 1000.0);
    let elapsed_ns = (values.iter().sum::<f64>() * 1.001) as u64;
    let mut source = outcome(0, Role::Source, elapsed_ns);
    let mut sink = outcome(1, Role::Sink, elapsed_ns);
    for end in [&mut source, &mut sink] {
        end.sent = count(u64::from(n), size_bytes);
        end.received = end.sent;
    }
    source.first_operation_ns = Some(finite(rtt_ns * 5.0));
    source.samples.push(samples(SampleKind::RoundTrip, &values));
    vec![source, sink]
}

/// Both ends of a clean one-way stream of `n` messages in `elapsed_ns`, acknowledged after `ack_ns`.
pub fn one_way_stream(size_bytes: u64, n: u64, elapsed_ns: u64, ack_ns: f64) -> Vec<Outcome> {
    let mut source = outcome(0, Role::Source, elapsed_ns);
    let mut sink = outcome(1, Role::Sink, elapsed_ns - elapsed_ns / 100);
    source.sent = count(n, size_bytes);
    sink.received = source.sent;
    source.samples.push(samples(
        SampleKind::Acknowledged,
        &ladder(2000, ack_ns, ack_ns / 1000.0),
    ));
    let interval_ns = elapsed_ns as f64 / n as f64;
    source.samples.push(samples(
        SampleKind::SendInterval,
        &ladder(2000, interval_ns, interval_ns / 1000.0),
    ));
    source.intervals = (0..10)
        .map(|slice| Interval {
            start_ns: slice * elapsed_ns / 10,
            duration_ns: elapsed_ns / 10,
            sent: count(n / 10 + slice, size_bytes),
            received: Count::default(),
            p50_ns: None,
            p99_ns: None,
            max_ns: None,
        })
        .collect();
    vec![source, sink]
}

/// A stream of 64-byte messages at 100,000 a second for a second, of which `sent` left, with a window of 64.
pub fn paced(sent: u64, ack_ns: f64, response_ns: f64) -> CaseResult {
    let test = Test::AmBw(stream(64, 64).with_pace(100_000));
    result(case("tcp", test, sent), 1, |_| {
        let mut ends = one_way_stream(64, sent, 1_000_000_000, ack_ns);
        ends[0].samples = vec![
            samples(SampleKind::Acknowledged, &[ack_ns; 2000]),
            samples(SampleKind::Response, &[response_ns; 2000]),
        ];
        ends
    })
}

/// A case of `runs` repetitions made by `outcomes(index)`.
pub fn result(case: Case, runs: u32, outcomes: impl Fn(u32) -> Vec<Outcome>) -> CaseResult {
    let repetitions: Vec<Repetition> = (0..runs)
        .map(|index| repetition(&case, index, outcomes(index), 2_000_000, 0))
        .collect();
    case_result(case, repetitions, &Limits::default())
}

pub fn run(cases: Vec<CaseResult>) -> Run {
    Run {
        document_version: DOCUMENT_VERSION.into(),
        tool: Tool {
            name: "wirespeed".into(),
            version: "0.1.0".into(),
            commit: None,
        },
        command: vec!["wirespeed".into(), "run".into(), "am_lat".into()],
        started_at: "2026-01-02T03:04:05Z".into(),
        duration_ns: 1_500_000_000,
        status: Status::Ok,
        error: None,
        plan: None,
        host: HostFingerprint {
            kernel: "Linux 6.1.0".into(),
            architecture: "x86_64".into(),
            cpu_model: Some("Example CPU, 2 cores".into()),
            cpus_online: 2,
            ..HostFingerprint::default()
        },
        remarks: Vec::new(),
        cases,
        sections: Default::default(),
    }
}

/// The run of the golden files: round trips, a get, streams of three sizes, a skipped case, on two transports.
pub fn example() -> Run {
    let mut cases = Vec::new();
    for (transport, rtt_ns, ns_per_byte) in [("shm", 180.0, 0.05), ("tcp", 8_400.0, 0.4)] {
        cases.push(result(case(transport, am_lat(8), 4000), 7, |index| {
            ping_pong(8, 4000, rtt_ns * (1.0 + 0.004 * f64::from(index)))
        }));
        for size_bytes in [8u64, 4096, 1 << 20] {
            let n = 1_000_000 / (1 + size_bytes / 64);
            let elapsed_ns = (n as f64 * (rtt_ns / 9.0 + ns_per_byte * size_bytes as f64)) as u64;
            let ack_ns = elapsed_ns as f64 / n as f64 * 40.0;
            cases.push(result(
                case(transport, Test::AmBw(stream(size_bytes, 64)), n),
                2,
                |index| {
                    one_way_stream(
                        size_bytes,
                        n,
                        elapsed_ns + elapsed_ns / 500 * u64::from(index),
                        ack_ns,
                    )
                },
            ));
        }
    }
    cases.push(result(case("shm", get(8), 300), 1, |_| {
        let mut source = outcome(0, Role::Source, 30_000_000);
        source.sent = count(300, 8);
        source
            .samples
            .push(samples(SampleKind::Completion, &ladder(300, 90.0, 0.1)));
        let mut sink = outcome(1, Role::Sink, 0);
        sink.transport_facts
            .insert("one_sided".into(), "emulated through messages".into());
        vec![source, sink]
    }));
    let remedy = Some("choose a transport with one-sided operations: wirespeed list".into());
    cases.push(skipped_case(
        case("udp", get(8), 300),
        "udp has no memory to read from",
        remedy,
    ));
    run(cases)
}

/// What the verb that measured `run` shows.
pub fn screen(run: &Run, style: &Style) -> String {
    text(&View::of(&[Input { name: "run", run }]), Extent::SCREEN, style)
}

/// Everything that results say, as text.
pub fn whole(inputs: &[Input], style: &Style) -> String {
    text(&View::of(inputs), Extent::WHOLE, style)
}

/// The page of results.
pub fn page(inputs: &[Input], made_by: &str) -> String {
    wirespeed_report::render::page(&View::of(inputs), inputs, made_by)
}
